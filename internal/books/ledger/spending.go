package ledger

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"rubicon/internal/money"
	"rubicon/internal/store"
)

// allDays is the day under which all that a key ever spent is summed.
const allDays int64 = 0

// dayOf counts days of UTC from 1970.
func dayOf(t time.Time) int64 { return t.Unix() / (24 * 60 * 60) }

// spending is what keys spend and hold in one database transaction, gathered
// like the balances in a book. What a key has spent is kept in rows of a day
// each and one for ever; what it holds is the sum of its open holds, so that
// nothing can run apart.
type spending struct {
	keys map[string]*spent
}

// spent is one key inside the transaction.
type spent struct {
	read map[int64]money.Nano // by the first day of a period, as read from the rows
	held *money.Nano          // as read from the rows; nil: not read yet

	days map[int64]money.Nano // charged and not yet written, by day
	more money.Nano           // held and not yet written
}

type spendingKey struct{}

func spendingOf(tx *store.Tx) *spending {
	return tx.Pending(spendingKey{}, func() store.Pending { return &spending{keys: map[string]*spent{}} }).(*spending)
}

func (s *spending) key(id string) *spent {
	k := s.keys[id]
	if k == nil {
		k = &spent{read: map[int64]money.Nano{}, days: map[int64]money.Nano{}}
		s.keys[id] = k
	}
	return k
}

// allow refuses a hold that its key's budget does not cover, with *OverBudget.
func (s *spending) allow(tx *store.Tx, a HoldArgs) error {
	if a.Budget == nil {
		return nil
	}
	if err := checkNames("key", a.Key); err != nil {
		return err
	}
	k, since := s.key(a.Key), allDays
	if !a.Budget.Since.IsZero() {
		since = dayOf(a.Budget.Since)
	}
	if err := k.load(tx, a.Key, since); err != nil {
		return fmt.Errorf("the budget of %s: %w", a.Key, err)
	}
	spent, held := k.since(since), *k.held+k.more
	// None of them is above the bound of an amount; only their sum may be.
	if total, err := money.Sum(spent, held, a.Amount); err != nil || total > a.Budget.Amount {
		return &OverBudget{Budget: a.Budget.Amount, Spent: spent, Held: held, Required: a.Amount}
	}
	return nil
}

// load reads the spending from the database, once.
func (k *spent) load(tx *store.Tx, id string, since int64) error {
	if _, ok := k.read[since]; !ok {
		var sum money.Nano
		text, args := selectSpentEver, []any{id}
		if since != allDays {
			text, args = selectSpentSince, []any{id, since}
		}
		if err := tx.QueryRow(text, args, &sum); err != nil {
			return err
		}
		k.read[since] = sum
	}
	if k.held == nil {
		var sum money.Nano
		if err := tx.QueryRow(selectHeldOfKey, []any{id}, &sum); err != nil {
			return err
		}
		k.held = &sum
	}
	return nil
}

// since sums what was spent in a period, the part that is not written included.
func (k *spent) since(first int64) money.Nano {
	sum := k.read[first]
	for day, amount := range k.days {
		if day >= first {
			sum += amount
		}
	}
	return sum
}

// hold notes that a budget's key holds more, or less.
func (s *spending) hold(key string, amount money.Nano) { s.key(key).more += amount }

// charge notes what a request of the key cost.
func (s *spending) charge(key string, amount money.Nano, now time.Time) {
	s.key(key).days[dayOf(now)] += amount
}

// Flush puts the changed rows with the others to be sent. Afterwards what was
// read is older than the rows.
func (s *spending) Flush(tx *store.Tx) error {
	ids := make([]string, 0, len(s.keys))
	for id := range s.keys {
		ids = append(ids, id)
	}
	// In one order everywhere, or two nodes could wait for each other.
	slices.SortFunc(ids, strings.Compare)
	for _, id := range ids {
		for day, amount := range s.keys[id].days {
			if amount != 0 {
				tx.Insert(addSpending, id, day, int64(amount))
			}
		}
		if sum := s.keys[id].since(allDays) - s.keys[id].read[allDays]; sum != 0 {
			tx.Insert(addSpending, id, allDays, int64(sum))
		}
	}
	clear(s.keys)
	return nil
}

// keptDays is how many days of spending are kept one by one: more than any
// period has.
const keptDays = 62

// ForgetDays deletes the days that no budget counts any more. What a key ever
// spent stays.
func (l *Ledger) ForgetDays(ctx context.Context) error {
	err := l.db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(deleteSpending, dayOf(l.now())-keptDays)
		return err
	})
	if err != nil {
		return fmt.Errorf("forgetting old days of spending: %w", err)
	}
	return nil
}
