package store

import "context"

// checkpointVolume is how much log is worth a checkpoint. That flushes the log,
// and on many file systems writes wait for it: it should be rare. The file of
// the log stays as long as it grew, some 170 MB under a load that never pauses:
// to write over it is cheaper than to give it back and to ask for it again.
const checkpointVolume = 128 << 20

// What a transaction adds to the log, roughly: whole pages, of each table and
// index at least one, and beside those what its rows hold.
const (
	commitVolume = 32 << 10
	rowVolume    = 1 << 10
)

// volumeOf is what a row adds to the log.
func volumeOf(row []any) int64 {
	n := int64(rowVolume)
	for _, v := range row {
		switch v := v.(type) {
		case string:
			n += int64(len(v))
		case []byte:
			n += int64(len(v))
		}
	}
	return n
}

// noteVolume tells the checkpointer when enough was written. It never waits: if
// a checkpoint is due already, that one covers this too.
func (db *DB) noteVolume(s *session) {
	if db.background == nil {
		return
	}
	db.sinceCheckpoint += s.volume
	s.volume = 0
	if db.sinceCheckpoint < db.dialect.volume {
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
//
// SQLite begins the log anew only when all of it was moved, and a writer that is
// never idle adds to it during each move: the log would grow as long as the load
// lasts. So the little that came meanwhile is moved while the writer waits.
func (db *DB) runCheckpoints() {
	s := <-db.background.idle
	defer db.background.give(s)
	// A failure has no consequence but a longer log: the next one moves it, and
	// a disk that fails or fills shows in the writes. So it is with a reader that
	// still needs the log; the writer does not wait long for it to end.
	run := func(text string) {
		var busy, logged, moved int
		_ = s.queryRow(context.Background(), text, nil, []any{&busy, &logged, &moved})
	}
	var timeout int
	_ = s.queryRow(context.Background(), "PRAGMA busy_timeout(20)", nil, []any{&timeout})
	for range db.due {
		run(db.dialect.checkpoint)
		run(db.dialect.checkpoint) // what came during the first: the less is left, the shorter the wait
		writer := <-db.writing.idle
		run(db.dialect.restart)
		db.writing.give(writer)
	}
}
