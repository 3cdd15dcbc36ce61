package breaker

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/config"
)

var usual = config.Breaker{Failures: 5, Window: time.Minute, Rate: 0.5, Samples: 20, Open: 30 * time.Second, OpenMax: 5 * time.Minute, Probes: 1, Successes: 3}

// breakerTest drives one breaker by hand.
type breakerTest struct {
	t   *testing.T
	s   State
	now time.Time
	cfg config.Breaker
}

func newBench(t *testing.T) *breakerTest {
	return &breakerTest{t: t, now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), cfg: usual}
}

func (b *breakerTest) step(e Event) Effect {
	b.t.Helper()
	var eff Effect
	b.s, eff = Step(b.s, e, b.now, b.cfg)
	return eff
}

func (b *breakerTest) wait(d time.Duration) { b.now = b.now.Add(d) }

func (b *breakerTest) acquire(customer string) Ticket {
	b.t.Helper()
	eff := b.step(Event{Kind: Acquire, Customer: customer, Deadline: b.now.Add(time.Minute)})
	if !eff.Allowed {
		b.t.Fatalf("refused while %s", b.s.PositionAt(b.now))
	}
	return eff.Ticket
}

func (b *breakerTest) refused() {
	b.t.Helper()
	if b.s.WouldAllow(b.now, b.cfg) {
		b.t.Fatal("Free, but a refusal was expected")
	}
	if b.step(Event{Kind: Acquire, Customer: "x"}).Allowed {
		b.t.Fatal("allowed, but a refusal was expected")
	}
}

func (b *breakerTest) end(k Kind, customer string, t Ticket) Effect {
	b.t.Helper()
	return b.step(Event{Kind: k, Customer: customer, Ticket: t, Cause: "read_error"})
}

func (b *breakerTest) once(k Kind, customer string) {
	b.t.Helper()
	b.end(k, customer, b.acquire(customer))
}

func (b *breakerTest) at(want Position) {
	b.t.Helper()
	if got := b.s.PositionAt(b.now); got != want {
		b.t.Fatalf("breaker is %s, want %s", got, want)
	}
}

// fail opens the breaker by failures of several customers.
func (b *breakerTest) fail() {
	b.t.Helper()
	for _, c := range []string{"a", "b", "a", "b", "a"} {
		b.once(Failed, c)
	}
	b.at(Open)
}

func TestOpensAfterFiveInARow(t *testing.T) {
	b := newBench(t)
	for range 4 {
		b.once(Failed, "a")
	}
	b.at(Closed)
	eff := b.end(Failed, "a", b.acquire("a"))
	b.at(Open)
	if eff.Changes != [2]Position{Open} || !eff.Counted {
		t.Errorf("effect %+v does not tell that it opened", eff)
	}
	if b.s.Cause != "read_error" || b.s.ConsecutiveFailures != 5 || !b.s.Since.Equal(b.now) || !b.s.Until.Equal(b.now.Add(30*time.Second)) {
		t.Errorf("state after opening: %+v", b.s)
	}
}

func TestSuccessEndsTheRow(t *testing.T) {
	b := newBench(t)
	for range 20 {
		for range 4 {
			b.once(Failed, "a")
		}
		b.once(Success, "b")
	}
	b.at(Closed)
	if b.s.ConsecutiveFailures != 0 {
		t.Errorf("row is %d after a success", b.s.ConsecutiveFailures)
	}
}

func TestFailuresOutsideTheWindowDoNotCount(t *testing.T) {
	b := newBench(t)
	for range 50 {
		b.once(Failed, "a")
		b.wait(15 * time.Second) // the fifth comes when the first is just 60 s old
	}
	b.at(Closed)
	b.wait(-time.Second)
	b.once(Failed, "a")
	b.at(Open)
}

