package chat

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rubicon/internal/wire/protocol/recorded"
	"rubicon/internal/wire/translate"
)

func read(t testing.TB, body string) *translate.Request {
	t.Helper()
	r, err := decodeRequest([]byte(body))
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return r
}

// say reads a request with messages alone.
func say(t testing.TB, messages string) *translate.Request {
	t.Helper()
	return read(t, `{"model":"m","messages":[`+messages+`]}`)
}

// write encodes a request that must not be excluded, and gives its body and what
// it tells, as "verb path was>is".
func write(t testing.TB, r *translate.Request, f translate.Flags) (body string, notes []string) {
	t.Helper()
	b, report := encodeRequest(r, "up", f)
	if len(report.Excluded) > 0 {
		t.Fatalf("excluded: %+v", report.Excluded)
	}
	if !json.Valid(b) {
		t.Fatalf("no JSON: %s", b)
	}
	return string(b), brief(report)
}

func brief(report translate.Report) (notes []string) {
	for _, n := range report.Notes {
		notes = append(notes, strings.TrimSpace(string(n.Verb)+" "+n.Path+" "+strings.Trim(n.Was+">"+n.Is, ">")))
	}
	return notes
}

// excluded encodes a request and gives the paths that exclude it.
func excluded(t testing.TB, r *translate.Request, f translate.Flags) (paths []string) {
	t.Helper()
	body, report := encodeRequest(r, "up", f)
	for _, x := range report.Excluded {
		if x.Why == "" || x.Do == "" {
			t.Errorf("an exclusion without words: %+v", x)
		}
		paths = append(paths, string(x.Feature)+" "+x.Path)
	}
	if body != nil && paths != nil {
		t.Errorf("a body although excluded: %s", body)
	}
	return paths
}

func usual() translate.Flags { return translate.Defaults(translate.Chat) }

func with(change func(*translate.Flags)) translate.Flags {
	f := usual()
	change(&f)
	return f
}

// of is a body's member.
func of(t testing.TB, body, member string) string {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		t.Fatal(err)
	}
	return string(m[member])
}

// foreign is a request of another format with turns.
func foreign(turns ...translate.Turn) *translate.Request {
	return &translate.Request{From: translate.Responses, Turns: turns}
}

func user(blocks ...translate.Block) translate.Turn {
	return translate.Turn{Role: translate.User, Blocks: blocks}
}
func replied(blocks ...translate.Block) translate.Turn {
	return translate.Turn{Role: translate.Assistant, Blocks: blocks}
}
func text(at, s string) translate.Block {
	return translate.Block{Kind: translate.Text, Path: at, Text: s}
}
func called(id, name, input string) translate.Block {
	return translate.Block{Kind: translate.Call, ID: id, Name: name, Input: input, Path: "input[" + id + "]"}
}
func result(id string, inner ...translate.Block) translate.Block {
	return translate.Block{Kind: translate.Result, ID: id, Inner: inner, Path: "input[" + id + "!]"}
}

