package chat

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/wire/protocol/recorded"
	"rubicon/internal/wire/sse"
	"rubicon/internal/wire/translate"
)

// frame is one event on the wire.
type frame struct{ name, data string }

func frames(t testing.TB, stream string) (all []frame) {
	t.Helper()
	d := sse.NewDecoder(strings.NewReader(stream), 16<<20)
	defer d.Release()
	for {
		f, err := d.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if f.HasData {
			all = append(all, frame{string(f.Name), string(f.Data)})
		}
	}
}

// chunks are frames of data alone, with the choice of each around its delta.
func chunks(deltas ...string) (all []frame) {
	for _, delta := range deltas {
		if !strings.HasPrefix(delta, `{"choices"`) && delta != done {
			delta = `{"id":"u1","model":"m","choices":[{"index":0,"delta":` + delta + `}]}`
		}
		all = append(all, frame{"", delta})
	}
	return all
}

func finishWith(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

func decode(t testing.TB, in []frame) (events []translate.Event) {
	t.Helper()
	d := newAnswerDecoder()
	for _, f := range in {
		got, err := d.Event(f.name, []byte(f.data))
		if err != nil {
			t.Fatalf("%s: %v", f.data, err)
		}
		events = append(events, got...)
	}
	return append(events, d.End()...)
}

func whole(t testing.TB, body []byte) []translate.Event {
	t.Helper()
	events, err := newAnswerDecoder().Whole(body)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return events
}

var identity = translate.Identity{ResponseID: "chatcmpl-ours", Model: "public", Created: 7, Upstream: translate.Chat, Flags: translate.Defaults(translate.Chat)}

func client(stream bool) *translate.Request {
	return &translate.Request{From: translate.Chat, Stream: stream, WantUsage: true, Reasoning: translate.Reasoning{KeepSeals: true}}
}

func encode(r *translate.Request, events []translate.Event) (out []frame, classes []translate.OutClass) {
	e := newAnswerEncoder(r, identity)
	for _, ev := range events {
		for _, o := range e.Events(nil, ev) {
			out, classes = append(out, frame{o.Name, string(o.Data)}), append(classes, o.Class)
		}
	}
	return out, classes
}

func encodeWhole(r *translate.Request, events []translate.Event) ([]byte, error) {
	e := newAnswerEncoder(r, identity)
	for _, ev := range events {
		e.Events(nil, ev)
	}
	return e.Whole()
}

// told is what an answer says, whatever pieces and blocks it came in.
type told struct {
	Text, Refusal, Reasoning string
	Calls                    []toldCall
	Seals, Quotes            []string
	Usage                    translate.Usage
	Stop                     translate.StopReason
	Failed                   string
	Ended                    bool
}

type toldCall struct {
	ID, Name, Input string
	Custom, Closed  bool
}

// tell puts an answer's events together and checks their order.
func tell(t testing.TB, events []translate.Event) (s told) {
	t.Helper()
	var kinds []translate.Kind
	calls := map[int]int{}
	open := map[int]bool{}
	for _, e := range events {
		if s.Ended || s.Failed != "" {
			t.Fatalf("an event behind the end: %+v", e)
		}
		switch e.Kind {
		case translate.Open:
			if e.Index != len(kinds) {
				t.Fatalf("block %d is opened as number %d", e.Index, len(kinds))
			}
			kinds, open[e.Index] = append(kinds, e.Block.Kind), true
			if e.Block.Kind == translate.Call {
				calls[e.Index] = len(s.Calls)
				s.Calls = append(s.Calls, toldCall{ID: e.Block.ID, Name: e.Block.Name, Custom: e.Block.Custom})
			}
		case translate.Delta, translate.Sealed, translate.Cite, translate.Close:
			if !open[e.Index] {
				t.Fatalf("block %d is not open: %+v", e.Index, e)
			}
			s.piece(e, kinds[e.Index], calls[e.Index])
			open[e.Index] = e.Kind != translate.Close
		case translate.UsageNow:
			s.Usage = e.Usage
		case translate.Stop:
			s.Stop, s.Ended = e.Stop, true
		case translate.Failed:
			s.Failed = e.Failure.Code + ": " + e.Failure.Message
		}
	}
	for i, o := range open {
		if o && s.Ended {
			t.Fatalf("block %d stays open", i)
		}
	}
	slices.Sort(s.Seals)
	return s
}

func (s *told) piece(e translate.Event, kind translate.Kind, call int) {
	switch {
	case e.Kind == translate.Sealed:
		s.Seals = append(s.Seals, string(e.Seal.Kind)+" "+e.Seal.Data)
	case e.Kind == translate.Cite:
		s.Quotes = append(s.Quotes, string(e.Raw))
	case e.Kind == translate.Close && kind == translate.Call:
		s.Calls[call].Closed = true
	case e.Kind == translate.Close:
	case kind == translate.Call:
		s.Calls[call].Input += e.Text
	case kind == translate.Text:
		s.Text += e.Text
	case kind == translate.Refusal:
		s.Refusal += e.Text
	case kind == translate.Think:
		s.Reasoning += e.Text
	}
}

// flat is what was told without the blank lines that keep blocks apart.
func (s told) flat() told {
	s.Text = strings.ReplaceAll(s.Text, "\n\n", "")
	s.Reasoning = strings.ReplaceAll(s.Reasoning, "\n\n", "")
	return s
}

func TestRecordedAnswersGoRound(t *testing.T) {
	for _, x := range recorded.Load(t, "chat") {
		t.Run(x.Name, func(t *testing.T) {
			var events []translate.Event
			if x.Stream {
				events = decode(t, frames(t, x.Normal()))
			} else {
				events = whole(t, []byte(x.Body))
			}
			want := tell(t, events)
			if !want.Ended || want.Text == "" && want.Calls == nil {
				t.Fatalf("the recording says nothing: %+v", want)
			}
			out, _ := encode(client(true), events)
			if diff := cmp.Diff(want.flat(), tell(t, decode(t, out)).flat()); diff != "" {
				t.Errorf("streamed: %s", diff)
			}
			body, err := encodeWhole(client(false), events)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.flat(), tell(t, whole(t, body)).flat()); diff != "" {
				t.Errorf("whole: %s", diff)
			}
		})
	}
}

