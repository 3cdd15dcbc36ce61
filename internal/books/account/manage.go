package account

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"rubicon/internal/store"
)

const (
	defaultLimit = 100
	maxLimit     = 1000
)

// CreateCustomer adds a customer.
func (a *Accounts) CreateCustomer(ctx context.Context, name string) (Customer, error) {
	name, err := checkName(name)
	if err != nil {
		return Customer{}, err
	}
	c := Customer{ID: a.ids.ID("cus"), Name: name, CreatedAt: a.now().UTC().Truncate(time.Millisecond)}
	err = a.change(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(insertCustomer, c.ID, c.Name, c.Suspended, c.CreatedAt.UnixMilli())
		return err
	})
	if err != nil {
		return Customer{}, fmt.Errorf("creating a customer: %w", err)
	}
	return c, nil
}

// Customers lists oldest first; next is the cursor of the following page or "".
func (a *Accounts) Customers(ctx context.Context, cursor string, limit int) (list []Customer, next string, err error) {
	if limit <= 0 {
		limit = defaultLimit
	}
	limit = min(limit, maxLimit)
	if cursor != "" && !strings.HasPrefix(cursor, "cus_") {
		return nil, "", ErrCursor
	}
	err = a.db.Read(ctx, func(q *store.Query) (err error) {
		list, err = customers(q, selectCustomers, cursor, limit+1)
		return err
	})
	if err != nil {
		return nil, "", fmt.Errorf("listing customers: %w", err)
	}
	if len(list) > limit {
		list = list[:limit]
		next = list[limit-1].ID
	}
	return list, next, nil
}

// Customer reads one, or ErrNotFound.
func (a *Accounts) Customer(ctx context.Context, id string) (Customer, error) {
	var c Customer
	err := a.db.Read(ctx, func(q *store.Query) (err error) {
		c, err = oneCustomer(q, id)
		return err
	})
	if err != nil {
		return Customer{}, fmt.Errorf("customer %s: %w", id, err)
	}
	return c, nil
}

// UpdateCustomer changes one, or ErrNotFound.
func (a *Accounts) UpdateCustomer(ctx context.Context, id string, p CustomerPatch) (Customer, error) {
	var c Customer
	err := a.change(ctx, func(tx *store.Tx) (err error) {
		if c, err = oneCustomer(tx, id); err != nil {
			return err
		}
		set(&c.Name, p.Name)
		set(&c.Suspended, p.Suspended)
		if c.Name, err = checkName(c.Name); err != nil {
			return err
		}
		_, err = tx.Exec(updateCustomer, c.Name, c.Suspended, id)
		return err
	})
	if err != nil {
		return Customer{}, fmt.Errorf("changing customer %s: %w", id, err)
	}
	return c, nil
}

// CreateKey makes a key and returns its secret, which is shown this once.
func (a *Accounts) CreateKey(ctx context.Context, customer string, s KeySpec) (key Key, secret string, err error) {
	key = Key{ID: a.ids.ID("key"), Customer: customer, CreatedAt: a.now().UTC().Truncate(time.Millisecond)}
	if key.Name, err = checkName(s.Name); err != nil {
		return Key{}, "", err
	}
	if at := s.ExpiresAt; at != nil && !at.After(key.CreatedAt) {
		return Key{}, "", fmt.Errorf("%w: expires_at is over already; give a time after %s, or leave it out for a key that does not end",
			ErrInvalid, key.CreatedAt.Format(time.RFC3339))
	}
	if key.Limits, err = s.Limits.clean(); err != nil {
		return Key{}, "", err
	}
	limits, err := limitValues(key.Limits)
	if err != nil {
		return Key{}, "", err
	}
	secret = a.ids.Key()
	d := digestOf(secret)
	row := slices.Concat([]any{key.ID, customer, key.Name}, limits, []any{false, key.CreatedAt.UnixMilli(), d[:]})
	err = a.change(ctx, func(tx *store.Tx) error {
		if _, err := oneCustomer(tx, customer); err != nil {
			return err
		}
		_, err := tx.Exec(insertKey, row...)
		return err
	})
	if err != nil {
		return Key{}, "", fmt.Errorf("creating a key of %s: %w", customer, err)
	}
	return key, secret, nil
}

// Keys lists a customer's keys, oldest first, revoked ones too; ErrNotFound if
// there is no such customer.
func (a *Accounts) Keys(ctx context.Context, customer string) ([]Key, error) {
	var list []Key
	err := a.db.Read(ctx, func(q *store.Query) (err error) {
		if _, err = oneCustomer(q, customer); err != nil {
			return err
		}
		list, err = keys(q, selectKeysOf, customer)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("keys of %s: %w", customer, err)
	}
	return list, nil
}

// Key reads one, or ErrNotFound.
func (a *Accounts) Key(ctx context.Context, id string) (Key, error) {
	var k Key
	err := a.db.Read(ctx, func(q *store.Query) (err error) {
		k, err = oneKey(q, selectKey, id)
		return err
	})
	if err != nil {
		return Key{}, fmt.Errorf("key %s: %w", id, err)
	}
	return k, nil
}

// UpdateKey changes one, or ErrNotFound.
func (a *Accounts) UpdateKey(ctx context.Context, id string, p KeyPatch) (Key, error) {
	var k Key
	err := a.change(ctx, func(tx *store.Tx) (err error) {
		if k, err = oneKey(tx, selectKey, id); err != nil {
			return err
		}
		if k, err = p.apply(k); err != nil {
			return err
		}
		limits, err := limitValues(k.Limits)
		if err != nil {
			return err
		}
		_, err = tx.Exec(updateKey, slices.Concat([]any{k.Name}, limits, []any{k.Revoked, id})...)
		return err
	})
	if err != nil {
		return Key{}, fmt.Errorf("changing key %s: %w", id, err)
	}
	return k, nil
}

// RevokeKey ends a key permanently. Revoking it again changes nothing.
func (a *Accounts) RevokeKey(ctx context.Context, id string) error {
	revoked := true
	_, err := a.UpdateKey(ctx, id, KeyPatch{Revoked: &revoked})
	return err
}
