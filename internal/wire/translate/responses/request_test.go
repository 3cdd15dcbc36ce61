package responses

import (
	"fmt"
	"github.com/google/go-cmp/cmp"
	"strings"
	"testing"

	"rubicon/internal/wire/translate"
)

// turns are a request's system text and turns, in lines.
func turns(r *translate.Request) (lines []string) {
	line := func(role translate.Role, phase string, blocks []translate.Block) {
		text := strings.TrimSpace(string(role) + " " + phase)
		for i := range blocks {
			text += " | " + brief(&blocks[i])
		}
		lines = append(lines, text)
	}
	if len(r.System) > 0 {
		line("top", "", r.System)
	}
	for _, t := range r.Turns {
		line(t.Role, t.Phase, t.Blocks)
	}
	return lines
}

func brief(b *translate.Block) string {
	text := b.Kind.String() + "@" + b.Path
	for _, f := range []struct{ name, value string }{
		{"text", b.Text}, {"id", b.ID}, {"ns", b.Namespace}, {"name", b.Name}, {"input", b.Input}, {"mime", b.Source.Mime}, {"data", b.Source.Data},
		{"url", b.Source.URL}, {"ref", b.Source.Ref}, {"detail", b.Detail}, {"type", b.Type}, {"cites", string(b.Citations)}, {"summary", strings.Join(b.Summary, "+")},
	} {
		if f.value != "" {
			text += " " + f.name + "=" + f.value
		}
	}
	if b.Custom {
		text += " custom"
	}
	if b.Seal != nil {
		text += " seal=" + string(b.Seal.Kind) + ":" + b.Seal.Data
	}
	if b.Cache != nil {
		text += " cache=" + b.Cache.TTL
	}
	for i := range b.Inner {
		text += " (" + brief(&b.Inner[i]) + ")"
	}
	return text
}

// settingsOf are a request's settings but for the store that is not said.
func settingsOf(r *translate.Request) (lines []string) {
	for _, s := range r.Settings {
		if s.Feature != translate.FeatureStore {
			lines = append(lines, fmt.Sprintf("%s@%s=%s", s.Feature, s.Path, s.Value))
		}
	}
	return lines
}

