// Package account is the customers and their API keys.
//
// It is for who may call and what a key is limited to. It is not for money
// (package ledger) nor for enforcing rates and budgets (package limit).
//
// Invariant: a secret key is stored only as its SHA-256 and shown once; a
// change is effective on this node when the call that made it returns.
package account

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"rubicon/internal/money"
	"rubicon/internal/store"
	"rubicon/internal/wire/ident"
)

// What Lookup and the changes refuse.
var (
	ErrUnknownKey = errors.New("unknown API key")
	ErrExpiredKey = errors.New("the API key has expired")
	ErrRevokedKey = errors.New("the API key is revoked")
	ErrSuspended  = errors.New("the customer is suspended")
	ErrNotFound   = errors.New("no such customer or key")
	ErrInvalid    = errors.New("invalid customer or key")
	ErrCursor     = fmt.Errorf("%w: not a cursor of this list", ErrInvalid)
)

// Customer is who pays.
type Customer struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Suspended bool      `json:"suspended"`
	CreatedAt time.Time `json:"created_at"`
}

// The periods of a budget.
const (
	PeriodDay   = "day"
	PeriodWeek  = "week"
	PeriodMonth = "month"
	PeriodTotal = "total"
)

// Budget caps what a key may spend in a period.
type Budget struct {
	Amount money.Nano `json:"amount"`
	Period string     `json:"period"`
}

// Limits is what a key is limited to. Zero values are no limit.
type Limits struct {
	Models      []string   `json:"models,omitempty"` // public models; empty: all
	RPM         int64      `json:"rpm,omitempty"`
	TPM         int64      `json:"tpm,omitempty"`
	Concurrency int64      `json:"concurrency,omitempty"`
	Delivery    string     `json:"delivery,omitempty"` // "", stream or atomic
	Budget      *Budget    `json:"budget,omitempty"`
	ExpiresAt   *time.Time `json:"expires_at,omitempty"`
}

// Key is an API key without its secret.
type Key struct {
	ID       string `json:"id"`
	Customer string `json:"customer"`
	Name     string `json:"name"`
	Limits
	Revoked   bool      `json:"revoked"`
	CreatedAt time.Time `json:"created_at"`
}

// KeySpec is what a new key is made from.
type KeySpec struct {
	Name string `json:"name"`
	Limits
}

// CustomerPatch changes what is not nil.
type CustomerPatch struct {
	Name      *string `json:"name"`
	Suspended *bool   `json:"suspended"`
}

// KeyPatch changes what is not nil. A zero value inside removes the limit: 0,
// "", an empty list, a budget without period, the zero time.
type KeyPatch struct {
	Name        *string    `json:"name"`
	Models      *[]string  `json:"models"`
	RPM         *int64     `json:"rpm"`
	TPM         *int64     `json:"tpm"`
	Concurrency *int64     `json:"concurrency"`
	Delivery    *string    `json:"delivery"`
	Budget      *Budget    `json:"budget"`
	ExpiresAt   *time.Time `json:"expires_at"`
	Revoked     *bool      `json:"revoked"` // a revoked key stays revoked
}

// Null removes the limit of that name, as null does in a merge patch. What is no
// limit stays.
func (p *KeyPatch) Null(name string) {
	var zero int64
	switch name {
	case "models":
		p.Models = &[]string{}
	case "rpm":
		p.RPM = &zero
	case "tpm":
		p.TPM = &zero
	case "concurrency":
		p.Concurrency = &zero
	case "delivery":
		p.Delivery = new(string)
	case "budget":
		p.Budget = &Budget{}
	case "expires_at":
		p.ExpiresAt = &time.Time{}
	}
}

// Principal is who a request acts for. It is shared between requests: do not
// change what it points to.
type Principal struct {
	Customer Customer
	Key      Key
}

// MayUse reports whether the key is allowed the public model.
func (p Principal) MayUse(model string) bool {
	return len(p.Key.Models) == 0 || slices.Contains(p.Key.Models, model)
}

// check is what keeps the principal from calling at this moment, if anything.
func (p Principal) check(now time.Time) error {
	switch {
	case p.Key.Revoked:
		return ErrRevokedKey
	case p.Customer.Suspended:
		return ErrSuspended
	case p.Key.ExpiresAt != nil && !now.Before(*p.Key.ExpiresAt):
		return ErrExpiredKey
	}
	return nil
}

// Accounts are the customers and keys of one database, with a bounded cache of
// the keys in use.
type Accounts struct {
	db    *store.DB
	ids   *ident.Source
	now   func() time.Time
	cache cache
}

// New makes the accounts of db.
func New(db *store.DB, ids *ident.Source, now func() time.Time) *Accounts {
	return &Accounts{db: db, ids: ids, now: now, cache: cache{entries: map[digest]Principal{}}}
}
