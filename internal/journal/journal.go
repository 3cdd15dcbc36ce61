package journal

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"rubicon/internal/store"
)

// ErrNotFound is returned when no such request is on record.
var ErrNotFound = errors.New("no such request")

// Journal is the records of one database.
type Journal struct {
	db  *store.DB
	now func() time.Time
}

// New makes the journal of db.
func New(db *store.DB, now func() time.Time) *Journal { return &Journal{db: db, now: now} }

// Filter selects records; empty fields select all.
type Filter struct {
	Customer, Model, ResponseID string
	Outcome                     Outcome
	Since                       time.Time
	Cursor                      string
	Limit                       int // default 100, at most 1000
}

// Running is an unfinished request with what had been delivered of it.
type Running struct {
	Record // with Node and Billing
	Progress
}

// Progress is how much of an answer had been handed over when it was last noted.
type Progress struct {
	OutputEvents   int64
	DeliveredBytes int64
	Note           string    // the caller's own words for recovery
	At             time.Time // zero: nothing noted
}

// Begin records a request that starts to run, with its Billing and Node.
func (j *Journal) Begin(tx *store.Tx, r Record) error { panic("not yet") }

// Finish writes the final record. A record that is final already stays as it is.
func (j *Journal) Finish(tx *store.Tx, r Record) error { panic("not yet") }

// Reject records a request that never ran.
func (j *Journal) Reject(tx *store.Tx, r Record) error { panic("not yet") }

// Progress notes how much was delivered. Callers do so at most once a second
// per stream.
func (j *Journal) Progress(tx *store.Tx, id string, outputEvents, deliveredBytes int64, note string) error {
	panic("not yet")
}

// Get reads one record, or ErrNotFound.
func (j *Journal) Get(ctx context.Context, id string) (Record, error) { panic("not yet") }

// List reads records newest first; next is the cursor of the following page or "".
func (j *Journal) List(ctx context.Context, f Filter) (list []Record, next string, err error) {
	panic("not yet")
}

// Running lists the unfinished requests, oldest first.
func (j *Journal) Running(ctx context.Context) ([]Running, error) { panic("not yet") }

// Retain deletes finished records that started before the moment, in small
// steps, and tells how many. The ledger is never touched.
func (j *Journal) Retain(ctx context.Context, before time.Time) (int, error) { panic("not yet") }

var _ = json.RawMessage(nil)
