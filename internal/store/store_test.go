package store

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"rubicon/internal/store/pgtest"
)

const createThings = `CREATE TABLE things (name TEXT PRIMARY KEY, size BIGINT NOT NULL CHECK (size >= 0))`

var insertThing = InsertInto{Table: "things", Columns: "name, size"}

func open(t *testing.T, url string) *DB {
	t.Helper()
	db := openOne(t, url)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	write(t, db, func(tx *Tx) error {
		_, err := tx.Exec(createThings)
		return err
	})
	return db
}

// openOne opens a database with one writer, which a test can keep busy.
func openOne(t *testing.T, url string) *DB {
	t.Helper()
	d, err := dialectFor(url, Options{})
	if err != nil {
		t.Fatal(err)
	}
	d.writers = 1
	db, err := openDialect(t.Context(), d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// each runs a test on an empty database of each kind.
func each(t *testing.T, test func(t *testing.T, url string)) {
	t.Run("sqlite", func(t *testing.T) { test(t, file(t)) })
	t.Run("postgres", func(t *testing.T) { test(t, pgtest.Database(t)) })
}

// both runs a test on an open database of each kind.
func both(t *testing.T, test func(t *testing.T, db *DB)) {
	each(t, func(t *testing.T, url string) { test(t, open(t, url)) })
}

func file(t *testing.T) string {
	t.Helper()
	return "sqlite:" + filepath.Join(t.TempDir(), "with space, 100 % & #1?.db")
}

func write(t *testing.T, db *DB, op func(tx *Tx) error) {
	t.Helper()
	if err := db.Write(t.Context(), op); err != nil {
		t.Fatal(err)
	}
}

func things(t *testing.T, db *DB) map[string]int {
	t.Helper()
	found := map[string]int{}
	err := db.Read(t.Context(), func(q *Query) error {
		return q.Each("SELECT name, size FROM things", nil, func(row Rows) error {
			var (
				name string
				size int
			)
			err := row.Scan(&name, &size)
			found[name] = size
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestWhatIsWrittenIsThereAfterReopening(t *testing.T) { each(t, reopening) }

func reopening(t *testing.T, url string) {
	defer goleak.VerifyNone(t)
	for _, sync := range []string{"", "process", "full"} {
		db, err := Open(t.Context(), url, Options{Sync: sync})
		if err != nil {
			t.Fatal(err)
		}
		write(t, db, func(tx *Tx) error {
			_, err := tx.Exec(strings.Replace(createThings, "TABLE", "TABLE IF NOT EXISTS", 1))
			tx.Insert(insertThing, "by "+sync, 1)
			return err
		})
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Errorf("closing twice: %v", err)
		}
	}
	db, err := Open(t.Context(), url, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	want := map[string]int{"by ": 1, "by process": 1, "by full": 1}
	if diff := cmp.Diff(want, things(t, db)); diff != "" {
		t.Error(diff)
	}
}

func TestPragmas(t *testing.T) {
	for sync, want := range map[string]int{"": 1, "process": 1, "full": 2} {
		db, err := Open(t.Context(), file(t), Options{Sync: sync})
		if err != nil {
			t.Fatal(err)
		}
		write(t, db, func(tx *Tx) error {
			var (
				level, foreign int
				journal        string
			)
			err := errors.Join(
				tx.QueryRow("PRAGMA synchronous", nil, &level),
				tx.QueryRow("PRAGMA foreign_keys", nil, &foreign),
				tx.QueryRow("PRAGMA journal_mode", nil, &journal))
			if level != want || foreign != 1 || journal != "wal" {
				t.Errorf("sync %q: synchronous %d, foreign_keys %d, journal %s", sync, level, foreign, journal)
			}
			return err
		})
		err = db.Read(t.Context(), func(q *Query) error {
			return q.Each("CREATE TABLE x (y)", nil, func(Rows) error { return nil })
		})
		if err == nil {
			t.Error("a read could write")
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ url, sync, want string }{
		{"", "", "sqlite:PATH"},
		{"sqlite:", "", "sqlite:PATH"},
		{"mysql://root:secret@host/db", "", "sqlite:PATH"},
		{"postgres://root:secret@host:x/db", "", "not a valid postgres:// URL"},
		{"postgres://root:secret@127.0.0.1:1/db", "", "opening the database: database: 127.0.0.1:1 (127.0.0.1): dial error: dial tcp 127.0.0.1:1: connect: connection refused"},
		{"postgres://root:secret@127.0.0.1:1/db", "sometimes", "store.sync"},
		{"sqlite:x.db", "sometimes", "store.sync"},
		{"sqlite:" + filepath.Join(t.TempDir(), "no", "such", "folder.db"), "", "opening the database"},
	} {
		db, err := Open(t.Context(), c.url, Options{Sync: c.sync})
		if err == nil {
			db.Close()
			t.Errorf("%q opened", c.url)
			continue
		}
		if text := err.Error(); !strings.Contains(text, c.want) || strings.Contains(text, "secret") || strings.Contains(text, "\n") {
			t.Errorf("%q: %v", c.url, err)
		}
	}
}

func TestMemoryIsOneDatabaseForReadersAndWriter(t *testing.T) {
	db := open(t, "sqlite::memory:")
	write(t, db, func(tx *Tx) error {
		tx.Insert(insertThing, "a", 1)
		return nil
	})
	if diff := cmp.Diff(map[string]int{"a": 1}, things(t, db)); diff != "" {
		t.Error(diff)
	}
}

func TestReadSeesOneMoment(t *testing.T) { both(t, readSeesOneMoment) }

func readSeesOneMoment(t *testing.T, db *DB) {
	count := "SELECT COUNT(*) FROM things"
	err := db.Read(t.Context(), func(q *Query) error {
		var before, after int
		if err := q.QueryRow(count, nil, &before); err != nil {
			return err
		}
		write(t, db, func(tx *Tx) error {
			tx.Insert(insertThing, "a", 1)
			return nil
		})
		if err := q.QueryRow(count, nil, &after); err != nil {
			return err
		}
		if before != 0 || after != 0 {
			t.Errorf("saw %d, then %d", before, after)
		}
		return q.QueryRow("SELECT size FROM things WHERE name = ?", []any{"a"}, &after)
	})
	if !errors.Is(err, sql.ErrNoRows) {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff(map[string]int{"a": 1}, things(t, db)); diff != "" {
		t.Error(diff)
	}
}

func TestReadsSurviveCancellationAndPanic(t *testing.T) { both(t, readsSurviveCancellationAndPanic) }

func readsSurviveCancellationAndPanic(t *testing.T, db *DB) {
	for range 3 * db.dialect.readers {
		ctx, cancel := context.WithCancel(t.Context())
		err := db.Read(ctx, func(q *Query) error {
			cancel()
			var n int
			return q.QueryRow("SELECT COUNT(*) FROM things", nil, &n)
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		func() {
			defer func() { _ = recover() }()
			_ = db.Read(t.Context(), func(*Query) error { panic("in a read") })
		}()
	}
	if err := db.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestCloseWaitsForReads(t *testing.T) { each(t, closeWaitsForReads) }

func closeWaitsForReads(t *testing.T, url string) {
	defer goleak.VerifyNone(t)
	db, err := Open(t.Context(), url, Options{})
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	err = db.Read(t.Context(), func(q *Query) error {
		go func() { closed <- db.Close() }()
		<-db.closing
		select {
		case <-closed:
			t.Error("closed under a read")
		default:
		}
		var one int
		return q.QueryRow("SELECT 1", nil, &one)
	})
	if err != nil {
		t.Error(err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

func TestEverythingInsideABubble(t *testing.T) {
	url := file(t)
	synctest.Test(t, func(t *testing.T) {
		db := open(t, url)
		for i := range 50 {
			go func() {
				err := db.Write(t.Context(), func(tx *Tx) error {
					tx.Insert(insertThing, string(rune('A'+i)), i)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}()
		}
		start := time.Now()
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := len(things(t, db)); n != 50 {
			t.Errorf("%d things", n)
		}
		if waited := time.Since(start); waited != time.Hour {
			t.Errorf("the store moved the clock: %s", waited)
		}
	})
}

func TestNothingAfterClose(t *testing.T) { each(t, nothingAfterClose) }

func nothingAfterClose(t *testing.T, url string) {
	db, err := Open(t.Context(), url, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Write(t.Context(), func(*Tx) error { return nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("write: %v", err)
	}
	if err := db.Ping(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("read: %v", err)
	}
	if err := db.Migrate(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("migrate: %v", err)
	}
}
