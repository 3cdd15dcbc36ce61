package sim

import (
	"encoding/json"
	"slices"
)

// responsesWriter speaks the Responses API.
type responsesWriter struct {
	callContext
	acct  *Account
	id    string
	model string
	tier  string
	seq   int
	items []*item
}

func (v *responsesWriter) event(s Step) ([]frame, func() reply) {
	switch s.Do {
	case "created", "queued", "in_progress":
		return v.lifecycle(s), nil
	case "completed", "incomplete", "failed":
		return v.terminal(s)
	case "error":
		return v.errorEvent(s)
	case "item", "tool":
		return v.open(s), nil
	case "text", "huge", "refusal", "reasoning", "args":
		return v.delta(s), nil
	case "part", "text_done", "args_done", "reasoning_done", "part_done", "item_done", "progress":
		return v.detail(s), nil
	case "keepalive", "ping":
		return v.heartbeat(s), nil
	case "comment":
		return []frame{{comment: true, data: s.Text}}, nil
	case "event":
		return []frame{{name: s.Name, data: *s.Data}}, nil
	}
	return nil, nil // signature, finish, usage, done: not in this protocol
}

// eventFrame makes the frame of an event and counts it. rest are the members behind the type.
func (v *responsesWriter) eventFrame(s Step, kind string, rest object) frame {
	f := v.frame(s, kind, rest)
	if s.Seq != nil {
		v.seq = *s.Seq
	}
	v.seq++
	return f
}

func (v *responsesWriter) frame(s Step, kind string, rest object) frame {
	seq := v.seq
	if s.Seq != nil {
		seq = *s.Seq
	}
	e := slices.Concat(obj("type", kind, "sequence_number", seq), rest)
	return frame{name: kind, data: v.withChanges(s, e)}
}

func (v *responsesWriter) lifecycle(s Step) []frame {
	if s.ID != "" {
		v.id = s.ID
	}
	if s.Model != "" {
		v.model = s.Model
	}
	if s.Tier != "" {
		v.tier = s.Tier
	}
	status := "in_progress"
	if s.Do == "queued" {
		status = "queued"
	}
	o := v.object(status)
	if s.Usage != nil {
		o = o.with("usage", responsesUsage(s.Usage))
	}
	v.acct.remember(v.q, v.id, o)
	return []frame{v.eventFrame(s, "response."+s.Do, obj("response", o))}
}

// terminal is the event that ends the response, and the object that a request without stream gets instead.
func (v *responsesWriter) terminal(s Step) ([]frame, func() reply) {
	if s.Tier != "" {
		v.tier = s.Tier
	}
	o := v.object(s.Do).with("output", v.outputOf(s)).with("usage", responsesUsage(s.Usage))
	switch s.Do {
	case "completed":
		o = o.with("completed_at", v.now.Unix())
	case "incomplete":
		reason := s.Finish
		if reason == "" {
			reason = "max_output_tokens"
		}
		o = o.with("incomplete_details", obj("reason", reason))
	case "failed":
		e, _ := v.openaiError(s)
		failure := obj("code", e.get("code"), "message", e.get("message"))
		if s.ErrorType != "" {
			failure = failure.with("type", s.ErrorType)
		}
		o = o.with("error", retryable(s, failure))
	}
	if v.tier == "" {
		o = o.with("service_tier", v.q.answeredTier("default"))
	}
	f := v.eventFrame(s, "response."+s.Do, obj("response", o))
	if over, ok := v.changes(s).get("response").(object); ok {
		o = o.merge(over)
	}
	v.acct.remember(v.q, v.id, o)
	return []frame{f}, func() reply { return reply{status: 200, body: jsonText(o)} }
}

// outputOf is what the response holds at its end: a failed one nothing unless the step says so.
func (v *responsesWriter) outputOf(s Step) any {
	if string(s.Output) != "true" && s.Output != nil {
		return s.Output
	}
	if s.Do == "failed" && s.Output == nil {
		return []any{}
	}
	return v.output()
}

