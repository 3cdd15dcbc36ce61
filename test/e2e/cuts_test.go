package e2e

import (
	"fmt"
	"strings"
	"testing"

	"rubicon/internal/journal"
	"rubicon/internal/protocol"
	"rubicon/internal/protocol/chat"
	"rubicon/internal/protocol/messages"
	"rubicon/internal/protocol/recorded"
	"rubicon/internal/protocol/responses"
	"rubicon/test/stand"
)

var protocols = map[string]protocol.Protocol{"responses": responses.Protocol(), "chat": chat.Protocol(), "messages": messages.Protocol()}

// cut is one stream that breaks off, and what came of it.
type cut struct {
	play
	e    recorded.Exchange
	got  stand.Reply
	sent []string // the events that upstream has sent whole
}

func (c *cut) String() string {
	return fmt.Sprintf("%s/%s cut after %d events (%s)", c.e.Protocol, c.e.Name, len(c.sent), c.How)
}

// Every recorded stream, cut at every event by a FIN, a reset, or in the middle
// of the next event: never looks finished, has exactly one ending, and bills no
// more than what was delivered.
func TestTranscriptsCut(t *testing.T) {
	l := newLibrary(t, true)
	// Streams that are complete although they were cut teach the gateway how
	// many bytes a token has; a gateway of their own learns from them.
	var cuts, complete []*cut
	for i, e := range l.exchanges {
		for k, all := 0, records(e.Normal()); k < len(all); k++ {
			for w, how := range []string{"fin", "reset", "half"} {
				if !thorough && (k+i)%3 != w {
					continue
				}
				c := &cut{play: play{N: i, Cut: k + 1, How: how}, e: e, sent: all[:k]}
				if _, _, done := c.told(c.sent); done {
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

func checkCuts(t *testing.T, l *library, cuts []*cut) {
	t.Helper()
	s := stand.Start(t, stand.Options{Config: peersOf("", "alpha"), Peers: map[string]stand.Peer{"alpha": l.upstream()}, Tune: patient, Credit: "1000000.00"})
	eachOf(len(cuts), func(i int) {
		path, body := cuts[i].request(cuts[i].e)
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

// told is what events of a stream say: any at all, output, the end.
func (c *cut) told(sent []string) (events, output, done bool) {
	p := recorded.Run(strings.NewReader(strings.Join(sent, "")), protocols[c.e.Protocol].NewReader(protocol.ReaderOptions{Choices: 1}))
	for i, ev := range p.Events {
		events = events || ev.Class != protocol.Heartbeat
		output = output || ev.Class == protocol.Output
		done = p.Stages[i] != protocol.Open
	}
	return events, output, done
}

// check tells what is wrong, "" if nothing is.
func (c *cut) check(r journal.Record) string {
	if c.got.Err != nil {
		return fmt.Sprintf("the connection broke off: %v", c.got.Err)
	}
	sent := c.sent
	if c.How == "reset" && c.got.Status == 200 {
		sent = c.arrived() // a reset may overtake what was sent before it
	}
	events, output, done := c.told(sent)
	before := strings.Join(sent, "")
	switch opened := output || events && c.e.Protocol == "responses"; {
	case c.How == "reset" && c.got.Status != 200:
		return c.refused(r) // it overtook everything
	case done:
		return c.finished(r, before)
	case !opened:
		return c.refused(r)
	}
	if problem := c.broken(before); problem != "" {
		return problem
	}
	return c.billed(r, sent, output)
}

// arrived are the events that reached the client.
func (c *cut) arrived() []string {
	n := 0
	for rest := c.got.Body; n < len(c.sent) && strings.HasPrefix(rest, c.sent[n]); n++ {
		rest = rest[len(c.sent[n]):]
	}
	return c.sent[:n]
}

// refused: nothing was delivered, so the failure is a status, and free.
func (c *cut) refused(r journal.Record) string {
	f := c.got.Fault()
	switch {
	case c.got.Status != 502 || f.Code != cutCode[c.e.Protocol] || f.RequestID != c.got.ID():
		return fmt.Sprintf("status %d: %.300s", c.got.Status, c.got.Body)
	case r.Outcome != journal.OutcomeFailed || r.Charge != 0 || r.AfterOutput:
		return fmt.Sprintf("outcome %s, charge %v", r.Outcome, r.Charge)
	}
	return ""
}

var cutCode = map[string]string{"responses": "stream_read_error", "chat": "upstream_stream_error", "messages": "upstream_stream_error"}

// finished: Chat is complete with its finish reasons; what may be missing is
// made good.
func (c *cut) finished(r journal.Record, before string) string {
	want := before
	if c.e.Protocol == "chat" && !strings.HasSuffix(before, "data: [DONE]\n\n") {
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
func (c *cut) broken(before string) string {
	if c.got.Status != 200 || !strings.HasPrefix(c.got.Body, before) {
		return fmt.Sprintf("status %d, not what was sent: %s", c.got.Status, difference(c.got.Body, before))
	}
	rest := stand.Reply{Body: c.got.Body[len(before):]}
	all, err := rest.Events()
	if err != nil {
		return err.Error()
	}
	want := map[string][]string{"responses": {"error", "response.failed"}, "chat": {""}, "messages": {"error"}}[c.e.Protocol]
	if len(all) != len(want) {
		return fmt.Sprintf("the ending is %q", rest.Body)
	}
	for i, ev := range all {
		if ev.Type != want[i] || ev.Fault == nil || ev.Fault.Code != cutCode[c.e.Protocol] || ev.Fault.RequestID != c.got.ID() {
			return fmt.Sprintf("event %d of the ending is %+v, %+v", i, ev, ev.Fault)
		}
	}
	return ""
}

// billed: nothing without output; else what upstream reported, or the estimate
// from the delivered text (four bytes a token, because nothing was learned).
func (c *cut) billed(r journal.Record, sent []string, output bool) string {
	reported, known := usageOf(recorded.Exchange{Protocol: c.e.Protocol, Stream: true, Body: strings.Join(sent, "")})
	text := textOf(c.e.Protocol, sent)
	switch {
	case r.AfterOutput != output:
		return fmt.Sprintf("after_output %t", r.AfterOutput)
	case !output:
		if r.Outcome != journal.OutcomeFailed || r.Charge != 0 {
			return fmt.Sprintf("no output, outcome %s, charge %v", r.Outcome, r.Charge)
		}
	case r.Outcome != journal.OutcomePartial || r.Charge <= 0:
		return fmt.Sprintf("output, outcome %s, charge %v", r.Outcome, r.Charge)
	case r.Usage.Source == "reported":
		if got := (tokens{r.Usage.Input, r.Usage.CachedInput, r.Usage.CacheWrite, r.Usage.Output}); !known || got != reported {
			return fmt.Sprintf("usage %+v reported, want %+v (%t)", got, reported, known)
		}
	case r.Usage.Source != "estimated" || r.Usage.Output != (text+3)/4:
		return fmt.Sprintf("%s usage of %d for %d bytes of text", r.Usage.Source, r.Usage.Output, text)
	}
	return ""
}
