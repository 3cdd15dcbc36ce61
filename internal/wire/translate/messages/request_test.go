package messages

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/protocol/recorded"
	"rubicon/internal/wire/translate"
)

// able are the flags of a model that can everything.
func able() translate.Flags {
	f := translate.Defaults(translate.Messages)
	f.MidSystem, f.Prefill = true, true
	return f
}

func mustDecode(t testing.TB, body string) *translate.Request {
	t.Helper()
	r, err := decodeRequest([]byte(body))
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return r
}

// from is a request that a client of another format sent.
func from(turns ...translate.Turn) *translate.Request {
	return &translate.Request{From: translate.Chat, Model: "m", Turns: turns, MaxOutput: translate.Number{Value: 8000, Path: "max_completion_tokens"}}
}

func user(blocks ...translate.Block) translate.Turn {
	return translate.Turn{Role: translate.User, Blocks: blocks, Path: "messages[0]"}
}

func reply(blocks ...translate.Block) translate.Turn {
	return translate.Turn{Role: translate.Assistant, Blocks: blocks, Path: "messages[1]"}
}

func text(s string) translate.Block {
	return translate.Block{Kind: translate.Text, Text: s, Path: "text"}
}

func call(id string) translate.Block {
	return translate.Block{Kind: translate.Call, ID: id, Name: "f", Input: "{}", Path: "call"}
}

func result(id string, inner ...translate.Block) translate.Block {
	return translate.Block{Kind: translate.Result, ID: id, Inner: inner, Path: "result"}
}

func function(name string) translate.Tool {
	return translate.Tool{Name: name, Path: "tools[0]"}
}

// notes shows a report: what became of what, exclusions last.
func notes(rep translate.Report) string {
	var all []string
	for _, n := range rep.Notes {
		all = append(all, string(n.Verb)+" "+string(n.Feature))
		if n.Why == "" || n.Class == "" {
			all = append(all, "WITHOUT A REASON OR A CLASS")
		}
	}
	slices.Sort(all)
	for _, x := range rep.Excluded {
		all = append(all, "excluded "+string(x.Feature))
		if x.Why == "" || x.Do == "" {
			all = append(all, "WITHOUT A REASON OR ADVICE")
		}
	}
	return strings.Join(all, "; ")
}

