package alert

import (
	"context"
	"fmt"
	"strings"
	"time"

	"rubicon/internal/store"
)

const columns = "id, at, kind, channel, credential, model, message, state"

var insertAlert = store.InsertInto{Table: "alerts", Columns: columns + ", delivery"}

const (
	resolveAlert = "UPDATE alerts SET state = 'resolved' WHERE id = ?"
	// Alerts without an end of their own are resolved after their time.
	resolveOld   = "UPDATE alerts SET state = 'resolved' WHERE kind = ? AND state = 'firing' AND at <= ?"
	selectFiring = "SELECT " + columns + " FROM alerts WHERE state = 'firing' ORDER BY id"
	selectFirst  = "SELECT " + columns + " FROM alerts ORDER BY id DESC LIMIT ?"
	selectPage   = "SELECT " + columns + " FROM alerts WHERE id < ? ORDER BY id DESC LIMIT ?"
	deleteOld    = "DELETE FROM alerts WHERE at < ? AND state = 'resolved' AND delivery <> 'pending'"

	selectDue = "SELECT " + columns + ", tries FROM alerts WHERE delivery = 'pending' AND next_try <= ? ORDER BY id LIMIT ?"
	// When the next delivery is due; 0 if none is.
	selectNextTry = "SELECT COALESCE(MIN(next_try), 0), COUNT(*) FROM alerts WHERE delivery = 'pending'"
	updateSent    = "UPDATE alerts SET delivery = 'sent', tries = tries + 1 WHERE id = ?"
	updateGivenUp = "UPDATE alerts SET delivery = 'given_up', tries = tries + 1 WHERE id = ?"
	updateRetry   = "UPDATE alerts SET tries = tries + 1, next_try = ? WHERE id = ?"
	updateNobody  = "UPDATE alerts SET delivery = 'none' WHERE delivery = 'pending'"
)

// Deliveries.
const (
	deliveryNone    = "none"
	deliveryPending = "pending"
)

// write puts entries into the table, in order.
func (b *Book) write(ctx context.Context, list []entry) error {
	delivery := deliveryNone
	if b.Target().set() {
		delivery = deliveryPending
	}
	return b.DB.Write(ctx, func(tx *store.Tx) error {
		for _, n := range list {
			tx.Insert(insertAlert, n.ID, n.At.UnixMilli(), string(n.Kind), n.Channel, n.Credential, n.Model, n.Message, n.State, delivery)
		}
		if err := tx.Flush(); err != nil {
			return err
		}
		for _, n := range list {
			if n.resolves == "" {
				continue
			}
			if _, err := tx.Exec(resolveAlert, n.resolves); err != nil {
				return fmt.Errorf("resolving an alert: %w", err)
			}
		}
		return nil
	})
}

// firing reads the open alerts.
func (b *Book) firing(ctx context.Context) (list []Alert, err error) {
	err = b.DB.Read(ctx, func(q *store.Query) error {
		list = nil
		return q.Each(selectFiring, nil, func(r store.Rows) error {
			a, err := scan(r)
			list = append(list, a)
			return err
		})
	})
	return list, err
}

// List reads a page of alerts, newest first; next is the cursor of the
// following page or "".
func (b *Book) List(ctx context.Context, cursor string, limit int) (list []Alert, next string, err error) {
	query, args := selectFirst, []any{limit + 1}
	if cursor != "" {
		if !strings.HasPrefix(cursor, idPrefix+"_") {
			return nil, "", ErrInvalid
		}
		query, args = selectPage, []any{cursor, limit + 1}
	}
	err = b.DB.Read(ctx, func(q *store.Query) error {
		list = nil
		return q.Each(query, args, func(r store.Rows) error {
			a, err := scan(r)
			list = append(list, a)
			return err
		})
	})
	if err != nil {
		return nil, "", fmt.Errorf("reading alerts: %w", err)
	}
	if len(list) > limit {
		list = list[:limit]
		next = list[limit-1].ID
	}
	return list, next, nil
}

// Expire deletes what was over before then, and returns how many.
func (b *Book) Expire(ctx context.Context, before time.Time) (n int64, err error) {
	err = b.DB.Write(ctx, func(tx *store.Tx) (err error) {
		n, err = tx.Exec(deleteOld, before.UnixMilli())
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("deleting old alerts: %w", err)
	}
	return n, nil
}

func scan(r store.Rows, more ...any) (a Alert, err error) {
	var at int64
	err = r.Scan(append([]any{&a.ID, &at, &a.Kind, &a.Channel, &a.Credential, &a.Model, &a.Message, &a.State}, more...)...)
	a.At = time.UnixMilli(at).UTC()
	return a, err
}
