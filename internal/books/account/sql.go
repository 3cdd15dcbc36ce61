package account

import (
	"encoding/json"
	"time"

	"rubicon/internal/store"
)

const (
	selectCustomer  = `SELECT id, name, suspended, created_at FROM customers WHERE id = ?`
	selectCustomers = `SELECT id, name, suspended, created_at FROM customers WHERE id > ? ORDER BY id LIMIT ?`
	insertCustomer  = `INSERT INTO customers (id, name, suspended, created_at) VALUES (?, ?, ?, ?)`
	updateCustomer  = `UPDATE customers SET name = ?, suspended = ? WHERE id = ?`

	keyColumns = `id, customer, name, models, rpm, tpm, concurrency, delivery, budget_amount, budget_period,` +
		` expires_at, revoked, created_at`
	selectKey       = `SELECT ` + keyColumns + ` FROM api_keys WHERE id = ?`
	selectKeyByHash = `SELECT ` + keyColumns + ` FROM api_keys WHERE secret_hash = ?`
	selectKeysOf    = `SELECT ` + keyColumns + ` FROM api_keys WHERE customer = ? ORDER BY id`
	insertKey       = `INSERT INTO api_keys (` + keyColumns + `, secret_hash)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	updateKey = `UPDATE api_keys SET name = ?, models = ?, rpm = ?, tpm = ?, concurrency = ?, delivery = ?,
		budget_amount = ?, budget_period = ?, expires_at = ?, revoked = ? WHERE id = ?`

	selectVersion = `SELECT version FROM accounts_version WHERE only_row = 1`
	nextVersion   = `UPDATE accounts_version SET version = version + 1 WHERE only_row = 1`
)

func customers(r reader, text string, args ...any) ([]Customer, error) {
	list := []Customer{}
	err := r.Each(text, args, func(row store.Rows) error {
		var (
			c       Customer
			created int64
		)
		if err := row.Scan(&c.ID, &c.Name, &c.Suspended, &created); err != nil {
			return err
		}
		c.CreatedAt = time.UnixMilli(created).UTC()
		list = append(list, c)
		return nil
	})
	return list, err
}

func keys(r reader, text string, args ...any) ([]Key, error) {
	list := []Key{}
	err := r.Each(text, args, func(row store.Rows) error {
		k, err := scanKey(row)
		list = append(list, k)
		return err
	})
	return list, err
}

func scanKey(row store.Rows) (Key, error) {
	var (
		k                Key
		b                Budget
		models           string
		expires, created int64
	)
	err := row.Scan(&k.ID, &k.Customer, &k.Name, &models, &k.RPM, &k.TPM, &k.Concurrency, &k.Delivery,
		&b.Amount, &b.Period, &expires, &k.Revoked, &created)
	if err != nil {
		return Key{}, err
	}
	if models != "" {
		if err := json.Unmarshal([]byte(models), &k.Models); err != nil {
			return Key{}, err
		}
	}
	if b.Period != "" {
		k.Budget = &b
	}
	if expires != 0 {
		at := time.UnixMilli(expires).UTC()
		k.ExpiresAt = &at
	}
	k.CreatedAt = time.UnixMilli(created).UTC()
	return k, nil
}

// limitValues is the columns from models to expires_at.
func limitValues(l Limits) ([]any, error) {
	var (
		models  []byte
		budget  Budget
		expires int64
		err     error
	)
	if len(l.Models) > 0 {
		if models, err = json.Marshal(l.Models); err != nil {
			return nil, err
		}
	}
	if l.Budget != nil {
		budget = *l.Budget
	}
	if l.ExpiresAt != nil {
		expires = l.ExpiresAt.UnixMilli()
	}
	return []any{string(models), l.RPM, l.TPM, l.Concurrency, l.Delivery, int64(budget.Amount), budget.Period, expires}, nil
}
