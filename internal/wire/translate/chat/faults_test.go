package chat

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/wire/translate"
)

// The tests of this file are named for the faults that users of translating
// gateways report, by their numbers in the design.

func TestFault01ReasoningAloneIsNoMessage(t *testing.T) {
	think := translate.Block{Kind: translate.Think, Summary: []string{"why"}, Path: "input[1]"}
	for _, r := range []*translate.Request{
		foreign(user(text("", "a")), replied(think), replied(text("", "b")), user(text("", "c"))),
		foreign(user(text("", "a")), replied(think), user(text("", "c"))),
	} {
		for _, f := range []translate.Flags{usual(), with(func(f *translate.Flags) { f.ReasoningBack = true })} {
			body, _ := write(t, r, f)
			if strings.Contains(body, `"role":"assistant"}`) || strings.Count(body, `"assistant"`) > 1 {
				t.Error(body)
			}
		}
	}
}

func TestFault02ReasoningGoesBackOnTurnsWithTools(t *testing.T) {
	r := foreign(user(text("", "a")), replied(translate.Block{Kind: translate.Think, Summary: []string{"one", "two"}}), replied(called("x", "f", "{}")), user(result("x")))
	for field, want := range map[string]string{
		"reasoning_content": `{"role":"assistant","reasoning_content":"one\n\ntwo","content":null,"tool_calls":`,
		"reasoning":         `{"role":"assistant","reasoning":"one\n\ntwo","content":null,"tool_calls":`,
		"reasoning_details": `{"role":"assistant","reasoning_details":[{"type":"reasoning.summary","summary":"one\n\ntwo"}],"content":null,"tool_calls":`,
	} {
		body, notes := write(t, r, with(func(f *translate.Flags) { f.ReasoningBack = true; f.ReasoningField = field }))
		if !strings.Contains(body, want) || notes != nil {
			t.Errorf("%s: %s %v", field, body, notes)
		}
	}
}

// A carrier goes to the client and comes back as it was.
func TestFault04SealsComeBackAsTheyWent(t *testing.T) {
	events := []translate.Event{starts, opens(0, thinkOne), thinks(0, 0, translate.PartThought, "why"),
		{Kind: translate.Sealed, Index: 0, Seal: &translate.Seal{Kind: translate.Signature, Data: "rbc1.AbC_-"}}, shuts(0), opens(1, textBlock), adds(1, "so"), shuts(1), stops(translate.End)}
	body, err := encodeWhole(client(false), events)
	if err != nil {
		t.Fatal(err)
	}
	_, message, _ := strings.Cut(string(body), `"message":`)
	message, _, _ = strings.Cut(message, `,"logprobs"`)
	r := say(t, `{"role":"user","content":"a"},`+message+`,{"role":"user","content":"b"}`)
	blocks := r.Turns[1].Blocks
	if blocks[0].Seal == nil || blocks[0].Seal.Data != "rbc1.AbC_-" || !r.Reasoning.KeepSeals {
		t.Errorf("%+v", blocks)
	}
}

func TestFault06UnsignedReasoningHasNoSeal(t *testing.T) {
	for _, member := range []string{`"reasoning_content":"why"`, `"reasoning":"why"`, `"reasoning_details":[{"type":"reasoning.text","text":"why","signature":null}]`} {
		r := say(t, `{"role":"assistant","content":"a",`+member+`}`)
		if b := r.Turns[0].Blocks[0]; b.Kind != translate.Think || b.Seal != nil || b.Text != "why" {
			t.Errorf("%s: %+v", member, b)
		}
	}
}

