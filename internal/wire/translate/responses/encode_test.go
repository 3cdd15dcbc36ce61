package responses

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// able are flags of an upstream that takes all.
func able() translate.Flags {
	f := translate.Defaults(translate.Responses)
	f.Cache, f.Prefill, f.Efforts = "breakpoints", true, []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
	return f
}

// said is what a report tells, in short and sorted.
func reported(rep translate.Report) string {
	var all []string
	for _, n := range rep.Notes {
		if !n.Quiet {
			all = append(all, string(n.Verb)+" "+string(n.Feature))
		}
	}
	for _, x := range rep.Excluded {
		all = append(all, "excluded "+string(x.Feature))
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "; ")
}

func from(f translate.Format, turns ...translate.Turn) *translate.Request {
	for i := range turns {
		for j := range turns[i].Blocks {
			turns[i].Blocks[j].Path = fmt.Sprintf("messages[%d].content[%d]", i, j)
		}
	}
	return &translate.Request{From: f, Turns: turns}
}

func turn(role translate.Role, blocks ...translate.Block) translate.Turn {
	return translate.Turn{Role: role, Blocks: blocks}
}

func words(s string) translate.Block { return translate.Block{Kind: translate.Text, Text: s} }

func result(id string, inner ...translate.Block) translate.Block {
	return translate.Block{Kind: translate.Result, ID: id, Inner: inner}
}

func callOf(id, name, input string) translate.Block {
	return translate.Block{Kind: translate.Call, ID: id, Name: name, Input: input}
}

// checkMember checks one member of an encoded body, and what was told.
func checkMember(t *testing.T, r *translate.Request, f translate.Flags, member, want, told string) {
	t.Helper()
	body, rep := encodeRequest(r, "private", f)
	if got := reported(rep); got != told {
		t.Errorf("told %q, want %q", got, told)
	}
	if len(rep.Excluded) > 0 {
		if body != nil {
			t.Error("an excluded request has a body")
		}
		return
	}
	if !json.Valid(body) {
		t.Fatalf("no JSON: %s", body)
	}
	if got := string(jsonscan.Get(body, member)); got != want {
		t.Errorf("%s is\n%s\nwant\n%s", member, got, want)
	}
	if again, _ := encodeRequest(r, "private", f); !bytes.Equal(body, again) {
		t.Errorf("the second time it is %s", again)
	}
}

