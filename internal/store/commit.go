package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// The mark is written with everything else, and is of this writer alone.
	writeMark = `INSERT INTO commit_marks (writer, number, at) VALUES (?, ?, ?)
		ON CONFLICT (writer) DO UPDATE SET number = excluded.number, at = excluded.at`
	// Reading it as an insertion waits for a transaction that may still be
	// under way on the lost connection, the first one included.
	readMark = `INSERT INTO commit_marks (writer, number, at) VALUES (?, 0, ?)
		ON CONFLICT (writer) DO UPDATE SET at = excluded.at RETURNING number`
	deleteMarks = `DELETE FROM commit_marks WHERE writer = ? OR at < ?`

	// markLife is how long the mark of a writer that was killed stays.
	markLife = 24 * time.Hour
	// doubtTime bounds how long it takes to learn what became of a COMMIT.
	doubtTime = 10 * time.Second
)

// commit sends what waits and the COMMIT, and finds out whether it was carried
// out when the answer does not come.
func (db *DB) commit(tx *Tx) error {
	s := tx.session
	list, err := tx.waiting()
	if err != nil {
		return errors.Join(err, s.rollback(tx.ctx))
	}
	marked := db.marks.on.Load()
	if marked {
		db.marks.number++
		list = append(list, query{text: writeMark, args: []any{db.marks.writer, db.marks.number, time.Now().UnixMilli()}})
	}
	err = s.conn.pipeline(tx.ctx, append(list, query{text: commit}))
	switch {
	case err == nil:
		s.rows += tx.writes
		return nil
	case !s.conn.broken():
		return errors.Join(err, s.rollback(tx.ctx))
	case !marked:
		return fmt.Errorf("%w: %w", ErrUncertain, err)
	}
	done, doubt := db.committed(s)
	switch {
	case doubt != nil:
		return fmt.Errorf("%w: %w", ErrUncertain, errors.Join(err, doubt))
	case done:
		return nil
	}
	return &databaseError{cause: err, means: again}
}

// committed asks a new connection for the mark of the last transaction.
func (db *DB) committed(s *session) (bool, error) {
	ctx, done := context.WithTimeout(context.Background(), doubtTime)
	defer done()
	for {
		if err := s.ready(ctx); err != nil {
			return false, err
		}
		var number int64
		err := s.queryRow(ctx, readMark, []any{db.marks.writer, time.Now().UnixMilli()}, []any{&number})
		if err == nil {
			return number == db.marks.number, nil
		}
		if !errors.Is(err, ErrUnavailable) || ctx.Err() != nil {
			return false, err
		}
		if err := pause(ctx, tryAgain); err != nil {
			return false, err
		}
	}
}

// forgetMark removes the mark at the end, with those of writers long gone.
func (db *DB) forgetMark(s *session) {
	if !db.marks.on.Load() || s.conn == nil || s.conn.broken() {
		return
	}
	ctx, done := context.WithTimeout(context.Background(), goodbyeTime)
	defer done()
	// It does no harm where it stays.
	_, _ = s.exec(ctx, deleteMarks, []any{db.marks.writer, time.Now().Add(-markLife).UnixMilli()})
}
