package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"rubicon/internal/store"
)

// Run beats, watches the other nodes, and takes over from those that died,
// until ctx ends. It returns nil. On a database that cannot be shared there is
// nobody to beat for.
func (n *Node) Run(ctx context.Context) error {
	if !n.DB.Shared() {
		<-ctx.Done()
		return nil
	}
	every := n.Lease / renewalsPerLease
	t := time.NewTicker(every)
	defer t.Stop()
	var (
		w    watch
		down bool // and said so
		turn int
	)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
		err := n.renewAndCheck(ctx, &w)
		if turn++; err == nil && turn%renewalsPerLease == 0 {
			err = n.TakeOverAll(ctx)
		}
		if ctx.Err() == nil && (err != nil) != down {
			if down = err != nil; down {
				n.Log.Warn("no sign of life to the other nodes: trying again", "error", err)
			} else {
				n.Log.Info("the other nodes see this one again")
			}
		}
	}
}

// renewAndCheck is one beat and one look.
func (n *Node) renewAndCheck(ctx context.Context, w *watch) error {
	// Late is as bad as never, and the ticks that are missed count.
	ctx, done := context.WithTimeout(ctx, n.Lease/2)
	defer done()
	err := n.Renew(ctx)
	var beats map[string]int64
	if err == nil {
		beats, err = n.renewals(ctx)
	}
	if err != nil {
		w.reset()
		return err
	}
	delete(beats, n.ID())
	for _, id := range w.update(time.Now(), beats, n.Lease, n.Lease/2) {
		err = errors.Join(err, n.takeOverExpired(ctx, id, beats[id]))
	}
	return err
}

func (n *Node) renewals(ctx context.Context) (map[string]int64, error) {
	beats := map[string]int64{}
	err := n.DB.Read(ctx, func(q *store.Query) error {
		return q.Each(selectBeats, nil, func(row store.Rows) error {
			var (
				id   string
				beat int64
			)
			err := row.Scan(&id, &beat)
			beats[id] = beat
			return err
		})
	})
	if err == nil {
		n.count.Store(int64(len(beats)))
	}
	return beats, err
}

// takeOverExpired removes a node whose lease ran out, and takes its work over; another
// node may do the same at this moment.
func (n *Node) takeOverExpired(ctx context.Context, id string, beat int64) error {
	var removed int64
	err := n.DB.Write(ctx, func(tx *store.Tx) (err error) {
		removed, err = tx.Exec(deleteSilent, id, beat)
		return err
	})
	if err != nil {
		return fmt.Errorf("removing node %s: %w", id, err)
	}
	if removed == 0 {
		return nil // it runs, or another node took over
	}
	n.Log.Warn("a node's lease ran out: taking its requests over", "node", id, "lease", n.Lease)
	return n.TakeOverAll(ctx)
}

// TakeOverAll takes over whatever names a node that is no more: of one that was
// removed, and of one whose remover died in turn.
func (n *Node) TakeOverAll(ctx context.Context) error {
	// In this order: a node enters before anything names it.
	claimants, err := n.NodesWithWork(ctx)
	if err != nil || len(claimants) == 0 {
		return err
	}
	beats, err := n.renewals(ctx)
	if err != nil {
		return err
	}
	slices.Sort(claimants)
	for _, id := range slices.Compact(claimants) {
		if _, alive := beats[id]; alive {
			continue
		}
		if err := n.TakeOver(ctx, id); err != nil {
			return fmt.Errorf("taking over from node %s: %w", id, err)
		}
	}
	return nil
}
