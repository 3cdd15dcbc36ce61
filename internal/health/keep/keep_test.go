package keep

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rubicon/internal/config"
	"rubicon/internal/health"
	"rubicon/internal/store"
	"rubicon/internal/store/storetest"
	"rubicon/internal/wire/classify"
)

// node is one life of a gateway's health.
type node struct {
	r    *health.Registry
	k    *Saver
	stop func()
}

func configuration() *config.Config {
	cfg := config.Default()
	cfg.Channels = []config.Channel{{Name: "a", Credentials: []config.Credential{{Name: "k1", Key: config.NewSecret("x")}, {Name: "k2", Key: config.NewSecret("y")}}}}
	cfg.Models = []config.Model{{Name: "m", Timers: cfg.Timers, Channels: []config.Candidate{{Channel: &cfg.Channels[0], UpstreamModel: "up", Weight: 100}}}}
	return &cfg
}

// The suite runs on every database that the store supports.
func TestMain(m *testing.M) { storetest.Main(m) }

func open(t *testing.T) *store.DB {
	t.Helper()
	return storetest.Open(t)
}

func start(t *testing.T, db *store.DB, log *slog.Logger) *node {
	t.Helper()
	n := &node{}
	n.r = health.New(health.Options{Notify: func(health.Event) { n.k.Changed() }})
	n.k = New(db, n.r, "local", func() int64 { return 7 }, log)
	n.r.Configure(configuration())
	if _, err := n.k.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- n.k.Run(ctx) }()
	n.stop = func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	return n
}

// fail reports a failure of a route.
func (n *node) fail(t *testing.T, credential string, res health.Result) {
	t.Helper()
	p, ok := n.r.Allow(health.Route{Channel: "a", Credential: credential, UpstreamModel: "up"}, "cus")
	if !ok {
		t.Fatal("not allowed")
	}
	p.Done(res)
}

func (n *node) view() health.View {
	cfg := configuration()
	return n.r.View(&cfg.Channels[0], "up")
}

func TestHealthSurvivesARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, log := open(t), slog.New(slog.DiscardHandler)
		n := start(t, db, log)
		n.fail(t, "k1", health.Result{Failure: classify.RateLimited, RateLimit: true, RetryAfter: 40 * time.Second})
		if err := n.r.SetCredential("a", "k2", false, "leaked", "anna"); err != nil {
			t.Fatal(err)
		}
		if err := n.r.SetWeight("m", "a", 7); err != nil {
			t.Fatal(err)
		}
		n.stop() // at once
		time.Sleep(10 * time.Second)

		n = start(t, db, log)
		v := n.view()
		if v.State != health.StateCooling || time.Until(v.Until) != 30*time.Second {
			t.Errorf("after 10 s: %+v", v)
		}
		if k := v.Credentials[1]; k.State != health.CredentialDisabled || k.Reason != "leaked" {
			t.Errorf("k2: %+v", k)
		}
		if w, set := n.r.Weight("m", "a"); !set || w != 7 {
			t.Errorf("weight %d, %v", w, set)
		}
		n.stop()

		time.Sleep(time.Minute) // the cooldown's time is over; the order stays
		n = start(t, db, log)
		if v := n.view(); v.State != health.StateClosed || v.Credentials[1].State != health.CredentialDisabled {
			t.Errorf("after a minute: %+v", v)
		}
		n.stop()
	})
}

// A kill -9 forgets next to nothing, and nothing that Save promised.
func TestWhatIsSavedWithoutAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, log := open(t), slog.New(slog.DiscardHandler)
		n := start(t, db, log)
		if err := n.r.Pause("a", "maintenance", "anna"); err != nil {
			t.Fatal(err)
		}
		if err := n.k.Save(t.Context()); err != nil {
			t.Fatal(err)
		}
		if v := start(t, db, log).check(t); v.State != health.StatePaused || v.Reason != "maintenance" {
			t.Errorf("saved at once: %+v", v)
		}
		if err := n.r.Resume("a", "", "anna"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
		if v := start(t, db, log).check(t); v.State != health.StateClosed {
			t.Errorf("saved by itself: %+v", v)
		}
		n.stop()
	})
}

// Channels that flap all the time do not keep the database busy, and the last
// change is written all the same.
func TestWritesAreSpaced(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var p spacer
	written := 0
	for end := now.Add(10 * time.Second); now.Before(end); written++ {
		now = now.Add(p.next(now) + time.Millisecond)
	}
	if want := maxBurst + int(10*time.Second/spacing); written < want-2 || written > want+2 {
		t.Errorf("%d writes in ten seconds, want about %d", written, want)
	}
	if wait := p.next(now.Add(time.Minute)); wait != 0 {
		t.Errorf("after a quiet minute: %s", wait)
	}
	p.delay(now)
	if wait := p.next(now); wait != retryAfter {
		t.Errorf("after a failure: %s, want %s", wait, retryAfter)
	}
}

// check reads the state and ends.
func (n *node) check(t *testing.T) health.View {
	defer n.stop()
	return n.view()
}

func TestNonsenseIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		err := db.Write(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(upsert, "local", 1, `{"channels": 7}`, 0)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		if v := start(t, db, slog.New(slog.NewTextHandler(&said, nil))).check(t); v.State != health.StateClosed {
			t.Errorf("%+v", v)
		}
		if !strings.Contains(said.String(), "starting without it") {
			t.Errorf("log: %s", said.String())
		}
	})
}

// While the database is away the change is tried again, not lost.
func TestSavingIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		n := start(t, db, slog.New(slog.DiscardHandler))
		defer n.stop()
		rename := func(from, to string) {
			err := db.Write(t.Context(), func(tx *store.Tx) error {
				_, err := tx.Exec("ALTER TABLE " + from + " RENAME TO " + to)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		rename("health", "away")
		if err := n.r.Pause("a", "x", "anna"); err != nil {
			t.Fatal(err)
		}
		if err := n.k.Save(t.Context()); err == nil {
			t.Error("saved into nothing")
		}
		time.Sleep(5 * time.Second)
		rename("away", "health")
		time.Sleep(3 * time.Second)
		if v := start(t, db, slog.New(slog.DiscardHandler)).check(t); v.State != health.StatePaused {
			t.Errorf("%+v", v)
		}
	})
}