func TestDecodeInput(t *testing.T) {
	for name, c := range map[string]struct {
		input string
		want  []string
	}{
		"a text":          {`"hi"`, []string{"user | text@input text=hi"}},
		"a bare message":  {`[{"role":"user","content":"hi"}]`, []string{"user | text@input[0].content text=hi"}},
		"system in front": {`[{"role":"developer","content":"be"},{"type":"message","role":"system","content":[{"type":"input_text","text":"so"}]},{"role":"user","content":"hi"}]`, []string{"top | text@input[0].content text=be | text@input[1].content[0] text=so", "user | text@input[2].content text=hi"}},
		"system in the middle": {`[{"role":"user","content":"a"},{"role":"developer","content":"b"},{"role":"user","content":"c"}]`,
			[]string{"user | text@input[0].content text=a", "system | text@input[1].content text=b", "user | text@input[2].content text=c"}},
		"phase":   {`[{"type":"message","id":"msg_1","status":"completed","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"x","annotations":[],"logprobs":[]}]}]`, []string{"assistant commentary | text@input[0].content[0] text=x"}},
		"refusal": {`[{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]}]`, []string{"assistant | refusal@input[0].content[0] text=no"}},
		"media": {`[{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,AA","detail":"high"},{"type":"input_image","image_url":"https://x"},{"type":"input_image","file_id":"file_1"},{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,BB"},{"type":"input_file","filename":"a.txt","file_data":"CC"},{"type":"input_file","file_url":"https://y"},{"type":"input_audio","input_audio":{"data":"DD","format":"wav"}}]}]`,
			[]string{"user | image@input[0].content[0] mime=image/png data=AA detail=high | image@input[0].content[1] url=https://x | image@input[0].content[2] ref=file_1 | file@input[0].content[3] name=a.pdf mime=application/pdf data=BB | file@input[0].content[4] name=a.txt mime=text/plain data=CC | file@input[0].content[5] url=https://y | audio@input[0].content[6] mime=audio/wav data=DD"}},
		"a call with its result": {`[{"type":"function_call","id":"fc_1","call_id":"c","namespace":"ns","name":"f","arguments":"{\"a\": 1.0}"},{"type":"function_call_output","call_id":"c","output":"done"}]`,
			[]string{`assistant | call@input[0] id=c ns=ns name=f input={"a": 1.0}`, "user | result@input[1] id=c (text@input[1].output text=done)"}},
		"a free text": {`[{"type":"custom_tool_call","call_id":"c","name":"p","input":"*** Begin"},{"type":"custom_tool_call_output","call_id":"c","output":[{"type":"input_text","text":"ok"},{"type":"input_image","image_url":"https://x"}]}]`,
			[]string{"assistant | call@input[0] id=c name=p input=*** Begin custom", "user | result@input[1] id=c custom (text@input[1].output[0] text=ok) (image@input[1].output[1] url=https://x)"}},
		"reasoning": {`[{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"content":[{"type":"reasoning_text","text":"c"}],"encrypted_content":"gA"}]`,
			[]string{"assistant | reasoning@input[0] text=c summary=a+b seal=encrypted_content:gA"}},
		"empty reasoning":   {`[{"type":"reasoning","id":"rs_1","summary":[]},{"role":"user","content":"hi"}]`, []string{"user | text@input[1].content text=hi"}},
		"a hosted call":     {`[{"type":"web_search_call","id":"ws_1","status":"completed"}]`, []string{"assistant | hosted@input[0] type=web_search_call"}},
		"a shell's result":  {`[{"type":"local_shell_call_output","id":"x","output":"y"}]`, []string{"user | hosted@input[0] type=local_shell_call_output"}},
		"tool search":       {`[{"type":"tool_search_call","arguments":{}},{"type":"tool_search_output","tools":[]}]`, []string{"assistant | hosted@input[0] type=tool_search_call", "user | hosted@input[1] type=tool_search_output"}},
		"an unknown item":   {`[{"type":"ghost","x":1}]`, []string{"user | unknown@input[0] type=ghost"}},
		"an unknown part":   {`[{"role":"user","content":[{"type":"ghost"}]}]`, []string{"user | unknown@input[0].content[0] type=ghost"}},
		"a program's call":  {`[{"type":"function_call","call_id":"c","name":"f","arguments":"{}","caller":{"type":"program"}}]`, []string{"assistant | hosted@input[0] type=function_call"}},
		"a cache point":     {`[{"role":"user","content":[{"type":"input_text","text":"a","prompt_cache_breakpoint":{"mode":"explicit","ttl":"12h"}}]}]`, []string{"user | text@input[0].content[0] text=a cache=12h"}},
		"citations":         {`[{"role":"assistant","content":[{"type":"output_text","text":"a","annotations":[{"type":"url_citation"}]}]}]`, []string{`assistant | text@input[0].content[0] text=a cites=[{"type":"url_citation"}]`}},
		"nothing in a text": {`[{"role":"user","content":""},{"role":"user","content":[]}]`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			same(t, c.want, turns(request(t, `{"model":"m","store":false,"input":`+c.input+`}`)))
		})
	}
}

