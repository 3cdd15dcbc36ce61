package sim

import "encoding/json"

// messagesVoice speaks Messages.
type messagesVoice struct {
	scene
	id     string
	model  string
	tier   string
	blocks []*item
	open   bool // the last block was not stopped
}

func (v *messagesVoice) event(s Step) ([]frame, func() reply) {
	switch s.Do {
	case "created":
		return v.opening(s), nil
	case "item", "tool":
		return v.block(s), nil
	case "text", "huge", "refusal", "reasoning", "args", "signature":
		return v.delta(s), nil
	case "item_done":
		return v.stop(s), nil
	case "finish":
		return []frame{v.messageDelta(s)}, nil
	case "usage":
		return []frame{v.say(s, "message_delta", obj("delta", obj(), "usage", messagesUsage(s.Usage, false)))}, nil
	case "done":
		return []frame{v.say(s, "message_stop", nil)}, func() reply { return v.whole(Step{Do: "completed"}) }
	case "completed", "incomplete":
		return v.ending(s), func() reply { return v.whole(s) }
	case "failed", "error":
		return v.errorEvent(s)
	case "keepalive", "ping":
		return []frame{v.say(s, "ping", nil)}, nil
	case "comment":
		return []frame{{comment: true, data: s.Text}}, nil
	case "event":
		return []frame{{name: s.Name, data: *s.Data}}, nil
	}
	return nil, nil // queued, in_progress, parts and their done events: not in this protocol
}

func (v *messagesVoice) say(s Step, kind string, rest object) frame {
	return frame{name: kind, data: v.finished(s, append(obj("type", kind), rest...))}
}

// opening is message_start. Its usage is the final one with a token or so of output, as providers send it.
func (v *messagesVoice) opening(s Step) []frame {
	if s.ID != "" {
		v.id = s.ID
	}
	v.model, v.tier = orText(s.Model, v.model), orText(s.Tier, v.tier)
	u := s.Usage
	if u == nil {
		u = defaultUsage()
		if v.usage != nil {
			u = &Usage{Input: v.usage.Input, Cached: v.usage.Cached, CacheWrite: v.usage.CacheWrite}
		}
		u.Output = 1
	}
	return []frame{v.say(s, "message_start", obj("message", v.message([]any{}, nil, messagesUsage(u, true))))}
}

func (v *messagesVoice) message(content []any, reason any, usage any) object {
	if v.id == "" {
		v.id = v.ids.next("msg")
	}
	return obj("id", v.id, "type", "message", "role", "assistant", "model", orText(v.model, v.q.model), "content", content,
		"stop_reason", reason, "stop_sequence", nil, "usage", v.tiered(usage))
}

// tiered puts the service tier into a usage object, where Messages reports it.
func (v *messagesVoice) tiered(usage any) any {
	if o, ok := usage.(object); ok {
		return o.with("service_tier", orText(v.tier, v.q.answeredTier("standard")))
	}
	return usage
}

// blockKinds translates the item kinds of the language.
var blockKinds = map[string]string{
	"message": "text", "reasoning": "thinking", "function_call": "tool_use", "web_search_call": "server_tool_use",
	"code_interpreter_call": "server_tool_use", "mcp_call": "mcp_tool_use",
}

var blockPrefix = map[string]string{"tool_use": "toolu", "server_tool_use": "srvtoolu", "mcp_tool_use": "mcptoolu"}

// block is content_block_start.
func (v *messagesVoice) block(s Step) []frame {
	kind := orText(blockKinds[s.Kind], s.Kind)
	if s.Do == "tool" {
		kind = "tool_use"
	}
	b := &item{kind: kind, name: s.Name}
	if prefix := blockPrefix[kind]; prefix != "" {
		b.id = v.ids.or(s.ID, prefix)
	}
	if b.name == "" {
		b.name = map[string]string{"web_search_call": "web_search", "code_interpreter_call": "code_execution"}[s.Kind]
	}
	v.blocks, v.open = append(v.blocks, b), true
	return []frame{v.say(s, "content_block_start", obj("index", v.index(s), "content_block", v.blockObject(b, false)))}
}