func TestEncodeInput(t *testing.T) {
	msg := func(role, typ, text string) string {
		return `{"type":"message","role":"` + role + `","content":[{"type":"` + typ + `","text":"` + text + `"}]}`
	}
	hi := msg("user", "input_text", "hi")
	image := translate.Block{Kind: translate.Image, Source: translate.Source{Mime: "image/png", Data: "AA"}}
	noImages := able()
	noImages.ResultImages = false
	system := able()
	system.DeveloperRole = false
	long := strings.Repeat("x", 70)
	custom := callOf("c", "p", "*** Begin")
	custom.Custom = true
	sealed := func(k translate.SealKind) translate.Block {
		return translate.Block{Kind: translate.Think, Text: "why", Seal: &translate.Seal{Kind: k, Data: "gA"}}
	}
	back := able()
	back.ReasoningBack = true
	for name, c := range map[string]struct {
		r          *translate.Request
		f          translate.Flags
		want, told string
	}{
		"a message":   {from(translate.Chat, turn(translate.User, words("hi"), words(""))), able(), "[" + hi + "]", ""},
		"system text": {&translate.Request{From: translate.Messages, System: []translate.Block{words("a"), words("b")}, Turns: []translate.Turn{turn(translate.User, words("hi"))}}, able(), `[{"type":"message","role":"developer","content":[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]},` + hi + "]", ""},
		"the role":    {&translate.Request{From: translate.Messages, System: []translate.Block{words("a")}, Turns: []translate.Turn{turn(translate.User, words("hi"))}}, system, "[" + msg("system", "input_text", "a") + "," + hi + "]", ""},
		"calls": {from(translate.Chat, turn(translate.Assistant, words("so"), callOf("1", "f", `{"a": 1.50}`), callOf("2", "g", "{}")), turn(translate.User, words("hi"), result("2", words("two"))), turn(translate.User, result("1"))), able(),
			`[` + msg("assistant", "output_text", "so") + `,{"type":"function_call","call_id":"1","name":"f","arguments":"{\"a\": 1.50}"},{"type":"function_call","call_id":"2","name":"g","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":""},{"type":"function_call_output","call_id":"2","output":"two"},` + hi + `]`, ""},
		"free text": {from(translate.Chat, turn(translate.Assistant, custom), turn(translate.User, result("c", words("ok")))), able(),
			`[{"type":"custom_tool_call","call_id":"c","name":"p","input":"*** Begin"},{"type":"custom_tool_call_output","call_id":"c","output":"ok"}]`, ""},
		"an id too long": {from(translate.Messages, turn(translate.Assistant, callOf(long, "f", "{}")), turn(translate.User, result(long))), able(),
			`[{"type":"function_call","call_id":"` + translate.CallID(translate.Responses, long) + `","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"` + translate.CallID(translate.Responses, long) + `","output":""}]`, "changed content.call_id"},
		"an image in a result": {from(translate.Messages, turn(translate.Assistant, callOf("1", "f", "{}")), turn(translate.User, result("1", words("see"), image))), able(),
			`[{"type":"function_call","call_id":"1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":[{"type":"input_text","text":"see"},{"type":"input_image","image_url":"data:image/png;base64,AA"}]}]`, ""},
		"an image in a result, moved": {from(translate.Messages, turn(translate.Assistant, callOf("1", "f", "{}")), turn(translate.User, result("1", words("see"), image))), noImages,
			`[{"type":"function_call","call_id":"1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":"see"},{"type":"message","role":"user","content":[{"type":"input_text","text":"From the result of the call 1:"},{"type":"input_image","image_url":"data:image/png;base64,AA"}]}]`, "moved content.result_image"},
		"an error": {from(translate.Messages, turn(translate.Assistant, callOf("1", "f", "{}")), turn(translate.User, translate.Block{Kind: translate.Result, ID: "1", Failed: true})), able(),
			`[{"type":"function_call","call_id":"1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":"Error"}]`, "dropped content.result_error"},
		"its own seal":         {from(translate.Messages, turn(translate.Assistant, sealed(translate.Encrypted), words("x")), turn(translate.User, words("hi"))), able(), `[{"type":"reasoning","summary":[{"type":"summary_text","text":"why"}],"encrypted_content":"gA"},` + msg("assistant", "output_text", "x") + `,` + hi + `]`, ""},
		"another's seal":       {from(translate.Messages, turn(translate.Assistant, sealed(translate.Signature), words("x")), turn(translate.User, words("hi"))), able(), `[` + msg("assistant", "output_text", "x") + `,` + hi + `]`, "dropped content.reasoning; dropped content.sealed_reasoning"},
		"reasoning alone":      {from(translate.Chat, turn(translate.Assistant, translate.Block{Kind: translate.Think, Text: "why"}), turn(translate.User, words("hi"))), able(), `[` + hi + `]`, "dropped content.reasoning"},
		"reasoning wanted":     {from(translate.Chat, turn(translate.Assistant, translate.Block{Kind: translate.Think, Text: "why"}, words("x")), turn(translate.User, words("hi"))), back, `[{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"why"}]},` + msg("assistant", "output_text", "x") + `,` + hi + `]`, ""},
		"a refusal":            {from(translate.Chat, turn(translate.Assistant, translate.Block{Kind: translate.Refusal, Text: "no"}), turn(translate.User, words("hi"))), able(), `[{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"no"}]},` + hi + `]`, ""},
		"a text document":      {from(translate.Messages, turn(translate.User, translate.Block{Kind: translate.File, Name: "n", Source: translate.Source{Text: "t"}})), able(), `[` + msg("user", "input_text", `n:\n\nt`) + `]`, "changed content.file"},
		"a PDF without a name": {from(translate.Messages, turn(translate.User, translate.Block{Kind: translate.File, Source: translate.Source{Mime: "application/pdf", Data: "AA"}})), able(), `[{"type":"message","role":"user","content":[{"type":"input_file","filename":"file.pdf","file_data":"data:application/pdf;base64,AA"}]}]`, ""},
		"a file's id":          {from(translate.Messages, turn(translate.User, translate.Block{Kind: translate.File, Source: translate.Source{Ref: "x"}})), able(), "", "excluded state"},
		"sound":                {from(translate.Chat, turn(translate.User, translate.Block{Kind: translate.Audio, Source: translate.Source{Mime: "audio/wav", Data: "AA"}})), able(), "", "excluded content.audio"},
		"an image of a reply":  {from(translate.Chat, turn(translate.Assistant, image), turn(translate.User, words("hi"))), able(), "", "excluded content.file_in_assistant_turn"},
		"a hosted call":        {from(translate.Messages, turn(translate.Assistant, translate.Block{Kind: translate.Hosted, Type: "server_tool_use", Origin: translate.Messages, Raw: translate.Raw("{}")}), turn(translate.User, words("hi"))), able(), "", "excluded content.hosted_call"},
		"the unknown":          {from(translate.Messages, turn(translate.User, translate.Block{Kind: translate.Unknown, Raw: translate.Raw("{}")})), able(), "", "excluded content.unknown"},
		"no result, no call":   {from(translate.Chat, turn(translate.Assistant, callOf("1", "f", "{}")), turn(translate.User, result("2"))), able(), "", "excluded content.calls_and_results"},
	} {
		t.Run(name, func(t *testing.T) { checkMember(t, c.r, c.f, "input", c.want, c.told) })
	}
}

