package app

import (
	"context"
	"fmt"
	"time"

	"rubicon/internal/books/ledger"
	"rubicon/internal/health/alert"
)

// The ledger is recomputed once a day, and first when the work of starting is
// long over: it reads all of it.
const (
	verifyFirst = time.Hour
	verifyEvery = 24 * time.Hour
)

// verify recomputes the ledger and tells operators what came of it, whoever
// asked.
func (a *App) verify(ctx context.Context) (ledger.Report, error) {
	r, err := a.ledger.Verify(ctx)
	switch {
	case err != nil:
	case r.OK:
		a.alerts.Raise(alert.Event{Kind: alert.LedgerAgrees})
	default:
		a.alerts.Raise(alert.Event{Kind: alert.LedgerDifference,
			Reason: fmt.Sprintf("%d differences, the first: %s; rubicon verify lists them", len(r.Differences), r.Differences[0])})
	}
	return r, err
}

// verifyDaily keeps looking, so that a difference is known before somebody
// asks.
func (a *App) verifyDaily(ctx context.Context) error {
	for wait := verifyFirst; ; wait = verifyEvery {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		if _, err := a.verify(ctx); err != nil && ctx.Err() == nil {
			a.log.Warn("the ledger could not be verified; tried again tomorrow, or with rubicon verify", "error", err)
		}
	}
}
