package ledger

import (
	"database/sql"
	"errors"

	"rubicon/internal/money"
	"rubicon/internal/store"
)

// book is what the ledger gathers over one database transaction: the balances
// that its requests move and the holds they open and close. Balances are read
// once and written once, however many requests of a customer share the
// transaction.
type book struct {
	balances map[string]*running
	order    []string // customers in the order they came: the same run writes the same
	holds    map[string]hold
}

// running is a customer's balance inside the transaction.
type running struct {
	Balance
	change Balance // not yet written
	exists bool    // has a row
}

// hold is a request's hold as the transaction sees it.
type hold struct {
	customer, model string
	amount          money.Nano
	key             string // "" unless a budget counts it
	resolved        bool
}

type bookKey struct{}

func bookOf(tx *store.Tx) *book {
	return tx.Pending(bookKey{}, func() store.Pending {
		return &book{balances: map[string]*running{}, holds: map[string]hold{}}
	}).(*book)
}

func (b *book) balance(tx *store.Tx, customer string) (*running, error) {
	if r := b.balances[customer]; r != nil {
		return r, nil
	}
	r := &running{exists: true}
	err := tx.QueryRow(selectBalance+tx.ForUpdate(), []any{customer}, &r.Available, &r.Held)
	if errors.Is(err, sql.ErrNoRows) {
		r.exists, err = false, nil
	}
	if err != nil {
		return nil, err
	}
	b.balances[customer] = r
	b.order = append(b.order, customer)
	return r, nil
}

// move adds to a balance, or changes nothing and returns an error.
func (r *running) move(change Balance) error {
	available, err := r.Available.Add(change.Available)
	if err != nil {
		return err
	}
	held, err := r.Held.Add(change.Held)
	if err != nil {
		return err
	}
	r.Balance = Balance{available, held}
	r.change.Available += change.Available
	r.change.Held += change.Held
	return nil
}

// hold finds a request's open hold; ErrNoHold, ErrResolved.
func (b *book) hold(tx *store.Tx, request string) (hold, error) {
	h, ok := b.holds[request]
	if !ok {
		var err error
		if h, err = readHold(tx, request); err != nil {
			return hold{}, err
		}
		b.holds[request] = h
	}
	if h.resolved {
		return hold{}, ErrResolved
	}
	return h, nil
}

func readHold(tx *store.Tx, request string) (h hold, err error) {
	err = tx.QueryRow(selectOpenHold+tx.ForUpdate(), []any{request}, &h.customer, &h.model, &h.amount, &h.key)
	if !errors.Is(err, sql.ErrNoRows) {
		return h, err
	}
	var one int
	err = tx.QueryRow(selectAnyHold, []any{request}, &one)
	if errors.Is(err, sql.ErrNoRows) {
		return h, ErrNoHold
	}
	return hold{resolved: true}, err
}

// Flush writes the changed balances. They are written as differences, so that
// a row that appeared meanwhile would still come out right.
func (b *book) Flush(tx *store.Tx) error {
	for _, customer := range b.order {
		r := b.balances[customer]
		if r.change == (Balance{}) {
			continue
		}
		change := []any{int64(r.change.Available), int64(r.change.Held), customer}
		text := updateBalance
		if !r.exists {
			text = insertBalance
		}
		if _, err := tx.Exec(text, change...); err != nil {
			return err
		}
		r.exists, r.change = true, Balance{}
	}
	return nil
}
