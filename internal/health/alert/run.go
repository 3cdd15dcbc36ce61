package alert

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"rubicon/internal/store"
)

const (
	retryWrite = time.Second      // between tries while the database is away
	lastWrite  = 5 * time.Second  // for what is queued when Run ends
	sweepEvery = 10 * time.Minute // for alerts that have no end of their own
	maxBatch   = 64               // alerts in one transaction
)

// Run writes and delivers alerts until ctx ends; what is queued then is still
// written. It returns nil.
func (b *Book) Run(ctx context.Context) error {
	var deliveries sync.WaitGroup
	deliveries.Go(func() { b.deliver(ctx) })
	defer deliveries.Wait()
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	for {
		select {
		case <-ctx.Done():
			last, done := context.WithTimeout(context.WithoutCancel(ctx), lastWrite)
			defer done()
			b.writeQueued(last)
			return nil
		case n := <-b.queue:
			b.writeBatch(ctx, n)
		case <-sweep.C:
			b.sweep(ctx)
		}
	}
}

// writeQueued writes what is queued.
func (b *Book) writeQueued(ctx context.Context) {
	for {
		select {
		case n := <-b.queue:
			b.writeBatch(ctx, n)
		default:
			return
		}
	}
}

// writeBatch logs and writes an entry with those that wait behind it. It tries until
// the database takes them: there is no other place for them.
func (b *Book) writeBatch(ctx context.Context, first entry) {
	list := []entry{first}
	for more := true; more && len(list) < maxBatch; {
		select {
		case n := <-b.queue:
			list = append(list, n)
		default:
			more = false
		}
	}
	for _, n := range list {
		b.logLine(n)
	}
	for told := false; ; told = true {
		err := b.write(context.WithoutCancel(ctx), list)
		if err == nil {
			break
		}
		if !told {
			b.Log.Error("writing alerts; trying again", "alerts", len(list), "error", err)
		}
		if ctx.Err() != nil {
			b.Log.Error("alerts did not reach the database", "alerts", len(list), "error", err)
			return
		}
		sleep(ctx, retryWrite)
	}
	b.wake()
}

// logLine is the alert's line in the log.
func (b *Book) logLine(n entry) {
	level := slog.LevelWarn
	if n.State == Resolved {
		level = slog.LevelInfo
	}
	b.Log.Log(context.Background(), level, "alert", "kind", n.Kind, "state", n.State, "message", n.Message, "id", n.ID)
}

// sweep ends the alerts that have lasted for their time.
func (b *Book) sweep(ctx context.Context) {
	now := b.Now()
	b.mu.Lock()
	for s, f := range b.open {
		if lasts := kinds[s.kind].lasts; lasts > 0 && !now.Before(f.at.Add(lasts)) {
			delete(b.open, s)
		}
	}
	b.mu.Unlock()
	err := b.DB.Write(ctx, func(tx *store.Tx) error {
		for name, rule := range kinds {
			if rule.lasts == 0 {
				continue
			}
			if _, err := tx.Exec(resolveOld, string(name), now.Add(-rule.lasts).UnixMilli()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		b.Log.Warn("ending old alerts", "error", err)
	}
}

// wake lets the deliveries look again.
func (b *Book) wake() {
	select {
	case b.wakeDeliveries <- struct{}{}:
	default:
	}
}

// sleep waits; false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
