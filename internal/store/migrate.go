package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"time"
)

//go:embed migrations/*.sql
var embedded embed.FS

// migration is a step of the schema. It comes from NNNN_name.sql, or from
// NNNN_name.DIALECT.sql where a step needs a database's own words.
type migration struct {
	version int
	name    string
	text    string
}

// own is SQL for one database inside a file for all: /*!sqlite WITHOUT ROWID */
// is a comment to every other one.
var own = regexp.MustCompile(`(?s)/\*!(\w+)\s(.*?)\*/`)

const createVersions = `CREATE TABLE IF NOT EXISTS schema_versions (
	version BIGINT PRIMARY KEY,
	name TEXT NOT NULL,
	applied_at BIGINT NOT NULL
)`

// Migrate brings the schema up to date, in one transaction. It refuses a
// schema that is newer than this program.
func (db *DB) Migrate(ctx context.Context) error {
	steps, err := migrations(embedded, db.dialect.name)
	if err != nil {
		return err
	}
	s, err := db.take(ctx, db.writing)
	if err != nil {
		return err
	}
	defer db.writing.give(s)
	if err := s.migrate(ctx, steps); err != nil {
		return err
	}
	db.hasMark.Store(db.dialect.shared)
	return nil
}

func (s *session) migrate(ctx context.Context, steps []migration) (err error) {
	if err := s.start(ctx, s.dialect.begin); err != nil {
		return fmt.Errorf("migrating: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("migrating: %w", err), s.rollback(context.WithoutCancel(ctx)))
		}
	}()
	if s.dialect.lockSchema != "" {
		if _, err := s.exec(ctx, s.dialect.lockSchema, nil); err != nil {
			return err
		}
	}
	if _, err := s.exec(ctx, createVersions, nil); err != nil {
		return err
	}
	var current int
	if err := s.queryRow(ctx, "SELECT COALESCE(MAX(version), 0) FROM schema_versions", nil, []any{&current}); err != nil {
		return err
	}
	if newest := steps[len(steps)-1].version; current > newest {
		return fmt.Errorf("the database has schema %d, this program knows %d: use a newer rubicon", current, newest)
	}
	for _, step := range steps {
		if step.version > current {
			if err := s.apply(ctx, step); err != nil {
				return err
			}
		}
	}
	_, err = s.exec(ctx, commit, nil)
	return err
}

func (s *session) apply(ctx context.Context, step migration) error {
	// Not prepared: a step is many statements.
	if err := s.conn.script(ctx, s.dialect.migration(step.text)); err != nil {
		return fmt.Errorf("step %d %s: %w", step.version, step.name, err)
	}
	_, err := s.exec(ctx, "INSERT INTO schema_versions (version, name, applied_at) VALUES (?, ?, ?)",
		[]any{step.version, step.name, time.Now().UnixMilli()})
	return err
}

// migrations reads the steps for a dialect in ascending order.
func migrations(files fs.FS, dialect string) ([]migration, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var steps []migration
	for _, path := range names { // sorted
		step, err := parseName(strings.TrimPrefix(path, "migrations/"), dialect)
		if err != nil {
			return nil, err
		}
		if step.version == 0 {
			continue
		}
		if len(steps) > 0 && steps[len(steps)-1].version == step.version {
			return nil, fmt.Errorf("two migrations %04d", step.version)
		}
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return nil, err
		}
		step.text = own.ReplaceAllStringFunc(string(text), func(match string) string {
			if part := own.FindStringSubmatch(match); part[1] == dialect {
				return part[2]
			}
			return ""
		})
		steps = append(steps, step)
	}
	return steps, nil
}

// parseName reads NNNN_name[.dialect].sql; the zero migration is one of
// another dialect.
func parseName(file, dialect string) (migration, error) {
	base := strings.TrimSuffix(file, ".sql")
	base, variant, _ := strings.Cut(base, ".")
	number, name, _ := strings.Cut(base, "_")
	version, err := strconv.Atoi(number)
	if err != nil || version < 1 || name == "" {
		return migration{}, fmt.Errorf("migration %q is not named NNNN_name.sql", file)
	}
	if variant != "" && variant != dialect {
		return migration{}, nil
	}
	return migration{version: version, name: name}, nil
}
