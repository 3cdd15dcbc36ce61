package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"rubicon/internal/config"
	"rubicon/internal/health/alert"
	"rubicon/internal/money/price"
	"rubicon/internal/store"
	"rubicon/internal/store/cluster"
	"rubicon/internal/store/spool"
	"rubicon/internal/wire/ident"
)

// join enters this process among those that share the database, and resolves
// what dead ones left behind, before anything is served.
func (a *App) join(ctx context.Context) (err error) {
	cfg := a.Config()
	// Names of their own: they must not be taken by what opts.Rand repeats.
	ids := ident.New(rand.Reader, time.Now)
	a.node, err = cluster.Join(ctx, cluster.Options{DB: a.db, IDs: ids, Log: a.log, Lease: cfg.Store.Lease,
		NodesWithWork: a.nodesWithWork, TakeOver: a.takeOver})
	if err != nil {
		return err
	}
	if err := a.openSpool(ctx, cfg.Store); err != nil {
		return err
	}
	a.bookkeeper.Join(a.node)
	a.bookkeeper.Queue(a.spool, a.log, a.backlog)
	if err := a.node.TakeOverAll(ctx); err != nil {
		return fmt.Errorf("resolving what the last run left open: %w", err)
	}
	return nil
}

// nodesWithWork are the nodes that unfinished work names. The nameless one stands
// for holds that nobody runs.
func (a *App) nodesWithWork(ctx context.Context) ([]string, error) {
	requests, err := a.journal.Nodes(ctx)
	keys, err2 := a.idempotency.Nodes(ctx)
	return append(append(requests, keys...), ""), errors.Join(err, err2)
}

// takeOver resolves what a dead node left behind: the money first, then the
// keys of its requests.
func (a *App) takeOver(ctx context.Context, node string) error {
	cfg := a.Config()
	lists, err := a.prices.All(ctx)
	if err != nil {
		return err
	}
	prices := func(version string) (price.List, bool) {
		list, known := lists[version]
		return list, known
	}
	costs := func(channel, model string) (price.List, bool) {
		m := cfg.Model(model)
		for i := 0; m != nil && i < len(m.Channels); i++ {
			if m.Channels[i].Channel.Name == channel {
				return m.Channels[i].Cost, true
			}
		}
		return price.List{}, false
	}
	n, err := a.bookkeeper.Recover(ctx, node, prices, costs, a.log)
	if n > 0 {
		a.log.Warn("resolved requests that a dead process left open", "node", node, "requests", n)
	}
	if err != nil {
		return err
	}
	return a.idempotency.ReleaseKeysOf(ctx, node)
}

// openSpool makes this process's spool and tells the database what others, now
// dead, left in theirs. That comes before their requests are resolved: it is
// the truth, and anything else an estimate.
func (a *App) openSpool(ctx context.Context, s config.Store) (err error) {
	dir := spoolDir(s)
	if dir == "" {
		a.spool = spool.Memory()
		return nil
	}
	prefix := a.node.Database() + "."
	options := spool.Options{Sync: s.Sync == config.SyncFull, Damaged: a.spoolDamaged}
	left, err := spool.Leftovers(dir, prefix, options)
	for _, l := range left {
		err = errors.Join(err, a.writeBackLeftover(ctx, l, strings.TrimPrefix(l.Name, prefix)))
	}
	if err != nil {
		return err
	}
	a.spool, err = spool.Create(dir, prefix+a.node.ID(), options)
	return err
}

// spoolDamaged tells operators of a part of a spool that cannot be read: the end
// of a request is in it, which is resolved by estimate instead.
func (a *App) spoolDamaged(d spool.Damage) {
	why := fmt.Sprintf("%d bytes of %s, at byte %d, are kept in %s", d.Bytes, d.File, d.At, d.Kept)
	if d.Err != nil {
		why = fmt.Sprintf("%d bytes of %s, at byte %d; the file stays, since they could not be kept in %s", d.Bytes, d.File, d.At, d.Kept)
	}
	a.log.Error("a spool is damaged: everything else in it is carried out", "damage", why, "error", d.Err)
	a.alerts.Raise(alert.Event{Kind: alert.SpoolDamaged, Reason: why})
}

// writeBackLeftover carries out what a dead process's spool holds. That nobody holds the
// file proves the process dead, whatever its lease says.
func (a *App) writeBackLeftover(ctx context.Context, l spool.Leftover, node string) error {
	n, err := a.bookkeeper.WriteBack(ctx, l.Spool)
	if n > 0 {
		a.log.Warn("ends of requests that a dead process could not tell the database are written", "node", node, "requests", n)
	}
	if err == nil {
		err = a.node.RemoveDead(ctx, node)
	}
	return errors.Join(err, l.Close())
}

// spoolDir is the folder of spools; "" for a database that ends with the
// process.
func spoolDir(s config.Store) string {
	file, local := strings.CutPrefix(s.URL.Reveal(), "sqlite:")
	switch {
	case s.Spool != "":
		return s.Spool
	case local && file == ":memory:":
		return ""
	case local:
		return filepath.Dir(file)
	}
	return "."
}

// backlog shows operators that settlements wait, and that they do not any more.
func (a *App) backlog(waiting int, since time.Time) {
	if waiting == 0 {
		a.alerts.Raise(alert.Event{Kind: alert.SettlementCaughtUp})
		return
	}
	a.alerts.Raise(alert.Event{Kind: alert.SettlementBacklog,
		Reason: fmt.Sprintf("%d since %s; customers are served what runs, and new requests are refused", waiting, since.UTC().Format(time.RFC3339))})
}

// leaveCluster takes this process out at the end, unless something of it still waits
// for the database: then the next start, or another node, sees to that.
func (a *App) leaveCluster() {
	ctx, done := context.WithTimeout(context.Background(), leaveTimeout)
	defer done()
	if _, err := a.bookkeeper.WriteBack(ctx, a.spool); err != nil {
		n, _ := a.spool.Waiting()
		a.log.Error("ends of requests wait on disk: the next start tells the database", "requests", n, "error", err)
		return
	}
	if err := a.node.Leave(ctx); err != nil && !errors.Is(err, store.ErrUnavailable) {
		a.log.Warn("leaving the database's nodes", "error", err)
	}
}

// leaveTimeout bounds what a process waits for the database at its end.
const leaveTimeout = 10 * time.Second

// pollEvery is how often a node looks for changes that others made to
// customers, keys and channels. They are effective everywhere within a second.
const pollEvery = 400 * time.Millisecond

// pollOthers makes changes of customers and keys, and operators' orders about
// channels, effective that were made on other nodes.
func (a *App) pollOthers(ctx context.Context) error {
	if !a.db.Shared() {
		<-ctx.Done()
		return nil
	}
	t := time.NewTicker(pollEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			// While the database is away nobody can change anything either.
			_ = a.accounts.Refresh(ctx)
			_ = a.orders.Follow(ctx)
		}
	}
}
