package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// shape is what the specification demands of an object: its members, each with
// the kinds of JSON value that it may be, as "name:kind|kind".
type shape []string

var responseShape = shape{"id:string", "object:string", "created_at:number", "completed_at:number|null", "status:string", "incomplete_details:object|null",
	"model:string", "previous_response_id:string|null", "instructions:string|array|null", "output:array", "error:object|null", "tools:array",
	"tool_choice:string|object", "truncation:string", "parallel_tool_calls:bool", "text:object", "top_p:number", "presence_penalty:number",
	"frequency_penalty:number", "top_logprobs:number", "temperature:number", "reasoning:object|null", "usage:object|null",
	"max_output_tokens:number|null", "max_tool_calls:number|null", "store:bool", "background:bool", "service_tier:string", "metadata:object",
	"safety_identifier:string|null", "prompt_cache_key:string|null", "user:string|null"}

var compactionShape = shape{"id:string", "object:string", "created_at:number", "output:array", "usage:object"}

var usageShape = shape{"input_tokens:number", "output_tokens:number", "total_tokens:number", "input_tokens_details:object", "output_tokens_details:object"}

// shapes are those of tools, items and parts, by type.
var shapes = map[string]shape{
	"function":      {"name:string", "description:string|null", "parameters:object|null", "strict:bool|null"},
	"message":       {"id:string", "status:string", "role:string", "content:array"},
	"function_call": {"id:string", "status:string", "call_id:string", "name:string", "arguments:string"},
	"compaction":    {"id:string", "encrypted_content:string"},
	"output_text":   {"text:string", "annotations:array"},
	"input_text":    {"text:string"},
}

// eventShapes are those of events, beside type and sequence_number. The error
// event of a socket has no number.
var eventShapes = map[string]shape{
	"error":                                  {"error:object"},
	"response.created":                       {"sequence_number:number", "response:object"},
	"response.in_progress":                   {"sequence_number:number", "response:object"},
	"response.completed":                     {"sequence_number:number", "response:object"},
	"response.output_item.added":             {"sequence_number:number", "output_index:number", "item:object"},
	"response.output_item.done":              {"sequence_number:number", "output_index:number", "item:object"},
	"response.content_part.added":            {"sequence_number:number", "item_id:string", "output_index:number", "content_index:number", "part:object"},
	"response.content_part.done":             {"sequence_number:number", "item_id:string", "output_index:number", "content_index:number", "part:object"},
	"response.output_text.delta":             {"sequence_number:number", "item_id:string", "output_index:number", "content_index:number", "delta:string", "logprobs:array"},
	"response.output_text.done":              {"sequence_number:number", "item_id:string", "output_index:number", "content_index:number", "text:string", "logprobs:array"},
	"response.function_call_arguments.delta": {"sequence_number:number", "item_id:string", "output_index:number", "delta:string"},
	"response.function_call_arguments.done":  {"sequence_number:number", "item_id:string", "output_index:number", "arguments:string"},
}

// fields reads an object.
func fields(t *testing.T, raw string) map[string]json.RawMessage {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(raw), &m); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return m
}

// check says which members an object lacks, and which are of another kind.
func (want shape) check(t *testing.T, what, raw string) map[string]json.RawMessage {
	t.Helper()
	m := fields(t, raw)
	for _, rule := range want {
		name, kinds, _ := strings.Cut(rule, ":")
		if v, there := m[name]; !there || !slices.Contains(strings.Split(kinds, "|"), kindOf(v)) {
			t.Errorf("%s: %s is %s, not %s", what, name, v, kinds)
		}
	}
	return m
}

func kindOf(v json.RawMessage) string {
	switch v[0] {
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "bool"
	case 'n':
		return "null"
	}
	return "number"
}

// checkList checks the tools, items or parts of a list, each by its type, and
// gives the types.
func checkList(t *testing.T, what string, list json.RawMessage) (types []string) {
	t.Helper()
	var all []json.RawMessage
	if err := json.Unmarshal(list, &all); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for _, raw := range all {
		types = append(types, checkTyped(t, what, string(raw)))
	}
	return types
}

// checkTyped checks one thing by its type, with what it contains.
func checkTyped(t *testing.T, what, raw string) string {
	t.Helper()
	var typ string
	_ = json.Unmarshal(fields(t, raw)["type"], &typ)
	want, known := shapes[typ]
	if !known {
		t.Errorf("%s: unknown type in %s", what, raw)
		return typ
	}
	m := want.check(t, what+" "+typ, raw)
	if typ == "message" {
		checkList(t, "part", m["content"])
	}
	return typ
}

// checkResponse checks a response object and gives the types of its output.
func checkResponse(t *testing.T, raw string) (m map[string]json.RawMessage, output []string) {
	t.Helper()
	m = responseShape.check(t, "response", raw)
	checkList(t, "tool", m["tools"])
	if kindOf(m["usage"]) == "object" {
		usageShape.check(t, "usage", string(m["usage"]))
	}
	return m, checkList(t, "item", m["output"])
}

// checkEvent checks an event; of the one that ends a response well it gives the
// response.
func checkEvent(t *testing.T, raw string) (final string) {
	t.Helper()
	var typ string
	_ = json.Unmarshal(fields(t, raw)["type"], &typ)
	want, known := eventShapes[typ]
	if !known {
		t.Errorf("unknown event %s", raw)
		return ""
	}
	m := want.check(t, typ, raw)
	if item, there := m["item"]; there {
		checkTyped(t, "item", string(item))
	}
	if part, there := m["part"]; there {
		checkTyped(t, "part", string(part))
	}
	if r, there := m["response"]; there {
		checkResponse(t, string(r))
	}
	if typ == "error" {
		shape{"type:string", "code:string|null", "message:string"}.check(t, "error", string(m["error"]))
	}
	if typ != "response.completed" {
		return ""
	}
	return string(m["response"])
}

// checkFinal checks what a request came to: a completed response or a
// compaction, with output, and with an item of the type that is named. It gives
// the id.
func checkFinal(t *testing.T, raw string, compaction bool, item string) (id string) {
	t.Helper()
	var kinds []string
	m := fields(t, raw)
	object, status := `"response"`, `"completed"`
	if compaction {
		object, status = `"response.compaction"`, ""
		compactionShape.check(t, "compaction", raw)
		kinds = checkList(t, "item", m["output"])
	} else {
		_, kinds = checkResponse(t, raw)
	}
	if string(m["object"]) != object || string(m["status"]) != status || len(kinds) == 0 || item != "" && !slices.Contains(kinds, item) {
		t.Errorf("object %s, status %s, output %q", m["object"], m["status"], kinds)
	}
	_ = json.Unmarshal(m["id"], &id)
	return id
}
