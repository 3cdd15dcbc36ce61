// Package account is the customers and their API keys.
//
// It is for who may call and what a key is limited to. It is not for money
// (package ledger) nor for enforcing rates and budgets (package limit).
//
// Invariant: a secret key is stored only as its SHA-256 and shown once; a
// change is effective on this node when the call that made it returns.
package account

import (
	"context"
	"errors"
	"time"

	"rubicon/internal/ident"
	"rubicon/internal/money"
	"rubicon/internal/store"
)

// What Lookup and the changes refuse.
var (
	ErrUnknownKey = errors.New("unknown API key")
	ErrExpiredKey = errors.New("the API key has expired")
	ErrRevokedKey = errors.New("the API key is revoked")
	ErrSuspended  = errors.New("the customer is suspended")
	ErrNotFound   = errors.New("no such customer or key")
	ErrInvalid    = errors.New("invalid customer or key")
)

// Customer is who pays.
type Customer struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Suspended bool      `json:"suspended"`
	CreatedAt time.Time `json:"created_at"`
}

// Budget caps what a key may spend in a period.
type Budget struct {
	Amount money.Nano `json:"amount"`
	Period string     `json:"period"` // day, week, month or total
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

// KeyPatch changes what is not nil. A zero value inside removes the limit.
type KeyPatch struct {
	Name        *string    `json:"name"`
	Models      *[]string  `json:"models"`
	RPM         *int64     `json:"rpm"`
	TPM         *int64     `json:"tpm"`
	Concurrency *int64     `json:"concurrency"`
	Delivery    *string    `json:"delivery"`
	Budget      *Budget    `json:"budget"`
	ExpiresAt   *time.Time `json:"expires_at"`
	Revoked     *bool      `json:"revoked"` // only true is allowed
}

// Principal is who a request acts for. It is shared: do not change it.
type Principal struct {
	Customer Customer
	Key      Key
}

// MayUse tells whether the key is allowed the public model.
func (p Principal) MayUse(model string) bool { panic("not yet") }

// Accounts are the customers and keys of one database, with a bounded cache.
type Accounts struct {
	db  *store.DB
	ids *ident.Source
	now func() time.Time
}

// New makes the accounts of db.
func New(db *store.DB, ids *ident.Source, now func() time.Time) *Accounts {
	return &Accounts{db: db, ids: ids, now: now}
}

// Lookup finds who a secret key belongs to. It returns ErrUnknownKey,
// ErrExpiredKey, ErrRevokedKey or ErrSuspended; anything else is a fault of
// the store.
func (a *Accounts) Lookup(ctx context.Context, key string) (Principal, error) { panic("not yet") }

// CreateCustomer adds a customer.
func (a *Accounts) CreateCustomer(ctx context.Context, name string) (Customer, error) {
	panic("not yet")
}

// Customers lists oldest first; next is the cursor of the following page or "".
func (a *Accounts) Customers(ctx context.Context, cursor string, limit int) (list []Customer, next string, err error) {
	panic("not yet")
}

// Customer reads one, or ErrNotFound.
func (a *Accounts) Customer(ctx context.Context, id string) (Customer, error) { panic("not yet") }

// UpdateCustomer changes one, or ErrNotFound.
func (a *Accounts) UpdateCustomer(ctx context.Context, id string, p CustomerPatch) (Customer, error) {
	panic("not yet")
}

// CreateKey makes a key and returns its secret, which is shown this once.
func (a *Accounts) CreateKey(ctx context.Context, customer string, s KeySpec) (key Key, secret string, err error) {
	panic("not yet")
}

// Keys lists a customer's keys, oldest first, revoked ones too.
func (a *Accounts) Keys(ctx context.Context, customer string) ([]Key, error) { panic("not yet") }

// Key reads one, or ErrNotFound.
func (a *Accounts) Key(ctx context.Context, id string) (Key, error) { panic("not yet") }

// UpdateKey changes one, or ErrNotFound.
func (a *Accounts) UpdateKey(ctx context.Context, id string, p KeyPatch) (Key, error) {
	panic("not yet")
}

// RevokeKey ends a key for good. Revoking it again changes nothing.
func (a *Accounts) RevokeKey(ctx context.Context, id string) error { panic("not yet") }

// Refresh drops the cache if another node changed anything. Whoever runs
// several nodes calls it at least once a second.
func (a *Accounts) Refresh(ctx context.Context) error { panic("not yet") }
