package e2e

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"rubicon/internal/store/pgtest"
)

// onEach runs a test on an empty database of each kind.
func onEach(t *testing.T, test func(t *testing.T, store string)) {
	t.Run("sqlite", func(t *testing.T) { test(t, "sqlite:"+filepath.Join(t.TempDir(), "e2e.db")) })
	t.Run("postgres", func(t *testing.T) { test(t, pgtest.Database(t)) })
}

// ownServer is a PostgreSQL that the test may kill, and a database on it.
func ownServer(t *testing.T) (*pgtest.Server, string) {
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
	return s, pgtest.On(t, s.URL())
}

// blockWrites keeps everybody else from settling anything, as a database that
// hangs would, until the returned function is called: on SQLite nobody can
// write, on PostgreSQL no balance can move.
func blockWrites(t *testing.T, store string) (unblock func()) {
	t.Helper()
	if file, ok := strings.CutPrefix(store, "sqlite:"); ok {
		db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(5000)")
		if err != nil {
			t.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
			t.Fatal(err)
		}
		return func() {
			if _, err := db.Exec("ROLLBACK"); err != nil {
				t.Error(err)
			}
			_ = db.Close()
		}
	}
	conn, err := pgx.Connect(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT 1 FROM balances FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(t.Context()); err != nil {
			t.Error(err)
		}
		_ = conn.Close(t.Context())
	}
}

// scanRow reads one value around the gateway.
func scanRow(t *testing.T, store, text string, dest any) {
	t.Helper()
	if file, ok := strings.CutPrefix(store, "sqlite:"); ok {
		db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(5000)&_pragma=query_only(1)")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := db.QueryRow(text).Scan(dest); err != nil {
			t.Fatal(err)
		}
		return
	}
	conn, err := pgx.Connect(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if err := conn.QueryRow(t.Context(), text).Scan(dest); err != nil {
		t.Fatal(err)
	}
}