// flaky has so many results of two customers in the window, with no row of five
// among them.
func (b *breakerTest) flaky(ok, failed int) {
	b.t.Helper()
	for ok > 0 || failed > 0 {
		for range min(failed, 4) {
			b.once(Failed, "c")
			failed--
		}
		for range min(ok, 4) {
			b.once(Success, "c")
			ok--
		}
	}
	b.once(Success, "c")
	b.at(Closed)
}

// TestRowsOfAFlakyChannel: a row of failures opens a breaker only if the channel
// is mostly bad, as far as its results can tell.
func TestRowsOfAFlakyChannel(t *testing.T) {
	for _, tt := range []struct {
		name       string
		ok, failed int // in the window before; one more is good
		row        int // that it takes to open
	}{
		{"new", 0, 0, 5},
		{"nineteen with the row", 13, 0, 5},
		{"twenty with the row, a quarter bad", 14, 0, 15},
		{"twenty with the row, half bad", 9, 5, 5},
		{"forty with the row, less than half bad", 20, 14, 7},
		{"busy, and dead all at once", 5000, 0, 20},
		{"busy and flaky, and dead all at once", 600, 390, 20},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.flaky(tt.ok, tt.failed)
			for i := range tt.row {
				b.at(Closed)
				b.once(Failed, []string{"a", "b"}[i%2])
			}
			b.at(Open)
		})
	}
}

func TestResultsLeaveTheWindow(t *testing.T) {
	b := newBench(t)
	b.flaky(100, 0)
	b.wait(time.Minute)
	b.fail()
}

func TestOneCustomersShare(t *testing.T) {
	t.Run("others use it", func(t *testing.T) {
		b := newBench(t)
		b.once(Success, "b")
		for range 50 {
			b.once(Failed, "a")
			b.wait(time.Second)
		}
		b.at(Closed)
	})
	t.Run("an open permit of another is use", func(t *testing.T) {
		b := newBench(t)
		b.acquire("b")
		for range 10 {
			b.once(Failed, "a")
		}
		b.at(Closed)
	})
	t.Run("another fails too", func(t *testing.T) {
		b := newBench(t)
		for range 10 {
			b.acquire("b")
			b.once(Failed, "a")
		}
		b.once(Failed, "b")
		b.at(Closed)
		b.once(Failed, "b")
		b.at(Open)
	})
	t.Run("alone", func(t *testing.T) {
		b := newBench(t)
		b.once(Success, "b")
		b.wait(time.Minute)
		for range 5 {
			b.once(Failed, "a")
		}
		b.at(Open)
	})
	t.Run("others stop while this customer fails", func(t *testing.T) {
		b := newBench(t)
		b.once(Success, "b")
		for range 7 {
			b.once(Failed, "a")
			b.wait(8 * time.Second)
		}
		b.at(Closed)
		b.wait(5 * time.Second)
		b.once(Failed, "a")
		b.at(Open)
	})
	t.Run("larger breakers keep the share", func(t *testing.T) {
		b := newBench(t)
		b.cfg.Failures = 10
		for range 10 {
			b.acquire("b")
			b.once(Failed, "a")
		}
		b.at(Closed)
		for range 4 {
			b.once(Failed, "b")
		}
		b.at(Open)
	})
}

func TestRecovery(t *testing.T) {
	b := newBench(t)
	b.fail()
	b.wait(30*time.Second - 1)
	b.refused()
	b.wait(1)
	b.at(HalfOpen)
	first := b.acquire("a")
	if first.Probe == 0 {
		t.Fatal("a permit of a half-open breaker is no probe")
	}
	b.refused()
	b.end(Success, "a", first)
	b.once(Success, "b")
	b.at(HalfOpen)
	eff := b.end(Success, "c", b.acquire("c"))
	b.at(Closed)
	if eff.Changes[0] != Closed {
		t.Errorf("effect %+v does not tell that it closed", eff)
	}
	if b.s.OpenFor != 0 || b.s.Cause != "" || !b.s.Until.IsZero() {
		t.Errorf("closed, but it remembers the outage: %+v", b.s)
	}
}

