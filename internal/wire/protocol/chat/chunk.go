package chat

import (
	"strconv"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
)

const objectChunk = "chat.completion.chunk"

// chunk is the top level of one chunk, or of a whole answer: raw values that
// alias the record, nil where absent or null.
type chunk struct {
	data       []byte
	choices    []byte
	hasChoices bool // the member is there, be it null
	usage      []byte
	err        []byte
	id, model  []byte
	tier       []byte
	object     []byte
	typ        []byte
	groqUsage  []byte
}

// split walks data once, in full: whatever it returns nil for is valid JSON.
func (c *chunk) split(data []byte) error {
	c.data = data
	m := jsonscan.Object(data)
	for m.Next() {
		v := m.Value()
		null := v[0] == 'n'
		switch string(m.Key()) {
		case "choices":
			c.hasChoices = true
			put(&c.choices, v, null)
		case "usage":
			put(&c.usage, v, null)
		case "error":
			put(&c.err, v, null)
		case "id":
			put(&c.id, v, null)
		case "model":
			put(&c.model, v, null)
		case "service_tier":
			put(&c.tier, v, null)
		case "object":
			put(&c.object, v, null)
		case "type":
			put(&c.typ, v, null)
		case "x_groq":
			put(&c.groqUsage, v, null)
		}
	}
	return m.Err()
}

func put(dst *[]byte, v []byte, null bool) {
	if !null {
		*dst = v
	}
}

// empty reports whether the chunk has no choices in it.
func (c *chunk) empty() bool { return c.choices == nil || jsonscan.Empty(c.choices) }

// usageOf finds the usage where providers put it: in the chunk (OpenAI), in a
// choice (Moonshot), in a member of their own (Groq, formerly) or in the error
// that ends the answer.
func (c *chunk) usageOf(l *chunkFacts) []byte {
	switch {
	case c.usage != nil:
		return c.usage
	case l.usage != nil:
		return l.usage
	case c.groqUsage != nil:
		if u := jsonscan.Get(c.groqUsage, "usage"); u != nil && u[0] != 'n' {
			return u
		}
	case c.err != nil:
		if u := jsonscan.Get(c.err, "usage"); u != nil && u[0] != 'n' {
			return u
		}
	}
	return nil
}

// names keeps who answered. The first id and model stay: relays send one of
// their own first and the client has seen that one. The tier is only final at
// the end.
func (c *chunk) names(s *protocol.Observed) {
	if s.ResponseID == "" {
		s.ResponseID, _ = jsonscan.Text(c.id)
	}
	if s.Model == "" {
		s.Model, _ = jsonscan.Text(c.model)
	}
	if c.tier != nil && !jsonscan.Empty(c.tier) && !jsonscan.Equal(c.tier, s.Tier) {
		s.Tier, _ = jsonscan.Text(c.tier)
	}
}

// failed reports whether the chunk says that the request failed: an "error" with
// something in it, or, without choices, the forms in which the fields of the
// error are the chunk itself (vLLM, SGLang, Messages).
func (c *chunk) failed(name []byte) bool {
	if c.err != nil {
		if c.empty() {
			return !c.trivialError()
		}
		return !jsonscan.Empty(c.err) && !c.trivialError()
	}
	if c.hasChoices {
		return false
	}
	return string(name) == "error" || jsonscan.Equal(c.typ, "error") || jsonscan.Equal(c.object, "error")
}

// trivialError: false, "" and [] say that there is none.
func (c *chunk) trivialError() bool {
	return string(c.err) == "false" || c.err[0] != '{' && jsonscan.Empty(c.err)
}

// failure reads what the chunk says about the failure.
func (c *chunk) failure() protocol.FailureInfo {
	info, _ := protocol.ReadFailure(c.data)
	if info.Type == "error" {
		info.Type = "" // the event's own type, not the error's
	}
	if info.Code == "" && c.err != nil {
		if n, ok := jsonscan.Int(c.err); ok {
			info.Code = strconv.FormatInt(n, 10)
		}
	}
	info.RetryAfter = max(protocol.Delay(c.err), protocol.Delay(c.data))
	return info
}

// typed reports whether the record names a type, as no chunk does. An event
// named "message" is what SSE calls an event without a name.
func (c *chunk) typed(name []byte) bool {
	return c.typ != nil && !jsonscan.Empty(c.typ) || len(name) > 0 && string(name) != "message"
}
