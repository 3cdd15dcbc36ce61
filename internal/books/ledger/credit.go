package ledger

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"

	"rubicon/internal/money"
	"rubicon/internal/store"
)

// TopUp gives credit. With an IdempotencyKey, repeating it gives the same
// transaction, and ErrIdempotencyConflict if amount or reason differ.
func (l *Ledger) TopUp(ctx context.Context, a TopUpArgs) (Transaction, error) {
	if err := checkCorrection(a.Customer, a.Reason, a.Actor, a.Amount); err != nil {
		return Transaction{}, err
	}
	if a.Amount < 0 {
		return Transaction{}, fmt.Errorf("%w: credit of %s", ErrInvalid, a.Amount)
	}
	e := entry{
		kind: KindTopUp, customer: a.Customer, amount: a.Amount, postings: topUpPostings(a.Customer, a.Amount),
		entryExtras: entryExtras{reason: a.Reason, actor: a.Actor, idempotencyKey: a.IdempotencyKey},
	}
	if a.IdempotencyKey != "" {
		e.idempotencyBody = bodyOf(a.Amount, a.Reason)
	}
	done, err := l.correct(ctx, e)
	if err != nil {
		return Transaction{}, fmt.Errorf("crediting %s: %w", a.Customer, err)
	}
	return done, nil
}

// earlier finds the transaction that has the entry's idempotency key; the zero
// one if there is none. One that waits in the same database transaction is not
// seen; then the unique index refuses the second.
func earlier(tx *store.Tx, e entry) (Transaction, error) {
	if e.idempotencyKey == "" {
		return Transaction{}, nil
	}
	var id, body string
	err := tx.QueryRow(selectIdempotent, []any{e.customer, e.idempotencyKey}, &id, &body)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Transaction{}, nil
	case err != nil:
		return Transaction{}, err
	case body != e.idempotencyBody:
		return Transaction{}, ErrIdempotencyConflict
	}
	found, err := byID(tx, id)
	return found.Transaction, err
}

// Adjust corrects a balance up or down.
func (l *Ledger) Adjust(ctx context.Context, a AdjustArgs) (Transaction, error) {
	if err := checkCorrection(a.Customer, a.Reason, a.Actor, a.Amount); err != nil {
		return Transaction{}, err
	}
	e := entry{
		kind: KindAdjust, request: a.Request, customer: a.Customer, amount: a.Amount, model: a.Model,
		postings:    adjustPostings(a.Customer, a.Model, a.Amount),
		entryExtras: entryExtras{reason: a.Reason, actor: a.Actor, idempotencyKey: a.IdempotencyKey},
	}
	if a.IdempotencyKey != "" {
		e.idempotencyBody = bodyOf(a.Amount, a.Reason)
	}
	done, err := l.correct(ctx, e)
	if err != nil {
		return Transaction{}, fmt.Errorf("adjusting %s: %w", a.Customer, err)
	}
	return done, nil
}

// correct posts what moves a balance by hand; the same idempotency key once.
func (l *Ledger) correct(ctx context.Context, e entry) (done Transaction, err error) {
	post := func() error {
		return l.db.Write(ctx, func(tx *store.Tx) (err error) {
			if done, err = earlier(tx, e); err != nil || done.ID != "" {
				return err
			}
			done, err = l.post(tx, e)
			return err
		}, Expect(e.customer, ""))
	}
	err = post()
	if errors.Is(err, store.ErrConflict) && e.idempotencyKey != "" {
		err = post() // another node was quicker with the same key
	}
	return done, err
}

// bodyOf is what must not differ under one idempotency key.
func bodyOf(amount money.Nano, reason string) string {
	body := sha256.Sum256([]byte(amount.String() + "\n" + reason))
	return hex.EncodeToString(body[:])
}

// checkCorrection checks what every booking by an operator must have.
func checkCorrection(customer, reason, actor string, amount money.Nano) error {
	if err := checkNames("customer", customer, "reason", reason, "actor", actor); err != nil {
		return err
	}
	if amount == 0 {
		return fmt.Errorf("%w: an amount of zero", ErrInvalid)
	}
	return checkAmount("amount", max(amount, -amount))
}

// Reverse undoes a topup, settle or adjust, once each. It refuses with
// ErrNotFound, ErrNotReversible or ErrReversed.
func (l *Ledger) Reverse(ctx context.Context, txid, reason, actor string) (Transaction, error) {
	if err := checkNames("transaction", txid, "reason", reason, "actor", actor); err != nil {
		return Transaction{}, err
	}
	var (
		done     Transaction
		original stored
	)
	err := l.db.Read(ctx, func(q *store.Query) (err error) {
		original, err = byID(q, txid) // for its customer
		return err
	})
	if err != nil {
		return Transaction{}, fmt.Errorf("reversing %s: %w", txid, err)
	}
	reverse := func() error {
		return l.db.Write(ctx, func(tx *store.Tx) error {
			original, err := reversible(tx, txid)
			if err != nil {
				return err
			}
			done, err = l.post(tx, entry{
				kind: KindReverse, request: original.RequestID, customer: original.Customer, amount: original.amount,
				model:       original.model,
				postings:    reversePostings(original.Kind, original.Customer, original.model, original.amount),
				entryExtras: entryExtras{reason: reason, actor: actor, reverses: txid},
			})
			return err
		}, Expect(original.Customer, ""))
	}
	err = reverse()
	if errors.Is(err, store.ErrConflict) {
		err = reverse() // another call has reversed it, and is found now
	}
	if err != nil {
		return Transaction{}, fmt.Errorf("reversing %s: %w", txid, err)
	}
	return done, nil
}

func reversible(tx *store.Tx, txid string) (stored, error) {
	original, err := byID(tx, txid)
	if err != nil {
		return stored{}, err
	}
	switch original.Kind {
	case KindTopUp, KindSettle, KindAdjust:
	default:
		return stored{}, ErrNotReversible
	}
	var by string
	err = tx.QueryRow(selectReversal, []any{txid}, &by)
	if errors.Is(err, sql.ErrNoRows) {
		return original, nil
	}
	if err != nil {
		return stored{}, err
	}
	return stored{}, ErrReversed
}
