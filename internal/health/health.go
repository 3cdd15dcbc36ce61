// Package health knows which routes are fit for traffic: a breaker per channel
// and upstream model, cooldowns, pauses and disabled credentials, and what
// operators ordered. What each class of failure does to a route is one table
// (effects.go).
//
// It chooses no route, sends nothing (re-checks are injected) and stores
// nothing (Export and Import are values).
//
// Invariants: every permit that Allow gave comes back exactly once, at the
// latest by its own deadline; results of an older generation decide nothing;
// no failure of one customer's making (400 class, his leaving, our own limits)
// touches a route; Notify is never called under the lock.
package health

import (
	"net/http"
	"time"

	"context"

	"rubicon/internal/classify"
	"rubicon/internal/config"
)

// States of a channel, as the admin API spells them.
const (
	StateClosed       = "closed"
	StateOpen         = "open"
	StateHalfOpen     = "half_open"
	StateCooling      = "cooling"
	StatePaused       = "paused"
	StateNoCredential = "no_credential"
)

// States of a credential. Cooling and paused are a channel's states too.
const (
	CredentialActive   = "active"
	CredentialDisabled = "disabled"
)

// Reasons that the gateway itself gives for a state; operators give their own.
const (
	ReasonRateLimited     = "rate_limited"
	ReasonUpstreamBalance = "upstream_balance"
	ReasonUpstreamAuth    = "upstream_auth"
	ReasonOperator        = "operator" // an operator who gave none
)

// Options set up a Registry. Zero durations mean the defaults that are named.
type Options struct {
	Now          func() time.Time // time.Now
	Breaker      config.Breaker   // Configure replaces these three
	Cooldown     config.Cooldown
	BalancePause time.Duration
	Recheck      time.Duration // between re-checks of a disabled credential: 10 min
	WeightStep   time.Duration // a lowered weight doubles after each: 30 s
	Notify       func(Event)   // called outside the lock, in the caller's goroutine; may call the Registry
}

// Registry holds the health of all routes. It is safe for concurrent use.
type Registry struct{ now func() time.Time }

// New makes an empty registry; Configure tells it the channels. Routes of
// channels that it does not know are let through and not judged.
func New(o Options) *Registry {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Registry{now: o.Now}
}

// Configure takes over a configuration: state is kept by names of channel,
// credential and upstream model, what vanished is dropped. A credential whose
// key changed starts anew (an operator's order apart).
func (r *Registry) Configure(cfg *config.Config) {}

// Route is a channel with one of its credentials ("" for a keyless channel)
// for one upstream model.
type Route struct{ Channel, Credential, UpstreamModel string }

// View is the health of a channel for one upstream model at one moment.
type View struct {
	State               string
	Reason              string
	Since, Until        time.Time // zero: unknown, without an end
	Usable              bool      // at least one credential may be used now
	Factor              float64   // of the weight: 1 down to the floor after 429s
	ConsecutiveFailures int
	Credentials         []CredentialView // in the configuration's order; one named "" for a keyless channel
}

// CredentialView is the health of one credential for that upstream model.
// Usable says nothing of the channel's breaker or of a pause of the channel:
// a route may be used if both are.
type CredentialView struct {
	Name         string
	State        string // active, cooling, paused, disabled
	Reason       string
	Since, Until time.Time
	Usable       bool
	Factor       float64
}

// View reads the health of a channel for an upstream model.
func (r *Registry) View(channel *config.Channel, upstreamModel string) View {
	v := View{State: StateClosed, Usable: true, Factor: 1}
	names := channel.Credentials
	if len(names) == 0 {
		names = []config.Credential{{}}
	}
	for _, c := range names {
		v.Credentials = append(v.Credentials, CredentialView{Name: c.Name, State: CredentialActive, Usable: true, Factor: 1})
	}
	return v
}

// Permit lets one attempt go. It must be given back with Done.
type Permit struct{}

// Result is how an attempt ended.
type Result struct {
	OK         bool             // the stream or answer ended well
	Failure    classify.Failure // else why not
	RateLimit  bool             // a rate limit, whatever its class (classify.Finding)
	RetryAfter time.Duration    // what upstream asked for, 0 nothing
	Aborted    bool             // no verdict: the client left, shutdown, superseded
	Customer   string           // "": the one of Allow
}

