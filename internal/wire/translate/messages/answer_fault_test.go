package messages

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/wire/translate"
)

// TestFault32 : events without an index, or with one again, are told apart.
func TestFault32IndexesMissingOrRepeated(t *testing.T) {
	for name, in := range map[string][]frameOf{
		"missing": {
			{"", `{"type":"content_block_start","content_block":{"type":"text","text":""}}`},
			{"", `{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}`},
			{"", `{"type":"content_block_stop"}`},
			{"", `{"type":"content_block_start","content_block":{"type":"text","text":""}}`},
			{"", `{"type":"content_block_delta","delta":{"type":"text_delta","text":"b"}}`},
			{"", `{"type":"content_block_stop"}`},
			{"", `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`},
			{"", `{"type":"message_stop"}`},
		},
		"repeated": {
			{"", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`},
			{"", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`},
			{"", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"b"}}`},
			{"", `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`},
			{"", `{"type":"message_stop"}`},
		},
		"starts missing, types as names": {
			{"content_block_delta", `{"index":0,"delta":{"text":"a"}}`},
			{"content_block_stop", `{"index":0}`},
			{"content_block_delta", `{"index":1,"delta":{"text":"b"}}`},
			{"message_delta", `{"delta":{"stop_reason":"end_turn"}}`},
			{"message_stop", `{}`},
		},
	} {
		events := decode(t, in)
		s := say(t, events)
		if len(s.Blocks) != 2 || s.Blocks[0].Text != "a" || s.Blocks[1].Text != "b" || !s.Blocks[1].Closed || s.Stop.Word != translate.End {
			t.Errorf("%s: %+v", name, s)
		}
		out, _ := encode(events)
		checkStream(t, out)
	}
}

// TestFault09 : parallel calls whose pieces are mixed stay apart.
func TestFault09ParallelCallsStayApart(t *testing.T) {
	call := func(i int, id string) translate.Event {
		return translate.Event{Kind: translate.Open, Index: i, Block: translate.Block{Kind: translate.Call, ID: id, Name: "f"}}
	}
	input := func(i int, text string) translate.Event {
		return translate.Event{Kind: translate.Delta, Index: i, Part: translate.PartInput, Text: text}
	}
	closes := func(i int) translate.Event { return translate.Event{Kind: translate.Close, Index: i} }
	events := []translate.Event{
		{Kind: translate.Start}, call(0, "a"), call(1, "b"), input(0, `{"x":`), input(1, `{"y":`), call(2, "c"), input(1, `2}`), closes(1),
		input(0, `1}`), input(2, `{}`), closes(2), closes(0),
		{Kind: translate.Stop, Stop: translate.StopReason{Word: translate.ToolUse}},
	}
	out, _ := encode(events)
	checkStream(t, out)
	if diff := cmp.Diff(say(t, events).Blocks, say(t, decode(t, out)).Blocks); diff != "" {
		t.Error(diff)
	}
}

// TestFault27 : an answer that the token limit ended is not complete, and a call
// that it cut is no call.
func TestFault27LimitIsNoCompletion(t *testing.T) {
	head := []frameOf{
		{"", `{"type":"message_start","message":{"id":"m","usage":{"input_tokens":1}}}`},
		{"", `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}`},
	}
	tail := func(reason string) []frameOf {
		return []frameOf{
			{"", `{"type":"content_block_stop","index":0}`},
			{"", `{"type":"message_delta","delta":{"stop_reason":"` + reason + `"},"usage":{"output_tokens":3}}`},
			{"", `{"type":"message_stop"}`},
		}
	}
	delta := frameOf{"", `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}`}
	for _, c := range []struct {
		name   string
		frames []frameOf
		input  string
		word   translate.StopWord
		whole  bool
	}{
		{"cut in the arguments", append(append([]frameOf{}, append(head, delta)...), tail("max_tokens")...), `{"a":`, translate.Length, false},
		{"cut before the arguments", append(append([]frameOf{}, head...), tail("max_tokens")...), "", translate.Length, false},
		{"no arguments", append(append([]frameOf{}, head...), tail("tool_use")...), "{}", translate.ToolUse, true},
		{"an odd end", append(append([]frameOf{}, head...), tail("whatever")...), "", translate.Odd, false},
	} {
		events := decode(t, c.frames)
		s := say(t, events)
		if s.Blocks[0].Input != c.input || s.Stop.Word != c.word {
			t.Errorf("%s: %+v", c.name, s)
		}
		out, _ := encode(events)
		checkStream(t, out)
		if again := say(t, decode(t, out)); again.Blocks[0].Input != c.input || again.Stop.Word != c.word {
			t.Errorf("%s again: %+v", c.name, again)
		}
		if body, err := encodeWhole(events); (err == nil) != c.whole {
			t.Errorf("%s whole: %s %v", c.name, body, err)
		}
	}
}

// TestFault29 : a word that is not known never becomes a success.
func TestFault29UnknownStopIsNoSuccess(t *testing.T) {
	for original, want := range map[string]string{"whatever": "whatever", "": "unknown", "end_turn": "unknown"} {
		out, _ := encode([]translate.Event{{Kind: translate.Start}, {Kind: translate.Stop, Stop: translate.StopReason{Word: translate.Odd, Original: original}}})
		if got := stopOf(t, out); got["stop_reason"] != want {
			t.Errorf("%q: %v", original, got)
		}
	}
	events := decode(t, []frameOf{{"", `{"type":"message_start","message":{}}`}, {"", `{"type":"message_stop"}`}})
	if s := say(t, events); s.Stop.Word != translate.Odd {
		t.Errorf("an answer without a reason: %+v", s.Stop)
	}
	// A pending call is not lost under a plain end.
	out, _ := encode([]translate.Event{
		{Kind: translate.Start}, {Kind: translate.Open, Block: translate.Block{Kind: translate.Call, ID: "a", Name: "f"}}, {Kind: translate.Close},
		{Kind: translate.Stop, Stop: translate.StopReason{Word: translate.End, Original: "stop"}},
	})
	if got := stopOf(t, out); got["stop_reason"] != "tool_use" {
		t.Errorf("a call and a plain end: %v", got)
	}
}

func stopOf(t *testing.T, out []frameOf) map[string]any {
	t.Helper()
	for _, f := range out {
		if f.name == "message_delta" {
			var e struct{ Delta map[string]any }
			if err := json.Unmarshal([]byte(f.data), &e); err != nil {
				t.Fatal(err)
			}
			return e.Delta
		}
	}
	t.Fatal("no message_delta")
	return nil
}

// TestFault28 : refusals and filters are told as what they are.
func TestFault28Refusals(t *testing.T) {
	for _, word := range []translate.StopWord{translate.Refused, translate.Filter} {
		out, _ := encode([]translate.Event{{Kind: translate.Start}, {Kind: translate.Stop, Stop: translate.StopReason{Word: word, Explains: "no"}}})
		got := stopOf(t, out)
		want := map[string]any{"stop_reason": "refusal", "stop_sequence": nil, "stop_details": map[string]any{"type": "refusal", "category": nil, "explanation": "no"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	events := decode(t, []frameOf{
		{"", `{"type":"message_start","message":{}}`},
		{"", `{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","category":"cyber","explanation":"no"}}}`},
		{"", `{"type":"message_stop"}`},
	})
	s := say(t, events).Stop
	if s.Word != translate.Refused || s.Explains != "no" || len(s.Details) == 0 {
		t.Errorf("%+v", s)
	}
}