func TestFault41SystemInPlace(t *testing.T) {
	r := from(translate.Messages, turn(translate.User, words("a")), turn(translate.System, words("now")), turn(translate.User, words("b")))
	checkMember(t, r, able(), "input", `[{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]},{"type":"message","role":"developer","content":[{"type":"input_text","text":"now"}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"b"}]}]`, "")
}

func TestFault42CachePoints(t *testing.T) {
	marked := func(b translate.Block, ttl string) translate.Block {
		b.Cache = &translate.CachePoint{TTL: ttl}
		return b
	}
	history := func() *translate.Request {
		return from(translate.Messages, turn(translate.User, words("a")), turn(translate.Assistant, marked(callOf("1", "f", "{}"), "1h")), turn(translate.User, result("1"), marked(words("b"), "")))
	}
	checkMember(t, history(), able(), "input", `[{"type":"message","role":"user","content":[{"type":"input_text","text":"a","prompt_cache_breakpoint":{"mode":"explicit","ttl":"12h"}}]},{"type":"function_call","call_id":"1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":""},{"type":"message","role":"user","content":[{"type":"input_text","text":"b","prompt_cache_breakpoint":{"mode":"explicit"}}]}]`, "changed cache.ttl; moved cache.point")
	_, rep := encodeRequest(history(), "m", translate.Defaults(translate.Responses))
	if got := reported(rep); got != "dropped cache.point" {
		t.Error(got)
	}
}