// A stream that is cut anywhere in front of its finish reason ends badly, and
// one that is cut behind it ends as it said.
func TestCutStreamsNeverEndWell(t *testing.T) {
	for _, x := range recorded.Streams(t, "chat") {
		in := frames(t, x.Normal())
		finished := slices.IndexFunc(in, hasFinish)
		if finished < 0 {
			t.Fatalf("%s: no finish reason", x.Name)
		}
		for cut := range finished {
			events := decode(t, in[:cut])
			if got := tell(t, events); got.Ended || got.Failed == "" {
				t.Fatalf("%s: cut behind event %d it ends well", x.Name, cut)
			}
			out, classes := encode(client(true), events)
			if slices.Contains(classes, translate.OutTerminal) || strings.Contains(out[len(out)-1].data, "finish_reason") {
				t.Fatalf("%s: cut behind event %d the client's stream ends well", x.Name, cut)
			}
		}
	}
}

func hasFinish(f frame) bool {
	var c struct {
		Choices []struct {
			Reason string `json:"finish_reason"`
		}
	}
	return json.Unmarshal([]byte(f.data), &c) == nil && len(c.Choices) > 0 && c.Choices[0].Reason != ""
}

// The word that ends a stream proves nothing where no finish reason came.
func TestDoneAloneIsNoEnd(t *testing.T) {
	for _, in := range [][]frame{chunks(done), chunks(`{"content":"x"}`, done), chunks(`{"content":"x"}`, `{"choices":[{"index":0,"delta":{},"finish_reason":""}]}`, done)} {
		if got := tell(t, decode(t, in)); got.Ended || got.Failed == "" {
			t.Errorf("%v: %+v", in, got)
		}
	}
}

