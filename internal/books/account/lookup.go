package account

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"rubicon/internal/store"
	"rubicon/internal/wire/ident"
)

// maxSecret bounds what is hashed at all; keys are far shorter.
const maxSecret = 256

// Lookup finds who a secret key belongs to. It returns ErrUnknownKey,
// ErrExpiredKey, ErrRevokedKey or ErrSuspended; anything else is a fault of
// the store. With ErrExpiredKey it returns whose key it was: a customer that
// forgot to renew it should find the refusals on record. A revoked key may have
// leaked, so its use is not recorded.
func (a *Accounts) Lookup(ctx context.Context, key string) (Principal, error) {
	if !strings.HasPrefix(key, ident.KeyPrefix) || len(key) > maxSecret {
		return Principal{}, ErrUnknownKey
	}
	d := digestOf(key)
	p, found, generation := a.cache.get(d)
	if !found {
		var err error
		if p, err = a.read(ctx, d); err != nil {
			return Principal{}, err
		}
		a.cache.put(d, p, generation)
	}
	err := p.check(a.now())
	if err != nil && !errors.Is(err, ErrExpiredKey) {
		return Principal{}, err
	}
	return p, err
}

func (a *Accounts) read(ctx context.Context, d digest) (Principal, error) {
	var p Principal
	err := a.db.ReadSoon(ctx, func(q *store.Query) error {
		var err error
		if p.Key, err = oneKey(q, selectKeyByHash, d[:]); err != nil {
			return err
		}
		p.Customer, err = oneCustomer(q, p.Key.Customer)
		return err
	})
	if errors.Is(err, ErrNotFound) {
		return Principal{}, ErrUnknownKey
	}
	if err != nil {
		return Principal{}, fmt.Errorf("looking up an API key: %w", err)
	}
	return p, nil
}

// Refresh empties the cache if anything was changed since the last call, on
// any node. With several nodes it must be called at least once a second.
func (a *Accounts) Refresh(ctx context.Context) error {
	var version int64
	err := a.db.Read(ctx, func(q *store.Query) error {
		return q.QueryRow(selectVersion, nil, &version)
	})
	if err != nil {
		return fmt.Errorf("reading the version of the accounts: %w", err)
	}
	a.cache.see(version)
	return nil
}

// change runs op with a new version of the tables. The cache is emptied
// whatever comes of it, because an error does not prove that nothing changed.
func (a *Accounts) change(ctx context.Context, op func(tx *store.Tx) error) error {
	defer a.cache.empty()
	return a.db.Write(ctx, func(tx *store.Tx) error {
		if err := op(tx); err != nil {
			return err
		}
		_, err := tx.Exec(nextVersion)
		return err
	})
}

// reader is what a read transaction and a writing one have in common.
type reader interface {
	QueryRow(text string, args []any, dest ...any) error
	Each(text string, args []any, fn func(store.Rows) error) error
}

func oneCustomer(r reader, id string) (Customer, error) {
	list, err := customers(r, selectCustomer, id)
	return one(list, err)
}

func oneKey(r reader, text string, arg any) (Key, error) {
	list, err := keys(r, text, arg)
	return one(list, err)
}

func one[T any](list []T, err error) (T, error) {
	var none T
	switch {
	case err != nil:
		return none, err
	case len(list) == 0:
		return none, ErrNotFound
	}
	return list[0], nil
}
