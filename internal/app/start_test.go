package app

import (
	"context"
	"database/sql"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rubicon/internal/config"
)

// locked makes a database whose writes are held up until the returned function
// is called.
func (w *world) locked() (unlock func()) {
	w.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(filepath.Dir(w.file), "r.db"))
	if err != nil {
		w.t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	for _, text := range []string{"PRAGMA journal_mode(WAL)", "BEGIN IMMEDIATE"} {
		if _, err := db.ExecContext(w.t.Context(), text); err != nil {
			w.t.Fatal(err)
		}
	}
	return func() {
		if err := db.Close(); err != nil {
			w.t.Error(err)
		}
	}
}

func (w *world) options() Options {
	return Options{Version: "test", Log: slog.New(slog.NewTextHandler(w.log, nil)), Dial: w.net.Dial,
		Listen: func(_, addr string) (net.Listener, error) { return w.net.Listen(addr) },
		Source: Source{Load: w.load, Hangup: w.hangup}}
}

// begin makes a gateway while its database is away.
func (w *world) begin(ctx context.Context, cfg *config.Config) (made chan *App, failed chan error) {
	made, failed = make(chan *App, 1), make(chan error, 1)
	go func() {
		a, err := New(ctx, cfg, w.options())
		if err != nil {
			failed <- err
			return
		}
		made <- a
	}()
	return made, failed
}

func (w *world) readiness() string {
	w.t.Helper()
	res, err := w.http.Get("http://127.0.0.1:8080/readyz")
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(raw)
}

// TestAStartWaitsForItsDatabase: clients are told meanwhile, on the port that
// serves them afterwards.
func TestAStartWaitsForItsDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.configure(twoChannels + modelAB)
		unlock := w.locked()
		cfg, _, err := w.load()
		if err != nil {
			t.Fatal(err)
		}
		made, failed := w.begin(t.Context(), cfg)
		time.Sleep(5 * time.Second)
		if body := w.readiness(); !strings.Contains(body, "store_unavailable") || !strings.Contains(body, "waits for its database") {
			t.Errorf("readiness: %s", body)
		}
		if !strings.Contains(w.log.String(), "the database is away: this start waits for it") {
			t.Errorf("the log: %s", w.log.String())
		}
		if r := w.ask(t.Context()); r.status != 503 {
			t.Errorf("a request: %d", r.status)
		}
		unlock()
		select {
		case w.app = <-made:
		case err := <-failed:
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- w.app.Run(ctx) }()
		time.Sleep(time.Second)
		if body := w.readiness(); !strings.Contains(body, `"status":"ready"`) {
			t.Errorf("readiness: %s", body)
		}
		w.http.CloseIdleConnections()
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestAStartDoesNotWaitForEver, nor beyond a signal, nor at all where nobody
// wants it to.
func TestAStartDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.configure(twoChannels + modelAB)
		defer w.locked()()
		cfg, _, err := w.load()
		if err != nil {
			t.Fatal(err)
		}
		for _, wait := range []time.Duration{time.Minute, 0} {
			cfg.Store.Wait = wait
			began := time.Now()
			_, failed := w.begin(t.Context(), cfg)
			err := <-failed
			if took := time.Since(began); took < wait || took > wait+5*time.Second {
				t.Errorf("with store.wait %v it took %v", wait, took)
			}
			if told := strings.Contains(err.Error(), "store.wait"); told != (wait > 0) {
				t.Errorf("with store.wait %v: %v", wait, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cfg.Store.Wait = time.Minute
		_, failed := w.begin(ctx, cfg)
		time.Sleep(5 * time.Second)
		cancel()
		if err := <-failed; !strings.Contains(err.Error(), "ended while waiting") {
			t.Errorf("ended by a signal: %v", err)
		}
	})
}

// TestAnIdleNodeKnowsThatNothingCanBeWritten: without any traffic readiness
// follows the database, although reads are answered.
func TestAnIdleNodeKnowsThatNothingCanBeWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.configure(twoChannels + modelAB)
		w.start()
		time.Sleep(time.Minute + 300*time.Millisecond) // not with a tick of the gateway's own, which writes
		for range 2 {
			if body := w.readiness(); !strings.Contains(body, `"status":"ready"`) {
				t.Errorf("readiness: %s", body)
			}
			unlock := w.locked()
			time.Sleep(5 * time.Second)
			if err := w.app.db.Ping(t.Context()); err != nil {
				t.Errorf("reads are held up too: %v", err)
			}
			if body := w.readiness(); !strings.Contains(body, "store_unavailable") {
				t.Errorf("readiness: %s", body)
			}
			unlock()
			time.Sleep(5 * time.Second)
		}
		if body := w.readiness(); !strings.Contains(body, `"status":"ready"`) {
			t.Errorf("readiness: %s", body)
		}
	})
}
