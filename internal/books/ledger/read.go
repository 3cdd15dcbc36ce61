package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"rubicon/internal/money"
	"rubicon/internal/store"
)

// reader is what a read transaction and a writing one have in common.
type reader interface {
	QueryRow(text string, args []any, dest ...any) error
	Each(text string, args []any, fn func(store.Rows) error) error
}

// stored is a transaction with the columns that its JSON does not show.
type stored struct {
	Transaction
	amount money.Nano
	model  string
}

const (
	defaultLimit = 100
	maxLimit     = 1000
)

// Balance reads a customer's balance; one without postings has none.
func (l *Ledger) Balance(ctx context.Context, customer string) (Balance, error) {
	var b Balance
	err := l.db.ReadSoon(ctx, func(q *store.Query) error {
		return q.QueryRow(selectBalance, []any{customer}, &b.Available, &b.Held)
	})
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return Balance{}, fmt.Errorf("balance of %s: %w", customer, err)
	}
	return b, nil
}

// Transactions lists newest first; next is the cursor of the following page or "".
func (l *Ledger) Transactions(ctx context.Context, f Filter) (list []Transaction, next string, err error) {
	where, args, err := f.where()
	if err != nil {
		return nil, "", err
	}
	limit := defaultLimit
	if f.Limit > 0 {
		limit = min(f.Limit, maxLimit)
	}
	var found []stored
	err = l.db.Read(ctx, func(q *store.Query) error {
		// One more than asked shows whether there is a next page.
		found, err = readTransactions(q, where, append(args, limit+1))
		return err
	})
	if err != nil {
		return nil, "", fmt.Errorf("listing transactions: %w", err)
	}
	if len(found) > limit {
		found = found[:limit]
		next = found[limit-1].ID
	}
	list = make([]Transaction, len(found))
	for i := range found {
		list[i] = found[i].Transaction
	}
	return list, next, nil
}

func (f Filter) where() (string, []any, error) {
	terms, args := []string{"1 = 1"}, []any{}
	if f.RequestID != "" {
		terms = append(terms, ofRequest)
		args = append(args, f.RequestID, f.RequestID, f.RequestID, f.RequestID, f.RequestID)
	}
	if f.Customer != "" {
		terms, args = append(terms, "customer = ?"), append(args, f.Customer)
	}
	switch f.Kind {
	case "":
	case KindTopUp, KindHold, KindSettle, KindRelease, KindCost, KindAdjust, KindReverse:
		// Spelled out, because partial indexes do not serve parameters.
		terms = append(terms, fmt.Sprintf("kind = '%s'", f.Kind))
	default:
		return "", nil, fmt.Errorf("%w: no kind %q", ErrInvalid, f.Kind)
	}
	if f.Cursor != "" {
		if !strings.HasPrefix(f.Cursor, "tx_") {
			return "", nil, ErrCursor
		}
		terms, args = append(terms, "id < ?"), append(args, f.Cursor)
	}
	return strings.Join(terms, " AND "), args, nil
}

func byID(r reader, id string) (stored, error) {
	found, err := readTransactions(r, "id = ?", []any{id, 1})
	if err == nil && len(found) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return stored{}, err
	}
	return found[0], nil
}

// readTransactions reads what where selects; the last argument is the limit.
func readTransactions(r reader, where string, args []any) ([]stored, error) {
	var list []stored
	err := r.Each(fmt.Sprintf(selectTransactions, where), args, func(row store.Rows) error {
		var (
			s    stored
			p    Posting
			at   int64
			meta string
		)
		err := row.Scan(&s.ID, &s.Kind, &s.RequestID, &s.Customer, &at, &s.amount, &s.model, &s.Attempt,
			&s.Reason, &s.Actor, &meta, &s.Reverses, &p.Account, &p.Amount)
		if err != nil {
			return err
		}
		if n := len(list); n == 0 || list[n-1].ID != s.ID {
			s.At, s.Meta = time.UnixMilli(at).UTC(), json.RawMessage(meta)
			list = append(list, s)
		}
		last := &list[len(list)-1]
		last.Postings = append(last.Postings, p)
		return nil
	})
	return list, err
}

// OpenHolds lists the holds to be resolved, oldest first.
func (l *Ledger) OpenHolds(ctx context.Context) (list []OpenHold, err error) {
	err = l.db.Read(ctx, func(q *store.Query) (err error) {
		list, err = l.OpenHoldsIn(q)
		return err
	})
	return list, err
}

// OpenHoldsIn is OpenHolds within a reading of more.
func (l *Ledger) OpenHoldsIn(q *store.Query) (list []OpenHold, err error) {
	err = q.Each(listOpenHolds, nil, func(row store.Rows) error {
		var (
			h  OpenHold
			at int64
		)
		if err := row.Scan(&h.Request, &h.Customer, &h.Model, &h.Amount, &at); err != nil {
			return err
		}
		h.At = time.UnixMilli(at).UTC()
		list = append(list, h)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing open holds: %w", err)
	}
	return list, nil
}

// HoldsWithoutRecord lists the requests whose hold is open and that do not run.
func (l *Ledger) HoldsWithoutRecord(q *store.Query) (requests []string, err error) {
	err = q.Each(listHoldsWithoutRecord, nil, func(row store.Rows) error {
		var request string
		err := row.Scan(&request)
		requests = append(requests, request)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listing stray holds: %w", err)
	}
	return requests, nil
}
