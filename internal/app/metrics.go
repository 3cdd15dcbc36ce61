package app

import (
	"context"
	"time"

	"rubicon/internal/api/telemetry"
)

// scrapeTime bounds what a scrape asks of the database.
const scrapeTime = 2 * time.Second

// newMetrics makes the metrics; what they read exists once somebody asks.
func (a *App) newMetrics() *telemetry.Metrics {
	m := telemetry.New(telemetry.Options{
		Version:  a.opts.Version,
		Channels: a.channelStates,
		Known:    func(model string) bool { return a.Config().Model(model) != nil },
		Waiting: func() (int64, error) {
			ctx, done := context.WithTimeout(context.Background(), scrapeTime)
			defer done()
			return a.alerts.Pending(ctx)
		},
		Backlog:    func() (int, time.Time) { return a.bookkeeper.Waiting() },
		Unrecorded: func() int64 { return a.bookkeeper.Unrecorded() },
	})
	m.Configured(a.Config().Version(), time.Now(), false)
	return m
}

// channelStates is what the admin API shows, as metrics.
func (a *App) channelStates() []telemetry.Channel {
	rows := operator{a}.rows()
	out := make([]telemetry.Channel, len(rows))
	for i, r := range rows {
		out[i] = telemetry.Channel{Name: r.Channel, PublicModel: r.PublicModel, State: r.State, Weight: r.Weight,
			EffectiveWeight: r.EffectiveWeight, ConsecutiveFailures: r.ConsecutiveFailures}
		for _, k := range r.Credentials {
			out[i].Credentials = append(out[i].Credentials, telemetry.Credential{Name: k.Name, State: k.State})
		}
	}
	return out
}
