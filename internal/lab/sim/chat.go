package sim

import (
	"slices"
	"strings"
)

// chatWriter speaks Chat Completions.
type chatWriter struct {
	callContext
	id      string
	model   string
	tier    string
	calls   []*item // tool calls, in order of their index
	text    strings.Builder
	refusal strings.Builder
	reason  strings.Builder
	every   bool // usage on every chunk
}

func (v *chatWriter) event(s Step) ([]frame, func() reply) {
	switch s.Do {
	case "created":
		return v.opening(s), nil
	case "text", "huge", "refusal", "reasoning":
		return v.delta(s), nil
	case "tool", "item":
		return v.tool(s), nil
	case "args":
		return v.args(s), nil
	case "finish":
		return []frame{v.finish(s, s.Usage)}, nil
	case "usage":
		return v.usageChunk(s), nil
	case "done":
		return []frame{{data: "[DONE]"}}, func() reply { return v.whole(Step{Do: "completed"}) }
	case "completed", "incomplete":
		return v.ending(s), func() reply { return v.whole(s) }
	case "failed", "error":
		return v.errorChunk(s)
	case "keepalive", "ping":
		return []frame{{comment: true, data: "keepalive"}}, nil
	case "comment":
		return []frame{{comment: true, data: s.Text}}, nil
	case "event":
		return []frame{{name: s.Name, data: *s.Data}}, nil
	}
	return nil, nil // queued, in_progress, parts and done events: not in this protocol
}

// chunk is one chat.completion.chunk. Providers send "usage": null on all chunks when the usage was asked for.
func (v *chatWriter) chunk(choices []any, usage any) object {
	if v.id == "" {
		v.id = strings.Replace(v.ids.next("chatcmpl"), "_", "-", 1)
	}
	o := obj("id", v.id, "object", "chat.completion.chunk", "created", v.now.Unix(), "model", orText(v.model, v.q.model),
		"service_tier", orText(v.tier, v.q.answeredTier("default")), "system_fingerprint", "fp_sim", "choices", choices)
	if usage == nil && v.every {
		usage = chatUsage(v.usage)
	}
	if usage != nil || v.q.wantsUsage() {
		o = append(o, member{"usage", usage})
	}
	return o
}

// choice is a chunk of one choice.
func (v *chatWriter) choice(s Step, delta object, reason any, usage any) frame {
	c := obj("index", s.Choice, "delta", delta, "logprobs", nil, "finish_reason", reason)
	return frame{data: v.withChanges(s, v.chunk([]any{c}, usage))}
}

func (v *chatWriter) opening(s Step) []frame {
	if s.ID != "" {
		v.id = s.ID
	}
	v.model, v.tier = orText(s.Model, v.model), orText(s.Tier, v.tier)
	var usage any
	if s.Usage != nil {
		usage = chatUsage(s.Usage)
	}
	return []frame{v.choice(s, obj("role", "assistant", "content", "", "refusal", nil), nil, usage)}
}

func (v *chatWriter) delta(s Step) []frame {
	name, into := "content", &v.text
	switch s.Do {
	case "refusal":
		name, into = "refusal", &v.refusal
	case "reasoning":
		name, into = "reasoning_content", &v.reason
	}
	build := func(text string) frame { return v.choice(s, obj(name, text), nil, nil) }
	text := v.sized(s, build)
	if s.Choice == 0 {
		into.WriteString(text)
	}
	return []frame{build(text)}
}

// tool opens a tool call; items of other kinds do not exist here.
func (v *chatWriter) tool(s Step) []frame {
	if s.Do == "item" && s.Kind != "function_call" {
		return nil
	}
	it := &item{kind: "function_call", name: orText(s.Name, "tool"), id: v.ids.or(s.ID, "call")}
	v.calls = append(v.calls, it)
	call := obj("index", v.callIndex(s), "id", it.id, "type", "function", "function", obj("name", it.name, "arguments", ""))
	return []frame{v.choice(s, obj("tool_calls", []any{call}), nil, nil)}
}

func (v *chatWriter) args(s Step) []frame {
	if len(v.calls) == 0 {
		v.calls = append(v.calls, &item{kind: "function_call", name: "tool", id: v.ids.or(s.ID, "call")})
	}
	v.calls[len(v.calls)-1].args.WriteString(s.Args)
	call := obj("index", v.callIndex(s), "function", obj("arguments", s.Args))
	return []frame{v.choice(s, obj("tool_calls", []any{call}), nil, nil)}
}

func (v *chatWriter) callIndex(s Step) int {
	if s.Index != nil {
		return *s.Index
	}
	return len(v.calls) - 1
}

func (v *chatWriter) finish(s Step, usage *Usage) frame {
	var u any
	if usage != nil {
		u = chatUsage(usage)
	}
	return v.choice(s, obj(), v.reasonOf(s), u)
}