// Allow asks to send one attempt. The permit is nil if it may not go.
func (r *Registry) Allow(route Route, customer string) (*Permit, bool) { return &Permit{}, true }

// Done gives the permit back. Only the first call counts; nil is no permit.
func (p *Permit) Done(res Result) {}

// Probe tells whether this attempt probes a route (a half-open breaker, or a
// credential whose balance pause is over).
func (p *Permit) Probe() bool { return false }

// Alive is a sign of life (an event arrived): a probe that shows one is not
// hung. It is cheap enough for every event.
func (p *Permit) Alive() {}

// EarliestReturn is the earliest moment one of the routes may answer; false if
// none will by itself. For the retry_after of all_channels_failed.
func (r *Registry) EarliestReturn(routes []Route) (time.Time, bool) { return time.Time{}, false }

// Pause takes a channel out until Resume. The error names an unknown channel.
func (r *Registry) Pause(channel, reason, actor string) error { return nil }

// Resume ends a pause by an operator and the balance pauses of the channel's
// credentials.
func (r *Registry) Resume(channel, reason, actor string) error { return nil }

// SetCredential disables or enables a credential. Enabling ends every reason
// that it was out for.
func (r *Registry) SetCredential(channel, credential string, enabled bool, reason, actor string) error {
	return nil
}

// SetWeight overrides the weight of a channel for a public model; a negative
// weight takes the override back.
func (r *Registry) SetWeight(publicModel, channel string, weight int) error { return nil }

// Weight is the operator's weight, if he set one.
func (r *Registry) Weight(publicModel, channel string) (int, bool) { return 0, false }

// Snapshot is what outlives a restart: the operator's orders, and health with
// its times. It encodes as JSON and holds no secret.
type Snapshot struct{}

// Export takes a snapshot. Notify's events are the moments to store one.
func (r *Registry) Export() Snapshot { return Snapshot{} }

// Import takes a snapshot over, after Configure: channels that are not
// configured are ignored, and so is what ended by now.
func (r *Registry) Import(s Snapshot, now time.Time) {}

// RunRechecks re-checks credentials that upstream refused, away from customers'
// traffic, until ctx ends; it returns nil then. do asks the provider (GET
// {base_url}/models) and returns nil only if the credential was accepted.
func (r *Registry) RunRechecks(ctx context.Context, do func(ctx context.Context, channel *config.Channel, credential string) error) error {
	<-ctx.Done()
	return nil
}

// Event is a change worth an alert, a log line or a metric.
type Event struct {
	Kind          Kind
	At            time.Time
	Channel       string
	Credential    string // "" where the whole channel is meant
	UpstreamModel string // "" where all are meant
	PublicModel   string // WeightSet
	Reason        string
	Actor         string // the operator, "" the gateway
	Until         time.Time
	Weight        int // WeightSet
}

// Kind names an event; it is the same word in alerts, logs and metrics.
type Kind string

// The kinds of events.
const (
	BreakerOpened      Kind = "breaker_opened"
	BreakerHalfOpen    Kind = "breaker_half_open"
	BreakerClosed      Kind = "breaker_closed"
	CredentialOff      Kind = "credential_disabled"
	CredentialOn       Kind = "credential_enabled"
	CredentialPaused   Kind = "credential_paused"  // upstream's balance
	CredentialResumed  Kind = "credential_resumed" // upstream's balance
	ChannelPaused      Kind = "channel_paused"     // by an operator, or all credentials are
	ChannelResumed     Kind = "channel_resumed"
	CooldownStarted    Kind = "cooldown"
	ChannelUnfit       Kind = "channel_unfit"
	WeightSet          Kind = "weight_set"
	ConfigurationReset Kind = "credential_replaced" // a new key: the credential starts anew
)

// ParseRetryAfter reads how long upstream asks to wait: retry-after-ms,
// Retry-After (seconds, decimals too, or an HTTP date), else the
// x-ratelimit-reset-* family. Absurd values are ignored.
func ParseRetryAfter(h http.Header, now time.Time) (time.Duration, bool) { return 0, false }
