package responses

import (
	"bytes"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/translate"
)

// answerDecoder reads one answer. A stream's items and those of a whole answer
// end the same way, so that both give the same blocks.
type answerDecoder struct {
	out     []translate.Event
	started bool
	id      string
	tier    string
	next    int // the index of the next block
	items   []*upItem
	stopped stopSigns
	over    bool // the stop or a failure was given
}

func newAnswerDecoder() *answerDecoder { return &answerDecoder{} }

// frame is the members of an event that are read, raw; nil is absent or null.
type frame struct {
	typ, index, part, itemID        []byte // part: content_index or summary_index
	delta, text, logprobs           []byte
	item, piece, annotation         []byte
	response, failure, code, status []byte
}

func (f *frame) read(data []byte) error {
	m := jsonscan.Object(data)
	for m.Next() {
		if v := m.Value(); !null(v) {
			f.member(m.Key(), v)
		}
	}
	return m.Err()
}

func (f *frame) member(key, v []byte) {
	switch string(key) {
	case "type":
		f.typ = v
	case "output_index":
		f.index = v
	case "content_index", "summary_index":
		f.part = v
	case "item_id":
		f.itemID = v
	case "delta":
		f.delta = v
	case "text", "refusal", "arguments", "input":
		f.text = v
	case "logprobs":
		f.logprobs = v
	case "item":
		f.item = v
	case "part":
		f.piece = v
	case "annotation":
		f.annotation = v
	case "response":
		f.response = v
	case "error":
		f.failure = v
	case "code":
		f.code = v
	case "status":
		f.status = v
	}
}

// name is the event's type: of the JSON, else the name of the event.
func (f *frame) name(name string) []byte {
	if len(f.typ) > 1 && f.typ[0] == '"' {
		return f.typ[1 : len(f.typ)-1]
	}
	return []byte(name)
}

// Event reads one event of a stream.
func (d *answerDecoder) Event(name string, data []byte) ([]translate.Event, error) {
	d.out = d.out[:0]
	switch data = bytes.TrimSpace(data); {
	case d.over:
		return nil, nil
	case len(data) == 0:
		d.emit(translate.Event{Kind: translate.Beat})
		return d.out, nil
	}
	var f frame
	if f.read(data) != nil {
		if jsonscan.Valid(data) {
			return nil, nil // JSON of another kind says nothing here
		}
		return nil, protocol.ErrNotProtocol
	}
	d.take(f.name(name), &f, data)
	return d.out, nil
}

func (d *answerDecoder) take(name []byte, f *frame, data []byte) {
	if what, ok := pieceOf(name); ok {
		d.begin(nil)
		d.piece(what, f)
		return
	}
	switch string(name) {
	case "response.created", "response.queued", "response.in_progress":
		d.begin(f.response)
	case "keepalive", "ping":
		d.emit(translate.Event{Kind: translate.Beat})
	case "response.completed", "response.incomplete":
		d.begin(f.response)
		d.closing(f.response, string(name) == "response.incomplete")
	case "response.failed":
		d.begin(f.response)
		d.failed(f.response)
	case "error":
		d.begin(nil)
		d.fail(failureOf(data, f.failure))
	default:
		d.begin(nil)
		d.itemEvent(string(name), f)
	}
}

// piece is what a piece of text is of.
type piece uint8

const (
	pieceText piece = iota
	pieceRefusal
	pieceThought
	pieceSummary
	pieceInput
)

// pieceOf tells which text an event continues; false for other events.
func pieceOf(name []byte) (piece, bool) {
	switch string(name) {
	case "response.output_text.delta":
		return pieceText, true
	case "response.refusal.delta":
		return pieceRefusal, true
	case "response.reasoning_text.delta":
		return pieceThought, true
	case "response.reasoning_summary_text.delta":
		return pieceSummary, true
	case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta":
		return pieceInput, true
	}
	return 0, false
}

// itemEvent reads an event that begins or ends something.
func (d *answerDecoder) itemEvent(name string, f *frame) {
	switch name {
	case "response.output_item.added":
		d.itemAdded(f)
	case "response.output_item.done":
		it := d.find(f, f.item)
		d.itemDone(it, f.item)
	case "response.content_part.added":
		d.partAdded(f)
	case "response.content_part.done":
		d.partDone(f)
	case "response.output_text.done":
		d.pieceDone(pieceText, f)
	case "response.refusal.done":
		d.pieceDone(pieceRefusal, f)
	case "response.reasoning_text.done":
		d.pieceDone(pieceThought, f)
	case "response.reasoning_summary_text.done":
		d.pieceDone(pieceSummary, f)
	case "response.function_call_arguments.done", "response.custom_tool_call_input.done":
		d.pieceDone(pieceInput, f)
	case "response.output_text.annotation.added":
		if f.annotation != nil {
			it := d.find(f, nil)
			p := d.part(it, f.part, translate.Text)
			d.cite(p, f.annotation)
		}
	}
}

func (d *answerDecoder) emit(e translate.Event) { d.out = append(d.out, e) }

// begin tells who answers, from the first event; some servers leave the opening
// out.
func (d *answerDecoder) begin(response []byte) {
	if tier := textOf(response, "service_tier"); tier != "" {
		d.tier = tier
	}
	if d.started {
		return
	}
	d.started = true
	d.id = textOf(response, "id")
	d.emit(translate.Event{Kind: translate.Start, ID: d.id, Model: textOf(response, "model"), Tier: d.tier})
}
