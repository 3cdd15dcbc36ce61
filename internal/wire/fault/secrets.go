package fault

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Secrets are the keys and addresses of one route: what no client may see of
// it, whatever it looks like and wherever it stands.
type Secrets struct{ known []literal }

// literal is one of them, in lower case: hosts are written either way.
type literal struct {
	text  string
	alone bool // it is taken out only where it stands alone
}

// shortest is the length from which a key is taken out inside of words too.
// What is shorter is nobody's key, and perhaps a syllable.
const shortest = 8

// NewSecrets takes the keys of a route and the names of its host. A name
// without a dot may be a word of the language ("upstream"), so that it counts
// only where it stands alone.
func NewSecrets(keys, names []string) Secrets {
	var s Secrets
	for _, key := range keys {
		s.add(key, len(key) < shortest)
	}
	for _, name := range names {
		s.add(name, len(name) < shortest || !strings.Contains(name, "."))
	}
	// The longest first: an address holds its host.
	slices.SortStableFunc(s.known, func(a, b literal) int { return cmp.Compare(len(b.text), len(a.text)) })
	return s
}

// Format hides them from every verb.
func (s Secrets) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, Elided) }

func (s *Secrets) add(text string, alone bool) {
	if text != "" {
		s.known = append(s.known, literal{lower(text), alone})
	}
}

// Scrub takes out of a text what is known of the route, and what Scrub finds.
func (s Secrets) Scrub(text string) string { return Scrub(s.Take(text)) }

// Clean scrubs the words of a provider in a failure.
func (s Secrets) Clean(e *Error) {
	if e.Upstream {
		e.Code, e.Type, e.Param, e.Message = s.Scrub(e.Code), s.Scrub(e.Type), s.Scrub(e.Param), s.Scrub(e.Message)
	}
}

// nested is how many times over a text may be escaped: JSON in JSON in a URL.
const nested = 4

// Take takes out of a text what is known of the route. A text that hides it in
// escapes of its own, as JSON inside a string does, loses these escapes with it.
func (s Secrets) Take(text string) string {
	text = s.take(text)
	plain := text
	for range nested {
		next := unescaped(plain)
		if next == plain {
			break
		}
		if plain = next; s.In(plain) {
			text = s.take(plain)
			plain = text
		}
	}
	return text
}

// In reports whether a text shows, without escapes, what is known of the route.
func (s Secrets) In(text string) bool {
	low := lower(text)
	return slices.ContainsFunc(s.known, func(l literal) bool { return l.next(low, 0) >= 0 })
}

func (s Secrets) take(text string) string {
	low := lower(text)
	for _, l := range s.known {
		if l.next(low, 0) >= 0 {
			text = l.without(text, low)
			low = lower(text)
		}
	}
	return text
}

// without gives the text, whose lower case is known, without the literal.
func (l literal) without(text, low string) string {
	var out strings.Builder
	rest := 0
	for at := l.next(low, 0); at >= 0; at = l.next(low, rest) {
		out.WriteString(text[rest:at])
		out.WriteString(Elided)
		rest = at + len(l.text)
	}
	return out.String() + text[rest:]
}

// next finds where the literal stands, from an offset on; -1: nowhere.
func (l literal) next(low string, from int) int {
	for {
		i := strings.Index(low[from:], l.text)
		if i < 0 {
			return -1
		}
		at, end := from+i, from+i+len(l.text)
		before, _ := utf8.DecodeLastRuneInString(low[:at])
		after, _ := utf8.DecodeRuneInString(low[end:])
		if !l.alone || !isWord(before) && !isWord(after) {
			return at
		}
		from = at + 1
	}
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// lower is the lower case of ASCII, so that offsets stay.
func lower(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return 'A' <= r && r <= 'Z' }) < 0 {
		return s
	}
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// unescaped undoes one layer of the escapes that addresses and keys are met in:
// of JSON and its like, of URLs, of HTML.
func unescaped(s string) string {
	if !strings.ContainsAny(s, `\%&`) {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); {
		text, size := escape(s[i:])
		out.WriteString(text)
		i += size
	}
	return html.UnescapeString(out.String())
}

// escape reads what s begins with, and gives its text and its size.
func escape(s string) (text string, size int) {
	switch {
	case s[0] == '%' && len(s) >= 3:
		if n, err := strconv.ParseUint(s[1:3], 16, 8); err == nil {
			return string([]byte{byte(n)}), 3
		}
	case s[0] != '\\' || len(s) < 2:
	case s[1] == 'u' && len(s) >= 6:
		if n, err := strconv.ParseUint(s[2:6], 16, 16); err == nil {
			return string(rune(n)), 6
		}
	case s[1] == 'x' && len(s) >= 4:
		if n, err := strconv.ParseUint(s[2:4], 16, 8); err == nil {
			return string(rune(n)), 4
		}
	case strings.IndexByte(`"\/'`, s[1]) >= 0:
		return s[1:2], 2
	}
	return s[:1], 1
}
