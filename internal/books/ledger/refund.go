package ledger

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"rubicon/internal/money"
	"rubicon/internal/store"
)

// Refund is a charge that was given back: the reversal of a settlement.
type Refund struct {
	Amount money.Nano `json:"amount"`
	At     time.Time  `json:"at"`
	Reason string     `json:"reason"`
}

// refundsAtOnce bounds the parameters of one statement.
const refundsAtOnce = 500

// Refunds finds which of the requests were given their charge back.
func Refunds(q *store.Query, requests []string) (map[string]Refund, error) {
	found := map[string]Refund{}
	for some := range slices.Chunk(requests, refundsAtOnce) {
		args := make([]any, len(some))
		for i, id := range some {
			args[i] = id
		}
		text := fmt.Sprintf(selectRefunds, strings.TrimSuffix(strings.Repeat("?, ", len(some)), ", "))
		err := q.Each(text, args, func(row store.Rows) error {
			var (
				request string
				r       Refund
				at      int64
			)
			if err := row.Scan(&request, &r.Amount, &at, &r.Reason); err != nil {
				return err
			}
			r.At = time.UnixMilli(at).UTC()
			found[request] = r
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("reading refunds: %w", err)
		}
	}
	return found, nil
}
