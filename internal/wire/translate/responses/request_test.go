package responses

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/jsonscan"
	"rubicon/internal/protocol/recorded"
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
		{`"prompt_cache_options":{"mode":"explicit","ttl":"30m","prewarm":true}`, []string{`unknown_member@prompt_cache_options.mode="explicit"`, "max_output.zero@prompt_cache_options.prewarm=true", `cache.ttl@prompt_cache_options.ttl="30m"`}},
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

// What the format can carry comes back from it, and the second time nothing
// changes.
func checkIdentity(t *testing.T, body []byte) {
	t.Helper()
	first, err := decodeRequest(body)
	if err != nil {
		return
	}
	once, rep := encodeRequest(first, first.Model, able())
	if len(rep.Excluded) > 0 {
		return
	}
	second, err := decodeRequest(once)
	if err != nil {
		t.Fatalf("%s\nbecomes\n%s\n%v", body, once, err)
	}
	twice, rep := encodeRequest(second, second.Model, able())
	if len(rep.Excluded) > 0 || !bytes.Equal(once, twice) {
		t.Fatalf("%s\nbecomes\n%s\nand then\n%s\n%v", body, once, twice, rep.Excluded)
	}
	if d := cmp.Diff(content(first), content(second)); d != "" {
		t.Fatalf("%s\nbecomes\n%s\n%s", body, once, d)
	}
}

// content is what of a request must come back, without the places where it
// stood.
func content(r *translate.Request) map[string][]string {
	all := map[string][]string{}
	add := func(role translate.Role, blocks []translate.Block) {
		for i := range blocks {
			b := blocks[i]
			if b.Kind == translate.Text && b.Text == "" {
				continue
			}
			b.Path, b.Custom = "", b.Custom && b.Kind == translate.Call
			b.Cache = nil // moves where it has no place
			for j := range b.Inner {
				b.Inner[j].Path = ""
			}
			if role == translate.System {
				role = "system"
			}
			if b.Kind == translate.Result || b.Kind == translate.Call {
				b.ID = "" // made anew where it is not legal
				if b.Name != "" {
					b.Name = translate.NamesOf(r, translate.Responses, able()).Wire(b.Namespace, b.Name)
				}
			}
			key := string(role) + " " + b.Kind.String()
			all[key] = append(all[key], brief(&b))
		}
	}
	add("system", r.System)
	for _, t := range r.Turns {
		add(t.Role, t.Blocks)
	}
	for _, s := range r.Settings {
		if !strings.ContainsAny(s.Path, ".[") {
			all["settings"] = append(all["settings"], string(s.Feature)+string(s.Value))
		}
	}
	slices.Sort(all["settings"])
	for key := range all {
		if strings.Contains(key, "result") {
			slices.Sort(all[key]) // stand in the order of their calls
		}
	}
	for _, tool := range r.Tools {
		all["tools"] = append(all["tools"], fmt.Sprint(tool.Kind, tool.Description, string(tool.Schema), tool.Deferred, tool.Grammar, string(tool.Raw)))
	}
	all["rest"] = []string{r.Model, fmt.Sprint(r.Stream, r.Answer.Shape, string(r.Answer.Schema), r.Reasoning.KeepSeals, r.MaxOutput.Value, r.Choice.ParallelOff)}
	return all
}

// seeds are bodies for the fuzzers and the identity.
var seeds = []string{
	codex, plain,
	`{"model":"m","instructions":"i","input":[{"role":"developer","content":"d"},{"role":"user","content":[{"type":"input_text","text":"a","prompt_cache_breakpoint":{"mode":"explicit"}},{"type":"input_image","image_url":"data:image/png;base64,AA","detail":"low"}]},{"type":"reasoning","summary":[{"type":"summary_text","text":"s"}],"encrypted_content":"gA"},{"type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"t"}]},{"type":"custom_tool_call","call_id":"c1","name":"p","input":"x"},{"type":"function_call","call_id":"c2","namespace":"ns","name":"f","arguments":"{}"},{"type":"custom_tool_call_output","call_id":"c1","output":"y"},{"type":"function_call_output","call_id":"c2","output":[{"type":"input_text","text":"z"}]},{"role":"user","content":"b"}],"include":["reasoning.encrypted_content"],"stream":true}`,
	`{"model":"m","input":[{"type":"web_search_call","id":"w"},{"type":"message","role":"user","content":"x"}],"tools":[{"type":"web_search"},{"type":"namespace","name":"n","description":"d","tools":[{"type":"function","name":"a","parameters":{}}]}],"tool_choice":"auto","store":true,"previous_response_id":"r"}`,
	`{"model":"m","input":"x","text":{"format":{"type":"json_schema","name":"n","schema":{"a":1}},"verbosity":"low"},"max_output_tokens":4,"temperature":1.0,"top_logprobs":2,"metadata":{"a":"b"},"prompt_cache_options":{"ttl":"30m"}}`,
}

func TestIdentity(t *testing.T) {
	for _, body := range seeds {
		checkIdentity(t, []byte(body))
	}
	for _, x := range recorded.Load(t, "responses") {
		checkIdentity(t, x.Request)
	}
}

func FuzzRequest(f *testing.F) {
	for _, body := range seeds {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) { checkIdentity(t, body) })
}

func FuzzAnswer(f *testing.F) {
	f.Add(strings.Join([]string{created, `{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c","name":"f"}}`, `{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{}"}`, ended}, "\n"))
	f.Add(`{"type":"response.output_text.delta","delta":"x"}` + "\n" + `{"type":"response.output_item.done","item":{"type":"message","content":[{"type":"output_text","text":"xy"},{"type":"refusal","refusal":"z"}]}}` + "\n" + ended)
	f.Add(`{"type":"response.reasoning_summary_text.delta","delta":"x","summary_index":3}` + "\n" + `{"type":"error","message":"y"}`)
	f.Fuzz(func(t *testing.T, stream string) {
		d := newAnswerDecoder()
		var events []translate.Event
		for _, line := range strings.Split(stream, "\n") {
			got, err := d.Event("", []byte(line))
			if err != nil {
				break
			}
			events = append(events, keep(got)...)
		}
		events = append(events, keep(d.End())...)
		checkEvents(t, events)
		id := identity
		id.Upstream, id.Flags = translate.Responses, translate.Defaults(translate.Responses)
		written(t, request(t, codex), id, events...)
	})
}

// checkEvents checks the order of an answer's events.
func checkEvents(t *testing.T, events []translate.Event) {
	t.Helper()
	next, open, ended := 0, map[int]bool{}, false
	for i, e := range events {
		if ended {
			t.Fatalf("event %d of kind %d stands behind the end", i, e.Kind)
		}
		switch e.Kind {
		case translate.Open:
			if e.Index != next {
				t.Fatalf("block %d opens as %d", next, e.Index)
			}
			open[next] = true
			next++
		case translate.Delta, translate.Cite, translate.Sealed:
			if !open[e.Index] {
				t.Fatalf("event %d is about block %d, which is not open", i, e.Index)
			}
		case translate.Close:
			if !open[e.Index] {
				t.Fatalf("block %d closes twice", e.Index)
			}
			delete(open, e.Index)
		case translate.Stop:
			ended = true
			if len(open) > 0 {
				t.Fatalf("blocks %v are open at the end", open)
			}
		case translate.Failed:
			ended = true
		}
	}
	if !ended {
		t.Fatal("no end")
	}
}
