package messages

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/protocol/recorded"
	"rubicon/internal/sse"
	"rubicon/internal/wire/translate"
)

// frameOf is one event on the wire.
type frameOf struct{ name, data string }

func frames(t testing.TB, stream string) (all []frameOf) {
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
			all = append(all, frameOf{string(f.Name), string(f.Data)})
		}
	}
}

func decode(t testing.TB, in []frameOf) (events []translate.Event) {
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

var identity = translate.Identity{ResponseID: "msg_ours", Model: "public", Estimate: 7, Upstream: translate.Messages, Flags: translate.Defaults(translate.Messages)}

func encode(events []translate.Event) (out []frameOf, classes []translate.OutClass) {
	e := newAnswerEncoder(&translate.Request{From: translate.Messages, Stream: true}, identity)
	for _, ev := range events {
		for _, o := range e.Events(nil, ev) {
			out, classes = append(out, frameOf{o.Name, string(o.Data)}), append(classes, o.Class)
		}
	}
	return out, classes
}

func encodeWhole(events []translate.Event) ([]byte, error) {
	e := newAnswerEncoder(&translate.Request{From: translate.Messages}, identity)
	for _, ev := range events {
		e.Events(nil, ev)
	}
	return e.Whole()
}

// said is what an answer says, whatever pieces it came in.
type said struct {
	Blocks []saidBlock
	Usage  translate.Usage
	Stop   translate.StopReason
	Failed string
	Ended  bool
}

type saidBlock struct {
	Kind                string
	ID, Name, Type, Raw string
	Text, Input         string
	Seal                translate.Seal
	Cites               []string
	Closed              bool
}

// say puts an answer's events together. Empty text says nothing.
func say(t testing.TB, events []translate.Event) (s said) {
	t.Helper()
	at := map[int]*saidBlock{}
	var order []*saidBlock
	for _, e := range events {
		b := at[e.Index]
		switch e.Kind {
		case translate.Open:
			if b != nil {
				t.Fatalf("block %d opened twice", e.Index)
			}
			b = &saidBlock{Kind: e.Block.Kind.String(), ID: e.Block.ID, Name: e.Block.Name, Type: e.Block.Type, Raw: string(e.Block.Raw)}
			at[e.Index] = b
			order = append(order, b)
		case translate.Delta:
			if e.Part == translate.PartInput {
				b.Input += e.Text
			} else {
				b.Text += e.Text
			}
		case translate.Cite:
			b.Cites = append(b.Cites, string(e.Raw))
		case translate.Sealed:
			b.Seal = *e.Seal
		case translate.Close:
			b.Closed = true
		case translate.UsageNow:
			s.Usage = e.Usage
		case translate.Stop:
			s.Stop, s.Ended = e.Stop, true
		case translate.Failed:
			s.Failed = e.Failure.Type
		}
	}
	for _, b := range order {
		if b.Kind == "hosted" && b.Input != "" && jsonEmptyInput(b.Raw) {
			b.Raw = strings.Replace(b.Raw, `"input":{}`, `"input":`+b.Input, 1)
			b.Input = ""
		}
		if b.Kind != "text" && b.Kind != "reasoning" || b.Text != "" || b.Seal.Data != "" || b.Cites != nil {
			s.Blocks = append(s.Blocks, *b)
		}
	}
	return s
}

func jsonEmptyInput(raw string) bool { return strings.Contains(raw, `"input":{}`) }

func TestRecordedAnswersGoRound(t *testing.T) {
	for _, x := range recorded.Load(t, "messages") {
		t.Run(x.Name, func(t *testing.T) {
			var events []translate.Event
			if x.Stream {
				events = decode(t, frames(t, x.Normal()))
			} else {
				events = whole(t, []byte(x.Body))
			}
			want := say(t, events)
			if !want.Ended || len(want.Blocks) == 0 || want.Usage.Output == 0 {
				t.Fatalf("the recording says too little: %+v", want)
			}
			out, _ := encode(events)
			checkStream(t, out)
			if diff := cmp.Diff(want, say(t, decode(t, out))); diff != "" {
				t.Errorf("streamed: %s", diff)
			}
			body, err := encodeWhole(events)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, say(t, whole(t, body))); diff != "" {
				t.Errorf("whole: %s", diff)
			}
		})
	}
}

