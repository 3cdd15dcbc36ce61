package health

import (
	"time"

	"rubicon/internal/health/breaker"
)

// Event is a change worth an alert, a log line or a metric.
type Event struct {
	Kind          Kind
	At            time.Time
	Channel       string
	Credential    string // "" where the whole channel is meant
	UpstreamModel string // "" where all are meant
	PublicModel   string // WeightSet
	Reason        string
	Actor         string    // the operator; "" the gateway
	Until         time.Time // zero: without an end
	Weight        int       // WeightSet; negative: the override was removed
}

// Kind names an event; it is the same word in alerts, logs and metrics.
type Kind string

// The kinds of events.
const (
	BreakerOpened           Kind = "breaker_opened"
	BreakerHalfOpen         Kind = "breaker_half_open"
	BreakerClosed           Kind = "breaker_closed"
	CredentialDisabledEvent Kind = "credential_disabled"
	CredentialEnabledEvent  Kind = "credential_enabled"
	CredentialPaused        Kind = "credential_paused"  // upstream's balance
	CredentialResumed       Kind = "credential_resumed" // upstream's balance
	ChannelPaused           Kind = "channel_paused"     // by an operator, or all of its credentials are
	ChannelResumed          Kind = "channel_resumed"
	CooldownStarted         Kind = "cooldown"
	ChannelUnfit            Kind = "channel_unfit"
	WeightSet               Kind = "weight_set"
)

var entered = map[breaker.Position]Kind{
	breaker.Open: BreakerOpened, breaker.HalfOpen: BreakerHalfOpen, breaker.Closed: BreakerClosed,
}

// changes are the events of a breaker's step.
func changes(e breaker.Effect, s breaker.State, route Route, now time.Time) (out []Event) {
	for _, p := range e.Changes {
		if p == "" {
			continue
		}
		ev := Event{Kind: entered[p], At: now, Channel: route.Channel, UpstreamModel: route.UpstreamModel}
		if p == breaker.Open {
			ev.Reason, ev.Until = s.Cause, s.Until
		}
		out = append(out, ev)
	}
	return out
}
