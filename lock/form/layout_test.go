package form

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLayout(t *testing.T) {
	long := strings.Repeat("x", width)
	in := `{"a":{"b":[1,{"c":"d,:e"}],"f":null},"events":[{"at":"0s","data":{"x":"` + long + `"}}],"list":["` + long + `",2],"empty":[],"none":{}}`
	want := `{
  "a": {"b": [1, {"c": "d,:e"}], "f": null},
  "events": [
    {"at": "0s", "data": {"x": "` + long + `"}}
  ],
  "list": [
    "` + long + `",
    2
  ],
  "empty": [],
  "none": {}
}
`
	got := Layout([]byte(in))
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	var a, b any
	if json.Unmarshal([]byte(in), &a) != nil || json.Unmarshal(got, &b) != nil || !cmp.Equal(a, b) {
		t.Error("the layout changes the value")
	}
}

func FuzzLayout(f *testing.F) {
	f.Add(`{"a":[1,"\"\\",{"b":{}}],"events":[[]]}`)
	f.Fuzz(func(t *testing.T, in string) {
		var v any
		if json.Unmarshal([]byte(in), &v) != nil {
			return
		}
		compact, err := json.Marshal(v)
		if err != nil {
			return
		}
		var again any
		if err := json.Unmarshal(Layout(compact), &again); err != nil || !cmp.Equal(v, again) {
			t.Errorf("%s became %s: %v", compact, Layout(compact), err)
		}
	})
}
