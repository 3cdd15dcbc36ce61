package responses

import (
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/translate"
)

// final is a response object's members that are read, raw; nil is absent or
// null.
type final struct{ status, output, usage, failure, details []byte }

func readFinal(response []byte) (r final) {
	m := jsonscan.Object(response)
	for m.Next() {
		v := m.Value()
		if null(v) {
			continue
		}
		switch string(m.Key()) {
		case "status":
			r.status = v
		case "output":
			r.output = v
		case "usage":
			r.usage = v
		case "error":
			r.failure = v
		case "incomplete_details":
			r.details = v
		}
	}
	return r
}

// closing ends an answer by its final response object. What the object holds and
// no event told is told now.
func (d *answerDecoder) closing(response []byte, incomplete bool) {
	r := readFinal(response)
	if r.failure != nil || jsonscan.Equal(r.status, "failed") {
		d.failed(response)
		return
	}
	d.fill(r.output)
	d.closeAll()
	d.usage(r.usage)
	d.over = true
	d.emit(translate.Event{Kind: translate.Stop, Tier: d.tier, Stop: d.stopped.reason(&r, incomplete)})
}

func (d *answerDecoder) failed(response []byte) {
	r := readFinal(response)
	d.usage(r.usage)
	if r.failure == nil {
		d.fail(translate.Failure{Type: "server_error", Message: "The provider's answer failed."})
		return
	}
	d.fail(failureOf(r.failure, nil))
}

func (d *answerDecoder) fail(x translate.Failure) {
	d.over = true
	d.emit(translate.Event{Kind: translate.Failed, Failure: x})
}

// failureOf reads what a failure says: nested fields count first.
func failureOf(data, nested []byte) translate.Failure {
	info, _ := protocol.ReadFailure(data)
	if nested != nil {
		info, _ = protocol.ReadFailure(nested)
	}
	if info.Type == "error" {
		info.Type = "" // the event's own type, not the error's
	}
	return translate.Failure{Code: info.Code, Type: info.Type, Message: info.Message, Param: info.Param}
}

// End owes nothing: a stream is complete with its last response object, which
// closes all items, and without it there is no good end.
func (d *answerDecoder) End() []translate.Event {
	d.out = d.out[:0]
	if !d.over {
		d.fail(translate.Failure{Code: "upstream_stream_error", Type: "server_error", Message: "The provider's stream broke off."})
	}
	return d.out
}

// Whole reads an answer that was not streamed, as the events of a stream.
func (d *answerDecoder) Whole(body []byte) ([]translate.Event, error) {
	d.out = d.out[:0]
	if !jsonscan.Valid(body) || jsonscan.KindOf(body) != jsonscan.KindObject {
		return nil, protocol.ErrNotProtocol
	}
	r := readFinal(body)
	switch {
	case r.output == nil && r.failure == nil, r.output != nil && jsonscan.KindOf(r.output) != jsonscan.KindArray:
		return nil, protocol.ErrNotProtocol
	}
	d.begin(body)
	d.closing(body, jsonscan.Equal(r.status, "incomplete"))
	return d.out, nil
}

// closeAll ends the items that upstream left open.
func (d *answerDecoder) closeAll() {
	for _, it := range d.items {
		if !it.done {
			d.close(it, nil)
		}
	}
}

// fill takes from the output of the last event what no event before it told.
// Items stand there in order; their ids help where a provider does not count.
func (d *answerDecoder) fill(output []byte) {
	seen := len(d.items)
	el := jsonscan.Array(output)
	for n := int64(0); el.Next(); n++ {
		it := d.named(textOf(el.Value(), "id"))
		if it == nil {
			it = d.placed(n, el.Value())
		}
		switch {
		case it != nil:
		case n < int64(seen):
			continue // it came under another place and another id
		default:
			it = d.add(n, textOf(el.Value(), "id"))
		}
		d.itemDone(it, el.Value())
	}
}

// placed is the item at a place of the output, if it is of the same kind.
func (d *answerDecoder) placed(n int64, item []byte) *upItem {
	if n >= int64(len(d.items)) {
		return nil
	}
	it := d.items[n]
	typ := textOf(item, "type")
	same := it.kind == upMessage && typ == "message" || it.kind == upThought && typ == "reasoning" ||
		it.kind == upCall && (typ == "function_call" || typ == "custom_tool_call") || it.kind == upUnknown || it.kind == upHosted
	if !same {
		return nil
	}
	return it
}