// The pieces of an answer and the same answer whole are the same blocks.
func TestStreamedAndWholeGiveTheSameBlocks(t *testing.T) {
	stream := decode(t, chunks(
		`{"role":"assistant","content":""}`, `{"reasoning":"th","reasoning_details":[{"type":"reasoning.text","text":"th","format":"f","index":0}]}`,
		`{"reasoning":"ink","reasoning_details":[{"type":"reasoning.text","text":"ink","format":"f","index":0}]}`,
		`{"reasoning_details":[{"type":"reasoning.text","signature":"sig","format":"f","index":0}]}`,
		`{"content":"he"}`, `{"content":"llo"}`,
		`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}]}`,
		`{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":"}}]}`, `{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}`,
		`{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]}`,
		finishWith("tool_calls"), done))
	one := whole(t, []byte(`{"id":"u1","model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"tool_calls":[
		{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},{"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}],
		"content":"hello","reasoning":"think","reasoning_details":[{"type":"reasoning.text","text":"think","signature":"sig","format":"f","index":0}]}}]}`))
	if diff := cmp.Diff(shape(one), shape(stream)); diff != "" {
		t.Error(diff)
	}
}

// shape is events without the borders of their pieces.
func shape(events []translate.Event) (lines []string) {
	for _, e := range events {
		line := ""
		switch e.Kind {
		case translate.Open:
			line = "open " + e.Block.Kind.String() + " " + e.Block.ID + " " + e.Block.Name
		case translate.Delta:
			if n := len(lines); strings.HasPrefix(lines[n-1], "delta ") {
				lines[n-1] += e.Text
				continue
			}
			line = "delta " + e.Text
		case translate.Sealed:
			line = "seal " + e.Seal.Data
		case translate.Close:
			line = "close"
		case translate.Stop:
			line = "stop " + string(e.Stop.Word)
		}
		lines = append(lines, line)
	}
	return lines
}