func (v *messagesVoice) index(s Step) int {
	if s.Index != nil {
		return *s.Index
	}
	return max(0, len(v.blocks)-1)
}

// delta is content_block_delta. Without an open block it is written all the same, for block 0.
func (v *messagesVoice) delta(s Step) []frame {
	if len(v.blocks) == 0 {
		kind := map[string]string{"reasoning": "thinking", "signature": "thinking", "args": "tool_use"}[s.Do]
		v.blocks = append(v.blocks, &item{kind: orText(kind, "text"), id: "toolu_sim", name: orText(s.Name, "tool")})
	}
	b := v.blocks[len(v.blocks)-1]
	kind, field, into := "text_delta", "text", &b.text
	switch s.Do {
	case "reasoning":
		kind, field, into = "thinking_delta", "thinking", &b.summary
	case "signature":
		kind, field, into = "signature_delta", "signature", &b.refusal
	case "args":
		kind, field, into = "input_json_delta", "partial_json", &b.args
	}
	build := func(text string) frame {
		return v.say(s, "content_block_delta", obj("index", v.index(s), "delta", obj("type", kind, field, text)))
	}
	text := s.Args
	if s.Do != "args" {
		text = v.sized(s, build)
	}
	into.WriteString(text)
	return []frame{build(text)}
}

func (v *messagesVoice) stop(s Step) []frame {
	v.open = false
	return []frame{v.say(s, "content_block_stop", obj("index", v.index(s)))}
}

// messageDelta carries the reason and the cumulative usage.
func (v *messagesVoice) messageDelta(s Step) frame {
	v.tier = orText(s.Tier, v.tier)
	rest := obj("delta", obj("stop_reason", v.reasonOf(s), "stop_sequence", nil))
	if s.Usage != nil {
		rest = append(rest, member{"usage", messagesUsage(s.Usage, false)})
	}
	return v.say(s, "message_delta", rest)
}

func (v *messagesVoice) reasonOf(s Step) string {
	switch {
	case s.Finish == "max_output_tokens" || s.Finish == "length" || s.Do == "incomplete" && s.Finish == "":
		return "max_tokens"
	case s.Finish == "content_filter":
		return "refusal"
	case s.Finish != "" && s.Finish != "stop":
		return s.Finish
	}
	for _, b := range v.blocks {
		if b.kind == "tool_use" {
			return "tool_use"
		}
	}
	return "end_turn"
}

// ending closes the open block, says reason and usage, and stops.
func (v *messagesVoice) ending(s Step) []frame {
	var frames []frame
	if v.open {
		frames = v.stop(Step{})
	}
	delta := v.messageDelta(Step{Do: s.Do, Finish: s.Finish, Usage: s.Usage, Tier: s.Tier, Set: s.Set})
	return append(frames, delta, v.say(Step{}, "message_stop", nil))
}

func (v *messagesVoice) errorEvent(s Step) ([]frame, func() reply) {
	e, status := v.claudeError(s)
	o := obj("error", e)
	if s.Usage != nil {
		o = append(o, member{"usage", messagesUsage(s.Usage, false)})
	}
	f := v.say(s, "error", o)
	return []frame{f}, func() reply { return reply{status: status, body: []byte(f.data)} }
}

func (v *messagesVoice) failure(s Step) reply {
	e, status := v.claudeError(s)
	return reply{status: status, body: []byte(v.finished(s, obj("type", "error", "error", e)))}
}

// whole is the message that a request without stream gets.
func (v *messagesVoice) whole(s Step) reply {
	content := []any{}
	for _, b := range v.blocks {
		content = append(content, v.blockObject(b, true))
	}
	v.tier = orText(s.Tier, v.tier)
	var usage any
	if s.Usage != nil {
		usage = messagesUsage(s.Usage, true)
	}
	return reply{status: 200, body: []byte(v.finished(s, v.message(content, v.reasonOf(s), usage)))}
}

