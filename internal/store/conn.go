package store

import (
	"context"
	"database/sql"
	"errors"
)

// conn is one connection to a database. One goroutine at a time uses it. Its
// errors are *databaseError, except sql.ErrNoRows and those of callbacks.
type conn interface {
	exec(ctx context.Context, text string, args []any) (changed int64, err error)
	queryRow(ctx context.Context, text string, args, dest []any) error
	each(ctx context.Context, text string, args []any, fn func(Rows) error) error
	// pipeline runs statements in order, in one exchange where the database
	// can do that. The first that fails is the last.
	pipeline(ctx context.Context, list []query) error
	// script runs many statements at once.
	script(ctx context.Context, text string) error
	// broken reports whether the connection is lost for good.
	broken() bool
	close() error
}

// query is one statement of a pipeline.
type query struct {
	text string
	args []any
	row  func(Rows) error // nil: it gives no rows
}

// connector makes connections.
type connector interface {
	connect(ctx context.Context) (conn, error)
	close() error
}

// Rows is the row that Each is at.
type Rows interface {
	Scan(dest ...any) error
}

// failure is what an error of the database means for the work it stopped.
type failure uint8

const (
	failed       failure = iota // the work itself is at fault
	conflict                    // a unique constraint
	runAgain                    // others were in the way: the same may go well now
	databaseAway                // the database is not there, or cannot write
)

// databaseError is what the database or its driver reported, as opposed to
// what an op refused.
type databaseError struct {
	cause error
	means failure
}

func (e *databaseError) Error() string { return "database: " + e.cause.Error() }
func (e *databaseError) Unwrap() error { return e.cause }

func (e *databaseError) Is(target error) bool {
	switch target {
	case ErrConflict:
		return e.means == conflict
	case ErrUnavailable:
		return e.means == databaseAway || e.means == runAgain
	}
	return false
}

// meaning is what an error means; failed for errors of other kinds.
func meaning(err error) failure {
	var e *databaseError
	if errors.As(err, &e) {
		return e.means
	}
	return failed
}

// unavailable is an error of a database that is away.
func unavailable(cause error) error {
	if meaning(cause) == databaseAway {
		return cause
	}
	return &databaseError{cause: cause, means: databaseAway}
}

// wrap makes the errors of a driver what conn promises.
func wrap(err error, read func(error) failure) error {
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return &databaseError{cause: err, means: read(err)}
}