func TestFault08ReasoningDetailsAreRead(t *testing.T) {
	r := say(t, `{"role":"assistant","content":"a","reasoning":"why","reasoning_details":[{"type":"reasoning.text","text":"why","signature":"S","format":"f","index":0},{"type":"reasoning.encrypted","data":"D","id":"x"},{"type":"reasoning.summary","summary":"short"},{"type":"reasoning.text"}]}`)
	want := []translate.Block{
		{Kind: translate.Think, Path: "messages[0].reasoning_details[0]", Text: "why", Seal: &translate.Seal{Kind: translate.Detail, Data: `{"type":"reasoning.text","signature":"S","format":"f","index":0}`}},
		{Kind: translate.Think, Path: "messages[0].reasoning_details[1]", Seal: &translate.Seal{Kind: translate.Detail, Data: `{"type":"reasoning.encrypted","data":"D","id":"x"}`}},
		{Kind: translate.Think, Path: "messages[0].reasoning_details[2]", Summary: []string{"short"}},
		text("messages[0].content", "a"),
	}
	if diff := cmp.Diff(want, r.Turns[0].Blocks); diff != "" {
		t.Error(diff)
	}
}

func TestFault09ParallelCallsAreNumbered(t *testing.T) {
	events := []translate.Event{starts}
	for i, id := range []string{"a", "b", "c"} {
		events = append(events, opens(i, callBlock(id, "f")))
	}
	for i := range 3 {
		events = append(events, adds(i, "{}"), shuts(i))
	}
	out, _ := encode(client(true), append(events, stops(translate.ToolUse)))
	got := tell(t, decode(t, out))
	want := []toldCall{{ID: "a", Name: "f", Input: "{}", Closed: true}, {ID: "b", Name: "f", Input: "{}", Closed: true}, {ID: "c", Name: "f", Input: "{}", Closed: true}}
	if !slices.Equal(got.Calls, want) {
		t.Errorf("%+v", got.Calls)
	}
}

func TestFault10ParallelCallsCanBeTurnedOff(t *testing.T) {
	const body = `{"model":"m","messages":[{"role":"user","content":"a"}],"tools":[{"type":"function","function":{"name":"f"}}],"parallel_tool_calls":false}`
	r := read(t, body)
	if !r.Choice.ParallelOff || r.Choice.ParallelPath != "parallel_tool_calls" {
		t.Errorf("%+v", r.Choice)
	}
	r.From = translate.Messages
	if up, _ := write(t, r, usual()); of(t, up, "parallel_tool_calls") != "false" {
		t.Error(up)
	}
}

func TestFault11CallIDsAreKept(t *testing.T) {
	r := say(t, `{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_1","content":"r"}`)
	if r.Turns[1].Blocks[0].ID != "call_1" || r.Turns[2].Blocks[0].ID != "call_1" {
		t.Errorf("%+v", r.Turns)
	}
}

func TestFault12LongIDsAreHashedAlike(t *testing.T) {
	long := "toolu_" + strings.Repeat("x", 60)
	r := foreign(user(text("", "a")), replied(called(long, "f", "{}"), called(long+"y", "f", "{}")), user(result(long), result(long+"y")))
	body, notes := write(t, r, usual())
	for _, id := range []string{long, long + "y"} {
		fit := translate.CallID(translate.Chat, id)
		if len(fit) > 40 || strings.Contains(body, id+`"`) || !strings.Contains(body, `"id":"`+fit+`"`) || !strings.Contains(body, `"tool_call_id":"`+fit+`"`) {
			t.Errorf("%s: %s", fit, body)
		}
	}
	if len(notes) != 2 {
		t.Errorf("%v", notes)
	}
}

func TestFault13NamespacesAreFlattenedAndLongNamesCut(t *testing.T) {
	long := strings.Repeat("n", 70)
	r := foreign(user(text("", "a")), replied(translate.Block{Kind: translate.Call, ID: "x", Namespace: "mcp", Name: "find", Input: "{}"}), user(result("x")))
	r.Tools = []translate.Tool{{Namespace: "mcp", Name: "find", Path: "tools[0].tools[0]"}, {Namespace: "mcp", Name: "keep", Path: "tools[0].tools[1]"}, {Name: long, Path: "tools[1]"}}
	body, notes := write(t, r, usual())
	names := translate.NamesOf(r, translate.Chat, usual())
	cut := names.Wire("", long)
	if len(cut) > 64 || !strings.Contains(body, `"name":"`+cut+`"`) || strings.Count(body, `"name":"mcp__find"`) != 2 || !strings.Contains(body, `"name":"mcp__keep"`) {
		t.Error(body)
	}
	if len(notes) != 2 { // the namespace once, and the long name
		t.Errorf("%v", notes)
	}
	if own, ok := names.Restore("", cut); !ok || own.Name != long {
		t.Errorf("%+v", own)
	}
}

