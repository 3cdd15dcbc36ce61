package terminal

import (
	"testing"
	"unicode"
)

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "",
		"Größe 😀 …":             "Größe 😀 …",
		"\x1b[31mred\r\nnext\t": "·[31mred··next·",
		"\u009b2J\x7f":          "·2J·",
		"a\xffb":                "a\ufffdb",
	} {
		if got := Clean(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for r := range rune(0x200) {
		if control, kept := unicode.IsControl(r), Clean(string(r)) == string(r); control == kept {
			t.Errorf("%U: control %t, kept %t", r, control, kept)
		}
	}
}