func TestEncodeTools(t *testing.T) {
	yes := true
	for name, c := range map[string]struct {
		tools      []translate.Tool
		want, told string
	}{
		"not strict unless said": {[]translate.Tool{{Name: "f", Description: "d", Schema: translate.Raw(`{"x": 1.0}`)}}, `[{"type":"function","name":"f","description":"d","parameters":{"x": 1.0},"strict":false}]`, ""},
		"strict":                 {[]translate.Tool{{Name: "f", Strict: &yes}}, `[{"type":"function","name":"f","parameters":{"type":"object","properties":{}},"strict":true}]`, ""},
		"free text":              {[]translate.Tool{{Kind: translate.Custom, Name: "p", Syntax: "lark", Grammar: "x"}}, `[{"type":"custom","name":"p","format":{"type":"grammar","syntax":"lark","definition":"x"}}]`, ""},
		"a long name":            {[]translate.Tool{{Name: longName}}, `[{"type":"function","name":"` + (&translate.Names{}).Wire("", "") + `"`, "changed tools.name"},
		"deferred":               {[]translate.Tool{{Name: "f", Deferred: true, Strict: &yes, Schema: translate.Raw("{}")}}, `[{"type":"function","name":"f","parameters":{},"strict":true}]`, "changed tools.deferred"},
		"hosted and unknown":     {[]translate.Tool{{Kind: translate.HostedTool, Type: "bash_20250124", Name: "bash"}, {Kind: translate.UnknownTool, Type: "odd"}}, ``, "dropped tools.hosted; dropped tools.unknown"},
		"a cache point":          {[]translate.Tool{{Name: "f", Strict: &yes, Cache: &translate.CachePoint{}}}, `[{"type":"function","name":"f","parameters":{"type":"object","properties":{}},"strict":true}]`, "dropped tools.cache_point"},
		"the same name twice":    {[]translate.Tool{{Name: "f", Namespace: "a", Strict: &yes}, {Name: "f", Namespace: "b", Strict: &yes}}, `[{"type":"namespace","name":"a","description":"","tools":[{"type":"function","name":"f","parameters":{"type":"object","properties":{}},"strict":true}]},{"type":"namespace","name":"b","description":"","tools":[{"type":"function","name":"f","parameters":{"type":"object","properties":{}},"strict":true}]}]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := from(translate.Chat, turn(translate.User, words("hi")))
			r.Tools = c.tools
			if name == "a long name" {
				c.want = `[{"type":"function","name":"` + translate.NamesOf(r, translate.Responses, able()).Wire("", longName) + `","parameters":{"type":"object","properties":{}},"strict":false}]`
			}
			checkMember(t, r, able(), "tools", c.want, c.told)
		})
	}
}

func TestFault38ToolChoice(t *testing.T) {
	tools := []translate.Tool{{Name: "f", Path: "tools[0]"}, {Kind: translate.Custom, Name: "p", Path: "tools[1]"}, {Kind: translate.HostedTool, Type: "web", Path: "tools[2]"}}
	for name, c := range map[string]struct {
		choice     translate.Choice
		want, told string
	}{
		"auto":          {translate.Choice{Mode: translate.Auto}, `"auto"`, "dropped tools.hosted"},
		"none":          {translate.Choice{Mode: translate.None}, `"none"`, "dropped tools.hosted"},
		"required":      {translate.Choice{Mode: translate.Required}, `"required"`, "dropped tools.hosted"},
		"a function":    {translate.Choice{Mode: translate.Named, Tool: translate.ToolName{Name: "f"}}, `{"type":"function","name":"f"}`, "dropped tools.hosted"},
		"free text":     {translate.Choice{Mode: translate.Named, Tool: translate.ToolName{Kind: translate.Custom, Name: "p"}}, `{"type":"custom","name":"p"}`, "dropped tools.hosted"},
		"a hosted tool": {translate.Choice{Mode: translate.Named, Tool: translate.ToolName{Kind: translate.HostedTool, Type: "web"}}, "", "dropped tools.hosted; excluded tool_choice.hosted"},
		"some":          {translate.Choice{Mode: translate.Auto, Allowed: []translate.ToolName{{Name: "f"}, {Kind: translate.HostedTool, Type: "web"}}}, `{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"}]}`, "dropped tools.hosted"},
	} {
		t.Run(name, func(t *testing.T) {
			r := from(translate.Messages, turn(translate.User, words("hi")))
			r.Tools, r.Choice = tools, c.choice
			checkMember(t, r, able(), "tool_choice", c.want, c.told)
		})
	}
	r := from(translate.Messages, turn(translate.User, words("hi")))
	r.Choice = translate.Choice{Mode: translate.Auto}
	checkMember(t, r, able(), "tool_choice", "", "dropped tool_choice.without_tools")
	r.Tools, r.Choice = tools[:1], translate.Choice{ParallelOff: true}
	checkMember(t, r, able(), "parallel_tool_calls", "false", "")
}

func TestEncodeSettings(t *testing.T) {
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
		"fixed":       {translate.FeatureTemperature, "0.70", fixed, "temperature", "", "dropped temperature"},
		"top_k":       {translate.FeatureTopK, "3", able(), "top_k", "", "dropped top_k"},
		"seed":        {translate.FeatureSeed, "3", able(), "seed", "", "dropped seed"},
		"penalty":     {translate.FeatureFrequency, "1", able(), "frequency_penalty", "", "dropped frequency_penalty"},
		"bias":        {translate.FeatureLogitBias, "{}", able(), "", "", "excluded logit_bias"},
		"logprobs":    {translate.FeatureLogprobs, "2", able(), "top_logprobs", "2", ""},
		"n":           {translate.FeatureChoices, "2", able(), "", "", "excluded n"},
		"tier":        {translate.FeatureTier, `"flex"`, able(), "service_tier", `"flex"`, ""},
		"standard":    {translate.FeatureTier, `"standard_only"`, able(), "service_tier", `"default"`, "changed service_tier"},
		"odd tier":    {translate.FeatureTier, `"gold"`, able(), "service_tier", "", "dropped service_tier"},
		"metadata":    {translate.FeatureMetadata, `{"a":"b"}`, able(), "metadata", `{"a":"b"}`, ""},
		"user":        {translate.FeatureUser, `"u"`, able(), "safety_identifier", `"` + translate.HashUser("u") + `"`, "changed user"},
		"affinity":    {translate.FeatureUser, `"u"`, able(), "prompt_cache_key", `"` + translate.HashUser("u") + `"`, "changed user"},
		"store":       {translate.FeatureStore, "true", able(), "store", "false", "dropped store"},
		"state":       {translate.FeatureState, `"x"`, able(), "", "", "excluded state"},
		"verbosity":   {translate.FeatureVerbosity, `"low"`, able(), "text", `{"verbosity":"low"}`, ""},
		"prediction":  {translate.FeaturePrediction, `{}`, able(), "prediction", "", "dropped prediction"},
		"key":         {translate.FeatureCacheKey, `"k"`, able(), "prompt_cache_key", `"k"`, ""},
		"prewarm":     {translate.FeaturePrewarm, "0", able(), "", "", "excluded max_output.zero"},
		"region":      {translate.FeatureRegion, `"us"`, able(), "", "", "excluded inference_geo"},
		"unknown":     {translate.FeatureUnknown, "1", able(), "x", "", "dropped unknown_member"},
	} {
		t.Run(name, func(t *testing.T) {
			r := from(translate.Chat, turn(translate.User, words("hi")))
			path := "x"
			if c.feature == translate.FeatureMetadata {
				path = "metadata"
			}
			r.Settings = []translate.Setting{{Feature: c.feature, Path: path, Value: translate.Raw(c.value)}}
			checkMember(t, r, c.f, c.member, c.want, c.told)
		})
	}
	r := from(translate.Chat, turn(translate.User, words("hi")))
	checkMember(t, r, able(), "store", "false", "")
	r.MaxOutput = translate.Number{Value: 3, Path: "max_tokens"}
	checkMember(t, r, able(), "max_output_tokens", "16", "changed max_output")
	r.MaxOutput.Value = 300
	checkMember(t, r, able(), "max_output_tokens", "300", "")
}

func TestFault36StopsAreEmulated(t *testing.T) {
	r := from(translate.Messages, turn(translate.User, words("hi")))
	r.Stop = translate.Stops{Words: []string{"</block>"}, Path: "stop_sequences"}
	checkMember(t, r, able(), "stop", "", "emulated stop")
}

func TestFault40Efforts(t *testing.T) {
	mute := able()
	mute.Efforts = []string{}
	for name, c := range map[string]struct {
		reasoning            translate.Reasoning
		f                    translate.Flags
		want, includes, told string
	}{
		"as it is":      {translate.Reasoning{Effort: "xhigh"}, able(), `{"effort":"xhigh"}`, "", ""},
		"the next":      {translate.Reasoning{Effort: "max"}, translate.Defaults(translate.Responses), `{"effort":"xhigh"}`, "", "changed reasoning.effort"},
		"a budget":      {translate.Reasoning{Budget: 1024}, able(), `{"effort":"minimal"}`, "", "changed reasoning.budget"},
		"off":           {translate.Reasoning{Off: true}, able(), `{"effort":"none"}`, "", ""},
		"garbage":       {translate.Reasoning{Effort: "banana"}, able(), "", "", "excluded reasoning.unknown_effort"},
		"summary":       {translate.Reasoning{Effort: "low", Summary: "auto"}, able(), `{"effort":"low","summary":"auto"}`, "", ""},
		"no summary":    {translate.Reasoning{Effort: "low", Summary: "omitted"}, able(), `{"effort":"low"}`, "", ""},
		"odd summary":   {translate.Reasoning{Effort: "low", Summary: "sung"}, able(), `{"effort":"low"}`, "", "dropped reasoning.summary"},
		"seals":         {translate.Reasoning{Effort: "low", KeepSeals: true}, able(), `{"effort":"low"}`, `["reasoning.encrypted_content"]`, ""},
		"seals, none":   {translate.Reasoning{Effort: "none", KeepSeals: true}, able(), `{"effort":"none"}`, "", ""},
		"seals, unsaid": {translate.Reasoning{KeepSeals: true}, able(), "", "", ""},
		"no thinker":    {translate.Reasoning{Effort: "low", Summary: "auto", KeepSeals: true}, mute, "", "", "dropped reasoning.effort; dropped reasoning.summary"},
		"adaptive":      {translate.Reasoning{Adaptive: true, KeepSeals: true}, able(), "", `["reasoning.encrypted_content"]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := from(translate.Messages, turn(translate.User, words("hi")))
			r.Reasoning = c.reasoning
			checkMember(t, r, c.f, "reasoning", c.want, c.told)
			checkMember(t, r, c.f, "include", c.includes, c.told)
		})
	}
}

func TestEncodeFormat(t *testing.T) {
	no := false
	none := able()
	none.Structured = "none"
	schema := translate.Raw(`{"type": "object"}`)
	for name, c := range map[string]struct {
		from       translate.Format
		answer     translate.AnswerFormat
		f          translate.Flags
		want, told string
	}{
		"object":           {translate.Chat, translate.AnswerFormat{Shape: translate.JSONObject}, able(), `{"format":{"type":"json_object"}}`, ""},
		"no objects":       {translate.Chat, translate.AnswerFormat{Shape: translate.JSONObject}, none, "", "excluded format.json_object"},
		"no schemas":       {translate.Chat, translate.AnswerFormat{Shape: translate.JSONSchema, Schema: schema}, none, "", "excluded format.json_schema"},
		"a schema":         {translate.Chat, translate.AnswerFormat{Shape: translate.JSONSchema, Name: "n", Description: "d", Schema: schema, Strict: &no}, able(), `{"format":{"type":"json_schema","name":"n","description":"d","schema":{"type": "object"},"strict":false}}`, ""},
		"without a name":   {translate.Messages, translate.AnswerFormat{Shape: translate.JSONSchema, Schema: schema}, able(), `{"format":{"type":"json_schema","name":"answer","schema":{"type": "object"},"strict":true}}`, ""},
		"without a schema": {translate.Chat, translate.AnswerFormat{Shape: translate.JSONSchema, Name: "n"}, able(), "", "excluded format.json_schema"},
	} {
		t.Run(name, func(t *testing.T) {
			r := from(c.from, turn(translate.User, words("hi")))
			r.Answer = c.answer
			checkMember(t, r, c.f, "text", c.want, c.told)
		})
	}
}

func TestPrefill(t *testing.T) {
	f := translate.Defaults(translate.Responses)
	checkMember(t, from(translate.Messages, turn(translate.User, words("hi")), turn(translate.Assistant, words("so"))), f, "input", "", "excluded content.prefill")
}

// All that keeps a request from being translated is told at once.
func TestAllExclusions(t *testing.T) {
	r := from(translate.Chat, turn(translate.User, translate.Block{Kind: translate.Audio}, result("x")))
	r.Settings = []translate.Setting{{Feature: translate.FeatureChoices, Path: "n", Value: translate.Raw("2")}, {Feature: translate.FeatureLogitBias, Path: "logit_bias", Value: translate.Raw("{}")}}
	r.Reasoning.Effort = "banana"
	checkMember(t, r, able(), "", "", "excluded content.audio; excluded content.calls_and_results; excluded logit_bias; excluded n; excluded reasoning.unknown_effort")
}
