package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rubicon/internal/store"
)

// What the journal refuses.
var (
	ErrNotFound = errors.New("no such request")
	ErrInvalid  = errors.New("invalid record")
)

// Journal is the records of one database.
type Journal struct {
	db  *store.DB
	now func() time.Time
}

// New makes the journal of db.
func New(db *store.DB, now func() time.Time) *Journal { return &Journal{db: db, now: now} }

// Begin records a request that starts to run, with its Billing and Node.
// StartedAt is now if it is not set.
func (j *Journal) Begin(tx *store.Tx, r Record) error {
	r.Outcome = OutcomeRunning
	return j.put(tx, insertRequest, r)
}

// Finish writes the final record. A record that is final already stays as it
// is: of two that finish one request, the ledger refuses the later one, and
// where there is no money it makes no difference. FinishedAt is now if it is
// not set.
func (j *Journal) Finish(tx *store.Tx, r Record) error {
	if !final(r.Outcome) {
		return fmt.Errorf("%w: %s finished with outcome %q", ErrInvalid, r.RequestID, r.Outcome)
	}
	if r.FinishedAt.IsZero() {
		r.FinishedAt = j.now()
	}
	return j.put(tx, finishRequest, r)
}

// Reject records a request that never ran.
func (j *Journal) Reject(tx *store.Tx, r Record) error {
	r.Outcome = OutcomeRejected
	if r.FinishedAt.IsZero() {
		r.FinishedAt = j.now()
	}
	return j.put(tx, insertRequest, r)
}

func final(o Outcome) bool {
	switch o {
	case OutcomeCompleted, OutcomeIncomplete, OutcomeFailed, OutcomePartial, OutcomeCancelled, OutcomeRejected:
		return true
	}
	return false
}

func (j *Journal) put(tx *store.Tx, stmt store.InsertInto, r Record) error {
	if r.RequestID == "" {
		return fmt.Errorf("%w: no request id", ErrInvalid)
	}
	if r.StartedAt.IsZero() {
		r.StartedAt = j.now()
	}
	if r.Usage.Source == "" {
		r.Usage.Source = "none"
	}
	text, err := encodeBody(r)
	if err != nil {
		return err
	}
	tx.Insert(stmt, r.RequestID, r.Customer, r.Key, r.ClientRequestID, r.Node, string(r.Surface), r.PublicModel,
		string(r.Outcome), r.ResponseID, toMillis(r.StartedAt), toMillis(r.FinishedAt), int64(r.Charge), r.Usage.Input,
		r.Usage.CachedInput, r.Usage.CacheWrite, r.Usage.Output, r.Usage.Source, string(r.Billing), text)
	return nil
}

// Progress notes how much was delivered. Callers do so at most once a second
// per stream.
func (j *Journal) Progress(tx *store.Tx, id string, outputEvents, deliveredBytes int64, note string) error {
	_, err := tx.Exec(upsertProgress, id, outputEvents, deliveredBytes, note, j.now().UnixMilli())
	if err != nil {
		return fmt.Errorf("noting the progress of %s: %w", id, err)
	}
	return nil
}

// retainStep bounds how long one deletion keeps the writer busy.
const retainStep = 500

// Retain deletes finished records that started before the moment, in small
// steps, and tells how many. The ledger is never touched.
func (j *Journal) Retain(ctx context.Context, before time.Time) (int, error) {
	total := 0
	for {
		var deleted int64
		err := j.db.Write(ctx, func(tx *store.Tx) (err error) {
			deleted, err = tx.Exec(deleteOld, before.UnixMilli(), retainStep)
			return err
		})
		if err != nil {
			return total, fmt.Errorf("deleting old requests: %w", err)
		}
		total += int(deleted)
		if deleted < retainStep {
			break
		}
	}
	err := j.db.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(deleteStaleProgress)
		return err
	})
	if err != nil {
		return total, fmt.Errorf("deleting old progress: %w", err)
	}
	return total, nil
}
