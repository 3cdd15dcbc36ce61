package wording

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"rubicon/internal/config"
	"rubicon/internal/engine/upstream"
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/sse"
)

// SecretsOf gives what must not be shown of a channel, whatever it looks like:
// its address, with and without the port, and its keys.
func SecretsOf(ch *config.Channel) fault.Secrets {
	names := []string{ch.BaseURL}
	if u, err := url.Parse(ch.BaseURL); err == nil {
		names = append(names, u.Host, u.Hostname())
	}
	var keys []string
	for i := range ch.Credentials {
		keys = append(keys, ch.Credentials[i].Key.Reveal())
	}
	for _, more := range [...]config.SecretMap{ch.Headers, ch.Query} {
		for name, value := range more {
			if carriesKey(name) {
				keys = append(keys, value, value[strings.LastIndexByte(value, ' ')+1:]) // of "Bearer KEY" the key alone, too
			}
		}
	}
	return fault.NewSecrets(keys, names)
}

// keyNames are parts of the names of headers and parameters that carry a key;
// others carry versions and titles, which may be shown.
var keyNames = [...]string{"auth", "key", "token", "secret", "sig", "password", "cookie", "credential"}

func carriesKey(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(keyNames[:], func(part string) bool { return strings.Contains(name, part) })
}

// Event takes hosts, keys and account ids out of an event whose document
// begins at the given place, and gives it bytes of its own. Other bytes stay.
func Event(s fault.Secrets, ev protocol.Event, at *fault.Place) protocol.Event {
	ev.Raw, ev.Data = bytes.Clone(ev.Raw), bytes.Clone(ev.Data)
	clean := s.JSON(ev.Data, at)
	if clean != nil {
		ev.Data = clean
	}
	if clean != nil || s.In(string(ev.Raw)) {
		ev.Raw = record(s, ev.Raw, ev.Data)
	}
	return ev
}

// Echo takes the channel's secrets out of a value of upstream's that an ending of
// the gateway repeats.
func Echo(s fault.Secrets, raw []byte) []byte {
	if clean := s.JSON(raw, fault.InEcho); clean != nil {
		return clean
	}
	return raw
}

// ContentType is the content type that a client sees: upstream's own, which is the
// only header of upstream that clients get. "" is the usual one.
func ContentType(s fault.Secrets, contentType string) string {
	if s.In(contentType) {
		return ""
	}
	return contentType
}

// record gives an event's SSE record with other data. Its further lines stay, except
// those that show something of the route.
func record(s fault.Secrets, raw, data []byte) []byte {
	event := sse.AppendEvent(nil, "", data)
	event = event[:len(event)-1] // without the blank line
	var out []byte
	for line := range bytes.Lines(raw) {
		switch field, _, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(":")); {
		case string(field) == "data":
			out, event = append(out, event...), nil
		case !s.In(string(line)):
			out = append(out, line...)
		}
	}
	return out
}

// Answer takes secrets out of a whole answer that reports a failure, or that it
// ended early.
func Answer(s fault.Secrets, a *upstream.Answer, at *fault.Place) *upstream.Answer {
	clean := s.JSON(a.Body, at)
	if clean == nil {
		return a
	}
	return &upstream.Answer{Status: a.Status, ContentType: a.ContentType, RequestID: a.RequestID, Body: clean}
}

// FailurePlace is the place where the document of an answer begins that failed as a
// whole.
func FailurePlace(p *protocol.Protocol) *fault.Place {
	if p.Channel() == config.ProtocolResponses {
		return fault.InAnswer
	}
	return fault.InFailure
}

// StoredAnswer takes secrets out of a channel's answer about a stored response, which
// may have failed or ended early.
func StoredAnswer(a *upstream.Answer, ch *config.Channel) *upstream.Answer {
	at := fault.InIncomplete
	if jsonscan.KindOf(jsonscan.Get(a.Body, "error")) == jsonscan.KindObject {
		at = fault.InAnswer
	}
	return Answer(SecretsOf(ch), a, at)
}