func TestCallsArePiecedTogether(t *testing.T) {
	for name, c := range map[string]struct {
		deltas []string
		want   string // name:id:arguments
	}{
		"by index": {[]string{`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}},{"index":1,"id":"b","function":{"name":"g","arguments":"{"}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":1}"}}]}`, `{"tool_calls":[{"index":1,"function":{"arguments":"}"}}]}`}, `f:a:{"x":1} g:b:{}`},
		"all with index 0": {[]string{`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`, `{"tool_calls":[{"index":0,"id":"b","function":{"name":"f","arguments":"{\"y\":2}"}}]}`}, `f:a:{} f:b:{"y":2}`},
		"all with index 0, in pieces": {[]string{`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x"}}]}`, `{"tool_calls":[{"index":0,"id":"b","function":{"name":"g","arguments":"{\"y"}}]}`,
			`{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"\":1}"}}]}`, `{"tool_calls":[{"index":0,"id":"b","function":{"arguments":"\":2}"}}]}`}, `f:a:{"x":1} g:b:{"y":2}`},
		"by id alone": {[]string{`{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{"}}]}`, `{"tool_calls":[{"id":"b","function":{"name":"g","arguments":"{"}}]}`,
			`{"tool_calls":[{"id":"a","function":{"arguments":"}"}}]}`, `{"tool_calls":[{"id":"b","function":{"arguments":"}"}}]}`}, `f:a:{} g:b:{}`},
		"id and name again each time":  {[]string{`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]}`, `{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":":1}"}}]}`}, `f:a:{"x":1}`},
		"an empty id behind the first": {[]string{`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]}`, `{"tool_calls":[{"index":0,"id":"","function":{"name":"","arguments":":1}"}}]}`}, `f:a:{"x":1}`},
		"the id late":                  {[]string{`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":""}}]}`, `{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{}"}}]}`}, `f:a:{}`},
		"the name late":                {[]string{`{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{\"x\""}}]}`, `{"tool_calls":[{"index":0,"function":{"name":"f","arguments":":1}"}}]}`}, `f:a:{"x":1}`},
		"an object":                    {[]string{`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":{"x": 1.0}}}]}`}, `f:a:{"x": 1.0}`},
		"interleaved":                  {[]string{`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}},{"index":1,"id":"b","function":{"name":"g","arguments":"{"}}]}`, `{"tool_calls":[{"index":1,"function":{"arguments":"}"}},{"index":0,"function":{"arguments":"}"}}]}`}, `f:a:{} g:b:{}`},
		"one id twice":                 {[]string{`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"a","function":{"name":"g","arguments":"{}"}}]}`}, `f:a:{} g:` + translate.MadeCallID("u1", 1) + `:{}`},
		"no ids, no indexes":           {[]string{`{"tool_calls":[{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"g","arguments":"{}"}}]}`}, `f:` + translate.MadeCallID("u1", 0) + `:{} g:` + translate.MadeCallID("u1", 1) + `:{}`},
		"no ids, index 0":              {[]string{`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{}"}}]}`, `{"tool_calls":[{"index":0,"function":{"name":"g","arguments":"{}"}}]}`}, `f:` + translate.MadeCallID("u1", 0) + `:{} g:` + translate.MadeCallID("u1", 1) + `:{}`},
		"no arguments":                 {[]string{`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f"}}]}`}, `f:a:`},
		"an empty element":             {[]string{`{"tool_calls":[{"index":0,"function":{}}]}`, `{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`}, `f:a:{}`},
		"legacy":                       {[]string{`{"function_call":{"name":"f","arguments":"{"}}`, `{"function_call":{"arguments":"}"}}`}, `f:` + translate.MadeCallID("u1", 0) + `:{}`},
		"custom":                       {[]string{`{"tool_calls":[{"index":0,"id":"a","type":"custom","custom":{"name":"f","input":"x{"}}]}`, `{"tool_calls":[{"index":0,"custom":{"input":"}y"}}]}`}, `f:a:x{}y`},
		"text in between":              {[]string{`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}`, `{"content":"x"}`, `{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}`}, `f:a:{}`},
	} {
		got := tell(t, decode(t, chunks(append(c.deltas, finishWith("tool_calls"), done)...)))
		var words []string
		for _, call := range got.Calls {
			if !call.Closed {
				t.Errorf("%s: the call %s is not closed", name, call.ID)
			}
			words = append(words, call.Name+":"+call.ID+":"+call.Input)
		}
		if all := strings.Join(words, " "); all != c.want || got.Stop.Word != translate.ToolUse {
			t.Errorf("%s: %s %s, want %s", name, all, got.Stop.Word, c.want)
		}
	}
}

