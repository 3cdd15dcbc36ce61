// Package storetest lets a package's tests run on every database that the
// store supports: Main runs them once on each, and URL gives a test an empty
// database of the kind whose turn it is.
//
// It is not for starting PostgreSQL (package pgtest).
package storetest

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"rubicon/internal/store"
	"rubicon/internal/store/pgtest"
)

// Env names the one database to run on. Main sets it, one after the other,
// unless it was set before.
const Env = "RUBICON_TEST_STORE"

// The kinds of databases.
const (
	SQLite     = "sqlite"
	PostgreSQL = "postgres"
)

// Main is for TestMain: it runs the package's tests and benchmarks on each
// database.
func Main(m *testing.M) { os.Exit(Each(m).Run()) }

// Each is a test run on each database, for a TestMain that does more.
func Each(m *testing.M) Suite { return Suite{m} }

// Suite is a package's tests.
type Suite struct{ m *testing.M }

// Run runs them on each database.
func (s Suite) Run() int {
	if !flag.Parsed() {
		flag.Parse()
	}
	kinds := []string{SQLite, PostgreSQL}
	if one := os.Getenv(Env); one != "" {
		kinds = []string{one}
	}
	code := 0
	for _, kind := range kinds {
		if err := os.Setenv(Env, kind); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if testing.Verbose() || isSet("test.bench") {
			fmt.Printf("store: %s\n", kind)
		}
		if failed := s.run(kind); failed != 0 {
			fmt.Printf("FAIL on %s\n", kind)
			code = failed
		}
	}
	return code
}

func (s Suite) run(kind string) int {
	if kind == PostgreSQL {
		if err := pgtest.Ready(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return s.m.Run()
}

func isSet(name string) bool {
	f := flag.Lookup(name)
	return f != nil && f.Value.String() != ""
}

// Kind is the database whose turn it is.
func Kind() string {
	if kind := os.Getenv(Env); kind != "" {
		return kind
	}
	return SQLite
}

// URL names a new database. It is gone when the test is.
func URL(tb testing.TB) string {
	tb.Helper()
	switch kind := Kind(); kind {
	case SQLite:
		return "sqlite:" + filepath.Join(tb.TempDir(), "test.db")
	case PostgreSQL:
		return pgtest.Database(tb)
	default:
		tb.Fatalf("%s=%q: want %s or %s", Env, kind, SQLite, PostgreSQL)
		return ""
	}
}

// Open opens and migrates a new database, and closes it in the end.
func Open(tb testing.TB) *store.DB {
	tb.Helper()
	db := OpenURL(tb, URL(tb))
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	return db
}

// OpenURL opens and migrates a database; the test closes it.
func OpenURL(tb testing.TB, url string) *store.DB {
	tb.Helper()
	// A test's context ends before its cleanups, which may still write.
	ctx := context.Background()
	db, err := store.Open(ctx, url, store.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	if err := db.Migrate(ctx); err != nil {
		tb.Fatal(errors.Join(err, db.Close()))
	}
	return db
}

// Raw runs statements around all the code, as somebody with the database's own
// tools would.
func Raw(tb testing.TB, rawURL, text string) error {
	tb.Helper()
	if file, ok := strings.CutPrefix(rawURL, "sqlite:"); ok {
		db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: file}).EscapedPath()+"?_pragma=busy_timeout(5000)")
		if err != nil {
			tb.Fatal(err)
		}
		_, err = db.Exec(text)
		return errors.Join(err, db.Close())
	}
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, rawURL)
	if err != nil {
		tb.Fatal(err)
	}
	_, err = conn.PgConn().Exec(ctx, text).ReadAll()
	return errors.Join(err, conn.Close(ctx))
}

// Dump gives everything that is in the database.
func Dump(tb testing.TB, rawURL string) string {
	tb.Helper()
	var all strings.Builder
	if file, ok := strings.CutPrefix(rawURL, "sqlite:"); ok {
		for _, suffix := range []string{"", "-wal"} {
			data, err := os.ReadFile(file + suffix)
			if err != nil && !os.IsNotExist(err) {
				tb.Fatal(err)
			}
			all.Write(data)
		}
		return all.String()
	}
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, rawURL)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	var tables []string
	rows, err := conn.Query(ctx, "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
	if err == nil {
		tables, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	for _, table := range tables {
		var data string
		if err == nil {
			err = conn.QueryRow(ctx, "SELECT COALESCE(string_agg(t::text, ' '), '') FROM "+table+" t").Scan(&data)
		}
		all.WriteString(data)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return all.String()
}

// Plan tells how the database would run a query with parameters, whose values
// must not matter.
func Plan(tb testing.TB, db *store.DB, query string) string {
	tb.Helper()
	var plan strings.Builder
	err := db.Read(tb.Context(), func(q *store.Query) error {
		if Kind() == SQLite {
			args := make([]any, strings.Count(query, "?"))
			for i := range args {
				args[i] = "1"
			}
			return q.Each("EXPLAIN QUERY PLAN "+query, args, func(row store.Rows) error {
				var (
					id, parent, unused int
					detail             string
				)
				err := row.Scan(&id, &parent, &unused, &detail)
				plan.WriteString(detail + "\n")
				return err
			})
		}
		return explain(q, query, &plan)
	})
	if err != nil {
		tb.Fatalf("the plan of %s: %v", query, err)
	}
	return plan.String()
}

// explain asks PostgreSQL for the plan for any values, as if the tables were
// too large to be read from end to end.
func explain(q *store.Query, query string, plan *strings.Builder) error {
	none := func(store.Rows) error { return nil }
	for _, text := range []string{"SET LOCAL enable_seqscan = off", "SET LOCAL plan_cache_mode = force_generic_plan",
		"PREPARE explained AS " + numbered(query)} {
		if err := q.Each(text, nil, none); err != nil {
			return err
		}
	}
	args := strings.Repeat(", NULL", strings.Count(query, "?"))
	if args != "" {
		args = "(" + args[2:] + ")"
	}
	err := q.Each("EXPLAIN EXECUTE explained"+args, nil, func(row store.Rows) error {
		var line string
		err := row.Scan(&line)
		plan.WriteString(line + "\n")
		return err
	})
	return errors.Join(err, q.Each("DEALLOCATE explained", nil, none))
}

func numbered(query string) string {
	for n := 1; strings.Contains(query, "?"); n++ {
		query = strings.Replace(query, "?", fmt.Sprintf("$%d", n), 1)
	}
	return query
}
