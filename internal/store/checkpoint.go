package store

import "context"

// checkpointRows is after how many written rows the log is worth a checkpoint:
// some ten megabytes. A checkpoint flushes the log, and on many file systems
// writes wait for that: it should be rare.
const checkpointRows = 50_000

// noteRows tells the checkpointer when enough was written. It never waits: if
// a checkpoint is due already, that one covers these rows too.
func (db *DB) noteRows(s *session) {
	if db.moving == nil {
		return
	}
	db.sinceCheckpoint += s.rows
	s.rows = 0
	if db.sinceCheckpoint < checkpointRows {
		return
	}
	db.sinceCheckpoint = 0
	select {
	case db.due <- struct{}{}:
	default:
	}
}

// runCheckpoints moves the log into the database file beside the writer,
// which would otherwise stop for it, disk flush included.
func (db *DB) runCheckpoints() {
	s := <-db.moving.free
	defer db.moving.give(s)
	for range db.due {
		var busy, logged, moved int
		// A failure has no consequence but a longer log: the next one moves
		// it, and a disk that fails or fills shows in the writes.
		_ = s.queryRow(context.Background(), db.dialect.checkpoint, nil, []any{&busy, &logged, &moved})
	}
}
