package chat

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/wire/translate"
)

// Short forms of events.
func opens(i int, b translate.Block) translate.Event {
	return translate.Event{Kind: translate.Open, Index: i, Block: b}
}
func adds(i int, s string) translate.Event {
	return translate.Event{Kind: translate.Delta, Index: i, Text: s}
}
func thinks(i, paragraph int, part translate.Part, s string) translate.Event {
	return translate.Event{Kind: translate.Delta, Index: i, Part: part, Paragraph: paragraph, Text: s}
}
func shuts(i int) translate.Event { return translate.Event{Kind: translate.Close, Index: i} }
func stops(word translate.StopWord) translate.Event {
	return translate.Event{Kind: translate.Stop, Stop: translate.StopReason{Word: word, Original: string(word)}}
}

var (
	starts    = translate.Event{Kind: translate.Start, ID: "up", Model: "m"}
	textBlock = translate.Block{Kind: translate.Text}
	thinkOne  = translate.Block{Kind: translate.Think}
)

func callBlock(id, name string) translate.Block {
	return translate.Block{Kind: translate.Call, ID: id, Name: name}
}

// deltas are the deltas and finish reasons of chunks, in short.
func deltas(t testing.TB, out []frame) (all []string) {
	t.Helper()
	for _, f := range out {
		const before, behind = `"delta":`, `,"usage":null}`
		_, rest, ok := strings.Cut(f.data, before)
		if !ok {
			all = append(all, f.data)
			continue
		}
		rest = strings.TrimSuffix(rest, behind)
		all = append(all, strings.TrimSuffix(strings.TrimSuffix(rest, `}]`), `,"finish_reason":null`))
	}
	return all
}

func TestAnswerInChunks(t *testing.T) {
	out, classes := encode(client(true), []translate.Event{
		starts, opens(0, thinkOne), thinks(0, 0, translate.PartSummary, "one"), thinks(0, 1, translate.PartSummary, "two"), thinks(0, 0, translate.PartThought, "again"), shuts(0),
		opens(1, textBlock), adds(1, "plan"), shuts(1), opens(2, callBlock("a", "f")), opens(3, callBlock("b", "g")), adds(2, `{"x"`), adds(3, `{}`), adds(2, `:1}`), shuts(2), shuts(3),
		opens(4, textBlock), adds(4, "and"), adds(4, " so"), shuts(4),
		{Kind: translate.UsageNow, Usage: translate.Usage{Fresh: 5, Cached: 3, Write1h: 2, Output: 4, Thinking: 1}, Tier: "flex"}, stops(translate.ToolUse),
	})
	want := []string{
		`{"role":"assistant","content":""}`, `{"reasoning_content":"one"}`, `{"reasoning_content":"\n\ntwo"}`, `{"content":"plan"}`,
		`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}]}`,
		`{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":""}}]}`,
		`{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\""}}]}`, `{"tool_calls":[{"index":1,"function":{"arguments":"{}"}}]}`, `{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}`,
		`{"content":"\n\nand"}`, `{"content":" so"}`,
		`{},"finish_reason":"tool_calls"}],"service_tier":"flex"`,
		`{"id":"chatcmpl-ours","object":"chat.completion.chunk","created":7,"model":"public","system_fingerprint":null,"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":4,"total_tokens":14,` +
			`"prompt_tokens_details":{"cached_tokens":3,"cache_write_tokens":2,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":1,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}}`,
		done,
	}
	if diff := cmp.Diff(want, deltas(t, out)); diff != "" {
		t.Error(diff)
	}
	if classes[0] != translate.OutLifecycle || classes[1] != translate.OutOutput || classes[len(classes)-1] != translate.OutTerminal || classes[len(classes)-3] != translate.OutOutput {
		t.Errorf("classes: %v", classes)
	}
}

// Nothing is output in front of the upstream's output, and an answer without
// any ends without any.
func TestClassesOfAnEmptyAnswer(t *testing.T) {
	out, classes := encode(client(true), []translate.Event{starts, stops(translate.End)})
	if want := []translate.OutClass{translate.OutLifecycle, translate.OutLifecycle, translate.OutTerminal}; !slices.Equal(classes, want) {
		t.Errorf("%v: %v", out, classes)
	}
	out, classes = encode(client(true), []translate.Event{starts, opens(0, textBlock), {Kind: translate.Beat}, shuts(0), {Kind: translate.Stop, Stop: translate.StopReason{Word: translate.Refused, Explains: "no"}}})
	if slices.Contains(classes, translate.OutOutput) {
		t.Errorf("%v: %v", out, classes)
	}
	body, err := encodeWhole(client(false), []translate.Event{starts, stops(translate.End)})
	if err != nil || !strings.Contains(string(body), `"choices":[{"index":0,"message":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":"stop"}]`) {
		t.Errorf("%s %v", body, err)
	}
}