// reasonOf is the finish_reason: the step's own, or what the answer so far implies.
func (v *chatWriter) reasonOf(s Step) string {
	switch {
	case s.Finish == "max_output_tokens" || s.Do == "incomplete" && s.Finish == "":
		return "length"
	case s.Finish != "":
		return s.Finish
	case len(v.calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

// usageChunk is the extra chunk with empty choices.
func (v *chatWriter) usageChunk(s Step) []frame {
	if s.Usage == nil || !s.Force && !v.q.wantsUsage() {
		return nil
	}
	return []frame{{data: v.withChanges(s, v.chunk([]any{}, chatUsage(s.Usage)))}}
}

// ending is the finish chunk, the usage where it is wanted, and [DONE].
func (v *chatWriter) ending(s Step) []frame {
	v.tier = orText(s.Tier, v.tier)
	var frames []frame
	switch s.UsageOn {
	case "finish", "every":
		frames = append(frames, v.finish(s, s.Usage))
	case "none":
		frames = append(frames, v.finish(s, nil))
	default:
		frames = append(frames, v.finish(s, nil))
		frames = append(frames, v.usageChunk(Step{Do: "usage", Usage: s.Usage, Force: s.Force})...)
	}
	return append(frames, frame{data: "[DONE]"})
}

func (v *chatWriter) errorChunk(s Step) ([]frame, func() reply) {
	e, status := v.openaiError(s)
	o := obj("error", e)
	if s.Usage != nil {
		o = append(o, member{"usage", chatUsage(s.Usage)})
	}
	data := v.withChanges(s, o)
	return []frame{{data: data}}, func() reply { return reply{status: status, body: []byte(data)} }
}

func (v *chatWriter) failure(s Step) reply {
	e, status := v.openaiError(s)
	return reply{status: status, body: []byte(v.withChanges(s, obj("error", e)))}
}

// whole is the chat.completion that a request without stream gets.
func (v *chatWriter) whole(s Step) reply {
	message := obj("role", "assistant", "content", orNull(v.text.String()), "refusal", orNull(v.refusal.String()),
		"annotations", []any{})
	if v.reason.Len() > 0 {
		message = append(message, member{"reasoning_content", v.reason.String()})
	}
	calls := []any{}
	for _, c := range v.calls {
		calls = append(calls, obj("id", c.id, "type", "function",
			"function", obj("name", c.name, "arguments", c.args.String())))
	}
	if len(calls) > 0 {
		message = append(message, member{"tool_calls", calls})
	}
	choice := obj("index", 0, "message", message, "logprobs", nil, "finish_reason", v.reasonOf(s))
	v.tier = orText(s.Tier, v.tier)
	o := v.chunk([]any{choice}, nil).with("object", "chat.completion")
	if s.Usage != nil && s.UsageOn != "none" {
		o = o.with("usage", chatUsage(s.Usage))
	}
	return reply{status: 200, body: []byte(v.withChanges(s, o))}
}

func (v *chatWriter) expand(s Step) []Step {
	v.every = s.UsageOn == "every"
	steps := []Step{{Do: "created", ID: s.ID, Model: s.Model, Tier: s.Tier}}
	for word, text := range v.texts(s) {
		for _, p := range pieces(text, s.Pieces) {
			steps = append(steps, Step{Do: word, Text: p})
		}
	}
	for _, t := range s.Tools {
		if t.Kind != "" && t.Kind != "function_call" {
			continue
		}
		steps = append(steps, Step{Do: "tool", Name: t.Name, ID: t.ID})
		for _, p := range pieces(t.Args, s.Pieces) {
			steps = append(steps, Args(p))
		}
	}
	end := Step{Do: "completed", Finish: s.Finish, Usage: s.Usage, UsageOn: s.UsageOn, Force: s.Force, Tier: s.Tier,
		Set: s.Set}
	if end.Usage == nil {
		end.Usage = defaultUsage()
	}
	v.usage = end.Usage
	return append(steps, end)
}

// texts gives the parts of an answer in the order in which they are said.
func (v *chatWriter) texts(s Step) func(func(word, text string) bool) {
	parts := [][2]string{{"reasoning", s.Reasoning}, {"refusal", s.Refusal}, {"text", s.Text}}
	return func(yield func(string, string) bool) {
		for _, p := range slices.DeleteFunc(parts, func(p [2]string) bool { return p[1] == "" }) {
			if !yield(p[0], p[1]) {
				return
			}
		}
	}
}

// chatUsage is the usage object; nil is null.
func chatUsage(u *Usage) any {
	switch {
	case u == nil:
		return nil
	case u.Raw != nil:
		return u.Raw
	}
	in := obj("cached_tokens", u.Cached, "audio_tokens", 0)
	if u.CacheWrite != 0 {
		in = append(in, member{"cache_write_tokens", u.CacheWrite})
	}
	return obj("prompt_tokens", u.Input, "completion_tokens", u.Output, "total_tokens", u.Input+u.Output,
		"prompt_tokens_details", in,
		"completion_tokens_details", obj("reasoning_tokens", u.Reasoning, "audio_tokens", 0,
			"accepted_prediction_tokens", 0, "rejected_prediction_tokens", 0))
}
