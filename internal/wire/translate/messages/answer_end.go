package messages

import (
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// finish ends the message. A block that is still open was cut off: it ends with
// what came of it.
func (e *answerEncoder) finish(s translate.StopReason) {
	e.start()
	e.cutOff()
	if e.ended {
		return
	}
	e.stop = s
	w := writer{b: make([]byte, 0, 384)}
	w.open('{')
	w.key("type").text("message_delta")
	w.key("delta").open('{')
	e.writeStop(&w)
	w.close('}')
	w.key("usage")
	e.writeUsage(&w, e.final(), e.tier)
	w.close('}')
	class := translate.OutOutput
	if !e.output {
		class = translate.OutLifecycle // nothing is output but the end itself
	}
	e.out(class, "message_delta", w.b)
	e.out(translate.OutTerminal, "message_stop", []byte(`{"type":"message_stop"}`))
	e.ended = true
}

// cutOff ends what is open, and what was kept behind it.
func (e *answerEncoder) cutOff() {
	for e.current >= 0 && !e.ended {
		e.close(true)
		e.release()
	}
}

// final is the usage, or what is known instead of one.
func (e *answerEncoder) final() translate.Usage {
	if !e.known {
		return translate.Usage{Fresh: e.id.Estimate}
	}
	return e.usage
}

func (e *answerEncoder) fail(f translate.Failure) {
	e.ended, e.failed = true, true
	w := writer{}
	w.open('{')
	w.key("type").text("error")
	w.key("error").open('{')
	typ, message := f.Messages()
	w.key("type").text(typ)
	w.key("message").text(message)
	if f.Code != "" {
		w.key("code").text(f.Code)
	}
	w.close('}')
	w.close('}')
	e.out(translate.OutFailure, "error", w.b)
}

// writeUsage writes numbers in the format's shape: input_tokens is only what no
// cache took part in.
func (e *answerEncoder) writeUsage(w *writer, u translate.Usage, tier string) {
	hour := u.Write30m + u.Write1h + u.Write12h
	w.open('{')
	w.key("input_tokens").int(u.Fresh)
	w.key("cache_creation_input_tokens").int(u.Writes())
	w.key("cache_read_input_tokens").int(u.Cached)
	w.key("cache_creation").open('{')
	w.key("ephemeral_5m_input_tokens").int(u.Writes() - hour)
	w.key("ephemeral_1h_input_tokens").int(hour)
	w.close('}')
	w.key("output_tokens").int(u.Output)
	if u.Thinking > 0 {
		w.key("output_tokens_details").open('{')
		w.key("thinking_tokens").int(u.Thinking)
		w.close('}')
	}
	if u.WebSearches > 0 {
		w.key("server_tool_use").open('{')
		w.key("web_search_requests").int(u.WebSearches)
		w.close('}')
	}
	if word := tierWord(tier); word != "" {
		w.key("service_tier").text(word)
	}
	w.close('}')
}

// tierWord is a service tier in the format's words, "" where it has none.
func tierWord(tier string) string {
	switch tier {
	case "standard", "priority", "batch":
		return tier
	case "default":
		return "standard"
	}
	return ""
}

// writeStop writes why the message ended. A word that is not known stays the
// upstream's own: it never becomes a success.
func (e *answerEncoder) writeStop(w *writer) {
	s := &e.stop
	w.key("stop_reason").text(e.stopReason())
	if s.Word == translate.StopSeq && s.Sequence != "" {
		w.key("stop_sequence").text(s.Sequence)
	} else {
		w.key("stop_sequence").word("null")
	}
	if s.Word != translate.Refused && s.Word != translate.Filter {
		return
	}
	w.key("stop_details")
	if jsonscan.Equal(jsonscan.Get(s.Details, "type"), "refusal") {
		w.raw(s.Details)
		return
	}
	w.open('{')
	w.key("type").text("refusal")
	w.key("category").word("null")
	if s.Explains != "" {
		w.key("explanation").text(s.Explains)
	}
	w.close('}')
}

func (e *answerEncoder) stopReason() string {
	switch s := &e.stop; s.Word {
	case translate.End:
		if e.calls {
			return "tool_use" // a client does not carry out the calls of a turn that ended
		}
		return "end_turn"
	case translate.ToolUse:
		return "tool_use"
	case translate.Length:
		return "max_tokens"
	case translate.StopSeq:
		return "stop_sequence"
	case translate.Filter, translate.Refused:
		return "refusal"
	case translate.ContextFull:
		return "model_context_window_exceeded"
	case translate.Paused:
		return "pause_turn"
	default:
		if _, success := words[s.Original]; s.Original == "" || success {
			return "unknown"
		}
		return s.Original
	}
}