func TestFault14FreeTextToolsAreWrapped(t *testing.T) {
	r := foreign(user(text("", "a")), replied(translate.Block{Kind: translate.Call, ID: "x", Name: "patch", Custom: true, Input: "a\n\"b\""}), user(result("x")))
	r.Tools = []translate.Tool{{Kind: translate.Custom, Name: "patch", Description: "edits", Syntax: "lark", Grammar: "start: hunk", Path: "tools[0]"}}
	body, notes := write(t, r, usual())
	if !strings.Contains(of(t, body, "tools"), "start: hunk") || !strings.Contains(body, `"type":"function","function":{"name":"patch","arguments":"{\"input\":\"a\\n\\\"b\\\"\"}"}`) {
		t.Error(body)
	}
	if !slices.Equal(notes, []string{"wrapped tools[0] patch"}) {
		t.Errorf("%v", notes)
	}
	body, notes = write(t, r, with(func(f *translate.Flags) { f.CustomTools = true }))
	if !strings.Contains(body, `"type":"custom","custom":{"name":"patch","input":"a\n\"b\""}`) || notes != nil {
		t.Errorf("%s %v", body, notes)
	}
}

func TestFault15And16ForeignToolsAreDroppedAndTold(t *testing.T) {
	r := foreign(user(text("", "a")))
	r.Tools = []translate.Tool{{Name: "f", Path: "tools[0]"}, {Kind: translate.HostedTool, Type: "web_search", Path: "tools[1]"}, {Kind: translate.UnknownTool, Type: "new_thing", Path: "tools[2]"}}
	body, notes := write(t, r, usual())
	if !slices.Equal(notes, []string{"dropped tools[1] web_search", "dropped tools[2] new_thing"}) || of(t, body, "tools") != `[{"type":"function","function":{"name":"f"}}]` {
		t.Errorf("%s %v", body, notes)
	}
}

func TestFault19ImagesOfResultsMoveBehindAllResults(t *testing.T) {
	image := translate.Block{Kind: translate.Image, Path: "img", Source: translate.Source{Mime: "image/png", Data: "AAAA"}}
	r := foreign(user(text("", "go")), replied(called("a", "f", "{}"), called("b", "f", "{}")), user(result("a", text("", "seen"), image), result("b", text("", "2")), text("", "what is it?")))
	body, notes := write(t, r, usual())
	const want = `{"role":"tool","tool_call_id":"a","content":"seen"},{"role":"tool","tool_call_id":"b","content":"2"},` +
		`{"role":"user","content":[{"type":"text","text":"From the result of the call a:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"text","text":"what is it?"}]}]`
	if !strings.HasSuffix(of(t, body, "messages"), want) || !slices.Equal(notes, []string{"moved img"}) {
		t.Errorf("%s %v", body, notes)
	}
	body, notes = write(t, r, with(func(f *translate.Flags) { f.ResultImages = true }))
	if !strings.Contains(body, `{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"seen"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}`) || notes != nil {
		t.Errorf("%s %v", body, notes)
	}
}

