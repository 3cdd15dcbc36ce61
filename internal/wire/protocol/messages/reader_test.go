package messages_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/protocol/messages"
	"rubicon/internal/wire/protocol/recorded"
	"rubicon/internal/wire/sse"
)

func event(name, data string) string { return "event: " + name + "\ndata: " + data + "\n\n" }

// typed makes an event whose name is the JSON's type.
func typed(data string) string {
	_, rest, _ := strings.Cut(data, `"type":"`)
	name, _, _ := strings.Cut(rest, `"`)
	return event(name, data)
}

func run(events ...string) (recorded.Play, protocol.Reader) {
	r := messages.NewReader(protocol.ReaderOptions{})
	return recorded.Run(strings.NewReader(strings.Join(events, "")), r), r
}

func record(name, data string) sse.Frame {
	return sse.Frame{Raw: []byte(event(name, data)), Name: []byte(name), Data: []byte(data), HasData: true}
}

const (
	start     = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":[],"stop_reason":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":3,"cache_read_input_tokens":2,"output_tokens":4,"service_tier":"standard"}}}`
	textBlock = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	text      = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hello"}}`
	blockStop = `{"type":"content_block_stop","index":0}`
	closing   = `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":7}}`
	stop      = `{"type":"message_stop"}`
	ping      = `{"type":"ping"}`
	overload  = `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`
)

func block(b string) string {
	return `{"type":"content_block_start","index":0,"content_block":` + b + `}`
}

func delta(d string) string {
	return `{"type":"content_block_delta","index":0,"delta":` + d + `}`
}

