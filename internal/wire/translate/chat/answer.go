package chat

import (
	"bytes"
	"strconv"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
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
	info, _ := protocol.ReadFailure(data)
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