func TestDecodeMembers(t *testing.T) {
	for _, c := range []struct {
		body string
		want []string
	}{
		{`"temperature":0.70,"top_p":1,"metadata":{},"service_tier":"flex","max_tool_calls":3,"truncation":"auto","background":false,"prompt_cache_key":"k"`,
			[]string{"temperature@temperature=0.70", "top_p@top_p=1", `service_tier@service_tier="flex"`, "max_tool_calls@max_tool_calls=3", `truncation@truncation="auto"`, `prompt_cache_key@prompt_cache_key="k"`}},
		{`"truncation":"disabled","temperature":null,"stream_options":{"include_obfuscation":false},"type":"response.create","generate":true`, nil},
		{`"store":true`, []string{"state@store=true"}},
		{`"include":["reasoning.encrypted_content","message.output_text.logprobs","web_search_call.action.sources"]`, []string{`include@include[2]="web_search_call.action.sources"`, "logprobs@include[1]=0"}},
		{`"include":["message.output_text.logprobs"],"top_logprobs":3`, []string{"logprobs@top_logprobs=3"}},
		{`"top_logprobs":0`, nil},
		{`"user":"a","safety_identifier":"b"`, []string{`user@safety_identifier="b"`, `unknown_member@user="a"`}},
		{`"user":"a"`, []string{`user@user="a"`}},
		{`"previous_response_id":"resp_1"`, []string{`state@previous_response_id="resp_1"`}},
		{`"conversation":{"id":"c"}`, []string{`state@conversation={"id":"c"}`}},
		{`"prompt":{"id":"p"}`, []string{`state@prompt={"id":"p"}`}},
		{`"input":[{"type":"item_reference","id":"x"},{"id":"y"},{"type":"compaction","encrypted_content":"z"}]`, []string{`state@input[0]={"type":"item_reference","id":"x"}`, `state@input[1]={"id":"y"}`, `state@input[2]={"type":"compaction","encrypted_content":"z"}`}},
		{`"strange":{"a":1},"empty":{}`, []string{`unknown_member@strange={"a":1}`}},
		{`"input":[{"role":"user","content":"x","strange":1}]`, []string{"unknown_member@input[0].strange=1"}},
		{`"text":{"verbosity":"low","format":{"type":"grammar"}}`, []string{`verbosity@text.verbosity="low"`, `format.unknown@text.format={"type":"grammar"}`}},
		{`"text":{"verbosity":"medium","format":{"type":"text"}}`, nil},
		{`"prompt_cache_options":{"mode":"explicit","ttl":"30m","prewarm":true}`, []string{`unknown_member@prompt_cache_options.mode="explicit"`, "max_output.zero@prompt_cache_options.prewarm=true", `unknown_member@prompt_cache_options.ttl="30m"`}},
		{`"max_output_tokens":0`, []string{"max_output.zero@max_output_tokens=0"}},
		{`"tools":[{"type":"function","name":"f","async":true,"allowed_callers":["programmatic"],"output_schema":{"type":"object"}}]`,
			[]string{"tools.async@tools[0].async=true", `tools.allowed_callers@tools[0].allowed_callers=["programmatic"]`, `unknown_member@tools[0].output_schema={"type":"object"}`}},
	} {
		t.Run(c.body, func(t *testing.T) { same(t, c.want, settingsOf(request(t, `{"model":"m",`+c.body+`}`))) })
	}
	if r := request(t, `{"model":"m"}`); r.Get(translate.FeatureStore) == nil {
		t.Error("a store that is not said is not told")
	}
	if r := request(t, `{"model":"m","store":false}`); len(r.Settings) != 0 {
		t.Errorf("%v", r.Settings)
	}
}

