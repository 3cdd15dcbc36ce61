package chat_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/protocol/chat"
	"rubicon/internal/wire/protocol/recorded"
	"rubicon/internal/wire/sse"
)

// stream makes an SSE body of data lines; a line that starts with a colon is a
// comment.
func stream(lines ...string) string {
	var b strings.Builder
	for _, l := range lines {
		if !strings.HasPrefix(l, ":") && !strings.HasPrefix(l, "event:") {
			l = "data: " + l
		}
		b.WriteString(l + "\n\n")
	}
	return b.String()
}

func run(o protocol.ReaderOptions, lines ...string) (recorded.Play, *protocol.Observed) {
	r := chat.NewReader(o)
	return recorded.Run(strings.NewReader(stream(lines...)), r), r.Seen()
}

func record(data string) sse.Frame {
	return sse.Frame{Raw: []byte("data: " + data + "\n\n"), Data: []byte(data), HasData: true}
}

func choice(inner string) string {
	return `{"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,` + inner + `}]}`
}

func delta(d string) string { return choice(`"delta":` + d + `,"finish_reason":null`) }

const (
	role   = `{"id":"c1","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`
	hello  = `{"id":"c1","choices":[{"index":0,"delta":{"content":"hello"},"finish_reason":null}]}`
	stop   = `{"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	usage  = `{"id":"c1","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`
	finish = "[DONE]"
)

func TestClasses(t *testing.T) {
	const (
		out  = protocol.Output
		life = protocol.Lifecycle
		beat = protocol.Heartbeat
		fail = protocol.Failure
	)
	for _, c := range []struct {
		name, data string
		want       protocol.Class
	}{
		// Deltas with a role and otherwise null, empty or no fields.
		{"role and empty content", role, life},
		{"role alone", delta(`{"role":"assistant"}`), life},
		{"nulls", delta(`{"role":"assistant","content":null,"refusal":null,"tool_calls":null,"reasoning":null}`), life},
		{"empty fields", delta(`{"content":"","tool_calls":[],"audio":{},"x":[ ],"y":{ }}`), life},
		{"empty delta", delta(`{}`), life},
		{"null delta", delta(`null`), life},
		{"no delta", choice(`"finish_reason":null`), life},
		{"Azure's filter results", choice(`"content_filter_results":{"hate":{"filtered":false}},"content_filter_offsets":{"x":1},"delta":{"role":"assistant"}`), life},
		{"logprobs without text", choice(`"logprobs":{"content":[]},"delta":{"role":"assistant"}`), life},
		{"logprobs of nothing", choice(`"logprobs":{"content":[],"refusal":null,"x":{"y":""}},"delta":{"content":""}`), life},
		{"vLLM's stop_reason", choice(`"stop_reason":2,"delta":{"content":""}`), life},
		// Chunks with empty choices.
		{"Azure's prompt filter", `{"choices":[],"id":"","object":"","prompt_filter_results":[{"prompt_index":0}]}`, life},
		{"usage chunk", usage, life},
		{"no choices but a chunk", `{"object":"chat.completion.chunk","id":"c1"}`, life},
		{"null choices", `{"choices":null,"id":"c1"}`, life},
		{"usage without choices", `{"usage":{"prompt_tokens":1}}`, life},
		{"a choice that is null", `{"choices":[null]}`, life},
		// A finish before output.
		{"finish", stop, life},
		{"finish of a filter", choice(`"delta":{"content":""},"finish_reason":"content_filter"`), life},
		// Everything else.
		{"content", hello, out},
		{"a blank", delta(`{"content":" "}`), out},
		{"content in parts", delta(`{"content":[{"type":"text","text":"x"}]}`), out},
		{"content with the role", delta(`{"role":"assistant","content":"x"}`), out},
		{"refusal", delta(`{"refusal":"no"}`), out},
		{"reasoning", delta(`{"reasoning":"hm"}`), out},
		{"reasoning_content", delta(`{"content":"","reasoning_content":"hm"}`), out},
		{"reasoning_details", delta(`{"reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]}`), out},
		{"tool call begun", delta(`{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":""}}]}`), out},
		{"tool arguments", delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{"}}]}`), out},
		{"function call", delta(`{"function_call":{"name":"f","arguments":"{}"}}`), out},
		{"audio", delta(`{"audio":{"id":"audio_1"}}`), out},
		{"a vendor's field", delta(`{"x_vendor":{"a":1}}`), out},
		{"a vendor's number", delta(`{"x_vendor":0}`), out},
		{"a vendor's false", delta(`{"x_vendor":false}`), out},
		{"an odd role", delta(`{"role":7}`), out},
		{"logprobs alone", choice(`"logprobs":{"content":[{"token":"Hi","logprob":-1}],"refusal":null},"delta":{"content":""}`), out},
		{"logprobs of a refusal", choice(`"logprobs":{"content":null,"refusal":[{"token":"No"}]},"delta":{}`), out},
		{"delta that is text", choice(`"delta":"x"`), out},
		{"message in a chunk", choice(`"message":{"role":"assistant","content":"x"}`), out},
		{"text of old completions", choice(`"text":"x"`), out},
		{"unknown part of a choice", choice(`"delta":{},"x_vendor":"y"`), out},
		{"finish with the last content", choice(`"delta":{"content":"x"},"finish_reason":"stop"`), out},
		{"a choice that is no object", `{"choices":["x"]}`, out},
		{"choices that are no list", `{"choices":{"0":{}}}`, out},
		{"typed JSON of another API", `{"type":"response.created"}`, out},
		{"second choice has output", `{"choices":[{"index":0,"delta":{}},{"index":1,"delta":{"content":"x"}}]}`, out},
		// Heartbeats: other JSON.
		{"empty object", `{}`, beat},
		{"object", `{"a":1}`, beat},
		{"null error alone", `{"error":null}`, beat},
		{"number", `17`, beat},
		{"string", `"hi"`, beat},
		{"list", `[1]`, beat},
		{"null", `null`, beat},
		// Errors.
		{"error object", `{"error":{"message":"m","type":"server_error","code":null}}`, fail},
		{"error string", `{"error":"no"}`, fail},
		{"error list", `{"error":[{"message":"m"}]}`, fail},
		{"error number", `{"error":503}`, fail},
		{"error true", `{"error":true,"message":"m"}`, fail},
		{"empty error object", `{"error":{}}`, fail},
		{"error beside a chunk", `{"id":"c1","choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}],"error":{"code":502,"message":"m"}}`, fail},
		{"error beside content", `{"error":{"message":"m"},"choices":[{"delta":{"content":"x"}}]}`, fail},
		{"finish_reason error", choice(`"delta":{},"finish_reason":"error"`), fail},
		{"error in a choice", choice(`"delta":{},"error":{"message":"m","code":"c"}`), fail},
		{"vLLM", `{"object":"error","message":"m","type":"BadRequestError","param":null,"code":400}`, fail},
		{"as Messages says it", `{"type":"error","error":{"type":"overloaded_error","message":"m"}}`, fail},
		// No errors.
		{"null error in a chunk", `{"error":null,"choices":[{"index":0,"delta":{"content":"x"}}]}`, out},
		{"empty error in a chunk", `{"error":{},"choices":[{"index":0,"delta":{"role":"assistant"}}]}`, life},
		{"no error, in words", `{"error":"","choices":[{"index":0,"delta":{"role":"assistant"}}]}`, life},
		{"error false", `{"error":false,"choices":[]}`, life},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := chat.NewReader(protocol.ReaderOptions{})
			ev, err := r.Read(record(c.data))
			if err != nil {
				t.Fatal(err)
			}
			if ev.Class != c.want {
				t.Errorf("got %s, want %s", ev.Class, c.want)
			}
			if ev.Type != "" || string(ev.Data) != c.data || string(ev.Raw) != "data: "+c.data+"\n\n" {
				t.Errorf("bytes or type changed: %q %q %q", ev.Type, ev.Data, ev.Raw)
			}
			events, outputs := 1, int64(0)
			if c.want == beat {
				events = 0
			}
			if c.want == out {
				outputs = 1
			}
			if s := r.Seen(); s.Events != events || s.OutputEvents != outputs || (s.Failure != nil) != (c.want == fail) {
				t.Errorf("seen: %+v", s)
			}
		})
	}
}

func TestRecordsWithoutJSON(t *testing.T) {
	for _, c := range []struct {
		name   string
		frame  sse.Frame
		err    error
		hidden bool
	}{
		{"comment", sse.Frame{Raw: []byte(": PROCESSING\n\n"), Comment: true}, nil, false},
		{"wrapped comment", record(": PROCESSING"), nil, true},
		{"name without data", sse.Frame{Raw: []byte("event: x\n\n"), Name: []byte("x")}, nil, true},
		{"empty data", sse.Frame{Raw: []byte("data:\n\n"), HasData: true}, nil, true},
		{"HTML", record("<html>"), protocol.ErrNotProtocol, false},
		{"cut JSON", record(`{"choices":[`), protocol.ErrNotProtocol, false},
		{"bad JSON with an error", record(`{"error":{"message":"m"}`), protocol.ErrNotProtocol, false},
		{"two documents", record(hello + hello), protocol.ErrNotProtocol, false},
		{"other sentinel", record("[END]"), protocol.ErrNotProtocol, false},
		{"white space that is none in JSON", record("{}\v"), protocol.ErrNotProtocol, false},
		{"deep", record(`{"a":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`), protocol.ErrNotProtocol, false},
		{"sentinel before anything", record(finish), nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := chat.NewReader(protocol.ReaderOptions{})
			before := *r.Seen()
			ev, err := r.Read(c.frame)
			if err != c.err || ev.Hidden != c.hidden || err == nil && ev.Class != protocol.Heartbeat {
				t.Errorf("got %+v, %v", ev, err)
			}
			if d := cmp.Diff(before, *r.Seen()); d != "" || r.Stage() != protocol.Open {
				t.Errorf("something was taken for an event: %s", d)
			}
		})
	}
}