// TestFault37 : the sequence that matched is told.
func TestFault37StopSequence(t *testing.T) {
	out, _ := encode([]translate.Event{{Kind: translate.Start}, {Kind: translate.Stop, Stop: translate.StopReason{Word: translate.StopSeq, Sequence: "</block>"}}})
	if got := stopOf(t, out); got["stop_reason"] != "stop_sequence" || got["stop_sequence"] != "</block>" {
		t.Error(got)
	}
	if s := say(t, decode(t, out)).Stop; s.Sequence != "</block>" {
		t.Errorf("%+v", s)
	}
}

// TestFault43 : each token is counted once, and none is lost.
func TestFault43UsageOnce(t *testing.T) {
	events := decode(t, []frameOf{
		{"", `{"type":"message_start","message":{"usage":{"input_tokens":10,"cache_read_input_tokens":20,"cache_creation_input_tokens":33,"cache_creation":{"ephemeral_5m_input_tokens":30,"ephemeral_1h_input_tokens":3},"output_tokens":1}}}`},
		{"", `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":0,"cache_read_input_tokens":null,"cache_creation_input_tokens":33,"output_tokens":5,"output_tokens_details":{"thinking_tokens":2}}}`},
		{"", `{"type":"message_stop"}`},
	})
	want := translate.Usage{Fresh: 10, Cached: 20, Write5m: 30, Write1h: 3, Output: 5, Thinking: 2}
	if got := say(t, events).Usage; got != want {
		t.Errorf("%+v", got)
	}
	out, _ := encode(events)
	if got := say(t, decode(t, out)).Usage; got != want {
		t.Errorf("again: %+v", got)
	}
	for usage, want := range map[string]translate.Usage{
		`{"input_tokens":1,"cache_creation_input_tokens":4,"output_tokens":2}`:               {Fresh: 1, Write5m: 4, Output: 2},
		`{"input_tokens":-1,"output_tokens":2}`:                                              {Output: 2},
		`{"input_tokens":1,"output_tokens":2,"output_tokens_details":{"thinking_tokens":9}}`: {Fresh: 1, Output: 2, Thinking: 2},
	} {
		got := say(t, whole(t, []byte(`{"type":"message","content":[],"stop_reason":"end_turn","usage":`+usage+`}`))).Usage
		if got != want {
			t.Errorf("%s: %+v", usage, got)
		}
	}
	// The sum stays, whatever lifetimes another provider has.
	odd := translate.Usage{Fresh: 1, Cached: 2, Write: 3, Write30m: 4, Write12h: 5, Output: 6}
	out, _ = encode([]translate.Event{{Kind: translate.UsageNow, Usage: odd}, {Kind: translate.Stop, Stop: translate.StopReason{Word: translate.End}}})
	if got := say(t, decode(t, out)).Usage; got.Input() != odd.Input() || got.Output != odd.Output {
		t.Errorf("%+v", got)
	}
}

