package store

import (
	"context"
	"database/sql"
	"errors"
)

// maxStatements bounds the prepared statements that a session keeps. Far more
// than there are in the code; lists of filters and of rows multiply them.
const maxStatements = 400

// session is one connection with its prepared statements. One goroutine at a
// time uses it.
type session struct {
	conn    *sql.Conn
	dialect dialect
	stmts   map[string]*sql.Stmt
	texts   map[batchKey]string
	rows    int // written since they were last counted
}

func newSession(conn *sql.Conn, d dialect) *session {
	return &session{conn: conn, dialect: d, stmts: map[string]*sql.Stmt{}, texts: map[batchKey]string{}}
}

func (s *session) close() error { return errors.Join(s.forget(), s.conn.Close()) }

func (s *session) forget() error {
	var errs []error
	for _, stmt := range s.stmts {
		errs = append(errs, stmt.Close())
	}
	clear(s.stmts)
	return errors.Join(errs...)
}

func (s *session) prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	if stmt := s.stmts[text]; stmt != nil {
		return stmt, nil
	}
	if len(s.stmts) >= maxStatements {
		if err := s.forget(); err != nil {
			return nil, s.failure(err)
		}
	}
	stmt, err := s.conn.PrepareContext(ctx, s.dialect.rebind(text))
	if err != nil {
		return nil, s.failure(err)
	}
	s.stmts[text] = stmt
	return stmt, nil
}

func (s *session) exec(ctx context.Context, text string, args []any) (int64, error) {
	stmt, err := s.prepare(ctx, text)
	if err != nil {
		return 0, err
	}
	result, err := stmt.ExecContext(ctx, args...)
	if err != nil {
		return 0, s.failure(err)
	}
	changed, err := result.RowsAffected()
	return changed, s.failure(err)
}

func (s *session) queryRow(ctx context.Context, text string, args, dest []any) error {
	stmt, err := s.prepare(ctx, text)
	if err != nil {
		return err
	}
	return s.failure(stmt.QueryRowContext(ctx, args...).Scan(dest...))
}

// Rows is the row that Each is at.
type Rows interface {
	Scan(dest ...any) error
}

func (s *session) each(ctx context.Context, text string, args []any, fn func(Rows) error) (err error) {
	stmt, err := s.prepare(ctx, text)
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return s.failure(err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := fn(rows); err != nil {
			return err
		}
	}
	return s.failure(rows.Err())
}

// databaseError is what the database or its driver reported, as opposed to
// what an op refused.
type databaseError struct {
	cause    error
	conflict bool
}

func (e *databaseError) Error() string { return "database: " + e.cause.Error() }
func (e *databaseError) Unwrap() error { return e.cause }

func (e *databaseError) Is(target error) bool { return e.conflict && target == ErrConflict }

func (s *session) failure(err error) error {
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return &databaseError{cause: err, conflict: s.dialect.isConflict(err)}
}

// readOnly runs fn inside a read transaction, so that all it sees is of one
// moment.
func (s *session) readOnly(ctx context.Context, fn func(q *Query) error) (err error) {
	if _, err := s.exec(ctx, s.dialect.beginRead, nil); err != nil {
		return err
	}
	// Also when fn panics: the session goes back to the others. The end must
	// not depend on ctx, or a cancelled read would leave the snapshot open.
	defer func() {
		_, end := s.exec(context.WithoutCancel(ctx), "ROLLBACK", nil)
		err = errors.Join(err, end)
	}()
	return fn(&Query{ctx: ctx, session: s})
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
