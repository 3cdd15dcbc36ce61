package messages

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/wire/protocol/recorded"
	"rubicon/internal/wire/translate"
)

func TestRecordedRequestsGoRound(t *testing.T) {
	for _, x := range recorded.Load(t, "messages") {
		goRound(t, x.Request)
	}
}

// goRound checks that what was decoded and encoded reads the same again.
func goRound(t testing.TB, body []byte) {
	t.Helper()
	first, err := decodeRequest(body)
	if err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	f := able()
	if first.Reasoning.Budget > 0 {
		f.Thinking = "budget"
	}
	encoded, rep := encodeRequest(first, first.Model, f)
	if len(rep.Excluded) > 0 || len(rep.Notes) > 0 {
		t.Errorf("told %s: %s", notes(rep), body)
	}
	second := mustDecode(t, string(encoded))
	if diff := cmp.Diff(unpathed(first), unpathed(second)); diff != "" {
		t.Errorf("%s\n%s\n%s", body, encoded, diff)
	}
}

func TestRequestsGoRound(t *testing.T) {
	for _, body := range []string{
		`{"model":"m","max_tokens":5,"stream":true,"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral","ttl":"1h"}}],
		  "messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},
		  {"type":"image","source":{"type":"url","url":"https://x/y.png"}},{"type":"image","source":{"type":"file","file_id":"file_1"}},
		  {"type":"document","source":{"type":"text","media_type":"text/plain","data":"doc"},"title":"t"},
		  {"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBE"},"cache_control":{"type":"ephemeral"}},
		  {"type":"search_result","source":"s","title":"t","content":[]}]},
		  {"role":"assistant","content":[{"type":"thinking","thinking":"th","signature":"sig=="},{"type":"redacted_thinking","data":"d"},
		  {"type":"text","text":"cited","citations":[{"type":"char_location","cited_text":"x"}]},
		  {"type":"tool_use","id":"toolu_1","name":"f","input":{"n":1.50,"big":12345678901234567890}},
		  {"type":"server_tool_use","id":"srv","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"srv","content":[]}]},
		  {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","is_error":true,"content":[{"type":"text","text":"r"},
		  {"type":"tool_reference","tool_name":"g"}]},{"type":"text","text":"go on"}]},
		  {"role":"system","content":[{"type":"text","text":"mid"}]},{"role":"user","content":"more"}],
		  "tools":[{"name":"f","description":"d","input_schema":{"type":"object"},"strict":true,"cache_control":{"type":"ephemeral"}},
		  {"name":"g","input_schema":{"type":"object"},"defer_loading":true},{"type":"web_search_20250305","name":"web_search","max_uses":3}],
		  "tool_choice":{"type":"auto","disable_parallel_tool_use":true},"stop_sequences":["a","b"],"temperature":0.30,"top_p":0.9,"top_k":5,
		  "service_tier":"standard_only","container":"c1","metadata":{"user_id":"u"},"thinking":{"type":"adaptive","display":"summarized"},
		  "output_config":{"effort":"high","format":{"type":"json_schema","schema":{"type":"object","additionalProperties":false}}}}`,
		`{"model":"m","max_tokens":0,"messages":[{"role":"user","content":"x"}],"cache_control":{"type":"ephemeral"}}`,
		`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"pre"}]}`,
		`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}],"tools":[{"name":"f","input_schema":{"type":"object"}}],"tool_choice":{"type":"tool","name":"f"}}`,
		`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}],"thinking":{"type":"disabled"}}`,
		`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}],"output_config":{"effort":"low"}}`,
	} {
		first := mustDecode(t, body)
		encoded, rep := encodeRequest(first, "m", able())
		if got := notes(rep); got != "" {
			t.Errorf("told %s", got)
		}
		if diff := cmp.Diff(unpathed(first), unpathed(mustDecode(t, string(encoded)))); diff != "" {
			t.Error(diff)
		}
	}
}

// unpathed is a request without its paths: text that stood as a string is a
// block when it is written again.
func unpathed(r *translate.Request) *translate.Request {
	dropPaths(reflect.ValueOf(r).Elem())
	return r
}

func dropPaths(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			dropPaths(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			dropPaths(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Name == "Path" && v.Type().Name() != "Setting" {
				v.Field(i).SetString("")
			} else {
				dropPaths(v.Field(i))
			}
		}
	}
}

