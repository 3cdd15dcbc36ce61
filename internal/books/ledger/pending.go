package ledger

import (
	"database/sql"
	"errors"
	"maps"
	"slices"

	"rubicon/internal/money"
	"rubicon/internal/store"
)

// pending is what the ledger gathers over one database transaction: the balances
// that its requests move and the holds they open and close. Balances are read
// once and written once, however many requests of a customer share the
// transaction.
type pending struct {
	balances map[string]*pendingBalance
	order    []string // customers in the order they came: the same run writes the same
	holds    map[string]hold

	// What the operations announced, to be read at once.
	customers, requests map[string]bool
}

// pendingBalance is a customer's balance inside the transaction.
type pendingBalance struct {
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
	unknown         bool // not open, and not known whether it ever was
}

type pendingKey struct{}

func pendingOf(tx *store.Tx) *pending {
	return tx.Pending(pendingKey{}, func() store.Pending {
		return &pending{balances: map[string]*pendingBalance{}, holds: map[string]hold{}, customers: map[string]bool{}, requests: map[string]bool{}}
	}).(*pending)
}

// Expect announces to store.Write that the operation moves a customer's balance
// or, if there is a request, resolves its hold. The rows of all operations of a
// transaction are then read at once, and locked in one order on every node.
// What is not announced works too, one by one.
func Expect(customer, request string) func(tx *store.Tx) {
	return func(tx *store.Tx) {
		b := pendingOf(tx)
		b.customers[customer] = true
		if request != "" {
			b.requests[request] = true
		}
	}
}

// Load reads what was announced.
func (b *pending) Load(tx *store.Tx) {
	customers := slices.Sorted(maps.Keys(b.customers))
	for _, customer := range customers {
		b.balances[customer] = &pendingBalance{}
	}
	b.order = append(b.order, customers...)
	tx.Preload(selectBalances, customers, func(row store.Rows) error {
		var (
			customer string
			r        = pendingBalance{exists: true}
		)
		err := row.Scan(&customer, &r.Available, &r.Held)
		b.balances[customer] = &r
		return err
	})
	requests := slices.Sorted(maps.Keys(b.requests))
	for _, request := range requests {
		b.holds[request] = hold{unknown: true}
	}
	tx.Preload(selectOpenHolds, requests, func(row store.Rows) error {
		var (
			request string
			h       hold
		)
		err := row.Scan(&request, &h.customer, &h.model, &h.amount, &h.key)
		b.holds[request] = h
		return err
	})
}

func (b *pending) balance(tx *store.Tx, customer string) (*pendingBalance, error) {
	if r := b.balances[customer]; r != nil {
		return r, nil
	}
	r := &pendingBalance{exists: true}
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
func (r *pendingBalance) move(change Balance) error {
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
func (b *pending) hold(tx *store.Tx, request string) (hold, error) {
	h, ok := b.holds[request]
	var err error
	switch {
	case !ok:
		h, err = readHold(tx, request)
	case h.unknown:
		h, err = readResolved(tx, request)
	}
	if err != nil {
		return hold{}, err
	}
	b.holds[request] = h
	if h.resolved {
		return hold{}, ErrResolved
	}
	return h, nil
}

func readHold(tx *store.Tx, request string) (h hold, err error) {
	err = tx.QueryRow(selectOpenHold+tx.ForUpdate(), []any{request}, &h.customer, &h.model, &h.amount, &h.key)
	if errors.Is(err, sql.ErrNoRows) {
		return readResolved(tx, request)
	}
	return h, err
}

// readResolved distinguishes a hold that is resolved from one that never existed.
func readResolved(tx *store.Tx, request string) (hold, error) {
	var one int
	err := tx.QueryRow(selectAnyHold, []any{request}, &one)
	if errors.Is(err, sql.ErrNoRows) {
		return hold{}, ErrNoHold
	}
	return hold{resolved: true}, err
}

// Flush sends the changed balances. They travel as differences, so that a row
// that appeared meanwhile still comes out right.
func (b *pending) Flush(tx *store.Tx) error {
	for _, customer := range b.order {
		r := b.balances[customer]
		if r.change == (Balance{}) {
			continue
		}
		available, held := int64(r.change.Available), int64(r.change.Held)
		if r.exists {
			tx.Add(addToBalance, customer, available, held)
		} else {
			tx.Insert(insertBalance, customer, available, held)
		}
		r.exists, r.change = true, Balance{}
	}
	return nil
}
