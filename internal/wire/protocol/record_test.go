package protocol_test

import (
	"io"
	"strings"
	"testing"

	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/protocol/chat"
	"rubicon/internal/wire/protocol/messages"
	"rubicon/internal/wire/protocol/responses"
	"rubicon/internal/wire/sse"
)

// Of records that are no events only comments are for a client, whatever the
// protocol; what stands beside a comment in data is not lost.
func TestRecordsThatAreNoEvents(t *testing.T) {
	for _, c := range []struct {
		record string
		hidden bool
		bad    bool // no event of the protocol
	}{
		{record: ": keepalive"},
		{record: "\n\n:\n: two"},
		{record: "retry: 10", hidden: true},
		{record: "\n\nretry: 10", hidden: true},
		{record: "id: 7", hidden: true},
		{record: ": x\nid: 7", hidden: true},
		{record: ": x\nevent: ping", hidden: true},
		{record: "data:", hidden: true},
		{record: "data: \t", hidden: true},
		{record: "event: message_stop\ndata:", hidden: true},
		{record: "data: : keepalive", hidden: true},
		{record: "data:: keepalive", hidden: true},
		{record: "data:   :", hidden: true},
		{record: "id: 3\nevent: response.completed\ndata: : keepalive", hidden: true},
		{record: "data: : one\ndata:\ndata: : two", hidden: true},
		{record: "data: : one\ndata: {}", bad: true},
		{record: "data: x: y", bad: true},
	} {
		for _, p := range []protocol.Protocol{responses.Protocol(), chat.Protocol(), messages.Protocol()} {
			r := p.NewReader(protocol.ReaderOptions{Choices: 1})
			f, err := sse.NewDecoder(strings.NewReader(c.record+"\n\n"), 1<<10).Next()
			if err != nil {
				t.Fatalf("%q: %v", c.record, err)
			}
			ev, err := r.Read(f)
			if (err != nil) != c.bad {
				t.Errorf("%s, %q: %v", p.Name, c.record, err)
			}
			if err == nil && (ev.Class != protocol.Heartbeat || ev.Hidden != c.hidden || ev.Data != nil) {
				t.Errorf("%s, %q: %+v", p.Name, c.record, ev)
			}
			if s := r.Seen(); s.Events != 0 || r.Stage() != protocol.Open {
				t.Errorf("%s, %q was taken for an event: %+v", p.Name, c.record, s)
			}
		}
	}
}

// One definition of progress serves all protocols.
func TestProgress(t *testing.T) {
	const (
		role    = `data: {"choices":[{"delta":{"role":"assistant","content":""}}]}`
		none    = `data: {"object":"chat.completion.chunk","choices":[]}`
		hi      = `data: {"choices":[{"delta":{"content":"Hi"}}]}`
		finish  = `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}`
		created = `data: {"type":"response.created"}`
		working = `data: {"type":"response.in_progress"}`
		opened  = `data: {"type":"response.output_item.added","item":{"type":"reasoning","summary":[]}}`
		called  = `data: {"type":"response.output_item.added","item":{"type":"function_call","name":"f"}}`
		delta   = `data: {"type":"response.output_text.delta","delta":"Hi"}`
		empty   = `data: {"type":"response.output_text.delta","delta":""}`
		unheard = `data: {"type":"response.of_the_future"}`
		start   = `data: {"type":"message_start","message":{}}`
		block   = `data: {"type":"content_block_start","content_block":{"type":"text","text":""}}`
		text    = `data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"Hi"}}`
		nothing = `data: {"type":"content_block_delta","delta":{"type":"text_delta","text":""}}`
		ping    = `data: {"type":"ping"}`
		comment = `: x`
		wrapped = `data: : x`
		bare    = `retry: 7`
	)
	for _, c := range []struct {
		name    string
		p       protocol.Protocol
		records []string
		want    string // + progress, - none
	}{
		{"Responses", responses.Protocol(), []string{comment, created, working, working, opened, opened, working, delta, delta, empty, empty, working, called, unheard, unheard}, "-++-+--++---+++"},
		{"Chat", chat.Protocol(), []string{comment, wrapped, bare, role, role, none, none, role, hi, hi, role, none, finish}, "---+-+--++--+"},
		{"Messages", messages.Protocol(), []string{ping, start, start, block, block, text, nothing, text, ping, bare, unheard}, "-+-+-+-+--+"},
	} {
		r, p := c.p.NewReader(protocol.ReaderOptions{Choices: 1}), protocol.Progress{}
		d := sse.NewDecoder(strings.NewReader(strings.Join(c.records, "\n\n")+"\n\n"), 1<<10)
		got := ""
		for {
			f, err := d.Next()
			if err == io.EOF {
				break
			}
			ev, err := r.Read(f)
			if err != nil {
				t.Fatal(c.name, err)
			}
			if p.Made(ev) {
				got += "+"
			} else {
				got += "-"
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