// blockObject is a content block, empty as it is opened or full as it is in the end.
func (v *messagesVoice) blockObject(b *item, full bool) object {
	input := json.RawMessage("{}")
	if full && json.Valid([]byte(b.args.String())) {
		input = json.RawMessage(b.args.String())
	}
	switch b.kind {
	case "text":
		return obj("type", "text", "text", ifFull(full, b.text.String()))
	case "thinking":
		return obj("type", "thinking", "thinking", ifFull(full, b.summary.String()),
			"signature", ifFull(full, b.refusal.String()))
	case "tool_use", "server_tool_use":
		return obj("type", b.kind, "id", b.id, "name", b.name, "input", input)
	case "mcp_tool_use":
		return obj("type", b.kind, "id", b.id, "name", b.name, "server_name", "sim", "input", input)
	case "web_search_tool_result":
		return obj("type", b.kind, "tool_use_id", b.name, "content", []any{obj("type", "web_search_result",
			"title", "A page", "url", "https://example.com/", "encrypted_content", "sealed-page", "page_age", nil)})
	}
	return obj("type", b.kind)
}

func ifFull(full bool, s string) string {
	if full {
		return s
	}
	return ""
}

func (v *messagesVoice) expand(s Step) []Step {
	end := Step{Do: "completed", Finish: s.Finish, Usage: s.Usage, Tier: s.Tier, Set: s.Set}
	if end.Usage == nil {
		end.Usage = defaultUsage()
	}
	v.usage = end.Usage
	steps := []Step{{Do: "created", ID: s.ID, Model: s.Model, Tier: s.Tier}}
	if s.Reasoning != "" {
		steps = append(steps, Item("reasoning"), Ping())
		for _, p := range pieces(s.Reasoning, s.Pieces) {
			steps = append(steps, Reasoning(p))
		}
		steps = append(steps, Signature("c2lnbmF0dXJl"), ItemDone())
	}
	hosted := false
	for _, t := range s.Tools {
		if known := blockKinds[t.Kind]; known != "" && known != "tool_use" {
			steps, hosted = append(steps, expandServerTool(t, s.Pieces)...), true
		}
	}
	if text := s.Text + s.Refusal; text != "" || len(s.Tools) == 0 || hosted {
		steps = append(steps, Item("message"), Ping())
		for _, p := range pieces(text, s.Pieces) {
			steps = append(steps, Text(p))
		}
		steps = append(steps, ItemDone())
	}
	for _, t := range s.Tools {
		if t.Kind == "" || t.Kind == "function_call" {
			steps = append(steps, Step{Do: "tool", Name: t.Name, ID: t.ID}, Args(""))
			for _, p := range pieces(t.Args, s.Pieces) {
				steps = append(steps, Args(p))
			}
			steps = append(steps, ItemDone())
		}
	}
	return append(steps, end)
}

// expandServerTool is a hosted call, a search with its result block.
func expandServerTool(t ToolCall, n int) []Step {
	id := orText(t.ID, "srvtoolu_sim")
	steps := []Step{{Do: "item", Kind: t.Kind, Name: t.Name, ID: id}}
	input := orText(t.Args, "{}")
	if !json.Valid([]byte(input)) {
		input = string(jsonText(obj("code", t.Args))) // a program, as the Responses API has it
	}
	for _, p := range pieces(input, n) {
		steps = append(steps, Args(p))
	}
	steps = append(steps, ItemDone())
	if t.Kind == "web_search_call" {
		steps = append(steps, Step{Do: "item", Kind: "web_search_tool_result", Name: id}, ItemDone())
	}
	return steps
}

// messagesUsage writes the three input classes apart; first adds what only message_start and whole messages carry.
func messagesUsage(u *Usage, first bool) any {
	switch {
	case u == nil:
		return nil
	case u.Raw != nil:
		return u.Raw
	}
	o := obj("input_tokens", u.Input-u.Cached-u.CacheWrite, "cache_creation_input_tokens", u.CacheWrite,
		"cache_read_input_tokens", u.Cached)
	if first {
		o = append(o, member{"cache_creation",
			obj("ephemeral_5m_input_tokens", u.CacheWrite, "ephemeral_1h_input_tokens", 0)})
	}
	return append(o, member{"output_tokens", u.Output})
}
