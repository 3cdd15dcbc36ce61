package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"rubicon/internal/admin"
	"rubicon/internal/config"
	"rubicon/internal/health"
	"rubicon/internal/ident"
	"rubicon/internal/journal"
	"rubicon/internal/route"
	"rubicon/internal/upstream"
)

func (a *App) adminHandler(ids *ident.Source) http.Handler {
	cfg := a.Config()
	op := operator{a}
	return admin.New(admin.Deps{Token: cfg.Admin.Token, Accounts: a.accounts, Ledger: a.ledger, Journal: a.journal,
		Channels: op, Planner: op, Alerts: op, IDs: ids, Log: a.log, Profiling: cfg.Admin.Profiling, Version: a.opts.Version})
}

// operator is what the admin API sees of channels.
type operator struct{ *App }

// Channels gives one row per channel and public model.
func (o operator) Channels(context.Context) ([]admin.Channel, error) {
	cfg := o.Config()
	var out []admin.Channel
	for i := range cfg.Models {
		m := &cfg.Models[i]
		for j := range m.Channels {
			c := &m.Channels[j]
			v := o.health.View(c.Channel, c.UpstreamModel)
			weight := float64(c.Weight)
			if w, set := o.health.Weight(m.Name, c.Channel.Name); set {
				weight = float64(w)
			}
			row := admin.Channel{Channel: c.Channel.Name, PublicModel: m.Name, State: v.State, Reason: v.Reason, Since: moment(v.Since),
				Until: moment(v.Until), Weight: weight, EffectiveWeight: weight * v.Factor, ConsecutiveFailures: v.ConsecutiveFailures,
				Credentials: []admin.Credential{}}
			for _, k := range v.Credentials {
				row.Credentials = append(row.Credentials, admin.Credential{Name: k.Name, State: k.State, Reason: k.Reason, Until: moment(k.Until)})
			}
			out = append(out, row)
		}
	}
	return out, nil
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// Override applies an operator's change.
func (o operator) Override(_ context.Context, x admin.Override) error {
	var err error
	switch x.Action {
	case admin.ActionPause:
		err = o.health.Pause(x.Channel, x.Reason, x.Actor)
	case admin.ActionResume:
		err = o.health.Resume(x.Channel, x.Reason, x.Actor)
	case admin.ActionEnable, admin.ActionDisable:
		err = o.health.SetCredential(x.Channel, x.Credential, x.Action == admin.ActionEnable, x.Reason, x.Actor)
	case admin.ActionWeight:
		err = o.health.SetWeight(x.PublicModel, x.Channel, x.Weight)
	}
	var unknown *health.Unknown
	if errors.As(err, &unknown) {
		return fmt.Errorf("%w: %w", admin.ErrUnknown, err)
	}
	return err
}

// Plan tells what would be chosen now.
func (o operator) Plan(_ context.Context, model, protocol string) (journal.Decision, error) {
	m := o.Config().Model(model)
	if m == nil {
		return journal.Decision{}, admin.ErrUnknown
	}
	if protocol == "" {
		protocol = m.Channels[0].Channel.Protocol
	}
	views := make([]health.View, len(m.Channels))
	for i := range m.Channels {
		views[i] = o.health.View(m.Channels[i].Channel, m.Channels[i].UpstreamModel)
	}
	_, _, d := route.Choose(m, views, route.Query{Protocol: protocol, Random: o.opts.Random,
		Weight: func(channel string) (int, bool) { return o.health.Weight(model, channel) }})
	d.N = 1
	return d, nil
}

// Alerts is empty until alerts exist.
func (o operator) Alerts(context.Context, admin.Page) ([]admin.Alert, string, error) {
	return []admin.Alert{}, "", nil
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

// heard is what health tells: logged, never with a secret.
func (a *App) heard(e health.Event) {
	a.log.Info("health", "event", e.Kind, "channel", e.Channel, "credential", e.Credential, "model", e.UpstreamModel, "reason", e.Reason)
}
