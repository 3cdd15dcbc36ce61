package alert

import (
	"context"
	"fmt"
	"time"

	"rubicon/internal/store"
)

const (
	firstRetry = 2 * time.Second
	lastRetry  = 5 * time.Minute
	giveUp     = 24 * time.Hour // after the alert
	page       = 32
)

// pendingDelivery is an alert to deliver.
type pendingDelivery struct {
	Alert
	tries int
}

// deliver sends what is pending until ctx ends. The table is the queue, so
// that a restart loses nothing; a delivery whose success could not be noted is
// repeated, and the receiver recognises it by its id.
func (b *Book) deliver(ctx context.Context) {
	for {
		wait := b.deliverDue(ctx)
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-b.wakeDeliveries:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// idle is how long to wait where nothing is known to be due.
const idle = time.Minute

// deliverDue delivers what is due and returns how long to wait for the next.
func (b *Book) deliverDue(ctx context.Context) time.Duration {
	for ctx.Err() == nil {
		list, err := b.due(ctx)
		if err != nil {
			b.logError(ctx, "reading alerts to deliver", err)
			return retryWrite
		}
		if len(list) == 0 {
			return b.untilNext(ctx)
		}
		for _, d := range list {
			if err := b.deliverOne(ctx, d); err != nil {
				b.logError(ctx, "noting a delivered alert", err)
				return retryWrite
			}
		}
	}
	return idle
}

// deliverOne sends one alert and notes what came of it.
func (b *Book) deliverOne(ctx context.Context, d pendingDelivery) error {
	target := b.Target()
	if !target.set() { // switched off meanwhile
		return b.note(ctx, updateNobody)
	}
	err := b.hook.send(ctx, target, d.Alert, b.Now())
	switch now := b.Now(); {
	case err == nil:
		return b.note(ctx, updateSent, d.ID)
	case ctx.Err() != nil:
		return nil // it stays pending
	case now.Sub(d.At) >= giveUp:
		b.Log.Error("alert not delivered, given up", "id", d.ID, "kind", d.Kind, "tries", d.tries+1, "error", err)
		return b.note(ctx, updateGivenUp, d.ID)
	default:
		wait := min(firstRetry<<min(d.tries, 20), lastRetry)
		b.Log.Warn("alert not delivered yet", "id", d.ID, "kind", d.Kind, "tries", d.tries+1, "again_in", wait, "error", err)
		return b.note(ctx, updateRetry, now.Add(wait).UnixMilli(), d.ID)
	}
}

func (b *Book) due(ctx context.Context) (list []pendingDelivery, err error) {
	err = b.DB.Read(ctx, func(q *store.Query) error {
		list = nil
		return q.Each(selectDue, []any{b.Now().UnixMilli(), page}, func(r store.Rows) (err error) {
			var d pendingDelivery
			d.Alert, err = scan(r, &d.tries)
			list = append(list, d)
			return err
		})
	})
	return list, err
}

// untilNext is how long until something is due again.
func (b *Book) untilNext(ctx context.Context) time.Duration {
	next, _, err := b.pending(ctx)
	if err != nil || next == 0 {
		return idle
	}
	return max(time.UnixMilli(next).Sub(b.Now()), time.Millisecond)
}

// Pending is how many alerts wait for the webhook.
func (b *Book) Pending(ctx context.Context) (int64, error) {
	_, n, err := b.pending(ctx)
	return n, err
}

func (b *Book) pending(ctx context.Context) (next, count int64, err error) {
	err = b.DB.Read(ctx, func(q *store.Query) error { return q.QueryRow(selectNextTry, nil, &next, &count) })
	return next, count, err
}

func (b *Book) note(ctx context.Context, text string, args ...any) error {
	return b.DB.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(text, args...)
		return err
	})
}

func (b *Book) logError(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		b.Log.Warn(fmt.Sprintf("%s; trying again", what), "error", err)
	}
}