// TestFault45 : message_start tells the estimate of the input.
func TestFault45EstimateAtTheStart(t *testing.T) {
	out, _ := encode([]translate.Event{{Kind: translate.Start, ID: "upstream", Model: "upstream"}})
	var e struct {
		Message struct {
			ID, Model string
			Usage     struct {
				Input int64 `json:"input_tokens"`
			}
		}
	}
	if err := json.Unmarshal([]byte(out[0].data), &e); err != nil {
		t.Fatal(err)
	}
	if e.Message.Usage.Input != identity.Estimate || e.Message.ID != identity.ResponseID || e.Message.Model != identity.Model {
		t.Errorf("%+v", e)
	}
}

// TestFault04 : signatures come in one piece and as they were.
func TestFault04Signatures(t *testing.T) {
	events := decode(t, []frameOf{
		{"", `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`},
		{"", `{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"ab"}}`},
		{"", `{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"cd=="}}`},
		{"", `{"type":"content_block_stop","index":0}`},
		{"", `{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"xyz"}}`},
		{"", `{"type":"content_block_stop","index":1}`},
		{"", `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`}, {"", `{"type":"message_stop"}`},
	})
	check := func(s said) {
		t.Helper()
		if len(s.Blocks) != 2 || s.Blocks[0].Seal != (translate.Seal{Kind: translate.Signature, Data: "abcd=="}) || s.Blocks[1].Seal != (translate.Seal{Kind: translate.Redacted, Data: "xyz"}) {
			t.Errorf("%+v", s.Blocks)
		}
	}
	check(say(t, events))
	out, _ := encode(events)
	check(say(t, decode(t, out)))
	if n := strings.Count(join(out), "signature_delta"); n != 1 {
		t.Errorf("%d pieces of a signature", n)
	}
	body, err := encodeWhole(events)
	if err != nil {
		t.Fatal(err)
	}
	check(say(t, whole(t, body)))
}

