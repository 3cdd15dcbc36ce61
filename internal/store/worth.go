package store

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// WorthWaiting reports whether an error of Open or Migrate may pass by itself.
// What an operator must put right does not: a database that answers and refuses
// this user, or that is not there on its server; a file that cannot be opened.
func WorthWaiting(err error) bool {
	if !errors.Is(err, ErrUnavailable) {
		return false
	}
	var server *pgconn.PgError
	if errors.As(err, &server) {
		switch server.Code {
		case "28000", "28P01", "3D000", "42501": // authorization, password, no such database, no privilege
			return false
		}
	}
	var file *sqlite.Error
	if errors.As(err, &file) {
		switch file.Code() & 0xff {
		case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
			return false
		}
	}
	return true
}
