package chat

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/wire/translate"
)

func TestMessagesAreWrittenInOrder(t *testing.T) {
	image := translate.Block{Kind: translate.Image, Path: "i", Source: translate.Source{URL: "https://x/y.png"}}
	for name, c := range map[string]struct {
		r    *translate.Request
		f    translate.Flags
		want string
	}{
		"system text": {&translate.Request{System: []translate.Block{text("a", "one"), text("b", ""), text("c", "two")}, Turns: []translate.Turn{user(text("", "hi"))}}, usual(),
			`[{"role":"system","content":"one"},{"role":"system","content":"two"},{"role":"user","content":"hi"}]`},
		"developer": {&translate.Request{System: []translate.Block{text("a", "one")}, Turns: []translate.Turn{user(text("", "hi"))}}, with(func(f *translate.Flags) { f.DeveloperRole = true }),
			`[{"role":"developer","content":"one"},{"role":"user","content":"hi"}]`},
		"one system message": {&translate.Request{System: []translate.Block{text("a", "one"), text("c", "two")}, Turns: []translate.Turn{user(text("", "hi"))}}, with(func(f *translate.Flags) { f.SingleSystem = true }),
			`[{"role":"system","content":"one\n\ntwo"},{"role":"user","content":"hi"}]`},
		"several parts": {foreign(user(text("", "a"), image, text("", "b"))), usual(),
			`[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"https://x/y.png"}},{"type":"text","text":"b"}]}]`},
		"empty text": {foreign(user(text("", ""), text("", "b")), replied(text("", "")), user(text("", "c"))), usual(),
			`[{"role":"user","content":[{"type":"text","text":"b"},{"type":"text","text":"c"}]}]`},
		"a turn with calls": {foreign(user(text("", "go")), replied(text("input[1]", "I "), text("input[1]", "do")), replied(called("a", "f", `{"x": 1.0}`)), replied(called("b", "f", `{}`)), user(result("b", text("", "2"))), user(result("a", text("", "1"))), user(text("", "and?"))), usual(),
			`[{"role":"user","content":"go"},{"role":"assistant","content":"I do","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\": 1.0}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
				`{"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"b","content":"2"},{"role":"user","content":"and?"}]`},
		"calls alone": {foreign(user(text("", "go")), replied(called("a", "f", `{}`)), user(result("a"))), usual(),
			`[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":""}]`},
		"texts of several items": {foreign(user(text("", "go")), replied(text("input[1].content[0]", "plan")), replied(text("input[2].content[0]", "answer")), user(text("", "ok"))), usual(),
			`[{"role":"user","content":"go"},{"role":"assistant","content":"plan\n\nanswer"},{"role":"user","content":"ok"}]`},
		"a refusal": {foreign(user(text("", "go")), replied(translate.Block{Kind: translate.Refusal, Text: "no"}), user(text("", "ok"))), usual(),
			`[{"role":"user","content":"go"},{"role":"assistant","content":null,"refusal":"no"},{"role":"user","content":"ok"}]`},
		"a result of several texts": {foreign(user(text("", "go")), replied(called("a", "f", `{}`)), user(result("a", text("", "1"), text("", ""), text("", "2")))), usual(),
			`[{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"1\n2"}]`},
		"audio and a file": {foreign(user(translate.Block{Kind: translate.Audio, Source: translate.Source{Mime: "audio/wav", Data: "AA=="}}, translate.Block{Kind: translate.File, Name: "a.pdf", Source: translate.Source{Mime: "application/pdf", Data: "BB=="}})), usual(),
			`[{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AA==","format":"wav"}},{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,BB=="}}]}]`},
		"one image": {foreign(user(image)), usual(), `[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x/y.png"}}]}]`},
	} {
		body, _ := write(t, c.r, c.f)
		if diff := cmp.Diff(c.want, of(t, body, "messages")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// What is changed, dropped or moved is told; what is carried is not.
func TestNotes(t *testing.T) {
	yes := true
	hi := user(text("", "hi"))
	reply := func(blocks ...translate.Block) *translate.Request { return foreign(hi, replied(blocks...), hi) }
	set := func(f translate.Feature, path, value string) *translate.Request {
		return &translate.Request{From: translate.Messages, Turns: []translate.Turn{hi}, Settings: []translate.Setting{{Feature: f, Path: path, Value: translate.Raw(value)}}}
	}
	tool := func(t translate.Tool) *translate.Request {
		t.Path = "tools[0]"
		return &translate.Request{From: translate.Responses, Turns: []translate.Turn{hi}, Tools: []translate.Tool{t}}
	}
	think := func(text string, seal *translate.Seal) translate.Block {
		return translate.Block{Kind: translate.Think, Path: "think", Text: text, Seal: seal}
	}
	point := &translate.CachePoint{Path: "point", TTL: "1h"}
	back := with(func(f *translate.Flags) { f.ReasoningBack = true })
	marks := with(func(f *translate.Flags) { f.Cache = "breakpoints" })
	for name, c := range map[string]struct {
		r     *translate.Request
		f     translate.Flags
		notes string
		has   string // what is in the body
		not   string // what is not
	}{
		"temperature":             {set(translate.FeatureTemperature, "temperature", "0.70"), usual(), "", `"temperature":0.70`, ""},
		"fixed sampling":          {set(translate.FeatureTemperature, "temperature", "0.70"), with(func(f *translate.Flags) { f.FixedSampling = true }), "dropped temperature 0.70", "", "temperature"},
		"top_k":                   {set(translate.FeatureTopK, "top_k", "5"), usual(), "dropped top_k 5", "", "top_k"},
		"metadata":                {set(translate.FeatureMetadata, "metadata", `{"a":"b"}`), usual(), "dropped metadata", "", "metadata"},
		"the end user":            {set(translate.FeatureUser, "metadata.user_id", `"ann"`), usual(), "changed metadata.user_id", `"safety_identifier":"` + translate.HashUser("ann") + `"`, "ann\""},
		"a tier":                  {set(translate.FeatureTier, "service_tier", `"standard_only"`), usual(), "changed service_tier standard_only>default", `"service_tier":"default"`, ""},
		"the same tier":           {set(translate.FeatureTier, "service_tier", `"flex"`), usual(), "", `"service_tier":"flex"`, ""},
		"an odd tier":             {set(translate.FeatureTier, "service_tier", `"gold"`), usual(), "dropped service_tier gold", "", "gold"},
		"speed":                   {set(translate.FeatureSpeed, "speed", `"fast"`), usual(), "dropped speed fast", "", "speed"},
		"store":                   {set(translate.FeatureStore, "store", `true`), usual(), "dropped store true", "", "store"},
		"unknown":                 {set(translate.FeatureUnknown, "x", `1`), usual(), "dropped x", "", `"x"`},
		"a key of the cache":      {set(translate.FeatureCacheKey, "prompt_cache_key", `"k"`), usual(), "", `"prompt_cache_key":"k"`, ""},
		"logprobs":                {set(translate.FeatureLogprobs, "top_logprobs", `4`), usual(), "", `"logprobs":true,"top_logprobs":4`, ""},
		"logprobs alone":          {set(translate.FeatureLogprobs, "include", `0`), usual(), "", `"logprobs":true`, "top_logprobs"},
		"a speaker":               {set(translate.FeatureName, "messages[0].name", `"ann"`), usual(), "dropped messages[0].name", "", "ann"},
		"phase":                   {foreign(hi, translate.Turn{Role: translate.Assistant, Phase: "commentary", Path: "input[1]", Blocks: []translate.Block{text("", "x")}}, hi), usual(), "dropped input[1] commentary", "", "commentary"},
		"citations":               {reply(translate.Block{Path: "c", Text: "x", Citations: translate.Raw(`[1]`)}), usual(), "dropped c", "", "[1]"},
		"reasoning":               {reply(think("why", nil), text("", "x")), usual(), "dropped think", "", "why"},
		"reasoning back":          {reply(think("why", nil), text("", "x")), back, "", `"reasoning_content":"why","content":"x"`, ""},
		"a signature":             {reply(think("why", &translate.Seal{Kind: translate.Signature, Data: "S"}), text("", "x")), back, "dropped think", `"reasoning_content":"why"`, `"S"`},
		"sealed alone":            {reply(think("", &translate.Seal{Kind: translate.Encrypted, Data: "S"}), text("", "x")), back, "dropped think", "", `"S"`},
		"a failed result":         {foreign(hi, replied(called("a", "f", "{}")), user(translate.Block{Kind: translate.Result, ID: "a", Path: "r", Failed: true})), usual(), "dropped r", `"content":"Error"`, ""},
		"a strict tool":           {tool(translate.Tool{Name: "f", Strict: &yes}), usual(), "", `"strict":true`, ""},
		"no strict tools":         {tool(translate.Tool{Name: "f", Strict: &yes}), with(func(f *translate.Flags) { f.StrictTools = false }), "dropped tools[0].strict", "", "strict"},
		"a deferred tool":         {tool(translate.Tool{Name: "f", Deferred: true}), usual(), "changed tools[0] f", `"name":"f"`, "defer"},
		"a mark on a tool":        {tool(translate.Tool{Name: "f", Cache: point}), usual(), "dropped point", "", "cache"},
		"a mark, not taken":       {foreign(user(translate.Block{Text: "a", Cache: point}), hi), usual(), "dropped point 1h", "", "cache"},
		"a mark":                  {foreign(user(translate.Block{Text: "a", Cache: point})), marks, "changed point 1h>12h", `"content":[{"type":"text","text":"a","prompt_cache_breakpoint":{"mode":"explicit","ttl":"12h"}}]`, ""},
		"a mark on a reply":       {foreign(user(text("", "a")), replied(translate.Block{Text: "b", Cache: &translate.CachePoint{Path: "point"}}), hi), marks, "moved point", `{"type":"text","text":"a","prompt_cache_breakpoint":{"mode":"explicit"}}`, ""},
		"a mark on a result":      {foreign(user(text("", "a")), replied(called("x", "f", "{}")), user(result("x", translate.Block{Text: "r", Cache: &translate.CachePoint{Path: "point"}}))), marks, "moved point", `{"type":"text","text":"a","prompt_cache_breakpoint":{"mode":"explicit"}}`, ""},
		"a mark with no place":    {foreign(replied(translate.Block{Text: "b", Cache: &translate.CachePoint{Path: "point"}}), hi), marks, "dropped point", "", "breakpoint"},
		"a document in text":      {foreign(user(translate.Block{Kind: translate.File, Path: "d", Name: "n", Source: translate.Source{Text: "t"}})), usual(), "changed d", `"text":"n:\n\nt"`, ""},
		"a budget":                {&translate.Request{From: translate.Messages, Turns: []translate.Turn{hi}, MaxOutput: translate.Number{Value: 10000, Path: "max_tokens"}, Reasoning: translate.Reasoning{Budget: 8000, Path: "thinking"}}, usual(), "changed thinking 8000>high", `"max_completion_tokens":10000,"reasoning_effort":"high"`, ""},
		"adaptive":                {&translate.Request{From: translate.Messages, Turns: []translate.Turn{hi}, Reasoning: translate.Reasoning{Adaptive: true, Path: "thinking"}}, usual(), "dropped thinking adaptive", "", "reasoning"},
		"adaptive, no thinking":   {&translate.Request{From: translate.Messages, Turns: []translate.Turn{hi}, Reasoning: translate.Reasoning{Adaptive: true, Path: "thinking"}}, with(func(f *translate.Flags) { f.Efforts = []string{} }), "dropped thinking adaptive", "", "reasoning"},
		"no thinking":             {&translate.Request{From: translate.Messages, Turns: []translate.Turn{hi}, Reasoning: translate.Reasoning{Off: true, Path: "thinking"}}, with(func(f *translate.Flags) { f.Efforts = []string{} }), "", "", "reasoning"},
		"an image's detail":       {foreign(user(translate.Block{Kind: translate.Image, Path: "i", Detail: "original", Source: translate.Source{URL: "https://x"}})), usual(), "changed i original>high", `"detail":"high"`, ""},
		"a free-text call":        {foreign(hi, replied(translate.Block{Kind: translate.Call, Custom: true, ID: "a", Name: "old", Path: "c", Input: "x"}), user(result("a"))), usual(), "wrapped c old", `{\"input\":\"x\"}`, ""},
		"a summary":               {&translate.Request{From: translate.Responses, Turns: []translate.Turn{hi}, Reasoning: translate.Reasoning{Summary: "auto", Path: "reasoning.summary"}}, usual(), "dropped reasoning.summary auto", "", "summary"},
		"too many stop sequences": {&translate.Request{From: translate.Messages, Turns: []translate.Turn{hi}, Stop: translate.Stops{Path: "stop_sequences", Words: []string{"1", "2", "3", "4", "5"}}}, usual(), "emulated stop_sequences", `"stop":["1","2","3","4"]`, ""},
		"max_tokens":              {&translate.Request{Turns: []translate.Turn{hi}, MaxOutput: translate.Number{Value: 5, Path: "x"}}, with(func(f *translate.Flags) { f.MaxTokensOnly = true }), "", `"max_tokens":5`, "max_completion"},
		"system in the middle":    {foreign(hi, translate.Turn{Role: translate.System, Blocks: []translate.Block{text("", "s")}}, hi), usual(), "", `{"role":"user","content":"hi"},{"role":"system","content":"s"},{"role":"user","content":"hi"}`, ""},
		"system, one message":     {foreign(hi, translate.Turn{Role: translate.System, Path: "input[1]", Blocks: []translate.Block{text("", "s")}}, hi), with(func(f *translate.Flags) { f.SingleSystem = true }), "changed input[1] system_role", `\u003csystem-message`, `"role":"system"`},
		"a choice without tools":  {&translate.Request{Turns: []translate.Turn{hi}, Choice: translate.Choice{Mode: translate.Auto, Path: "tool_choice", ParallelOff: true}}, usual(), "dropped tool_choice auto", "", "parallel"},
	} {
		c.has = strings.ReplaceAll(c.has, `\u003c`, "<")
		body, notes := write(t, c.r, c.f)
		if all := strings.Join(notes, ","); all != c.notes {
			t.Errorf("%s: told %q, want %q", name, all, c.notes)
		}
		if !strings.Contains(body, c.has) || c.not != "" && strings.Contains(body, c.not) {
			t.Errorf("%s: %s", name, body)
		}
	}
}

// What the model must see and the answer must be is carried, or excludes.
func TestExclusions(t *testing.T) {
	hi := user(text("", "hi"))
	block := func(b translate.Block) *translate.Request { b.Path = "at"; return foreign(user(text("", "x"), b)) }
	set := func(f translate.Feature, value string) *translate.Request {
		return &translate.Request{From: translate.Responses, Turns: []translate.Turn{hi}, Settings: []translate.Setting{{Feature: f, Path: "at", Value: translate.Raw(value)}}}
	}
	none := translate.Flags{}
	for name, c := range map[string]struct {
		r    *translate.Request
		f    translate.Flags
		want string
	}{
		"unknown content":       {block(translate.Block{Kind: translate.Unknown}), usual(), "content.unknown at"},
		"a hosted call":         {foreign(hi, replied(translate.Block{Kind: translate.Hosted, Path: "at"}), hi), usual(), "content.hosted_call at"},
		"an image":              {block(translate.Block{Kind: translate.Image, Source: translate.Source{Data: "A"}}), none, "content.image at"},
		"an image's place":      {block(translate.Block{Kind: translate.Image, Source: translate.Source{URL: "https://x"}}), with(func(f *translate.Flags) { f.HTTPURLs = false }), "content.image_url at"},
		"an image's id":         {block(translate.Block{Kind: translate.Image, Source: translate.Source{Ref: "file_1"}}), usual(), "state at"},
		"a file":                {block(translate.Block{Kind: translate.File, Source: translate.Source{Data: "A"}}), none, "content.file at"},
		"a file's place":        {block(translate.Block{Kind: translate.File, Source: translate.Source{URL: "https://x"}}), usual(), "content.file_url at"},
		"a file of a reply":     {foreign(hi, replied(translate.Block{Kind: translate.File, Path: "at", Source: translate.Source{Data: "A"}}), hi), usual(), "content.file_in_assistant_turn at"},
		"prefill":               {foreign(hi, translate.Turn{Role: translate.Assistant, Path: "at", Blocks: []translate.Block{text("", "x")}}), usual(), "content.prefill at"},
		"a call without result": {foreign(hi, replied(called("a", "f", "{}")), hi), usual(), "content.calls_and_results input[a]"},
		"a result without call": {foreign(hi, user(result("a"))), usual(), "content.calls_and_results input[a!]"},
		"two results":           {foreign(hi, replied(called("a", "f", "{}")), user(result("a", text("", "1")), result("a", text("", "2")))), usual(), "content.calls_and_results input[a!]"},
		"n":                     {set(translate.FeatureChoices, "2"), none, "n at"},
		"logprobs":              {set(translate.FeatureLogprobs, "2"), none, "logprobs at"},
		"state":                 {set(translate.FeatureState, `"resp_1"`), usual(), "state at"},
		"truncation":            {set(translate.FeatureTruncation, `"auto"`), usual(), "truncation at"},
		"max tool calls":        {set(translate.FeatureMaxCalls, `3`), usual(), "max_tool_calls at"},
		"a region":              {set(translate.FeatureRegion, `"us"`), usual(), "inference_geo at"},
		"background":            {set(translate.FeatureBackground, `true`), usual(), "background at"},
		"fallbacks":             {set(translate.FeatureFallbacks, `["x"]`), usual(), "fallbacks at"},
		"an async tool":         {set(translate.FeatureToolAsync, `true`), usual(), "tools.async at"},
		"no tokens":             {set(translate.FeaturePrewarm, `0`), usual(), "max_output.zero at"},
		"two limits":            {set(translate.FeatureTwoLimits, `0`), usual(), "max_output.two_values at"},
		"an odd format":         {set(translate.FeatureOddFormat, `{}`), usual(), "format.unknown at"},
		"an odd effort":         {&translate.Request{Turns: []translate.Turn{hi}, Reasoning: translate.Reasoning{Effort: "banana", EffortPath: "at"}}, usual(), "reasoning.unknown_effort at"},
		"a JSON object":         {&translate.Request{Turns: []translate.Turn{hi}, Answer: translate.AnswerFormat{Shape: translate.JSONObject, Path: "at"}}, none, "format.json_object at"},
		"a schema":              {&translate.Request{Turns: []translate.Turn{hi}, Answer: translate.AnswerFormat{Shape: translate.JSONSchema, Path: "at", Schema: translate.Raw(`{}`)}}, with(func(f *translate.Flags) { f.Structured = "json" }), "format.json_schema at"},
		"no schema":             {&translate.Request{Turns: []translate.Turn{hi}, Answer: translate.AnswerFormat{Shape: translate.JSONSchema, Path: "at"}}, usual(), "format.json_schema at"},
		"a forced hosted tool":  {&translate.Request{Turns: []translate.Turn{hi}, Tools: []translate.Tool{{Kind: translate.HostedTool, Type: "web_search"}}, Choice: translate.Choice{Mode: translate.Named, Path: "at", Tool: translate.ToolName{Kind: translate.HostedTool, Type: "web_search"}}}, usual(), "tool_choice.hosted at"},
		"required of nothing":   {&translate.Request{Turns: []translate.Turn{hi}, Tools: []translate.Tool{{Kind: translate.HostedTool, Type: "web_search"}}, Choice: translate.Choice{Mode: translate.Required, Path: "at"}}, usual(), "tool_choice.hosted at"},
		"required of hosted":    {&translate.Request{Turns: []translate.Turn{hi}, Tools: []translate.Tool{{Name: "f"}, {Kind: translate.HostedTool, Type: "web_search"}}, Choice: translate.Choice{Mode: translate.Required, Path: "at", Allowed: []translate.ToolName{{Kind: translate.HostedTool, Type: "web_search"}}}}, usual(), "tool_choice.hosted at"},
		"one call at a time":    {&translate.Request{Turns: []translate.Turn{hi}, Tools: []translate.Tool{{Name: "f"}}, Choice: translate.Choice{ParallelOff: true, ParallelPath: "at"}}, with(func(f *translate.Flags) { f.ParallelTools = false }), "tool_choice.parallel_off at"},
		"tools while reasoning": {&translate.Request{Turns: []translate.Turn{hi}, Tools: []translate.Tool{{Name: "f"}}, Reasoning: translate.Reasoning{Effort: "high", EffortPath: "at"}}, with(func(f *translate.Flags) { f.ToolsOnChat = false }), "reasoning.effort at"},
		"colliding names":       {&translate.Request{Turns: []translate.Turn{hi}, Tools: []translate.Tool{{Name: "a__b", Path: "tools[0]"}, {Name: "b", Namespace: "a", Path: "tools[1]"}}}, usual(), "tools.name tools[1]"},
		"system images":         {&translate.Request{System: []translate.Block{{Kind: translate.Image, Path: "at"}}, Turns: []translate.Turn{hi}}, usual(), "content.unknown at"},
	} {
		if c.r.From == "" {
			c.r.From = translate.Responses
		}
		if got := strings.Join(excluded(t, c.r, c.f), ","); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestAllExclusionsAreListed(t *testing.T) {
	r := foreign(user(translate.Block{Kind: translate.Unknown, Path: "a"}, translate.Block{Kind: translate.Image, Path: "b", Source: translate.Source{Ref: "f"}}))
	r.Settings = []translate.Setting{{Feature: translate.FeatureState, Path: "c"}, {Feature: translate.FeatureBackground, Path: "d"}}
	r.Answer = translate.AnswerFormat{Shape: translate.JSONSchema, Path: "e"}
	got := excluded(t, r, usual())
	slices.Sort(got)
	if diff := cmp.Diff([]string{"background d", "content.unknown a", "format.json_schema e", "state b", "state c"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestToolsWhileReasoningWithoutEffort(t *testing.T) {
	r := foreign(user(text("", "hi")))
	r.Tools = []translate.Tool{{Name: "f"}}
	r.Reasoning = translate.Reasoning{Effort: "high", EffortPath: "reasoning.effort"}
	body, notes := write(t, r, with(func(f *translate.Flags) { f.ToolsOnChat = false; f.Efforts = []string{"none", "low", "high"} }))
	if of(t, body, "reasoning_effort") != `"none"` || !slices.Equal(notes, []string{"changed reasoning.effort high>none"}) {
		t.Errorf("%s %v", body, notes)
	}
}

func TestToolsAndChoices(t *testing.T) {
	no := false
	tools := []translate.Tool{
		{Name: "f", Description: "d", Schema: translate.Raw(`{"type":"object","x":1.0}`), Strict: &no, Path: "tools[0]"},
		{Name: "g", Namespace: "ns", Path: "tools[1]"},
		{Name: "patch", Kind: translate.Custom, Description: "p", Syntax: "lark", Grammar: "start: x", Path: "tools[2]"},
	}
	f := with(func(f *translate.Flags) { f.CustomTools = true })
	for name, c := range map[string]struct {
		choice translate.Choice
		f      translate.Flags
		want   string
	}{
		"auto":      {translate.Choice{Mode: translate.Auto}, f, `"auto"`},
		"none":      {translate.Choice{Mode: translate.None}, f, `"none"`},
		"required":  {translate.Choice{Mode: translate.Required}, f, `"required"`},
		"named":     {translate.Choice{Mode: translate.Named, Tool: translate.ToolName{Name: "f"}}, f, `{"type":"function","function":{"name":"f"}}`},
		"namespace": {translate.Choice{Mode: translate.Named, Tool: translate.ToolName{Name: "g", Namespace: "ns"}}, f, `{"type":"function","function":{"name":"ns__g"}}`},
		"custom":    {translate.Choice{Mode: translate.Named, Tool: translate.ToolName{Name: "patch", Kind: translate.Custom}}, f, `{"type":"custom","custom":{"name":"patch"}}`},
		"allowed":   {translate.Choice{Mode: translate.Required, Allowed: []translate.ToolName{{Name: "f"}, {Name: "patch", Kind: translate.Custom}}}, usual(), `{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"patch"}}]}}`},
		"unsaid":    {translate.Choice{}, f, ``},
	} {
		r := foreign(user(text("", "hi")))
		r.Tools, r.Choice = tools, c.choice
		r.Choice.Path = "tool_choice"
		body, _ := write(t, r, c.f)
		if got := of(t, body, "tool_choice"); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	r := foreign(user(text("", "hi")))
	r.Tools = tools
	body, _ := write(t, r, f)
	want := `[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","x":1.0},"strict":false}},{"type":"function","function":{"name":"ns__g"}},` +
		`{"type":"custom","custom":{"name":"patch","description":"p","format":{"type":"grammar","grammar":{"syntax":"lark","definition":"start: x"}}}}]`
	if diff := cmp.Diff(want, of(t, body, "tools")); diff != "" {
		t.Error(diff)
	}
}

func TestSchemas(t *testing.T) {
	yes := true
	schema := translate.Raw(`{"type":"object"}`)
	for _, c := range []struct {
		from translate.Format
		a    translate.AnswerFormat
		want string
	}{
		{translate.Responses, translate.AnswerFormat{Shape: translate.JSONSchema, Name: "n", Description: "d", Schema: schema, Strict: &yes}, `{"type":"json_schema","json_schema":{"name":"n","description":"d","schema":{"type":"object"},"strict":true}}`},
		{translate.Responses, translate.AnswerFormat{Shape: translate.JSONSchema, Name: "n", Schema: schema}, `{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object"}}}`},
		{translate.Messages, translate.AnswerFormat{Shape: translate.JSONSchema, Schema: schema}, `{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object"},"strict":true}}`},
		{translate.Responses, translate.AnswerFormat{Shape: translate.JSONObject}, `{"type":"json_object"}`},
		{translate.Responses, translate.AnswerFormat{}, ``},
	} {
		r := foreign(user(text("", "hi")))
		r.From, r.Answer = c.from, c.a
		body, _ := write(t, r, usual())
		if got := of(t, body, "response_format"); got != c.want {
			t.Errorf("%+v: %s", c.a, got)
		}
	}
}

func TestUsageIsAskedForInEveryStream(t *testing.T) {
	r := foreign(user(text("", "hi")))
	r.Stream = true
	body, _ := write(t, r, usual())
	if of(t, body, "stream_options") != `{"include_usage":true}` {
		t.Error(body)
	}
	r.Stream = false
	if body, _ = write(t, r, usual()); strings.Contains(body, "stream") {
		t.Error(body)
	}
}

// An encoding changes nothing in the request: another attempt encodes it again.
func TestEncodingLeavesTheRequest(t *testing.T) {
	const messages = `{"role":"system","content":[{"type":"text","text":"s","cache_control":{}}]},{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"","cache_control":{"ttl":"1h"}}]},
		{"role":"assistant","content":"x","reasoning_details":[{"type":"reasoning.text","text":"t","signature":"s"}],"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"r","cache_control":{}},{"type":"image_url","image_url":{"url":"https://x"}}]}`
	for _, f := range []translate.Flags{usual(), with(func(f *translate.Flags) { f.Cache = "breakpoints"; f.SingleSystem = true }), with(func(f *translate.Flags) { f.ReasoningBack = true; f.ReasoningField = "reasoning" })} {
		for _, from := range translate.Formats() {
			r, untouched := say(t, messages), say(t, messages)
			r.From, untouched.From = from, from
			one, _ := encodeRequest(r, "up", f)
			two, _ := encodeRequest(r, "up", f)
			if string(one) != string(two) {
				t.Errorf("two encodings differ: %s\n%s", one, two)
			}
			if diff := cmp.Diff(untouched, r); diff != "" {
				t.Error(diff)
			}
		}
	}
}

// Whatever setting a request has, it is in the body, told, or excludes.
func TestNoSettingIsLostUntold(t *testing.T) {
	hi := user(text("", "hi"))
	for _, row := range translate.Table() {
		for _, value := range []string{`"odd value"`, `{"a":1}`, `7`, `true`} {
			r := foreign(hi)
			r.Settings = []translate.Setting{{Feature: row.Feature, Path: "member", Value: translate.Raw(value)}}
			body, report := encodeRequest(r, "up", usual())
			if len(report.Notes)+len(report.Excluded) == 0 && !strings.Contains(string(body), value) {
				t.Errorf("%s of %s: %s", row.Feature, value, body)
			}
		}
	}
}

// Whatever a turn holds, it is in the body, told, or excludes.
func TestNoBlockIsLostUntold(t *testing.T) {
	const mark = "MARK"
	seal := &translate.Seal{Kind: translate.Redacted, Data: mark}
	blocks := []translate.Block{
		{Kind: translate.Text, Text: mark}, {Kind: translate.Refusal, Text: mark}, {Kind: translate.Image, Source: translate.Source{URL: mark}}, {Kind: translate.Image, Source: translate.Source{Data: mark}},
		{Kind: translate.File, Source: translate.Source{Text: mark}}, {Kind: translate.File, Source: translate.Source{Data: mark}}, {Kind: translate.File, Source: translate.Source{Ref: mark}}, {Kind: translate.File, Source: translate.Source{URL: mark}},
		{Kind: translate.Audio, Source: translate.Source{Data: mark}}, {Kind: translate.Audio, Source: translate.Source{URL: mark}}, {Kind: translate.Think, Text: mark}, {Kind: translate.Think, Summary: []string{mark}}, {Kind: translate.Think, Seal: seal},
		{Kind: translate.Call, ID: mark, Name: "f"}, {Kind: translate.Result, ID: mark}, {Kind: translate.Hosted, Raw: translate.Raw(mark)}, {Kind: translate.Unknown, Raw: translate.Raw(mark)},
		{Kind: translate.Image}, {Kind: translate.File}, {Kind: translate.Audio},
	}
	for _, role := range []translate.Role{translate.User, translate.Assistant, translate.System} {
		for _, b := range blocks {
			b.Path = "at"
			places := map[string]*translate.Request{
				"a turn":   foreign(user(text("", "a")), translate.Turn{Role: role, Blocks: []translate.Block{b}}, user(text("", "z"))),
				"a result": foreign(user(text("", "a")), replied(called("x", "f", "{}")), user(result("x", b))),
				"system":   {From: translate.Responses, System: []translate.Block{b}, Turns: []translate.Turn{user(text("", "z"))}},
			}
			for place, r := range places {
				body, report := encodeRequest(r, "up", usual())
				if len(report.Notes)+len(report.Excluded) == 0 && !strings.Contains(string(body), mark) {
					t.Errorf("%s of %s in %s: %s", b.Kind, role, place, body)
				}
			}
		}
	}
}
