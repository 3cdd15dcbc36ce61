// Package versions keeps every price list that was ever in force: charges name
// the version of theirs, and a configuration shows only the newest.
//
// It is for writing lists down and finding them again. It is not for prices as
// they are now (package config) nor for arithmetic (package price).
//
// Invariant: a list is written before anything is charged by it, and never
// changes: its version is made of its content.
package versions

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"rubicon/internal/money/price"
	"rubicon/internal/store"
)

const (
	insertList = `INSERT INTO prices (version, list, first_used_at) VALUES (?, ?, ?) ON CONFLICT (version) DO NOTHING`
	selectList = `SELECT version, list, first_used_at FROM prices WHERE version = ?`
	listLists  = `SELECT version, list, first_used_at FROM prices ORDER BY first_used_at DESC, version LIMIT ?`
)

// ErrNotFound: no list of this version was ever in force.
var ErrNotFound = errors.New("no such price list")

// PriceList is one with the moment from which it was in force, somewhere.
type PriceList struct {
	Version     string     `json:"version"`
	List        price.List `json:"list"`
	FirstUsedAt time.Time  `json:"first_used_at"`
}

// Lists is the lists of one database.
type Lists struct {
	db  *store.DB
	now func() time.Time
}

// New makes the price lists of db.
func New(db *store.DB, now func() time.Time) *Lists { return &Lists{db: db, now: now} }

// Note writes down the lists that are not yet there.
func (b *Lists) Note(ctx context.Context, lists []price.List) error {
	rows := map[string]string{}
	for _, l := range lists {
		text, err := json.Marshal(l)
		if err != nil {
			return fmt.Errorf("encoding a price list: %w", err)
		}
		rows[l.Version()] = string(text)
	}
	err := b.db.Write(ctx, func(tx *store.Tx) error {
		for version, text := range rows {
			if _, err := tx.Exec(insertList, version, text, b.now().UnixMilli()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("writing price lists down: %w", err)
	}
	return nil
}

// Get finds a list by its version, or ErrNotFound.
func (b *Lists) Get(ctx context.Context, version string) (e PriceList, err error) {
	err = b.db.Read(ctx, func(q *store.Query) error {
		var text string
		var at int64
		if err := q.QueryRow(selectList, []any{version}, &e.Version, &text, &at); err != nil {
			return err
		}
		return e.fill(text, at)
	})
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	if err != nil {
		return PriceList{}, fmt.Errorf("price list %s: %w", version, err)
	}
	return e, nil
}

// List gives the newest ones, newest first.
func (b *Lists) List(ctx context.Context, limit int) ([]PriceList, error) {
	list := []PriceList{}
	err := b.db.Read(ctx, func(q *store.Query) error {
		return q.Each(listLists, []any{limit}, func(row store.Rows) error {
			var e PriceList
			var text string
			var at int64
			if err := row.Scan(&e.Version, &text, &at); err != nil {
				return err
			}
			err := e.fill(text, at)
			list = append(list, e)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("listing price lists: %w", err)
	}
	return list, nil
}

// All gives every list by its version.
func (b *Lists) All(ctx context.Context) (map[string]price.List, error) {
	all, err := b.List(ctx, math.MaxInt32)
	lists := make(map[string]price.List, len(all))
	for _, l := range all {
		lists[l.Version] = l.List
	}
	return lists, err
}

func (e *PriceList) fill(text string, at int64) error {
	e.FirstUsedAt = time.UnixMilli(at).UTC()
	return json.Unmarshal([]byte(text), &e.List)
}
