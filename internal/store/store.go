// Package store opens the database, migrates it, and runs work on it: one
// writer with group commit, and readers beside it.
//
// It is for connections, transactions and the differences between databases.
// It is not for tables: their SQL lives with the packages that own them.
// Statements are written for both databases, with ? for parameters.
//
// Invariant: when Write returns nil, everything its op did is durable; when it
// returns an error, nothing of it is, unless the error is ErrUncertain.
package store

import (
	"context"
	"errors"
)

// ErrClosed is returned for work that arrives after Close.
var ErrClosed = errors.New("the store is closed")

// ErrConflict wraps the violation of a unique constraint, whichever database
// reports it.
var ErrConflict = errors.New("already there")

// Options are the choices an operator has.
type Options struct {
	// Sync is "process" (the default: survives kill -9 of the gateway) or
	// "full" (survives loss of power too).
	Sync string
}

// DB is an open database. Close it when its users have stopped.
type DB struct{}

// Open opens "sqlite:PATH" or "sqlite::memory:" and starts the writer. The
// schema is not touched; call Migrate.
func Open(ctx context.Context, url string, o Options) (*DB, error) { panic("not yet") }

// Close runs what is queued, stops the writer and closes the database.
func (db *DB) Close() error { panic("not yet") }

// Migrate brings the schema up to date. It refuses a newer one.
func (db *DB) Migrate(ctx context.Context) error { panic("not yet") }

// Write runs op in a transaction that it shares with whatever else is waiting,
// and returns when that is durable. The rules for op:
//
//   - it may be run more than once, so it must only set what it returns;
//   - it refuses (returns an error) before it writes anything; then only it
//     fails. An error after a write costs every other op of the batch a second
//     run, each in a transaction of its own;
//   - it runs on the writer's goroutine: no waiting, no calls to Write or Read.
//
// When ctx ends before op was taken, it is withdrawn; afterwards its end is
// awaited, so that the caller always knows what happened.
func (db *DB) Write(ctx context.Context, op func(tx *Tx) error) error { panic("not yet") }

// Read runs fn on one consistent snapshot of what is committed.
func (db *DB) Read(ctx context.Context, fn func(q *Query) error) error { panic("not yet") }

// Tx is the transaction of a Write. It must not leave the op.
type Tx struct{}

// InsertInto is a statement for Tx.Insert: INSERT INTO Table (Columns) VALUES
// … Conflict. It is a value to be declared once beside the table's other SQL.
type InsertInto struct {
	Table    string
	Columns  string // separated by ", "
	Conflict string // "" or an ON CONFLICT clause
}

// Insert adds a row. It is sent with others like it before the commit, or at
// the next Flush; until then queries of the same transaction do not see it.
func (tx *Tx) Insert(into InsertInto, args ...any) { panic("not yet") }

// Flush sends the inserts that wait.
func (tx *Tx) Flush() error { panic("not yet") }

// Exec runs a statement and tells how many rows it changed.
func (tx *Tx) Exec(sql string, args ...any) (int64, error) { panic("not yet") }

// Rows is what Query returns; it is *sql.Rows behind one interface.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close() error
}

// QueryRow scans the first row into dest; sql.ErrNoRows when there is none.
func (tx *Tx) QueryRow(sql string, args []any, dest ...any) error { panic("not yet") }

// Query is the read transaction of a Read. It must not leave fn.
type Query struct{}

// QueryRow scans the first row into dest; sql.ErrNoRows when there is none.
func (q *Query) QueryRow(sql string, args []any, dest ...any) error { panic("not yet") }

// Each runs fn on every row.
func (q *Query) Each(sql string, args []any, fn func(Rows) error) error { panic("not yet") }
