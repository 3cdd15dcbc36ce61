package app

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"

	"rubicon/internal/config"
	"rubicon/internal/engine/upstream"
	"rubicon/internal/health"
	"rubicon/internal/health/alert"
	"rubicon/internal/health/keep"
	"rubicon/internal/health/orders"
	"rubicon/internal/wire/ident"
)

// healthName is under which name this gateway keeps its health: the same after
// a restart, and another one for each of several that share a database.
func (a *App) healthName() string {
	if !a.db.Shared() {
		return "local"
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return host + " " + a.Config().Listen
}

// openHealth makes the registry and gives it back what the last run knew.
func (a *App) openHealth(ctx context.Context, ids *ident.Source) (err error) {
	a.alerts, err = alert.Open(ctx, alert.Options{DB: a.db, IDs: ids, Log: a.log, Target: a.alertTarget, Dial: alert.Dial(a.opts.Dial),
		Raised: func(k alert.Kind) { a.metrics.Alerted(string(k)) }})
	if err != nil {
		return err
	}
	a.health = health.New(health.Options{Notify: a.onHealthEvent})
	a.orders = orders.New(a.db, a.applyOrder)
	a.healthSaver = keep.New(a.db, a.health, a.healthName(), a.orders.Seen, a.log)
	a.health.Configure(a.Config())
	ordered, err := a.healthSaver.Load(ctx)
	if err == nil {
		err = a.orders.Begin(ctx, ordered)
	}
	if err != nil {
		return fmt.Errorf("taking over the health of the last run: %w", err)
	}
	a.alerts.ResolveEnded(a.stillHolds)
	return nil
}

func (a *App) alertTarget() alert.Target {
	c := a.Config().Alerts
	return alert.Target{URL: c.Webhook, Secret: c.Secret}
}

// onHealthEvent is what health tells: logged, counted, kept, and shown to operators;
// never with a secret. It is called in the middle of requests and waits for
// nothing.
func (a *App) onHealthEvent(e health.Event) {
	a.log.Info("health", "event", e.Kind, "channel", e.Channel, "credential", e.Credential, "model", e.UpstreamModel, "reason", e.Reason)
	a.healthSaver.Changed()
	a.metrics.HealthEvent(e)
	kind := alert.Kind(e.Kind)
	if e.Actor != "" && a.seenChanges.Load() && alert.Begins(kind) {
		return // the node that was told tells
	}
	if alert.Known(kind) {
		a.alerts.Raise(alert.Event{Kind: kind, At: e.At, Channel: e.Channel, Credential: e.Credential, Model: e.UpstreamModel,
			Reason: e.Reason, Actor: e.Actor, Until: e.Until})
	}
}

// doubted tells operators of a usage that cannot be. Raising an alert waits for
// nothing.
func (a *App) doubted(channel, upstreamModel, what string) {
	a.alerts.Raise(alert.Event{Kind: alert.UsageAnomaly, Channel: channel, Model: upstreamModel, Reason: what})
}

// stillHolds tells whether an alert that fires is true of the routes as they
// stand: a restart or a new configuration may have ended it unseen.
func (a *App) stillHolds(x alert.Alert) bool {
	ch := a.Config().Channel(x.Channel)
	if ch == nil {
		return false
	}
	v := a.health.View(ch, x.Model)
	i := slices.IndexFunc(v.Credentials, func(c health.CredentialView) bool { return c.Name == x.Credential })
	switch x.Kind {
	case alert.CredentialDisabled:
		return i >= 0 && v.Credentials[i].State == health.CredentialDisabled
	case alert.CredentialPaused:
		return i >= 0 && v.Credentials[i].State == health.StatePaused
	case alert.ChannelPaused:
		return v.State == health.StatePaused
	case alert.BreakerOpened:
		// Another state may hide the breaker's: an alert too much is the lesser evil.
		return v.State != health.StateClosed
	}
	return true
}

// recheck asks a channel whether it takes a credential again, away from
// customers' traffic.
func (a *App) recheck(ctx context.Context, ch *config.Channel, credential string) error {
	call := &upstream.Call{Channel: ch, Method: http.MethodGet, Path: "/models", Timers: a.Config().Timers, MaxEvent: 4 << 20}
	for i := range ch.Credentials {
		if ch.Credentials[i].Name == credential {
			call.Credential = &ch.Credentials[i]
		}
	}
	if _, failed := a.upstream.Do(ctx, call); failed != nil {
		return failed
	}
	return nil
}
