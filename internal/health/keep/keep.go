// Package keep stores health over restarts: the registry's snapshot, what
// operators ordered so far included, as one row of the database.
//
// It is not for deciding what of a snapshot still holds; Registry.Import does.
//
// Invariants: when Save returns nil, everything that the registry knew when it
// was called is durable; an older snapshot never replaces a newer one; noting a
// change never waits.
package keep

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"rubicon/internal/health"
	"rubicon/internal/store"
)

const (
	// A change is written as soon as it is known, so that a kill -9 loses almost
	// nothing. Where channels change all the time, burst changes are written at once
	// and then one every spacing, with all changes since the last.
	spacing          = 250 * time.Millisecond
	maxBurst         = 8
	retryAfter       = time.Second     // between attempts that failed
	lastWriteTimeout = 5 * time.Second // for the write at the end of Run
)

const (
	upsert = `INSERT INTO health (node, at, body, orders) VALUES (?, ?, ?, ?)
		ON CONFLICT (node) DO UPDATE SET at = excluded.at, body = excluded.body, orders = excluded.orders`
	read    = "SELECT body, orders FROM health WHERE node = ?"
	readAny = "SELECT body, orders FROM health ORDER BY at DESC LIMIT 1"
)

// Saver keeps the health of one node.
type Saver struct {
	db      *store.DB
	health  *health.Registry
	node    string
	orders  func() int64 // the last order that the registry knows of
	log     *slog.Logger
	changed chan struct{}
	saving  sync.Mutex // snapshots are taken and written one at a time
}

// New makes a Saver. Run must be called for changes to be written.
func New(db *store.DB, r *health.Registry, node string, orders func() int64, log *slog.Logger) *Saver {
	return &Saver{db: db, health: r, node: node, orders: orders, log: log, changed: make(chan struct{}, 1)}
}

// Load imports into the registry what the last run saved, or else what another
// node saved last: a restarted node has a new name. Configure must be called
// first. If the database cannot be read, that is an error; a snapshot whose
// content cannot be read is ignored. It returns the last order that is part of the
// snapshot.
func (k *Saver) Load(ctx context.Context) (orders int64, err error) {
	var body string
	err = k.db.Read(ctx, func(q *store.Query) error {
		err := q.QueryRow(read, []any{k.node}, &body, &orders)
		if errors.Is(err, sql.ErrNoRows) {
			err = q.QueryRow(readAny, nil, &body, &orders)
		}
		return err
	})
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("reading the health of the last run: %w", err)
	}
	var s health.Snapshot
	if err := json.Unmarshal([]byte(body), &s); err != nil {
		k.log.Warn("stored health cannot be read; starting without it", "error", err)
		return 0, nil
	}
	k.health.Import(s, time.Now())
	return orders, nil
}

// Changed notes that there is something to save.
func (k *Saver) Changed() {
	select {
	case k.changed <- struct{}{}:
	default:
	}
}

// Save writes a snapshot of now.
func (k *Saver) Save(ctx context.Context) error {
	k.saving.Lock()
	defer k.saving.Unlock()
	// Before the snapshot: what it knows already may come again, in the same
	// sequence; what it does not know must not be missed.
	orders := k.orders()
	s := k.health.Export()
	body, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encoding health: %w", err)
	}
	err = k.db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(upsert, k.node, s.At.UnixMilli(), string(body), orders)
		return err
	})
	if err != nil {
		return fmt.Errorf("saving health: %w", err)
	}
	return nil
}

// Run saves what changed, at once or a little later, until ctx ends; then once
// more. It returns nil.
func (k *Saver) Run(ctx context.Context) error {
	pace := spacer{}
	for k.wait(ctx, &pace) {
		if err := k.Save(ctx); err != nil && ctx.Err() == nil {
			k.log.Warn("health is not saved yet", "error", err)
			k.Changed()
			pace.delay(time.Now())
		}
	}
	end, done := context.WithTimeout(context.WithoutCancel(ctx), lastWriteTimeout)
	defer done()
	if err := k.Save(end); err != nil {
		k.log.Error("health is not saved: the next start uses the last saved state", "error", err)
	}
	return nil
}

// wait waits for a change, and until it may be written; false when ctx ended.
func (k *Saver) wait(ctx context.Context, p *spacer) bool {
	select {
	case <-ctx.Done():
		return false
	case <-k.changed:
	}
	t := time.NewTimer(p.next(time.Now()))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// spacer spaces writes: burst of them at once, one every spacing in the long run.
type spacer struct{ due time.Time }

// next is how long the next write waits from now on.
func (p *spacer) next(now time.Time) time.Duration {
	if now.After(p.due) {
		p.due = now
	}
	wait := max(0, p.due.Sub(now)-(maxBurst-1)*spacing)
	p.due = p.due.Add(spacing)
	return wait
}

// delay lets the next write wait for again: the database is away.
func (p *spacer) delay(now time.Time) { p.due = now.Add(retryAfter + (maxBurst-1)*spacing) }
