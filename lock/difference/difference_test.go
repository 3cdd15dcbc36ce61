package difference

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const was = `{
  "requests": [
    {
      "status": 200,
      "ended": "whole",
      "money": [
        {"id": "tx_1", "amount": "0.1"},
        {"id": "tx_2", "amount": "0.2"}
      ],
      "last": 1
    }
  ]
}
`

func TestOf(t *testing.T) {
	for _, c := range []struct {
		name string
		is   string
		want []string
	}{
		{"same", was, nil},
		{"an amount", strings.Replace(was, `"0.2"`, `"0.3"`, 1), []string{
			`@@ line 8: requests › money`,
			`        "money": [`,
			`          {"id": "tx_1", "amount": "0.1"},`,
			`-         {"id": "tx_2", "amount": "0.2"}`,
			`+         {"id": "tx_2", "amount": "0.3"}`,
			`        ],`,
			`        "last": 1`,
		}},
		{"two places", strings.NewReplacer(`200`, `503`, `"last": 1`, `"last": 2`).Replace(was), []string{
			`@@ line 4: requests › status`,
			`    "requests": [`,
			`      {`,
			`-       "status": 200,`,
			`+       "status": 503,`,
			`        "ended": "whole",`,
			`        "money": [`,
			`@@ line 10: requests › last`,
			`          {"id": "tx_2", "amount": "0.2"}`,
			`        ],`,
			`-       "last": 1`,
			`+       "last": 2`,
			`      }`,
			`    ]`,
		}},
		{"a line more", strings.Replace(was, `      "ended"`, "      \"more\": 1,\n      \"ended\"", 1), []string{
			`@@ line 5: requests › more`,
			`      {`,
			`        "status": 200,`,
			`+       "more": 1,`,
			`        "ended": "whole",`,
			`        "money": [`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Of([]byte(was), []byte(c.is))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLongLinesShowWhatDiffers(t *testing.T) {
	a := "    {" + strings.Repeat("a", 500) + "1" + strings.Repeat("b", 500) + "}"
	b := strings.Replace(a, "1", "2", 1)
	got := Of([]byte(a), []byte(b))
	if len(got) != 3 || !strings.Contains(got[1], "a1b") || !strings.Contains(got[2], "a2b") || len(got[1]) > 250 {
		t.Errorf("%q", got)
	}
}

func TestRemovedWhole(t *testing.T) {
	got := Of([]byte("a\nb\n"), nil)
	if diff := cmp.Diff([]string{"@@ line 1: the end", "- a", "- b"}, got); diff != "" {
		t.Error(diff)
	}
}