func TestMalformedCallsFail(t *testing.T) {
	for name, deltas := range map[string][]string{
		"arguments of a call that was complete": {`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`, `{"content":"x"}`, `{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}`},
		"a call without a name":                 {`{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{}"}}]}`},
	} {
		got := tell(t, decode(t, chunks(append(deltas, finishWith("tool_calls"), done)...)))
		if got.Ended || !strings.HasPrefix(got.Failed, "upstream_malformed") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestReasoningOfEveryVendor(t *testing.T) {
	for name, c := range map[string]struct{ delta, want, text string }{
		"DeepSeek":         {`{"reasoning_content":"why"}`, "why", ""},
		"Groq":             {`{"reasoning":"why"}`, "why", ""},
		"OpenRouter":       {`{"reasoning":"why","reasoning_details":[{"type":"reasoning.text","text":"why","index":0}]}`, "why", ""},
		"two names":        {`{"reasoning":"why","reasoning_content":"why"}`, "why", ""},
		"a summary":        {`{"reasoning_details":[{"type":"reasoning.summary","summary":"why","index":0}]}`, "why", ""},
		"Mistral":          {`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"why"}]},{"type":"text","text":"so"}]}`, "why", "so"},
		"LiteLLM":          {`{"reasoning_content":"why","thinking_blocks":[{"type":"thinking","thinking":"why","signature":""}]}`, "why", ""},
		"only sealed":      {`{"reasoning":"why","reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]}`, "why", ""},
		"text behind it":   {`{"content":"so","reasoning":"why"}`, "why", "so"},
		"no reasoning":     {`{"content":"so","reasoning":null,"reasoning_content":""}`, "", "so"},
		"the older naming": {`{"thinking":"why"}`, "why", ""},
	} {
		got := tell(t, decode(t, chunks(c.delta, finishWith("stop"), done)))
		if got.Reasoning != c.want || got.Text != c.text {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestSealsOfReasoning(t *testing.T) {
	events := decode(t, chunks(
		`{"reasoning_details":[{"type":"reasoning.text","text":"a","signature":"","index":0}]}`, `{"reasoning_details":[{"type":"reasoning.text","signature":"S1","index":0}]}`,
		`{"reasoning_details":[{"type":"reasoning.text","text":"b","index":1}]}`, `{"reasoning_details":[{"type":"reasoning.encrypted","data":"S2","index":1}]}`,
		`{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"S3"}}}]}`,
		finishWith("tool_calls"), done))
	want := []string{
		"", "open reasoning  ", "delta a", `seal {"type":"reasoning.text","signature":"S1","index":0}`, "close",
		"open reasoning  ", "delta b", `seal {"type":"reasoning.encrypted","data":"S2","index":1}`, "close",
		"open reasoning c ", `seal {"google":{"thought_signature":"S3"}}`, "close", "open call c f", "delta {}", "close", "stop tool_use",
	}
	if diff := cmp.Diff(want, shape(events)); diff != "" {
		t.Error(diff)
	}
}

func TestFinishReasons(t *testing.T) {
	call := `{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`
	for _, c := range []struct {
		deltas []string
		want   translate.StopWord
		back   string // the client's finish reason
	}{
		{[]string{`{"content":"x"}`, finishWith("stop")}, translate.End, "stop"},
		{[]string{`{"content":"x"}`, finishWith("eos_token")}, translate.End, "stop"},
		{[]string{`{"content":"x"}`, finishWith("length")}, translate.Length, "length"},
		{[]string{`{"content":"x"}`, finishWith("content_filter")}, translate.Filter, "content_filter"},
		{[]string{`{"refusal":"no"}`, finishWith("stop")}, translate.Refused, "content_filter"},
		{[]string{`{"refusal":"no"}`, finishWith("content_filter")}, translate.Refused, "content_filter"},
		{[]string{`{"content":"x"}`, finishWith("insufficient_system_resource")}, translate.Odd, "insufficient_system_resource"},
		{[]string{`{"content":"x"}`, finishWith("tool_calls")}, translate.Odd, "unknown"},
		{[]string{call, finishWith("tool_calls")}, translate.ToolUse, "tool_calls"},
		{[]string{call, finishWith("function_call")}, translate.ToolUse, "tool_calls"},
		{[]string{call, finishWith("stop")}, translate.ToolUse, "tool_calls"},
		{[]string{call, finishWith("length")}, translate.Length, "length"},
		{[]string{call, finishWith("odd")}, translate.Odd, "odd"},
		{[]string{call, finishWith("tool_calls"), finishWith("stop")}, translate.ToolUse, "tool_calls"},
		{[]string{`{"content":"x"}`, finishWith("stop"), finishWith("length")}, translate.Length, "length"},
		{[]string{`{"content":"x"}`, finishWith("length"), finishWith("stop")}, translate.Length, "length"},
		{[]string{`{"content":"x"}`, finishWith("odd"), finishWith("stop")}, translate.Odd, "odd"},
		{[]string{`{"content":"x"}`, `{"choices":[{"delta":{},"finish_reason":"stop","stop_reason":"END"}]}`}, translate.StopSeq, "stop"},
		{[]string{`{"content":"x"}`, `{"choices":[{"delta":{},"finish_reason":"stop","matched_stop":2}]}`}, translate.End, "stop"},
	} {
		events := decode(t, chunks(append(c.deltas, done)...))
		got := tell(t, events)
		if got.Stop.Word != c.want {
			t.Errorf("%v: %+v, want %s", c.deltas, got.Stop, c.want)
		}
		out, _ := encode(client(true), events)
		if last := out[len(out)-2].data; !strings.Contains(last, `"finish_reason":"`+c.back+`"`) {
			t.Errorf("%v: the client gets %s", c.deltas, last)
		}
	}
}

func TestUsageOfEveryVendor(t *testing.T) {
	for name, c := range map[string]struct {
		chunk string
		want  translate.Usage
	}{
		"OpenAI":     {`{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":10},"completion_tokens_details":{"reasoning_tokens":5}}}`, translate.Usage{Fresh: 30, Cached: 60, Write: 10, Output: 20, Thinking: 5}},
		"lifetimes":  {`{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":1,"prompt_tokens_details":{"cache_write_tokens":30,"cache_write_tokens_details":{"ttl_30m":10,"ttl_12h":20}}}}`, translate.Usage{Fresh: 70, Write30m: 10, Write12h: 20, Output: 1}},
		"DeepSeek":   {`{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36}}`, translate.Usage{Fresh: 36, Cached: 64, Output: 20}},
		"Moonshot":   {`{"choices":[{"index":0,"delta":{},"usage":{"prompt_tokens":9,"completion_tokens":2,"cached_tokens":4}}]}`, translate.Usage{Fresh: 5, Cached: 4, Output: 2}},
		"Groq":       {`{"choices":[],"x_groq":{"usage":{"prompt_tokens":9,"completion_tokens":2}}}`, translate.Usage{Fresh: 9, Output: 2}},
		"xAI":        {`{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":22,"completion_tokens_details":{"reasoning_tokens":7}}}`, translate.Usage{Fresh: 10, Output: 12, Thinking: 7}},
		"total only": {`{"choices":[],"usage":{"prompt_tokens":10,"total_tokens":22}}`, translate.Usage{Fresh: 10, Output: 12}},
		"impossible": {`{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":40},"completion_tokens_details":{"reasoning_tokens":9}}}`, translate.Usage{Cached: 40, Output: 3, Thinking: 3}},
	} {
		got := tell(t, decode(t, chunks(`{"content":"x"}`, finishWith("stop"), c.chunk, done)))
		if diff := cmp.Diff(c.want, got.Usage); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestFailures(t *testing.T) {
	for name, c := range map[string]struct{ data, want string }{
		"an error alone":     {`{"error":{"message":"busy","code":"server_error"}}`, "server_error: busy"},
		"beside choices":     {`{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}],"error":{"message":"busy","code":502}}`, "502: busy"},
		"in a choice":        {`{"choices":[{"index":0,"delta":{},"error":{"message":"busy","code":502},"finish_reason":"error"}]}`, "502: busy"},
		"the fields alone":   {`{"object":"error","message":"busy","code":503}`, "503: busy"},
		"a reason alone":     {`{"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}`, "upstream_error: The provider ended the answer with an error."},
		"several choices":    {`{"choices":[{"index":1,"delta":{"content":"y"}}]}`, "upstream_protocol: The provider gave several choices where one was asked for."},
		"of another format":  {`{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`, ": busy"},
		"a string":           {`{"error":"busy"}`, ": busy"},
		"a failure's tokens": {`{"error":{"message":"busy","code":"server_error"},"usage":{"prompt_tokens":1}}`, "server_error: busy"},
	} {
		d := newAnswerDecoder()
		var all []translate.Event
		for _, f := range append(chunks(`{"content":"x"}`), frame{"", c.data}, frame{"", done}) {
			got, err := d.Event(f.name, []byte(f.data))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, got...)
		}
		all = append(all, d.End()...)
		got := tell(t, all)
		if got.Failed != c.want || got.Ended {
			t.Errorf("%s: %q, want %q", name, got.Failed, c.want)
		}
		out, classes := encode(client(true), all)
		if last := len(out) - 1; classes[last] != translate.OutFailure || slices.Contains(classes, translate.OutTerminal) || strings.Contains(out[last].data, done) {
			t.Errorf("%s: the client gets %v", name, out)
		}
		if _, err := encodeWhole(client(false), all); err == nil {
			t.Errorf("%s: there is a whole answer", name)
		}
	}
}

func TestWholeRefusesWhatIsNoAnswer(t *testing.T) {
	for _, body := range []string{``, `[]`, `{}`, `{"choices":null}`, `{"choices":[]}`, `{"choices":{}}`, `{"choices":[{}]`, `<html>`} {
		if events, err := newAnswerDecoder().Whole([]byte(body)); err == nil {
			t.Errorf("%s: %+v", body, events)
		}
	}
	for _, body := range []string{`{"choices":[{"message":{"content":"x"}}]}`, `{"choices":[{}]}`} {
		events, err := newAnswerDecoder().Whole([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		if got := tell(t, events); got.Stop.Word != translate.Odd {
			t.Errorf("%s without a finish reason: %+v", body, got)
		}
	}
}

func TestErrorsThatSayNothingAreNone(t *testing.T) {
	for _, no := range []string{`null`, `""`, `false`, `[]`} {
		got := tell(t, decode(t, []frame{{"", `{"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}],"error":` + no + `}`}}))
		if got.Text != "x" || !got.Ended {
			t.Errorf("error %s: %+v", no, got)
		}
	}
}

func TestWhatIsNoJSONIsNoEvent(t *testing.T) {
	for _, data := range []string{`{"choices":[}`, `nope`, `{`} {
		if _, err := newAnswerDecoder().Event("", []byte(data)); err == nil {
			t.Errorf("%s was read", data)
		}
	}
	for _, data := range []string{``, ` `, `"ping"`, `[]`, `1`} {
		events, err := newAnswerDecoder().Event("", []byte(data))
		if err != nil || len(events) != 1 || events[0].Kind != translate.Beat {
			t.Errorf("%q: %+v %v", data, events, err)
		}
	}
}

// Reading an event costs little, whatever it is.
func TestAllocations(t *testing.T) {
	d := newAnswerDecoder()
	e := newAnswerEncoder(client(true), identity)
	data := []byte(`{"id":"u1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"hello"},"finish_reason":null}]}`)
	var out []translate.Out
	once := func() {
		events, err := d.Event("", data)
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range events {
			out = e.Events(out[:0], ev)
		}
	}
	once()
	if n := testing.AllocsPerRun(100, once); n > 4 {
		t.Errorf("%v allocations for an event", n)
	}
	if !bytes.Contains(out[0].Data, []byte(`"delta":{"content":"hello"}`)) {
		t.Errorf("%s", out[0].Data)
	}
}

func BenchmarkEvent(b *testing.B) {
	d := newAnswerDecoder()
	e := newAnswerEncoder(client(true), identity)
	data := []byte(`{"id":"u1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"hello"},"finish_reason":null}]}`)
	var out []translate.Out
	b.ReportAllocs()
	for b.Loop() {
		events, _ := d.Event("", data)
		for _, ev := range events {
			out = e.Events(out[:0], ev)
		}
	}
}
