package chat

import (
	"bytes"
	"strconv"

	"rubicon/internal/classify"
	"rubicon/internal/jsonscan"
	"rubicon/internal/protocol"
	"rubicon/internal/wire/translate"
)

// done is the record that ends a stream.
const done = "[DONE]"

// answerDecoder reads one answer. A chunk and a whole answer's choice go the
// same way, so that both give the same blocks.
type answerDecoder struct {
	out     []translate.Event
	started bool
	id      string
	tier    string
	next    int // the index of the next block

	open   int // the block that is open beside calls, -1 none
	kind   translate.Kind
	cited  int // the last text, for citations that come late; -1 none
	detail detailState
	calls  []call

	refused bool // a refusal was said
	stop    stopState
	tokens  counts
	over    bool // the stop or a failure was given
}

func newAnswerDecoder() *answerDecoder { return &answerDecoder{open: -1, cited: -1} }

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

// Event reads one event of a stream.
func (d *answerDecoder) Event(name string, data []byte) ([]translate.Event, error) {
	d.out = d.out[:0]
	data = bytes.TrimSpace(data)
	switch {
	case d.over:
		return nil, nil
	case len(data) == 0:
		d.emit(translate.Event{Kind: translate.Beat})
		return d.out, nil
	case string(data) == done:
		if d.stop.said {
			d.finish()
		}
		return d.out, nil
	case data[0] != '{':
		if !jsonscan.Valid(data) {
			return nil, protocol.ErrNotProtocol
		}
		d.emit(translate.Event{Kind: translate.Beat})
		return d.out, nil
	}
	var c chunk
	if c.split(data) != nil {
		return nil, protocol.ErrNotProtocol
	}
	if c.failed(name) {
		d.start(&c)
		d.usage(&c, nil)
		d.fail(failureOf(data, c.err))
		return d.out, nil
	}
	d.chunk(&c)
	return d.out, nil
}

// End is what a stream still owes. One that never told why it ended did not end
// well.
func (d *answerDecoder) End() []translate.Event {
	d.out = d.out[:0]
	switch {
	case d.over:
	case d.stop.said:
		d.finish()
	default:
		d.shutAll()
		d.fail(translate.Failure{Code: "upstream_stream_error", Type: "server_error", Message: "The provider's stream broke off."})
	}
	return d.out
}

// Whole reads an answer that was not streamed.
func (d *answerDecoder) Whole(body []byte) ([]translate.Event, error) {
	d.out = d.out[:0]
	var c chunk
	if c.split(body) != nil {
		return nil, protocol.ErrNotProtocol
	}
	if c.failed("") {
		d.start(&c)
		d.usage(&c, nil)
		d.fail(failureOf(body, c.err))
		return d.out, nil
	}
	if c.choices == nil || jsonscan.Empty(c.choices) || c.choices[0] != '[' {
		return nil, protocol.ErrNotProtocol
	}
	d.chunk(&c)
	d.finish()
	return d.out, nil
}

func (d *answerDecoder) emit(e translate.Event) { d.out = append(d.out, e) }

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

// start tells who answers. The first id and model stay: relays send one of their
// own first.
func (d *answerDecoder) start(c *chunk) {
	if c.tier != nil && !jsonscan.Equal(c.tier, d.tier) {
		d.tier, _ = jsonscan.Text(c.tier)
	}
	if d.started {
		return
	}
	d.started = true
	d.id, _ = jsonscan.Text(c.id)
	model, _ := jsonscan.Text(c.model)
	d.emit(translate.Event{Kind: translate.Start, ID: d.id, Model: model, Tier: d.tier})
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

// say continues a block of a kind, and opens it where another one is open.
func (d *answerDecoder) say(kind translate.Kind, part translate.Part, text string, logprobs []byte) {
	if d.open < 0 || d.kind != kind {
		d.begin(translate.Block{Kind: kind})
	}
	d.emit(translate.Event{Kind: translate.Delta, Index: d.open, Part: part, Text: text, Logprobs: logprobs})
}

// begin opens a block that is no call.
func (d *answerDecoder) begin(b translate.Block) {
	d.shut()
	d.open, d.kind = d.next, b.Kind
	d.detail = detailState{index: d.detail.index}
	if b.Kind == translate.Text {
		d.cited = d.open
	}
	d.opened(b)
}

func (d *answerDecoder) opened(b translate.Block) {
	d.emit(translate.Event{Kind: translate.Open, Index: d.next, Block: b})
	d.next++
}

// shut closes the block that is open, and the calls that are complete.
func (d *answerDecoder) shut() {
	d.shutCalls(false)
	if d.open >= 0 {
		d.emit(translate.Event{Kind: translate.Close, Index: d.open})
		d.open = -1
	}
}

func (d *answerDecoder) shutAll() {
	d.shut()
	d.shutCalls(true)
}

// quotes passes annotations on, while the text that they are about is open.
func (d *answerDecoder) quotes(v []byte) {
	el := jsonscan.Array(v)
	for el.Next() {
		if d.open >= 0 && d.open == d.cited {
			d.emit(translate.Event{Kind: translate.Cite, Index: d.open, Raw: el.Value()})
		}
	}
}

// finish closes everything and tells the stop.
func (d *answerDecoder) finish() {
	if d.over {
		return
	}
	d.shut()
	d.openHeld()
	d.shutCalls(true)
	if d.over {
		return
	}
	d.over = true
	d.emit(translate.Event{Kind: translate.Stop, Tier: d.tier, Stop: d.stop.word(len(d.calls) > 0, d.refused)})
}

func (d *answerDecoder) fail(f translate.Failure) {
	d.over = true
	d.emit(translate.Event{Kind: translate.Failed, Failure: f})
}

// failureOf reads what a failure says.
func failureOf(data, err []byte) translate.Failure {
	info, _ := classify.Body(data)
	if info.Type == "error" {
		info.Type = "" // the event's own type, not the error's
	}
	if info.Code == "" && err != nil {
		if n, ok := jsonscan.Int(err); ok {
			info.Code = strconv.FormatInt(n, 10)
		}
	}
	return translate.Failure{Code: info.Code, Type: info.Type, Message: info.Message, Param: info.Param}
}
