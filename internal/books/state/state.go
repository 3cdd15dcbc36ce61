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
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
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
// and a new lifetime. Entries without an id are passed over.
func (s *States) Remember(tx *store.Tx, customer string, entries []Entry, now time.Time) error {
	if customer == "" {
		return errors.New("remembering state of nobody")
	}
	expires := now.Add(Lifetime).UnixMilli()
	seen := map[Ref]bool{}
	// From the end: of two entries for one id the later one counts, and one
	// statement must not name a row twice.
	for _, e := range slices.Backward(entries) {
		ref := Ref{e.Kind, e.ID}
		if e.ID == "" || seen[ref] {
			continue
		}
		seen[ref] = true
		tx.Insert(upsertEntry, hash(customer, ref), e.Origin, e.Channel, e.StoreOff, e.Tokens, expires)
	}
	return nil
}

// Lookup finds an id of this customer.
func (s *States) Lookup(ctx context.Context, customer string, kind Kind, id string) (Entry, bool, error) {
	ref := Ref{kind, id}
	found, err := s.LookupAll(ctx, customer, []Ref{ref})
	if err != nil {
		return Entry{}, false, err
	}
	e, ok := found[ref]
	return e, ok, nil
}

// MaxLookup is how many ids are looked up at once, in one query. What a request
// may name fits.
const MaxLookup = 4096

// LookupAll finds several at once, MaxLookup at most; what is unknown is missing
// from the result.
func (s *States) LookupAll(ctx context.Context, customer string, refs []Ref) (map[Ref]Entry, error) {
	found := make(map[Ref]Entry, len(refs))
	if len(refs) == 0 {
		return found, nil
	}
	if len(refs) > MaxLookup {
		return nil, fmt.Errorf("looking up %d state ids: at most %d go at once", len(refs), MaxLookup)
	}
	now := s.now().UnixMilli()
	err := s.db.ReadSoon(ctx, func(q *store.Query) error { return lookupInto(q, found, customer, refs, now) })
	if err != nil {
		return nil, fmt.Errorf("looking up state ids: %w", err)
	}
	return found, nil
}

func lookupInto(q *store.Query, found map[Ref]Entry, customer string, refs []Ref, now int64) error {
	byHash := make(map[string]Ref, len(refs))
	args := []any{now}
	for _, ref := range refs {
		h := hash(customer, ref)
		byHash[string(h)] = ref
		args = append(args, h)
	}
	// Of queries with a few lengths the database keeps the plans.
	size := 1
	for size < len(refs) {
		size *= 4
	}
	for len(args) <= size {
		args = append(args, args[len(args)-1])
	}
	list := "?" + strings.Repeat(", ?", size-1)
	return q.Each(fmt.Sprintf(selectEntries, list), args, func(row store.Rows) error {
		var (
			h []byte
			e Entry
		)
		if err := row.Scan(&h, &e.Origin, &e.Channel, &e.StoreOff, &e.Tokens); err != nil {
			return err
		}
		ref := byHash[string(h)]
		e.Kind, e.ID = ref.Kind, ref.ID
		found[ref] = e
		return nil
	})
}

// Forget drops an id, as after its deletion upstream. It does not see what the
// same transaction remembers.
func (s *States) Forget(tx *store.Tx, customer string, kind Kind, id string) error {
	if _, err := tx.Exec(deleteEntry, hash(customer, Ref{kind, id})); err != nil {
		return fmt.Errorf("forgetting a state id: %w", err)
	}
	return nil
}

// expireStep bounds how long one deletion keeps the writer busy.
const expireStep = 1000

// Expire deletes what is past its lifetime, in small steps, and returns how many.
func (s *States) Expire(ctx context.Context) (int, error) {
	total, now := 0, s.now().UnixMilli()
	for {
		var deleted int64
		err := s.db.Write(ctx, func(tx *store.Tx) (err error) {
			deleted, err = tx.Exec(deleteExpired, now, expireStep)
			return err
		})
		if err != nil {
			return total, fmt.Errorf("deleting expired state ids: %w", err)
		}
		total += int(deleted)
		if deleted < expireStep {
			return total, nil
		}
	}
}

// hash is the row's key: 128 bits of SHA-256, so that ids of any length cost
// the same and the table reveals nothing about them. Lengths keep the parts apart.
func hash(customer string, ref Ref) []byte {
	h := sha256.New()
	for _, part := range []string{customer, string(ref.Kind), ref.ID} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return h.Sum(nil)[:16]
}