// Whatever is unknown is told, with its path.
func TestUnknownMembersAreKept(t *testing.T) {
	r := mustDecode(t, `{"model":"m","max_tokens":1,"new":1,"messages":[{"role":"user","x":true,"content":[{"type":"text","text":"a","y":{}},{"type":"odd","z":1}]}],
		"tools":[{"name":"f","input_examples":[1]}],"tool_choice":{"type":"auto","w":1},"metadata":{"v":"1"},"output_config":{"u":1},"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral","scope":"global"}}]}`)
	var paths []string
	for _, s := range r.Settings {
		if s.Feature == translate.FeatureUnknown {
			paths = append(paths, s.Path)
		}
	}
	want := []string{"new", "messages[0].x", "messages[0].content[0].y", "tools[0].input_examples", "tool_choice.w", "metadata.v", "output_config.u", "system[0].cache_control.scope"}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Error(diff)
	}
	if b := r.Turns[0].Blocks[1]; b.Kind != translate.Unknown || b.Path != "messages[0].content[1]" || string(b.Raw) != `{"type":"odd","z":1}` {
		t.Errorf("%+v", b)
	}
}

func TestSettingsOfARequest(t *testing.T) {
	for body, want := range map[string]string{
		`"service_tier":"standard_only"`: "service_tier service_tier \"default\"",
		`"service_tier":"auto"`:          "",
		`"max_tokens":0`:                 "max_output.zero max_tokens 0",
		`"context_management":{"edits":[{"type":"clear_thinking_20251015"}]}`:   "context_management.clear_thinking context_management",
		`"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]}`:  "state context_management",
		`"context_management":{"edits":[]}`:                                     "",
		`"inference_geo":"us"`:                                                  "inference_geo inference_geo \"us\"",
		`"container":"c"`:                                                       "state container \"c\"",
		`"tools":[{"name":"f","allowed_callers":["code_execution_20250825"]}]`:  "tools.allowed_callers tools[0].allowed_callers",
		`"tools":[{"name":"f","allowed_callers":["direct"],"async":false}]`:     "",
		`"tools":[{"name":"f","async":true,"eager_input_streaming":true}]`:      "tools.async tools[0].async true; tools.eager_input_streaming tools[0].eager_input_streaming true",
		`"output_format":{"type":"grammar"}`:                                    "format.unknown output_format",
		`"tool_choice":{"type":"weird"}`:                                        "content.unknown tool_choice.type \"weird\"",
		`"mcp_servers":[{"url":"u"}],"fallbacks":[1],"thread":{"id":"x","a":1}`: "tools.hosted mcp_servers; fallbacks fallbacks; state thread",
	} {
		var got []string
		for _, s := range mustDecode(t, `{`+body+`}`).Settings {
			line := string(s.Feature) + " " + s.Path
			if k := s.Value[0]; k != '{' && k != '[' {
				line += " " + string(s.Value)
			}
			got = append(got, line)
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%s: %s, want %s", body, strings.Join(got, "; "), want)
		}
	}
}

func TestRequestsThatCannotBeRead(t *testing.T) {
	for body, path := range map[string]string{
		`{"max_tokens":"x"}`:                           "max_tokens",
		`{"max_tokens":-1}`:                            "max_tokens",
		`{"messages":{}}`:                              "messages",
		`{"messages":[1]}`:                             "messages[0].role",
		`{"messages":[{"role":"tool","content":"x"}]}`: "messages[0].role",
		`{"messages":[{"role":"user","content":1}]}`:   "messages[0].content",
		`{"messages":[{"role":"user","content":[{"type":"text","text":1}]}]}`:     "messages[0].content[0].text",
		`{"messages":[{"role":"user","content":[{"type":"image","source":{}}]}]}`: "messages[0].content[0].source",
		`{"stop_sequences":[1]}`: "stop_sequences[0]",
		`{"thinking":7}`:         "thinking",
	} {
		if _, err := decodeRequest([]byte(body)); err == nil || !strings.HasPrefix(err.Error(), path+":") {
			t.Errorf("%s: %v", body, err)
		}
	}
	if _, err := decodeRequest([]byte(`{"a":`)); err == nil {
		t.Error("no JSON passed")
	}
}
