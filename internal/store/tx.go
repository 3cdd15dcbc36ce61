package store

import (
	"context"
	"errors"
)

// Tx is the transaction of a Write. It must not leave the op.
type Tx struct {
	session *session
	ctx     context.Context // the writer's own, not a caller's

	writes   int   // how often anything was written or put off
	volume   int64 // of that in the log, roughly
	broken   error // the first error of the database; the transaction is lost
	groups   []*group
	pending  []keyedPending
	preloads []query
}

// Pending is what a package gathers over all the ops of a transaction to write
// it once at its end, such as a balance that many ops move.
type Pending interface {
	// Flush writes what was gathered since the last time.
	Flush(tx *Tx) error
}

type keyedPending struct {
	key   any
	value Pending
}

// Pending returns the value under key, which is made when it is first asked
// for and lives as long as the transaction. Key is a value of a type that only
// the calling package has.
func (tx *Tx) Pending(key any, make func() Pending) Pending {
	for _, p := range tx.pending {
		if p.key == key {
			return p.value
		}
	}
	value := make()
	tx.pending = append(tx.pending, keyedPending{key, value})
	return value
}

// Exec runs a statement and tells how many rows it changed.
func (tx *Tx) Exec(text string, args ...any) (int64, error) {
	tx.writes++
	tx.volume += volumeOf(args)
	changed, err := tx.session.exec(tx.ctx, text, args)
	return changed, tx.check(err)
}

// QueryRow scans the first row into dest; sql.ErrNoRows when there is none. It
// does not see rows that wait to be sent: Flush first if it must.
func (tx *Tx) QueryRow(text string, args []any, dest ...any) error {
	return tx.check(tx.session.queryRow(tx.ctx, text, args, dest))
}

// Each runs fn on every row; fn must not use tx. It does not see rows that wait
// to be sent.
func (tx *Tx) Each(text string, args []any, fn func(Rows) error) error {
	return tx.check(tx.session.each(tx.ctx, text, args, fn))
}

// ForUpdate is what to append to a SELECT whose rows the transaction will
// change. It is empty where a writer is alone anyway.
func (tx *Tx) ForUpdate() string { return tx.session.dialect.forUpdate }

func (tx *Tx) check(err error) error {
	if e := (*databaseError)(nil); tx.broken == nil && errors.As(err, &e) {
		tx.broken = err
	}
	return err
}

func (tx *Tx) dirty() bool { return tx.writes > 0 }
