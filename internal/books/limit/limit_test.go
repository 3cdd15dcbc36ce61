package limit

import (
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 7, 30, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return noon.Add(d) }

// take admits n requests and fails the test if one is refused.
func take(t *testing.T, l *Limits, now time.Time, a Demand, n int) (last *Grant) {
	t.Helper()
	for i := range n {
		g, r := l.Admit(now, a)
		if r != nil {
			t.Fatalf("request %d at %s was refused: %+v", i+1, now.Sub(noon), *r)
		}
		last = g
	}
	return last
}

func refused(t *testing.T, l *Limits, now time.Time, a Demand, want Refusal) {
	t.Helper()
	g, r := l.Admit(now, a)
	if r == nil {
		g.Cancel(now)
		t.Fatalf("a request at %s was let through; want %+v", now.Sub(noon), want)
	}
	want.State = r.State
	if diff := cmp.Diff(want, *r); diff != "" {
		t.Fatalf("the refusal (-want +got):\n%s", diff)
	}
}

func TestRequestsPerMinute(t *testing.T) {
	l, a := New(Options{}), Demand{Key: "k", RPM: 6}
	g := take(t, l, noon, a, 6)
	if diff := cmp.Diff(State{Requests: Window{Limit: 6, Remaining: 0, Reset: time.Minute}}, g.State()); diff != "" {
		t.Error(diff)
	}
	refused(t, l, noon, a, Refusal{Reason: Requests, Limit: 6, After: 10 * time.Second})
	refused(t, l, at(9*time.Second), a, Refusal{Reason: Requests, Limit: 6, After: time.Second})
	take(t, l, at(10*time.Second), a, 1)
	refused(t, l, at(10*time.Second), a, Refusal{Reason: Requests, Limit: 6, After: 10 * time.Second})
	take(t, l, noon, Demand{Key: "other", RPM: 6}, 6) // keys do not meet
	take(t, l, at(5*time.Minute), a, 6)               // rest is not saved up beyond a minute
	refused(t, l, at(5*time.Minute), a, Refusal{Reason: Requests, Limit: 6, After: 10 * time.Second})
}

// Tokens are asked for once the body is known; what is refused then gives its
// place back as a whole.
func TestExtend(t *testing.T) {
	l := New(Options{})
	first, whole := Demand{Key: "k", RPM: 2, Concurrency: 2}, Demand{Key: "k", RPM: 2, TPM: 600, Concurrency: 2, Tokens: 400}
	one, two := take(t, l, noon, first, 1), take(t, l, noon, first, 1)
	if r := one.Extend(noon, whole); r != nil {
		t.Fatalf("refused: %+v", *r)
	}
	if got, want := one.State(), (State{Requests: Window{2, 0, time.Minute}, Tokens: Window{600, 200, 40 * time.Second}}); got != want {
		t.Errorf("state %+v, want %+v", got, want)
	}
	r := two.Extend(noon, whole)
	if r == nil || r.Reason != Tokens || r.After != 20*time.Second || r.Impossible {
		t.Fatalf("refusal %+v", r)
	}
	two.Cancel(noon)
	if r := take(t, l, noon, first, 1).Extend(noon, Demand{Key: "k", RPM: 2, Concurrency: 2}); r != nil {
		t.Errorf("without a limit of tokens: %+v", *r)
	}
	one.Done(noon, 100)
	if got := one.key.tokens.debt(noon); got != 10*time.Second {
		t.Errorf("after its end %v are owed", got)
	}
}

func TestTokensPerMinute(t *testing.T) {
	l, a := New(Options{}), Demand{Key: "k", TPM: 600, Tokens: 400}
	g := take(t, l, noon, a, 1)
	if got, want := g.State().Tokens, (Window{Limit: 600, Remaining: 200, Reset: 40 * time.Second}); got != want {
		t.Errorf("the window is %+v, want %+v", got, want)
	}
	refused(t, l, noon, a, Refusal{Reason: Tokens, Limit: 600, After: 20 * time.Second})
	g.Done(noon, 100) // 300 come back
	g.Done(noon, 0)   // once
	g2 := take(t, l, noon, a, 1)
	refused(t, l, noon, Demand{Key: "k", TPM: 600, Tokens: 101}, Refusal{Reason: Tokens, Limit: 600, After: 100 * time.Millisecond})
	g2.Done(noon, 1000) // more than estimated: later ones wait for it
	refused(t, l, noon, Demand{Key: "k", TPM: 600, Tokens: 100}, Refusal{Reason: Tokens, Limit: 600, After: 60 * time.Second})
	take(t, l, at(time.Minute), Demand{Key: "k", TPM: 600, Tokens: 100}, 1)
	refused(t, l, noon, Demand{Key: "k", TPM: 600, Tokens: 601}, Refusal{Reason: Tokens, Limit: 600, Impossible: true})
}

