package sim

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
)

// refusal is what a provider answers to a Responses request that continues what it does not know, nil where it knows
// it. Only a whole answer is refused so: a script that says each event, or a failure, is played as it is written.
func (a *Account) refusal(q request, steps []Step) []Step {
	if !continues(q.surface) || len(steps) == 0 || steps[0].Do != "answer" {
		return nil
	}
	known := map[string]bool{}
	if id, ok := field[string](q, "previous_response_id"); ok {
		calls, there := a.parent(id)
		if !there {
			return refused("previous_response_not_found", "previous_response_id", "Previous response with id '"+id+"' not found.")
		}
		known = calls
	}
	called, items := a.calls(q, known), q.items()
	for _, it := range items {
		// The call may be what is referred to, or stand in the conversation, which are not kept here.
		if it.Type == "item_reference" || q.echo("conversation", nil) != nil {
			return nil
		}
	}
	for _, it := range items {
		if kind, output := answers(it.Type); output && !called[it.CallID] {
			return refused("", "input", "No tool call found for "+kind+" output with call_id "+it.CallID+".")
		}
	}
	return nil
}

// continues says whether a surface takes previous_response_id.
func continues(s surface) bool {
	return s == surfaceResponses || s == surfaceCompact || s == surfaceInputTokens
}

func refused(code, param, message string) []Step {
	set := jsonText(obj("error", obj("param", param)))
	return []Step{{Do: "fail", Status: http.StatusBadRequest, Code: code, ErrorType: "invalid_request_error", Message: message, Set: set}}
}

// inputItem is what is read of an item of a request's input.
type inputItem struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
}

// items are the items of the input; a text has none.
func (q request) items() []inputItem {
	raw, _ := field[[]json.RawMessage](q, "input")
	items := make([]inputItem, 0, len(raw))
	for _, r := range raw {
		var it inputItem
		if json.Unmarshal(r, &it) == nil {
			items = append(items, it)
		}
	}
	return items
}

// answers says whether an item is the output of the client's own tool call, and what that kind of call is called.
func answers(kind string) (call string, ok bool) {
	switch kind {
	case "function_call_output", "custom_tool_call_output":
		return strings.ReplaceAll(strings.TrimSuffix(kind, "_output"), "_", " "), true
	}
	return "", false
}

// calls are the tool calls that a request knows: those of what it continues, and those in its input.
func (a *Account) calls(q request, parent map[string]bool) map[string]bool {
	all := maps.Clone(parent)
	if all == nil {
		all = map[string]bool{}
	}
	for _, it := range q.items() {
		if it.Type == "function_call" || it.Type == "custom_tool_call" {
			all[it.CallID] = true
		}
	}
	return all
}

// remember keeps a response with the calls that its continuation may answer: those that its request knew, and its own.
func (a *Account) remember(q request, id string, o object) {
	parent, _ := field[string](q, "previous_response_id")
	known, _ := a.parent(parent)
	calls := a.calls(q, known)
	for _, id := range callsIn(o.get("output")) {
		calls[id] = true
	}
	a.keep(id, o, calls)
}

// callsIn are the call ids of an output, said by events or written in the script.
func callsIn(output any) []string {
	var items []inputItem
	if json.Unmarshal(jsonText(output), &items) != nil {
		return nil // a script may write any output
	}
	var ids []string
	for _, it := range items {
		if it.CallID != "" {
			ids = append(ids, it.CallID)
		}
	}
	return ids
}
