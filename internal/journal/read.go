package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rubicon/internal/store"
)

// Filter selects records; empty fields select all.
type Filter struct {
	Customer, Model, ResponseID string
	Outcome                     Outcome
	Since                       time.Time
	Cursor                      string
	Limit                       int // default 100, at most 1000
}

const (
	defaultLimit = 100
	maxLimit     = 1000
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
	var r Record
	err := j.db.Read(ctx, func(q *store.Query) error {
		found := false
		err := q.Each(selectRequest, []any{id}, func(row store.Rows) (err error) {
			found = true
			r, err = scan(row)
			return err
		})
		if err == nil && !found {
			err = ErrNotFound
		}
		return err
	})
	if err != nil {
		return Record{}, fmt.Errorf("reading request %s: %w", id, err)
	}
	return r, nil
}

// List reads records newest first; next is the cursor of the following page or "".
func (j *Journal) List(ctx context.Context, f Filter) (list []Record, next string, err error) {
	where, args, err := f.where()
	if err != nil {
		return nil, "", err
	}
	limit := defaultLimit
	if f.Limit > 0 {
		limit = min(f.Limit, maxLimit)
	}
	list = []Record{}
	err = j.db.Read(ctx, func(q *store.Query) error {
		// One more than asked tells whether there is a next page.
		return q.Each(fmt.Sprintf(selectRequests, where), append(args, limit+1), func(row store.Rows) error {
			r, err := scan(row)
			list = append(list, r)
			return err
		})
	})
	if err != nil {
		return nil, "", fmt.Errorf("listing requests: %w", err)
	}
	if len(list) > limit {
		list = list[:limit]
		last := list[limit-1]
		next = fmt.Sprintf("%d.%s", last.StartedAt.UnixMilli(), last.RequestID)
	}
	return list, next, nil
}

func (f Filter) where() (string, []any, error) {
	terms, args := []string{"1 = 1"}, []any{}
	add := func(term string, value ...any) {
		terms, args = append(terms, term), append(args, value...)
	}
	if f.Customer != "" {
		add("customer = ?", f.Customer)
	}
	if f.Model != "" {
		add("public_model = ?", f.Model)
	}
	if f.ResponseID != "" {
		add("response_id = ? AND response_id <> ''", f.ResponseID)
	}
	switch {
	case f.Outcome == OutcomeRunning:
		add("outcome = 'running'") // spelled out for its partial index
	case final(f.Outcome):
		add("outcome = ?", string(f.Outcome))
	case f.Outcome != "":
		return "", nil, fmt.Errorf("%w: no outcome %q", ErrInvalid, f.Outcome)
	}
	if !f.Since.IsZero() {
		add("started_at >= ?", f.Since.UnixMilli())
	}
	if f.Cursor != "" {
		ms, id, ok := strings.Cut(f.Cursor, ".")
		started, err := strconv.ParseInt(ms, 10, 64)
		if !ok || err != nil {
			return "", nil, fmt.Errorf("%w: not a cursor of this list", ErrInvalid)
		}
		add("(started_at, request_id) < (?, ?)", started, id)
	}
	return strings.Join(terms, " AND "), args, nil
}

// Running lists the unfinished requests, oldest first.
func (j *Journal) Running(ctx context.Context) ([]Running, error) {
	var list []Running
	err := j.db.Read(ctx, func(q *store.Query) error {
		return q.Each(selectRunning, nil, func(row store.Rows) error {
			var (
				p  Progress
				at int64
			)
			r, err := scan(row, &p.OutputEvents, &p.DeliveredBytes, &p.Note, &at)
			p.At = fromMillis(at)
			list = append(list, Running{r, p})
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("listing running requests: %w", err)
	}
	return list, nil
}

// scan reads the columns of requests and, after them, into more.
func scan(row store.Rows, more ...any) (Record, error) {
	var (
		r                 Record
		started, finished int64
		billing, text     string
	)
	err := row.Scan(append([]any{&r.RequestID, &r.Customer, &r.Key, &r.ClientRequestID, &r.Node, &r.Surface, &r.PublicModel,
		&r.Outcome, &r.ResponseID, &started, &finished, &r.Charge, &r.Usage.Input, &r.Usage.CachedInput,
		&r.Usage.CacheWrite, &r.Usage.Output, &r.Usage.Source, &billing, &text}, more...)...)
	if err != nil {
		return Record{}, err
	}
	r.StartedAt, r.FinishedAt = fromMillis(started), fromMillis(finished)
	if billing != "" {
		r.Billing = json.RawMessage(billing)
	}
	return r, decodeBody(text, &r)
}