// What time has earned back is not given back a second time.
func TestLateCorrection(t *testing.T) {
	l, a := New(Options{}), Demand{Key: "k", TPM: 600, Tokens: 600}
	slow := take(t, l, noon, a, 1)
	take(t, l, at(time.Minute), a, 1)
	slow.Done(at(time.Minute), 0)
	refused(t, l, at(time.Minute), Demand{Key: "k", TPM: 600, Tokens: 1}, Refusal{Reason: Tokens, Limit: 600, After: 100 * time.Millisecond})
}

func TestConcurrency(t *testing.T) {
	l, a := New(Options{}), Demand{Key: "k", Concurrency: 2, RPM: 3}
	first := take(t, l, noon, a, 1)
	second := take(t, l, noon, a, 1)
	refused(t, l, noon, a, Refusal{Reason: Concurrency, Limit: 2})
	first.Done(noon, 0)
	first.Cancel(noon)
	third := take(t, l, noon, a, 1) // the refused one used no request
	second.Cancel(noon)             // neither does one that is refused later
	take(t, l, noon, a, 1)
	third.Done(noon, 0)
	refused(t, l, noon, a, Refusal{Reason: Requests, Limit: 3, After: 20 * time.Second})
}

// Of several limits none is taken when one refuses.
func TestAllOrNothing(t *testing.T) {
	l := New(Options{})
	take(t, l, noon, Demand{Key: "k", RPM: 10, TPM: 100, Tokens: 100}, 1)
	refused(t, l, noon, Demand{Key: "k", RPM: 10, TPM: 100, Concurrency: 2, Tokens: 50}, Refusal{Reason: Tokens, Limit: 100, After: 30 * time.Second})
	g := take(t, l, noon, Demand{Key: "k", RPM: 10, TPM: 100, Concurrency: 2}, 1)
	if got := g.State().Requests.Remaining; got != 8 {
		t.Errorf("%d requests remain, want 8", got)
	}
}

func TestChangedLimit(t *testing.T) {
	for _, c := range []struct {
		from, to, left int64
		used           int
	}{
		{from: 10, to: 20, used: 10, left: 10},
		{from: 10, to: 5, used: 4, left: 1},
		{from: 100, to: 5, used: 50, left: 0},
		{from: 1, to: 3, used: 1, left: 2},
	} {
		l := New(Options{})
		take(t, l, noon, Demand{Key: "k", RPM: c.from}, c.used)
		var got int64
		for ; got < 1000; got++ {
			if _, r := l.Admit(noon, Demand{Key: "k", RPM: c.to}); r != nil {
				if r.After > time.Minute {
					t.Errorf("%+v: to wait %s", c, r.After)
				}
				break
			}
		}
		if got != c.left {
			t.Errorf("%+v: %d more were let through", c, got)
		}
	}
	l := New(Options{})
	g := take(t, l, noon, Demand{Key: "k", TPM: 100, Tokens: 100}, 1)
	take(t, l, noon, Demand{Key: "k"}, 5) // no limit any more
	g.Done(noon, 1<<40)                   // and the old one's end harms nobody
	take(t, l, noon, Demand{Key: "k", RPM: 1}, 1)
}

