package scenario

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"
)

// TestEmbedding: bytes are never lost. What is compact JSON is embedded, all
// else is a string; long strings are cut and carry their digest.
func TestEmbedding(t *testing.T) {
	long := strings.Repeat("a", shown-2) + `\u00e9` + strings.Repeat("b", longText)
	for in, want := range map[string]string{
		``:                             "",
		`{"a":1}`:                      `{"a":1}`,
		`{"a": 1}`:                     `"{\"a\": 1}"`,
		`oops`:                         `"oops"`,
		`[DONE]`:                       `"[DONE]"`,
		`{"a":"<&>"}`:                  `{"a":"<&>"}`,
		`{"a":"` + long + `","b":[1]}`: `{"a":"` + strings.Repeat("a", shown-2) + `… (580 bytes, sha256 )","b":[1]}`,
	} {
		got := string(asJSON(in))
		if in != "" && !json.Valid([]byte(got)) {
			t.Errorf("%q is no JSON", got)
		}
		if strings.Contains(in, "aaaa") {
			want = want[:strings.Index(want, "sha256 ")+7] + got[strings.Index(got, "sha256 ")+7:]
		}
		if got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestAliases(t *testing.T) {
	id, other := "req_"+strings.Repeat("0", 26), "tx_"+strings.Repeat("1", 26)
	v := &observed{t0: time.Date(2000, 1, 1, 0, 0, 1, 0, time.UTC), aliases: []string{id, "req_1"}}
	got := string(v.aliased([]byte(`["` + id + `","` + other + `","` + other + `","2000-01-01T00:00:02.5Z","1999-01-01T00:00:00Z"]`)))
	if want := `["req_1","tx_?1","tx_?1","T+1.5s","1999-01-01T00:00:00Z"]`; got != want {
		t.Errorf("got %s", got)
	}
}

func TestDecoder(t *testing.T) {
	d := newDecoder(strings.NewReader(": hi\n\nevent: a\ndata: {\"type\":\"b\"}\n\n\n\ndata:x\ndata: y\nid: 7\n\ndata: cut"))
	type said struct{ kind, name, data, comment, rest string }
	want := []said{{"", "", "", " hi", ""}, {"b", "a", `{"type":"b"}`, "", ""}, {"", "", "x\ny", "", "id: 7\n"}, {"", "", "", "", "data: cut"}}
	for _, w := range want {
		e, err := d.next()
		if e == nil {
			t.Fatalf("ended with %v before %v", err, w)
		}
		w.comment = strings.TrimPrefix(w.comment, " ")
		if got := (said{e.kind(), e.name, e.data, e.comment, e.rest}); got != w {
			t.Errorf("got %q, want %q", got, w)
		}
	}
	if e, err := d.next(); e != nil || err != io.EOF {
		t.Errorf("after the end: %v, %v", e, err)
	}
}