func TestFault20ImagesAreReadAsBytesOrPlaces(t *testing.T) {
	r := say(t, `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}},{"type":"image_url","image_url":{"url":"https://x/y"}},{"type":"image_url","image_url":"https://z"}]}`)
	var got []translate.Source
	for _, b := range r.Turns[0].Blocks {
		got = append(got, b.Source)
	}
	if want := []translate.Source{{Mime: "image/png", Data: "AA=="}, {URL: "https://x/y"}, {URL: "https://z"}}; !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestFault22AudioIsContent(t *testing.T) {
	r := say(t, `{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AA==","format":"mp3"}}]}`)
	if b := r.Turns[0].Blocks; len(b) != 1 || b[0].Kind != translate.Audio || b[0].Source.Mime != "audio/mp3" {
		t.Errorf("%+v", b)
	}
}

func TestFault23And24FormatsAreRead(t *testing.T) {
	if a := read(t, `{"response_format":{"type":"json_object"}}`).Answer; a.Shape != translate.JSONObject || a.Path != "response_format" {
		t.Errorf("%+v", a)
	}
	if a := read(t, `{"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"a":1.0}}}}`).Answer; a.Shape != translate.JSONSchema || string(a.Schema) != `{"a":1.0}` {
		t.Errorf("%+v", a)
	}
	r := read(t, `{"response_format":{"type":"regex","regex":"a+"}}`)
	if s := r.Get(translate.FeatureOddFormat); s == nil || s.Path != "response_format" {
		t.Errorf("%+v", r)
	}
}

func TestFault27ACutCallIsNoFinishedCall(t *testing.T) {
	cut := `{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}}]}`
	events := decode(t, chunks(cut, finishWith("length"), done))
	if got := tell(t, events); got.Stop.Word != translate.Length || got.Calls[0].Input != `{"x":` {
		t.Errorf("%+v", got)
	}
	body, err := encodeWhole(client(false), events)
	if err != nil || !strings.Contains(string(body), `"arguments":"{\"x\":"`) || !strings.Contains(string(body), `"finish_reason":"length"`) {
		t.Errorf("%s %v", body, err)
	}
}

func TestFault28RefusalsAreTold(t *testing.T) {
	events := decode(t, chunks(`{"refusal":"I can"}`, `{"refusal":"not"}`, finishWith("stop"), done))
	if got := tell(t, events); got.Refusal != "I cannot" && got.Refusal != "I can"+"not" || got.Stop.Word != translate.Refused {
		t.Errorf("%+v", got)
	}
	out, _ := encode(client(true), []translate.Event{starts, {Kind: translate.Stop, Stop: translate.StopReason{Word: translate.Refused, Original: "refusal", Explains: "not that"}}})
	if got := tell(t, decode(t, out)); got.Refusal != "not that" || got.Stop.Word != translate.Refused {
		t.Errorf("%+v", got)
	}
}

func TestFault29UnknownStopsAreNoSuccess(t *testing.T) {
	call := `{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`
	events := decode(t, chunks(call, finishWith("gpu_on_fire"), done))
	got := tell(t, events)
	if got.Stop.Word != translate.Odd || got.Stop.Original != "gpu_on_fire" || len(got.Calls) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestFault30EverythingIsClosedAtTheEnd(t *testing.T) {
	for _, last := range []string{done, ""} {
		in := chunks(`{"content":"x"}`, `{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}`, finishWith("length"))
		if last != "" {
			in = append(in, frame{"", last})
		}
		tell(t, decode(t, in)) // it checks that no block stays open
	}
}

func TestFault33ArgumentsOfTheOpeningPieceAreKept(t *testing.T) {
	events := decode(t, chunks(`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}}]}`, finishWith("tool_calls"), done))
	if got := tell(t, events); got.Calls[0].Input != `{"x":1}` {
		t.Errorf("%+v", got)
	}
}

func TestFault34OneChoiceWhateverTheItems(t *testing.T) {
	body, err := encodeWhole(client(false), []translate.Event{starts, opens(0, translate.Block{Kind: translate.Text, Phase: "commentary"}), adds(0, "plan"), shuts(0),
		opens(1, translate.Block{Kind: translate.Text, Phase: "final_answer"}), adds(1, "answer"), shuts(1), stops(translate.End)})
	if err != nil || strings.Count(string(body), `"index"`) != 1 || !strings.Contains(string(body), `"content":"plan\n\nanswer"`) {
		t.Errorf("%s %v", body, err)
	}
}

func TestFault35SeveralChoicesFail(t *testing.T) {
	if r := read(t, `{"n":3}`); r.Get(translate.FeatureChoices) == nil {
		t.Errorf("%+v", r)
	}
	events := decode(t, chunks(`{"content":"x"}`, `{"choices":[{"index":0,"delta":{"content":"y"}},{"index":1,"delta":{"content":"z"}}]}`, finishWith("stop"), done))
	if got := tell(t, events); got.Ended || !strings.HasPrefix(got.Failed, "upstream_protocol") {
		t.Errorf("%+v", got)
	}
	if got := tell(t, whole(t, []byte(`{"choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"},{"index":1,"message":{"content":"b"},"finish_reason":"stop"}]}`))); got.Ended || got.Failed == "" {
		t.Errorf("%+v", got)
	}
}

func TestFault36And37StopSequences(t *testing.T) {
	r := read(t, `{"stop":["a","b"]}`)
	if !slices.Equal(r.Stop.Words, []string{"a", "b"}) {
		t.Errorf("%+v", r.Stop)
	}
	r = foreign(user(text("", "x")))
	r.Stop = translate.Stops{Words: []string{"</block>"}, Path: "stop_sequences"}
	if body, _ := write(t, r, usual()); of(t, body, "stop") != `["</block>"]` {
		t.Error(body)
	}
	events := decode(t, chunks(`{"content":"x"}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop","matched_stop":"</block>"}]}`, done))
	if got := tell(t, events).Stop; got.Word != translate.StopSeq || got.Sequence != "</block>" {
		t.Errorf("%+v", got)
	}
}

func TestFault38ToolChoicesAreRead(t *testing.T) {
	for body, want := range map[string]translate.Choice{
		`"auto"`: {Mode: translate.Auto}, `"none"`: {Mode: translate.None}, `"required"`: {Mode: translate.Required}, `"any"`: {Mode: translate.Required},
		`{"type":"function","function":{"name":"f"}}`: {Mode: translate.Named, Tool: translate.ToolName{Name: "f"}},
		`{"type":"custom","custom":{"name":"f"}}`:     {Mode: translate.Named, Tool: translate.ToolName{Kind: translate.Custom, Name: "f"}},
		`{"type":"web_search"}`:                       {Mode: translate.Named, Tool: translate.ToolName{Kind: translate.HostedTool, Type: "web_search"}},
		`{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"f"}}]}}`: {Mode: translate.Required, Allowed: []translate.ToolName{{Name: "f"}}},
	} {
		want.Path = "tool_choice"
		if diff := cmp.Diff(want, read(t, `{"tool_choice":`+body+`}`).Choice); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
}

func TestFault40EffortsAreCoercedDownwards(t *testing.T) {
	for effort, want := range map[string]string{"none": "low", "minimal": "low", "low": "low", "high": "high", "xhigh": "high", "ultra": "high"} {
		r := foreign(user(text("", "x")))
		r.Reasoning = translate.Reasoning{Effort: effort, EffortPath: "reasoning.effort"}
		body, notes := write(t, r, usual())
		if of(t, body, "reasoning_effort") != `"`+want+`"` || (len(notes) == 0) != (effort == want) {
			t.Errorf("%s: %s %v", effort, body, notes)
		}
	}
}

func TestFault41SystemTextKeepsItsPlace(t *testing.T) {
	r := say(t, `{"role":"system","content":"a"},{"role":"user","content":"b"},{"role":"developer","content":"c"},{"role":"user","content":"d"}`)
	if len(r.System) != 1 || len(r.Turns) != 3 || r.Turns[1].Role != translate.System {
		t.Errorf("%+v", r)
	}
}

func TestFault42CachePointsAreRead(t *testing.T) {
	r := read(t, `{"prompt_cache_options":{"ttl":"12h"},"messages":[{"role":"system","content":[{"type":"text","text":"a","prompt_cache_breakpoint":{"mode":"explicit"}}]},{"role":"user","content":"b","cache_control":{"type":"ephemeral","ttl":"5m"}}],
		"tools":[{"type":"function","function":{"name":"f"},"cache_control":{"type":"ephemeral"}}]}`)
	if p := r.System[0].Cache; p == nil || p.TTL != "12h" {
		t.Errorf("%+v", r.System)
	}
	if p := r.Turns[0].Blocks[0].Cache; p == nil || p.TTL != "5m" || p.Path != "messages[1].cache_control" {
		t.Errorf("%+v", r.Turns)
	}
	if r.Tools[0].Cache == nil || len(r.Settings) != 0 {
		t.Errorf("%+v", r)
	}
}

// What is read of a usage and written again is the same.
func TestFault43UsageIsConserved(t *testing.T) {
	for _, u := range []translate.Usage{{}, {Fresh: 10, Cached: 5, Write30m: 3, Write12h: 2, Output: 7, Thinking: 4, WebSearches: 1}, {Cached: 9, Write: 4, Output: 1}} {
		w := writer{}
		w.open('{')
		w.raw("choices", []byte("[]"))
		w.key("usage")
		writeUsage(&w, u)
		w.shut('}')
		got := tell(t, decode(t, []frame{{"", string(w.b)}}))
		if diff := cmp.Diff(u, got.Usage); diff != "" {
			t.Errorf("%+v: %s", u, diff)
		}
	}
}

func TestFault44OverflowIsToldInTheClientsWords(t *testing.T) {
	out, _ := encode(client(true), []translate.Event{{Kind: translate.Failed, Failure: translate.Failure{Type: "invalid_request_error", Message: "prompt is too long: 210000 tokens > 200000 maximum"}}})
	if want := `{"error":{"message":"prompt is too long: 210000 tokens > 200000 maximum","type":"invalid_request_error","param":null,"code":"context_length_exceeded"}}`; out[0].data != want {
		t.Error(out)
	}
}

func TestFault46StateExcludes(t *testing.T) {
	r := foreign(user(text("", "x")))
	r.Settings = []translate.Setting{{Feature: translate.FeatureState, Path: "previous_response_id", Value: translate.Raw(`"resp_1"`)}}
	if got := excluded(t, r, usual()); !slices.Equal(got, []string{"state previous_response_id"}) {
		t.Errorf("%v", got)
	}
	r = say(t, `{"role":"assistant","audio":{"id":"audio_1"}},{"role":"user","content":[{"type":"file","file":{"file_id":"file_1"}}]}`)
	if s := r.Get(translate.FeatureState); s == nil || s.Path != "messages[0].audio.id" || r.Turns[1].Blocks[0].Source.Ref != "file_1" {
		t.Errorf("%+v", r)
	}
}

func TestFaultsWithoutNumbers(t *testing.T) {
	if r := read(t, `{"temperature":0.5,"top_p":0.9,"max_tokens":7}`); len(r.Settings) != 2 || r.MaxOutput.Value != 7 || r.MaxOutput.Path != "max_tokens" {
		t.Errorf("one of temperature, top_p and max_tokens is lost: %+v", r)
	}
	if r := read(t, `{"max_tokens":7,"max_completion_tokens":9}`); r.Get(translate.FeatureTwoLimits) == nil {
		t.Errorf("two limits: %+v", r)
	}
	// The same result twice is one.
	r := foreign(user(text("", "a")), replied(called("x", "f", "{}")), user(result("x", text("", "1"))), user(result("x", text("", "1"))))
	if body, _ := write(t, r, usual()); strings.Count(body, `"tool"`) != 1 {
		t.Error(body)
	}
}
