package journal

import (
	"cmp"
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
	// A list asked for in a way that no list has.
	ErrOutcome = fmt.Errorf("%w: there is no such outcome", ErrInvalid)
	ErrCursor  = fmt.Errorf("%w: not a cursor of this list", ErrInvalid)
)

// Journal is the records of one database.
type Journal struct {
	db  *store.DB
	now func() time.Time
}

// New makes the journal of db.
func New(db *store.DB, now func() time.Time) *Journal { return &Journal{db: db, now: now} }

// Prepared is a record made ready to be written. Preparing it ahead keeps the
// encoding off the writer, which all requests share.
type Prepared struct {
	record Record
	body   string
}

// Prepare encodes a record. Its StartedAt and, if it is final, its FinishedAt
// are now if they are not set.
func (j *Journal) Prepare(r Record) (Prepared, error) {
	if r.RequestID == "" {
		return Prepared{}, fmt.Errorf("%w: no request id", ErrInvalid)
	}
	if r.StartedAt.IsZero() {
		r.StartedAt = j.now()
	}
	if r.FinishedAt.IsZero() && final(r.Outcome) {
		r.FinishedAt = j.now()
	}
	r.Usage.Source = cmp.Or(r.Usage.Source, SourceNone)
	text, err := encodeBody(r)
	return Prepared{record: r, body: text}, err
}

// Begin records a request that starts to run, with its Billing and Node.
func (p Prepared) Begin(tx *store.Tx) error {
	r := p.record
	if r.Outcome != OutcomeRunning {
		return fmt.Errorf("%w: %s begun with outcome %q", ErrInvalid, r.RequestID, r.Outcome)
	}
	tx.Insert(insertRunning, r.RequestID, r.Customer, r.Key, r.ClientRequestID, r.Node, string(r.Surface), r.PublicModel,
		r.ResponseID, toMillis(r.StartedAt), string(r.Billing), p.body)
	return nil
}

// Finish writes the final record, whether or not it was begun. A record that
// is final already stays as it is: of two that finish one request the ledger
// refuses the later one, and where there is no money it makes no difference.
func (p Prepared) Finish(tx *store.Tx) error {
	r := p.record
	if !final(r.Outcome) {
		return fmt.Errorf("%w: %s finished with outcome %q", ErrInvalid, r.RequestID, r.Outcome)
	}
	tx.Insert(insertFinal, r.RequestID, r.Customer, r.Key, r.ClientRequestID, r.Node, string(r.Surface), r.PublicModel,
		string(r.Outcome), r.ResponseID, toMillis(r.StartedAt), toMillis(r.FinishedAt), int64(r.Charge), r.Usage.Input,
		r.Usage.CachedInput, r.Usage.CacheWrite, r.Usage.Output, r.Usage.Source, p.body)
	tx.Delete(deleteRunning, r.RequestID)
	return nil
}

// Begin is Prepare and Begin in one, for records with outcome running.
func (j *Journal) Begin(tx *store.Tx, r Record) error {
	r.Outcome = OutcomeRunning
	p, err := j.Prepare(r)
	if err != nil {
		return err
	}
	return p.Begin(tx)
}

// Finish is Prepare and Finish in one.
func (j *Journal) Finish(tx *store.Tx, r Record) error {
	p, err := j.Prepare(r)
	if err != nil {
		return err
	}
	return p.Finish(tx)
}

// Reject records a request that never ran.
func (j *Journal) Reject(tx *store.Tx, r Record) error {
	r.Outcome = OutcomeRejected
	return j.Finish(tx, r)
}

func final(o Outcome) bool {
	switch o {
	case OutcomeCompleted, OutcomeIncomplete, OutcomeFailed, OutcomePartial, OutcomeCancelled, OutcomeRejected:
		return true
	}
	return false
}

// Progress notes how much of a running request was delivered. Callers do so
// about once a second per stream. For a request that does not run it is nothing,
// and so it is where more was noted already.
func (j *Journal) Progress(tx *store.Tx, id string, outputEvents, deliveredBytes int64, note string) error {
	_, err := tx.Exec(updateProgress, outputEvents, deliveredBytes, note, j.now().UnixMilli(), id, outputEvents)
	if err != nil {
		return fmt.Errorf("noting the progress of %s: %w", id, err)
	}
	return nil
}

// retainStep bounds how long one deletion keeps the writer busy.
const retainStep = 500

// Retain deletes final records of requests that started before the moment, in small
// steps, and returns how many. The ledger is never touched.
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
			return total, nil
		}
	}
}