func TestDecodeGroups(t *testing.T) {
	r := request(t, `{"input":[{"role":"developer","content":"b"},{"type":"additional_tools","role":"developer","tools":[{"type":"function","name":"late"}]},{"role":"user","content":"c"}],"instructions":"a","model":"m","stream":true,
		"max_output_tokens":5,"parallel_tool_calls":false,"reasoning":{"effort":"high","summary":"auto","context":"auto"},"include":["reasoning.encrypted_content"],
		"text":{"format":{"type":"json_schema","name":"n","description":"d","schema":{"a":1.0},"strict":true}},
		"prompt_cache_options":{"ttl":"12h"},"tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"inner"},{"type":"web_search"}]},
		"tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object"},"strict":false,"defer_loading":true},{"type":"custom","name":"p","format":{"type":"grammar","syntax":"lark","definition":"x"}},{"type":"custom","name":"q","format":{"type":"text"}},
			{"type":"namespace","name":"ns","description":"about","tools":[{"type":"function","name":"inner"}]},{"type":"web_search","filters":{}},{"type":"odd","name":"o"}]}`)
	same(t, []string{"top | text@instructions text=a | text@input[0].content text=b", "user | text@input[2].content text=c"}, turns(r))
	yes, no := true, false
	if d := cmp.Diff([]translate.Tool{
		{Path: "input[1].tools[0]", Name: "late"},
		{Path: "tools[0]", Name: "f", Description: "d", Schema: translate.Raw(`{"type":"object"}`), Strict: &no, Deferred: true},
		{Path: "tools[1]", Kind: translate.Custom, Name: "p", Syntax: "lark", Grammar: "x"},
		{Path: "tools[2]", Kind: translate.Custom, Name: "q"},
		{Path: "tools[3].tools[0]", Namespace: "ns", NamespaceAbout: "about", Name: "inner"},
		{Path: "tools[4]", Kind: translate.HostedTool, Type: "web_search", Raw: translate.Raw(`{"type":"web_search","filters":{}}`)},
		{Path: "tools[5]", Kind: translate.UnknownTool, Name: "o", Type: "odd", Raw: translate.Raw(`{"type":"odd","name":"o"}`)},
	}, r.Tools); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(translate.Choice{Mode: translate.Required, Path: "tool_choice", Allowed: []translate.ToolName{{Namespace: "ns", Name: "inner"}, {Kind: translate.HostedTool, Type: "web_search"}}, ParallelOff: true, ParallelPath: "parallel_tool_calls"}, r.Choice); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(translate.Reasoning{Effort: "high", EffortPath: "reasoning.effort", Summary: "auto", Path: "reasoning.summary", KeepSeals: true}, r.Reasoning); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(translate.AnswerFormat{Shape: translate.JSONSchema, Name: "n", Description: "d", Schema: translate.Raw(`{"a":1.0}`), Strict: &yes, Path: "text.format"}, r.Answer); d != "" {
		t.Error(d)
	}
	if !r.Stream || r.MaxOutput != (translate.Number{Value: 5, Path: "max_output_tokens"}) {
		t.Errorf("%v %v", r.Stream, r.MaxOutput)
	}
}

func TestDecodeChoice(t *testing.T) {
	for choice, want := range map[string]translate.Choice{
		`"auto"`:                            {Mode: translate.Auto},
		`"none"`:                            {Mode: translate.None},
		`"required"`:                        {Mode: translate.Required},
		`{"type":"function","name":"f"}`:    {Mode: translate.Named, Tool: translate.ToolName{Name: "f"}},
		`{"type":"custom","name":"p"}`:      {Mode: translate.Named, Tool: translate.ToolName{Kind: translate.Custom, Name: "p"}},
		`{"type":"web_search"}`:             {Mode: translate.Named, Tool: translate.ToolName{Kind: translate.HostedTool, Type: "web_search"}},
		`{"type":"mcp","server_label":"x"}`: {Mode: translate.Named, Tool: translate.ToolName{Kind: translate.HostedTool, Type: "mcp"}},
	} {
		want.Path = "tool_choice"
		if d := cmp.Diff(want, request(t, `{"model":"m","tool_choice":`+choice+`}`).Choice); d != "" {
			t.Errorf("%s: %s", choice, d)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for body, path := range map[string]string{
		`{"model":1}`:   "model",
		`{"input":7}`:   "input",
		`{"input":[7]}`: "input[0]",
		`{"input":[{"role":"pope","content":"x"}]}`:          "input[0].role",
		`{"input":[{"type":"function_call"}]}`:               "input[0].call_id",
		`{"input":[{"type":"reasoning","summary":"x"}]}`:     "input[0].summary",
		`{"input":[{"type":"function_call","call_id":"c"}]}`: "input[0].name",
		`{"tools":[{"type":"function"}]}`:                    "tools[0].name",
		`{"tools":{}}`:                                       "tools",
		`{"max_output_tokens":"x"}`:                          "max_output_tokens",
		`{"stream":"x"}`:                                     "stream",
		`{"text":"x"}`:                                       "text",
	} {
		if _, err := decodeRequest([]byte(body)); err == nil || !strings.HasPrefix(err.Error(), path+":") {
			t.Errorf("%s: %v, want %s", body, err, path)
		}
	}
	if _, err := decodeRequest([]byte(`{"model":"m"`)); err == nil {
		t.Error("half a body is read")
	}
}