// Texts stand apart where something stands between them, or their phases
// differ, and nowhere else.
func TestTextsAreOneAnswer(t *testing.T) {
	phase := func(p string) translate.Block { return translate.Block{Kind: translate.Text, Phase: p} }
	for name, c := range map[string]struct {
		events []translate.Event
		want   string
	}{
		"cut by citations": {[]translate.Event{opens(0, textBlock), adds(0, "a"), shuts(0), opens(1, textBlock), adds(1, "b")}, "ab"},
		"phases":           {[]translate.Event{opens(0, phase("commentary")), adds(0, "a"), shuts(0), opens(1, phase("final_answer")), adds(1, "b"), adds(1, "c")}, "a\n\nbc"},
		"one phase":        {[]translate.Event{opens(0, phase("final_answer")), adds(0, "a"), shuts(0), opens(1, phase("final_answer")), adds(1, "b")}, "ab"},
		"reasoning":        {[]translate.Event{opens(0, textBlock), adds(0, "a"), shuts(0), opens(1, thinkOne), shuts(1), opens(2, textBlock), adds(2, "b")}, "a\n\nb"},
		"nothing in front": {[]translate.Event{opens(0, textBlock), shuts(0), opens(1, thinkOne), shuts(1), opens(2, textBlock), adds(2, "b")}, "b"},
		"nothing behind":   {[]translate.Event{opens(0, textBlock), adds(0, "a"), shuts(0), opens(1, thinkOne), shuts(1), opens(2, textBlock), shuts(2)}, "a"},
	} {
		events := append(append([]translate.Event{starts}, c.events...), stops(translate.End))
		out, _ := encode(client(true), events)
		if got := tell(t, decode(t, out)).Text; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		body, err := encodeWhole(client(false), events)
		if err != nil {
			t.Fatal(err)
		}
		if got := tell(t, whole(t, body)).Text; got != c.want {
			t.Errorf("%s, whole: %q, want %q", name, got, c.want)
		}
	}
}

func TestWhatAClientDidNotAskForIsNotThere(t *testing.T) {
	events := []translate.Event{starts, opens(0, thinkOne), thinks(0, 0, translate.PartThought, "why"), {Kind: translate.Sealed, Index: 0, Seal: &translate.Seal{Kind: translate.Signature, Data: "rbc1.x"}}, shuts(0),
		opens(1, textBlock), adds(1, "a"), shuts(1), {Kind: translate.UsageNow, Usage: translate.Usage{Fresh: 1}}, stops(translate.End)}
	r := client(true)
	r.WantUsage, r.Reasoning.KeepSeals = false, false
	out, _ := encode(r, events)
	all := strings.Join(deltas(t, out), "\n")
	if strings.Contains(all, "usage") || strings.Contains(all, "reasoning_details") || !strings.Contains(all, `{"reasoning_content":"why"}`) {
		t.Error(all)
	}
	r = client(true)
	out, _ = encode(r, events)
	if all = strings.Join(deltas(t, out), "\n"); !strings.Contains(all, `{"reasoning_details":[{"type":"reasoning.encrypted","data":"rbc1.x","format":"rubicon-v1"}]}`) {
		t.Error(all)
	}
	strict := identity
	strict.Profile = plainProfile
	e := newAnswerEncoder(r, strict)
	for _, ev := range events {
		for _, o := range e.Events(nil, ev) {
			if strings.Contains(string(o.Data), "reasoning_content") || strings.Contains(string(o.Data), "reasoning_details") {
				t.Errorf("%s", o.Data)
			}
		}
	}
}

func TestCitations(t *testing.T) {
	cite := func(raw string) translate.Event {
		return translate.Event{Kind: translate.Cite, Index: 0, Raw: translate.Raw(raw)}
	}
	events := []translate.Event{starts, opens(0, textBlock), adds(0, "a"),
		cite(`{"type":"url_citation","start_index":0,"end_index":1,"url":"https://x","title":"X"}`), cite(`{"type":"url_citation","url_citation":{"url":"https://y"}}`),
		cite(`{"type":"web_search_result_location","url":"https://z","title":"Z","encrypted_index":"s","cited_text":"c"}`), cite(`{"type":"char_location","document_index":0}`), shuts(0), stops(translate.End)}
	const want = `"annotations":[{"type":"url_citation","url_citation":{"start_index":0,"end_index":1,"url":"https://x","title":"X"}},{"type":"url_citation","url_citation":{"url":"https://y"}},{"type":"url_citation","url_citation":{"url":"https://z","title":"Z"}}]`
	out, _ := encode(client(true), events)
	if d := deltas(t, out); d[len(d)-3] != `{`+want+`}` {
		t.Error(d)
	}
	body, _ := encodeWhole(client(false), events)
	if !strings.Contains(string(body), want) {
		t.Errorf("%s", body)
	}
}

