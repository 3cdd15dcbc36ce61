package health

import (
	"testing"
	"time"

	"rubicon/internal/wire/classify"
)

// TestOutage plays an hour of outage under ten requests a second: the sick
// channel gets the failures that open it and then one probe per opening, and
// it is back within one probe interval and the successes.
func TestOutage(t *testing.T) {
	b := newBench(t)
	const tick = 100 * time.Millisecond
	b.once(route("b", "k1"), Result{OK: true})
	sick := 0
	for range 3600 * 10 {
		if p, ok := b.r.Allow(route("b", "k1"), "c"); ok {
			sick++
			p.Done(Result{Failure: classify.Upstream5xx})
		}
		b.wait(tick)
	}
	// 5, then probes every 10 s for two minutes, and every 30 s from then on.
	if want := 5 + 12 + (3600-120)/30; sick < want-1 || sick > want {
		t.Errorf("the sick channel got %d requests in an hour, want %d", sick, want)
	}
	well := b.at
	for b.view("b").State != StateClosed {
		if p, ok := b.r.Allow(route("b", "k1"), "c"); ok {
			p.Done(Result{OK: true})
		}
		if b.wait(tick); b.at.Sub(well) > time.Hour {
			t.Fatal("it never recovers")
		}
	}
	if d := b.at.Sub(well); d > 30*time.Second+3*tick {
		t.Errorf("recovered after %s", d)
	}
}

// TestCheapOnTheRequestPath: one allocation for a view's credentials, one for a
// permit.
func TestCheapOnTheRequestPath(t *testing.T) {
	b := newBench(t)
	a := b.cfg.Channel("a")
	b.once(route("a", "k1"), Result{OK: true})
	if n := testing.AllocsPerRun(100, func() { b.r.View(a, upstreamModel) }); n > 1 {
		t.Errorf("View allocates %v times", n)
	}
	if n := testing.AllocsPerRun(100, func() {
		p, _ := b.r.Allow(route("a", "k1"), "c")
		p.Done(Result{OK: true})
	}); n > 1 {
		t.Errorf("Allow and Done allocate %v times", n)
	}
}
