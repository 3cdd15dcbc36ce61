package store

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestAnOutageIsOverForAll: what the writers know of a database that is back,
// the readers learn, and the other way round; that one of them was never
// refused tells the other nothing.
func TestAnOutageIsOverForAll(t *testing.T) {
	const patience = 2 * time.Second
	start := time.Unix(1000, 0)
	away := errors.New("away")
	var a, b outage
	a, b = outage{patience: patience, other: &b}, outage{patience: patience, other: &a}
	for _, o := range []*outage{&a, &b} {
		o.failed(start, start, away)
		if !o.failed(start.Add(patience), start.Add(patience), away) {
			t.Fatal("patience has no end")
		}
	}
	now := start.Add(patience + time.Millisecond)
	for _, o := range []*outage{&a, &b} {
		if err := o.isRefusing(now); !errors.Is(err, ErrUnavailable) {
			t.Fatalf("a database that was just away is tried again at once: %v", err)
		}
	}
	a.over(now)
	for _, o := range []*outage{&a, &b} {
		if err := o.isRefusing(now); err != nil {
			t.Errorf("the database is back, and still: %v", err)
		}
	}
	// b finds it away all the same, which a's next success must not hide.
	b.failed(now, now, away)
	a.over(now)
	if err := b.isRefusing(now); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a hanging half is tried by everyone: %v", err)
	}
}

// TestAnAnswerIsASignOfLife: an attempt that began before it says nothing about
// the time until then, as where one connection of several is broken.
func TestAnAnswerIsASignOfLife(t *testing.T) {
	start := time.Unix(1000, 0)
	o := outage{patience: 2 * time.Second}
	o.over(start.Add(1900 * time.Millisecond))
	if o.failed(start, start.Add(2*time.Second), errors.New("no answer")) {
		t.Error("patience ended although others were answered")
	}
	if err := o.isRefusing(start.Add(2 * time.Second)); err != nil {
		t.Error(err)
	}
	if err := o.isRefusing(start.Add(4 * time.Second)); err != nil {
		t.Errorf("nobody tries a database that was tried two seconds ago: %v", err)
	}
	if !o.failed(start.Add(3*time.Second), start.Add(4*time.Second), errors.New("no answer")) {
		t.Error("patience has no end")
	}
}

// hanging is a server that takes connections and never answers.
type hanging struct{ tries atomic.Int64 }

func (h *hanging) connect(ctx context.Context) (conn, error) {
	h.tries.Add(1)
	select {
	case <-time.After(connectTime):
		return nil, unavailable(errors.New("no answer"))
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (h *hanging) close() error { return nil }

// TestAHangingServerKeepsOneWaiting: once everybody knows that it is away, one
// tries and the others are refused at once, however long the attempt takes.
func TestAHangingServerKeepsOneWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, o := &hanging{}, &outage{patience: outageWait}
		ask := func() time.Duration {
			start := time.Now()
			s := newSession(dialect{}, server, o)
			if err := s.startReading(t.Context()); !errors.Is(err, ErrUnavailable) {
				t.Errorf("a server that hangs is ready: %v", err)
			}
			return time.Since(start)
		}
		if took := ask(); took < outageWait || took > outageWait+2*connectTime {
			t.Errorf("the first one waited %v", took)
		}
		time.Sleep(retryOutage)
		before := server.tries.Load()
		var slow atomic.Int64
		var wg sync.WaitGroup
		wg.Go(func() { ask() })
		synctest.Wait() // it tries
		for range 100 {
			wg.Go(func() {
				time.Sleep(connectTime / 2)
				if took := ask(); took > 0 {
					slow.Add(1)
				}
			})
		}
		wg.Wait()
		if n := server.tries.Load() - before; slow.Load() != 0 || n != 1 {
			t.Errorf("%d of 100 waited for an attempt; %d were made", slow.Load(), n)
		}
		if time.Sleep(retryOutage); ask() != connectTime {
			t.Error("nobody tries again")
		}
	})
}
