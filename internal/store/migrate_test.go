package store

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestMigrateTwiceAndRefuseANewerSchema(t *testing.T) {
	url := file(t)
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
	db := open(t, file(t))
	s := <-db.writing.free
	err := s.migrate(t.Context(), []migration{
		{1, "good", "CREATE TABLE good (x BIGINT); CREATE TABLE also_good (x BIGINT)"},
		{2, "bad", "CREATE TABLE half (x BIGINT); nonsense"},
	})
	db.writing.give(s)
	if err == nil || !strings.Contains(err.Error(), "step 2 bad") {
		t.Errorf("got %v", err)
	}
	var tables []string
	err = db.Read(t.Context(), func(q *Query) error {
		return q.Each("SELECT name FROM sqlite_master WHERE type = 'table'", nil, func(row Rows) error {
			var name string
			err := row.Scan(&name)
			tables = append(tables, name)
			return err
		})
	})
	if diff := cmp.Diff([]string{"things"}, tables); err != nil || diff != "" {
		t.Error(err, diff)
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
	steps, err := migrations(embedded, "sqlite")
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range steps {
		if step.version != i+1 {
			t.Errorf("step %d is number %d", i+1, step.version)
		}
	}
}
