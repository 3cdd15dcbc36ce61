package e2e

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rubicon/internal/books/journal"
	"rubicon/internal/lab/sim"
	"rubicon/test/stand"
)

// Clients that leave after any number of bytes, the ending and the settlement
// included: every hold is resolved once, and what was delivered is paid.
func TestClientGoneAtAnyByte(t *testing.T) {
	up := sim.New(sim.Options{Scripts: map[string]sim.Script{"up": sim.Play(sim.Split(97, 200*time.Microsecond),
		sim.Created(), sim.InProgress(), sim.Item("message"), sim.Part(), sim.Text("The die "), sim.Text("is cast."), sim.TextDone(), sim.PartDone(), sim.ItemDone(),
		sim.Completed(sim.Tokens(10, 0, 5)))}})
	s := stand.Start(t, stand.Options{Config: peersOf("", "alpha"), Peers: map[string]stand.Peer{"alpha": up}, Tune: patient})
	whole := len(s.Post(s.Default, "/v1/responses", apis[0].stream("r")).Body)
	if whole < 500 {
		t.Fatalf("the whole answer has %d bytes", whole)
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, 8)
	for n := 0; n <= whole+200; n += 23 {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			conn := dial(t, s, "/v1/responses", apis[0].stream("r"))
			_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
			_, _ = io.CopyN(io.Discard, conn, int64(n))
			conn.Close()
		})
	}
	wg.Wait()
	var records map[string]journal.Record
	must(t, 5*time.Second, "final records", func() bool {
		records = s.Records()
		for _, r := range records {
			if r.Outcome == journal.OutcomeRunning {
				return false
			}
		}
		return true
	})
	seen := map[journal.Outcome]int{}
	for id, r := range records {
		seen[r.Outcome]++
		kinds := s.Kinds(id)
		switch {
		case r.Outcome != journal.OutcomeCompleted && r.Outcome != journal.OutcomeCancelled:
			t.Errorf("outcome %s", r.Outcome)
		case len(r.Attempts) == 0:
			if len(kinds) != 0 { // left before it was admitted
				t.Errorf("no attempt, transactions %v", kinds)
			}
		case kinds[0] != "hold" || slices.Contains(kinds, "settle") == slices.Contains(kinds, "release"),
			slices.Contains(kinds, "cost") != r.Attempts[0].MayHaveExecuted, len(kinds) > 3:
			t.Errorf("%s with transactions %v", r.Outcome, kinds)
		case slices.Contains(kinds, "settle") != r.AfterOutput:
			t.Errorf("%s, output handed over %t, transactions %v", r.Outcome, r.AfterOutput, kinds)
		}
	}
	if seen[journal.OutcomeCompleted] == 0 || seen[journal.OutcomeCancelled] == 0 {
		t.Errorf("outcomes %v, want both", seen)
	}
}

// A client that takes nothing is cut after its model's timers.write; until then upstream
// waits and the gateway's memory does not grow.
func TestClientTakesNothing(t *testing.T) {
	left := make(chan bool, 1)
	chunk := strings.Repeat(events["responses"].output, 200)
	up := &stand.Raw{Handle: func(c *stand.Exchange) bool {
		c.Stream()
		sent := 0
		for err := c.Chunk(events["responses"].opening); err == nil && sent < 200<<20; sent += len(chunk) {
			err = c.Chunk(chunk)
		}
		left <- sent < 200<<20
		return false
	}}
	config := strings.Replace(peersOf("timers: {write: 10m}", "alpha"), "  - name: r\n", "  - name: r\n    timers: {write: 1s}\n", 1)
	s := stand.Start(t, stand.Options{Config: config, Peers: map[string]stand.Peer{"alpha": up}})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	conn := dial(t, s, "/v1/responses", apis[0].stream("r"))
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	select {
	case early := <-left:
		if !early {
			t.Error("upstream could send 200 MiB to a client that takes nothing")
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the upstream call goes on although the client takes nothing")
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 32<<20 {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	}
	must(t, 5*time.Second, "a cancelled record", func() bool {
		for _, r := range s.Records() {
			return r.Outcome == journal.OutcomeCancelled && r.AfterOutput && r.Charge > 0
		}
		return false
	})
}

// A client that takes a large event slowly takes something all the time, and is
// not cut, however long the event takes.
func TestClientTakesSlowly(t *testing.T) {
	const size = 10 << 20
	up := &stand.Raw{Handle: func(c *stand.Exchange) bool {
		c.Stream()
		e := events["responses"]
		return c.Chunk(e.opening) == nil && c.Chunk(strings.Replace(e.output, `"delta":"`, `"delta":"`+strings.Repeat("x", size), 1)) == nil &&
			c.Chunk(e.ending) == nil && c.End()
	}}
	s := stand.Start(t, stand.Options{Config: peersOf("timers: {write: 1s}", "alpha"), Peers: map[string]stand.Peer{"alpha": up}})
	conn := dial(t, s, "/v1/responses", apis[0].stream("r"))
	_ = conn.(*net.TCPConn).SetReadBuffer(256 << 10)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var taken int64
	for err == nil {
		var n int64
		n, err = io.CopyN(io.Discard, resp.Body, 256<<10)
		taken += n
		time.Sleep(75 * time.Millisecond)
	}
	if taken < size || err != io.EOF {
		t.Errorf("%d KiB, then %v", taken>>10, err)
	}
	must(t, 5*time.Second, "a completed record", func() bool {
		for _, r := range s.Records() {
			return r.Outcome == journal.OutcomeCompleted
		}
		return false
	})
}