// checkStream checks the form of a stream towards a client: one block open at a
// time, counted from 0, and the end at the end.
func checkStream(t testing.TB, out []frameOf) {
	t.Helper()
	open, next := -1, 0
	for i, f := range out {
		var e struct {
			Type  string
			Index *int
		}
		if err := json.Unmarshal([]byte(f.data), &e); err != nil || e.Type != f.name {
			t.Fatalf("event %d: %v: %s", i, err, f.data)
		}
		switch e.Type {
		case "message_start":
			if i != 0 {
				t.Errorf("message_start at %d", i)
			}
		case "content_block_start":
			if open >= 0 || *e.Index != next {
				t.Errorf("block %d begins while %d is open and %d is next", *e.Index, open, next)
			}
			open = next
			next++
		case "content_block_delta":
			if *e.Index != open {
				t.Errorf("a delta of %d while %d is open", *e.Index, open)
			}
		case "content_block_stop":
			if *e.Index != open {
				t.Errorf("%d ends while %d is open", *e.Index, open)
			}
			open = -1
		case "message_delta":
			if i != len(out)-2 || open >= 0 {
				t.Errorf("message_delta at %d of %d, block %d open", i, len(out), open)
			}
		case "message_stop":
			if i != len(out)-1 {
				t.Errorf("message_stop at %d of %d", i, len(out))
			}
		}
	}
}

// A stream that is cut anywhere has no good end.
func TestCutStreamsNeverEnd(t *testing.T) {
	for _, x := range recorded.Streams(t, "messages") {
		all := frames(t, x.Normal())
		for n := range all {
			events := decode(t, all[:n])
			out, _ := encode(events)
			for _, f := range out {
				if f.name == "message_stop" || f.name == "message_delta" {
					t.Fatalf("%s cut at %d of %d: %s", x.Name, n, len(all), f.data)
				}
			}
			if body, err := encodeWhole(events); err == nil {
				t.Fatalf("%s cut at %d of %d: %s", x.Name, n, len(all), body)
			}
		}
	}
}

// Nothing is output before upstream output something, and the first output is
// no lifecycle.
func TestClassesFollowUpstream(t *testing.T) {
	start := translate.Event{Kind: translate.Start}
	text := translate.Event{Kind: translate.Open, Block: translate.Block{Kind: translate.Text}}
	think := translate.Event{Kind: translate.Open, Block: translate.Block{Kind: translate.Think}}
	call := translate.Event{Kind: translate.Open, Block: translate.Block{Kind: translate.Call, ID: "a", Name: "f"}}
	for name, c := range map[string]struct {
		events []translate.Event
		output bool
	}{
		"the start":    {[]translate.Event{start}, false},
		"empty text":   {[]translate.Event{start, text}, false},
		"empty think":  {[]translate.Event{start, think}, false},
		"usage":        {[]translate.Event{start, {Kind: translate.UsageNow}}, false},
		"a beat":       {[]translate.Event{start, {Kind: translate.Beat}}, false},
		"text":         {[]translate.Event{start, text, {Kind: translate.Delta, Text: "x"}}, true},
		"a call":       {[]translate.Event{start, call}, true},
		"only the end": {[]translate.Event{start, {Kind: translate.Stop, Stop: translate.StopReason{Word: translate.End}}}, false},
	} {
		_, classes := encode(c.events)
		if got := bytes.IndexByte(asBytes(classes), byte(translate.OutOutput)) >= 0; got != c.output {
			t.Errorf("%s: classes %v", name, classes)
		}
	}
}

func asBytes(classes []translate.OutClass) (b []byte) {
	for _, c := range classes {
		b = append(b, byte(c))
	}
	return b
}

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

