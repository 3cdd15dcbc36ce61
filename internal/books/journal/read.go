package journal

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"rubicon/internal/books/ledger"
	"rubicon/internal/store"
)

// Running is an unfinished request with what had been delivered of it.
type Running struct {
	Record   Record // with Node and Billing
	Progress Progress
}

// Progress is how much of an answer had been handed over when it was last noted.
type Progress struct {
	OutputEvents   int64
	DeliveredBytes int64
	Note           string    // the caller's own words for recovery
	At             time.Time // zero: nothing noted
}

// Get reads one record, or ErrNotFound.
func (j *Journal) Get(ctx context.Context, id string) (Record, error) {
	var found []Record
	err := j.db.ReadSoon(ctx, func(q *store.Query) (err error) {
		found, err = both(q, " WHERE request_id = ?", []any{id})
		return err
	})
	if err == nil && len(found) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Record{}, fmt.Errorf("reading request %s: %w", id, err)
	}
	return found[0], nil
}

// List reads records newest first; next is the cursor of the following page or "".
func (j *Journal) List(ctx context.Context, f Filter) (list []Record, next string, err error) {
	where, args, err := f.where()
	if err != nil {
		return nil, "", err
	}
	// One more than asked shows whether there is a next page.
	limit := f.limit()
	rest, args := where+page, append(args, limit+1)
	err = j.db.Read(ctx, func(q *store.Query) (err error) {
		switch {
		case f.Outcome == OutcomeRunning:
			list, err = runningRecords(q, rest, args)
		case f.Outcome != "":
			list, err = finalRecords(q, rest, args)
		default:
			list, err = both(q, rest, args)
		}
		return err
	})
	if err != nil {
		return nil, "", fmt.Errorf("listing requests: %w", err)
	}
	if len(list) > limit {
		list = list[:limit]
		next = cursorOf(list[limit-1])
	}
	return list, next, nil
}

// both reads from both tables what the same condition selects, newest first.
func both(q *store.Query, rest string, args []any) ([]Record, error) {
	list, err := finalRecords(q, rest, args)
	if err != nil {
		return nil, err
	}
	running, err := runningRecords(q, rest, args)
	if err != nil {
		return nil, err
	}
	list = append(list, running...)
	slices.SortFunc(list, func(a, b Record) int {
		return cmp.Or(b.StartedAt.Compare(a.StartedAt), cmp.Compare(b.RequestID, a.RequestID))
	})
	return list, nil
}

func finalRecords(q *store.Query, rest string, args []any) ([]Record, error) {
	list := []Record{}
	err := q.Each(selectFinal+rest, args, func(row store.Rows) error {
		var (
			r                 Record
			started, finished int64
			text              string
		)
		err := row.Scan(&r.RequestID, &r.Customer, &r.Key, &r.ClientRequestID, &r.Node, &r.Surface, &r.PublicModel,
			&r.Outcome, &r.ResponseID, &started, &finished, &r.Charge, &r.Usage.Input, &r.Usage.CachedInput,
			&r.Usage.CacheWrite, &r.Usage.Output, &r.Usage.Source, &text)
		if err != nil {
			return err
		}
		r.StartedAt, r.FinishedAt = fromMillis(started), fromMillis(finished)
		err = decodeBody(text, &r)
		list = append(list, r)
		return err
	})
	if err != nil {
		return list, err
	}
	return list, refunded(q, list)
}

// refunded adds to the records what was given back of their charges.
func refunded(q *store.Query, list []Record) error {
	var charged []string
	for i := range list {
		if list[i].Charge != 0 {
			charged = append(charged, list[i].RequestID)
		}
	}
	refunds, err := ledger.Refunds(q, charged)
	for i := range list {
		if r, ok := refunds[list[i].RequestID]; ok {
			list[i].Refunded = &r
		}
	}
	return err
}

func runningRecords(q *store.Query, rest string, args []any) ([]Record, error) {
	running, err := runningRequests(q, rest, args)
	list := make([]Record, len(running))
	for i := range running {
		list[i] = running[i].Record
	}
	return list, err
}

// RunningOn lists the unfinished requests of a node, oldest first.
func (j *Journal) RunningOn(q *store.Query, node string) ([]Running, error) {
	list, err := runningRequests(q, " WHERE node = ? ORDER BY started_at, request_id", []any{node})
	if err != nil {
		return nil, fmt.Errorf("listing the requests of node %s: %w", node, err)
	}
	return list, nil
}

// Nodes lists the nodes that unfinished requests name.
func (j *Journal) Nodes(ctx context.Context) (nodes []string, err error) {
	err = j.db.Read(ctx, func(q *store.Query) error {
		return q.Each(selectNodes, nil, func(row store.Rows) error {
			var node string
			err := row.Scan(&node)
			nodes = append(nodes, node)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("listing the nodes of running requests: %w", err)
	}
	return nodes, nil
}

// Running lists the unfinished requests, oldest first.
func (j *Journal) Running(ctx context.Context) (list []Running, err error) {
	err = j.db.Read(ctx, func(q *store.Query) (err error) {
		list, err = runningRequests(q, " ORDER BY started_at, request_id", nil)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listing running requests: %w", err)
	}
	return list, nil
}

func runningRequests(q *store.Query, rest string, args []any) ([]Running, error) {
	var list []Running
	err := q.Each(selectRunning+rest, args, func(row store.Rows) error {
		var (
			r              Record
			p              Progress
			started, noted int64
			billing, text  string
		)
		err := row.Scan(&r.RequestID, &r.Customer, &r.Key, &r.ClientRequestID, &r.Node, &r.Surface, &r.PublicModel,
			&r.ResponseID, &started, &billing, &text, &p.OutputEvents, &p.DeliveredBytes, &p.Note, &noted)
		if err != nil {
			return err
		}
		r.Outcome, r.Usage.Source = OutcomeRunning, SourceNone
		r.StartedAt, p.At = fromMillis(started), fromMillis(noted)
		if billing != "" {
			r.Billing = json.RawMessage(billing)
		}
		err = decodeBody(text, &r)
		list = append(list, Running{r, p})
		return err
	})
	return list, err
}
