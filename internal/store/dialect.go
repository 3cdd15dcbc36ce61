package store

import (
	"fmt"
	"strings"
	"time"
)

// dialect is all that differs between databases, apart from their connections.
type dialect struct {
	name      string // also the infix of migrations that only this database has
	connector func(dsn string, writes bool) (connector, error)
	writeDSN  string
	readDSN   string // "": reads share the writer's session
	readers   int
	writers   int
	shared    bool   // other processes may write to it at the same time
	file      string // of the database, for a lock; "": none
	arrays    bool   // many rows travel as one array per column

	begin      string // starts a transaction that will write
	beginRead  string // starts a snapshot
	checkpoint string // what to run beside the writer now and then; "": nothing
	restart    string // what to run after it, while the writer waits
	volume     int64  // of the log after which it is worth it
	insert     string // the verb of deferred inserts where rows are listed
	forUpdate  string // what locks the rows of a SELECT
	lockSchema string // what keeps others out of a migration, if begin does not

	migration   func(text string) string // what it makes of a step for all
	transaction time.Duration            // the most a transaction may take; 0: no bound
	answer      time.Duration            // the most a word that costs nothing may take; 0: no bound
	outageWait  time.Duration            // how long it is waited for when it is away
}

const commit = "COMMIT"

func dialectFor(rawURL string, o Options) (dialect, error) {
	scheme, rest, _ := strings.Cut(rawURL, ":")
	switch {
	case scheme == "sqlite" && rest != "":
		return sqliteDialect(rest, o)
	case scheme == "postgres" || scheme == "postgresql":
		return postgresDialect(rawURL, o)
	}
	// The URL itself may hold a password and is not repeated.
	return dialect{}, fmt.Errorf("store.url: want sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE")
}

func checkSync(sync string) error {
	switch sync {
	case "", "process", "full":
		return nil
	}
	return fmt.Errorf("store.sync: want process or full, not %q", sync)
}