func TestClasses(t *testing.T) {
	const (
		out  = protocol.Output
		life = protocol.Lifecycle
		beat = protocol.Heartbeat
		term = protocol.Terminal
		fail = protocol.Failure
	)
	for _, c := range []struct {
		what, name, data string
		want             protocol.Class
		typ              string
	}{
		{"start", "message_start", start, life, "message_start"},
		{"empty text", "content_block_start", textBlock, life, "content_block_start"},
		{"empty text, citations null", "", block(`{"type":"text","text":"","citations":null}`), life, "content_block_start"},
		{"empty text, citations empty", "", block(`{"citations":[ ],"type":"text","text":""}`), life, "content_block_start"},
		{"empty thinking", "", block(`{"type":"thinking","thinking":"","signature":""}`), life, "content_block_start"},
		{"ping", "ping", ping, beat, "ping"},
		{"ping by its name", "ping", `{}`, beat, "ping"},
		{"stop", "message_stop", stop, term, "message_stop"},
		{"stop by its name", "message_stop", `{}`, term, "message_stop"},
		{"error", "error", overload, fail, "error"},
		{"error by its name", "error", `{"message":"m"}`, fail, "error"},
		{"error without any type", "", `{"error":{"message":"m"}}`, fail, ""},
		{"error under another name", "completion", `{"error":{"message":"m"}}`, fail, "completion"},
		{"error, spelt with escapes", "", `{"type":"\u0065rror","error":{"message":"m"}}`, fail, "error"},
		// Output: every other event.
		{"text begun", "", block(`{"type":"text","text":"x"}`), out, "content_block_start"},
		{"text with citations", "", block(`{"type":"text","text":"","citations":[{"url":"x"}]}`), out, "content_block_start"},
		{"thinking begun", "", block(`{"type":"thinking","thinking":"x"}`), out, "content_block_start"},
		{"thinking with a signature", "", block(`{"type":"thinking","thinking":"","signature":"x"}`), out, "content_block_start"},
		{"redacted thinking", "", block(`{"type":"redacted_thinking","data":"x"}`), out, "content_block_start"},
		{"tool use", "", block(`{"type":"tool_use","id":"toolu_1","name":"f","input":{}}`), out, "content_block_start"},
		{"server tool use", "", block(`{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`), out, "content_block_start"},
		{"empty block of an unknown kind", "", block(`{"type":"x"}`), out, "content_block_start"},
		{"no block", "", `{"type":"content_block_start"}`, out, "content_block_start"},
		{"text", "content_block_delta", text, out, "content_block_delta"},
		{"empty text delta", "", delta(`{"type":"text_delta","text":""}`), out, "content_block_delta"},
		{"arguments", "", delta(`{"type":"input_json_delta","partial_json":""}`), out, "content_block_delta"},
		{"block stop", "content_block_stop", blockStop, out, "content_block_stop"},
		{"message delta", "message_delta", closing, out, "message_delta"},
		{"unknown type", "x", `{"type":"new_thing"}`, out, "new_thing"},
		{"unknown name", "new_thing", `{}`, out, "new_thing"},
		{"unknown type with an error in it", "", `{"type":"new_thing","error":{"message":"m"}}`, out, "new_thing"},
		{"the JSON's type counts", "ping", text, out, "content_block_delta"},
		{"type that is no text", "ping", `{"type":5}`, beat, "ping"},
		// Other JSON.
		{"empty object", "", `{}`, beat, ""},
		{"what SSE names nothing", "message", `{}`, beat, ""},
		{"null error", "", `{"error":null}`, beat, ""},
		{"list", "message_stop", `[]`, beat, ""},
		{"string", "", `"message_stop"`, beat, ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			r := messages.NewReader(protocol.ReaderOptions{})
			f := record(c.name, c.data)
			ev, err := r.Read(f)
			if err != nil {
				t.Fatal(err)
			}
			if ev.Class != c.want || ev.Type != c.typ || ev.Hidden {
				t.Errorf("got %s %q, want %s %q", ev.Class, ev.Type, c.want, c.typ)
			}
			if string(ev.Data) != c.data || string(ev.Raw) != string(f.Raw) {
				t.Errorf("bytes changed: %q %q", ev.Data, ev.Raw)
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
			if closed := r.Stage() == protocol.Closed; closed != (c.want == term || c.want == fail) || r.Tail() != nil {
				t.Errorf("stage %d, tail %q", r.Stage(), r.Tail())
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
		{"comment", sse.Frame{Raw: []byte(": x\n\n"), Comment: true}, nil, false},
		{"wrapped comment", record("", ": x"), nil, true},
		{"name without data", sse.Frame{Raw: []byte("event: message_stop\n\n"), Name: []byte("message_stop")}, nil, true},
		{"empty data", sse.Frame{Raw: []byte("event: message_stop\ndata: \n\n"), Name: []byte("message_stop"), HasData: true}, nil, true},
		{"[DONE]", record("", "[DONE]"), protocol.ErrNotProtocol, false},
		{"HTML", record("message_stop", "<html>"), protocol.ErrNotProtocol, false},
		{"cut", record("message_stop", `{"type":"message_stop"`), protocol.ErrNotProtocol, false},
		{"white space that is none in JSON", record("message_stop", stop+"\v"), protocol.ErrNotProtocol, false},
		{"two documents", record("message_stop", stop+stop), protocol.ErrNotProtocol, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := messages.NewReader(protocol.ReaderOptions{})
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

func TestCompleteness(t *testing.T) {
	whole := []string{typed(start), typed(textBlock), typed(ping), typed(text), typed(blockStop), typed(closing), typed(stop)}
	for n := range whole {
		if _, r := run(whole[:n]...); r.Stage() != protocol.Open || r.Tail() != nil {
			t.Errorf("complete after %d of %d events", n, len(whole))
		}
	}
	p, r := run(append(whole, typed(text), typed(stop))...)
	if r.Stage() != protocol.Closed || p.Shown() != strings.Join(whole, "") {
		t.Errorf("stage %d, read on: %q", r.Stage(), p.Shown())
	}
	p, r = run(typed(start), typed(text), typed(overload), typed(stop))
	if r.Stage() != protocol.Closed || len(p.Events) != 3 || r.Seen().Failure == nil {
		t.Errorf("after an error: %+v", p.Classes())
	}
}

func TestFailureInfo(t *testing.T) {
	yes := true
	for _, c := range []struct {
		name, data string
		want       protocol.FailureInfo
	}{
		{"Anthropic", overload, protocol.FailureInfo{Type: "overloaded_error", Message: "Overloaded"}},
		{"flat", `{"type":"error","message":"m","code":"c"}`, protocol.FailureInfo{Code: "c", Message: "m"}},
		{"string", `{"type":"error","error":"m"}`, protocol.FailureInfo{Message: "m"}},
		{"numeric code", `{"type":"error","error":{"code":529,"message":"m"}}`, protocol.FailureInfo{Code: "529", Message: "m"}},
		{"a text by the event's name", `"m \"x\""`, protocol.FailureInfo{Message: `m "x"`}},
		{"a list by the event's name", `[{"code":"c"}]`, protocol.FailureInfo{Code: "c"}},
		{"an error in a text", `{"type":"error","error":"{\"code\":\"c\",\"message\":\"m\"}"}`, protocol.FailureInfo{Code: "c", Message: "m"}},
		{"nothing", `{"type":"error"}`, protocol.FailureInfo{}},
		{"another gateway of ours", `{"type":"error","error":{"type":"rate_limit_error","code":"rate_limit_exceeded","message":"m","retryable":true,"retry_after":2},"request_id":"req_1"}`,
			protocol.FailureInfo{Code: "rate_limit_exceeded", Type: "rate_limit_error", Message: "m", Retryable: &yes, RetryAfter: 2 * time.Second}},
	} {
		_, r := run(event("error", c.data))
		if r.Seen().Failure == nil {
			t.Errorf("%s: no failure", c.name)
		} else if d := cmp.Diff(c.want, *r.Seen().Failure); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func TestTextBytes(t *testing.T) {
	for _, c := range []struct {
		name, data string
		want       int64
	}{
		{"text", delta(`{"type":"text_delta","text":"gr\u00fcn"}`), 5},
		{"thinking", delta(`{"type":"thinking_delta","thinking":"abc"}`), 3},
		{"arguments", delta(`{"type":"input_json_delta","partial_json":"{\"a\":"}`), 5},
		{"citation", delta(`{"type":"citations_delta","citation":{"cited_text":"abc"}}`), 0},
		{"signature", delta(`{"type":"signature_delta","signature":"abc"}`), 0},
		{"text begun", block(`{"type":"text","text":"abc"}`), 3},
		{"tool with its input", block(`{"type":"tool_use","name":"f","input":{"a":1}}`), 7},
		{"tool without", block(`{"type":"tool_use","name":"f","input":{}}`), 0},
		{"search result", block(`{"type":"web_search_tool_result","content":[{"title":"abc","encrypted_content":"x"}]}`), 0},
		{"redacted", block(`{"type":"redacted_thinking","data":"abc"}`), 0},
	} {
		if _, r := run(typed(c.data)); r.Seen().TextBytes != c.want {
			t.Errorf("%s: got %d, want %d", c.name, r.Seen().TextBytes, c.want)
		}
	}
}

func TestState(t *testing.T) {
	withContainer := strings.Replace(start, `"content":[]`, `"content":[],"container":{"id":"container_1","expires_at":"x"}`, 1)
	_, r := run(typed(withContainer),
		typed(block(`{"type":"thinking","thinking":"","signature":""}`)),
		typed(delta(`{"type":"thinking_delta","thinking":"hm"}`)),
		typed(delta(`{"type":"signature_delta","signature":"ab"}`)),
		typed(delta(`{"type":"signature_delta","signature":"c\u0064"}`)),
		typed(blockStop),
		typed(block(`{"type":"redacted_thinking","data":"red"}`)),
		typed(blockStop),
		typed(block(`{"type":"thinking","thinking":"","signature":"whole"}`)),
		typed(blockStop),
		typed(block(`{"type":"thinking","thinking":""}`)),
		typed(delta(`{"type":"signature_delta","signature":"half"}`)),
		typed(`{"type":"message_delta","delta":{"container":{"id":"container_2"}},"usage":{"output_tokens":1}}`))
	want := []protocol.StateID{
		{Kind: protocol.KindContainer, ID: "container_1"},
		{Kind: protocol.KindSealed, ID: protocol.Seal("abcd")},
		{Kind: protocol.KindSealed, ID: protocol.Seal("red")},
		{Kind: protocol.KindSealed, ID: protocol.Seal("whole")},
		{Kind: protocol.KindContainer, ID: "container_2"},
	}
	seen := r.Seen()
	if d := cmp.Diff(want, seen.State); d != "" {
		t.Error(d)
	}
	if seen.ResponseID != "msg_1" || seen.Model != "m-1" || seen.Tier != "standard" || seen.Sequence != -1 {
		t.Errorf("got %+v", seen)
	}
}

func TestLimitsAreNoIncompleteAnswer(t *testing.T) {
	for _, reason := range []string{"max_tokens", "model_context_window_exceeded", "refusal", "pause_turn"} {
		_, r := run(typed(start), typed(strings.Replace(closing, "end_turn", reason, 1)), typed(stop))
		if r.Seen().Incomplete || r.Seen().Failure != nil {
			t.Errorf("%s: %+v", reason, r.Seen())
		}
	}
}

func TestDeltasDoNotAllocate(t *testing.T) {
	for name, data := range map[string]string{
		"text":      delta(`{"type":"text_delta","text":" hällo\n"}`),
		"thinking":  delta(`{"type":"thinking_delta","thinking":"hm"}`),
		"arguments": delta(`{"type":"input_json_delta","partial_json":"{\"a\":"}`),
		"ping":      ping,
	} {
		r := messages.NewReader(protocol.ReaderOptions{})
		f := record("content_block_delta", data)
		if n := testing.AllocsPerRun(100, func() {
			if _, err := r.Read(f); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations an event", name, n)
		}
	}
}

func BenchmarkDelta(b *testing.B) {
	r := messages.NewReader(protocol.ReaderOptions{})
	f := record("content_block_delta", text)
	b.SetBytes(int64(len(f.Data)))
	for b.Loop() {
		if _, err := r.Read(f); err != nil {
			b.Fatal(err)
		}
	}
}

func TestEnding(t *testing.T) {
	p := messages.Protocol()
	f := fault.New(fault.UpstreamStreamError, "")
	f.RequestID = "req_1"
	got := string(p.Ending([]byte("x"), p.NewReader(protocol.ReaderOptions{}), f, false))
	if want := "x" + event("error", string(p.ErrorBody(f))); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := p.Ending([]byte("x"), p.NewReader(protocol.ReaderOptions{}), f, true); string(got) != "x" {
		t.Errorf("said twice: %q", got)
	}
	_, r := run(got[1:])
	if r.Stage() != protocol.Closed || r.Seen().Failure == nil || r.Seen().Failure.Code != "upstream_stream_error" || r.Seen().Failure.Type != "api_error" {
		t.Errorf("our own ending is read as %+v", r.Seen().Failure)
	}
}
