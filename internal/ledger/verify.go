package ledger

import (
	"context"

	"rubicon/internal/store"
)

// Verify recomputes everything from the postings on one snapshot.
func (l *Ledger) Verify(ctx context.Context) (Report, error) { panic("not yet") }

var _ = store.ErrClosed
