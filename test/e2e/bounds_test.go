package e2e

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"rubicon/internal/books/journal"
	"rubicon/internal/lab/sim"
	"rubicon/test/stand"
)

// Events of many megabytes pass untouched on every surface.
func TestHugeEvents(t *testing.T) {
	for _, mib := range []int{8, 20} {
		up := sim.New(sim.Options{Scripts: map[string]sim.Script{"up": sim.Play(
			sim.Created(), sim.Item("message"), sim.Part(), sim.Huge(mib<<20), sim.ItemDone(), sim.Completed(sim.Tokens(10, 0, 5)))}})
		s := stand.Start(t, stand.Options{Config: peersOf("", "alpha"), Peers: map[string]stand.Peer{"alpha": up}})
		for _, a := range apis {
			if mib > 8 && a.protocol != "responses" {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d MiB", a.protocol, mib), func(t *testing.T) {
				got := s.Post(s.Default, a.path, a.stream(a.protocol[:1]))
				if got.Err != nil || got.Status != 200 || len(got.Body) < mib<<20 {
					t.Fatalf("status %d, %d bytes, %v", got.Status, len(got.Body), got.Err)
				}
				if r := s.Record(got.ID()); r.Outcome != journal.OutcomeCompleted || r.Usage.Source != "reported" {
					t.Errorf("%s with %s usage", r.Outcome, r.Usage.Source)
				}
			})
		}
	}
}

// endless is an upstream whose event never ends, until the gateway leaves.
func endless(before func(c *stand.Exchange), most int, left chan<- int) *stand.Raw {
	piece := strings.Repeat("x", 64<<10)
	return &stand.Raw{Handle: func(c *stand.Exchange) bool {
		before(c)
		sent := 0
		for err := c.Chunk(`data: {"type":"response.output_text.delta","delta":"`); err == nil && sent < most; sent += len(piece) {
			err = c.Chunk(piece)
		}
		left <- sent
		return false
	}}
}

// One event over limits.event ends the attempt with the buffer's code, before
// output and after, and holds no more memory than the limit lets it.
func TestEventOverLimit(t *testing.T) {
	const limit, most = 4 << 20, 256 << 20
	openings := []struct {
		name   string
		chunks func(p string) string
		status map[string]int
	}{
		{"as the first event", func(string) string { return "" }, map[string]int{"responses": 502, "chat": 502, "messages": 502}},
		{"behind held events", func(p string) string { return events[p].opening }, map[string]int{"responses": 200, "chat": 502, "messages": 502}},
		{"after output", func(p string) string { return events[p].opening + events[p].output }, map[string]int{"responses": 200, "chat": 200, "messages": 200}},
	}
	for _, o := range openings {
		for _, a := range apis {
			t.Run(a.protocol+"/"+o.name, func(t *testing.T) {
				left := make(chan int, 1)
				up := endless(func(c *stand.Exchange) {
					c.Stream()
					_ = c.Chunk(o.chunks(a.protocol))
				}, most, left)
				s := stand.Start(t, stand.Options{Config: peersOf("limits: {event: 4MiB}", "alpha"), Peers: map[string]stand.Peer{"alpha": up}})
				watch := peak()
				got := s.Post(s.Default, a.path, a.stream(a.protocol[:1]))
				if sent := <-left; sent >= most {
					t.Errorf("the gateway took all of %d MiB", sent>>20)
				}
				if grown := watch(); grown > 12*limit {
					t.Errorf("the heap grew by %d MiB for a limit of %d", grown>>20, limit>>20)
				}
				checkBufferLimit(t, s, a, got, o.status[a.protocol], o.chunks(a.protocol))
			})
		}
	}
}

// checkBufferLimit: told once, in the surface's own way, behind the bytes that
// were delivered before.
func checkBufferLimit(t *testing.T, s *stand.Gateway, a api, got stand.Reply, status int, before string) {
	t.Helper()
	const code = "upstream_stream_buffer_limit"
	if status != 200 {
		checkFault(t, got, a.protocol, status, code)
	} else {
		checkBroken(t, a.protocol, got, before, code)
	}
	r := s.Record(got.ID())
	if len(r.Attempts) != 1 || r.Attempts[0].Failure != "buffer_limit" || r.Error == nil || r.Error.Code != code {
		t.Errorf("attempts %+v, error %+v", r.Attempts, r.Error)
	}
}

