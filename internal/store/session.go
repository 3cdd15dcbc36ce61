package store

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"
)

// session is a place in a pool: a connection, and another when that is lost.
// One goroutine at a time uses it.
type session struct {
	dialect   dialect
	connector connector
	outage    *outage
	conn      conn // nil: not connected
	texts     map[batchKey]string
	rowBuffer map[deferred][]any // for rows, see Tx.recycle
	mark      mark
	volume    int64 // what its transactions added to the log, since it was last counted
}

func newSession(d dialect, c connector, o *outage) *session {
	return &session{dialect: d, connector: c, outage: o, texts: map[batchKey]string{}, rowBuffer: map[deferred][]any{}, mark: mark{writer: rand.Text()}}
}

func (s *session) close() error {
	if s.conn == nil {
		return nil
	}
	return s.conn.close()
}

// connect opens the connection.
func (s *session) connect(ctx context.Context) (err error) {
	if s.conn != nil {
		_ = s.conn.close() // it is broken
		s.conn = nil
	}
	s.conn, err = s.connector.connect(ctx)
	return err
}

// tryAgain is the pause between attempts to reach a database that is away.
const tryAgain = 100 * time.Millisecond

// ready makes sure that there is a connection, which may have been lost. It
// waits for a database that is away, but not beyond the dialect's patience
// counted from when that began.
func (s *session) ready(ctx context.Context) error {
	for s.conn == nil || s.conn.broken() {
		began := time.Now()
		err := s.connect(ctx)
		if err == nil {
			return nil
		}
		giveUp := s.outage.failed(began, time.Now(), err)
		if ctx.Err() != nil {
			return &databaseError{cause: errors.Join(context.Cause(ctx), err), means: databaseAway}
		}
		if giveUp {
			return unavailable(err)
		}
		if err := pause(ctx, tryAgain); err != nil {
			return err
		}
	}
	return nil
}

// connectionBroken reports whether there was a connection that is broken.
func (s *session) connectionBroken() bool { return s.conn != nil && s.conn.broken() }

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return &databaseError{cause: context.Cause(ctx), means: databaseAway}
	}
}

func (s *session) exec(ctx context.Context, text string, args []any) (int64, error) {
	return s.conn.exec(ctx, text, args)
}

func (s *session) queryRow(ctx context.Context, text string, args, dest []any) error {
	return s.conn.queryRow(ctx, text, args, dest)
}

func (s *session) each(ctx context.Context, text string, args []any, fn func(Rows) error) error {
	return s.conn.each(ctx, text, args, fn)
}

// start begins a transaction with text. It is the first word of a session that
// may have lost its connection while nobody used it, so it is said twice; and
// it is answered soon, or the database hangs. A database that answers that it
// cannot now is asked again for as long as one that does not answer.
func (s *session) start(ctx context.Context, text string) error {
	for lost := false; ; {
		if err := s.ready(ctx); err != nil {
			return err
		}
		began := time.Now()
		err := s.execText(ctx, text)
		switch {
		case err == nil:
			return nil
		case s.connectionBroken() && !lost && ctx.Err() == nil && !errors.Is(err, context.DeadlineExceeded):
			lost = true
		case s.connectionBroken() || meaning(err) != databaseAway || s.outage.failed(began, time.Now(), err):
			return err
		default:
			if err := pause(ctx, tryAgain); err != nil {
				return err
			}
		}
	}
}

func (s *session) execText(ctx context.Context, text string) error {
	if s.dialect.answer > 0 {
		var done context.CancelFunc
		ctx, done = context.WithTimeout(ctx, s.dialect.answer)
		defer done()
	}
	began := time.Now()
	_, err := s.exec(ctx, text, nil)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		s.outage.failed(began, time.Now(), err)
	}
	return err
}

// readOnly runs fn inside a read transaction, so that all it sees is of one
// moment.
func (s *session) readOnly(ctx context.Context, fn func(q *Query) error) (err error) {
	if err := s.startReading(ctx); err != nil {
		return err
	}
	// Also when fn panics: the session goes back to the others. The end must
	// not depend on ctx, or a cancelled read would leave the snapshot open.
	defer func() {
		err = errors.Join(err, s.rollback(context.WithoutCancel(ctx)))
	}()
	return fn(&Query{ctx: ctx, session: s})
}

// startReading begins a snapshot. That alone tells readers whether the database
// is there: how long they read afterwards is their own affair.
func (s *session) startReading(ctx context.Context) error {
	end, err := s.outage.begin(time.Now())
	if err != nil {
		return err
	}
	defer end()
	if err := s.start(ctx, s.dialect.beginRead); err != nil {
		return err
	}
	s.outage.over(time.Now())
	return nil
}

// rollback ignores that there is nothing left to roll back, which is so after
// errors where the database did it by itself and on a lost connection.
func (s *session) rollback(ctx context.Context) error {
	if s.conn == nil || s.conn.broken() {
		return nil
	}
	err := s.execText(ctx, "ROLLBACK")
	// SQLite has no code of its own for this.
	if err != nil && (s.conn.broken() || strings.Contains(err.Error(), "no transaction is active")) {
		return nil
	}
	return err
}

// Query is the read transaction of a Read. It must not leave fn.
type Query struct {
	ctx     context.Context // of the Read that this value lives in
	session *session
}

// QueryRow scans the first row into dest; sql.ErrNoRows when there is none.
func (q *Query) QueryRow(text string, args []any, dest ...any) error {
	return q.session.queryRow(q.ctx, text, args, dest)
}

// Each runs fn on every row; fn must not use q.
func (q *Query) Each(text string, args []any, fn func(Rows) error) error {
	return q.session.each(q.ctx, text, args, fn)
}
