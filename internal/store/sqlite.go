package store

import (
	"errors"
	"net/url"
	"slices"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const sqliteReaders = 4

func sqliteDialect(path string, o Options) (dialect, error) {
	if err := checkSync(o.Sync); err != nil {
		return dialect{}, err
	}
	synchronous := "NORMAL"
	if o.Sync == "full" {
		synchronous = "FULL"
	}
	common := []string{
		// Only tools can be in the way. The rest of the patience is the dialect's.
		"busy_timeout(200)",
		"foreign_keys(1)",
		// Without it INSERT OR REPLACE deletes rows behind the back of the
		// triggers that forbid it.
		"recursive_triggers(1)",
		"temp_store(memory)",
	}
	// Pages of a new file: fewer, larger ones are written to the log for the
	// same rows. Caches, in KiB: what is written lies at the ends of tables and
	// at random places, and more room holds neither better; it takes twice as
	// much memory as it says, because SQLite's allocator here rounds up.
	write := slices.Concat([]string{"page_size(8192)", "journal_mode(WAL)", "synchronous(" + synchronous + ")", "wal_autocheckpoint(0)", "cache_size(-8192)"}, common)
	read := slices.Concat(common, []string{"query_only(1)", "cache_size(-2048)"})

	d := dialect{
		name:      "sqlite",
		connector: func(dsn string, _ bool) (connector, error) { return openSQLiteFile(dsn) },
		readers:   sqliteReaders,
		writers:   1,
		begin:     "BEGIN IMMEDIATE",
		beginRead: "BEGIN",
		// A violation loses the transaction anyway, see Write. Saying so spares
		// SQLite the journal that it keeps to undo a single statement.
		insert:     "INSERT OR ROLLBACK",
		migration:  func(text string) string { return text },
		outageWait: 2 * time.Second,
	}
	if path == ":memory:" {
		d.writeDSN = "file::memory:?" + pragmas(write...)
		return d, nil
	}
	file := "file:" + (&url.URL{Path: path}).EscapedPath()
	d.writeDSN = file + "?" + pragmas(write...)
	d.readDSN = file + "?" + pragmas(read...)
	d.file = path
	d.checkpoint = "PRAGMA wal_checkpoint(PASSIVE)"
	d.volume = checkpointVolume
	d.restart = "PRAGMA wal_checkpoint(RESTART)"
	return d, nil
}

// pragmas builds the query part of an SQLite DSN.
func pragmas(list ...string) string {
	v := url.Values{}
	for _, p := range list {
		v.Add("_pragma", p)
	}
	return v.Encode()
}

// readSQLiteError tells what an error means, by its code.
func readSQLiteError(err error) failure {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return failed
	}
	switch e.Code() {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		return conflict
	}
	switch e.Code() & 0xff { // the rest is detail
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN,
		sqlite3.SQLITE_READONLY, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PERM:
		return databaseAway
	}
	return failed
}
