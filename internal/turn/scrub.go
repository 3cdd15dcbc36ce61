package turn

import (
	"bytes"
	"net/url"
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

func isWordy(key []byte) bool {
	for _, w := range wordy {
		if string(key) == w {
			return true
		}
	}
	return false
}

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
		return scrubMembers(raw, depth, literals)
	case jsonscan.KindArray:
		return scrubElements(raw, depth, literals)
	}
	return nil
}

func scrubMembers(obj []byte, depth int, literals []string) []byte {
	var edits []jsonscan.Edit
	m := jsonscan.Object(obj)
	for m.Next() {
		if !isWordy(m.Key()) {
			continue
		}
		if clean := scrubWords(m.Value(), depth-1, literals); clean != nil {
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

func scrubElements(list []byte, depth int, literals []string) []byte {
	out, changed := []byte{'['}, false
	el := jsonscan.Array(list)
	for el.Next() {
		if len(out) > 1 {
			out = append(out, ',')
		}
		clean := scrubWords(el.Value(), depth-1, literals)
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
