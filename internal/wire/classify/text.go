package classify

import "strings"

// Param is a condition on the parameter that a failure names. A failure that
// names a part of the request is the request's own, whatever words it uses.
type Param uint8

// The conditions.
const (
	AnyParam   Param = iota
	NoParam          // none, or the model: that name is the channel's, not the caller's
	ModelParam       // the model
	OtherParam       // a part of the request
)

func (p Param) holds(name string) bool {
	switch p {
	case NoParam:
		return name == "" || name == "model"
	case ModelParam:
		return name == "model"
	case OtherParam:
		return name != "" && name != "model"
	}
	return true
}

// maxText bounds what of a message is looked at.
const maxText = 4096

// normalized prepares a message for matching: lower case, single spaces, without
// URLs (".../account/api-keys" names no account) and, if asked for, without
// the text in quotes: providers quote the request, and no customer may pause a
// credential by having the provider quote the request.
func normalized(message string, unquoted bool) string {
	if len(message) > maxText {
		message = message[:maxText]
	}
	message = strings.ToLower(message)
	if unquoted {
		message = unquote(message)
	}
	words := strings.Fields(message)
	kept := words[:0]
	for _, w := range words {
		if !strings.Contains(w, "://") {
			kept = append(kept, w)
		}
	}
	return strings.Join(kept, " ")
}

// unquote drops the text in quotes. An apostrophe inside a word is none.
func unquote(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if end := closing(s, i); end > 0 {
			b.WriteByte(' ')
			i = end
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// closing is where the quotation that opens at i ends, 0 if none opens there.
func closing(s string, i int) int {
	switch s[i] {
	case '`', '"':
		if n := strings.IndexByte(s[i+1:], s[i]); n >= 0 {
			return i + 1 + n
		}
	case '\'':
		if i > 0 && !strings.ContainsRune(" (:=[{,", rune(s[i-1])) {
			return 0
		}
		for j := i + 1; j < len(s); j++ {
			if s[j] == '\'' && (j+1 == len(s) || strings.ContainsRune(" .,;:)]}!?", rune(s[j+1]))) {
				return j
			}
		}
	}
	return 0
}

// maxGap is how many bytes a "*" in a pattern may stand for: a name and a verb,
// not half a message.
const maxGap = 60

// matchesPattern reports whether a text contains a pattern. "^" at its start ties it to the
// text's start; "|" at either end asks for the end of a word there ("|key|" is
// not in "keyboard"); "*" stands for a short gap.
func matchesPattern(text, pattern string) bool {
	pattern, atStart := strings.CutPrefix(pattern, "^")
	pattern, wordStart := strings.CutPrefix(pattern, "|")
	pattern, wordEnd := strings.CutSuffix(pattern, "|")
	first, rest, wild := strings.Cut(pattern, "*")
	if first == "" {
		return false
	}
	for from := 0; ; {
		at := strings.Index(text[from:], first)
		if at < 0 || atStart && from+at > 0 {
			return false
		}
		begin, end := from+at, from+at+len(first)
		from = end
		if wild {
			near := strings.Index(text[end:min(len(text), end+maxGap+len(rest))], rest)
			if near < 0 {
				continue
			}
			end += near + len(rest)
		}
		if !(wordStart && begin > 0 && isWordByte(text[begin-1])) && !(wordEnd && end < len(text) && isWordByte(text[end])) {
			return true
		}
	}
}

func isWordByte(c byte) bool { return 'a' <= c && c <= 'z' }
