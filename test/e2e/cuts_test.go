package e2e

import (
	"fmt"
	"strings"
	"testing"

	"rubicon/internal/books/journal"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/protocol/chat"
	"rubicon/internal/wire/protocol/messages"
	"rubicon/internal/wire/protocol/recorded"
	"rubicon/internal/wire/protocol/responses"
	"rubicon/test/stand"
)

var protocols = map[string]protocol.Protocol{"responses": responses.Protocol(), "chat": chat.Protocol(), "messages": messages.Protocol()}

// streamPrefixes is a stream and what it has told before each of its events.
type streamPrefixes struct {
	e       recorded.Exchange
	records []string
	told    []contentSoFar // one more than records
}

// contentSoFar is what the beginning of a stream says: any event at all, output, the
// end; its text in bytes, its usage.
type contentSoFar struct {
	events, output, done bool
	item                 bool // an item is finished
	text                 int64
	usage                tokens
	reported             bool
}

// finished is the event that finishes an item. On Chat no event does before the
// stream is complete.
var finished = map[string]string{"responses": "response.output_item.done", "messages": "content_block_stop", "chat": "data: [DONE]"}

func tell(t *testing.T, e recorded.Exchange) *streamPrefixes {
	t.Helper()
	s := &streamPrefixes{e: e, records: records(e.Normal())}
	p := recorded.Run(strings.NewReader(e.Normal()), protocols[e.Protocol].NewReader(protocol.ReaderOptions{Choices: 1}))
	if len(p.Events) != len(s.records) {
		t.Fatalf("%s/%s: %d events, %d records", e.Protocol, e.Name, len(p.Events), len(s.records))
	}
	now := contentSoFar{}
	for i, r := range s.records {
		s.told = append(s.told, now)
		now.events = now.events || p.Events[i].Class != protocol.Heartbeat
		now.output = now.output || p.Events[i].Class == protocol.Output
		now.done = p.Stages[i] != protocol.Open
		now.text += textOf(e.Protocol, r)
		now.item = now.item || strings.Contains(r, finished[e.Protocol])
		now.reported = now.usage.read(e.Protocol, r) || now.reported
	}
	s.told = append(s.told, now)
	return s
}

// telling leaves out three of four cuts in the middle of streams that say the
// same in many events. Responses are cut at every event, in both ways.
func (s *streamPrefixes) telling(k int) bool {
	return s.e.Protocol == "responses" || k < 12 || k >= len(s.records)-6 || k%4 == 0
}

// cutStream is one stream that breaks off, and what came of it.
type cutStream struct {
	play
	story *streamPrefixes
	got   stand.Reply
	n     int // events that upstream has sent whole
}

func (c *cutStream) protocol() string { return c.story.e.Protocol }

func (c *cutStream) String() string {
	return fmt.Sprintf("%s/%s cut after %d events (%s)", c.protocol(), c.story.e.Name, c.n, c.How)
}

// Every recorded stream, cut at every event by a FIN, a reset, or in the middle
// of the next event: never looks finished, has exactly one ending, and bills no
// more than what was delivered.
func TestTranscriptsCut(t *testing.T) {
	l := newLibrary(t, true)
	// Streams that are complete although they were cut teach the gateway how
	// many bytes a token has; a gateway of their own learns from them.
	var cuts, complete []*cutStream
	for i, e := range l.exchanges {
		story := tell(t, e)
		for k := range story.records {
			if !allCuts && !story.telling(k) {
				continue
			}
			for w, how := range []string{"fin", "reset", "half"} {
				if !allCuts && (k+i)%3 != w && (e.Protocol != "responses" || how == "half") {
					continue
				}
				c := &cutStream{play: play{N: i, Cut: k + 1, How: how}, story: story, n: k}
				if story.told[k].done {
					complete = append(complete, c)
				} else {
					cuts = append(cuts, c)
				}
			}
		}
	}
	t.Logf("%d cuts of %d streams, %d of complete ones", len(cuts), len(l.exchanges), len(complete))
	checkCuts(t, l, cuts)
	checkCuts(t, l, complete)
}

func checkCuts(t *testing.T, l *library, cuts []*cutStream) {
	t.Helper()
	s := stand.Start(t, stand.Options{Config: peersOf("", "alpha"), Peers: map[string]stand.Peer{"alpha": l.upstream()}, Tune: patient, Credit: "1000000.00"})
	eachOf(len(cuts), func(i int) {
		path, body := cuts[i].request(cuts[i].story.e)
		cuts[i].got = s.Post(s.Default, path, body)
	})
	all := s.Records()
	var charged int64
	for _, c := range cuts {
		r, ok := all[c.got.ID()]
		if !ok {
			t.Errorf("%v: no record, status %d, %v", c, c.got.Status, c.got.Err)
			continue
		}
		charged += int64(r.Charge)
		if problem := c.check(r); problem != "" {
			t.Errorf("%v: %s", c, problem)
		}
	}
	if b := s.Balance(s.Default); int64(b.Available) != 1_000_000*1_000_000_000-charged {
		t.Errorf("the balance of %v is not the credit without %d nano-USD", b.Available, charged)
	}
}

