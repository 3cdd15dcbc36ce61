package journal

import (
	"fmt"
	"strconv"
	"strings"
	"time"
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

func (f Filter) limit() int {
	if f.Limit <= 0 {
		return defaultLimit
	}
	return min(f.Limit, maxLimit)
}

// where is the condition for either table: only final records have an outcome
// as a column, and which table to read follows from it.
func (f Filter) where() (string, []any, error) {
	var (
		terms []string
		args  []any
	)
	add := func(term string, values ...any) {
		terms, args = append(terms, term), append(args, values...)
	}
	switch {
	case f.Customer != "" && f.ResponseID != "":
		// Not the bare column: the few requests of the response are to be
		// searched, not all that the customer ever made.
		add("customer || '' = ?", f.Customer)
	case f.Customer != "":
		add("customer = ?", f.Customer)
	}
	if f.Model != "" {
		add("public_model = ?", f.Model)
	}
	if f.ResponseID != "" {
		add("response_id = ? AND response_id <> ''", f.ResponseID)
	}
	switch {
	case final(f.Outcome):
		add("outcome = ?", string(f.Outcome))
	case f.Outcome != "" && f.Outcome != OutcomeRunning:
		return "", nil, fmt.Errorf("%w: %q", ErrOutcome, f.Outcome)
	}
	if !f.Since.IsZero() {
		add("started_at >= ?", f.Since.UnixMilli())
	}
	if f.Cursor != "" {
		started, id, err := parseCursor(f.Cursor)
		if err != nil {
			return "", nil, err
		}
		add("(started_at, request_id) < (?, ?)", started, id)
	}
	if len(terms) == 0 {
		return "", nil, nil
	}
	return " WHERE " + strings.Join(terms, " AND "), args, nil
}

// cursorOf names the last record of a page.
func cursorOf(r Record) string { return fmt.Sprintf("%d.%s", r.StartedAt.UnixMilli(), r.RequestID) }

func parseCursor(cursor string) (started int64, id string, err error) {
	ms, id, ok := strings.Cut(cursor, ".")
	started, err = strconv.ParseInt(ms, 10, 64)
	if !ok || err != nil {
		return 0, "", ErrCursor
	}
	return started, id, nil
}
