package messages

import (
	"errors"

	"rubicon/internal/jsonscan"
	"rubicon/internal/wire/translate"
)

// Errors of answers that are not streamed.
var (
	// ErrArguments: a call's arguments are no JSON object. It never becomes an
	// empty one: that call would be carried out.
	ErrArguments = errors.New("upstream_tool_arguments: the arguments of a call are no JSON object")
	// ErrUnfinished: the answer has not come to its end, or it failed.
	ErrUnfinished = errors.New("the answer did not end")
	errStreamed   = errors.New("the answer was streamed")
)

// answerEncoder writes one answer. One block is open at a time; what comes of
// others meanwhile is kept until it ends.
type answerEncoder struct {
	id       translate.Identity
	names    *translate.Names
	streamed bool
	dst      []translate.Out

	current int // core index of the open block, -1 none
	block   downBlock
	next    int // index of the client's next block
	kept    []translate.Event
	held    int // bytes in kept
	calls   bool
	output  bool // something of the answer was output
	begun   bool
	ended   bool
	failed  bool

	usage translate.Usage
	known bool // upstream gave numbers
	tier  string
	stop  translate.StopReason

	blocks []*wholeBlock
}

func newAnswerEncoder(r *translate.Request, id translate.Identity) *answerEncoder {
	if id.MaxHeld <= 0 {
		id.MaxHeld = translate.DefaultMaxHeld
	}
	return &answerEncoder{id: id, names: translate.NamesOf(r, id.Upstream, id.Flags), streamed: r.Stream, current: -1}
}

// Events writes client events for one event of the answer.
func (e *answerEncoder) Events(dst []translate.Out, ev translate.Event) []translate.Out {
	e.dst = dst
	if !e.ended {
		e.take(&ev)
	}
	dst, e.dst = e.dst, nil
	return dst
}

func (e *answerEncoder) take(ev *translate.Event) {
	switch ev.Kind {
	case translate.Start:
		e.start()
	case translate.UsageNow:
		e.usage, e.known = ev.Usage, true
		if ev.Tier != "" {
			e.tier = ev.Tier
		}
	case translate.Beat:
		e.out(translate.OutHeartbeat, "ping", []byte(`{"type":"ping"}`))
	case translate.Stop:
		e.finish(ev.Stop)
	case translate.Failed:
		e.fail(ev.Failure)
	default:
		e.start()
		e.order(ev)
	}
}

// order gives the open block its events at once, and keeps those of the others.
func (e *answerEncoder) order(ev *translate.Event) {
	if e.current < 0 || e.current == ev.Index {
		e.content(ev)
		if e.current < 0 {
			e.release()
		}
		return
	}
	e.keep(ev)
}

func (e *answerEncoder) keep(ev *translate.Event) {
	own := *ev // its bytes are the decoder's
	own.Raw = append(translate.Raw(nil), ev.Raw...)
	e.held += len(ev.Text) + len(ev.Raw) + len(ev.Block.Raw) + 64
	if e.held > e.id.MaxHeld {
		e.fail(translate.Failure{Type: "api_error", Code: "upstream_stream_buffer_limit", Message: "The upstream's answer holds too many blocks at once."})
		return
	}
	e.kept = append(e.kept, own)
}

// release writes the kept events of one block after the other, until one is
// still open.
func (e *answerEncoder) release() {
	for e.current < 0 && len(e.kept) > 0 {
		index := e.kept[0].Index
		var rest []translate.Event
		for i := range e.kept {
			if e.kept[i].Index != index {
				rest = append(rest, e.kept[i])
				continue
			}
			e.held -= len(e.kept[i].Text) + len(e.kept[i].Raw) + len(e.kept[i].Block.Raw) + 64
			e.content(&e.kept[i])
		}
		e.kept = rest
	}
}

func (e *answerEncoder) out(class translate.OutClass, name string, data []byte) {
	if class == translate.OutOutput {
		e.output = true
	}
	e.dst = append(e.dst, translate.Out{Class: class, Name: name, Data: data})
}

// start opens the message with the estimate of its input, which some clients
// read nowhere else.
func (e *answerEncoder) start() {
	if e.begun {
		return
	}
	e.begun = true
	w := writer{b: make([]byte, 0, 384)}
	w.open('{')
	w.key("type").text("message_start")
	w.key("message").open('{')
	e.envelope(&w)
	w.key("content").raw([]byte("[]"))
	w.key("stop_reason").word("null")
	w.key("stop_sequence").word("null")
	w.key("usage")
	e.writeUsage(&w, translate.Usage{Fresh: e.id.Estimate}, "")
	w.close('}')
	w.close('}')
	e.out(translate.OutLifecycle, "message_start", w.b)
}

func (e *answerEncoder) envelope(w *writer) {
	w.key("id").text(e.id.ResponseID)
	w.key("type").text("message")
	w.key("role").text("assistant")
	w.key("model").text(e.id.Model)
}

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
	w.key("type").text(failureType(f))
	w.key("message").text(f.Message)
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

// failureType is an error's type in the format's words.
func failureType(f translate.Failure) string {
	for _, word := range [...]string{f.Type, f.Code} {
		if t, ok := failureTypes[word]; ok {
			return t
		}
	}
	return "api_error"
}

var failureTypes = map[string]string{
	"invalid_request_error":   "invalid_request_error",
	"authentication_error":    "authentication_error",
	"invalid_api_key":         "authentication_error",
	"billing_error":           "billing_error",
	"insufficient_quota":      "billing_error",
	"permission_error":        "permission_error",
	"not_found_error":         "not_found_error",
	"model_not_found":         "not_found_error",
	"request_too_large":       "request_too_large",
	"rate_limit_error":        "rate_limit_error",
	"rate_limit_exceeded":     "rate_limit_error",
	"overloaded_error":        "overloaded_error",
	"server_is_overloaded":    "overloaded_error",
	"timeout":                 "timeout_error",
	"timeout_error":           "timeout_error",
	"context_length_exceeded": "invalid_request_error",
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
