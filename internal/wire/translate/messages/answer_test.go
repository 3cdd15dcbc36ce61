package messages

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/wire/protocol/recorded"
	"rubicon/internal/wire/translate"
)

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
