package turn

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"rubicon/internal/config"
	"rubicon/internal/fault"
	"rubicon/internal/jsonscan"
	"rubicon/internal/protocol"
	"rubicon/internal/sse"
)

// scrubbed takes hosts, keys and account ids out of a failure event's message
// and gives it bytes of its own. Other bytes stay.
func (t *turn) scrubbed(a *attempt, ev protocol.Event) protocol.Event {
	ev = copied(ev)
	if clean := scrubWords(ev.Data, scrubDepth, t.literals(a)); clean != nil {
		name := ""
		if bytes.HasPrefix(ev.Raw, []byte("event:")) || bytes.Contains(ev.Raw, []byte("\nevent:")) {
			name = ev.Type
		}
		ev.Data = clean
		ev.Raw = sse.AppendEvent(nil, name, clean)
	}
	return ev
}

func (t *turn) literals(a *attempt) []string {
	return literals(a.route.Candidate.Channel, a.route.Credential)
}

// literals are what must not be shown of a route, whatever it looks like: its
// address, with and without the port, and its key.
func literals(ch *config.Channel, cred *config.Credential) []string {
	out := []string{ch.BaseURL}
	if u, err := url.Parse(ch.BaseURL); err == nil {
		out = append(out, u.Host, strings.ToLower(u.Host), u.Hostname(), strings.ToLower(u.Hostname()))
	}
	if cred != nil {
		out = append(out, cred.Key.Reveal())
	}
	return out
}

// scrubDepth is how deep the words of a failure can stand: event, response,
// error, a list, its element, message.
const scrubDepth = 6

// wordy are the members in which providers tell a failure, or that hold an
// object which does. What the model wrote stands in none of them.
var wordy = [...]string{"message", "Message", "error", "errors", "response", "detail", "msg"}

// choices is where Chat Completions has what the model wrote; a failure in one
// of them stands in its "error" alone.
const choices, choiceError = "choices", "error"

// scrubWords rewrites the words of a failure, which may be a text, an object
// with wordy members, or a list of either; nil when nothing had to change.
func scrubWords(raw []byte, depth int, literals []string) []byte {
	if depth == 0 {
		return nil
	}
	switch jsonscan.KindOf(raw) {
	case jsonscan.KindString:
		text, ok := jsonscan.Text(raw)
		if clean := fault.Scrub(text, literals...); ok && clean != text {
			return jsonscan.AppendString(nil, clean)
		}
	case jsonscan.KindObject:
		return scrubMembers(raw, func(key string, v []byte) []byte {
			switch {
			case slices.Contains(wordy[:], key):
				return scrubWords(v, depth-1, literals)
			case key == choices:
				return scrubChoices(v, depth-1, literals)
			}
			return nil
		})
	case jsonscan.KindArray:
		return scrubElements(raw, func(v []byte) []byte { return scrubWords(v, depth-1, literals) })
	}
	return nil
}

func scrubChoices(list []byte, depth int, literals []string) []byte {
	if jsonscan.KindOf(list) != jsonscan.KindArray {
		return nil
	}
	return scrubElements(list, func(choice []byte) []byte {
		if jsonscan.KindOf(choice) != jsonscan.KindObject {
			return nil
		}
		return scrubMembers(choice, func(key string, v []byte) []byte {
			if key != choiceError {
				return nil
			}
			return scrubWords(v, depth-1, literals)
		})
	})
}

// scrubMembers rewrites the members of an object for which scrub has something.
func scrubMembers(obj []byte, scrub func(key string, v []byte) []byte) []byte {
	var edits []jsonscan.Edit
	m := jsonscan.Object(obj)
	for m.Next() {
		if clean := scrub(string(m.Key()), m.Value()); clean != nil {
			edits = append(edits, jsonscan.Edit{Key: string(m.Key()), Value: clean})
		}
	}
	if len(edits) == 0 {
		return nil
	}
	out, err := jsonscan.Set(obj, edits...)
	if err != nil {
		return nil
	}
	return out
}

func scrubElements(list []byte, scrub func([]byte) []byte) []byte {
	out, changed := []byte{'['}, false
	el := jsonscan.Array(list)
	for el.Next() {
		if len(out) > 1 {
			out = append(out, ',')
		}
		clean := scrub(el.Value())
		if clean == nil {
			out = append(out, el.Value()...)
			continue
		}
		out, changed = append(out, clean...), true
	}
	if !changed {
		return nil
	}
	return append(out, ']')
}