func TestALongOutageIsAskedLessOften(t *testing.T) {
	b := newBench(t)
	b.fail()
	for _, want := range []time.Duration{30, 30, 30, 30, 300, 300} {
		if b.s.OpenFor != want*time.Second {
			t.Fatalf("open for %s, want %ds", b.s.OpenFor, want)
		}
		b.wait(b.s.OpenFor)
		b.once(Success, "a") // a flapping upstream: one success is not enough
		b.once(Failed, "b")
		b.at(Open)
	}
	b.wait(b.s.OpenFor)
	for range 3 {
		b.once(Success, "a")
	}
	b.at(Closed)
	b.fail()
	if b.s.OpenFor != 30*time.Second {
		t.Errorf("after a recovery it opens for %s", b.s.OpenFor)
	}
}

func TestHungProbe(t *testing.T) {
	b := newBench(t)
	b.fail()
	b.wait(30 * time.Second)
	hung := b.acquire("a")
	b.wait(time.Minute - 1)
	b.refused()
	b.step(Event{Kind: Extend, Ticket: hung, Deadline: b.now.Add(time.Minute)})
	b.wait(time.Minute - 1)
	b.refused()
	b.wait(1)
	next := b.acquire("b")
	before := b.s
	if eff := b.end(Failed, "a", hung); eff.Counted {
		t.Error("the result of a probe that was given up counted")
	}
	if diff := cmp.Diff(before.Probes, b.s.Probes); diff != "" || b.s.Position != HalfOpen {
		t.Errorf("a late result changed the breaker:\n%s", diff)
	}
	b.end(Success, "b", next)
	if b.s.Successes != 1 {
		t.Errorf("%d successes, want 1", b.s.Successes)
	}
}

func TestAbortedProbeDecidesNothing(t *testing.T) {
	b := newBench(t)
	b.fail()
	b.wait(30 * time.Second)
	b.once(Success, "a")
	for range 5000 {
		b.once(Abandoned, "a")
	}
	b.at(HalfOpen)
	if b.s.Successes != 1 {
		t.Errorf("aborted probes changed the successes to %d", b.s.Successes)
	}
}

func TestLateResultsOfAnOlderGeneration(t *testing.T) {
	b := newBench(t)
	late := []Ticket{b.acquire("z"), b.acquire("z"), b.acquire("z"), b.acquire("z")}
	b.fail()
	b.end(Success, "z", late[0])
	b.at(Open)
	b.wait(30 * time.Second)
	b.once(Success, "a")
	b.end(Failed, "z", late[1])
	b.at(HalfOpen)
	b.once(Success, "a")
	b.once(Success, "a")
	b.at(Closed)
	b.once(Failed, "a")
	if eff := b.end(Success, "z", late[2]); eff.Counted || b.s.ConsecutiveFailures != 1 {
		t.Errorf("a success from before the outage ended a row of today: %+v", b.s)
	}
	if b.end(Failed, "z", late[3]); b.s.ConsecutiveFailures != 1 {
		t.Errorf("a failure from before the outage counts today: %+v", b.s)
	}
}

func TestSeveralProbes(t *testing.T) {
	b := newBench(t)
	b.cfg.Probes = 3
	b.fail()
	b.wait(30 * time.Second)
	one, two, three := b.acquire("a"), b.acquire("b"), b.acquire("c")
	b.refused()
	b.end(Success, "b", two)
	b.acquire("d")
	b.refused()
	b.end(Failed, "a", one)
	b.at(Open)
	b.end(Success, "c", three)
	b.at(Open)
}

func TestZeroStateIsClosed(t *testing.T) {
	var s State
	if s.PositionAt(time.Time{}) != Closed || !s.WouldAllow(time.Time{}, usual) {
		t.Error("the zero state is not a closed breaker")
	}
}
