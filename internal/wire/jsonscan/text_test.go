package jsonscan

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"
)

// checkText compares everything about one raw string with encoding/json.
func checkText(t *testing.T, raw []byte) {
	t.Helper()
	var want string
	isString := KindOf(raw) == KindString && raw[0] == '"' && raw[len(raw)-1] == '"' && json.Unmarshal(raw, &want) == nil
	got, ok := Text(raw)
	if got != want || ok != isString {
		t.Fatalf("Text(%q) = %q, %v, want %q, %v", raw, got, ok, want, isString)
	}
	if n := TextLen(raw); n != len(want) {
		t.Fatalf("TextLen(%q) = %d, want %d", raw, n, len(want))
	}
	if Equal(raw, want) != isString || Equal(raw, want+"x") || want != "" && Equal(raw, want[1:]) {
		t.Fatalf("Equal(%q, %q) or its neighbours are wrong", raw, want)
	}
}

func TestText(t *testing.T) {
	for _, raw := range []string{
		`""`, `"abc"`, `"a\"b\\c\/d"`, `"\b\f\n\r\t"`, `"\u0041\u00e9\u20AC"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ud83dx"`, `"\ud83d\n"`, `"\ud83d\u0041"`,
		`"\ud83d\ud83d\ude00"`, `"\ude00\ud83d"`, `"héllo 😀"`, "\"\xff\xc3\"", "\"\xc3\\u00a9\"", "\"\xe2\x82\\n\xac\"", "\"\xed\xa0\x80\"", `"\u0000"`,
		`"`, `"a`, `a"`, `"a"b"`, `"a\"`, ` "a"`, `null`, `1`, ``, `"\ud83d\ude0"`,
	} {
		checkText(t, []byte(raw))
	}
}

func TestEqual(t *testing.T) {
	for _, tc := range []struct {
		raw, s string
		want   bool
	}{
		{`"model"`, "model", true},
		{`"mo\u0064el"`, "model", true},
		{`"model"`, "Model", false},
		{`"model"`, "mode", false},
		{`"mode"`, "model", false},
		{`"é"`, "é", true},
		{`"\u00e9"`, "é", true},
		{`"\u00e9"`, "\xc3", false},
		{"\"\xff\"", "\xff", false},
		{"\"\xff\"", "\ufffd", true},
		{`""`, "", true},
		{`null`, "null", false},
		{`x`, "", false},
		{``, "", false},
		{`"\u0061\u0061\u0061"`, "aaa", true},
	} {
		if got := Equal([]byte(tc.raw), tc.s); got != tc.want {
			t.Errorf("Equal(%q, %q) = %v", tc.raw, tc.s, got)
		}
	}
}

func TestAppendString(t *testing.T) {
	for _, tc := range []struct{ s, want string }{
		{"", `""`},
		{"plain <b>&\u2028", "\"plain <b>&\u2028\""},
		{"\"\\\b\f\n\r\t\x00\x1f\x7f", `"\"\\\b\f\n\r\t\u0000\u001f` + "\x7f\""},
		{"é😀", `"é😀"`},
		{"a\xffb\xc3", "\"a\ufffdb\ufffd\""},
		{"\ufffd", "\"\ufffd\""},
	} {
		got := AppendString([]byte("x"), tc.s)
		if string(got) != "x"+tc.want {
			t.Errorf("AppendString(%q) = %s, want %s", tc.s, got[1:], tc.want)
		}
		back, ok := Text(got[1:])
		if mended := string([]rune(tc.s)); !ok || back != mended {
			t.Errorf("%q comes back as %q, %v", tc.s, back, ok)
		}
	}
}

func FuzzAppendString(f *testing.F) {
	f.Add("a\"\\\n\xff\u2028é")
	f.Fuzz(func(t *testing.T, s string) {
		raw := AppendString(nil, s)
		var want string
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatalf("%q becomes %s: %v", s, raw, err)
		}
		if want != string([]rune(s)) {
			t.Fatalf("%q comes back as %q", s, want)
		}
		checkText(t, raw)
	})
}

