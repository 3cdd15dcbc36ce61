package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"rubicon/internal/admin"
	"rubicon/internal/alert"
	"rubicon/internal/config"
	"rubicon/internal/health"
	"rubicon/internal/journal"
	"rubicon/internal/route"
)

func (a *App) adminHandler() http.Handler {
	cfg := a.Config()
	op := operator{a}
	return admin.New(admin.Deps{Token: cfg.Admin.Token, Accounts: a.accounts, Ledger: a.ledger, Verify: a.verify, Journal: a.journal,
		Channels: op, Planner: op, Alerts: op, Prices: a.prices, Metrics: a.metrics.Handler(), IDs: a.ids, Log: a.log, Profiling: cfg.Admin.Profiling, Version: a.opts.Version})
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
			row := admin.Channel{Channel: c.Channel.Name, PublicModel: m.Name, State: v.State, Reason: v.Reason, Since: moment(v.Since),
				Until: moment(v.Until), Weight: weight, EffectiveWeight: weight * v.Factor, ConsecutiveFailures: v.ConsecutiveFailures,
				Credentials: []admin.Credential{}}
			for _, k := range v.Credentials {
				row.Credentials = append(row.Credentials, admin.Credential{Name: k.Name, State: k.State, Reason: k.Reason, Until: moment(k.Until)})
			}
			out = append(out, row)
		}
	}
	return out
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// saveTime bounds how long an operator waits for his change to be durable.
const saveTime = 10 * time.Second

// Override applies an operator's change; it is durable when it returns.
func (o operator) Override(ctx context.Context, x admin.Override) error {
	if err := o.order(x); err != nil {
		var unknown *health.Unknown
		if errors.As(err, &unknown) {
			return fmt.Errorf("%w: %w", admin.ErrUnknown, err)
		}
		return err
	}
	// Half done is worse than late: whoever asked may have gone.
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer done()
	return o.keeper.Save(ctx)
}

func (o operator) order(x admin.Override) error {
	switch x.Action {
	case admin.ActionPause:
		return o.health.Pause(x.Channel, x.Reason, x.Actor)
	case admin.ActionResume:
		return o.health.Resume(x.Channel, x.Reason, x.Actor)
	case admin.ActionEnable, admin.ActionDisable:
		return o.health.SetCredential(x.Channel, x.Credential, x.Action == admin.ActionEnable, x.Reason, x.Actor)
	case admin.ActionWeight:
		return o.weigh(x)
	}
	return fmt.Errorf("%w: %q", admin.ErrInvalid, x.Action)
}

// weigh sets a weight of a channel that the public model lists.
func (o operator) weigh(x admin.Override) error {
	cfg := o.Config()
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
	return o.health.SetWeight(x.PublicModel, x.Channel, x.Weight)
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
