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

	// markLifetime is how long the mark of a writer that was killed stays.
	markLifetime = 24 * time.Hour
	// commitCheckTimeout bounds how long it takes to learn what became of a COMMIT.
	commitCheckTimeout = 10 * time.Second
)

// mark lets a writer find out, after it lost its connection during a COMMIT,
// whether that was carried out: each transaction leaves its number in a row of
// the writer's own.
type mark struct {
	writer string
	number int64 // of the last transaction
}

// commit sends what waits and the COMMIT, and finds out whether it was carried
// out when the answer does not come.
func (db *DB) commit(tx *Tx, jobs []*job) error {
	s := tx.session
	list, err := tx.waiting()
	if err != nil {
		return errors.Join(err, s.rollback(tx.ctx))
	}
	if !commits(jobs) {
		return errors.Join(errWithdrawn, s.rollback(tx.ctx))
	}
	marked := db.hasMark.Load()
	if marked {
		s.mark.number++
		list = append(list, query{text: writeMark, args: []any{s.mark.writer, s.mark.number, time.Now().UnixMilli()}})
	}
	err = s.conn.pipeline(tx.ctx, append(list, query{text: commit}))
	switch {
	case err == nil:
		s.outage.over(time.Now())
		s.volume += commitVolume + tx.volume
		return nil
	case !s.conn.broken():
		return errors.Join(err, s.rollback(tx.ctx))
	case !marked, !awaited(jobs):
		return fmt.Errorf("%w: %w", ErrUncertain, err)
	}
	done, doubt := s.committed()
	switch {
	case doubt != nil:
		return fmt.Errorf("%w: %w", ErrUncertain, errors.Join(err, doubt))
	case done:
		s.outage.over(time.Now())
		return nil
	}
	return &databaseError{cause: err, means: runAgain}
}

// committed asks a new connection for the mark of the last transaction.
func (s *session) committed() (bool, error) {
	ctx, done := context.WithTimeout(context.Background(), commitCheckTimeout)
	defer done()
	for {
		if err := s.ready(ctx); err != nil {
			return false, err
		}
		var number int64
		err := s.queryRow(ctx, readMark, []any{s.mark.writer, time.Now().UnixMilli()}, []any{&number})
		if err == nil {
			return number == s.mark.number, nil
		}
		if !errors.Is(err, ErrUnavailable) || ctx.Err() != nil {
			return false, err
		}
		if err := pause(ctx, tryAgain); err != nil {
			return false, err
		}
	}
}

// forgetMarks removes the marks at the end, with those of writers long gone.
func (db *DB) forgetMarks() {
	if !db.hasMark.Load() {
		return
	}
	for range db.dialect.writers {
		s := <-db.writing.idle
		s.forgetMark()
		db.writing.give(s)
	}
}

func (s *session) forgetMark() {
	if s.conn == nil || s.conn.broken() {
		return
	}
	ctx, done := context.WithTimeout(context.Background(), closeTimeout)
	defer done()
	// It does no harm where it stays.
	_, _ = s.exec(ctx, deleteMarks, []any{s.mark.writer, time.Now().Add(-markLifetime).UnixMilli()})
}
