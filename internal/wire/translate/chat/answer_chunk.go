package chat

import (
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// chunk is the top level of one chunk, or of a whole answer: raw values that
// alias it, nil where absent or null.
type chunk struct {
	choices, usage, err   []byte
	id, model, tier, groq []byte
	typ, object           []byte
}

func (c *chunk) split(data []byte) error {
	m := jsonscan.Object(data)
	for m.Next() {
		v := m.Value()
		if null(v) {
			continue
		}
		switch string(m.Key()) {
		case "choices":
			c.choices = v
		case "usage":
			c.usage = v
		case "error":
			c.err = v
		case "id":
			c.id = v
		case "model":
			c.model = v
		case "service_tier":
			c.tier = v
		case "x_groq":
			c.groq = v
		case "type":
			c.typ = v
		case "object":
			c.object = v
		}
	}
	return m.Err()
}

// failed tells whether a chunk says that the request failed. false, "" and []
// say that it did not.
func (c *chunk) failed(name string) bool {
	if c.err != nil {
		return c.err[0] == '{' && (c.choices == nil || !jsonscan.Empty(c.err)) ||
			c.err[0] != '{' && !jsonscan.Empty(c.err) && string(c.err) != "false"
	}
	return c.choices == nil && (name == "error" || jsonscan.Equal(c.typ, "error") || jsonscan.Equal(c.object, "error"))
}

func (d *answerDecoder) chunk(c *chunk) {
	d.start(c)
	var inner []byte // a usage inside a choice
	if c.choices != nil && c.choices[0] == '[' {
		el := jsonscan.Array(c.choices)
		for el.Next() {
			if v := el.Value(); v[0] == '{' {
				inner = d.choice(v, inner)
			}
		}
	}
	if !d.over {
		d.usage(c, inner)
	}
}

// choice reads one choice. There is one, because more are never asked for on a
// translated route.
func (d *answerDecoder) choice(raw, usage []byte) []byte {
	var delta, message, text, finish, logprobs, failure []byte
	m := jsonscan.Object(raw)
	for m.Next() {
		v := m.Value()
		if null(v) {
			continue
		}
		switch string(m.Key()) {
		case "index":
			if n, ok := jsonscan.Int(v); ok && n > 0 {
				d.fail(translate.Failure{Code: "upstream_protocol", Type: "server_error", Message: "The provider gave several choices where one was asked for."})
				return usage
			}
		case "delta":
			delta = v
		case "message":
			message = v
		case "text":
			text = v
		case "finish_reason":
			finish = v
		case "logprobs":
			logprobs = v
		case "stop_reason", "matched_stop": // vLLM, SGLang
			d.stop.matched(v)
		case "usage":
			usage = v
		case "error":
			failure = v
		}
	}
	switch {
	case d.over:
		return usage
	case delta != nil:
		d.delta(delta, logprobs)
	case message != nil:
		d.delta(message, logprobs)
	case text != nil:
		d.content(text, logprobs)
	}
	switch {
	case d.over:
	case failure != nil && !jsonscan.Empty(failure):
		d.fail(failureOf(failure, nil))
	case jsonscan.Equal(finish, "error"):
		d.fail(translate.Failure{Code: "upstream_error", Type: "server_error", Message: "The provider ended the answer with an error."})
	default:
		d.stop.reason(finish)
	}
	return usage
}

// said is the members of a delta or a message, in the order in which they were
// meant: reasoning, text, calls.
type said struct {
	details, content, refusal, calls, legacy, quotes, extra []byte
	reasoning                                               [3][]byte
}

func (s *said) split(raw []byte) {
	m := jsonscan.Object(raw)
	for m.Next() {
		v := m.Value()
		if null(v) {
			continue
		}
		switch string(m.Key()) {
		case "reasoning_details", "thinking_blocks":
			s.details = v
		case "reasoning_content":
			s.reasoning[0] = v
		case "reasoning":
			s.reasoning[1] = v
		case "thinking":
			s.reasoning[2] = v
		case "content":
			s.content = v
		case "refusal":
			s.refusal = v
		case "tool_calls":
			s.calls = v
		case "function_call":
			s.legacy = v
		case "annotations":
			s.quotes = v
		case "extra_content":
			s.extra = v
		}
	}
}

func (d *answerDecoder) delta(raw, logprobs []byte) {
	var s said
	s.split(raw)
	if !d.details(s.details) {
		for _, v := range s.reasoning {
			if v != nil && jsonscan.TextLen(v) > 0 {
				text, _ := jsonscan.Text(v)
				d.thought(translate.PartThought, text)
				break // the same text under another name
			}
		}
	}
	if s.content != nil {
		d.content(s.content, logprobs)
	}
	if text, _ := jsonscan.Text(s.refusal); text != "" {
		d.refused = true
		d.say(translate.Refusal, translate.PartText, text, tokens(logprobs, "refusal"))
	}
	if signed(s.extra) {
		d.signature(s.extra, "")
	}
	if s.legacy != nil {
		d.legacyCall(s.legacy)
	}
	el := jsonscan.Array(s.calls)
	for el.Next() {
		d.callPiece(el.Value())
	}
	d.quotes(s.quotes)
}

// content reads text, or parts of it as Mistral sends them.
func (d *answerDecoder) content(v, logprobs []byte) {
	logprobs = tokens(logprobs, "content")
	if v[0] == '"' {
		text, _ := jsonscan.Text(v)
		if text != "" || logprobs != nil && d.open >= 0 && d.kind == translate.Text {
			d.say(translate.Text, translate.PartText, text, logprobs)
		}
		return
	}
	el := jsonscan.Array(v)
	for el.Next() {
		part := el.Value()
		switch typ := textOf(part, "type"); typ {
		case "text":
			if text := textOf(part, "text"); text != "" {
				d.say(translate.Text, translate.PartText, text, logprobs)
			}
		case "thinking":
			inner := jsonscan.Array(jsonscan.Get(part, "thinking"))
			for inner.Next() {
				d.thought(translate.PartThought, textOf(inner.Value(), "text"))
			}
		}
	}
}

// tokens are the tokens of a choice's logprobs, nil if there are none.
func tokens(logprobs []byte, of string) []byte {
	if logprobs == nil {
		return nil
	}
	list := jsonscan.Get(logprobs, of)
	if jsonscan.KindOf(list) != jsonscan.KindArray || jsonscan.Empty(list) {
		return nil
	}
	return list
}
