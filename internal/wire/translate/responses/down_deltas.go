package responses

import (
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

func (e *answerEncoder) delta(it *downItem, ev *translate.Event) {
	switch it.kind {
	case downText:
		it.text = append(it.text, ev.Text...)
		it.addLogprobs(ev.Logprobs)
		w := e.about("response.output_text.delta", it, len(ev.Text)+len(ev.Text)/8+len(ev.Logprobs)+64)
		w.int("content_index", 0)
		w.text("delta", ev.Text)
		if ev.Logprobs == nil {
			w.word("logprobs", "[]")
		} else {
			w.raw("logprobs", ev.Logprobs)
		}
		e.done(translate.OutOutput, "response.output_text.delta", &w)
	case downRefusal:
		it.text = append(it.text, ev.Text...)
		e.piece("response.refusal.delta", it, 0, "content_index", ev.Text)
	case downThought:
		e.reasoned(it, ev)
	case downCall:
		it.text = append(it.text, ev.Text...)
		e.piece("response.function_call_arguments.delta", it, -1, "", ev.Text)
	case downCustom:
		text := ev.Text
		if it.unwrap != nil {
			text = it.unwrap.Push(text)
		}
		e.input(it, text)
	}
}

// input writes a piece of a free text.
func (e *answerEncoder) input(it *downItem, text string) {
	if text == "" {
		return
	}
	it.text = append(it.text, text...)
	e.piece("response.custom_tool_call_input.delta", it, -1, "", text)
}

// piece writes a delta, with the number of its part where it has one.
func (e *answerEncoder) piece(typ string, it *downItem, part int, member, text string) {
	w := e.about(typ, it, len(text)+len(text)/8+64)
	if member != "" {
		w.int(member, int64(part))
	}
	w.text("delta", text)
	e.done(translate.OutOutput, typ, &w)
}

// reasoned writes reasoning: as a summary, which clients show, unless upstream
// itself told it in full in this format.
func (e *answerEncoder) reasoned(it *downItem, ev *translate.Event) {
	if ev.Part == translate.PartThought && e.id.Upstream == translate.Responses {
		it.text = append(it.text, ev.Text...)
		e.piece("response.reasoning_text.delta", it, 0, "content_index", ev.Text)
		return
	}
	n := 0
	if ev.Part == translate.PartSummary {
		n = ev.Paragraph
	}
	if n != it.upParagraph || len(it.summary) == 0 {
		e.endParagraph(it)
		it.upParagraph = n
		it.summary = append(it.summary, nil)
		w := e.about("response.reasoning_summary_part.added", it, 96)
		w.int("summary_index", int64(len(it.summary)-1))
		w.word("part", `{"type":"summary_text","text":""}`)
		e.done(translate.OutOutput, "response.reasoning_summary_part.added", &w)
	}
	last := len(it.summary) - 1
	it.summary[last] = append(it.summary[last], ev.Text...)
	e.piece("response.reasoning_summary_text.delta", it, last, "summary_index", ev.Text)
}

// endParagraph ends the open paragraph of a summary.
func (e *answerEncoder) endParagraph(it *downItem) {
	last := len(it.summary) - 1
	if last < 0 {
		return
	}
	text := string(it.summary[last])
	w := e.about("response.reasoning_summary_text.done", it, len(text)+96)
	w.int("summary_index", int64(last))
	w.text("text", text)
	e.done(translate.OutOutput, "response.reasoning_summary_text.done", &w)
	w = e.about("response.reasoning_summary_part.done", it, len(text)+128)
	w.int("summary_index", int64(last))
	w.object("part")
	w.text("type", "summary_text")
	w.text("text", text)
	w.shut('}')
	e.done(translate.OutOutput, "response.reasoning_summary_part.done", &w)
}

// cite writes a citation in this format's words; those that it has no words for
// are left out.
func (e *answerEncoder) cite(it *downItem, raw []byte) {
	if it.kind != downText {
		return
	}
	annotation := annotationOf(raw, it.text)
	if annotation == nil {
		return
	}
	w := e.about("response.output_text.annotation.added", it, len(annotation)+96)
	w.int("content_index", 0)
	w.int("annotation_index", int64(it.cited))
	w.raw("annotation", annotation)
	e.done(translate.OutOutput, "response.output_text.annotation.added", &w)
	if it.cited > 0 {
		it.annotations = append(it.annotations, ',')
	}
	it.annotations = append(it.annotations, annotation...)
	it.cited++
}

// annotationOf is a citation in this format, nil if it has no form for it.
func annotationOf(raw, text []byte) []byte {
	typ := textOf(raw, "type")
	nested := jsonscan.Get(raw, "url_citation")
	switch {
	case nested != nil: // Chat Completions
		if set, err := jsonscan.Set(nested, jsonscan.Edit{Key: "type", Value: []byte(`"url_citation"`)}); err == nil {
			return set
		}
		return nil
	case typ == "url_citation", typ == "file_citation", typ == "container_file_citation", typ == "file_path":
		return raw
	case typ != "web_search_result_location" || textOf(raw, "url") == "":
		return nil
	}
	end := int64(len([]rune(string(text))))
	w := writer{}
	w.open('{')
	w.text("type", "url_citation")
	w.int("start_index", end)
	w.int("end_index", end)
	w.text("url", textOf(raw, "url"))
	w.text("title", textOf(raw, "title"))
	w.shut('}')
	return w.b
}
