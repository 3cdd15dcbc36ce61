package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"

	"rubicon/internal/health"
)

// routes counts what health tells.
type routes struct {
	transitions *prometheus.CounterVec
	cooldowns   *prometheus.CounterVec
	events      *prometheus.CounterVec
}

func newRoutes(f factory) routes {
	return routes{
		transitions: f.counter("rubicon_breaker_transitions_total", "Changes of a breaker.", "channel", "upstream_model", "to"),
		cooldowns:   f.counter("rubicon_cooldowns_total", "Cooldowns after rate limits, those that were extended included.", "channel", "credential"),
		events:      f.counter("rubicon_health_events_total", "Whatever changed in the health of a channel.", "channel", "event"),
	}
}

// positions are the breaker's, by the event that tells of it.
var positions = map[health.Kind]string{
	health.BreakerOpened: health.StateOpen, health.BreakerHalfOpen: health.StateHalfOpen, health.BreakerClosed: health.StateClosed,
}

// HealthEvent counts an event of health.
func (m *Metrics) HealthEvent(e health.Event) {
	m.routes.events.WithLabelValues(e.Channel, string(e.Kind)).Inc()
	if to := positions[e.Kind]; to != "" {
		m.routes.transitions.WithLabelValues(e.Channel, e.UpstreamModel, to).Inc()
	}
	if e.Kind == health.CooldownStarted {
		m.routes.cooldowns.WithLabelValues(e.Channel, e.Credential).Inc()
	}
}

// Channel is how a channel stands for one public model.
type Channel struct {
	Name, PublicModel, State string
	Weight, EffectiveWeight  float64
	ConsecutiveFailures      int
	Credentials              []Credential
}

// Credential is how one key of a channel stands for that model.
type Credential struct{ Name, State string }

// states reads the channels when metrics are asked for, so that no change can
// be missed and nothing is counted in between.
type states struct {
	read                                            func() []Channel
	state, weight, effective, failures, credentials *prometheus.Desc
}

func newStates(f factory, read func() []Channel) *states {
	return &states{
		read:        read,
		state:       f.desc("rubicon_channel_state", "1 for the state that a channel is in, 0 for the others.", "channel", "model", "state"),
		weight:      f.desc("rubicon_channel_weight", "Weight as configured or overridden.", "channel", "model"),
		effective:   f.desc("rubicon_channel_effective_weight", "Weight after what rate limits left of it.", "channel", "model"),
		failures:    f.desc("rubicon_channel_consecutive_failures", "Failures in a row that count.", "channel", "model"),
		credentials: f.desc("rubicon_credential_state", "1 for the state that a credential is in, 0 for the others.", "channel", "credential", "model", "state"),
	}
}

var channelStates = [...]string{health.StateClosed, health.StateOpen, health.StateHalfOpen, health.StateCooling, health.StatePaused, health.StateNoCredential}

var credentialStates = [...]string{health.CredentialActive, health.StateCooling, health.StatePaused, health.CredentialDisabled}

// Describe implements prometheus.Collector.
func (s *states) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range [...]*prometheus.Desc{s.state, s.weight, s.effective, s.failures, s.credentials} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (s *states) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for _, c := range s.read() {
		for _, state := range channelStates {
			gauge(s.state, constMetric(state == c.State), c.Name, c.PublicModel, state)
		}
		gauge(s.weight, c.Weight, c.Name, c.PublicModel)
		gauge(s.effective, c.EffectiveWeight, c.Name, c.PublicModel)
		gauge(s.failures, float64(c.ConsecutiveFailures), c.Name, c.PublicModel)
		for _, k := range c.Credentials {
			for _, state := range credentialStates {
				gauge(s.credentials, constMetric(state == k.State), c.Name, k.Name, c.PublicModel, state)
			}
		}
	}
}

func constMetric(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
