// Package cluster knows which gateway processes share a database, and hands
// what a dead one left behind to a living one.
//
// It is for the registry of nodes and their leases. It is not for what a node
// works on: whoever writes unfinished work names the node in it, and tells
// this package how to find and resolve it.
//
// Invariants: unfinished work is resolved by another node only after its own
// node's row is gone, and no work can begin under a node whose row is gone
// (Check); a row is removed only by its own node, or after a lease without a
// beat that the remover watched without a break, or when the process is known
// to be dead.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"rubicon/internal/store"
	"rubicon/internal/wire/ident"
)

// ErrLeaseLost: the lease of this node expired, because it could not reach the
// database for a lease. It must join again under another name.
var ErrLeaseLost = errors.New("this node's lease ran out and another node took over")

// Options are what a node works with. All of it is required.
type Options struct {
	DB    *store.DB
	IDs   *ident.Source
	Log   *slog.Logger
	Lease time.Duration
	// NodesWithWork tells which nodes unfinished work names.
	NodesWithWork func(ctx context.Context) ([]string, error)
	// TakeOver resolves the unfinished work of a node that is no more. It may
	// be called for the same node more than once, and by more than one node.
	TakeOver func(ctx context.Context, node string) error
}

// renewalsPerLease is how many renewals may fail before the lease of a node expires.
const renewalsPerLease = 5

// Node is this process among those that share a database.
type Node struct {
	Options
	database string
	host     string

	count atomic.Int64 // of nodes, when last looked

	joining sync.Mutex // one Rejoin at a time
	mu      sync.Mutex
	id      string
}

// Join enters this process under a new name. On a database that cannot be
// shared every other process is dead, and its row goes at once.
func Join(ctx context.Context, o Options) (*Node, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	n := &Node{Options: o, host: host}
	if err := n.identify(ctx); err != nil {
		return nil, fmt.Errorf("joining the database's nodes: %w", err)
	}
	if err := n.enter(ctx); err != nil {
		return nil, fmt.Errorf("joining the database's nodes: %w", err)
	}
	return n, nil
}

// identify reads the name of the database, or gives it one.
func (n *Node) identify(ctx context.Context) error {
	return n.DB.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.Exec(insertIdentity, n.IDs.ID("store")); err != nil {
			return err
		}
		return tx.QueryRow(selectIdentity, nil, &n.database)
	})
}

func (n *Node) enter(ctx context.Context) error {
	id := n.IDs.ID("node")
	err := n.DB.Write(ctx, func(tx *store.Tx) error {
		if !n.DB.Shared() {
			if _, err := tx.Exec(deleteAll); err != nil {
				return err
			}
		}
		_, err := tx.Exec(insertNode, id, n.host, time.Now().UnixMilli())
		return err
	})
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.id = id
	return nil
}

// ID is the name of this process in the database.
func (n *Node) ID() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.id
}

// Database is the name of the database: no two have the same.
func (n *Node) Database() string { return n.database }

// Count is how many nodes there are, this one included, as of the last look.
func (n *Node) Count() int { return int(max(n.count.Load(), 1)) }

// Rejoin enters the process again after ErrLeaseLost for the name it had.
func (n *Node) Rejoin(ctx context.Context, buried string) error {
	n.joining.Lock()
	defer n.joining.Unlock()
	if n.ID() != buried {
		return nil // another node was quicker
	}
	if err := n.enter(ctx); err != nil {
		return fmt.Errorf("joining the database's nodes again: %w", err)
	}
	n.Log.Error("another node took over this one's requests: it could not reach the database for a lease", "lease", n.Lease,
		"was", buried, "is", n.ID())
	return nil
}

// Renew shows that the process lives, which is also a test of whether the
// database takes writes.
func (n *Node) Renew(ctx context.Context) error {
	id := n.ID()
	var changed int64
	err := n.DB.Write(ctx, func(tx *store.Tx) (err error) {
		changed, err = tx.Exec(renew, id)
		return err
	}, Expect(id)) // what is announced is not waited for: others need the writer
	if err == nil && changed == 0 {
		return n.Rejoin(ctx, id)
	}
	return err
}

// Leave takes this process out, once nothing unfinished names it.
func (n *Node) Leave(ctx context.Context) error { return n.remove(ctx, n.ID()) }

// RemoveDead takes a process out that is known to be dead.
func (n *Node) RemoveDead(ctx context.Context, id string) error { return n.remove(ctx, id) }

func (n *Node) remove(ctx context.Context, id string) error {
	err := n.DB.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(deleteNode, id)
		return err
	})
	if err != nil {
		return fmt.Errorf("removing node %s: %w", id, err)
	}
	return nil
}