func TestEventNames(t *testing.T) {
	for _, c := range []struct {
		name, data string
		want       protocol.Class
	}{
		{"error", `{"message":"m"}`, protocol.Failure},
		{"message", `{}`, protocol.Heartbeat},
		{"ping", `{}`, protocol.Output}, // typed, and no type of this API
		{"x", hello, protocol.Output},
		{"x", role, protocol.Lifecycle},
	} {
		f := record(c.data)
		f.Name = []byte(c.name)
		ev, err := chat.NewReader(protocol.ReaderOptions{}).Read(f)
		if err != nil || ev.Class != c.want {
			t.Errorf("event %s, %s: got %s, %v; want %s", c.name, c.data, ev.Class, err, c.want)
		}
	}
}

// classes that are easy to read in a table: o l h t f, upper case if hidden.
func letters(p recorded.Play) string {
	var b strings.Builder
	for _, ev := range p.Events {
		l := string("olhtf"[ev.Class])
		if ev.Hidden {
			l = strings.ToUpper(l)
		}
		b.WriteString(l)
	}
	return b.String()
}

func TestCompleteness(t *testing.T) {
	second := func(inner string) string { return `{"choices":[{"index":1,` + inner + `}]}` }
	const tail = "data: [DONE]\n\n"
	for _, c := range []struct {
		name    string
		choices int64
		lines   []string
		letters string
		stage   protocol.Stage
		tail    string
	}{
		{"whole", 1, []string{role, hello, stop, usage, finish}, "looLt", protocol.Closed, ""},
		{"no output at all", 1, []string{role, stop, usage, finish}, "llLt", protocol.Closed, ""},
		{"only [DONE]", 1, []string{finish}, "H", protocol.Open, ""},
		{"[DONE] without a finish", 1, []string{role, hello, finish}, "loH", protocol.Open, ""},
		{"[DONE] too early, then whole", 1, []string{role, finish, hello, stop, finish}, "lHoot", protocol.Closed, ""},
		{"cut after output", 1, []string{role, hello}, "lo", protocol.Open, ""},
		{"[DONE] missing", 1, []string{role, hello, stop, usage}, "looL", protocol.Finishing, tail},
		{"usage and [DONE] missing", 1, []string{role, hello, stop}, "loo", protocol.Finishing, tail},
		{"finish with content", 1, []string{choice(`"delta":{"content":"x"},"finish_reason":"length"`)}, "o", protocol.Finishing, tail},
		{"finish said twice", 1, []string{hello, stop, stop, finish}, "ooot", protocol.Closed, ""},
		{"finish_reason empty on every chunk", 1, []string{choice(`"delta":{"content":"x"},"finish_reason":""`)}, "o", protocol.Open, ""},
		{"finish_reason \"null\"", 1, []string{choice(`"delta":{"content":"x"},"finish_reason":"null"`)}, "o", protocol.Open, ""},
		{"finish_reason a number", 1, []string{choice(`"delta":{"content":"x"},"finish_reason":1`)}, "o", protocol.Open, ""},
		{"finish without delta", 1, []string{hello, choice(`"finish_reason":"stop"`)}, "oo", protocol.Finishing, tail},
		{"no index", 1, []string{`{"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}`}, "o", protocol.Finishing, tail},
		{"two, one finished", 2, []string{hello, stop}, "oo", protocol.Open, ""},
		{"two, both finished", 2, []string{hello, stop, second(`"delta":{"content":"x"}`), second(`"delta":{},"finish_reason":"stop"`)}, "oooo", protocol.Finishing, tail},
		{"two in one chunk", 2, []string{`{"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"},{"index":1,"delta":{"content":"x"},"finish_reason":"stop"}]}`}, "o", protocol.Finishing, tail},
		{"two asked for, one given", 2, []string{hello, stop, finish}, "oot", protocol.Closed, ""},
		{"two, one open at [DONE]", 2, []string{hello, second(`"delta":{"content":"x"}`), stop, finish}, "oooH", protocol.Open, ""},
		{"one asked for, two given", 1, []string{hello, stop, second(`"delta":{"content":"x"}`)}, "ooo", protocol.Open, ""},
		{"n unknown", 0, []string{hello, stop}, "oo", protocol.Finishing, tail},
		{"comments in between", 1, []string{": a", role, ": b", hello, stop, ": c", finish}, "hlhooht", protocol.Closed, ""},
		{"index beyond all reason", 1, []string{`{"choices":[{"index":99999999999,"delta":{"content":"x"},"finish_reason":"stop"}]}`}, "o", protocol.Finishing, tail},
		{"error", 1, []string{role, `{"error":{"message":"m"}}`}, "lf", protocol.Closed, ""},
		{"nothing read after an error", 1, []string{hello, `{"error":"x"}`, stop, finish}, "of", protocol.Closed, ""},
		{"error after the finish", 1, []string{hello, stop, `{"error":"x"}`}, "oof", protocol.Closed, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := chat.NewReader(protocol.ReaderOptions{StripUsage: true, Choices: c.choices})
			p := recorded.Run(strings.NewReader(stream(c.lines...)), r)
			if p.Err != nil {
				t.Fatal(p.Err)
			}
			if got := letters(p); got != c.letters || r.Stage() != c.stage || string(p.Tail) != c.tail {
				t.Errorf("got %s, stage %d, tail %q; want %s, %d, %q", got, r.Stage(), p.Tail, c.letters, c.stage, c.tail)
			}
		})
	}
}