func TestInt(t *testing.T) {
	for _, tc := range []struct {
		raw  string
		want int64
		ok   bool
	}{
		{"0", 0, true}, {"-0", 0, true}, {"42", 42, true}, {"-42", -42, true}, {"1e3", 1000, true}, {"10.0", 10, true}, {"1.50e1", 15, true}, {"1.5", 0, false},
		{"1.25e1", 0, false}, {"0.001e5", 100, true}, {"100e-2", 1, true}, {"101e-2", 0, false}, {"0e-9", 0, true}, {"0.0", 0, true}, {"0e999999999999999999999", 0, true},
		{"1e999999999999999999999", 0, false}, {"1e-999999999999999999999", 0, false}, {"9223372036854775807", math.MaxInt64, true}, {"9223372036854775808", 0, false},
		{"-9223372036854775808", math.MinInt64, true}, {"-9223372036854775809", 0, false}, {"18446744073709551616", 0, false}, {"99999999999999999999999", 0, false},
		{"1000000000000000000000000e-10", 1e14, true}, {"1000000000000000000001e-10", 0, false}, {"9e18", 9e18, true}, {"1e19", 0, false}, {"12E+2", 1200, true},
		{"", 0, false}, {"-", 0, false}, {"01", 0, false}, {" 1", 0, false}, {"1 ", 0, false}, {"1.", 0, false}, {`"1"`, 0, false}, {"null", 0, false}, {"1e", 0, false},
	} {
		got, ok := Int([]byte(tc.raw))
		if got != tc.want || ok != tc.ok {
			t.Errorf("Int(%q) = %d, %v, want %d, %v", tc.raw, got, ok, tc.want, tc.ok)
		}
	}
}

// checkInt compares with exact arithmetic.
func checkInt(t *testing.T, raw []byte) {
	t.Helper()
	got, ok := Int(raw)
	if len(raw) > 40 || strings.Count(string(raw), "e")+strings.Count(string(raw), "E") > 0 && len(raw) > 6 {
		return // huge exponents are slow in math/big
	}
	want, isNumber := new(big.Rat).SetString(string(raw))
	isNumber = isNumber && KindOf(raw) == KindNumber && json.Valid(raw) && raw[len(raw)-1] > ' ' && raw[0] > ' '
	if fits := isNumber && want.IsInt() && want.Num().IsInt64(); ok != fits || ok && want.Num().Int64() != got {
		t.Fatalf("Int(%q) = %d, %v, want %v, %v", raw, got, ok, want, fits)
	}
}

func TestBoolAndKind(t *testing.T) {
	for _, tc := range []struct {
		raw       string
		value, ok bool
		kind      Kind
	}{
		{"true", true, true, KindBool},
		{"false", false, true, KindBool},
		{"null", false, false, KindNull},
		{`"true"`, false, false, KindString},
		{"-1", false, false, KindNumber},
		{" {}", false, false, KindObject},
		{"\n[]", false, false, KindArray},
		{"", false, false, KindInvalid},
		{"x", false, false, KindInvalid},
	} {
		if value, ok := Bool([]byte(tc.raw)); value != tc.value || ok != tc.ok {
			t.Errorf("Bool(%q) = %v, %v", tc.raw, value, ok)
		}
		if got := KindOf([]byte(tc.raw)); got != tc.kind {
			t.Errorf("KindOf(%q) = %v, want %v", tc.raw, got, tc.kind)
		}
	}
}

func TestEmpty(t *testing.T) {
	for raw, want := range map[string]bool{
		`null`: true, `""`: true, `[]`: true, "[ \t\r\n]": true, `{}`: true, `{ }`: true,
		`" "`: false, `"\n"`: false, `[null]`: false, `[[]]`: false, `{"":null}`: false, `0`: false, `false`: false, `true`: false, `-1`: false,
	} {
		if got := Empty([]byte(raw)); got != want {
			t.Errorf("%s: %t", raw, got)
		}
	}
}
