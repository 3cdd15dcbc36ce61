package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var errRefused = errors.New("refused")

// hold keeps the writer busy until release, so that what is written meanwhile
// becomes one batch.
func hold(t *testing.T, db *DB) (release func()) {
	t.Helper()
	busy, free := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		err := db.Write(context.Background(), func(*Tx) error {
			close(busy)
			<-free
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-busy
	return sync.OnceFunc(func() {
		close(free)
		wg.Wait()
	})
}

// together runs ops in one batch, in their order, and returns their results.
func together(t *testing.T, db *DB, ops ...func(tx *Tx) error) []error {
	t.Helper()
	release := hold(t, db)
	results := make([]error, len(ops))
	var wg sync.WaitGroup
	for i, op := range ops {
		wg.Go(func() { results[i] = db.Write(context.Background(), op) })
		for len(db.queue) <= i {
			// The queue's length is the only sign that the op is in it.
			runtime.Gosched()
		}
	}
	release()
	wg.Wait()
	return results
}

func insert(name string, size int) func(tx *Tx) error {
	return func(tx *Tx) error {
		tx.Insert(insertThing, name, size)
		return nil
	}
}

type marker struct{}

func (marker) Flush(*Tx) error { return nil }

func TestWhatWaitsIsCommittedTogether(t *testing.T) { both(t, whatWaitsIsCommittedTogether) }

func whatWaitsIsCommittedTogether(t *testing.T, db *DB) {
	made := 0
	var ops []func(tx *Tx) error
	for i := range 300 {
		ops = append(ops, func(tx *Tx) error {
			tx.Pending(marker{}, func() Pending { made++; return marker{} })
			return insert(fmt.Sprint(i), i)(tx)
		})
	}
	for i, err := range together(t, db, ops...) {
		if err != nil {
			t.Errorf("op %d: %v", i, err)
		}
	}
	if made != 1 {
		t.Errorf("%d transactions", made)
	}
	if n := len(things(t, db)); n != 300 {
		t.Errorf("%d things", n)
	}
}

// harmfulOp is an op that goes wrong.
type harmfulOp struct {
	name string
	bad  func(tx *Tx) error
	want func(error) bool
	runs int // of the good ops
}

func TestOneOpNeverHarmsTheOthers(t *testing.T) {
	for _, c := range []harmfulOp{
		{"refusal before writing", func(*Tx) error { return errRefused },
			func(err error) bool { return errors.Is(err, errRefused) }, 1},
		{"error after an insert", func(tx *Tx) error { return errors.Join(insert("bad", 1)(tx), errRefused) },
			func(err error) bool { return errors.Is(err, errRefused) }, 2},
		{"error after a statement", func(tx *Tx) error {
			_, err := tx.Exec("INSERT INTO things VALUES ('bad', 1)")
			return errors.Join(err, errRefused)
		}, func(err error) bool { return errors.Is(err, errRefused) }, 2},
		{"panic", func(*Tx) error { panic("oh") },
			func(err error) bool { var p *Panic; return errors.As(err, &p) && p.Value == "oh" && len(p.Stack) > 0 }, 2},
		{"wrong number of values", func(tx *Tx) error { tx.Insert(insertThing, "bad"); return nil },
			func(err error) bool { var p *Panic; return errors.As(err, &p) }, 2},
		{"violation at the flush", insert("there", 1),
			func(err error) bool { return errors.Is(err, ErrConflict) }, 2},
		{"violation of a check", insert("bad", -1),
			func(err error) bool { return err != nil && !errors.Is(err, ErrConflict) }, 2},
		{"violation inside the op", func(tx *Tx) error {
			_, err := tx.Exec("INSERT INTO things VALUES ('there', 1)")
			return err
		}, func(err error) bool { return errors.Is(err, ErrConflict) }, 2},
		{"violation that the op swallows", func(tx *Tx) error {
			_, _ = tx.Exec("INSERT INTO things VALUES ('there', 1)")
			return nil
		}, func(err error) bool { return errors.Is(err, ErrConflict) }, 2},
		{"bad SQL", func(tx *Tx) error { _, err := tx.Exec("nonsense"); return err },
			func(err error) bool { return err != nil }, 2},
		{"error of a pending value", func(tx *Tx) error {
			tx.Pending(failing{}, func() Pending { return failing{} })
			return insert("bad", 1)(tx)
		}, func(err error) bool { return errors.Is(err, errRefused) }, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			both(t, func(t *testing.T, db *DB) { harmless(t, db, c) })
		})
	}
}

func harmless(t *testing.T, db *DB, c harmfulOp) {
	write(t, db, insert("there", 7))
	runs := 0
	good := func(name string) func(tx *Tx) error {
		return func(tx *Tx) error { runs++; return insert(name, 1)(tx) }
	}
	results := together(t, db, good("first"), c.bad, good("last"))
	if results[0] != nil || results[2] != nil {
		t.Errorf("good ops: %v, %v", results[0], results[2])
	}
	if !c.want(results[1]) {
		t.Errorf("bad op: %v", results[1])
	}
	if diff := cmp.Diff(map[string]int{"there": 7, "first": 1, "last": 1}, things(t, db)); diff != "" {
		t.Error(diff)
	}
	// Where the batch is lost before the last op, it has not run yet.
	if runs < 2*c.runs-1 || runs > 2*c.runs {
		t.Errorf("good ops ran %d times", runs)
	}
	write(t, db, insert("after", 1))
	// And alone.
	if err := db.Write(t.Context(), c.bad); !c.want(err) {
		t.Errorf("alone: %v", err)
	}
	if diff := cmp.Diff(map[string]int{"there": 7, "first": 1, "last": 1, "after": 1}, things(t, db)); diff != "" {
		t.Error(diff)
	}
}

type failing struct{}

func (failing) Flush(*Tx) error { return errRefused }

func TestAWaitingOpIsWithdrawn(t *testing.T) { both(t, aWaitingOpIsWithdrawn) }

func aWaitingOpIsWithdrawn(t *testing.T, db *DB) {
	release := hold(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- db.Write(ctx, insert("withdrawn", 1)) }()
	for len(db.queue) == 0 {
		runtime.Gosched()
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	release()
	if err := db.Write(ctx, insert("late", 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
	write(t, db, insert("other", 1))
	if diff := cmp.Diff(map[string]int{"other": 1}, things(t, db)); diff != "" {
		t.Error(diff)
	}
}

func TestATakenOpIsAwaited(t *testing.T) { both(t, aTakenOpIsAwaited) }

func aTakenOpIsAwaited(t *testing.T, db *DB) {
	ctx, cancel := context.WithCancel(t.Context())
	err := db.Write(ctx, func(tx *Tx) error {
		cancel()
		return insert("taken", 1)(tx)
	})
	if err != nil {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff(map[string]int{"taken": 1}, things(t, db)); diff != "" {
		t.Error(diff)
	}
}

func TestTheQueueIsBounded(t *testing.T) {
	db := open(t, file(t))
	release := hold(t, db)
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range queueSize + 1 {
		wg.Go(func() { _ = db.Write(ctx, insert("never", 1)) })
	}
	for len(db.queue) < queueSize {
		runtime.Gosched()
	}
	// One waits outside; it and all inside give up.
	cancel()
	wg.Wait()
}

func TestCloseRunsWhatIsQueued(t *testing.T) { each(t, closeRunsWhatIsQueued) }

func closeRunsWhatIsQueued(t *testing.T, url string) {
	db := openOne(t, url)
	write(t, db, func(tx *Tx) error { _, err := tx.Exec(createThings); return err })
	release := hold(t, db)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if err := db.Write(t.Context(), insert(fmt.Sprint(i), i)); err != nil {
				t.Error(err)
			}
		})
	}
	for len(db.queue) < 20 {
		runtime.Gosched()
	}
	wg.Go(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	<-db.closing
	release()
	wg.Wait()
	again, err := Open(t.Context(), url, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if n := len(things(t, again)); n != 20 {
		t.Errorf("%d things", n)
	}
}

func TestInsertsAreSentBeforeDeletesAndSeenAfterFlush(t *testing.T) {
	both(t, insertsAreSentBeforeDeletesAndSeenAfterFlush)
}

func insertsAreSentBeforeDeletesAndSeenAfterFlush(t *testing.T, db *DB) {
	deleteThing := DeleteFrom{Table: "things", Column: "name"}
	write(t, db, insert("old", 1))
	write(t, db, func(tx *Tx) error {
		tx.Delete(deleteThing, "old")
		tx.Delete(deleteThing, "new")
		tx.Insert(insertThing, "new", 1)
		for i := range 200 { // several sizes of statements
			tx.Insert(insertThing, fmt.Sprint(i), i)
		}
		count := func(want int) {
			var n int
			if err := tx.QueryRow("SELECT COUNT(*) FROM things", nil, &n); err != nil || n != want {
				t.Errorf("%d things, want %d: %v", n, want, err)
			}
		}
		count(1)
		if err := tx.Flush(); err != nil {
			return err
		}
		count(200)
		tx.Insert(insertThing, "later", 1)
		return nil
	})
	found := things(t, db)
	if len(found) != 201 || found["199"] != 199 || found["later"] != 1 {
		t.Errorf("got %v", found)
	}
}

func TestManyWritersAndReaders(t *testing.T) { both(t, manyWritersAndReaders) }

func manyWritersAndReaders(t *testing.T, db *DB) {
	var wg sync.WaitGroup
	for w := range 50 {
		wg.Go(func() {
			for i := range 20 {
				name := fmt.Sprintf("%d-%d", w, i)
				op := insert(name, i)
				if i%5 == 4 {
					op = func(*Tx) error { return errRefused }
				}
				err := db.Write(t.Context(), op)
				if refused := errors.Is(err, errRefused); refused != (i%5 == 4) {
					t.Errorf("%s: %v", name, err)
				}
				// What was written is readable at once.
				if there := isThere(t, db, name); there != (i%5 != 4) {
					t.Errorf("%s there: %v", name, there)
				}
			}
		})
	}
	wg.Wait()
	if n := len(things(t, db)); n != 50*16 {
		t.Errorf("%d things", n)
	}
}

func isThere(t *testing.T, db *DB, name string) bool {
	err := db.Read(t.Context(), func(q *Query) error {
		var size int
		return q.QueryRow("SELECT size FROM things WHERE name = ?", []any{name}, &size)
	})
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		t.Error(err)
	}
	return err == nil
}

func TestStatementsAreBounded(t *testing.T) {
	db := open(t, file(t))
	write(t, db, func(tx *Tx) error {
		for i := range 3 * maxStatements {
			var n int
			if err := tx.QueryRow(fmt.Sprintf("SELECT %d", i), nil, &n); err != nil || n != i {
				return fmt.Errorf("%d: %w", n, err)
			}
		}
		if n := len(tx.session.conn.(*sqliteConn).stmts); n > maxStatements {
			t.Errorf("%d statements", n)
		}
		return nil
	})
}
