package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type pair struct{ Key, Value string }

func members(doc string) (got []pair, err error) {
	m := Object([]byte(doc))
	for m.Next() {
		got = append(got, pair{string(m.Key()), string(m.Value())})
	}
	return got, m.Err()
}

func TestMembers(t *testing.T) {
	for _, tc := range []struct {
		doc  string
		want []pair
	}{
		{`{}`, nil},
		{" \n{ \t} \r", nil},
		{`{"a":1}`, []pair{{"a", "1"}}},
		{`{ "a" : [1, {"x":2}] , "" :"}" }`, []pair{{"a", `[1, {"x":2}]`}, {"", `"}"`}}},
		{`{"mo\u0064el":"x","a\"\\\n":-1e5}`, []pair{{"model", `"x"`}, {"a\"\\\n", "-1e5"}}},
		{`{"a":1,"a":2}`, []pair{{"a", "1"}, {"a", "2"}}},
		{"{\"\xff\":null}", []pair{{"\xff", "null"}}},
	} {
		got, err := members(tc.doc)
		if err != nil {
			t.Errorf("%q: %v", tc.doc, err)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%q: -want +got\n%s", tc.doc, diff)
		}
	}
}

func TestMembersErrors(t *testing.T) {
	syntax := func(at int) error { return &SyntaxError{Offset: at} }
	for _, tc := range []struct {
		doc  string
		want error
	}{
		{``, syntax(0)},
		{`{`, syntax(1)},
		{`{"a":1,}`, syntax(7)},
		{`{"a":1 "b"}`, syntax(7)},
		{`{"a":[1,]}`, syntax(8)},
		{`{"a" 1}`, syntax(5)},
		{`{a:1}`, syntax(1)},
		{`{,}`, syntax(1)},
		{`{"a":1}x`, syntax(7)},
		{`{} {}`, syntax(3)},
		{`[1,2`, syntax(4)},
		{`[1]`, ErrNotObject},
		{` "x" `, ErrNotObject},
	} {
		_, err := members(tc.doc)
		if err == nil || err.Error() != tc.want.Error() {
			t.Errorf("%q: error %v, want %v", tc.doc, err, tc.want)
		}
	}
	e := Array([]byte(`{}`))
	if e.Next() || !errors.Is(e.Err(), ErrNotArray) {
		t.Errorf("array walk over an object: %v", e.Err())
	}
}

func TestWalkIsUnfinishedUntilNextIsFalse(t *testing.T) {
	m := Object([]byte(`{"a":1}`))
	if m.Key() != nil || len(m.Value()) != 0 || !errors.Is(m.Err(), ErrUnfinished) {
		t.Errorf("fresh walk: key %q, value %q, err %v", m.Key(), m.Value(), m.Err())
	}
	if !m.Next() || !errors.Is(m.Err(), ErrUnfinished) {
		t.Errorf("inside: err %v", m.Err())
	}
	for range 2 { // asking again changes nothing
		if m.Next() || m.Err() != nil {
			t.Errorf("after the end: err %v", m.Err())
		}
	}
	var zero Members
	if zero.Next() || zero.Err() == nil {
		t.Error("a zero walk must fail")
	}
}

func TestValueCannotBeAppendedInto(t *testing.T) {
	doc := []byte(`{"a":1,"b":2}`)
	m := Object(doc)
	m.Next()
	_ = append(m.Value(), "XX"...)
	if string(doc) != `{"a":1,"b":2}` {
		t.Errorf("input changed: %s", doc)
	}
}

