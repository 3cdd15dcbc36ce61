package messages

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"rubicon/internal/wire/sse"
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

func asBytes(classes []translate.OutClass) (b []byte) {
	for _, c := range classes {
		b = append(b, byte(c))
	}
	return b
}
