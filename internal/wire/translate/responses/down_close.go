package responses

import (
	"strings"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

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
