package jsonscan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// documents are what the tests of this package are fed with, good and bad.
var documents = []string{
	``, ` `, `null`, ` true `, `false`, `nul`, `nulll`, `True`, `truefalse`, `"`, `""`, `"a`, `"a"b`, `"\"`, `"\\"`, `"\x"`, `"\u12"`,
	`"\u12g4"`, `"\u0041"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\/\b\f\n\r\t"`, "\"\x1f\"", "\"\x7f\"", "\"\xff\"", "\"a\nb\"", `"0123456789abcdef"`,
	`"0123456\"`, `"01234567\"89"`, `0`, `-0`, `-`, `01`, `1.`, `.5`, `1.5`, `1e`, `1e+`, `1E-7`, `1e05`, `+1`, `1 2`, `--1`, `0x1`, `1.5e3x`,
	`[]`, `[ ]`, `[,]`, `[1,]`, `[1 2]`, `[1,2`, `[`, `]`, `[[[]]]`, `[1]]`, `{}`, `{ }`, `{,}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{"a":1 "b":2}`,
	`{a:1}`, `{"a":1}{`, `{"a":1} x`, `{"a" : 1 , "b" : [ ] }`, `{"a":{"b":{"c":[1,{"d":null}]}}}`, `{1:2}`, `{"a":1`, `{"a`, `{"a":"b}`,
	"\ufeff{}", "\v{}", "{}\u00a0", `{"a":tru}`, `{"a":-}`, `[1e400]`, `{"a":1,"a":2}`, "\t\r\n{\r\n\"x\"\t:\r1}\n", `{"mo\u0064el":"x"}`,
	`{"type":"response.output_text.delta","delta":"héllo\n\"world\"","sequence_number":12}`, "[1]\x00", "/**/1", `[1]//`,
}

func TestValidAgreesWithEncodingJSON(t *testing.T) {
	for _, doc := range documents {
		for cut := range len(doc) + 1 {
			if got, want := Valid([]byte(doc[:cut])), json.Valid([]byte(doc[:cut])); got != want {
				t.Errorf("Valid(%q) = %v, want %v", doc[:cut], got, want)
			}
		}
	}
}

// Each byte value at each distance from the end reaches every lane of the eight-byte search and the loop behind it.
func TestValidEveryByteAtEveryOffset(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			doc := []byte(`"` + strings.Repeat("a", at) + string([]byte{byte(c)}) + strings.Repeat("\x7f", 19-at) + `"`)
			if got, want := Valid(doc), json.Valid(doc); got != want {
				t.Fatalf("Valid(%q) = %v, want %v", doc, got, want)
			}
		}
	}
}

func TestValidDepth(t *testing.T) {
	nest := func(open, end string, n int) []byte {
		return []byte(strings.Repeat(open, n) + "1" + strings.Repeat(end, n))
	}
	for _, tc := range []struct {
		open, end string
		n         int
		want      bool
	}{
		{"[", "]", MaxDepth, true},
		{"[", "]", MaxDepth + 1, false},
		{`{"a":`, "}", MaxDepth, true},
		{`{"a":`, "}", MaxDepth + 1, false},
		{`[{"a":`, "}]", MaxDepth / 2, true},
		{"[", "]", 1_000_000, false},
	} {
		doc := nest(tc.open, tc.end, tc.n)
		if got := Valid(doc); got != tc.want {
			t.Errorf("Valid(%d × %s) = %v, want %v", tc.n, tc.open, got, tc.want)
		}
		if got := walkAll(doc) == nil; got != tc.want {
			t.Errorf("walk over %d × %s: good = %v, want %v", tc.n, tc.open, got, tc.want)
		}
	}
}

// walkAll walks a document as its first byte suggests and returns the verdict of the walk.
func walkAll(b []byte) error {
	if KindOf(b) == KindArray {
		e := Array(b)
		for e.Next() {
		}
		return e.Err()
	}
	m := Object(b)
	for m.Next() {
	}
	return m.Err()
}

func FuzzValid(f *testing.F) {
	for _, doc := range documents {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		want := json.Valid(b)
		if got := Valid(b); got != want {
			if want && strings.Count(string(b), "[")+strings.Count(string(b), "{") > MaxDepth {
				t.Skip("may be too deep")
			}
			t.Fatalf("Valid(%q) = %v, want %v", b, got, want)
		}
		if k := KindOf(b); k == KindObject || k == KindArray {
			if got := walkAll(b) == nil; got != want {
				t.Fatalf("walking %q: good = %v, want %v", b, got, want)
			}
		}
		checkText(t, b)
		checkInt(t, b)
	})
}

func BenchmarkValid(b *testing.B) {
	for _, size := range []int{160, 64 << 10} {
		doc := fmt.Appendf(nil, `{"type":"x","list":[1,2.5,true,null],"text":"%s"}`, strings.Repeat(`a line of text\n`, size/16))
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			for b.Loop() {
				if !Valid(doc) {
					b.Fatal("invalid")
				}
			}
		})
	}
}