func TestManyChoicesInOneChunk(t *testing.T) {
	var choices []string
	for i := range 128 {
		choices = append(choices, `{"index":`+strconv.Itoa(i)+`,"delta":{},"finish_reason":"stop"}`)
	}
	r := chat.NewReader(protocol.ReaderOptions{Choices: 128})
	if _, err := r.Read(record(`{"choices":[` + strings.Join(choices, ",") + `]}`)); err != nil {
		t.Fatal(err)
	}
	if r.Stage() != protocol.Finishing {
		t.Error("128 finished choices do not settle the stream")
	}
}

func TestUsageChunkIsStripped(t *testing.T) {
	p, seen := run(protocol.ReaderOptions{StripUsage: true}, role, hello, stop, usage, finish)
	if got, want := p.Shown(), stream(role, hello, stop, finish); got != want {
		t.Errorf("got %s", cmp.Diff(want, got))
	}
	if !seen.Reported || seen.Usage.Output != 5 {
		t.Errorf("the hidden usage was not read: %+v", seen)
	}
	p, _ = run(protocol.ReaderOptions{}, role, hello, stop, usage, finish)
	if got, want := p.Shown(), stream(role, hello, stop, usage, finish); got != want {
		t.Errorf("asked for: got %s", cmp.Diff(want, got))
	}
	for _, kept := range []string{
		choice(`"delta":{},"finish_reason":"stop"},{"index":1`), // usage or not, choices are answers
		`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`,
		`{"choices":[],"prompt_filter_results":[{}]}`,
		`{"choices":[],"usage":null}`,
		`{"choices":[],"usage":{"prompt_tokens":1},"error":{"message":"m"}}`,
	} {
		if p, _ := run(protocol.ReaderOptions{StripUsage: true}, kept); len(p.Events) != 1 || p.Events[0].Hidden {
			t.Errorf("%s was hidden", kept)
		}
	}
}

