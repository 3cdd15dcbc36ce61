package idempotency

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"rubicon/internal/store"
)

// The states of a key in the database.
const (
	stateReleased = ""        // no row
	stateRunning  = "running" // on a node
	stateKept     = "kept"    // answered, and the answer is there
	stateNotKept  = "lost"    // answered, but the answer is not there
)

// answer is a key's row.
type answer struct {
	digest          [sha256.Size]byte
	requestID, node string
	state           string
	status          int
	header          http.Header
	body            []byte
}

// Knows tells whether a request runs or was answered under a customer's key, as
// far as one can tell: then a repeat asks for nothing new.
func (k *Keys) Knows(ctx context.Context, customer, key string) bool {
	k.mu.Lock()
	runs := k.flights[id{customer, key}] != nil
	k.mu.Unlock()
	if runs {
		return true
	}
	n := 0
	err := k.DB.Read(ctx, func(q *store.Query) error {
		return q.QueryRow(countAnswers, []any{customer, key, k.Now().UnixMilli()}, &n)
	})
	return err == nil && n > 0
}

// claim makes the call the one that runs under its key, durably; otherwise it
// gives what stands there.
func (k *Keys) claim(ctx context.Context, c Call) (*answer, error) {
	found, err := k.claimOnce(ctx, c)
	if err != nil || found == nil || found.state != stateRunning || found.node != k.Node() {
		return found, err
	}
	// This node runs nothing under the key, or it would have been joined: the
	// end of an earlier request could not be written.
	if err := k.releaseKeys(ctx, oneKey, k.Node(), c.Customer, c.Key); err != nil {
		return nil, err
	}
	return k.claimOnce(ctx, c)
}

// errReleased is a key that another node freed between two looks at it.
var errReleased = errors.New("the key was freed at this moment")

func (k *Keys) claimOnce(ctx context.Context, c Call) (found *answer, err error) {
	for range 3 {
		if found, err = k.tryClaim(ctx, c); !errors.Is(err, errReleased) {
			break
		}
	}
	return found, err
}

func (k *Keys) tryClaim(ctx context.Context, c Call) (found *answer, err error) {
	now := k.Now()
	expires := now.Add(keepFor).UnixMilli()
	err = k.DB.Write(ctx, func(tx *store.Tx) error {
		found = nil
		n, err := tx.Exec(insertClaim, c.Customer, c.Key, c.Digest[:], c.RequestID, k.Node(), expires)
		if err != nil || n > 0 {
			return err
		}
		n, err = tx.Exec(renewClaim, c.Digest[:], c.RequestID, k.Node(), expires, c.Customer, c.Key, now.UnixMilli())
		if err != nil || n > 0 {
			return err
		}
		found, err = readAnswer(tx, c)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("claiming an idempotency key: %w", err)
	}
	return found, nil
}

func readAnswer(tx *store.Tx, c Call) (*answer, error) {
	var (
		a              answer
		digest, header []byte
	)
	err := tx.QueryRow(selectAnswer, []any{c.Customer, c.Key}, &digest, &a.requestID, &a.node, &a.state, &a.status, &header, &a.body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, errReleased
	}
	if err != nil {
		return nil, err
	}
	copy(a.digest[:], digest)
	if len(header) > 0 {
		err = json.Unmarshal(header, &a.header)
	}
	return &a, err
}

// finish writes what became of the call: its answer, or that the key is free.
func (k *Keys) finish(ctx context.Context, c Call, a *answer) error {
	key := []any{c.Customer, c.Key, c.RequestID}
	text, args := deleteClaim, key
	switch a.state {
	case stateNotKept:
		text = markNotKept
	case stateKept:
		header, err := json.Marshal(a.header)
		if err != nil {
			return err
		}
		text, args = keepAnswer, append([]any{a.status, string(header), len(a.body), a.body}, key...)
	}
	err := k.DB.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(text, args...)
		return err
	})
	if err != nil {
		return err
	}
	k.stored.Add(int64(len(a.body)))
	return nil
}

// ReleaseKeysOf frees the keys of what a node that died had running. What had been
// charged is not run again: its answer counts as not kept. The money of the
// node's requests must have been resolved before.
func (k *Keys) ReleaseKeysOf(ctx context.Context, node string) error {
	return k.releaseKeys(ctx, "", node)
}

// Nodes lists the nodes that keys of running requests name.
func (k *Keys) Nodes(ctx context.Context) (nodes []string, err error) {
	err = k.DB.Read(ctx, func(q *store.Query) error {
		return q.Each(selectNodes, nil, func(row store.Rows) error {
			var node string
			err := row.Scan(&node)
			nodes = append(nodes, node)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("listing the nodes of idempotency keys: %w", err)
	}
	return nodes, nil
}

func (k *Keys) releaseKeys(ctx context.Context, where string, args ...any) error {
	err := k.DB.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.Exec(deleteUnchargedClaims+where, args...); err != nil {
			return err
		}
		_, err := tx.Exec(markChargedNotKept+where, args...)
		return err
	})
	if err != nil {
		return fmt.Errorf("freeing idempotency keys: %w", err)
	}
	return nil
}

// Run deletes what is past its time and keeps the store within its bound, until
// ctx ends.
func (k *Keys) Run(ctx context.Context) error {
	t := time.NewTicker(time.Minute)
	defer t.Stop()
	k.stored.Store(maxStored) // nobody has looked yet
	for {
		if err := k.deleteExpired(ctx); err != nil && ctx.Err() == nil {
			k.Log.Warn("tidying up recorded answers", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
	}
}

// deleteStep bounds how long one deletion keeps the writer busy.
const deleteStep = 200

func (k *Keys) deleteExpired(ctx context.Context) error {
	for n := int64(deleteStep); n == deleteStep; {
		err := k.DB.Write(ctx, func(tx *store.Tx) (err error) {
			n, err = tx.Exec(deleteExpired, k.Now().UnixMilli(), deleteStep)
			return err
		})
		if err != nil {
			return err
		}
	}
	if k.stored.Load() < maxStored/16 {
		return nil
	}
	k.stored.Store(0)
	return k.deleteOldest(ctx, maxStored)
}

// deleteOldest lets go of the oldest answers until no more than most bytes are left.
// Their keys stay taken.
func (k *Keys) deleteOldest(ctx context.Context, most int64) error {
	for {
		var sum, freed int64
		err := k.DB.Write(ctx, func(tx *store.Tx) error {
			freed = 0
			if err := tx.QueryRow(sumStored, nil, &sum); err != nil || sum <= most {
				return err
			}
			var oldest [][]any
			err := tx.Each(oldestStored, []any{deleteStep}, func(row store.Rows) error {
				var customer, key, request string
				var size int64
				err := row.Scan(&customer, &key, &request, &size)
				if sum-freed > most {
					freed += size
					oldest = append(oldest, []any{customer, key, request})
				}
				return err
			})
			for _, key := range oldest {
				if err == nil {
					_, err = tx.Exec(markNotKept, key...)
				}
			}
			return err
		})
		if err != nil || freed == 0 || sum-freed <= most {
			return err
		}
	}
}
