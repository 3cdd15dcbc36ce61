package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"rubicon/internal/api/admin"
	"rubicon/internal/books/journal"
	"rubicon/internal/config"
	"rubicon/internal/health"
	"rubicon/internal/health/alert"
	"rubicon/internal/health/orders"
	"rubicon/internal/health/route"
)

func (a *App) adminHandler() http.Handler {
	cfg := a.Config()
	op := operator{a}
	return admin.New(admin.Deps{Token: cfg.Admin.Token, Accounts: a.accounts, Ledger: a.ledger, Verify: a.verify, Journal: a.journal,
		Channels: op, Planner: op, Alerts: op, Prices: a.prices, HasModel: func(name string) bool { return a.Config().Model(name) != nil }, Metrics: a.metrics.Handler(), IDs: a.ids, Log: a.log, Profiling: cfg.Admin.Profiling, Version: a.opts.Version})
}

// operator is what the admin API sees of channels.
type operator struct{ *App }

// Channels gives one row per channel and public model.
func (o operator) Channels(context.Context) ([]admin.Channel, error) { return o.rows(), nil }

func (o operator) rows() []admin.Channel {
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
			row := admin.Channel{Channel: c.Channel.Name, PublicModel: m.Name, State: v.State, Reason: v.Reason, Since: formatTime(v.Since),
				Until: formatTime(v.Until), Weight: weight, EffectiveWeight: weight * v.Factor, ConsecutiveFailures: v.ConsecutiveFailures,
				Credentials: []admin.Credential{}}
			for _, k := range v.Credentials {
				row.Credentials = append(row.Credentials, admin.Credential{Name: k.Name, State: k.State, Reason: k.Reason, Until: formatTime(k.Until)})
			}
			out = append(out, row)
		}
	}
	return out
}

func formatTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// orderTime bounds how long an operator waits for his change to be durable.
const orderTime = 10 * time.Second

// Override applies an operator's change, here at once and on the other nodes
// within a second; it is durable when it returns.
func (o operator) Override(ctx context.Context, x admin.Override) error {
	if err := orderApplies(o.Config(), x); err != nil {
		return err
	}
	// Half done is worse than late: whoever asked may have gone.
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), orderTime)
	defer done()
	return o.orders.Add(ctx, orders.Order{Action: string(x.Action), Channel: x.Channel, Credential: x.Credential,
		PublicModel: x.PublicModel, Weight: x.Weight, Reason: x.Reason, Actor: x.Actor})
}

// applyOrder carries out an order, given here or elsewhere. What another node's
// configuration has and this one's has not is not for this one.
func (a *App) applyOrder(x orders.Order, given bool) {
	a.seenChanges.Store(!given)
	defer a.seenChanges.Store(false)
	var err error
	switch admin.Action(x.Action) {
	case admin.ActionPause:
		err = a.health.Pause(x.Channel, x.Reason, x.Actor)
	case admin.ActionResume:
		err = a.health.Resume(x.Channel, x.Reason, x.Actor)
	case admin.ActionEnable, admin.ActionDisable:
		err = a.health.SetCredential(x.Channel, x.Credential, admin.Action(x.Action) == admin.ActionEnable, x.Reason, x.Actor)
	case admin.ActionWeight:
		err = a.health.SetWeight(x.PublicModel, x.Channel, x.Weight)
	}
	if err != nil {
		a.log.Debug("an order that is not for this node", "action", x.Action, "channel", x.Channel, "reason", err)
	}
}

// orderApplies tells whether the configuration knows what an order is about.
func orderApplies(cfg *config.Config, x admin.Override) error {
	ch := cfg.Channel(x.Channel)
	switch {
	case x.Action == admin.ActionWeight:
		return weightApplies(cfg, x)
	case ch == nil:
		return fmt.Errorf("%w: %w", admin.ErrUnknown, &health.Unknown{Channel: x.Channel})
	case x.Action != admin.ActionEnable && x.Action != admin.ActionDisable:
		return nil
	case !slices.ContainsFunc(ch.Credentials, func(c config.Credential) bool { return c.Name == x.Credential }):
		return fmt.Errorf("%w: %w", admin.ErrUnknown, &health.Unknown{Channel: x.Channel, Credential: x.Credential})
	}
	return nil
}

// weightApplies tells whether the public model lists the channel.
func weightApplies(cfg *config.Config, x admin.Override) error {
	m := cfg.Model(x.PublicModel)
	switch {
	case m == nil:
		return fmt.Errorf("%w: no public model %q", admin.ErrUnknown, x.PublicModel)
	case cfg.Channel(x.Channel) == nil:
		return fmt.Errorf("%w: no channel %q", admin.ErrUnknown, x.Channel)
	case !slices.ContainsFunc(m.Channels, func(c config.Candidate) bool { return c.Channel.Name == x.Channel }):
		return fmt.Errorf("%w: the public model %q does not list the channel %q", admin.ErrInvalid, x.PublicModel, x.Channel)
	case x.Weight > config.MaxRank:
		return fmt.Errorf("%w: the weight is above %d", admin.ErrInvalid, config.MaxRank)
	}
	return nil
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

// Alerts lists what operators were told.
func (o operator) Alerts(ctx context.Context, p admin.Page) ([]admin.Alert, string, error) {
	list, next, err := o.alerts.List(ctx, p.Cursor, p.Limit)
	if errors.Is(err, alert.ErrInvalid) {
		return nil, "", fmt.Errorf("%w: %w", admin.ErrInvalid, err)
	}
	out := make([]admin.Alert, len(list))
	for i, a := range list {
		out[i] = admin.Alert{At: a.At, Kind: string(a.Kind), Channel: a.Channel, Credential: a.Credential, Message: a.Message, State: a.State}
	}
	return out, next, err
}
