package responses

import (
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// ending is how an answer ended, to its items.
type ending struct{ good, failed bool }

// finish ends the response for a reason. One that is not known is no success.
func (e *answerEncoder) finish(s translate.StopReason) {
	codex := e.id.Profile == codexProfile
	switch s.Word {
	case translate.End, translate.ToolUse, translate.StopSeq:
		e.complete("")
	case translate.Length, translate.ContextFull:
		e.complete("max_output_tokens")
	case translate.Refused:
		if e.refused && !codex {
			e.complete("")
			return
		}
		e.explain(s.Explains)
		e.filtered(codex)
	case translate.Filter:
		e.filtered(codex)
	case translate.Steered:
		e.complete("steered")
	case translate.Paused:
		e.fail(translate.Failure{Code: "upstream_paused", Type: "server_error", Message: "The provider paused the answer, which cannot be continued here."})
	default:
		if s.Original == "" || s.Original == "completed" {
			s.Original = "unknown"
		}
		e.complete(s.Original)
	}
}

// filtered ends an answer that a filter or the model itself stopped.
func (e *answerEncoder) filtered(codex bool) {
	if codex { // it reads no reasons of incomplete answers
		e.fail(translate.Failure{Code: "content_filter", Type: "server_error", Message: "The answer was stopped by a content filter."})
		return
	}
	e.complete("content_filter")
}

// explain shows a refusal's own words, where they did not come as text.
func (e *answerEncoder) explain(text string) {
	if text == "" || e.refused {
		return
	}
	index := len(e.blocks)
	e.open(&translate.Event{Kind: translate.Open, Index: index, Block: translate.Block{Kind: translate.Refusal}})
	it := e.blocks[index]
	e.delta(it, &translate.Event{Kind: translate.Delta, Text: text})
	e.close(it)
	e.end(it, "completed")
}

// complete ends the response: with a reason, it is incomplete.
func (e *answerEncoder) complete(reason string) {
	e.closeAll(&ending{good: reason == ""})
	typ, st := "response.completed", &state{status: "completed", output: true}
	if reason != "" {
		typ, st = "response.incomplete", &state{status: "incomplete", reason: reason, output: true}
	}
	e.last(translate.OutTerminal, typ, st)
}

// closeAll ends what is open.
func (e *answerEncoder) closeAll(how *ending) {
	for _, it := range e.items {
		if it.closed {
			continue
		}
		if how.good {
			e.close(it)
			continue
		}
		e.cut(it)
	}
	e.settle(how)
}

// cut ends an item that never came to its end.
func (e *answerEncoder) cut(it *downItem) {
	it.closed = true
	switch it.kind {
	case downText, downRefusal:
		e.endText(it)
	case downThought:
		e.endParagraph(it)
	case downCall, downCustom:
		if e.endInput(it, false) && it.kind == downCall {
			e.end(it, "completed")
			return
		}
	}
	e.end(it, "incomplete")
}

func (e *answerEncoder) last(class translate.OutClass, typ string, st *state) {
	w := e.event(typ, 2048)
	w.key("response")
	from := len(w.b)
	e.response(&w, st)
	e.final = w.b[from:len(w.b):len(w.b)]
	e.done(class, typ, &w)
	e.ended = true
}

// fail ends the response with a failure, in two events: some clients do not know
// the one, some raise only on the other.
func (e *answerEncoder) fail(f translate.Failure) {
	e.closeAll(&ending{failed: true})
	typ, code := f.OpenAI()
	if code == "" {
		code = "server_error"
	}
	f.Type, f.Code = typ, code
	w := e.event("error", len(f.Message)*2+192)
	w.text("code", f.Code)
	w.text("message", f.Message)
	w.nullable("param", f.Param)
	w.key("error")
	writeFailure(&w, &f)
	e.done(translate.OutFailure, "error", &w)
	e.last(translate.OutFailure, "response.failed", &state{status: "failed", failure: &f, output: true})
}

func writeFailure(w *writer, f *translate.Failure) {
	w.open('{')
	w.text("type", f.Type)
	w.text("code", f.Code)
	w.text("message", f.Message)
	w.nullable("param", f.Param)
	w.shut('}')
}

// Whole is the answer of all events so far.
func (e *answerEncoder) Whole() ([]byte, error) {
	if !e.ended {
		return nil, ErrUnfinished
	}
	return e.final, nil
}

// writeUsage writes numbers in the format's shape: what a cache took part in is
// among the input, and the details stand there also where they are zero.
func writeUsage(w *writer, u translate.Usage) {
	w.open('{')
	w.int("input_tokens", u.Input())
	w.object("input_tokens_details")
	w.int("cached_tokens", u.Cached)
	w.int("cache_write_tokens", u.Writes())
	if u.Write30m > 0 || u.Write12h > 0 {
		w.object("cache_write_tokens_details")
		w.int("ttl_30m_tokens", u.Write30m)
		w.int("ttl_12h_tokens", u.Write12h)
		w.shut('}')
	}
	w.shut('}')
	w.int("output_tokens", u.Output)
	w.object("output_tokens_details")
	w.int("reasoning_tokens", u.Thinking)
	w.shut('}')
	w.int("total_tokens", u.Input()+u.Output)
	w.shut('}')
}

// echo is a setting of the client's as it wrote it, null if it has none.
func (e *answerEncoder) echo(f translate.Feature) []byte {
	if s := e.r.Get(f); s != nil && len(s.Value) <= echoLimit && jsonscan.Valid(s.Value) {
		return s.Value
	}
	return []byte("null")
}
