package store

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// stalling is a server whose answers to COMMIT are held back, and with hangs all
// others too.
type stalling struct {
	mu        sync.Mutex
	stalls    chan struct{} // closed: it answers
	hangs     bool
	committed []string
}

func (s *stalling) connect(context.Context) (conn, error) { return &stallingConn{server: s}, nil }
func (s *stalling) close() error                          { return nil }

// wait is the server's answer, or the loss of the connection.
func (s *stalling) wait(ctx context.Context, c *stallingConn, all bool) error {
	s.mu.Lock()
	stalls := s.stalls
	if all && !s.hangs {
		stalls = nil
	}
	s.mu.Unlock()
	if stalls == nil {
		return nil
	}
	select {
	case <-stalls:
		return nil
	case <-ctx.Done():
		c.lost = true
		return unavailable(context.Cause(ctx))
	}
}

func (s *stalling) set(stalls chan struct{}, hangs bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stalls, s.hangs = stalls, hangs
}

type stallingConn struct {
	server *stalling
	lost   bool
	ran    []string // since BEGIN
}

func (c *stallingConn) exec(ctx context.Context, text string, _ []any) (int64, error) {
	if err := c.server.wait(ctx, c, true); err != nil {
		return 0, err
	}
	if text == "BEGIN" || text == "ROLLBACK" {
		c.ran = nil
	} else {
		c.ran = append(c.ran, text)
	}
	return 1, nil
}

func (c *stallingConn) pipeline(ctx context.Context, list []query) error {
	if err := c.server.wait(ctx, c, false); err != nil {
		return err
	}
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.server.committed = append(c.server.committed, c.ran...)
	return nil
}

func (c *stallingConn) queryRow(context.Context, string, []any, []any) error { return nil }
func (c *stallingConn) each(context.Context, string, []any, func(Rows) error) error {
	return nil
}
func (c *stallingConn) script(context.Context, string) error { return nil }
func (c *stallingConn) broken() bool                         { return c.lost }
func (c *stallingConn) close() error                         { return nil }

func openStalling(t *testing.T, s *stalling) *DB {
	t.Helper()
	d := dialect{connector: func(string, bool) (connector, error) { return s, nil }, readDSN: "r", readers: 1, writers: 1, begin: "BEGIN",
		beginRead: "BEGIN", transaction: transactionTime, answer: answerTime, outageWait: outageWait, shared: true}
	db, err := openDialect(t.Context(), d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func timed(db *DB, ctx context.Context, text string) (time.Duration, error) {
	began := time.Now()
	err := db.Write(ctx, func(tx *Tx) error {
		_, err := tx.Exec(text)
		return err
	})
	return time.Since(began), err
}

// TestACommitWithoutAnAnswer: nobody waits for it beyond patience or an earlier
// deadline, what is under way is uncertain, what was not begun is refused for
// certain, and others are refused at once until a commit is answered.
func TestACommitWithoutAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, answers := &stalling{}, make(chan struct{})
		db := openStalling(t, server)
		if _, err := timed(db, t.Context(), "before"); err != nil {
			t.Fatal(err)
		}
		server.set(answers, false)
		var wg sync.WaitGroup
		begin := func(ctx context.Context, text string, want time.Duration, is, isNot error) {
			wg.Go(func() {
				took, err := timed(db, ctx, text)
				if took != want || !errors.Is(err, is) || isNot != nil && errors.Is(err, isNot) {
					t.Errorf("%s: %v after %v, want %v after %v", text, err, took, is, want)
				}
			})
			synctest.Wait()
		}
		begin(t.Context(), "under way", outageWait, ErrUncertain, nil)
		begin(t.Context(), "queued", outageWait, ErrUnavailable, ErrUncertain)
		soon, done := context.WithTimeoutCause(t.Context(), time.Second, errSlow)
		defer done()
		begin(soon, "in haste", time.Second, ErrUnavailable, ErrUncertain)
		left, leave := context.WithCancel(t.Context())
		begin(left, "of one that left", 0, context.Canceled, nil)
		leave()
		wg.Wait()
		if took, err := timed(db, t.Context(), "later"); took != 0 || !errors.Is(err, ErrUnavailable) {
			t.Errorf("a later one: %v after %v", err, took)
		}
		if err := db.Ping(t.Context()); err != nil {
			t.Errorf("reads are answered, and still: %v", err)
		}
		if took, err := timed(db, t.Context(), "after a read"); took != 0 || !errors.Is(err, ErrUnavailable) {
			t.Errorf("after a read: %v after %v", err, took)
		}
		close(answers)
		synctest.Wait()
		if took, err := timed(db, t.Context(), "after"); took != 0 || err != nil {
			t.Errorf("after the answer: %v after %v", err, took)
		}
		want := []string{"before", "under way", "after"}
		if got := server.committed; len(got) != len(want) || got[1] != want[1] || got[2] != want[2] {
			t.Errorf("carried out %q, want %q", got, want)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestAServerThatHangs is waited for by nobody beyond patience, before the COMMIT
// too: then nothing of the work comes later.
func TestAServerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, answers := &stalling{}, make(chan struct{})
		db := openStalling(t, server)
		server.set(answers, true)
		if took, err := timed(db, t.Context(), "lost"); took != outageWait || !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrUncertain) {
			t.Errorf("%v after %v", err, took)
		}
		began := time.Now()
		if err := db.Ping(t.Context()); time.Since(began) != outageWait || !errors.Is(err, ErrUnavailable) {
			t.Errorf("a read: %v after %v", err, time.Since(began))
		}
		if took, err := timed(db, t.Context(), "refused"); took != 0 || !errors.Is(err, ErrUnavailable) {
			t.Errorf("%v after %v", err, took)
		}
		server.set(nil, false)
		close(answers)
		time.Sleep(transactionTime)
		if _, err := timed(db, t.Context(), "after"); err != nil {
			t.Error(err)
		}
		if got := server.committed; len(got) != 1 || got[0] != "after" {
			t.Errorf("carried out %q", got)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestAReadThatHangs tells the writers, so that whoever is refused for it is
// not kept waiting for the record of that.
func TestAReadThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, answers := &stalling{}, make(chan struct{})
		db := openStalling(t, server)
		server.set(answers, true)
		if err := db.Ping(t.Context()); !errors.Is(err, ErrUnavailable) {
			t.Error(err)
		}
		if took, err := timed(db, t.Context(), "one tries"); took != 0 || !errors.Is(err, ErrUnavailable) {
			t.Errorf("%v after %v", err, took)
		}
		close(answers)
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}
