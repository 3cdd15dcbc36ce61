package store

import (
	"fmt"
	"net/url"
	"strings"
)

// dialect is all that differs between databases. PostgreSQL will be a second
// value of this type: driver pgx, numbered parameters, FOR UPDATE, and its own
// reading of errors.
type dialect struct {
	name     string // also the infix of migrations that only this database has
	driver   string // of database/sql
	writeDSN string
	readDSN  string // "": reads share the writer's session

	begin      string // starts a transaction that will write
	beginRead  string // starts a snapshot
	checkpoint string // what to run beside the writer now and then; "": nothing
	insert     string // the verb of deferred inserts
	forUpdate  string // what locks the rows of a SELECT
	lockSchema string // what keeps others out of a migration, if begin does not

	rebind          func(sql string) string // from ? to what the driver wants
	isConflict      func(error) bool        // a unique constraint
	isNoTransaction func(error) bool        // a ROLLBACK with nothing to roll back
}

func dialectFor(rawURL string, o Options) (dialect, error) {
	scheme, rest, _ := strings.Cut(rawURL, ":")
	switch {
	case scheme == "sqlite" && rest != "":
		return sqliteDialect(rest, o)
	case scheme == "postgres" || scheme == "postgresql":
		return dialect{}, fmt.Errorf("store.url: PostgreSQL is not supported by this version, use sqlite:PATH")
	}
	// The URL itself may hold a password and is not repeated.
	return dialect{}, fmt.Errorf("store.url: want sqlite:PATH")
}

// pragmas builds the query part of an SQLite DSN.
func pragmas(list ...string) string {
	v := url.Values{}
	for _, p := range list {
		v.Add("_pragma", p)
	}
	return v.Encode()
}
