package sim

// messagesWriter speaks Messages.
type messagesWriter struct {
	callContext
	id     string
	model  string
	tier   string
	blocks []*item
	open   bool // the last block was not stopped
}

func (v *messagesWriter) event(s Step) ([]frame, func() reply) {
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
		return []frame{v.frame(s, "message_delta", obj("delta", obj(), "usage", messagesUsage(s.Usage, false)))}, nil
	case "done":
		return []frame{v.frame(s, "message_stop", nil)}, func() reply { return v.whole(Step{Do: "completed"}) }
	case "completed", "incomplete":
		return v.ending(s), func() reply { return v.whole(s) }
	case "failed", "error":
		return v.errorEvent(s)
	case "keepalive", "ping":
		return []frame{v.frame(s, "ping", nil)}, nil
	case "comment":
		return []frame{{comment: true, data: s.Text}}, nil
	case "event":
		return []frame{{name: s.Name, data: *s.Data}}, nil
	}
	return nil, nil // queued, in_progress, parts and their done events: not in this protocol
}

func (v *messagesWriter) frame(s Step, kind string, rest object) frame {
	return frame{name: kind, data: v.withChanges(s, append(obj("type", kind), rest...))}
}

// opening is message_start. Its usage is the final one with a token or so of output, as providers send it.
func (v *messagesWriter) opening(s Step) []frame {
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
	return []frame{v.frame(s, "message_start", obj("message", v.message([]any{}, nil, messagesUsage(u, true))))}
}

func (v *messagesWriter) message(content []any, reason any, usage any) object {
	if v.id == "" {
		v.id = v.ids.next("msg")
	}
	return obj("id", v.id, "type", "message", "role", "assistant", "model", orText(v.model, v.q.model), "content", content,
		"stop_reason", reason, "stop_sequence", nil, "usage", v.tiered(usage))
}

// tiered puts the service tier into a usage object, where Messages reports it.
func (v *messagesWriter) tiered(usage any) any {
	if o, ok := usage.(object); ok {
		return o.with("service_tier", orText(v.tier, v.q.answeredTier("standard")))
	}
	return usage
}

// messageDelta carries the reason and the cumulative usage.
func (v *messagesWriter) messageDelta(s Step) frame {
	v.tier = orText(s.Tier, v.tier)
	rest := obj("delta", obj("stop_reason", v.reasonOf(s), "stop_sequence", nil))
	if s.Usage != nil {
		rest = append(rest, member{"usage", messagesUsage(s.Usage, false)})
	}
	return v.frame(s, "message_delta", rest)
}

func (v *messagesWriter) reasonOf(s Step) string {
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
func (v *messagesWriter) ending(s Step) []frame {
	var frames []frame
	if v.open {
		frames = v.stop(Step{})
	}
	delta := v.messageDelta(Step{Do: s.Do, Finish: s.Finish, Usage: s.Usage, Tier: s.Tier, Set: s.Set})
	return append(frames, delta, v.frame(Step{}, "message_stop", nil))
}

func (v *messagesWriter) errorEvent(s Step) ([]frame, func() reply) {
	e, status := v.claudeError(s)
	o := obj("error", e)
	if s.Usage != nil {
		o = append(o, member{"usage", messagesUsage(s.Usage, false)})
	}
	f := v.frame(s, "error", o)
	return []frame{f}, func() reply { return reply{status: status, body: []byte(f.data)} }
}

func (v *messagesWriter) failure(s Step) reply {
	e, status := v.claudeError(s)
	return reply{status: status, body: []byte(v.withChanges(s, obj("type", "error", "error", e)))}
}

// whole is the message that a request without stream gets.
func (v *messagesWriter) whole(s Step) reply {
	content := []any{}
	for _, b := range v.blocks {
		content = append(content, v.blockObject(b, true))
	}
	v.tier = orText(s.Tier, v.tier)
	var usage any
	if s.Usage != nil {
		usage = messagesUsage(s.Usage, true)
	}
	return reply{status: 200, body: []byte(v.withChanges(s, v.message(content, v.reasonOf(s), usage)))}
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