// Everything that the format says is read, with its path.
func TestDecodeRequest(t *testing.T) {
	yes := true
	r := read(t, `{
		"model":"m","stream":true,"stream_options":{"include_usage":true},"temperature":0.70,"n":1,"store":null,"frequency_penalty":0.0,"presence_penalty":0.5,
		"max_completion_tokens":99,"max_tokens":99,"stop":"END","logprobs":true,"top_logprobs":3,"user":"u","metadata":{"a":"b"},"service_tier":"flex",
		"reasoning_effort":"high","parallel_tool_calls":false,"tool_choice":{"type":"function","function":{"name":"f"}},"odd":{"x":1},"nothing":[],"modalities":["text"],
		"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":{"type":"object"},"strict":true}},
		"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"},"strict":true}},
			{"type":"custom","custom":{"name":"c","format":{"type":"grammar","grammar":{"syntax":"lark","definition":"start: x"}}}},{"type":"web_search_preview"},{"type":"new_thing","x":1}],
		"web_search_options":{},
		"messages":[
			{"role":"developer","content":"be kind"},
			{"role":"system","content":[{"type":"text","text":"and short","cache_control":{"type":"ephemeral","ttl":"1h"}}]},
			{"role":"user","name":"ann","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA==","detail":"low"}},{"type":"input_audio","input_audio":{"data":"BB==","format":"wav"}},
				{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,CC=="}},{"type":"hologram","x":1}]},
			{"role":"assistant","reasoning_content":"because","content":"well","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1.0}"}},{"id":"b","type":"custom","custom":{"name":"c","input":"raw"}}]},
			{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"r1"}]},
			{"role":"tool","tool_call_id":"b","content":"r2"},
			{"role":"system","content":"stop soon"},
			{"role":"assistant","content":null,"refusal":"no"}
		]}`)
	want := &translate.Request{
		From: translate.Chat, Model: "m", Stream: true, WantUsage: true,
		System: []translate.Block{text("messages[0].content", "be kind"),
			{Path: "messages[1].content[0]", Text: "and short", Cache: &translate.CachePoint{TTL: "1h", Path: "messages[1].content[0].cache_control"}}},
		Turns: []translate.Turn{
			{Role: translate.User, Path: "messages[2]", Blocks: []translate.Block{
				text("messages[2].content[0]", "look"),
				{Kind: translate.Image, Path: "messages[2].content[1]", Detail: "low", Source: translate.Source{Mime: "image/png", Data: "AA=="}},
				{Kind: translate.Audio, Path: "messages[2].content[2]", Source: translate.Source{Mime: "audio/wav", Data: "BB=="}},
				{Kind: translate.File, Path: "messages[2].content[3]", Name: "a.pdf", Source: translate.Source{Mime: "application/pdf", Data: "CC=="}},
				{Kind: translate.Unknown, Path: "messages[2].content[4]", Type: "hologram", Origin: translate.Chat, Raw: translate.Raw(`{"type":"hologram","x":1}`)},
			}},
			{Role: translate.Assistant, Path: "messages[3]", Blocks: []translate.Block{
				{Kind: translate.Think, Path: "messages[3].reasoning_content", Text: "because"}, text("messages[3].content", "well"),
				{Kind: translate.Call, Path: "messages[3].tool_calls[0]", ID: "a", Name: "f", Input: `{"x":1.0}`},
				{Kind: translate.Call, Path: "messages[3].tool_calls[1]", ID: "b", Name: "c", Input: "raw", Custom: true},
			}},
			{Role: translate.User, Path: "messages[4]", Blocks: []translate.Block{{Kind: translate.Result, Path: "messages[4]", ID: "a", Inner: []translate.Block{text("messages[4].content[0]", "r1")}}}},
			{Role: translate.User, Path: "messages[5]", Blocks: []translate.Block{{Kind: translate.Result, Path: "messages[5]", ID: "b", Inner: []translate.Block{text("messages[5].content", "r2")}}}},
			{Role: translate.System, Path: "messages[6]", Blocks: []translate.Block{text("messages[6].content", "stop soon")}},
			{Role: translate.Assistant, Path: "messages[7]", Blocks: []translate.Block{{Kind: translate.Refusal, Path: "messages[7].refusal", Text: "no"}}},
		},
		Tools: []translate.Tool{
			{Path: "tools[0]", Name: "f", Description: "d", Schema: translate.Raw(`{"type":"object"}`), Strict: &yes},
			{Kind: translate.Custom, Path: "tools[1]", Name: "c", Syntax: "lark", Grammar: "start: x"},
			{Kind: translate.HostedTool, Path: "tools[2]", Type: "web_search_preview", Raw: translate.Raw(`{"type":"web_search_preview"}`)},
			{Kind: translate.UnknownTool, Path: "tools[3]", Type: "new_thing", Raw: translate.Raw(`{"type":"new_thing","x":1}`)},
			{Kind: translate.HostedTool, Path: "web_search_options", Type: "web_search_options", Raw: translate.Raw(`{}`)},
		},
		Choice:    translate.Choice{Mode: translate.Named, Tool: translate.ToolName{Name: "f"}, Path: "tool_choice", ParallelOff: true, ParallelPath: "parallel_tool_calls"},
		Answer:    translate.AnswerFormat{Shape: translate.JSONSchema, Name: "s", Schema: translate.Raw(`{"type":"object"}`), Strict: &yes, Path: "response_format"},
		Reasoning: translate.Reasoning{Effort: "high", EffortPath: "reasoning_effort"},
		MaxOutput: translate.Number{Value: 99, Path: "max_completion_tokens"},
		Stop:      translate.Stops{Words: []string{"END"}, Path: "stop"},
		Settings: []translate.Setting{
			{Feature: translate.FeatureTemperature, Path: "temperature", Value: translate.Raw("0.70")},
			{Feature: translate.FeaturePresence, Path: "presence_penalty", Value: translate.Raw("0.5")},
			{Feature: translate.FeatureMetadata, Path: "metadata", Value: translate.Raw(`{"a":"b"}`)},
			{Feature: translate.FeatureTier, Path: "service_tier", Value: translate.Raw(`"flex"`)},
			{Feature: translate.FeatureUnknown, Path: "odd", Value: translate.Raw(`{"x":1}`)},
			{Feature: translate.FeatureName, Path: "messages[2].name", Value: translate.Raw(`"ann"`)},
			{Feature: translate.FeatureLogprobs, Path: "top_logprobs", Value: translate.Raw("3")},
			{Feature: translate.FeatureUser, Path: "user", Value: translate.Raw(`"u"`)},
		},
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeRefusesWhatItCannotRead(t *testing.T) {
	for _, body := range []string{
		`[]`, `{"messages":{}}`, `{"messages":[{"role":"user","content":7}]}`, `{"max_tokens":-1}`, `{"max_tokens":1.5}`, `{"stop":[1]}`,
		`{"reasoning_effort":3}`, `{"tools":{}}`, `{"tools":[{"type":"function","function":{"name":1}}]}`, `{"messages":[{"role":"user","content":[{"type":"text","text":1}]}]}`,
	} {
		if r, err := decodeRequest([]byte(body)); err == nil {
			t.Errorf("%s: %+v", body, r)
		}
	}
}

// Members that vendors added are read for what they mean.
func TestVendorsMembers(t *testing.T) {
	if r := read(t, `{"usage":{"include":true}}`); !r.WantUsage || len(r.Settings) != 0 {
		t.Errorf("%+v", r)
	}
	for body, want := range map[string]translate.Reasoning{
		`{"reasoning":{"effort":"low"}}`:                          {Effort: "low", EffortPath: "reasoning.effort", KeepSeals: true},
		`{"reasoning":{"max_tokens":2000,"exclude":true}}`:        {Budget: 2000, Path: "reasoning.max_tokens", Summary: "omitted", KeepSeals: true},
		`{"reasoning":{"enabled":false}}`:                         {Off: true, Path: "reasoning.enabled", KeepSeals: true},
		`{"thinking":{"type":"disabled"}}`:                        {Off: true, Path: "thinking.type"},
		`{"thinking":{"type":"enabled","budget_tokens":5000}}`:    {Budget: 5000, Path: "thinking.budget_tokens"},
		`{"reasoning_effort":"minimal","include_reasoning":true}`: {Effort: "minimal", EffortPath: "reasoning_effort", KeepSeals: true},
	} {
		if diff := cmp.Diff(want, read(t, body).Reasoning); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
}

func TestWhatIsUsualIsNoSetting(t *testing.T) {
	r := read(t, `{"n":1,"store":false,"logprobs":false,"frequency_penalty":0,"presence_penalty":0.0,"logit_bias":{ },"metadata":{},"modalities":[ "text" ],
		"prompt_cache_key":"","parallel_tool_calls":true,"response_format":{"type":"text"},"stop":[],"tools":[],"seed":null,"x":null,"y":""}`)
	if diff := cmp.Diff(&translate.Request{From: translate.Chat}, r); diff != "" {
		t.Error(diff)
	}
}

// Reading what was written gives the same request, as far as the format carries
// it.
func TestRecordedRequestsGoRound(t *testing.T) {
	for _, x := range recorded.Load(t, "chat") {
		f := with(func(f *translate.Flags) {
			f.CustomTools, f.ReasoningBack, f.Cache, f.ReasoningField = true, true, "breakpoints", "reasoning_details"
			f.Efforts = []string{"none", "minimal", "low", "medium", "high", "xhigh"}
		})
		first := read(t, string(x.Request))
		goRound(t, x.Name, first, f)
	}
}

func goRound(t *testing.T, name string, first *translate.Request, f translate.Flags) {
	t.Helper()
	body, report := encodeRequest(first, first.Model, f)
	if len(report.Excluded) > 0 {
		t.Errorf("%s: %+v", name, report.Excluded)
		return
	}
	second := read(t, string(body))
	again, _ := encodeRequest(second, second.Model, f)
	if string(again) != string(body) {
		t.Errorf("%s: written again: %s", name, cmp.Diff(string(body), string(again)))
	}
	options := []cmp.Option{
		cmpopts.IgnoreFields(translate.Block{}, "Path"), cmpopts.IgnoreFields(translate.Turn{}, "Path"), cmpopts.IgnoreFields(translate.Tool{}, "Path"),
		cmpopts.IgnoreFields(translate.CachePoint{}, "Path"), cmpopts.IgnoreFields(translate.Reasoning{}, "Path", "EffortPath", "KeepSeals"),
		cmpopts.IgnoreFields(translate.Number{}, "Path"), cmpopts.IgnoreFields(translate.Choice{}, "Path"), cmpopts.IgnoreFields(translate.Request{}, "WantUsage", "Settings"),
		cmpopts.EquateEmpty(),
	}
	if diff := cmp.Diff(essence(first), essence(second), options...); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
}

// essence is a request in the form that a round trip gives: as turns in the
// order of the upstream, texts of the assistant and of results as one.
func essence(r *translate.Request) *translate.Request {
	e := *r
	e.Turns = nil
	for _, t := range translate.Arrange(nonEmpty(r.Turns), translate.NewReporter(translate.Chat, usual())) {
		t.Blocks = slices.Clone(t.Blocks)
		for i := range t.Blocks {
			b := &t.Blocks[i]
			b.Name = map[bool]string{true: "", false: b.Name}[b.Kind == translate.Result]
			b.Custom = b.Custom && b.Kind != translate.Result
			b.Citations = nil
			if b.Kind == translate.Think && b.Seal == nil {
				b.Text, b.Summary = b.Reasoned(), nil
			}
			if b.Kind == translate.Result {
				b.Inner = oneText(b.Inner)
			}
		}
		e.Turns = append(e.Turns, t)
	}
	return &e
}

func oneText(inner []translate.Block) []translate.Block {
	var texts []string
	for _, b := range inner {
		texts = append(texts, b.Text)
	}
	return []translate.Block{{Kind: translate.Text, Text: strings.Join(texts, "\n")}}
}

func nonEmpty(turns []translate.Turn) (out []translate.Turn) {
	for _, t := range turns {
		t.Blocks = slices.DeleteFunc(slices.Clone(t.Blocks), func(b translate.Block) bool { return b.Kind == translate.Text && b.Text == "" })
		out = append(out, t)
	}
	return out
}
