package responses

import (
	"bytes"
	"strings"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// downKind is what an item towards the client is.
type downKind uint8

const (
	downText downKind = iota
	downRefusal
	downThought
	downCall
	downCustom
	downHosted
)

// downItem is one item of the output. A closed item waits with its last event
// until it is known what follows: that decides on its phase, and on whether a
// call was cut off.
type downItem struct {
	kind     downKind
	place    int
	id       string
	phase    string
	closed   bool // its block was closed
	settled  bool // its last event was written
	followed bool // something was opened behind it

	callID, name, namespace string
	unwrap                  *translate.Unwrapper

	text        []byte // of a message, reasoning in full, a call's input
	logprobs    []byte // elements
	annotations []byte // elements
	cited       int
	summary     [][]byte
	upParagraph int // upstream's number of the open paragraph
	seal        string
	raw         []byte // hosted
	last        []byte // the item as its last event has it
}

// item makes an item of a block; nil where the format has none for it.
func (e *answerEncoder) item(b *translate.Block, index int) *downItem {
	it := &downItem{phase: b.Phase}
	place := len(e.items)
	switch b.Kind {
	case translate.Text:
		it.id = e.made("msg_", place)
	case translate.Refusal:
		e.refused = true
		it.id = e.made("msg_", place)
		if it.kind = downRefusal; e.id.Profile == codexProfile {
			it.kind = downText
		}
	case translate.Think:
		it.kind, it.id = downThought, e.made("rs_", place)
		if b.Seal != nil && e.r.Reasoning.KeepSeals {
			it.seal = b.Seal.Data
		}
	case translate.Call:
		e.call(it, b, index)
	case translate.Hosted:
		if b.Origin != translate.Responses {
			return nil
		}
		it.kind, it.id, it.raw = downHosted, textOf(b.Raw, "id"), append([]byte(nil), b.Raw...)
	default:
		return nil
	}
	return it
}

// call restores the tool that the client knows: of this request's own tools,
// never by the form of a name.
func (e *answerEncoder) call(it *downItem, b *translate.Block, index int) {
	it.kind, it.name, it.namespace = downCall, b.Name, b.Namespace
	if b.Custom {
		it.kind = downCustom
	}
	if t, ok := e.names.Restore(b.Namespace, b.Name); ok {
		it.name, it.namespace = t.Name, t.Namespace
		if t.Kind == translate.Custom && !b.Custom {
			it.kind, it.unwrap = downCustom, &translate.Unwrapper{}
		}
	}
	prefix := "fc_"
	if it.kind == downCustom {
		prefix = "ctc_"
	}
	it.id = e.made(prefix, len(e.items))
	if it.callID = translate.CallID(translate.Responses, b.ID); b.ID == "" {
		it.callID = translate.MadeCallID(e.id.ResponseID, index)
	}
}

func (it *downItem) addLogprobs(raw []byte) {
	raw = bytes.TrimSpace(raw)
	if len(raw) < 3 {
		return
	}
	if len(it.logprobs) > 0 {
		it.logprobs = append(it.logprobs, ',')
	}
	it.logprobs = append(it.logprobs, raw[1:len(raw)-1]...)
}

// write writes the item: as it begins, or with what it holds.
func (it *downItem) write(w *writer, status string, full bool) {
	if it.kind == downHosted {
		w.b = append(w.b, it.raw...)
		return
	}
	w.open('{')
	w.text("id", it.id)
	switch it.kind {
	case downText, downRefusal:
		w.text("type", "message")
		w.text("status", status)
		w.array("content")
		if full {
			it.part(w, true)
		}
		w.shut(']')
		w.text("role", "assistant")
		if it.phase != "" {
			w.text("phase", it.phase)
		}
	case downThought:
		w.text("type", "reasoning")
		it.reasoning(w, status, full)
	default:
		it.writeCall(w, status, full)
	}
	w.shut('}')
}

func (it *downItem) writeCall(w *writer, status string, full bool) {
	typ, member := "function_call", "arguments"
	if it.kind == downCustom {
		typ, member = "custom_tool_call", "input"
	}
	input := ""
	if full {
		input = string(it.text)
	}
	w.text("type", typ)
	w.text("status", status)
	w.text(member, input)
	w.text("call_id", it.callID)
	w.text("name", it.name)
	if it.namespace != "" {
		w.text("namespace", it.namespace)
	}
}

func (it *downItem) reasoning(w *writer, status string, full bool) {
	w.array("summary")
	for i := 0; full && i < len(it.summary); i++ {
		w.begin("summary_text")
		w.text("text", string(it.summary[i]))
		w.shut('}')
	}
	w.shut(']')
	if full && len(it.text) > 0 {
		w.array("content")
		w.begin("reasoning_text")
		w.text("text", string(it.text))
		w.shut('}')
		w.shut(']')
	}
	if full && it.seal != "" {
		w.text("encrypted_content", it.seal)
	}
	if status == "incomplete" {
		w.text("status", status)
	}
}

// part writes the part of a message.
func (it *downItem) part(w *writer, full bool) {
	text := ""
	if full {
		text = string(it.text)
	}
	w.open('{')
	if it.kind == downRefusal {
		w.text("type", "refusal")
		w.text("refusal", text)
		w.shut('}')
		return
	}
	w.text("type", "output_text")
	w.text("text", text)
	w.array("annotations")
	if full {
		w.b = append(w.b, it.annotations...)
	}
	w.shut(']')
	w.array("logprobs")
	if full {
		w.b = append(w.b, it.logprobs...)
	}
	w.shut(']')
	w.shut('}')
}

// close ends an item's texts. Its last event waits for what follows, unless that
// is known; a call's waits in any case, since its end may be a cut.
func (e *answerEncoder) close(it *downItem) {
	it.closed = true
	switch it.kind {
	case downText, downRefusal:
		e.endText(it)
	case downThought:
		e.endParagraph(it)
		if len(it.text) > 0 {
			w := e.about("response.reasoning_text.done", it, len(it.text)+64)
			w.int("content_index", 0)
			w.text("text", string(it.text))
			e.done(translate.OutOutput, "response.reasoning_text.done", &w)
		}
		e.end(it, "completed") // nothing about it is open
	case downHosted:
		e.end(it, "completed")
	}
	if it.followed && it.kind <= downRefusal {
		e.settleItem(it, nil)
	}
}

func (e *answerEncoder) endText(it *downItem) {
	typ, member := "response.output_text.done", "text"
	if it.kind == downRefusal {
		typ, member = "response.refusal.done", "refusal"
	}
	w := e.about(typ, it, len(it.text)+len(it.logprobs)+64)
	w.int("content_index", 0)
	w.text(member, string(it.text))
	if it.kind == downText {
		w.array("logprobs")
		w.b = append(w.b, it.logprobs...)
		w.shut(']')
	}
	e.done(translate.OutOutput, typ, &w)
	w = e.about("response.content_part.done", it, len(it.text)+len(it.logprobs)+len(it.annotations)+128)
	w.int("content_index", 0)
	w.key("part")
	it.part(&w, true)
	e.done(translate.OutOutput, "response.content_part.done", &w)
}

// settle writes the last events of the items that are closed, in their order. A
// stop that is no success leaves what it cut off unfinished; nil: the answer goes
// on.
func (e *answerEncoder) settle(stop *ending) {
	for _, it := range e.items {
		if it.closed && !it.settled {
			e.settleItem(it, stop)
		}
	}
}

func (e *answerEncoder) settleItem(it *downItem, stop *ending) {
	good := stop == nil || stop.good
	last := stop != nil && !it.followed
	switch it.kind {
	case downText, downRefusal:
		switch {
		case it.phase != "" || it.kind == downRefusal || stop != nil && stop.failed:
		case !last:
			it.phase = "commentary"
		case good:
			it.phase = "final_answer"
		}
		if last && !good {
			e.end(it, "incomplete")
			return
		}
	case downCall, downCustom:
		if !e.endInput(it, good) {
			e.end(it, "incomplete")
			return
		}
	}
	e.end(it, "completed")
}

// endInput ends a call's input. It is false where the input was cut off: such a
// call must not be carried out, so it stays as it is and never becomes an empty
// one.
func (e *answerEncoder) endInput(it *downItem, good bool) (whole bool) {
	whole = good
	typ, member := "response.custom_tool_call_input.done", "input"
	switch {
	case it.unwrap != nil:
		var rest string
		rest, whole = it.unwrap.End()
		e.input(it, rest)
	case it.kind == downCall:
		typ, member = "response.function_call_arguments.done", "arguments"
		blank := strings.TrimSpace(string(it.text)) == ""
		if blank && good { // how some servers write a call without arguments
			it.text = append(it.text[:0], "{}"...)
			e.piece("response.function_call_arguments.delta", it, -1, "", "{}")
		}
		whole = good || jsonscan.Valid(it.text)
	}
	w := e.about(typ, it, len(it.text)+64)
	w.text(member, string(it.text))
	e.done(translate.OutOutput, typ, &w)
	return whole
}

// end writes the last event of an item.
func (e *answerEncoder) end(it *downItem, status string) {
	if it.settled {
		return
	}
	it.settled = true
	w := e.event("response.output_item.done", len(it.text)+len(it.seal)+len(it.raw)+256)
	w.int("output_index", int64(it.place))
	w.key("item")
	from := len(w.b)
	it.write(&w, status, true)
	it.last = append([]byte(nil), w.b[from:]...)
	e.done(translate.OutOutput, "response.output_item.done", &w)
}