// check tells what is wrong, "" if nothing is.
func (c *cutStream) check(r journal.Record) string {
	if c.got.Err != nil {
		return fmt.Sprintf("the connection broke off: %v", c.got.Err)
	}
	n := c.n
	if c.How == "reset" && c.got.Status == 200 {
		n = c.arrived() // a reset may overtake what was sent before it
	}
	before, told := strings.Join(c.story.records[:n], ""), c.story.told[n]
	switch opened := told.output || told.events && c.protocol() == "responses"; {
	case c.How == "reset" && c.got.Status != 200: // it overtook everything
		return c.refused(r)
	case told.done:
		return c.finished(r, before)
	case !opened:
		return c.refused(r)
	}
	if problem := c.broken(before); problem != "" {
		return problem
	}
	return c.checkBill(r, told)
}

// arrived is how many events reached the client.
func (c *cutStream) arrived() int {
	n := 0
	for rest := c.got.Body; n < c.n && strings.HasPrefix(rest, c.story.records[n]); n++ {
		rest = rest[len(c.story.records[n]):]
	}
	return n
}

// refused: nothing was delivered, so the failure is a status, and free.
func (c *cutStream) refused(r journal.Record) string {
	f := c.got.Fault()
	switch {
	case c.got.Status != 502 || f.Code != cutCode[c.protocol()] || f.RequestID != c.got.ID():
		return fmt.Sprintf("status %d: %.300s", c.got.Status, c.got.Body)
	case r.Outcome != journal.OutcomeFailed || r.Charge != 0 || r.AfterOutput:
		return fmt.Sprintf("outcome %s, charge %v", r.Outcome, r.Charge)
	}
	return ""
}

var cutCode = map[string]string{"responses": "stream_read_error", "chat": "upstream_stream_error", "messages": "upstream_stream_error"}

// finished: Chat is complete with its finish reasons; what may be missing is
// made good.
func (c *cutStream) finished(r journal.Record, before string) string {
	want := before
	if c.protocol() == "chat" && !strings.HasSuffix(before, "data: [DONE]\n\n") {
		want += "data: [DONE]\n\n"
	}
	if c.got.Status != 200 || c.got.Body != want {
		return fmt.Sprintf("a complete stream, status %d: %s", c.got.Status, difference(c.got.Body, want))
	}
	if r.Outcome != journal.OutcomeCompleted && r.Outcome != journal.OutcomeIncomplete {
		return fmt.Sprintf("a complete stream, outcome %s", r.Outcome)
	}
	return ""
}

// broken: what was sent, untouched, then exactly one ending, which says so.
func (c *cutStream) broken(before string) string {
	if c.got.Status != 200 || !strings.HasPrefix(c.got.Body, before) {
		return fmt.Sprintf("status %d, not what was sent: %s", c.got.Status, difference(c.got.Body, before))
	}
	rest := stand.Reply{Body: c.got.Body[len(before):]}
	all, err := rest.Events()
	if err != nil {
		return err.Error()
	}
	want := map[string][]string{"responses": {"error", "response.failed"}, "chat": {""}, "messages": {"error"}}[c.protocol()]
	if len(all) != len(want) {
		return fmt.Sprintf("the ending is %q", rest.Body)
	}
	for i, ev := range all {
		if ev.Type != want[i] || ev.Fault == nil || ev.Fault.Code != cutCode[c.protocol()] || ev.Fault.RequestID != c.got.ID() {
			return fmt.Sprintf("event %d of the ending is %+v, %+v", i, ev, ev.Fault)
		}
	}
	return ""
}

// checkBill: nothing without content; else what upstream reported, or the estimate
// from the delivered text (four bytes a token, because nothing was learned).
func (c *cutStream) checkBill(r journal.Record, told contentSoFar) string {
	switch {
	case r.AfterOutput != told.output:
		return fmt.Sprintf("after_output %t", r.AfterOutput)
	case !told.output:
		if r.Outcome != journal.OutcomeFailed || r.Charge != 0 {
			return fmt.Sprintf("no output, outcome %s, charge %v", r.Outcome, r.Charge)
		}
	case r.Outcome != journal.OutcomePartial:
		return fmt.Sprintf("output, outcome %s", r.Outcome)
	case told.text == 0 && !told.item: // output, of which the client has nothing: docs/contract.md#s7-who-pays
		if r.Charge != 0 {
			return fmt.Sprintf("output without content, charge %v", r.Charge)
		}
	case r.Charge <= 0:
		return fmt.Sprintf("content, charge %v", r.Charge)
	case r.Usage.Source == "reported":
		if got := (tokens{r.Usage.Input, r.Usage.CachedInput, r.Usage.CacheWrite, r.Usage.Output}); !told.reported || got != told.usage {
			return fmt.Sprintf("usage %+v reported, want %+v (%t)", got, told.usage, told.reported)
		}
	case r.Usage.Source != "estimated" || r.Usage.Output != (told.text+3)/4:
		return fmt.Sprintf("%s usage of %d for %d bytes of text", r.Usage.Source, r.Usage.Output, told.text)
	}
	return ""
}