// check encodes a request and compares one member of the body, or all of it, and
// the report.
func check(t *testing.T, name string, r *translate.Request, f translate.Flags, member, want, told string) {
	t.Helper()
	body, rep := encodeRequest(r, "up", f)
	again, _ := encodeRequest(r, "up", f)
	if !bytes.Equal(body, again) {
		t.Errorf("%s: other bytes the second time: %s and %s", name, body, again)
	}
	if got := notes(rep); got != told {
		t.Errorf("%s: told %q, want %q", name, got, told)
	}
	if len(rep.Excluded) > 0 {
		if body != nil || want != "" {
			t.Errorf("%s: excluded, and a body %s", name, body)
		}
		return
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(body, &all); err != nil {
		t.Fatalf("%s: %v: %s", name, err, body)
	}
	if got := string(all[member]); got != want {
		t.Errorf("%s: %s is\n%s, want\n%s", name, member, got, want)
	}
}

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

func TestTurns(t *testing.T) {
	pdf := translate.Block{Kind: translate.File, Name: "a.pdf", Source: translate.Source{Mime: "application/pdf", Data: "JVBE"}, Path: "file"}
	note := translate.Block{Kind: translate.File, Source: translate.Source{Mime: "text/plain", Data: "aGk="}, Path: "file"}
	zip := translate.Block{Kind: translate.File, Source: translate.Source{Mime: "application/zip", Data: "AAAA"}, Path: "file"}
	png := translate.Block{Kind: translate.Image, Source: translate.Source{Mime: "image/png", Data: "AAAA"}, Detail: "high", Path: "image"}
	tiff := translate.Block{Kind: translate.Image, Source: translate.Source{Mime: "image/tiff", Data: "AAAA"}, Path: "image"}
	web := translate.Block{Kind: translate.Image, Source: translate.Source{URL: "https://x"}, Path: "image"}
	ref := translate.Block{Kind: translate.Image, Source: translate.Source{Ref: "file-1"}, Path: "image"}
	custom := translate.Block{Kind: translate.Call, ID: "c", Name: "patch", Custom: true, Input: "*** Begin\n", Path: "call"}
	wide := call("w")
	wide.Input = `{"n": 1.50, "big": 12345678901234567890}`
	for name, c := range map[string]struct {
		turns      []translate.Turn
		want, told string
	}{
		"merged, empty text left out": {[]translate.Turn{user(text("a"), text("")), user(text("b"))}, `[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]`, ""},
		"white space":                 {[]translate.Turn{user(text("a"), text(" \n"))}, `[{"role":"user","content":[{"type":"text","text":"a"}]}]`, "dropped content.blank_text"},
		"nothing at all":              {[]translate.Turn{user(text(""))}, "", "excluded content.no_turns"},
		"numbers keep their text": {[]translate.Turn{user(text("a")), reply(wide), user(result("w", text("r")))},
			`[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"tool_use","id":"w","name":"f","input":{"n": 1.50, "big": 12345678901234567890}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"w","content":[{"type":"text","text":"r"}],"cache_control":{"type":"ephemeral"}}]}]`, ""},
		"free text": {[]translate.Turn{user(text("a")), reply(custom), user(result("c"))},
			`[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"patch","input":{"input":"*** Begin\n"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","cache_control":{"type":"ephemeral"}}]}]`, ""},
		"an image":         {[]translate.Turn{user(png)}, `[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}]`, "dropped content.image_detail"},
		"an image's URL":   {[]translate.Turn{user(web)}, `[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://x"}}]}]`, ""},
		"an odd image":     {[]translate.Turn{user(tiff)}, "", "excluded content.image"},
		"an image's id":    {[]translate.Turn{user(ref)}, "", "excluded state"},
		"a PDF":            {[]translate.Turn{user(pdf)}, `[{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBE"},"title":"a.pdf"}]}]`, ""},
		"a text file":      {[]translate.Turn{user(note)}, `[{"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"hi"}}]}]`, ""},
		"an odd file":      {[]translate.Turn{user(zip)}, "", "excluded content.file"},
		"a reply's file":   {[]translate.Turn{user(text("a")), reply(pdf), user(text("b"))}, "", "excluded content.file_in_assistant_turn"},
		"a refusal":        {[]translate.Turn{user(text("a")), reply(translate.Block{Kind: translate.Refusal, Text: "no"}), user(text("b"))}, `[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"text","text":"no"}]},{"role":"user","content":[{"type":"text","text":"b","cache_control":{"type":"ephemeral"}}]}]`, "changed content.refusal"},
		"a failed result":  {[]translate.Turn{user(text("a")), reply(call("x")), user(translate.Block{Kind: translate.Result, ID: "x", Failed: true, Inner: []translate.Block{text("")}})}, `[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","is_error":true,"cache_control":{"type":"ephemeral"}}]}]`, ""},
		"a prefill":        {[]translate.Turn{user(text("a")), reply(text("b"))}, "", "excluded content.prefill"},
		"no result":        {[]translate.Turn{user(text("a")), reply(call("x")), user(text("b"))}, "", "excluded content.calls_and_results"},
		"no call":          {[]translate.Turn{user(text("a"), result("x"))}, "", "excluded content.calls_and_results"},
		"broken arguments": {[]translate.Turn{user(text("a")), reply(translate.Block{Kind: translate.Call, ID: "x", Name: "f", Input: `{"a":`}), user(result("x"))}, "", "excluded content.arguments"},
		"all exclusions":   {[]translate.Turn{user(zip, tiff), user(result("q"))}, "", "excluded content.calls_and_results; excluded content.file; excluded content.image"},
		"a hosted call":    {[]translate.Turn{user(text("a")), reply(translate.Block{Kind: translate.Hosted, Type: "web_search_call", Raw: translate.Raw(`{}`)}), user(text("b"))}, "", "excluded content.hosted_call"},
		"unknown content":  {[]translate.Turn{user(translate.Block{Kind: translate.Unknown, Type: "odd", Raw: translate.Raw(`{}`)})}, "", "excluded content.unknown"},
	} {
		check(t, name, from(c.turns...), translate.Defaults(translate.Messages), "messages", c.want, c.told)
	}
}

// TestFault22 : sound is refused and leaves no empty message.
func TestFault22Audio(t *testing.T) {
	check(t, "audio", from(user(translate.Block{Kind: translate.Audio})), able(), "messages", "", "excluded content.audio")
}

// TestFault20 : images travel as bytes or as addresses; a model without sight
// excludes.
func TestFault20Images(t *testing.T) {
	blind := able()
	blind.Images = false
	check(t, "blind", from(user(translate.Block{Kind: translate.Image, Source: translate.Source{Mime: "image/png", Data: "A"}})), blind, "messages", "", "excluded content.image")
}

// TestFault19 : an image in a result stays an image there.
func TestFault19ImageInAResult(t *testing.T) {
	png := translate.Block{Kind: translate.Image, Source: translate.Source{Mime: "image/png", Data: "AAAA"}}
	body, rep := encodeRequest(from(user(text("a")), reply(call("x")), user(result("x", text("see"), png))), "up", able())
	if want := `"content":[{"type":"text","text":"see"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]`; !strings.Contains(string(body), want) || notes(rep) != "" {
		t.Errorf("%s %s", body, notes(rep))
	}
}

// TestFault01 : reasoning alone leaves no empty message.
func TestFault01ReasoningAlone(t *testing.T) {
	think := translate.Block{Kind: translate.Think, Summary: []string{"hm"}}
	check(t, "unsigned", from(user(text("a")), reply(think), user(text("b"))), able(), "messages",
		`[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]`, "dropped content.reasoning")
}

// TestFault06 : reasoning that this format did not sign never becomes a thinking
// block; TestFault05 below keeps those that it did sign.
func TestFault06ForeignReasoning(t *testing.T) {
	for kind, told := range map[translate.SealKind]string{"": "dropped content.reasoning", translate.Encrypted: "dropped content.sealed_reasoning", translate.Detail: "dropped content.sealed_reasoning"} {
		think := translate.Block{Kind: translate.Think, Text: "hm"}
		if kind != "" {
			think.Seal = &translate.Seal{Kind: kind, Data: "xyz"}
		}
		body, rep := encodeRequest(from(user(text("a")), reply(think, text("b")), user(text("c"))), "up", able())
		if strings.Contains(string(body), "thinking") || strings.Contains(string(body), "xyz") || notes(rep) != told {
			t.Errorf("%s: %s %s", kind, body, notes(rep))
		}
	}
}

// TestFault05 : signed blocks stay as they were, one by one and in order.
func TestFault05ThinkingBlocksStay(t *testing.T) {
	signed := func(s string) translate.Block {
		return translate.Block{Kind: translate.Think, Text: s, Seal: &translate.Seal{Kind: translate.Signature, Data: "sig" + s}}
	}
	hidden := translate.Block{Kind: translate.Think, Seal: &translate.Seal{Kind: translate.Redacted, Data: "data"}}
	body, rep := encodeRequest(from(user(text("a")), reply(signed("1 "), hidden, signed("2")), reply(text("b")), user(text("c"))), "up", able())
	want := `{"type":"thinking","thinking":"1 ","signature":"sig1 "},{"type":"redacted_thinking","data":"data"},{"type":"thinking","thinking":"2","signature":"sig2"},{"type":"text","text":"b"}`
	if !strings.Contains(string(body), want) || notes(rep) != "" {
		t.Errorf("%s %s", body, notes(rep))
	}
}

// TestFault12 : ids that are illegal, or come again, are changed alike in the
// call and in its result.
func TestFault12IDs(t *testing.T) {
	body, rep := encodeRequest(from(user(text("a")), reply(call("a:1")), user(result("a:1")), reply(call("0")), user(result("0")), reply(call("0")), user(result("0"))), "up", able())
	var m struct {
		Messages []struct {
			Content []struct {
				ID  string `json:"id"`
				For string `json:"tool_use_id"`
			}
		}
	}
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i := 1; i < 7; i += 2 {
		id, to := m.Messages[i].Content[0].ID, m.Messages[i+1].Content[0].For
		if id != to || seen[id] || !translate.LegalCallID(translate.Messages, id) {
			t.Errorf("call %q, result %q", id, to)
		}
		seen[id] = true
	}
	if got := notes(rep); got != "changed content.call_id; changed content.call_id" {
		t.Error(got)
	}
}

// TestFault41 : system text in the middle keeps its place.
func TestFault41SystemInTheMiddle(t *testing.T) {
	r := func() *translate.Request {
		r := from(user(text("a")), reply(text("b")), translate.Turn{Role: translate.System, Path: "messages[2]", Blocks: []translate.Block{text("rule")}}, user(text("c")))
		r.System = []translate.Block{text("head")}
		return r
	}
	f := able()
	start := `[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"text","text":"b"}]},`
	end := `{"type":"text","text":"c","cache_control":{"type":"ephemeral"}}]}]`
	check(t, "a turn", r(), f, "messages", start+`{"role":"system","content":[{"type":"text","text":"rule"}]},{"role":"user","content":[`+end, "")
	f.MidSystem = false
	check(t, "a tag", r(), f, "messages", start+`{"role":"user","content":[{"type":"text","text":"<system-message>\nrule\n</system-message>"},`+end, "changed content.system_in_the_middle")
	check(t, "the head", r(), f, "system", `[{"type":"text","text":"head"}]`, "changed content.system_in_the_middle")
	late := from(user(text("a")), reply(call("x")), translate.Turn{Role: translate.System, Blocks: []translate.Block{text("rule")}}, user(result("x"), text("c")))
	body, _ := encodeRequest(late, "up", f)
	if !strings.Contains(string(body), `"tool_use_id":"x"},{"type":"text","text":"<system-message>`) {
		t.Errorf("the result is not first: %s", body)
	}
}

func TestTools(t *testing.T) {
	yes := true
	for name, c := range map[string]struct {
		tool       translate.Tool
		want, told string
	}{
		"no schema":     {function("f"), `[{"name":"f","input_schema":{"type":"object"}}]`, ""},
		"empty schema":  {translate.Tool{Name: "f", Schema: translate.Raw(`{}`)}, `[{"name":"f","input_schema":{"type":"object"}}]`, ""},
		"no type":       {translate.Tool{Name: "f", Schema: translate.Raw(`{"properties":{}}`)}, `[{"name":"f","input_schema":{"type":"object","properties":{}}}]`, "changed tools.schema"},
		"as it is":      {translate.Tool{Name: "f", Description: "d", Schema: translate.Raw(`{"type": "object", "x": 1.0}`), Strict: &yes}, `[{"name":"f","description":"d","input_schema":{"type": "object", "x": 1.0},"strict":true}]`, ""},
		"no object":     {translate.Tool{Name: "f", Schema: translate.Raw(`{"type":"string"}`)}, "", "excluded tools.schema"},
		"deferred":      {translate.Tool{Name: "f", Deferred: true}, `[{"name":"f","input_schema":{"type":"object"}}]`, "changed tools.deferred"},
		"a space":       {translate.Tool{Name: "f", Namespace: "ns"}, `[{"name":"ns__f","input_schema":{"type":"object"}}]`, "wrapped tools.namespace"},
		"hosted":        {translate.Tool{Kind: translate.HostedTool, Type: "web_search"}, ``, "dropped tools.hosted"},
		"unknown":       {translate.Tool{Kind: translate.UnknownTool, Type: "odd"}, ``, "dropped tools.unknown"},
		"a cache point": {translate.Tool{Name: "f", Cache: &translate.CachePoint{TTL: "12h"}}, `[{"name":"f","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral","ttl":"1h"}}]`, "changed cache.ttl"},
	} {
		r := from(user(text("a")))
		r.Tools = []translate.Tool{c.tool}
		check(t, name, r, able(), "tools", c.want, c.told)
	}
}

// TestFault14 : a free-text tool is wrapped, with its grammar.
func TestFault14CustomTool(t *testing.T) {
	r := from(user(text("a")))
	r.Tools = []translate.Tool{{Kind: translate.Custom, Name: "apply_patch", Description: "Patch.", Syntax: "lark", Grammar: "start: x", Path: "tools[0]"}}
	body, rep := encodeRequest(r, "up", able())
	if !strings.Contains(string(body), `"name":"apply_patch"`) || !strings.Contains(string(body), "start: x") || !strings.Contains(string(body), `"required":["input"]`) {
		t.Errorf("%s", body)
	}
	if got := rep.Header(translate.Responses, translate.Messages); got != "responses>messages; wrapped=tools[0]:apply_patch" {
		t.Error(got)
	}
}

// TestFault15 and 16: tools that no one knows here are dropped and told; one
// that is forced, or whose calls stand in the history, excludes.
func TestFault16HostedTools(t *testing.T) {
	shell := translate.Tool{Kind: translate.HostedTool, Type: "local_shell", Name: "shell", Path: "tools[0]"}
	r := from(user(text("a")))
	r.Tools = []translate.Tool{shell, function("f")}
	check(t, "offered", r, able(), "tools", `[{"name":"f","input_schema":{"type":"object"}}]`, "dropped tools.hosted")
	r.Choice = translate.Choice{Mode: translate.Named, Tool: translate.ToolName{Kind: translate.HostedTool, Type: "local_shell"}, Path: "tool_choice"}
	check(t, "forced", r, able(), "tools", "", "dropped tools.hosted; excluded tool_choice.hosted")
	used := call("x")
	used.Name = "shell"
	r = from(user(text("a")), reply(used), user(result("x")))
	r.Tools = []translate.Tool{shell}
	check(t, "called", r, able(), "tools", "", "excluded content.hosted_call")
	r = from(user(text("a")))
	r.Tools, r.Choice = []translate.Tool{shell}, translate.Choice{Mode: translate.Required, Path: "tool_choice"}
	check(t, "required and nothing left", r, able(), "tools", "", "dropped tools.hosted; excluded tool_choice.hosted")
}

// TestFault38 and 10: tool choices in the format's words.
func TestFault38ToolChoice(t *testing.T) {
	weak := able()
	weak.ForcedToolChoice = false
	named := translate.Choice{Mode: translate.Named, Tool: translate.ToolName{Name: "g"}}
	for name, c := range map[string]struct {
		choice     translate.Choice
		f          translate.Flags
		want, told string
	}{
		"unsaid":        {translate.Choice{}, able(), ``, ""},
		"auto":          {translate.Choice{Mode: translate.Auto}, able(), `{"type":"auto"}`, ""},
		"none":          {translate.Choice{Mode: translate.None}, able(), `{"type":"none"}`, ""},
		"required":      {translate.Choice{Mode: translate.Required}, able(), `{"type":"any"}`, ""},
		"named":         {named, able(), `{"type":"tool","name":"g"}`, ""},
		"weak":          {named, weak, ``, "excluded tool_choice.forced"},
		"custom":        {translate.Choice{Mode: translate.Named, Tool: translate.ToolName{Kind: translate.Custom, Name: "g"}}, able(), ``, "excluded tool_choice.forced"},
		"parallel off":  {translate.Choice{ParallelOff: true, ParallelPath: "parallel_tool_calls"}, able(), `{"type":"auto","disable_parallel_tool_use":true}`, ""},
		"one by force":  {translate.Choice{Mode: translate.Required, ParallelOff: true}, able(), `{"type":"any","disable_parallel_tool_use":true}`, ""},
		"none parallel": {translate.Choice{Mode: translate.None, ParallelOff: true}, able(), `{"type":"none"}`, ""},
	} {
		r := from(user(text("a")))
		r.Tools, r.Choice = []translate.Tool{function("f"), function("g")}, c.choice
		check(t, name, r, c.f, "tool_choice", c.want, c.told)
	}
	r := from(user(text("a")))
	r.Choice = translate.Choice{Mode: translate.Auto, Path: "tool_choice"}
	check(t, "without tools", r, able(), "tool_choice", "", "dropped tool_choice.without_tools")
	r = from(user(text("a")))
	r.Tools, r.Choice = []translate.Tool{function("f"), function("g")}, translate.Choice{Mode: translate.Auto, Allowed: []translate.ToolName{{Name: "g"}}}
	check(t, "among some", r, able(), "tools", `[{"name":"g","input_schema":{"type":"object"}}]`, "changed tool_choice.allowed")
}

// TestFault10 : one call at a time stands inside the choice.
func TestFault10ParallelOff(t *testing.T) {
	r := from(user(text("a")))
	r.Tools, r.Choice = []translate.Tool{function("f")}, translate.Choice{ParallelOff: true, ParallelPath: "parallel_tool_calls"}
	check(t, "off", r, able(), "tool_choice", `{"type":"auto","disable_parallel_tool_use":true}`, "")
	f := able()
	f.ParallelTools = false
	check(t, "cannot", r, f, "tool_choice", "", "excluded tool_choice.parallel_off")
}

// TestFault39 : a forced tool together with thinking is refused, and neither is
// quietly left out.
func TestFault39ForcedWithThinking(t *testing.T) {
	r := from(user(text("a")))
	r.Tools, r.Choice = []translate.Tool{function("f")}, translate.Choice{Mode: translate.Required, Path: "tool_choice"}
	r.Reasoning = translate.Reasoning{Effort: "high", EffortPath: "reasoning_effort"}
	check(t, "both", r, able(), "thinking", "", "excluded tool_choice.forced_with_thinking")
	r.Reasoning.Effort = "none"
	check(t, "thinking off", r, able(), "tool_choice", `{"type":"any"}`, "")
}

// TestFault40 : efforts and budgets that the model takes.
func TestFault40Effort(t *testing.T) {
	budget, always, none := able(), able(), able()
	budget.Thinking, always.Thinking, none.Thinking = "budget", "always", "none"
	effort := func(word string) translate.Reasoning {
		return translate.Reasoning{Effort: word, EffortPath: "reasoning_effort"}
	}
	for name, c := range map[string]struct {
		reasoning     translate.Reasoning
		f             translate.Flags
		thinking, out string
		told          string
		limit         int64
	}{
		"unsaid":             {translate.Reasoning{}, able(), "", "", "", 8000},
		"low":                {effort("low"), able(), `{"type":"adaptive"}`, `{"effort":"low"}`, "", 8000},
		"minimal":            {effort("minimal"), able(), `{"type":"adaptive"}`, `{"effort":"low"}`, "changed reasoning.effort", 8000},
		"xhigh":              {effort("xhigh"), able(), `{"type":"adaptive"}`, `{"effort":"high"}`, "changed reasoning.effort", 8000},
		"max":                {effort("max"), able(), `{"type":"adaptive"}`, `{"effort":"max"}`, "", 8000},
		"ultra":              {effort("ultra"), able(), `{"type":"adaptive"}`, `{"effort":"max"}`, "changed reasoning.effort", 8000},
		"none":               {effort("none"), able(), `{"type":"disabled"}`, "", "", 8000},
		"none, always":       {effort("none"), always, "", `{"effort":"low"}`, "changed reasoning.effort", 8000},
		"garbage":            {effort("hgih"), able(), "", "", "excluded reasoning.unknown_effort", 8000},
		"summary":            {translate.Reasoning{Effort: "low", Summary: "detailed"}, able(), `{"type":"adaptive","display":"summarized"}`, `{"effort":"low"}`, "", 8000},
		"summary alone":      {translate.Reasoning{Summary: "auto"}, able(), `{"type":"adaptive","display":"summarized"}`, "", "", 8000},
		"omitted":            {translate.Reasoning{Effort: "low", Summary: "omitted"}, able(), `{"type":"adaptive","display":"omitted"}`, `{"effort":"low"}`, "", 8000},
		"a budget's share":   {effort("medium"), budget, `{"type":"enabled","budget_tokens":3400}`, "", "", 8000},
		"a small share":      {effort("minimal"), budget, `{"type":"enabled","budget_tokens":1024}`, "", "", 8000},
		"no room":            {effort("high"), budget, "", "", "dropped reasoning.effort", 1000},
		"more than a budget": {effort("xhigh"), budget, `{"type":"enabled","budget_tokens":6400}`, "", "changed reasoning.effort", 8000},
		"no budget":          {effort("none"), budget, "", "", "", 8000},
		"a budget, adaptive": {translate.Reasoning{Budget: 3400, Path: "thinking"}, able(), `{"type":"adaptive"}`, `{"effort":"medium"}`, "changed reasoning.budget", 8000},
		"a budget too large": {translate.Reasoning{Budget: 9000, Path: "thinking"}, budget, `{"type":"enabled","budget_tokens":7999}`, "", "changed reasoning.budget", 8000},
		"a model without":    {effort("high"), none, "", "", "dropped reasoning.effort", 8000},
	} {
		r := from(user(text("a")))
		r.Reasoning, r.MaxOutput.Value = c.reasoning, c.limit
		check(t, name, r, c.f, "thinking", c.thinking, c.told)
		if c.out != "" {
			check(t, name, r, c.f, "output_config", c.out, c.told)
		}
	}
}

// TestFault23 : a schema is a field of the body, and what has none is refused.
func TestFault23Schema(t *testing.T) {
	yes := true
	r := from(user(text("a")))
	r.Answer = translate.AnswerFormat{Shape: translate.JSONSchema, Name: "n", Strict: &yes, Path: "response_format",
		Schema: translate.Raw(`{"type":"object","properties":{"type":{"type":"object"},"l":{"type":"array","items":{"type":"object","additionalProperties":true}}},"enum":[{"type":"object"}]}`)}
	want := `{"format":{"type":"json_schema","schema":{"type":"object","properties":{"type":{"type":"object","additionalProperties":false},"l":{"type":"array","items":{"type":"object","additionalProperties":true}}},"enum":[{"type":"object"}],"additionalProperties":false}}}`
	check(t, "a schema", r, able(), "output_config", want, "changed format.json_schema; dropped format.schema_name")
	_, rep := encodeRequest(r, "up", able())
	if got := rep.Header(translate.Chat, translate.Messages); got != "chat>messages" {
		t.Error(got)
	}
	f := able()
	f.Structured = "none"
	check(t, "a model without", r, f, "output_config", "", "excluded format.json_schema")
}

// TestFault24 : an answer that must be JSON is refused where nothing makes it so.
func TestFault24JSONObject(t *testing.T) {
	r := from(user(text("a")))
	r.Answer = translate.AnswerFormat{Shape: translate.JSONObject, Path: "response_format"}
	check(t, "json_object", r, able(), "output_config", "", "excluded format.json_object")
}

// TestFault36 : stop sequences travel; those that are refused are cut by the
// gateway.
func TestFault36Stops(t *testing.T) {
	r := from(user(text("a")))
	r.Stop = translate.Stops{Words: []string{"</block>", "\n"}, Path: "stop"}
	check(t, "stops", r, able(), "stop_sequences", `["</block>"]`, "emulated stop")
}

// TestFault42 : cache points travel, the last four; a client whose format caches
// by itself gets one.
func TestFault42CachePoints(t *testing.T) {
	point := func(ttl string) *translate.CachePoint { return &translate.CachePoint{TTL: ttl, Path: "p"} }
	r := from(user(text("a"), text("b"), text("c"), text("")), reply(text("d")), user(text("e")))
	r.System = []translate.Block{text("s")}
	r.System[0].Cache = point("1h")
	for i := range r.Turns[0].Blocks {
		r.Turns[0].Blocks[i].Cache = point("5m")
	}
	r.Turns[2].Blocks[0].Cache = point("30m")
	check(t, "the last four", r, able(), "system", `[{"type":"text","text":"s"}]`, "changed cache.ttl; dropped cache.too_many_points")
	body, _ := encodeRequest(r, "up", able())
	if n := strings.Count(string(body), "cache_control"); n != 4 {
		t.Errorf("%d points", n)
	}
	f := able()
	f.Cache = "none"
	check(t, "none", r, f, "system", `[{"type":"text","text":"s"}]`, strings.TrimSuffix(strings.Repeat("dropped cache.point; ", 5), "; "))
	one := from(user(text("a")))
	check(t, "a first turn", one, able(), "messages", `[{"role":"user","content":[{"type":"text","text":"a"}]}]`, "")
	one.Settings = []translate.Setting{{Feature: translate.FeatureCacheKey, Path: "prompt_cache_key", Value: translate.Raw(`"k"`)}}
	check(t, "a key", one, able(), "messages", `[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}]`, "dropped prompt_cache_key")
}

func TestSettings(t *testing.T) {
	fixed := able()
	fixed.FixedSampling = true
	for name, c := range map[string]struct {
		feature      translate.Feature
		value        string
		f            translate.Flags
		member, want string
		told         string
	}{
		"temperature": {translate.FeatureTemperature, "0.70", able(), "temperature", "0.70", ""},
		"too hot":     {translate.FeatureTemperature, "1.5", able(), "temperature", "1", "changed temperature"},
		"fixed":       {translate.FeatureTemperature, "1.5", fixed, "temperature", "", "dropped temperature"},
		"top_p":       {translate.FeatureTopP, "0.5", able(), "top_p", "0.5", ""},
		"top_k":       {translate.FeatureTopK, "3", able(), "top_k", "3", ""},
		"seed":        {translate.FeatureSeed, "3", able(), "seed", "", "dropped seed"},
		"penalty":     {translate.FeatureFrequency, "1", able(), "frequency_penalty", "", "dropped frequency_penalty"},
		"bias":        {translate.FeatureLogitBias, "{}", able(), "", "", "excluded logit_bias"},
		"logprobs":    {translate.FeatureLogprobs, "2", able(), "", "", "excluded logprobs"},
		"n":           {translate.FeatureChoices, "2", able(), "", "", "excluded n"},
		"tier":        {translate.FeatureTier, `"default"`, able(), "service_tier", `"standard_only"`, ""},
		"priority":    {translate.FeatureTier, `"priority"`, able(), "service_tier", `"auto"`, "changed service_tier"},
		"flex":        {translate.FeatureTier, `"flex"`, able(), "service_tier", "", "dropped service_tier"},
		"metadata":    {translate.FeatureMetadata, `{"a":"b"}`, able(), "metadata", "", "dropped metadata"},
		"user":        {translate.FeatureUser, `"u"`, able(), "metadata", `{"user_id":"` + translate.HashUser("u") + `"}`, "changed user"},
		"store":       {translate.FeatureStore, "true", able(), "store", "", "dropped store"},
		"state":       {translate.FeatureState, `"resp_1"`, able(), "", "", "excluded state"},
		"calls":       {translate.FeatureMaxCalls, "3", able(), "", "", "excluded max_tool_calls"},
		"truncation":  {translate.FeatureTruncation, `"auto"`, able(), "", "", "excluded truncation"},
		"verbosity":   {translate.FeatureVerbosity, `"low"`, able(), "verbosity", "", "dropped verbosity"},
		"unknown":     {translate.FeatureUnknown, "1", able(), "x", "", "dropped unknown_member"},
		"auto cache":  {translate.FeatureCacheKey, `"k"`, fixed, "prompt_cache_key", "", "dropped prompt_cache_key"},
	} {
		r := from(user(text("a")))
		r.Settings = []translate.Setting{{Feature: c.feature, Path: "x", Value: translate.Raw(c.value)}}
		check(t, name, r, c.f, c.member, c.want, c.told)
	}
	// While the model thinks, sampling is fixed.
	r := from(user(text("a")))
	r.Reasoning = translate.Reasoning{Effort: "low"}
	for _, f := range []translate.Feature{translate.FeatureTemperature, translate.FeatureTopP, translate.FeatureTopK} {
		r.Settings = append(r.Settings, translate.Setting{Feature: f, Path: string(f), Value: translate.Raw("0.2")})
	}
	check(t, "thinking", r, able(), "temperature", "", "dropped temperature; dropped top_k; dropped top_p")
}

func TestLimits(t *testing.T) {
	r := from(user(text("a")))
	check(t, "a limit", r, able(), "max_tokens", "8000", "")
	r.MaxOutput = translate.Number{}
	check(t, "none", r, able(), "max_tokens", "32000", "defaulted max_output")
	_, rep := encodeRequest(r, "up", able())
	if got := rep.Header(translate.Chat, translate.Messages); got != "chat>messages; defaulted=max_tokens:32000" {
		t.Error(got)
	}
}

// Each feature of the table is either written, or told: none is without effect.
func TestNoSettingIsSilent(t *testing.T) {
	written := map[translate.Feature]bool{translate.FeatureTemperature: true, translate.FeatureTopP: true, translate.FeatureTopK: true, translate.FeatureTier: true}
	for _, row := range translate.Table() {
		r := from(user(text("a")))
		r.Settings = []translate.Setting{{Feature: row.Feature, Path: "x", Value: translate.Raw(`"auto"`)}}
		_, rep := encodeRequest(r, "up", able())
		if len(rep.Notes)+len(rep.Excluded) == 0 && !written[row.Feature] {
			t.Errorf("%s left no trace", row.Feature)
		}
	}
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"model":"m","max_tokens":5,"system":"s","messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"tool_use","id":"a","name":"f","input":{"a":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"r"}]}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`))
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"document","source":{"type":"url","url":"data:a;base64,b"}}]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		first, err := decodeRequest(body)
		if err != nil {
			return
		}
		encoded, rep := encodeRequest(first, first.Model, able())
		if len(rep.Excluded) > 0 || len(rep.Notes) > 0 {
			return
		}
		second, err := decodeRequest(encoded)
		if err != nil {
			t.Fatalf("%v: %s", err, encoded)
		}
		again, rep := encodeRequest(second, second.Model, able())
		if len(rep.Excluded) > 0 || !bytes.Equal(encoded, again) {
			t.Errorf("%s became %s, then %s (%s)", body, encoded, again, notes(rep))
		}
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"type":"message","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"a","name":"f","input":{}}],"stop_reason":"tool_use","usage":{"output_tokens":1}}`))
	f.Add([]byte(`{"content":[{"type":"thinking","thinking":"a","signature":"b"},{"type":"server_tool_use","input":{}}],"stop_reason":"x"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		events, err := newAnswerDecoder().Whole(body)
		if err != nil {
			return
		}
		out, _ := encode(events)
		checkStream(t, out)
		want := say(t, events)
		got := say(t, decode(t, out))
		if want.Failed != got.Failed && want.Ended || want.Stop.Word != got.Stop.Word || len(want.Blocks) != len(got.Blocks) {
			t.Errorf("%s: %+v, then %+v", body, want, got)
		}
	})
}
