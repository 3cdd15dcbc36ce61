package store

import (
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/store/pgtest"
)

func TestMigrateTwiceAndRefuseANewerSchema(t *testing.T) {
	each(t, migrateTwice)
}

func migrateTwice(t *testing.T, url string) {
	db := open(t, url)
	for range 2 {
		if err := db.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	other := func() error {
		second, err := Open(t.Context(), url, Options{})
		if err != nil {
			return err
		}
		defer second.Close()
		return second.Migrate(t.Context())
	}
	if err := other(); err != nil {
		t.Errorf("a second connection: %v", err)
	}
	write(t, db, func(tx *Tx) error {
		_, err := tx.Exec("INSERT INTO schema_versions (version, name, applied_at) VALUES (9999, 'future', 0)")
		return err
	})
	err := other()
	if err == nil || !strings.Contains(err.Error(), "use a newer rubicon") {
		t.Errorf("a newer schema: %v", err)
	}
	// The refusal left no transaction open.
	write(t, db, insert("after", 1))
}

func TestAFailedMigrationLeavesNothing(t *testing.T) {
	each(t, failedMigration)
}

func failedMigration(t *testing.T, url string) {
	db := open(t, url)
	s := <-db.writing.idle
	err := s.migrate(t.Context(), []migration{
		{1001, "good", "CREATE TABLE good (x BIGINT); CREATE TABLE also_good (x BIGINT)"},
		{1002, "bad", "CREATE TABLE half (x BIGINT); nonsense"},
	})
	db.writing.give(s)
	if err == nil || !strings.Contains(err.Error(), "step 1002 bad") {
		t.Errorf("got %v", err)
	}
	var tables []string
	query := "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '%good'"
	if db.dialect.name == "postgres" {
		query = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename LIKE '%good'"
	}
	err = db.Read(t.Context(), func(q *Query) error {
		return q.Each(query, nil, func(row Rows) error {
			var name string
			err := row.Scan(&name)
			tables = append(tables, name)
			return err
		})
	})
	if err != nil || len(tables) > 0 {
		t.Error(err, tables)
	}
}

func TestMigrationsOfADialect(t *testing.T) {
	files := fstest.MapFS{
		"migrations/0001_all.sql":            {Data: []byte("a /*!sqlite one */ b /*!postgres two\nlines */ c /* plain */")},
		"migrations/0002_other.postgres.sql": {Data: []byte("only postgres")},
		"migrations/0002_other.sqlite.sql":   {Data: []byte("only sqlite")},
		"migrations/0003_late.postgres.sql":  {Data: []byte("late")},
	}
	for dialect, want := range map[string][]migration{
		"sqlite":   {{1, "all", "a one  b  c /* plain */"}, {2, "other", "only sqlite"}},
		"postgres": {{1, "all", "a  b two\nlines  c /* plain */"}, {2, "other", "only postgres"}, {3, "late", "late"}},
	} {
		got, err := migrations(files, dialect)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(migration{})); diff != "" {
			t.Errorf("%s: %s", dialect, diff)
		}
	}
	for name, files := range map[string]fstest.MapFS{
		"twice":     {"migrations/0001_a.sql": {}, "migrations/0001_b.sql": {}},
		"no number": {"migrations/a.sql": {}},
		"no name":   {"migrations/0001.sql": {}},
	} {
		if _, err := migrations(files, "sqlite"); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestEmbeddedMigrationsExistForEveryDialect(t *testing.T) {
	for _, dialect := range []string{"sqlite", "postgres"} {
		steps, err := migrations(embedded, dialect)
		if err != nil {
			t.Fatal(err)
		}
		for i, step := range steps {
			if step.version != i+1 {
				t.Errorf("%s: step %d is number %d", dialect, i+1, step.version)
			}
		}
	}
}

// TestManyStartAtOnce: nodes that start together migrate once.
func TestManyStartAtOnce(t *testing.T) {
	url := pgtest.Database(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			db, err := Open(t.Context(), url, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			if err := db.Migrate(t.Context()); err != nil {
				t.Error(err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// TestTextIsComparedByItsBytes: cursors depend on it, in every table.
func TestTextIsComparedByItsBytes(t *testing.T) {
	db := open(t, pgtest.Database(t))
	err := db.Read(t.Context(), func(q *Query) error {
		return q.Each(`SELECT table_name || '.' || column_name, COALESCE(collation_name, '') FROM information_schema.columns
			WHERE table_schema = current_schema() AND data_type = 'text' AND table_name NOT IN ('schema_versions', 'things')`, nil,
			func(row Rows) error {
				var column, collation string
				err := row.Scan(&column, &collation)
				if collation != "C" {
					t.Errorf("%s has the collation %q", column, collation)
				}
				return err
			})
	})
	if err != nil {
		t.Error(err)
	}
}
