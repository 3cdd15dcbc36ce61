// Package orders carries what operators order about channels to every node
// that serves from the same database, and over restarts.
//
// It is not for what an order does; that is in the registry of package health.
//
// Invariants: an order that Give took is durable and is applied on each node
// once while it runs, in the same sequence everywhere; none is ever deleted.
package orders

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"rubicon/internal/store"
)

// Order is what one operator ordered. What does not apply to its action is empty.
type Order struct {
	Action      string `json:"action"`
	Channel     string `json:"channel"`
	Credential  string `json:"credential,omitempty"`
	PublicModel string `json:"public_model,omitempty"`
	Weight      int    `json:"weight,omitempty"`
	Reason      string `json:"reason,omitempty"`
	Actor       string `json:"actor"`
}

const (
	nextNumber  = "UPDATE channel_orders_last SET number = number + 1 WHERE only_row = 1"
	selectLast  = "SELECT number FROM channel_orders_last WHERE only_row = 1"
	insert      = "INSERT INTO channel_orders (number, at, node, body) VALUES (?, ?, ?, ?)"
	selectAfter = "SELECT number, node, body FROM channel_orders WHERE number > ? ORDER BY number"
)

// Apply carries out an order; given means that this process received it. It
// must not call the Log.
type Apply func(o Order, given bool)

// Log is the orders as one process knows them.
type Log struct {
	db    *store.DB
	self  string
	apply Apply

	mu   sync.Mutex
	seen int64
}

// New makes a Log. Begin sets where it begins.
func New(db *store.DB, apply Apply) *Log { return &Log{db: db, self: rand.Text(), apply: apply} }

// Begin applies what was ordered after the order seen.
func (l *Log) Begin(ctx context.Context, seen int64) error {
	l.mu.Lock()
	l.seen = seen
	l.mu.Unlock()
	return l.Follow(ctx)
}

// Seen is the number of the last order that was applied here.
func (l *Log) Seen() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seen
}

// Add makes an order durable and applies it, after those that were given
// elsewhere meanwhile. After an error nothing of it was applied here; it may still come
// with Follow if the error is store.ErrUncertain or Follow's.
func (l *Log) Add(ctx context.Context, o Order) error {
	body, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("encoding an order: %w", err)
	}
	err = l.db.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.Exec(nextNumber); err != nil {
			return err
		}
		var number int64
		if err := tx.QueryRow(selectLast, nil, &number); err != nil {
			return err
		}
		_, err := tx.Exec(insert, number, time.Now().UnixMilli(), l.self, string(body))
		return err
	})
	if err != nil {
		return fmt.Errorf("writing an order: %w", err)
	}
	return l.Follow(ctx)
}

// Follow applies what was ordered since the last time, here or elsewhere.
func (l *Log) Follow(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	list, err := l.read(ctx)
	if err != nil {
		return fmt.Errorf("reading orders: %w", err)
	}
	for _, n := range list {
		l.seen = n.number
		var o Order
		// An order that a newer version wrote is left out.
		if json.Unmarshal([]byte(n.body), &o) == nil {
			l.apply(o, n.node == l.self)
		}
	}
	return nil
}

type numbered struct {
	number     int64
	node, body string
}

func (l *Log) read(ctx context.Context) (list []numbered, err error) {
	err = l.db.Read(ctx, func(q *store.Query) error {
		list = nil
		return q.Each(selectAfter, []any{l.seen}, func(row store.Rows) error {
			var n numbered
			if err := row.Scan(&n.number, &n.node, &n.body); err != nil {
				return err
			}
			list = append(list, n)
			return nil
		})
	})
	return list, err
}
