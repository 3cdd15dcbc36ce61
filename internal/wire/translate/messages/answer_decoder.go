package messages

import (
	"errors"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// errNotMessages is what is no event or answer of this format.
var errNotMessages = errors.New("not of the Messages format")

// answerDecoder reads one answer.
type answerDecoder struct {
	out    []translate.Event
	blocks []upBlock // that are open
	next   int       // index of the next block
	up     int64     // index of the last block upstream
	empty  *upBlock  // a call that closed without arguments
	tokens tokens
	stop   translate.StopReason
	begun  bool
	done   bool
}

// upBlock is an open block.
type upBlock struct {
	up    int64 // index upstream
	index int
	kind  translate.Kind
	seal  *translate.Seal
	input []byte // what the block began with
	fed   bool   // arguments came
}

func newAnswerDecoder() *answerDecoder { return &answerDecoder{up: -1} }

// frame is one event, raw; nil is what it lacks.
type frame struct{ typ, index, message, block, delta, usage, err []byte }

func (f *frame) read(data []byte) error {
	m := jsonscan.Object(data)
	for m.Next() {
		v := m.Value()
		if null(v) {
			continue
		}
		switch string(m.Key()) {
		case "type":
			f.typ = v
		case "index":
			f.index = v
		case "message":
			f.message = v
		case "content_block":
			f.block = v
		case "delta":
			f.delta = v
		case "usage":
			f.usage = v
		case "error":
			f.err = v
		}
	}
	return m.Err()
}

// is compares the event's type: of the JSON, else its name.
func (f *frame) is(name, want string) bool {
	if f.typ != nil {
		return jsonscan.Equal(f.typ, want)
	}
	return name == want
}

// Event reads one event of a stream.
func (d *answerDecoder) Event(name string, data []byte) ([]translate.Event, error) {
	d.out = d.out[:0]
	if d.done {
		return nil, nil
	}
	var f frame
	if err := f.read(data); err != nil {
		return nil, errNotMessages
	}
	err := d.take(name, &f)
	return d.out, err
}

func (d *answerDecoder) take(name string, f *frame) error {
	switch {
	case f.is(name, "content_block_delta"):
		return d.delta(f)
	case f.is(name, "content_block_start"):
		d.open(d.indexOf(f, true), f.block)
	case f.is(name, "content_block_stop"):
		d.close(d.indexOf(f, false))
	case f.is(name, "ping"):
		d.emit(translate.Event{Kind: translate.Beat})
	case f.is(name, "message_start"):
		d.start(f.message)
	case f.is(name, "message_delta"):
		d.messageDelta(f)
	case f.is(name, "message_stop"):
		d.finish()
	case f.is(name, "error"), f.typ == nil && f.err != nil:
		d.fail(f.err)
	}
	return nil
}

func (d *answerDecoder) emit(e translate.Event) { d.out = append(d.out, e) }

// begin makes sure that the answer has begun: some servers leave it out.
func (d *answerDecoder) begin() {
	if !d.begun {
		d.begun = true
		d.emit(translate.Event{Kind: translate.Start})
	}
}

func (d *answerDecoder) start(message []byte) {
	if d.begun {
		return
	}
	d.begun = true
	e := translate.Event{Kind: translate.Start}
	var usage []byte
	m := jsonscan.Object(message)
	for m.Next() {
		switch string(m.Key()) {
		case "id":
			e.ID, _ = jsonscan.Text(m.Value())
		case "model":
			e.Model, _ = jsonscan.Text(m.Value())
		case "usage":
			usage = m.Value()
		}
	}
	d.emit(e)
	d.usage(usage, true)
}

// indexOf is the block that an event is about: of an event without an index, the
// one behind the last for a start, else the last.
func (d *answerDecoder) indexOf(f *frame, starts bool) int64 {
	if n, ok := jsonscan.Int(f.index); ok {
		d.up = max(d.up, n)
		return n
	}
	if starts {
		d.up++
	} else if n := len(d.blocks); n > 0 {
		return d.blocks[n-1].up
	}
	return d.up
}

func (d *answerDecoder) find(up int64) *upBlock {
	for i := range d.blocks {
		if d.blocks[i].up == up {
			return &d.blocks[i]
		}
	}
	return nil
}

// messageDelta reads the reason of the end, and numbers. The end itself is
// told by message_stop.
func (d *answerDecoder) messageDelta(f *frame) {
	d.begin()
	if word, _ := jsonscan.Text(jsonscan.Get(f.delta, "stop_reason")); word != "" {
		d.reason(word, f.delta)
		d.settle()
	}
	d.usage(f.usage, false)
}

func (d *answerDecoder) usage(raw []byte, opening bool) {
	if jsonscan.KindOf(raw) != jsonscan.KindObject {
		return
	}
	d.tokens.read(raw, opening)
	tier, _ := jsonscan.Text(jsonscan.Get(raw, "service_tier"))
	d.emit(translate.Event{Kind: translate.UsageNow, Usage: d.tokens.usage(), Tier: tier})
}

// finish ends a complete answer. One that gives no reason ends for an odd one,
// which is no success.
func (d *answerDecoder) finish() {
	d.begin()
	if d.stop.Word == "" {
		d.stop.Word = translate.Odd
	}
	d.closeAll()
	d.settle()
	d.emit(translate.Event{Kind: translate.Stop, Stop: d.stop})
	d.done = true
}

func (d *answerDecoder) fail(raw []byte) {
	var x translate.Failure
	if jsonscan.KindOf(raw) == jsonscan.KindString {
		x.Message, _ = jsonscan.Text(raw)
	}
	m := jsonscan.Object(raw)
	for m.Next() {
		switch string(m.Key()) {
		case "type":
			x.Type, _ = jsonscan.Text(m.Value())
		case "code":
			x.Code, _ = jsonscan.Text(m.Value())
		case "message":
			x.Message, _ = jsonscan.Text(m.Value())
		}
	}
	d.emit(translate.Event{Kind: translate.Failed, Failure: x})
	d.done = true
}

// End owes nothing: a stream is complete with its message_stop, which closes all
// blocks, and without it there is no good end.
func (d *answerDecoder) End() []translate.Event { return nil }

// Whole reads an answer that was not streamed, as the events of a stream.
func (d *answerDecoder) Whole(body []byte) ([]translate.Event, error) {
	d.out = d.out[:0]
	if !jsonscan.Valid(body) {
		return nil, errNotMessages
	}
	if failure := jsonscan.Get(body, "error"); jsonscan.Equal(jsonscan.Get(body, "type"), "error") {
		d.fail(failure)
		return d.out, nil
	}
	content := jsonscan.Get(body, "content")
	if jsonscan.KindOf(content) != jsonscan.KindArray {
		return nil, errNotMessages
	}
	usage := jsonscan.Get(body, "usage")
	d.start(body)
	d.out = d.out[:1] // the numbers come once, at the end
	el := jsonscan.Array(content)
	for i := int64(0); el.Next(); i++ {
		d.open(i, el.Value())
		d.close(i)
	}
	if word, _ := jsonscan.Text(jsonscan.Get(body, "stop_reason")); word != "" {
		d.reason(word, body)
	}
	d.settle()
	d.usage(usage, false)
	d.finish()
	return d.out, nil
}