func join(out []frameOf) string {
	var b strings.Builder
	for _, f := range out {
		b.WriteString(f.data + "\n")
	}
	return b.String()
}

// TestFault13 : names that were shortened for an upstream come back whole.
func TestFault13NamesComeBack(t *testing.T) {
	long := strings.Repeat("mcp__server__", 6)
	r := &translate.Request{From: translate.Messages, Stream: true, Tools: []translate.Tool{{Name: long}}}
	id := identity
	id.Upstream, id.Flags = translate.Chat, translate.Defaults(translate.Chat)
	wire := translate.NamesOf(r, translate.Chat, id.Flags).Wire("", long)
	if len(wire) > 64 {
		t.Fatalf("%s is too long", wire)
	}
	e := newAnswerEncoder(r, id)
	out := e.Events(nil, translate.Event{Kind: translate.Open, Block: translate.Block{Kind: translate.Call, ID: "a", Name: wire}})
	if got := string(out[len(out)-1].Data); !strings.Contains(got, `"name":"`+long+`"`) {
		t.Error(got)
	}
}

// TestFault33 : arguments that stand in the block's start alone are not lost.
func TestFault33InputAtTheStart(t *testing.T) {
	events := decode(t, []frameOf{
		{"", `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":{"x": 1.0}}}`},
		{"", `{"type":"content_block_stop","index":0}`},
		{"", `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"b","name":"f","input":{"x":0}}}`},
		{"", `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"x\":2}"}}`},
		{"", `{"type":"content_block_stop","index":1}`},
		{"", `{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"c","name":"f","input":{}}}`},
		{"", `{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":{"x":3}}}`},
		{"", `{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`}, {"", `{"type":"message_stop"}`},
	})
	for i, want := range []string{`{"x": 1.0}`, `{"x":2}`, `{"x":3}`} {
		if got := say(t, events).Blocks[i]; got.Input != want || !got.Closed {
			t.Errorf("%+v, want %s", got, want)
		}
	}
}

// TestFault30 : a block whose end is missing ends where the next begins.
func TestFault30EndsMissing(t *testing.T) {
	var seen []string
	d := newAnswerDecoder()
	for _, f := range []string{
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"t"}}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"a"}}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}`,
	} {
		events, err := d.Event("", []byte(f))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			seen = append(seen, map[translate.EventKind]string{translate.Start: "start", translate.Open: "open", translate.Delta: "delta", translate.Close: "close"}[e.Kind])
		}
	}
	if diff := cmp.Diff([]string{"start", "open", "delta", "close", "open", "delta", "close", "open"}, seen); diff != "" {
		t.Error(diff)
	}
}

// TestFault44 : an overflow in a stream is told in the words that clients know.
func TestFault44OverflowInAStream(t *testing.T) {
	out, _ := encode([]translate.Event{{Kind: translate.Failed, Failure: translate.Failure{Code: "context_length_exceeded", Message: "maximum context length is 8192, got 9000"}}})
	if got := out[0].data; !strings.Contains(got, `"type":"invalid_request_error","message":"prompt is too long: 9000 tokens > 8192 maximum`) {
		t.Error(got)
	}
}
