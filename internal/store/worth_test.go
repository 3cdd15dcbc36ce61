package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestWorthWaiting: what passes by itself, and what an operator must put right.
func TestWorthWaiting(t *testing.T) {
	server := func(code string) error {
		return unavailable(&noConnection{&pgconn.PgError{Code: code, Severity: "FATAL"}})
	}
	for name, row := range map[string]struct {
		err  error
		want bool
	}{
		"nobody listens":       {unavailable(errors.New("connection refused")), true},
		"starting up":          {server("57P03"), true},
		"too many connections": {server("53300"), true},
		"a standby":            {&databaseError{cause: &pgconn.PgError{Code: "25006"}, means: databaseAway}, true},
		"wrong password":       {server("28P01"), false},
		"no such role":         {server("28000"), false},
		"no such database":     {server("3D000"), false},
		"not allowed":          {server("42501"), false},
		"a newer schema":       {errors.New("use a newer rubicon"), false},
	} {
		if got := WorthWaiting(fmt.Errorf("opening the database: %w", row.err)); got != row.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestOpenTellsWhatIsWorthWaiting with real databases.
func TestOpenTellsWhatIsWorthWaiting(t *testing.T) {
	s := server(t)
	for url, want := range map[string]bool{
		s.URL() + "_nobody_made":                               false,
		"sqlite:" + filepath.Join(t.TempDir(), "none", "x.db"): false,
		"postgres://u:p@127.0.0.1:1/x":                         true,
	} {
		_, err := Open(t.Context(), url, Options{})
		if err == nil || WorthWaiting(err) != want {
			t.Errorf("%s: %v is worth waiting: %t", url, err, !want)
		}
	}
	if err := s.Freeze(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), s.URL(), Options{}); !WorthWaiting(err) {
		t.Errorf("a server that hangs: %v", err)
	}
	if err := s.Thaw(); err != nil {
		t.Error(err)
	}
}
