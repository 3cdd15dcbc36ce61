package jsonscan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSet(t *testing.T) {
	put := func(key, value string) Edit { return Edit{key, []byte(value)} }
	del := func(key string) Edit { return Edit{Key: key} }
	for _, tc := range []struct {
		body  string
		edits []Edit
		want  string
	}{
		{`{"a":1}`, nil, `{"a":1}`},
		{` { "model" : "x" ,"n":1.50e0 } `, []Edit{put("model", `"y"`)}, ` { "model" : "y" ,"n":1.50e0 } `},
		{`{"mo\u0064el":1}`, []Edit{put("model", `2`)}, `{"mo\u0064el":2}`},
		{`{"a":1,"b":2,"a":3}`, []Edit{put("a", `[]`)}, `{"a":[],"b":2,"a":[]}`},
		{`{"x":{"a":1}}`, []Edit{put("a", `2`)}, `{"a":2,"x":{"a":1}}`},
		{`{}`, []Edit{put("a", `1`)}, `{"a":1}`},
		{"{\n}", []Edit{put("a", `1`), put("b", `2`)}, "{\"a\":1,\"b\":2\n}"},
		{"{\n \"z\":0}", []Edit{put("a", `1`), put("b", `2`)}, "{\"a\":1,\"b\":2,\n \"z\":0}"},
		{`{"z":0}`, []Edit{put("q\"", `1`)}, `{"q\"":1,"z":0}`},
		{`{"a":1}`, []Edit{del("a")}, `{}`},
		{`{ "a":1 }`, []Edit{del("a")}, `{  }`},
		{`{"a":1}`, []Edit{del("b")}, `{"a":1}`},
		{`{"a":1, "b":2, "c":3}`, []Edit{del("a")}, `{"b":2, "c":3}`},
		{`{"a":1, "b":2, "c":3}`, []Edit{del("b")}, `{"a":1, "c":3}`},
		{`{"a":1, "b":2, "c":3}`, []Edit{del("c")}, `{"a":1, "b":2}`},
		{`{"a":1, "b":2, "c":3}`, []Edit{del("a"), del("b")}, `{"c":3}`},
		{`{"a":1, "b":2, "c":3}`, []Edit{del("a"), del("c")}, `{"b":2}`},
		{`{"a":1, "b":2, "c":3}`, []Edit{del("c"), del("b")}, `{"a":1}`},
		{`{"a":1, "b":2, "c":3}`, []Edit{del("a"), del("b"), del("c")}, `{}`},
		{`{"a":1, "b":2}`, []Edit{del("a"), del("b"), put("c", `3`)}, `{"c":3}`},
		{`{"a":1, "b":2}`, []Edit{del("a"), put("b", `7`)}, `{"b":7}`},
		{`{"a":1, "b":2}`, []Edit{put("a", `7`), del("b")}, `{"a":7}`},
		{`{"a":1,"a":2,"b":3,"a":4}`, []Edit{del("a")}, `{"b":3}`},
		{`{"a":1}`, []Edit{put("a", `2`), put("a", `3`)}, `{"a":3}`},
		{`{"z":1}`, []Edit{put("a", `2`), put("a", `3`)}, `{"a":3,"z":1}`},
		{`{"z":1}`, []Edit{put("a", `2`), del("a")}, `{"z":1}`},
	} {
		in := strings.Clone(tc.body)
		got, err := Set([]byte(in), tc.edits...)
		if err != nil {
			t.Errorf("%s: %v", tc.body, err)
		}
		if diff := cmp.Diff(tc.want, string(got)); diff != "" {
			t.Errorf("%s with %q: -want +got\n%s", tc.body, tc.edits, diff)
		}
	}
}

func TestSetRefuses(t *testing.T) {
	good := Edit{"a", []byte("1")}
	for _, body := range []string{``, `[]`, `{"a":1,}`, `{"a":1}x`, `{"b":tru}`, `null`} {
		if out, err := Set([]byte(body), good); err == nil || out != nil {
			t.Errorf("Set(%q) = %q, %v", body, out, err)
		}
	}
	for _, value := range []string{``, `x`, `1,"b":2`, `1}`} {
		if out, err := Set([]byte(`{}`), Edit{"a", []byte(value)}); err == nil || out != nil {
			t.Errorf("value %q gives %q, %v", value, out, err)
		}
	}
}

func TestSetAllocatesOnce(t *testing.T) {
	body := []byte(`{"model":"public","input":"hello","stream":true,"store":null}`)
	n := testing.AllocsPerRun(100, func() {
		if _, err := Set(body, Edit{"model", []byte(`"upstream"`)}, Edit{"store", []byte("false")}, Edit{"extra", []byte("1")}); err != nil {
			t.Fatal(err)
		}
	})
	if n != 1 {
		t.Errorf("%v allocations, want 1", n)
	}
}

// After a Set the body is valid, reads back the new values, and holds the other members byte for byte and in order.
func FuzzSet(f *testing.F) {
	for _, doc := range documents {
		f.Add([]byte(doc), "a", []byte("1"), "b")
	}
	f.Add([]byte(` { "b" : 1 , "c" : 2 , "a" : 3 , "b" : 4 } `), "a", []byte(`"x"`), "b")
	f.Fuzz(func(t *testing.T, body []byte, key string, value []byte, gone string) {
		value = append([]byte{}, value...) // never nil
		out, err := Set(body, Edit{Key: gone}, Edit{key, value})
		m := Object(body)
		var want []pair
		for m.Next() {
			switch k := string(m.Key()); k {
			case key:
				want = append(want, pair{k, string(value)})
			case gone:
			default:
				want = append(want, pair{k, string(m.Value())})
			}
		}
		if good := m.Err() == nil && Valid(value); good != (err == nil) {
			t.Fatalf("Set(%q, %q): err %v, want good = %v", body, value, err, good)
		} else if !good {
			return
		}
		checkSet(t, out, want, pair{key, string(value)})
	})
}

func checkSet(t *testing.T, out []byte, want []pair, set pair) {
	t.Helper()
	set.Value = strings.Trim(set.Value, " \t\r\n")
	present := false
	for i := range want {
		if want[i].Key == set.Key {
			want[i].Value, present = set.Value, true
		}
	}
	if !present {
		mended, _ := Text(AppendString(nil, set.Key))
		want = append([]pair{{mended, set.Value}}, want...)
	}
	got, err := members(string(out))
	if err != nil {
		t.Fatalf("%q: %v", out, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%q: -want +got\n%s", out, diff)
	}
}