// A record that is no object is a failure where its name says so.
func TestNamedFailures(t *testing.T) {
	for data, want := range map[string]protocol.FailureInfo{`"m \"x\""`: {Message: `m "x"`}, `[{"code":502,"message":"m"}]`: {Code: "502", Message: "m"}, `null`: {}} {
		r := chat.NewReader(protocol.ReaderOptions{})
		ev, err := r.Read(sse.Frame{Raw: []byte("event: error\ndata: " + data + "\n\n"), Name: []byte("error"), Data: []byte(data), HasData: true})
		if err != nil || ev.Class != protocol.Failure || r.Stage() != protocol.Closed || r.Seen().Events != 1 || r.Seen().Failure == nil {
			t.Fatalf("%s is %v, %v", data, ev.Class, err)
		}
		if d := cmp.Diff(want, *r.Seen().Failure); d != "" {
			t.Errorf("%s: %s", data, d)
		}
	}
}

func TestFailureInfo(t *testing.T) {
	yes := true
	for _, c := range []struct {
		name, data string
		want       protocol.FailureInfo
	}{
		{"OpenAI", `{"error":{"message":"m","type":"server_error","param":null,"code":null}}`, protocol.FailureInfo{Type: "server_error", Message: "m"}},
		{"numeric code", `{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED"}}`, protocol.FailureInfo{Code: "429", Type: "resource_exhausted", State: "resource_exhausted", Message: "m"}},
		{"string", `{"error":"overloaded"}`, protocol.FailureInfo{Message: "overloaded"}},
		{"list", `{"error":[{"code":"c","message":"m"}]}`, protocol.FailureInfo{Code: "c", Message: "m"}},
		{"number", `{"error":503}`, protocol.FailureInfo{Code: "503"}},
		{"true", `{"error":true,"message":"m","code":"c"}`, protocol.FailureInfo{Code: "c", Message: "m"}},
		{"vLLM", `{"object":"error","message":"m","type":"BadRequestError","param":null,"code":400}`, protocol.FailureInfo{Code: "400", Type: "BadRequestError", Message: "m"}},
		{"OpenRouter, error beside", `{"error":{"code":"server_error","message":"m"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`, protocol.FailureInfo{Code: "server_error", Message: "m"}},
		{"OpenRouter, error in the choice", choice(`"delta":{},"finish_reason":"error","error":{"code":502,"message":"m","retry_after":3}`), protocol.FailureInfo{Code: "502", Message: "m", RetryAfter: 3 * time.Second}},
		{"finish_reason alone", choice(`"delta":{},"finish_reason":"error"`), protocol.FailureInfo{}},
		{"another gateway of ours", `{"error":{"message":"m","type":"rate_limit_error","code":"rate_limit_exceeded","param":"p","retryable":true,"retry_after":2}}`, protocol.FailureInfo{Code: "rate_limit_exceeded", Type: "rate_limit_error", Message: "m", Param: "p", Retryable: &yes, RetryAfter: 2 * time.Second}},
		{"typed event with a text", `{"type":"error","error":"m"}`, protocol.FailureInfo{Message: "m"}},
		{"absurd delay", `{"error":{"message":"m","retry_after":1e300}}`, protocol.FailureInfo{Message: "m", RetryAfter: 24 * time.Hour}},
		{"negative delay", `{"error":{"message":"m","retry_after":-1}}`, protocol.FailureInfo{Message: "m"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, seen := run(protocol.ReaderOptions{}, c.data)
			if seen.Failure == nil {
				t.Fatal("no failure")
			}
			if d := cmp.Diff(c.want, *seen.Failure); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestFailureWithResult(t *testing.T) {
	_, seen := run(protocol.ReaderOptions{}, role, `{"error":{"message":"m"},"choices":[{"index":0,"delta":{"content":"abc"},"finish_reason":"error"}]}`)
	if !seen.Result || !seen.ShowsExecution || seen.TextBytes != 3 {
		t.Errorf("got %+v", seen)
	}
	_, seen = run(protocol.ReaderOptions{}, role, hello, `{"error":{"message":"m"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`)
	if seen.Result || seen.ShowsExecution {
		t.Errorf("output of earlier events is no result of the failure's: %+v", seen)
	}
}

func TestTextBytes(t *testing.T) {
	for _, c := range []struct {
		name, delta string
		want        int64
	}{
		{"content", `{"content":"grün"}`, 5},
		{"escapes", `{"content":"a\n\u00fc\ud83d\ude00"}`, 8},
		{"refusal", `{"refusal":"nope"}`, 4},
		{"reasoning once under two names", `{"reasoning":"abc","reasoning_content":"abc","reasoning_details":[{"type":"reasoning.text","text":"abc"}]}`, 3},
		{"reasoning details alone", `{"reasoning_details":[{"summary":"abc","format":"x"},{"text":"de","signature":"zzzz"}]}`, 5},
		{"reasoning and content", `{"reasoning":"abc","content":"de"}`, 5},
		{"arguments", `{"tool_calls":[{"function":{"name":"f","arguments":"{\"a\""}},{"function":{"arguments":"xy"}}]}`, 6},
		{"custom tool", `{"tool_calls":[{"custom":{"name":"f","input":"abc"}}]}`, 3},
		{"function call", `{"function_call":{"arguments":"abc"}}`, 3},
		{"transcript", `{"audio":{"data":"AAAA","transcript":"abc"}}`, 3},
		{"Mistral's parts", `{"content":[{"type":"thinking","thinking":[{"type":"text","text":"abc"}]},{"type":"text","text":"de"}]}`, 5},
		{"no text", `{"role":"assistant","x":"abc"}`, 0},
		{"content that is no text", `{"content":7}`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, seen := run(protocol.ReaderOptions{}, delta(c.delta))
			if seen.TextBytes != c.want {
				t.Errorf("got %d, want %d", seen.TextBytes, c.want)
			}
		})
	}
	if _, seen := run(protocol.ReaderOptions{}, choice(`"delta":{"content":"ab"},"message":{"content":"abab"}`)); seen.TextBytes != 2 {
		t.Errorf("a message beside the delta was counted: %d", seen.TextBytes)
	}
}

func TestNamesAndState(t *testing.T) {
	_, seen := run(protocol.ReaderOptions{},
		`{"id":"","model":"","choices":[]}`,
		`{"id":"chatcmpl-1","model":"m-1","service_tier":"auto","choices":[{"index":0,"delta":{"role":"assistant","audio":{"id":"audio_1"}}}]}`,
		`{"id":"gen-2","model":"m-2","choices":[{"index":0,"delta":{"audio":{"id":"audio_1","data":"AA"}}}]}`,
		delta(`{"reasoning_details":[{"type":"reasoning.encrypted","data":"s\u0065cret"},{"type":"reasoning.text","text":"x","signature":null}]}`),
		delta(`{"tool_calls":[{"extra_content":{"google":{"thought_signature":"sig"}}}]}`),
		delta(`{"thinking_blocks":[{"type":"thinking","thinking":"x","signature":""}]}`),
		`{"service_tier":"default","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`)
	want := []protocol.StateID{
		{Kind: protocol.KindAudio, ID: "audio_1"},
		{Kind: protocol.KindSealed, ID: protocol.Seal("secret")},
		{Kind: protocol.KindSealed, ID: protocol.Seal("sig")},
	}
	if d := cmp.Diff(want, seen.State); d != "" {
		t.Error(d)
	}
	if seen.ResponseID != "chatcmpl-1" || seen.Model != "m-1" || seen.Tier != "default" || seen.Sequence != -1 || seen.Incomplete {
		t.Errorf("got %+v", seen)
	}
}

// The hot path: deltas of content, reasoning and arguments, finish_reason null.
func TestDeltasDoNotAllocate(t *testing.T) {
	for name, data := range map[string]string{
		"OpenAI":     `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","service_tier":"default","system_fingerprint":"fp","choices":[{"index":0,"delta":{"content":" hällo\n"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"abc"}`,
		"OpenRouter": `{"id":"gen-1","provider":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm","format":"f","index":0}]},"finish_reason":null,"native_finish_reason":null}]}`,
		"arguments":  delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":"}}]}`),
		"usage each": `{"choices":[{"index":0,"delta":{"content":"x"}}],"usage":{"prompt_tokens":1,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":1}}}`,
	} {
		r := chat.NewReader(protocol.ReaderOptions{StripUsage: true, Choices: 1})
		f := record(data)
		if n := testing.AllocsPerRun(100, func() {
			if ev, err := r.Read(f); err != nil || ev.Class != protocol.Output {
				t.Fatal(ev.Class, err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations an event", name, n)
		}
	}
}

func BenchmarkDelta(b *testing.B) {
	r := chat.NewReader(protocol.ReaderOptions{})
	f := record(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","service_tier":"default","system_fingerprint":"fp","choices":[{"index":0,"delta":{"content":" hello"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"abc"}`)
	b.SetBytes(int64(len(f.Data)))
	for b.Loop() {
		if _, err := r.Read(f); err != nil {
			b.Fatal(err)
		}
	}
}

func TestEnding(t *testing.T) {
	p := chat.Protocol()
	f := broken()
	got := string(p.Ending([]byte("x"), p.NewReader(protocol.ReaderOptions{}), f, false))
	want := "xdata: " + string(p.ErrorBody(f)) + "\n\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if strings.Contains(got, "DONE") || strings.Contains(got, "finish_reason") {
		t.Error("a cut answer looks finished")
	}
	if got := p.Ending([]byte("x"), p.NewReader(protocol.ReaderOptions{}), f, true); string(got) != "x" {
		t.Errorf("said twice: %q", got)
	}
	play, seen := run(protocol.ReaderOptions{}, strings.TrimSuffix(strings.TrimPrefix(want, "xdata: "), "\n\n"))
	if letters(play) != "f" || seen.Failure.Code != "upstream_stream_error" {
		t.Errorf("our own ending is read as %s, %+v", letters(play), seen.Failure)
	}
}
