package sim

import "strings"

// item is one output item as far as it was said.
type item struct {
	id, kind, name, callID string
	part                   string // kind of the open content part: output_text, refusal, summary_text
	text, refusal          strings.Builder
	summary, args          strings.Builder
	result                 string
	done                   bool
}

// itemPrefix is how ids of the kinds begin.
var itemPrefix = map[string]string{
	"message": "msg", "reasoning": "rs", "function_call": "fc", "web_search_call": "ws", "mcp_call": "mcp",
	"code_interpreter_call": "ci", "image_generation_call": "ig", "file_search_call": "fs", "custom_tool_call": "ctc",
	"computer_call": "cu", "shell_call": "sh", "compaction": "cmp",
}

// at is the item that an event speaks of: the named one, else the last. A script that opened none gets a message
// in its mind, so that the final object still holds the text.
func (v *responsesWriter) at(s Step) (*item, int) {
	if s.Index != nil && *s.Index >= 0 && *s.Index < len(v.items) {
		return v.items[*s.Index], *s.Index
	}
	if len(v.items) == 0 {
		v.items = append(v.items, &item{id: v.ids.or(s.ID, "msg"), kind: "message"})
	}
	i := len(v.items) - 1
	if s.Index != nil {
		return v.items[i], *s.Index
	}
	return v.items[i], i
}

// open is response.output_item.added.
func (v *responsesWriter) open(s Step) []frame {
	kind := s.Kind
	if s.Do == "tool" {
		kind = "function_call"
	}
	prefix := itemPrefix[kind]
	if prefix == "" {
		prefix = "item"
	}
	it := &item{kind: kind, name: s.Name, id: v.ids.or(s.ID, prefix)}
	if kind == "function_call" || kind == "custom_tool_call" || kind == "computer_call" {
		it.callID = v.ids.next("call")
	}
	v.items = append(v.items, it)
	index := len(v.items) - 1
	if s.Index != nil {
		index = *s.Index
	}
	return []frame{v.eventFrame(s, "response.output_item.added", obj("output_index", index, "item", v.itemObject(it)))}
}

// delta is a piece of the open item's text, refusal, reasoning summary or arguments.
func (v *responsesWriter) delta(s Step) []frame {
	it, index := v.at(s)
	kind, where, into := "response.output_text.delta", "content_index", &it.text
	switch s.Do {
	case "refusal":
		kind, into, it.part = "response.refusal.delta", &it.refusal, "refusal"
	case "reasoning":
		kind, where, into = "response.reasoning_summary_text.delta", "summary_index", &it.summary
	case "args":
		kind, where, into = argsEvent(it.kind)+".delta", "", &it.args
	}
	head := obj("item_id", it.id, "output_index", index)
	if where != "" {
		head = append(head, member{where, 0})
	}
	build := func(text string) frame {
		rest := append(head[:len(head):len(head)], member{"delta", text})
		if kind == "response.output_text.delta" {
			rest = append(rest, member{"logprobs", []any{}})
		}
		return v.frame(s, kind, rest)
	}
	text := s.Args
	if s.Do != "args" {
		text = v.sized(s, build)
	}
	f := build(text)
	into.WriteString(text)
	if s.Seq != nil {
		v.seq = *s.Seq
	}
	v.seq++
	return []frame{f}
}

// detail is the events between deltas: parts, the done events, progress of hosted calls.
func (v *responsesWriter) detail(s Step) []frame {
	it, index := v.at(s)
	at := obj("item_id", it.id, "output_index", index)
	switch s.Do {
	case "progress":
		return []frame{v.eventFrame(s, "response."+it.kind+"."+s.Name, at)}
	case "part":
		return []frame{v.part(s, it, at, "added", "")}
	case "part_done":
		return []frame{v.part(s, it, at, "done", it.said())}
	case "text_done":
		at = append(at, member{"content_index", 0})
		if it.part == "refusal" {
			return []frame{v.eventFrame(s, "response.refusal.done", append(at, member{"refusal", it.refusal.String()}))}
		}
		at = append(at, member{"text", it.text.String()}, member{"logprobs", []any{}})
		return []frame{v.eventFrame(s, "response.output_text.done", at)}
	case "reasoning_done":
		at = append(at, member{"summary_index", 0}, member{"text", it.summary.String()})
		return []frame{v.eventFrame(s, "response.reasoning_summary_text.done", at)}
	case "args_done":
		return []frame{v.argsDone(s, it, at)}
	}
	it.done, it.result = true, s.Text
	return []frame{v.eventFrame(s, "response.output_item.done", obj("output_index", index, "item", v.itemObject(it)))}
}

// part is response.content_part.added and done, or their reasoning_summary_part twins.
func (v *responsesWriter) part(s Step, it *item, at object, state, text string) frame {
	if it.kind == "reasoning" {
		it.part = "summary_text"
		at = append(at, member{"summary_index", 0}, member{"part", obj("type", "summary_text", "text", text)})
		return v.eventFrame(s, "response.reasoning_summary_part."+state, at)
	}
	if s.Kind == "refusal" {
		it.part = "refusal"
	}
	part := textPart(text)
	if it.part == "refusal" {
		part = obj("type", "refusal", "refusal", text)
	}
	return v.eventFrame(s, "response.content_part."+state, append(at, member{"content_index", 0}, member{"part", part}))
}

func (v *responsesWriter) argsDone(s Step, it *item, at object) frame {
	field := "arguments"
	switch it.kind {
	case "code_interpreter_call":
		field = "code"
	case "custom_tool_call":
		field = "input"
	}
	at = append(at, member{field, it.args.String()})
	if it.kind == "function_call" {
		at = append(at, member{"name", it.name})
	}
	return v.eventFrame(s, argsEvent(it.kind)+".done", at)
}

// said is the text of the open part.
func (it *item) said() string {
	switch it.part {
	case "refusal":
		return it.refusal.String()
	case "summary_text":
		return it.summary.String()
	}
	return it.text.String()
}

// argsEvent is the name of the events that carry a kind's arguments.
func argsEvent(kind string) string {
	switch kind {
	case "mcp_call":
		return "response.mcp_call_arguments"
	case "code_interpreter_call":
		return "response.code_interpreter_call_code"
	case "custom_tool_call":
		return "response.custom_tool_call_input"
	}
	return "response.function_call_arguments"
}

func textPart(text string) object {
	return obj("type", "output_text", "annotations", []any{}, "logprobs", []any{}, "text", text)
}
