package store

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rubicon/internal/store/pgtest"
)

// server starts a PostgreSQL that the test may kill.
func server(t *testing.T) *pgtest.Server {
	t.Helper()
	s, err := pgtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// writeCounter is rows that nothing keeps from being there twice.
type writeCounter struct {
	db      *DB
	direct  *DB // sees the table whatever happens to db
	n       atomic.Int64
	mu      sync.Mutex
	results map[string]error
	slowest time.Duration
}

func newTally(t *testing.T, db, direct *DB) *writeCounter {
	t.Helper()
	write(t, direct, func(tx *Tx) error {
		_, err := tx.Exec("CREATE TABLE tally (name TEXT NOT NULL)")
		return err
	})
	return &writeCounter{db: db, direct: direct, results: map[string]error{}}
}

var insertTally = InsertInto{Table: "tally", Columns: "name"}

// run writes rows with many workers until it is told to stop.
func (y *writeCounter) run(t *testing.T, workers int, stop <-chan struct{}) {
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				y.add(t)
			}
		})
	}
	wg.Wait()
}

func (y *writeCounter) add(t *testing.T) error {
	name, began := fmt.Sprint("row ", y.n.Add(1)), time.Now()
	err := y.db.Write(t.Context(), func(tx *Tx) error {
		tx.Insert(insertTally, name)
		return nil
	})
	y.mu.Lock()
	defer y.mu.Unlock()
	y.slowest = max(y.slowest, time.Since(began))
	y.results[name] = err
	return err
}

// check wants what every Write promised.
func (y *writeCounter) check(t *testing.T) {
	t.Helper()
	there := map[string]int{}
	err := y.direct.Read(t.Context(), func(q *Query) error {
		return q.Each("SELECT name FROM tally", nil, func(row Rows) error {
			var name string
			err := row.Scan(&name)
			there[name]++
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	var durable, refused, uncertain int
	for name, err := range y.results {
		n := there[name]
		switch {
		case err == nil:
			durable++
			if n != 1 {
				t.Errorf("%s was written and is there %d times", name, n)
			}
		case errors.Is(err, ErrUncertain):
			uncertain++
			if n > 1 {
				t.Errorf("%s is there %d times", name, n)
			}
		case errors.Is(err, ErrUnavailable):
			refused++
			if n != 0 {
				t.Errorf("%s was refused and is there: %v", name, err)
			}
		default:
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Logf("%d written, %d refused, %d uncertain", durable, refused, uncertain)
}

// TestLostAnswers loses connections after any number of bytes that the server
// said, in COMMITs too: every write is carried out, and once.
func TestLostAnswers(t *testing.T) {
	url := pgtest.Database(t)
	direct := open(t, url)
	_, through := pgtest.NewProxy(t, url, 6000)
	var db *DB
	for db == nil { // the way may be lost before the database is open
		db, _ = Open(t.Context(), through, Options{})
	}
	defer db.Close()
	db.hasMark.Store(true)
	y := newTally(t, db, direct)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 60 {
				if err := y.add(t); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	y.check(t)
}

// TestTheServerIsKilled kills PostgreSQL under load and starts it again: at
// once, and after everybody's patience ended.
func TestTheServerIsKilled(t *testing.T) {
	s := server(t)
	db := open(t, pgtest.On(t, s.URL()))
	y := newTally(t, db, db)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() { defer close(done); y.run(t, 8, stop) }()
	for _, away := range []time.Duration{0, outageWait + time.Second} {
		wait(t, "writes", func() bool { return y.writtenSince(30) })
		if err := s.Kill(); err != nil {
			t.Fatal(err)
		}
		if away > 0 {
			wait(t, "a refusal", func() bool { return errors.Is(y.add(t), ErrUnavailable) })
			start := time.Now()
			if err := y.add(t); !errors.Is(err, ErrUnavailable) {
				t.Errorf("got %v", err)
			}
			if took := time.Since(start); took > time.Second {
				t.Errorf("a later write waited %v", took)
			}
			if err := db.Ping(t.Context()); !errors.Is(err, ErrUnavailable) {
				t.Errorf("a read: %v", err)
			}
		}
		if err := s.Up(); err != nil {
			t.Fatal(err)
		}
		wait(t, "writes again", func() bool { return y.add(t) == nil })
	}
	close(stop)
	<-done
	y.check(t)
	if err := db.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

// writtenSince reports whether so many more rows were written.
func (y *writeCounter) writtenSince(n int) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	written := 0
	for _, err := range y.results {
		if err == nil {
			written++
		}
	}
	return written >= n
}

// wait polls: the writers work in real time.
func wait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("no %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// TestTheServerHangs: a machine that does not answer, or answers everything but
// COMMIT, is not waited for, and what it makes of the transactions afterwards is
// as every writer was told.
func TestTheServerHangs(t *testing.T) {
	for name, hang := range map[string][2]func(*pgtest.Server) error{
		"frozen":     {(*pgtest.Server).Freeze, (*pgtest.Server).Thaw},
		"no standby": {(*pgtest.Server).LoseStandby, (*pgtest.Server).FindStandby},
	} {
		t.Run(name, func(t *testing.T) {
			s := server(t)
			db := open(t, pgtest.On(t, s.URL()))
			y := newTally(t, db, db)
			stop, done := make(chan struct{}), make(chan struct{})
			go func() { defer close(done); y.run(t, 8, stop) }()
			wait(t, "writes", func() bool { return y.writtenSince(30) })
			if err := hang[0](s); err != nil {
				t.Fatal(err)
			}
			wait(t, "a refusal", func() bool { return errors.Is(y.add(t), ErrUnavailable) })
			if err := y.add(t); err == nil {
				t.Error("written by a server that hangs")
			}
			if err := hang[1](s); err != nil {
				t.Fatal(err)
			}
			wait(t, "writes again", func() bool { return y.add(t) == nil })
			close(stop)
			<-done
			y.check(t)
			if y.slowest >= transactionTime/2 {
				t.Errorf("somebody waited %v: for the transaction", y.slowest)
			}
		})
	}
}

// TestTwoWriters: nodes that write the same rows in any order get along, and what
// was refused because that took too long is not carried out later.
func TestTwoWriters(t *testing.T) {
	url := pgtest.Database(t)
	dbs := []*DB{open(t, url)}
	second, err := Open(t.Context(), url, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	dbs = append(dbs, second)
	write(t, dbs[0], insert("a", 0))
	write(t, dbs[0], insert("b", 0))
	const each = 100
	var wg sync.WaitGroup
	for i, db := range dbs {
		order := []string{"a", "b"}
		if i == 1 {
			order = []string{"b", "a"}
		}
		wg.Go(func() {
			for range each {
				add := func(tx *Tx) error {
					for _, name := range order {
						if _, err := tx.Exec("UPDATE things SET size = size + 1 WHERE name = ?", name); err != nil {
							return err
						}
					}
					return nil
				}
				err := db.Write(t.Context(), add)
				for errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrUncertain) { // a deadlock takes a second to be found, and there may be several
					time.Sleep(retryOutage)
					err = db.Write(t.Context(), add)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := things(t, dbs[0]); got["a"] != 2*each || got["b"] != 2*each {
		t.Errorf("got %v, want %d each", got, 2*each)
	}
}
