// Package state remembers which upstream account an id belongs to, per customer.
//
// It is for ids that answers carried (responses, items, containers, audio) and
// for hashes of sealed items. It is not for what those ids contain.
//
// Invariant: an id is found only by the customer whose answer carried it, and
// for 30 days; a foreign id looks exactly like an unknown one.
package state

import (
	"context"
	"time"

	"rubicon/internal/store"
)

// Lifetime is how long an id is remembered.
const Lifetime = 30 * 24 * time.Hour

// Kind says what an id names.
type Kind string

// The kinds.
const (
	KindResponse  Kind = "response"
	KindItem      Kind = "item"
	KindContainer Kind = "container"
	KindAudio     Kind = "audio"
	KindSealed    Kind = "sealed" // the id is the hash of a sealed item
)

// Entry is one id and where it belongs.
type Entry struct {
	Kind     Kind
	ID       string
	Origin   string
	Channel  string
	StoreOff bool  // the gateway turned its `store` off
	Tokens   int64 // of a response: its recorded total, 0 if unknown
}

// Ref names an id to be looked up.
type Ref struct {
	Kind Kind
	ID   string
}

// States are the remembered ids of one database.
type States struct {
	db  *store.DB
	now func() time.Time
}

// New makes the states of db.
func New(db *store.DB, now func() time.Time) *States { return &States{db: db, now: now} }

// Remember notes the ids of an answer. An id seen again takes the new values
// and a new lifetime.
func (s *States) Remember(tx *store.Tx, customer string, entries []Entry, now time.Time) error {
	panic("not yet")
}

// Lookup finds an id of this customer.
func (s *States) Lookup(ctx context.Context, customer string, kind Kind, id string) (Entry, bool, error) {
	panic("not yet")
}

// LookupAll finds several at once; what is unknown is missing from the result.
func (s *States) LookupAll(ctx context.Context, customer string, refs []Ref) (map[Ref]Entry, error) {
	panic("not yet")
}

// Forget drops an id, as after its deletion upstream.
func (s *States) Forget(tx *store.Tx, customer string, kind Kind, id string) error {
	panic("not yet")
}

// Expire deletes what is past its lifetime, in small steps, and tells how many.
func (s *States) Expire(ctx context.Context) (int, error) { panic("not yet") }
