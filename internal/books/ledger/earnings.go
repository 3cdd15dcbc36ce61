package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"rubicon/internal/money"
	"rubicon/internal/store"
	"rubicon/internal/wire/ident"
)

// Earning is what one transaction did to revenue or to costs.
type Earning struct {
	Customer string
	Model    string // the public model; "" unknown
	Channel  string // of a cost; else the charge's meta says it
	Revenue  money.Nano
	Cost     money.Nano
	Absorbed money.Nano
	Reason   string          // why it was absorbed
	Meta     json.RawMessage // of the charge, or of the charge that is reversed
	Charged  int             // 1 for a charge, -1 for its reversal, else 0
}

// selectEarnings finds a cost's model with the request's hold, and its channel
// in its second posting.
const selectEarnings = `SELECT t.kind, t.customer, t.amount, t.model, t.reason, t.meta,
		COALESCE(h.model, ''), COALESCE(p.account, ''), COALESCE(o.kind, ''), COALESCE(o.model, ''), COALESCE(o.meta, '{}')
	FROM transactions t
	LEFT JOIN transactions h ON t.kind = 'cost' AND h.request_id = t.request_id AND h.kind = 'hold'
	LEFT JOIN postings p ON t.kind = 'cost' AND p.tx = t.id AND p.n = 1
	LEFT JOIN transactions o ON t.reverses <> '' AND o.id = t.reverses
	WHERE t.id >= ? AND t.id < ? AND t.at >= ? AND t.at < ? AND t.kind IN ('settle', 'cost', 'adjust', 'reverse')`

// idSlack is how far the time in an id may be from the transaction's: ids go on
// in order when a clock steps back.
const idSlack = 24 * time.Hour

// Earnings gives fn all that moved revenue, cost or absorbed cost from one
// moment up to another, in no order, on one snapshot.
func (l *Ledger) Earnings(ctx context.Context, from, to time.Time, fn func(Earning) error) error {
	args := []any{ident.First("tx", from.Add(-idSlack)), ident.First("tx", to.Add(idSlack)), from.UnixMilli(), to.UnixMilli()}
	err := l.db.Read(ctx, func(q *store.Query) error {
		return q.Each(selectEarnings, args, func(row store.Rows) error {
			var r earningRow
			err := row.Scan(&r.kind, &r.customer, &r.amount, &r.model, &r.reason, &r.meta, &r.heldModel, &r.account,
				&r.original, &r.originalModel, &r.originalMeta)
			if err != nil {
				return err
			}
			e, some := r.earning()
			if !some {
				return nil
			}
			return fn(e)
		})
	})
	if err != nil {
		return fmt.Errorf("reading what was earned: %w", err)
	}
	return nil
}

// earningRow is a row of selectEarnings.
type earningRow struct {
	kind, original                Kind
	customer, model, reason, meta string
	amount                        money.Nano
	heldModel, account            string
	originalModel, originalMeta   string
}

func (r earningRow) earning() (e Earning, some bool) {
	e = Earning{Customer: r.customer, Model: r.model, Meta: json.RawMessage(r.meta)}
	switch {
	case r.kind == KindSettle:
		e.Revenue, e.Charged = r.amount, 1
	case r.kind == KindAdjust:
		e.Revenue = -r.amount
	case r.kind == KindReverse && r.original == KindSettle:
		e.Revenue, e.Charged = -r.amount, -1
		e.Model, e.Meta = r.originalModel, json.RawMessage(r.originalMeta)
	case r.kind == KindReverse && r.original == KindAdjust:
		e.Revenue, e.Model = r.amount, r.originalModel
	case r.kind == KindCost:
		e.Model = r.heldModel
		if channel, ok := strings.CutPrefix(r.account, absorbedOf("")); ok {
			e.Channel, e.Absorbed, e.Reason = channel, r.amount, r.reason
		} else {
			e.Channel, e.Cost = strings.TrimPrefix(r.account, costOf("")), r.amount
		}
		return e, true
	}
	return e, e.Model != "" // against the world it is no revenue
}
