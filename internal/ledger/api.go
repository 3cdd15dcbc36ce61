package ledger

import (
	"context"

	"rubicon/internal/store"
)

// Hold moves the amount from available to held. It refuses with *Insufficient.
func (l *Ledger) Hold(tx *store.Tx, a HoldArgs) error { panic("not yet") }

// Settle turns a hold into revenue and gives the rest back (or takes more). It
// refuses with ErrNoHold, ErrResolved or ErrInvalid.
func (l *Ledger) Settle(tx *store.Tx, a SettleArgs) error { panic("not yet") }

// Release gives a hold back whole. It refuses with ErrNoHold or ErrResolved.
func (l *Ledger) Release(tx *store.Tx, request, reason string) error { panic("not yet") }

// Cost books an attempt's upstream cost. An amount of zero writes nothing.
func (l *Ledger) Cost(tx *store.Tx, a CostArgs) error { panic("not yet") }

// TopUp gives credit.
func (l *Ledger) TopUp(ctx context.Context, a TopUpArgs) (Transaction, error) { panic("not yet") }

// Adjust corrects a balance.
func (l *Ledger) Adjust(ctx context.Context, a AdjustArgs) (Transaction, error) { panic("not yet") }

// Reverse undoes a topup, settle or adjust, once each.
func (l *Ledger) Reverse(ctx context.Context, txid, reason, actor string) (Transaction, error) {
	panic("not yet")
}

// Balance reads a customer's balance; one without postings has none.
func (l *Ledger) Balance(ctx context.Context, customer string) (Balance, error) { panic("not yet") }

// Transactions lists newest first; next is the cursor of the following page or "".
func (l *Ledger) Transactions(ctx context.Context, f Filter) (list []Transaction, next string, err error) {
	panic("not yet")
}

// OpenHolds lists the holds to be resolved, oldest first.
func (l *Ledger) OpenHolds(ctx context.Context) ([]OpenHold, error) { panic("not yet") }

// Verify recomputes everything from the postings on one snapshot.
func (l *Ledger) Verify(ctx context.Context) (Report, error) { panic("not yet") }
