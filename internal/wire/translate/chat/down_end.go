package chat

import (
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// finish ends the answer: what stands in front of the finish reason, the finish
// reason, the usage if it is wanted, and the word that ends the stream.
func (e *answerEncoder) finish(stop translate.StopReason) {
	e.stop = stop
	if stop.Word == translate.Paused {
		e.fail(translate.Failure{Code: "upstream_paused", Type: "server_error", Message: "The provider paused the answer and cannot be asked to go on."})
		return
	}
	e.ended = true
	class := translate.OutLifecycle
	if e.output {
		class = translate.OutOutput
	}
	if !e.refused && stop.Word == translate.Refused {
		e.refuse(class, stop.Explains)
	}
	if e.quoteCount > 0 {
		w := e.begin(len(e.quotes) + 32)
		w.array("annotations")
		w.b = append(append(w.b, e.quotes...), `]}`...)
		e.end(&w, class, nil)
	}
	w := e.begin(64)
	w.b = append(w.b, `},"finish_reason":`...)
	w.b = append(jsonscan.AppendString(w.b, e.reason()), '}', ']')
	if e.tier != "" {
		w.text("service_tier", e.tier)
	}
	e.close(&w, class)
	if e.r.WantUsage && e.known {
		e.usageChunk()
	}
	e.dst = append(e.dst, translate.Out{Class: translate.OutTerminal, Data: []byte(done)})
}

func (e *answerEncoder) usageChunk() {
	w := writer{b: append(make([]byte, 0, len(e.head)+320), e.head[:len(e.head)-len(`{"index":0,"delta":`)]...)}
	w.b = append(w.b, `],"usage":`...)
	writeUsage(&w, e.usage)
	w.shut('}')
	e.dst = append(e.dst, translate.Out{Class: translate.OutLifecycle, Data: w.b})
}

// fail ends the answer with an error. There is no "[DONE]" behind it: that would
// be a second ending, and a good one.
func (e *answerEncoder) fail(f translate.Failure) {
	e.ended, e.failed = true, true
	typ, code := f.OpenAI()
	w := writer{}
	w.open('{')
	w.object("error")
	w.text("message", f.Message)
	w.text("type", typ)
	w.nullable("param", f.Param)
	w.nullable("code", code)
	w.b = append(w.b, `}}`...)
	e.dst = append(e.dst, translate.Out{Class: translate.OutFailure, Data: w.b})
}

func (w *writer) nullable(name, value string) {
	if value == "" {
		w.raw(name, []byte("null"))
		return
	}
	w.text(name, value)
}

// reason is the finish reason. A word that nobody knows stays, since clients take
// it for abnormal; it never becomes one that means success.
func (e *answerEncoder) reason() string {
	switch s := &e.stop; s.Word {
	case translate.End, translate.StopSeq:
		if e.calls > 0 {
			return "tool_calls" // a client does not carry out the calls of an answer that stopped
		}
		return "stop"
	case translate.ToolUse:
		return "tool_calls"
	case translate.Length, translate.ContextFull:
		return "length"
	case translate.Filter, translate.Refused:
		return "content_filter"
	default:
		for _, f := range finishes {
			if f.word == s.Original {
				return "unknown"
			}
		}
		if s.Original == "" || s.Original == "completed" {
			return "unknown"
		}
		return s.Original
	}
}

// writeUsage writes the numbers in this format's shape: the input in one sum.
func writeUsage(w *writer, u translate.Usage) {
	w.open('{')
	w.int("prompt_tokens", u.Input())
	w.int("completion_tokens", u.Output)
	w.int("total_tokens", u.Input()+u.Output)
	w.object("prompt_tokens_details")
	w.int("cached_tokens", u.Cached)
	if n := u.Writes(); n > 0 {
		w.int("cache_write_tokens", n)
	}
	if u.Write30m+u.Write12h > 0 {
		w.object("cache_write_tokens_details")
		w.int("ttl_30m", u.Write30m)
		w.int("ttl_12h", u.Write12h)
		w.shut('}')
	}
	w.int("audio_tokens", 0)
	w.shut('}')
	w.object("completion_tokens_details")
	w.int("reasoning_tokens", u.Thinking)
	w.int("audio_tokens", 0)
	w.int("accepted_prediction_tokens", 0)
	w.int("rejected_prediction_tokens", 0)
	w.shut('}')
	if u.WebSearches > 0 {
		w.object("server_tool_use")
		w.int("web_search_requests", u.WebSearches)
		w.shut('}')
	}
	w.shut('}')
}

// cite keeps a citation in this format's shape, where it has one: those of web
// pages. Others point into documents in ways that the format does not know.
func (e *answerEncoder) cite(raw []byte) {
	if len(raw) == 0 {
		return
	}
	quote := quoteOf(raw)
	if quote == nil {
		return
	}
	if e.quoteCount > 0 {
		e.quotes = append(e.quotes, ',')
	}
	e.quotes = append(e.quotes, quote...)
	e.quoteCount++
}

func quoteOf(raw []byte) []byte {
	switch typ := textOf(raw, "type"); {
	case typ == "url_citation" && jsonscan.Get(raw, "url_citation") != nil:
		return raw
	case typ == "url_citation", typ == "web_search_result_location":
	default:
		return nil
	}
	w := writer{}
	w.open('{')
	w.text("type", "url_citation")
	w.object("url_citation")
	for _, name := range [...]string{"start_index", "end_index", "url", "title"} {
		if v := jsonscan.Get(raw, name); v != nil {
			w.raw(name, v)
		}
	}
	w.b = append(w.b, `}}`...)
	return w.b
}
