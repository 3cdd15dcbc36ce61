package translate

import (
	"strings"

	"rubicon/internal/wire/jsonscan"
)

// A free-text tool is a function with one string where the format has no such
// tools. What the model writes there is unwrapped again on the way back.

// wrapSchema is the schema of a wrapped tool.
const wrapSchema = `{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}`

// Wrap makes a function of a free-text tool. Its grammar goes into its
// description, since nothing else of the function can hold it.
func Wrap(t Tool) Tool {
	text := t.Description
	if text != "" {
		text += "\n\n"
	}
	text += `The property "input" holds the tool's whole input as free text.`
	if t.Grammar != "" {
		text += " It must follow this grammar"
		if t.Syntax != "" {
			text += " (" + t.Syntax + ")"
		}
		text += ":\n\n" + t.Grammar
	}
	t.Kind, t.Description, t.Schema, t.Syntax, t.Grammar = Function, text, Raw(wrapSchema), "", ""
	return t
}

// WrapInput is a free text as the arguments of a wrapped tool.
func WrapInput(text string) string {
	return string(append(jsonscan.AppendString([]byte(`{"input":`), text), '}'))
}

// UnwrapInput is WrapInput's reverse; false where the arguments are not of that
// form.
func UnwrapInput(arguments string) (string, bool) {
	if !jsonscan.Valid([]byte(arguments)) {
		return "", false
	}
	return jsonscan.Text(jsonscan.Get([]byte(arguments), "input"))
}

// Unwrapper unwraps arguments that come in pieces. The text is passed on while
// it comes, as long as the arguments begin as WrapInput's do; others are kept
// until their end.
type Unwrapper struct {
	state unwrapState
	kept  string
}

type unwrapState uint8

const (
	unwrapHead unwrapState = iota // in front of the string
	unwrapBody                    // in the string
	unwrapTail                    // behind it
	unwrapOdd                     // not of that form
)

// Push takes one piece of the arguments and gives what is known of the text.
func (u *Unwrapper) Push(piece string) string {
	if u.state == unwrapTail {
		return ""
	}
	u.kept += piece
	if u.state == unwrapHead {
		u.head()
	}
	if u.state != unwrapBody {
		return ""
	}
	end, closed := stringPrefix(u.kept)
	text, _ := jsonscan.Text([]byte(`"` + u.kept[:end] + `"`))
	if u.kept = u.kept[end:]; closed {
		u.state, u.kept = unwrapTail, ""
	}
	return text
}

// head looks for the beginning of the string.
func (u *Unwrapper) head() {
	rest := u.kept
	for _, token := range [...]string{"{", `"input"`, ":", `"`} {
		rest = strings.TrimLeft(rest, " \t\r\n")
		after, ok := strings.CutPrefix(rest, token)
		if !ok {
			if !strings.HasPrefix(token, rest) {
				u.state = unwrapOdd
			}
			return
		}
		rest = after
	}
	u.state, u.kept = unwrapBody, rest
}

// End gives the rest of the text. It is false where the arguments ended early or
// were not of the form; what came of them is then given as it is.
func (u *Unwrapper) End() (string, bool) {
	if u.state == unwrapTail {
		return "", true
	}
	if u.state == unwrapOdd {
		if text, ok := UnwrapInput(u.kept); ok {
			return text, true
		}
		return u.kept, false
	}
	return "", false
}

// stringPrefix is how much of s, the inside of a JSON string, is whole: up to
// the closing quote, or up to an escape whose rest is missing. A surrogate waits
// for its other half.
func stringPrefix(s string) (end int, closed bool) {
	for i := 0; i < len(s); {
		switch s[i] {
		case '"':
			return i, true
		case '\\':
			n := escapeLen(s[i:])
			if n == 0 {
				return i, false
			}
			i += n
		default:
			i++
		}
	}
	return len(s), false
}

// escapeLen is the length of the escape that s starts with, a surrogate pair
// being one; 0 where more must come.
func escapeLen(s string) int {
	if len(s) < 2 {
		return 0
	}
	if s[1] != 'u' {
		return 2
	}
	if len(s) < 6 {
		return 0
	}
	if hi := strings.ToLower(s[2:4]); hi < "d8" || hi > "db" {
		return 6
	}
	if len(s) < 12 {
		if len(s) == 6 || strings.HasPrefix(s[6:], `\u`) || s[6:] == `\` {
			return 0
		}
		return 6
	}
	if s[6:8] == `\u` {
		return 12
	}
	return 6
}