func TestStopWords(t *testing.T) {
	for _, c := range []struct {
		stop translate.StopReason
		want string
	}{
		{translate.StopReason{Word: translate.End, Original: "end_turn"}, "stop"},
		{translate.StopReason{Word: translate.StopSeq, Original: "stop_sequence", Sequence: "X"}, "stop"},
		{translate.StopReason{Word: translate.Length}, "length"},
		{translate.StopReason{Word: translate.ContextFull}, "length"},
		{translate.StopReason{Word: translate.Filter}, "content_filter"},
		{translate.StopReason{Word: translate.Refused, Explains: "no"}, "content_filter"},
		{translate.StopReason{Word: translate.Steered, Original: "steered"}, "steered"},
		{translate.StopReason{Word: translate.Odd, Original: "new_word"}, "new_word"},
		{translate.StopReason{Word: translate.Odd, Original: "stop"}, "unknown"},
		{translate.StopReason{Word: translate.Odd, Original: "end_turn"}, "unknown"},
		{translate.StopReason{Word: translate.Odd, Original: "completed"}, "unknown"},
		{translate.StopReason{Word: translate.Odd}, "unknown"},
	} {
		events := []translate.Event{starts, opens(0, textBlock), adds(0, "a"), shuts(0), {Kind: translate.Stop, Stop: c.stop}}
		out, _ := encode(client(true), events)
		if got := out[len(out)-2].data; !strings.Contains(got, `"finish_reason":"`+c.want+`"`) {
			t.Errorf("%+v: %s", c.stop, got)
		}
		body, err := encodeWhole(client(false), events)
		if err != nil || !strings.Contains(string(body), `"finish_reason":"`+c.want+`"`) {
			t.Errorf("%+v: %s", c.stop, body)
		}
		if told := strings.Contains(string(body), `"refusal":"no"`); told != (c.stop.Explains != "") {
			t.Errorf("%+v: %s", c.stop, body)
		}
	}
}

func TestAPauseIsAnError(t *testing.T) {
	events := []translate.Event{starts, opens(0, textBlock), adds(0, "a"), shuts(0), stops(translate.Paused)}
	out, classes := encode(client(true), events)
	if last := len(out) - 1; classes[last] != translate.OutFailure || !strings.Contains(out[last].data, `"code":"upstream_paused"`) {
		t.Errorf("%v", out)
	}
	if _, err := encodeWhole(client(false), events); err == nil {
		t.Error("there is a whole answer")
	}
}

// A wrapped tool's calls come back as what the client has: free text, whatever
// the pieces.
func TestWrappedToolsAreRestored(t *testing.T) {
	const input = "a \"quoted\"\nline \u00e9\U0001f600"
	arguments := translate.WrapInput(input)
	for size := 1; size <= len(arguments); size += 3 {
		events := []translate.Event{starts, opens(0, callBlock("a", "patch"))}
		for piece := range slices.Chunk([]rune(arguments), size) {
			events = append(events, translate.Event{Kind: translate.Delta, Part: translate.PartInput, Text: string(piece)})
		}
		events = append(events, shuts(0), stops(translate.ToolUse))
		for _, stream := range []bool{true, false} {
			r := client(stream)
			r.Tools = []translate.Tool{{Kind: translate.Custom, Name: "patch"}}
			var got told
			if stream {
				out, _ := encode(r, events)
				got = tell(t, decode(t, out))
			} else {
				body, err := encodeWhole(r, events)
				if err != nil {
					t.Fatal(err)
				}
				got = tell(t, whole(t, body))
			}
			if want := []toldCall{{ID: "a", Name: "patch", Input: input, Custom: true, Closed: true}}; !slices.Equal(got.Calls, want) {
				t.Fatalf("pieces of %d, stream %v: %+v", size, stream, got.Calls)
			}
		}
	}
}

func TestLogprobs(t *testing.T) {
	in := chunks(`{"role":"assistant"}`,
		`{"choices":[{"index":0,"delta":{"content":"a"},"logprobs":{"content":[{"token":"a","logprob":-0.10}],"refusal":null}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"b"},"logprobs":{"content":[{"token":"b","logprob":-2}],"refusal":null}}]}`, finishWith("stop"), done)
	events := decode(t, in)
	out, _ := encode(client(true), events)
	if d := deltas(t, out); !strings.Contains(d[1], `{"content":"a"},"logprobs":{"content":[{"token":"a","logprob":-0.10}],"refusal":null}`) {
		t.Error(d)
	}
	body, _ := encodeWhole(client(false), events)
	if !strings.Contains(string(body), `"logprobs":{"content":[{"token":"a","logprob":-0.10},{"token":"b","logprob":-2}],"refusal":null}`) {
		t.Errorf("%s", body)
	}
}

func TestTiersOfAnswers(t *testing.T) {
	for tier, want := range map[string]string{"flex": `"service_tier":"flex"`, "standard": `"service_tier":"default"`, "batch": "", "": ""} {
		body, err := encodeWhole(client(false), []translate.Event{{Kind: translate.Start, Tier: tier}, stops(translate.End)})
		if err != nil || !strings.Contains(string(body), want) || want == "" && strings.Contains(string(body), "service_tier") {
			t.Errorf("%s: %s", tier, body)
		}
	}
}