func TestElements(t *testing.T) {
	for _, tc := range []struct {
		doc  string
		want []string
		good bool
	}{
		{`[]`, nil, true},
		{" [ ] ", nil, true},
		{`[1, "a" ,{"b":[]},[null]]`, []string{"1", `"a"`, `{"b":[]}`, "[null]"}, true},
		{`[1,]`, []string{"1"}, false},
		{`[,1]`, nil, false},
		{`[1 2]`, []string{"1"}, false},
		{`[1]2`, []string{"1"}, false},
	} {
		var got []string
		e := Array([]byte(tc.doc))
		for e.Next() {
			got = append(got, string(e.Value()))
		}
		if diff := cmp.Diff(tc.want, got); diff != "" || (e.Err() == nil) != tc.good {
			t.Errorf("%q: err %v, -want +got\n%s", tc.doc, e.Err(), diff)
		}
	}
}

func TestGet(t *testing.T) {
	doc := `{"a":{"b":[1],"b":2,"c":"x"},"type":"t","a":3,"n\u0061me":null}`
	for _, tc := range []struct {
		path []string
		want string
	}{
		{[]string{"a", "b"}, "[1]"},
		{[]string{"a", "c"}, `"x"`},
		{[]string{"type"}, `"t"`},
		{[]string{"name"}, "null"},
		{[]string{"type", "x"}, ""},
		{[]string{"A"}, ""},
		{[]string{"a", "d"}, ""},
		{nil, doc},
	} {
		if got := Get([]byte(doc), tc.path...); string(got) != tc.want {
			t.Errorf("Get(%q) = %q, want %q", tc.path, got, tc.want)
		}
	}
	if got := Get([]byte(`{"a":1,"b":tru}`), "b"); got != nil {
		t.Errorf("a broken value was handed out: %q", got)
	}
}

// event is a delta as the gateway sees thousands of times a second, 160 bytes and a bit.
var event = []byte(`{"type":"response.output_text.delta","sequence_number":1042,"item_id":"msg_0123456789abcdef0123456789","output_index":0,"content_index":0,"delta":" gateway","logprobs":[]}`)

// readType is the hot path: check all of an event and read its type.
func readType(b []byte) (isDelta bool, text int, ok bool) {
	m := Object(b)
	for m.Next() {
		switch string(m.Key()) {
		case "type":
			isDelta = Equal(m.Value(), "response.output_text.delta")
		case "delta":
			text = TextLen(m.Value())
		}
	}
	return isDelta, text, m.Err() == nil
}

func TestHotPathAllocatesNothing(t *testing.T) {
	for name, f := range map[string]func(){
		"readType": func() {
			if isDelta, n, ok := readType(event); !isDelta || n != 8 || !ok {
				t.Fatalf("%v %d %v", isDelta, n, ok)
			}
		},
		"Valid": func() { Valid(event) },
		"Get":   func() { Get(event, "delta") },
		"Int":   func() { Int([]byte("1042")) },
		"Array": func() {
			for e := Array([]byte(`[1,"a",{}]`)); e.Next(); {
				e.Value()
			}
		},
		"Equal with escapes":   func() { Equal([]byte(`"a\u0062\ud83d\ude00"`), "ab😀") },
		"TextLen with escapes": func() { TextLen([]byte("\"a\\u0062\\ud83d\\ude00\xff\"")) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkMembers(b *testing.B) {
	b.SetBytes(int64(len(event)))
	b.ReportAllocs()
	for b.Loop() {
		if isDelta, _, ok := readType(event); !isDelta || !ok {
			b.Fatal("misread")
		}
	}
}

// The whole walk must agree with encoding/json on keys and values.
func FuzzMembers(f *testing.F) {
	for _, doc := range documents {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var want map[string]json.RawMessage
		if err := json.Unmarshal(b, &want); err != nil || want == nil {
			return
		}
		got := map[string]json.RawMessage{}
		m := Object(b)
		for m.Next() {
			key, ok := Text(AppendString(nil, string(m.Key()))) // mends what is not UTF-8 as encoding/json does
			if !ok {
				t.Fatalf("key %q does not survive", m.Key())
			}
			got[key] = bytes.Clone(m.Value())
		}
		if err := m.Err(); err != nil {
			t.Skip(fmt.Sprint("deep: ", err))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q: -want +got\n%s", b, diff)
		}
	})
}
