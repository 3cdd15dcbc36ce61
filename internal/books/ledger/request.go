package ledger

import (
	"fmt"

	"rubicon/internal/money"
	"rubicon/internal/store"
)

// Hold moves the amount from available to held. It refuses with *Insufficient,
// or with *OverBudget. A second hold of the same request fails with store.ErrConflict.
func (l *Ledger) Hold(tx *store.Tx, a HoldArgs) error {
	e := entry{kind: KindHold, request: a.Request, customer: a.Customer, model: a.Model, amount: a.Amount, rawMeta: a.Meta}
	if err := checkNames("request", a.Request, "customer", a.Customer, "model", a.Model); err != nil {
		return err
	}
	if err := checkAmount("hold", min(a.Amount, maxAmount)); err != nil {
		return err
	}
	book := pendingOf(tx)
	balance, err := book.balance(tx, a.Customer)
	if err != nil {
		return fmt.Errorf("holding for %s: %w", a.Request, err)
	}
	if available := balance.Available; available < 0 || available < a.Amount {
		return &Insufficient{Available: available, Required: a.Amount}
	}
	if a.Amount > maxAmount { // beyond what one transaction may move
		return &Insufficient{Available: balance.Available, Required: a.Amount}
	}
	// The lock on the customer's balance, just taken, covers its keys' too.
	if err := spendingOf(tx).allow(tx, a); err != nil {
		return err
	}
	e.postings = holdPostings(a.Customer, a.Amount)
	done, err := l.post(tx, e)
	if err != nil {
		return fmt.Errorf("holding for %s: %w", a.Request, err)
	}
	h := hold{customer: a.Customer, model: a.Model, amount: a.Amount}
	row := []any{a.Request, a.Customer, a.Model, int64(a.Amount), done.At.UnixMilli()}
	if a.Budget == nil {
		tx.Insert(insertOpenHold, row...)
	} else {
		h.key = a.Key
		spendingOf(tx).hold(a.Key, a.Amount)
		tx.Insert(insertHoldOfKey, append(row, a.Key)...)
	}
	book.holds[a.Request] = h
	return nil
}

// Settle turns a hold into revenue and gives the rest back, or takes more than
// was held. It refuses with ErrNoHold, ErrResolved or ErrInvalid.
func (l *Ledger) Settle(tx *store.Tx, a SettleArgs) error {
	if err := checkAmount("charge", a.Charge); err != nil {
		return err
	}
	h, err := pendingOf(tx).hold(tx, a.Request)
	if err != nil {
		return fmt.Errorf("settling %s: %w", a.Request, err)
	}
	if a.Customer != h.customer || a.Model != h.model {
		return fmt.Errorf("settling %s: %w: the hold is of customer %s and model %s", a.Request, ErrInvalid, h.customer, h.model)
	}
	err = l.resolve(tx, h, entry{
		kind: KindSettle, request: a.Request, customer: a.Customer, model: a.Model, amount: a.Charge, rawMeta: a.Meta,
		postings: settlePostings(a.Customer, a.Model, h.amount, a.Charge),
	})
	if err == nil && a.Key != "" {
		spendingOf(tx).charge(a.Key, a.Charge, l.now())
	}
	return err
}

// Release gives a hold back whole. It refuses with ErrNoHold or ErrResolved.
func (l *Ledger) Release(tx *store.Tx, request, reason string) error {
	h, err := pendingOf(tx).hold(tx, request)
	if err != nil {
		return fmt.Errorf("releasing %s: %w", request, err)
	}
	return l.resolve(tx, h, entry{
		kind: KindRelease, request: request, customer: h.customer, model: h.model, amount: h.amount,
		entryExtras: entryExtras{reason: reason},
		postings:    releasePostings(h.customer, h.amount),
	})
}

func (l *Ledger) resolve(tx *store.Tx, h hold, e entry) error {
	if _, err := l.post(tx, e); err != nil {
		return fmt.Errorf("%s of %s: %w", e.kind, e.request, err)
	}
	if h.key != "" {
		spendingOf(tx).hold(h.key, -h.amount)
	}
	h.resolved = true
	pendingOf(tx).holds[e.request] = h
	tx.Delete(deleteOpenHold, e.request)
	return nil
}

// Cost books what an attempt cost upstream, once per attempt. An amount of
// zero writes nothing: it would move nothing, and where no cost is configured
// it would double the ledger.
func (l *Ledger) Cost(tx *store.Tx, a CostArgs) error {
	if a.Amount == 0 {
		return nil
	}
	if err := checkNames("request", a.Request, "channel", a.Channel); err != nil {
		return err
	}
	if err := checkAmount("cost", a.Amount); err != nil {
		return err
	}
	_, err := l.post(tx, entry{
		kind: KindCost, request: a.Request, customer: a.Customer, amount: a.Amount, attempt: a.Attempt,
		entryExtras: entryExtras{reason: a.Reason},
		postings:    costPostings(a.Channel, a.Amount, a.Absorbed),
	})
	if err != nil {
		return fmt.Errorf("cost of %s: %w", a.Request, err)
	}
	return nil
}

// changeOf sums what postings do to one customer's balance.
func changeOf(customer string, postings []Posting) Balance {
	var change Balance
	for _, p := range postings {
		switch p.Account {
		case availableOf(customer):
			change.Available += p.Amount
		case heldOf(customer):
			change.Held += p.Amount
		}
	}
	return change
}

// balanced wants what every transaction must be.
func balanced(postings []Posting) error {
	if len(postings) < 2 {
		return fmt.Errorf("%w: fewer than two postings", ErrInvalid)
	}
	var sum money.Nano
	for _, p := range postings {
		var err error
		if sum, err = sum.Add(p.Amount); err != nil {
			return err
		}
	}
	if sum != 0 {
		return fmt.Errorf("%w: postings sum to %s", ErrInvalid, sum)
	}
	return nil
}
