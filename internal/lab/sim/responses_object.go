package sim

import "encoding/json"

// object is the response object with every field that providers send, echoing the request.
func (v *responsesWriter) object(status string) object {
	if v.id == "" {
		v.id = v.ids.next("resp")
	}
	if v.model == "" {
		v.model = v.q.model
	}
	tier := any(v.tier)
	if v.tier == "" {
		tier = v.q.echo("service_tier", "auto")
	}
	q := v.q
	return obj(
		"id", v.id,
		"object", "response",
		"created_at", v.now.Unix(),
		"status", status,
		"background", false,
		"completed_at", nil,
		"error", nil,
		"frequency_penalty", json.Number("0.0"),
		"incomplete_details", nil,
		"instructions", q.echo("instructions", nil),
		"max_output_tokens", q.echo("max_output_tokens", nil),
		"max_tool_calls", q.echo("max_tool_calls", nil),
		"model", v.model,
		"output", []any{},
		"parallel_tool_calls", q.echo("parallel_tool_calls", true),
		"presence_penalty", json.Number("0.0"),
		"previous_response_id", q.echo("previous_response_id", nil),
		"prompt_cache_key", q.echo("prompt_cache_key", nil),
		"prompt_cache_retention", nil,
		"reasoning", q.echo("reasoning", obj("effort", nil, "summary", nil)),
		"safety_identifier", q.echo("safety_identifier", nil),
		"service_tier", tier,
		"store", q.echo("store", true),
		"temperature", q.echo("temperature", json.Number("1.0")),
		"text", q.echo("text", obj("format", obj("type", "text"), "verbosity", "medium")),
		"tool_choice", q.echo("tool_choice", "auto"),
		"tools", q.echoTools(),
		"top_logprobs", 0,
		"top_p", q.echo("top_p", json.Number("1.0")),
		"truncation", q.echo("truncation", "disabled"),
		"usage", nil,
		"user", nil,
		"metadata", q.echo("metadata", obj()),
	)
}

// echoTools are the tools as they came, function tools with every member that the API knows: it says what it took for
// those that were left out, and functions are strict unless somebody said otherwise.
func (q request) echoTools() any {
	raw, there := field[json.RawMessage](q, "tools")
	tree, err := parseOrdered(raw)
	tools, list := tree.([]any)
	if !there || err != nil || !list {
		return q.echo("tools", []any{})
	}
	for i, t := range tools {
		tool, ok := t.(object)
		if !ok || tool.get("type") != "function" {
			continue
		}
		for _, missing := range obj("description", nil, "parameters", nil, "strict", true) {
			if tool.get(missing.key) == nil {
				tool = tool.with(missing.key, missing.value)
			}
		}
		tools[i] = tool
	}
	return tools
}

// output is the items as far as they were said.
func (v *responsesWriter) output() []any {
	out := []any{}
	for _, it := range v.items {
		was := it.done
		it.done = true // the final object never shows an item in progress
		out = append(out, v.itemObject(it))
		it.done = was
	}
	return out
}

// itemObject is an item as it stands: in progress without its content, done with it.
func (v *responsesWriter) itemObject(it *item) object {
	status := "in_progress"
	if it.done {
		status = "completed"
	}
	args := ""
	if it.done {
		args = it.args.String()
	}
	switch it.kind {
	case "message":
		return obj("id", it.id, "type", "message", "status", status, "content", it.content(), "role", "assistant")
	case "reasoning":
		return v.reasoningObject(it)
	case "function_call":
		return obj("id", it.id, "type", it.kind, "status", status, "arguments", args, "call_id", it.callID, "name", it.name)
	case "custom_tool_call":
		return obj("id", it.id, "type", it.kind, "status", status, "input", args, "call_id", it.callID, "name", it.name)
	case "web_search_call":
		o := obj("id", it.id, "type", it.kind, "status", status)
		if it.done {
			o = append(o, member{"action", obj("type", "search", "query", orText(it.name, "weather"))})
		}
		return o
	case "mcp_call":
		return obj("id", it.id, "type", it.kind, "status", status, "approval_request_id", nil, "arguments", args, "error", nil,
			"name", orText(it.name, "lookup"), "output", orNull(it.result), "server_label", "sim")
	case "code_interpreter_call":
		outputs := any(nil)
		if it.done {
			outputs = []any{obj("type", "logs", "logs", it.result)}
		}
		return obj("id", it.id, "type", it.kind, "status", status, "code", args, "container_id", "cntr_sim", "outputs", outputs)
	case "image_generation_call":
		return obj("id", it.id, "type", it.kind, "status", status, "result", orNull(it.result))
	case "compaction":
		return obj("id", it.id, "type", it.kind, "encrypted_content", "sealed-"+it.id)
	}
	return obj("id", it.id, "type", it.kind, "status", status)
}

func (it *item) content() []any {
	switch {
	case !it.done:
		return []any{}
	case it.part == "refusal":
		return []any{obj("type", "refusal", "refusal", it.refusal.String())}
	}
	return []any{textPart(it.text.String())}
}

// reasoningObject is a reasoning item; sealed content only for those who asked, as providers do.
func (v *responsesWriter) reasoningObject(it *item) object {
	summary := []any{}
	if it.done && it.summary.Len() > 0 {
		summary = append(summary, obj("type", "summary_text", "text", it.summary.String()))
	}
	o := obj("id", it.id, "type", "reasoning", "summary", summary)
	include, _ := field[[]string](v.q, "include")
	for _, want := range include {
		if want == "reasoning.encrypted_content" {
			o = append(o, member{"encrypted_content", "sealed-" + it.id})
		}
	}
	return o
}

// responsesUsage is the usage object; nil is null: nothing reported.
func responsesUsage(u *Usage) any {
	switch {
	case u == nil:
		return nil
	case u.Raw != nil:
		return u.Raw
	}
	in := obj("cached_tokens", u.Cached)
	if u.CacheWrite != 0 {
		in = append(in, member{"cache_write_tokens", u.CacheWrite})
	}
	return obj("input_tokens", u.Input, "input_tokens_details", in, "output_tokens", u.Output,
		"output_tokens_details", obj("reasoning_tokens", u.Reasoning), "total_tokens", u.Input+u.Output)
}

func orText(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
