// Package ledger is the money: double entry with integer nano-USD.
//
// It is for balances, charge holds, what becomes of them, credits, corrections
// and the proof that all of it adds up. It is not for prices or usage (package
// price, meter), nor for who the customers are (package account).
//
// Invariant: transactions and postings are only ever added; the postings of a
// transaction sum to zero; a balance is the sum of postings; a request has at
// most one hold, and a hold is settled or released once. The database refuses
// what would break this, not only the code.
package ledger

import (
	"time"

	"rubicon/internal/store"
	"rubicon/internal/wire/ident"
)

// Ledger is the ledger in one database. It has no state of its own.
type Ledger struct {
	db  *store.DB
	ids *ident.Source
	now func() time.Time
}

// New makes the ledger of db. Transactions are named by ids and dated by now.
func New(db *store.DB, ids *ident.Source, now func() time.Time) *Ledger {
	return &Ledger{db: db, ids: ids, now: now}
}
