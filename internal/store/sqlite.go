package store

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

func sqliteDialect(path string, o Options) (dialect, error) {
	synchronous := "NORMAL"
	switch o.Sync {
	case "", "process":
	case "full":
		synchronous = "FULL"
	default:
		return dialect{}, fmt.Errorf("store.sync: want process or full, not %q", o.Sync)
	}
	common := []string{
		"busy_timeout(5000)",
		"foreign_keys(1)",
		// Without it INSERT OR REPLACE deletes rows behind the back of the
		// triggers that forbid it.
		"recursive_triggers(1)",
		"cache_size(-32768)",
		"temp_store(memory)",
	}
	write := slices.Concat([]string{"journal_mode(WAL)", "synchronous(" + synchronous + ")", "wal_autocheckpoint(0)"}, common)
	read := slices.Concat(common, []string{"query_only(1)"})

	d := dialect{
		name:      "sqlite",
		driver:    "sqlite",
		begin:     "BEGIN IMMEDIATE",
		beginRead: "BEGIN",
		// A violation loses the transaction anyway, see Write. Saying so spares
		// SQLite the journal that it keeps to undo a single statement.
		insert:          "INSERT OR ROLLBACK",
		rebind:          func(sql string) string { return sql },
		isConflict:      isSQLiteConflict,
		isNoTransaction: isSQLiteNoTransaction,
	}
	if path == ":memory:" {
		d.writeDSN = "file::memory:?" + pragmas(write...)
		return d, nil
	}
	file := "file:" + (&url.URL{Path: path}).EscapedPath()
	d.writeDSN = file + "?" + pragmas(write...)
	d.readDSN = file + "?" + pragmas(read...)
	d.checkpoint = "PRAGMA wal_checkpoint(PASSIVE)"
	return d, nil
}

func isSQLiteConflict(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
}

// SQLite has no code of its own for this.
func isSQLiteNoTransaction(err error) bool {
	return strings.Contains(err.Error(), "no transaction is active")
}