func (v *responsesWriter) errorEvent(s Step) ([]frame, func() reply) {
	e, status := v.openaiError(s)
	rest := obj("error", obj("type", e.get("type"), "code", e.get("code"), "message", e.get("message"), "param", nil))
	if s.Flat {
		rest = obj("code", e.get("code"), "message", e.get("message"), "param", nil)
	}
	if s.Retryable != nil {
		if s.Flat {
			rest = retryable(s, rest)
		} else {
			rest = obj("error", retryable(s, rest.get("error").(object)))
		}
	}
	if s.Usage != nil {
		rest = rest.with("usage", responsesUsage(s.Usage))
	}
	return []frame{v.eventFrame(s, "error", rest)}, func() reply { return reply{status: status, body: jsonText(obj("error", e))} }
}

func (v *responsesWriter) heartbeat(s Step) []frame {
	if s.Do == "ping" {
		return []frame{{name: "ping", data: v.withChanges(s, obj("type", "ping"))}}
	}
	return []frame{v.eventFrame(s, "keepalive", nil)}
}

func (v *responsesWriter) failure(s Step) reply {
	e, status := v.openaiError(s)
	return reply{status: status, body: []byte(v.withChanges(s, obj("error", e)))}
}

// expand is a whole answer: reasoning, hosted and own calls, the message, in that order as models write them.
func (v *responsesWriter) expand(s Step) []Step {
	steps := []Step{{Do: "created", ID: s.ID, Model: s.Model}, InProgress()}
	if s.Reasoning != "" {
		steps = append(steps, Item("reasoning"), Step{Do: "part"})
		for _, p := range pieces(s.Reasoning, s.Pieces) {
			steps = append(steps, Reasoning(p))
		}
		steps = append(steps, ReasoningDone(), PartDone(), ItemDone())
	}
	for _, t := range s.Tools {
		steps = append(steps, v.expandTool(t, s.Pieces)...)
	}
	switch {
	case s.Refusal != "":
		steps = append(steps, expandMessage("refusal", s.Refusal, s.Pieces)...)
	case s.Text != "" || len(s.Tools) == 0:
		steps = append(steps, expandMessage("text", s.Text, s.Pieces)...)
	}
	end := Step{Do: "completed", Usage: s.Usage, Output: s.Output, Tier: s.Tier, Set: s.Set}
	if s.Finish != "" && s.Finish != "stop" {
		end.Do, end.Finish = "incomplete", s.Finish
	}
	if end.Usage == nil {
		end.Usage = defaultUsage()
	}
	return append(steps, end)
}

func expandMessage(word, text string, n int) []Step {
	first := Part()
	if word == "refusal" {
		first.Kind = "refusal"
	}
	steps := []Step{Item("message"), first}
	for _, p := range pieces(text, n) {
		steps = append(steps, Step{Do: word, Text: p})
	}
	return append(steps, TextDone(), PartDone(), ItemDone())
}

func (v *responsesWriter) expandTool(t ToolCall, n int) []Step {
	kind := t.Kind
	if kind == "" {
		kind = "function_call"
	}
	name := t.Name
	if kind == "web_search_call" {
		name = queryOf(t.Args)
	}
	steps := []Step{{Do: "item", Kind: kind, Name: name, ID: t.ID}}
	switch kind {
	case "function_call", "custom_tool_call":
		for _, p := range pieces(t.Args, n) {
			steps = append(steps, Args(p))
		}
		return append(steps, ArgsDone(), ItemDone())
	case "web_search_call", "file_search_call":
		steps = append(steps, progress("in_progress"), progress("searching"), progress("completed"))
	case "image_generation_call":
		steps = append(steps, progress("in_progress"), progress("generating"), progress("completed"))
	case "code_interpreter_call":
		steps = append(steps, progress("in_progress"), Args(t.Args), ArgsDone(), progress("interpreting"), progress("completed"))
	case "mcp_call":
		steps = append(steps, progress("in_progress"), Args(t.Args), ArgsDone(), progress("completed"))
	}
	done := ItemDone()
	done.Text = t.Result
	return append(steps, done)
}

// queryOf reads what a search looks for, of the arguments that Messages would show.
func queryOf(args string) string {
	var q struct{ Query string }
	_ = json.Unmarshal([]byte(args), &q) // anything else has no query
	return q.Query
}

// progress is response.<kind>.<state> of the open hosted call.
func progress(state string) Step { return Step{Do: "progress", Name: state} }

// defaultUsage is what an answer reports when the script does not care.
func defaultUsage() *Usage { return Tokens(10, 0, 5) }
