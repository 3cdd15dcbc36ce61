// Package pagetest holds the pages of docs/reference that are written by hand
// against the tables that serve what they describe.
//
// It is for tests only.
package pagetest

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rubicon/internal/wire/fault"
)

var (
	heading = regexp.MustCompile(`(?m)^### ((?:GET|POST|PUT|PATCH|DELETE) .*)$`)
	named   = regexp.MustCompile("\\d{3} (`[a-z_]+`(?:[^;`.]*`[a-z_]+`)*)")
	word    = regexp.MustCompile("`([a-z_]+)`")
	wild    = strings.NewReplacer("...}", "}", "/{$}", "/")
)

// Calls checks that a page has a section for each call, as "METHOD /path", and
// none for another; that each has an example and says which errors it has; and
// that those are codes which exist, extra ones included.
func Calls(t *testing.T, page string, calls []string, extra ...string) {
	t.Helper()
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	known := slices.Clone(extra)
	for _, row := range fault.Table() {
		known = append(known, string(row.Code))
	}
	var want []string
	for _, c := range calls {
		want = append(want, wild.Replace(c))
	}
	text := string(raw)
	at := heading.FindAllStringSubmatchIndex(text, -1)
	for i, h := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		call, section := text[h[2]:h[3]], text[h[1]:end]
		if n := slices.Index(want, call); n < 0 {
			t.Errorf("%s explains %s, which is not served", page, call)
		} else {
			want = slices.Delete(want, n, n+1)
		}
		if !strings.Contains(section, "\n    ") || !strings.Contains(section, "\nErrors: ") {
			t.Errorf("%s: %s has no example or no errors", page, call)
		}
	}
	for _, call := range want {
		t.Errorf("%s does not explain %s", page, call)
	}
	codes(t, page, text, known)
}

// codes checks the words that stand behind a status.
func codes(t *testing.T, page, text string, known []string) {
	t.Helper()
	found := 0
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		for _, w := range word.FindAllStringSubmatch(m[1], -1) {
			found++
			if !slices.Contains(known, w[1]) && !parameter(m[1], w[1]) {
				t.Errorf("%s: %q is no error code, in %q", page, w[1], m[0])
			}
		}
	}
	if found == 0 {
		t.Errorf("%s names no error code", page)
	}
}

// parameter says whether a word stands in brackets, as what a code is about.
func parameter(list, w string) bool {
	open := strings.LastIndex(list[:strings.Index(list, "`"+w+"`")], "(")
	return open >= 0 && !strings.Contains(list[open:strings.Index(list, "`"+w+"`")], ")")
}
