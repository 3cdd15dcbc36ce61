package app

import (
	"context"
	"fmt"
	"time"

	"rubicon/internal/api/httpapi"
	"rubicon/internal/store"
	"rubicon/internal/wire/fault"
)

// openStore opens the database and brings its schema up to date. One that is
// away is waited for, up to store.wait: meanwhile the clients' port is open and
// says so.
func (a *App) openStore(ctx context.Context) error {
	wait, began := a.Config().Store.Wait, time.Now()
	err := a.tryStore(ctx)
	if err == nil || wait == 0 || !store.WorthWaiting(err) {
		return err
	}
	a.log.Warn("the database is away: this start waits for it", "store.wait", wait, "error", err)
	if err := a.serveEarly(); err != nil {
		return err
	}
	t := time.NewTicker(tryStoreEvery)
	defer t.Stop()
	for time.Since(began) < wait {
		select {
		case <-ctx.Done():
			return fmt.Errorf("ended while waiting for the database: %w", err)
		case <-t.C:
		}
		if err = a.tryStore(ctx); err == nil {
			a.log.Info("the database is there", "waited", time.Since(began).Round(time.Millisecond))
			return nil
		}
		if ctx.Err() == nil && !store.WorthWaiting(err) {
			return err
		}
	}
	return fmt.Errorf("the database did not come within %s (store.wait): %w", wait, err)
}

// tryStoreEvery is how often a start tries a database that is away.
const tryStoreEvery = 500 * time.Millisecond

func (a *App) tryStore(ctx context.Context) error {
	s := a.Config().Store
	db, err := store.Open(ctx, s.URL.Reveal(), store.Options{Sync: s.Sync, Exclusive: true})
	if err != nil {
		return fmt.Errorf("check store.url: %w", err)
	}
	if err := db.Migrate(ctx); err != nil {
		_ = db.Close() // which changed nothing
		return fmt.Errorf("migrating the database: %w", err)
	}
	a.db = db
	return nil
}

// early is the clients' port while the gateway is not there yet.
type early struct {
	over chan struct{}
	err  error
}

func (e *early) wait() error {
	<-e.over
	return e.err
}

// serveEarly opens the clients' port before there is anything behind it.
func (a *App) serveEarly() error {
	if err := a.listenForClients(); err != nil {
		return err
	}
	handler := httpapi.New(httpapi.Deps{Config: a.Config, IDs: a.ids, Log: a.log, Closed: func() *fault.Error {
		return fault.New(fault.StoreUnavailable, "The gateway starts, and waits for its database.")
	}}, nil)
	a.clientAPI.Store(&handler)
	a.early = &early{over: make(chan struct{})}
	go func() {
		defer close(a.early.over)
		a.early.err = a.serveClientPort()
	}()
	return nil
}
