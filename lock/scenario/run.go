package scenario

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"rubicon/internal/store"
)

// Runner runs scenarios. It keeps an empty database with the schema in it: a
// copy costs far less than the migrations.
type Runner struct{ empty []byte }

// NewRunner makes a Runner for the tests under t.
func NewRunner(t *testing.T) *Runner {
	t.Helper()
	path := filepath.Join(t.TempDir(), "empty.db")
	db, err := store.Open(context.Background(), "sqlite:"+path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Migrate(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return &Runner{empty: data}
}

// Run plays the scenario, checks its expectations and what every scenario must
// keep, and gives the recording as compact JSON. What is wrong is reported on t.
// With ws the requests go over WebSocket.
func (r *Runner) Run(t *testing.T, s *Scenario, ws bool) []byte {
	t.Helper()
	dir := t.TempDir()
	if ws {
		s = s.overWebSocket()
	}
	var recorded []byte
	synctest.Test(t, func(t *testing.T) {
		st := newStage(t, s, dir, r.empty)
		defer st.close()
		if err := st.build(); err != nil {
			t.Errorf("setting the stage: %v", err)
			return
		}
		if err := st.play(); err != nil {
			t.Errorf("playing: %v", err)
			return
		}
		seen, err := st.gather()
		if err != nil {
			t.Errorf("gathering: %v", err)
			return
		}
		seen.twin = ws
		for _, wrong := range append(seen.broken(), seen.unexpected()...) {
			t.Error(wrong)
		}
		recorded, err = seen.recording()
		if err != nil {
			t.Errorf("writing the recording: %v", err)
		}
	})
	return recorded
}

// overWebSocket is the scenario with every request as a WebSocket turn.
func (s *Scenario) overWebSocket() *Scenario {
	twin := *s
	twin.Steps = nil
	change := func(r *Request) *Request {
		if r == nil {
			return nil
		}
		c := *r
		c.Surface = surfaceSocket
		return &c
	}
	for _, st := range s.Steps {
		st.Request, st.Start = change(st.Request), change(st.Start)
		var together []Request
		for i := range st.Together {
			together = append(together, *change(&st.Together[i]))
		}
		st.Together = together
		twin.Steps = append(twin.Steps, st)
	}
	return &twin
}

// play does the steps and waits for whatever was started.
func (st *installation) play() error {
	st.t0 = time.Now()
	for i := range st.s.Steps {
		if err := st.step(&st.s.Steps[i]); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
		synctest.Wait() // what a step caused at its own instant belongs to it
	}
	for _, x := range st.calls {
		<-x.done
	}
	synctest.Wait()
	return nil
}

func (st *installation) step(s *Step) error {
	switch {
	case s.Request != nil:
		x, err := st.start(s.Request)
		if err != nil {
			return err
		}
		<-x.done
		return nil
	case s.Start != nil:
		_, err := st.start(s.Start)
		return err
	case s.Together != nil:
		return st.together(s.Together)
	case s.Await != "":
		return st.await(s.Await)
	case s.Admin != nil:
		return st.operate(s.Admin)
	case s.Restart != "":
		return st.restart(s.Restart)
	case s.Store != "":
		return st.lockStore(s.Store)
	}
	time.Sleep(time.Duration(s.Wait))
	return nil
}

// together starts the requests a millisecond apart: at the same instant their
// order would be the scheduler's.
func (st *installation) together(all []Request) error {
	var started []*exchange
	for i := range all {
		x, err := st.start(&all[i])
		if err != nil {
			return err
		}
		started = append(started, x)
		time.Sleep(time.Millisecond)
	}
	for _, x := range started {
		<-x.done
	}
	return nil
}

func (st *installation) await(name string) error {
	for _, x := range st.calls {
		if x.req.Name == name {
			<-x.done
			return nil
		}
	}
	return fmt.Errorf("no request %q was started", name)
}
