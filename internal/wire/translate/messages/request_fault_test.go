package messages

import (
	"encoding/json"
	"strings"
	"testing"

	"rubicon/internal/wire/translate"
)

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

// TestFault15 : a tool of an unknown type never fails the request.
func TestFault15UnknownTool(t *testing.T) {
	r := from(user(text("a")))
	r.Tools = []translate.Tool{{Kind: translate.UnknownTool, Type: "new_thing", Path: "tools[0]"}, function("f")}
	check(t, "unknown", r, able(), "tools", `[{"name":"f","input_schema":{"type":"object"}}]`, "dropped tools.unknown")
	d := mustDecode(t, `{"tools":[{"type":"new_thing_20270101","name":"n"},{"x":1}]}`)
	if d.Tools[0].Kind != translate.HostedTool || d.Tools[1].Kind != translate.UnknownTool {
		t.Errorf("%+v", d.Tools)
	}
}

// TestFault17 : searches of another provider in the history are refused, not
// lost.
func TestFault17SearchHistory(t *testing.T) {
	r := mustDecode(t, `{"messages":[{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"s","content":[]}]}]}`)
	for _, b := range r.Turns[0].Blocks {
		if b.Kind != translate.Hosted || b.Origin != translate.Messages || len(b.Raw) == 0 {
			t.Errorf("%+v", b)
		}
	}
	r.From = translate.Responses // as another format's encoder sees it
	r.Turns[0].Blocks[0].Origin = translate.Responses
	_, rep := encodeRequest(r, "up", able())
	if got := notes(rep); !strings.Contains(got, "excluded content.hosted_call") {
		t.Error(got)
	}
}

// TestFault18 : tools that are loaded later are sent at once, and the history of
// their search stays readable.
func TestFault18DeferredTools(t *testing.T) {
	r := mustDecode(t, `{"tools":[{"name":"g","defer_loading":true}],"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"tool_reference","tool_name":"g"}]}]}]}`)
	if !r.Tools[0].Deferred || r.Turns[0].Blocks[0].Inner[0].Text != "g" {
		t.Errorf("%+v", r)
	}
	r = from(user(text("a")))
	r.Tools = []translate.Tool{{Name: "g", Deferred: true, Path: "tools[0]"}}
	check(t, "deferred", r, able(), "tools", `[{"name":"g","input_schema":{"type":"object"}}]`, "changed tools.deferred")
}

// TestFault35 : several choices are refused.
func TestFault35Choices(t *testing.T) {
	r := from(user(text("a")))
	r.Settings = []translate.Setting{{Feature: translate.FeatureChoices, Path: "n", Value: translate.Raw("2")}}
	check(t, "n", r, able(), "n", "", "excluded n")
}

// TestFault46 : state that lives elsewhere is refused, not ignored.
func TestFault46State(t *testing.T) {
	r := from(user(text("a")))
	r.Settings = []translate.Setting{{Feature: translate.FeatureState, Path: "previous_response_id", Value: translate.Raw(`"resp_1"`)}}
	check(t, "previous_response_id", r, able(), "messages", "", "excluded state")
}

// TestFault13 : a namespace stands in front of its tools' names, in the offer,
// the choice and the history alike.
func TestFault13Namespaces(t *testing.T) {
	used := call("x")
	used.Namespace, used.Name = "mcp", "read"
	r := from(user(text("a")), reply(used), user(result("x")))
	r.Tools = []translate.Tool{{Namespace: "mcp", Name: "read", Path: "tools[0].tools[0]"}, {Namespace: "mcp", Name: "write", Path: "tools[0].tools[1]"}}
	r.Choice = translate.Choice{Mode: translate.Named, Tool: translate.ToolName{Namespace: "mcp", Name: "read"}}
	body, rep := encodeRequest(r, "up", able())
	if n := strings.Count(string(body), `"name":"mcp__read"`); n != 3 || notes(rep) != "wrapped tools.namespace" {
		t.Errorf("%s %s", body, notes(rep))
	}
}

// TestFault02 : under a budget, results of calls without signed thinking would
// be refused, so that the model does not think there; with it, it does.
func TestFault02ResultsWithoutThinking(t *testing.T) {
	f := able()
	f.Thinking = "budget"
	signed := translate.Block{Kind: translate.Think, Text: "t", Seal: &translate.Seal{Kind: translate.Signature, Data: "s"}}
	for name, c := range map[string]struct {
		turns      []translate.Turn
		f          translate.Flags
		want, told string
	}{
		"unsigned":        {[]translate.Turn{user(text("a")), reply(call("x")), user(result("x"))}, f, "", "dropped reasoning.effort"},
		"signed":          {[]translate.Turn{user(text("a")), reply(signed, call("x")), user(result("x"))}, f, `{"type":"enabled","budget_tokens":6400}`, ""},
		"a new question":  {[]translate.Turn{user(text("a")), reply(call("x")), user(result("x")), reply(text("b")), user(text("c"))}, f, `{"type":"enabled","budget_tokens":6400}`, ""},
		"adaptive models": {[]translate.Turn{user(text("a")), reply(call("x")), user(result("x"))}, able(), `{"type":"adaptive"}`, ""},
	} {
		r := from(c.turns...)
		r.Reasoning = translate.Reasoning{Effort: "high", EffortPath: "reasoning_effort"}
		check(t, name, r, c.f, "thinking", c.want, c.told)
	}
}