// TestHeldBlocksAreBounded : what is kept back has a bound and a named failure.
func TestHeldBlocksAreBounded(t *testing.T) {
	id := identity
	id.MaxHeld = 1000
	e := newAnswerEncoder(&translate.Request{Stream: true}, id)
	var out []translate.Out
	out = e.Events(out, translate.Event{Kind: translate.Open, Block: translate.Block{Kind: translate.Call, ID: "a", Name: "f"}})
	out = e.Events(out, translate.Event{Kind: translate.Open, Index: 1, Block: translate.Block{Kind: translate.Call, ID: "b", Name: "f"}})
	for range 20 {
		out = e.Events(out, translate.Event{Kind: translate.Delta, Index: 1, Part: translate.PartInput, Text: strings.Repeat("x", 100)})
	}
	last := out[len(out)-1]
	if last.Class != translate.OutFailure || !strings.Contains(string(last.Data), "upstream_stream_buffer_limit") {
		t.Errorf("%s", last.Data)
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

// Seals of other formats ride on a signature, or alone as redacted thinking;
// thinking without anything is no block.
func TestForeignSeals(t *testing.T) {
	events := []translate.Event{
		{Kind: translate.Start},
		{Kind: translate.Open, Index: 0, Block: translate.Block{Kind: translate.Think}},
		{Kind: translate.Delta, Index: 0, Part: translate.PartSummary, Text: "one"},
		{Kind: translate.Delta, Index: 0, Part: translate.PartSummary, Paragraph: 1, Text: "two"},
		{Kind: translate.Sealed, Index: 0, Seal: &translate.Seal{Kind: translate.Encrypted, Data: "rbc1.a"}},
		{Kind: translate.Close, Index: 0},
		{Kind: translate.Open, Index: 1, Block: translate.Block{Kind: translate.Think}},
		{Kind: translate.Sealed, Index: 1, Seal: &translate.Seal{Kind: translate.Encrypted, Data: "rbc1.b"}},
		{Kind: translate.Close, Index: 1},
		{Kind: translate.Open, Index: 2, Block: translate.Block{Kind: translate.Think}},
		{Kind: translate.Close, Index: 2},
		{Kind: translate.Stop, Stop: translate.StopReason{Word: translate.End}},
	}
	out, _ := encode(events)
	checkStream(t, out)
	got := say(t, decode(t, out)).Blocks
	if len(got) != 2 || got[0].Text != "one\n\ntwo" || got[0].Seal.Data != "rbc1.a" || got[1].Seal != (translate.Seal{Kind: translate.Redacted, Data: "rbc1.b"}) {
		t.Errorf("%+v", got)
	}
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

// Free text that upstream calls a tool with becomes an object.
func TestFreeTextBecomesAnObject(t *testing.T) {
	events := []translate.Event{
		{Kind: translate.Start},
		{Kind: translate.Open, Block: translate.Block{Kind: translate.Call, Name: "patch", Custom: true}},
		{Kind: translate.Delta, Part: translate.PartInput, Text: "a \"b\"\n"}, {Kind: translate.Close},
		{Kind: translate.Stop, Stop: translate.StopReason{Word: translate.ToolUse}},
	}
	out, _ := encode(events)
	b := say(t, decode(t, out)).Blocks[0]
	if text, ok := translate.UnwrapInput(b.Input); !ok || text != "a \"b\"\n" || b.ID == "" {
		t.Errorf("%+v", b)
	}
}

func TestErrors(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`: "overloaded_error",
		`{"error":{"message":"x"}}`: "",
	} {
		events := decode(t, []frameOf{{"error", in}, {"", `{"type":"message_stop"}`}})
		if s := say(t, events); s.Failed != want || s.Ended {
			t.Errorf("%s: %+v", in, s)
		}
		out, classes := encode(events)
		if len(out) != 1 || classes[0] != translate.OutFailure || out[0].name != "error" {
			t.Errorf("%s: %v", in, out)
		}
	}
	for _, in := range []string{`{`, `[]`, `x`} {
		if _, err := newAnswerDecoder().Event("", []byte(in)); err == nil {
			t.Errorf("%s passed", in)
		}
	}
	for _, in := range []string{`{`, `[]`, `{"choices":[]}`} {
		if _, err := newAnswerDecoder().Whole([]byte(in)); err == nil {
			t.Errorf("%s passed", in)
		}
	}
}

func TestDeltaAllocates(t *testing.T) {
	d := newAnswerDecoder()
	e := newAnswerEncoder(&translate.Request{Stream: true}, identity)
	for _, f := range []string{`{"type":"message_start","message":{"id":"m"}}`, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`} {
		events, err := d.Event("", []byte(f))
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range events {
			e.Events(nil, ev)
		}
	}
	data := []byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"some words of an answer"}}`)
	dst := make([]translate.Out, 0, 8)
	if n := testing.AllocsPerRun(100, func() { oneDelta(d, e, data, dst) }); n > 4 {
		t.Errorf("%v allocations", n)
	}
}

func oneDelta(d *answerDecoder, e *answerEncoder, data []byte, dst []translate.Out) {
	events, _ := d.Event("content_block_delta", data)
	for i := range events {
		dst = e.Events(dst[:0], events[i])
	}
}

func BenchmarkDelta(b *testing.B) {
	d := newAnswerDecoder()
	e := newAnswerEncoder(&translate.Request{Stream: true}, identity)
	events, _ := d.Event("", []byte(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`))
	for _, ev := range events {
		e.Events(nil, ev)
	}
	data := []byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"some words of an answer"}}`)
	dst := make([]translate.Out, 0, 8)
	b.ReportAllocs()
	for b.Loop() {
		oneDelta(d, e, data, dst)
	}
}