// checkBroken: a stream that broke after so many bytes has them untouched and
// then exactly one ending, which says so.
func checkBroken(t *testing.T, protocol string, got stand.Reply, before, code string) {
	t.Helper()
	if got.Status != 200 || got.Err != nil || !strings.HasPrefix(got.Body, before) {
		t.Fatalf("status %d, %v, the body does not begin with what upstream sent:\n%.2000s", got.Status, got.Err, got.Body)
	}
	rest := stand.Reply{Body: got.Body[len(before):]}
	all, err := rest.Events()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"responses": {"error", "response.failed"}, "chat": {""}, "messages": {"error"}}[protocol]
	if len(all) != len(want) {
		t.Fatalf("the ending has %d events, want %q: %s", len(all), want, rest.Body)
	}
	for i, ev := range all {
		if ev.Type != want[i] || ev.Fault == nil || ev.Fault.Code != code || ev.Fault.RequestID != got.ID() {
			t.Errorf("the ending's event %d is %+v with %+v, want %q with %s", i, ev, ev.Fault, want[i], code)
		}
	}
}

// Held events over their bound end the request with the buffer's code; the
// bound grows with the request, whose echo they are.
func TestHeldOverLimit(t *testing.T) {
	pad := strings.Repeat("x", 700<<10)
	echo := fmt.Sprintf("event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"resp_1\",\"status\":\"in_progress\",\"output\":[],\"instructions\":\"%s\"}}\n\n", pad)
	up := &stand.Raw{Handle: func(c *stand.Exchange) bool {
		c.Stream()
		e := events["responses"]
		return c.Chunk(echo+echo+e.output+e.ending) == nil && c.End()
	}}
	s := stand.Start(t, stand.Options{Config: peersOf("", "alpha"), Peers: map[string]stand.Peer{"alpha": up}})
	small := s.Post(s.Default, "/v1/responses", apis[0].stream("r"))
	checkBroken(t, "responses", small, echo+echo, "upstream_stream_buffer_limit")
	if r := s.Record(small.ID()); r.Outcome != journal.OutcomeFailed || r.AfterOutput || r.Charge != 0 || r.Attempts[0].Reason != "buffer_limit" {
		t.Errorf("%s, charge %v, attempts %+v", r.Outcome, r.Charge, r.Attempts)
	}
	large := fmt.Sprintf(`{"model":"r","store":false,"stream":true,"max_output_tokens":50,"input":"Hi","instructions":"%s"}`, pad)
	got := s.Post(s.Default, "/v1/responses", large)
	if want := echo + echo + events["responses"].output + events["responses"].ending; got.Body != want {
		t.Errorf("status %d, %d bytes, want %d: %.300s", got.Status, len(got.Body), len(want), got.Body)
	}
}

// A whole answer over limits.event is refused too.
func TestAnswerOverLimit(t *testing.T) {
	up := &stand.Raw{Handle: func(c *stand.Exchange) bool {
		return c.Whole(200, "application/json", `{"pad":"`+strings.Repeat("x", 5<<20)+`"}`)
	}}
	s := stand.Start(t, stand.Options{Config: peersOf("limits: {event: 4MiB}", "alpha"), Peers: map[string]stand.Peer{"alpha": up}})
	for _, a := range apis {
		got := s.Post(s.Default, a.path, a.unstreamed(a.protocol[:1]))
		checkBufferLimit(t, s, a, got, 502, "")
	}
}

// peak measures how far the heap grows until the returned function is called.
func peak() func() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	start, most := m.HeapAlloc, m.HeapAlloc
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
		}
	}()
	return func() int64 {
		close(stop)
		<-done
		return int64(most - start)
	}
}
