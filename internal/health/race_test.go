package health

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rubicon/internal/config"
	"rubicon/internal/wire/classify"
)

// TestConcurrentUse mixes everything, with a Notify that calls back: it finds
// races and deadlocks, and that the registry comes to rest.
func TestConcurrentUse(t *testing.T) {
	var r *Registry
	var notified atomic.Int64
	r = New(Options{Recheck: time.Microsecond, Notify: func(Event) {
		notified.Add(1)
		r.Export()
	}})
	cfg := configuration()
	r.Configure(cfg)
	ctx, cancel := context.WithCancel(t.Context())
	var rechecks, wg sync.WaitGroup
	rechecks.Go(func() {
		_ = r.RunRechecks(ctx, func(context.Context, *config.Channel, string) error { return nil })
	})
	results := []Result{{OK: true}, {Aborted: true}}
	for _, f := range classify.All() {
		results = append(results, Result{Failure: f, RetryAfter: time.Microsecond})
	}
	routes := []Route{route("a", "k1"), route("a", "k2"), route("b", "k1"), route("k", "")}
	for g := range 8 {
		wg.Go(func() {
			for i := range 1000 {
				at := routes[(i+g)%len(routes)]
				r.View(cfg.Channel(at.Channel), upstreamModel)
				if p, ok := r.Allow(at, fmt.Sprint("c", g)); ok {
					p.Alive()
					p.Done(results[(i*7+g)%len(results)])
					p.Done(Result{OK: true})
				}
				switch i % 100 {
				case 10:
					r.EarliestReturn(routes)
				case 20:
					r.Configure(configuration())
				case 30:
					_ = r.Pause("b", "", "")
				case 40:
					_ = r.Resume("b", "", "")
				case 50:
					r.Import(r.Export(), time.Now())
				case 60:
					_ = r.SetCredential("a", "k1", i%200 > 100, "", "")
				}
			}
		})
	}
	wg.Wait()
	cancel()
	rechecks.Wait()
	if notified.Load() == 0 {
		t.Error("nothing was notified")
	}
}

func TestOneBalanceProbeAmongMany(t *testing.T) {
	at := time.Unix(1_780_000_000, 0)
	r := New(Options{Now: func() time.Time { return at }})
	r.Configure(configuration())
	p, _ := r.Allow(route("b", "k1"), "c")
	p.Done(Result{Failure: classify.Balance})
	at = at.Add(11 * time.Minute)
	var granted atomic.Int64
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if _, ok := r.Allow(route("b", "k1"), "c"); ok {
				granted.Add(1)
			}
		})
	}
	wg.Wait()
	if n := granted.Load(); n != 1 {
		t.Errorf("%d probes at once", n)
	}
}