func TestShares(t *testing.T) {
	nodes := 3
	l := New(Options{Nodes: func() int { return nodes }})
	a := Demand{Key: "k", RPM: 7, TPM: 90, Concurrency: 20, Tokens: 10}
	take(t, l, noon, a, 3)
	refused(t, l, noon, a, Refusal{Reason: Requests, Limit: 7, After: 20 * time.Second})
	// More than this node's share but not than the limit: it waits for rest.
	big := Demand{Key: "k", TPM: 90, Tokens: 60}
	refused(t, l, noon, big, Refusal{Reason: Tokens, Limit: 90, After: time.Minute})
	take(t, l, at(time.Minute), big, 1)
	refused(t, l, at(time.Minute), big, Refusal{Reason: Tokens, Limit: 90, After: 2 * time.Minute})
	nodes = 0 // nobody is counted yet
	take(t, New(Options{Nodes: func() int { return nodes }}), noon, a, 7)
}

func TestWithoutLimits(t *testing.T) {
	l := New(Options{})
	g := take(t, l, noon, Demand{Key: "k", Tokens: 1 << 40}, 100)
	if g != nil || len(l.keys) != 0 {
		t.Error("a key without limits left a trace")
	}
	g.Done(noon, 1)
	g.Cancel(noon)
	if diff := cmp.Diff(State{}, g.State()); diff != "" {
		t.Error(diff)
	}
}

// Idle keys are forgotten, busy ones are not.
func TestForgetting(t *testing.T) {
	l := New(Options{})
	busy := take(t, l, noon, Demand{Key: "busy", Concurrency: 1}, 1)
	for n := range 10 * firstSweep {
		take(t, l, at(time.Duration(n)*time.Second), Demand{Key: fmt.Sprint(n), RPM: 1}, 1).Done(at(time.Duration(n)*time.Second), 0)
	}
	if n := len(l.keys); n > firstSweep {
		t.Errorf("%d keys are kept", n)
	}
	refused(t, l, at(time.Hour), Demand{Key: "busy", Concurrency: 1}, Refusal{Reason: Concurrency, Limit: 1})
	busy.Done(noon, 0)
	take(t, l, at(time.Hour), Demand{Key: "busy", Concurrency: 1}, 1)
}

func TestParallel(t *testing.T) {
	l, a := New(Options{}), Demand{Key: "k", RPM: 50, TPM: 10_000, Concurrency: 1000, Tokens: 100}
	var wg sync.WaitGroup
	var mu sync.Mutex
	granted := 0
	for range 200 {
		wg.Go(func() {
			g, r := l.Admit(noon, a)
			if r != nil {
				return
			}
			mu.Lock()
			granted++
			mu.Unlock()
			g.Done(noon, 100)
		})
	}
	wg.Wait()
	if granted != 50 {
		t.Errorf("%d of 200 were let through at a limit of 50", granted)
	}
}

// Whatever is asked when: in any stretch of time a bucket grants at most its
// limit and what the stretch earns.
func TestBucketProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(1, 1e9).Draw(t, "limit")
		b, now, granted := bucket{limit: limit}, noon, int64(0)
		const rounded = 50 // less than a unit for each step
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(10*time.Second)).Draw(t, "pause")))
			cost := rapid.Int64Range(1, limit).Draw(t, "cost")
			d := b.spend(now, cost, limit)
			if !d.ok {
				if d.after <= 0 || d.impossible {
					t.Fatalf("refused %d of %d, but to wait %s", cost, limit, d.after)
				}
				if again := b.spend(now.Add(d.after), cost, limit); !again.ok {
					t.Fatalf("refused %d of %d also after the wait of %s", cost, limit, d.after)
				}
				continue
			}
			b = d.next
			granted += cost
			if earned := limit + units(now.Sub(noon), limit) + rounded; granted > earned {
				t.Fatalf("granted %d of %d in %s", granted, earned, now.Sub(noon))
			}
			if w := b.window(now); w.Remaining < 0 || w.Remaining > limit || w.Reset > minute {
				t.Fatalf("the window is %+v", w)
			}
		}
	})
}

func TestExtremes(t *testing.T) {
	b := bucket{limit: 1}.correct(noon, math.MaxInt64, bucket{})
	if d := b.debt(noon); d != maxTime {
		t.Errorf("a debt of %s", d)
	}
	if b = b.correct(noon, math.MaxInt64, bucket{}); b.debt(noon) > 2*maxTime {
		t.Errorf("a debt of %s", b.debt(noon))
	}
	if got := units(time.Duration(math.MaxInt64), math.MaxInt64); got != math.MaxInt64 {
		t.Errorf("%d units", got)
	}
}
