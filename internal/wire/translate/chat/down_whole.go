package chat

import (
	"errors"
	"strings"

	"rubicon/internal/wire/jsonscan"
)

var (
	errUnfinished = errors.New("the answer did not end")
	errStreamed   = errors.New("the answer was streamed")
)

// wholeAnswer collects an answer that is not streamed, from the same events.
type wholeAnswer struct {
	text, refusal, reasoning strings.Builder
	details                  [][]byte
	calls                    []*wholeCall
	signed                   []byte
	tokens                   []byte // logprobs, as elements
}

type wholeCall struct {
	id, name string
	custom   bool
	input    strings.Builder
	signed   []byte
}

// keepTokens keeps the elements of an array of tokens.
func (a *wholeAnswer) keepTokens(list []byte) {
	el := jsonscan.Array(list)
	for el.Next() {
		if len(a.tokens) > 0 {
			a.tokens = append(a.tokens, ',')
		}
		a.tokens = append(a.tokens, el.Value()...)
	}
}

// Whole is the answer of all events so far.
func (e *answerEncoder) Whole() ([]byte, error) {
	switch {
	case e.whole == nil:
		return nil, errStreamed
	case !e.ended || e.failed:
		return nil, errUnfinished
	}
	a := e.whole
	w := writer{b: make([]byte, 0, 512+a.text.Len()+a.reasoning.Len())}
	w.open('{')
	w.text("id", e.id.ResponseID)
	w.text("object", "chat.completion")
	w.int("created", e.id.Created)
	w.text("model", e.id.Model)
	w.array("choices")
	w.open('{')
	w.int("index", 0)
	w.object("message")
	e.message(&w, a)
	w.shut('}')
	if len(a.tokens) > 0 {
		w.b = append(append(append(w.b, `,"logprobs":{"content":[`...), a.tokens...), `],"refusal":null}`...)
	} else {
		w.raw("logprobs", []byte("null"))
	}
	w.text("finish_reason", e.reason())
	w.b = append(w.b, `}]`...)
	if e.known {
		w.key("usage")
		writeUsage(&w, e.usage)
	}
	if e.tier != "" {
		w.text("service_tier", e.tier)
	}
	w.raw("system_fingerprint", []byte("null"))
	w.shut('}')
	return w.b, nil
}

func (e *answerEncoder) message(w *writer, a *wholeAnswer) {
	w.text("role", "assistant")
	if a.text.Len() > 0 || len(a.calls) == 0 && a.refusal.Len() == 0 {
		w.text("content", a.text.String())
	} else {
		w.raw("content", []byte("null"))
	}
	w.nullable("refusal", a.refusal.String())
	if a.reasoning.Len() > 0 {
		w.text("reasoning_content", a.reasoning.String())
	}
	if len(a.details) > 0 {
		w.array("reasoning_details")
		for _, item := range a.details {
			w.element()
			w.b = append(w.b, item...)
		}
		w.shut(']')
	}
	if len(a.calls) > 0 {
		w.array("tool_calls")
		for _, c := range a.calls {
			c.write(w)
		}
		w.shut(']')
	}
	if e.quoteCount > 0 {
		w.array("annotations")
		w.b = append(append(w.b, e.quotes...), ']')
	}
	if a.signed != nil {
		w.raw("extra_content", a.signed)
	}
}

func (c *wholeCall) write(w *writer) {
	typ, member := "function", "arguments"
	if c.custom {
		typ, member = "custom", "input"
	}
	w.element()
	w.open('{')
	w.text("id", c.id)
	w.text("type", typ)
	w.object(typ)
	w.text("name", c.name)
	w.text(member, c.input.String())
	w.shut('}')
	if c.signed != nil {
		w.raw("extra_content", c.signed)
	}
	w.shut('}')
}
