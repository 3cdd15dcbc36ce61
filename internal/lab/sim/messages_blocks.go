package sim

import "encoding/json"

// blockKinds translates the item kinds of the language.
var blockKinds = map[string]string{
	"message": "text", "reasoning": "thinking", "function_call": "tool_use", "web_search_call": "server_tool_use",
	"code_interpreter_call": "server_tool_use", "mcp_call": "mcp_tool_use",
}

var blockPrefix = map[string]string{"tool_use": "toolu", "server_tool_use": "srvtoolu", "mcp_tool_use": "mcptoolu"}

// block is content_block_start.
func (v *messagesWriter) block(s Step) []frame {
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
	return []frame{v.frame(s, "content_block_start", obj("index", v.index(s), "content_block", v.blockObject(b, false)))}
}

func (v *messagesWriter) index(s Step) int {
	if s.Index != nil {
		return *s.Index
	}
	return max(0, len(v.blocks)-1)
}

// delta is content_block_delta. Without an open block it is written all the same, for block 0.
func (v *messagesWriter) delta(s Step) []frame {
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
		return v.frame(s, "content_block_delta", obj("index", v.index(s), "delta", obj("type", kind, field, text)))
	}
	text := s.Args
	if s.Do != "args" {
		text = v.sized(s, build)
	}
	into.WriteString(text)
	return []frame{build(text)}
}

func (v *messagesWriter) stop(s Step) []frame {
	v.open = false
	return []frame{v.frame(s, "content_block_stop", obj("index", v.index(s)))}
}

// blockObject is a content block, empty as it is opened or full as it is in the end.
func (v *messagesWriter) blockObject(b *item, full bool) object {
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

// expand is a whole answer: thinking, hosted calls, text, the model's own calls, in that order as models write them.
func (v *messagesWriter) expand(s Step) []Step {
	end := Step{Do: "completed", Finish: s.Finish, Usage: s.Usage, Tier: s.Tier, Set: s.Set}
	if end.Usage == nil {
		end.Usage = defaultUsage()
	}
	v.usage = end.Usage
	steps := []Step{{Do: "created", ID: s.ID, Model: s.Model, Tier: s.Tier}}
	if s.Reasoning != "" {
		steps = append(steps, Item("reasoning"), Ping())
		steps = append(steps, blockText("reasoning", s.Reasoning, s.Pieces)...)
		steps = append(steps, Signature("c2lnbmF0dXJl"), ItemDone())
	}
	hosted, own := splitTools(s)
	steps = append(steps, hosted...)
	if text := s.Text + s.Refusal; text != "" || len(own) == 0 {
		steps = append(steps, Item("message"), Ping())
		steps = append(steps, blockText("text", text, s.Pieces)...)
		steps = append(steps, ItemDone())
	}
	return append(append(steps, own...), end)
}

// blockText is a text in deltas.
func blockText(word, text string, n int) []Step {
	var steps []Step
	for _, p := range pieces(text, n) {
		steps = append(steps, Step{Do: word, Text: p})
	}
	return steps
}

// splitTools gives the steps of the hosted calls and of the model's own; kinds that Messages does not have are left out.
func splitTools(s Step) (hosted, own []Step) {
	for _, t := range s.Tools {
		switch blockKinds[orText(t.Kind, "function_call")] {
		case "":
		case "tool_use":
			own = append(own, Step{Do: "tool", Name: t.Name, ID: t.ID}, Args(""))
			for _, p := range pieces(t.Args, s.Pieces) {
				own = append(own, Args(p))
			}
			own = append(own, ItemDone())
		default:
			hosted = append(hosted, expandServerTool(t, s.Pieces)...)
		}
	}
	return hosted, own
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
