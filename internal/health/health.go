// Package health knows which routes are fit for traffic: a breaker per channel
// and upstream model, cooldowns, pauses and disabled credentials, and what
// operators ordered. What each class of failure does to a route is one table
// (effects.go).
//
// It chooses no route, sends nothing (re-checks are injected) and stores
// nothing (Export and Import are values).
//
// Invariants: every permit that Allow gave comes back exactly once, and a probe
// that does not come back is given up at its deadline; results of an older
// generation decide nothing; no failure that a customer caused (400 class, a
// client that left, our own limits) affects a route, and of those that count only
// a share may come from one customer while others use the channel; Notify is never called under the
// lock.
package health

import (
	"cmp"
	"sync"
	"time"

	"rubicon/internal/config"
	"rubicon/internal/health/breaker"
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

// Reasons that the gateway itself gives; operators give their own.
const (
	ReasonRateLimited     = "rate_limited"
	ReasonUpstreamBalance = "upstream_balance"
	ReasonUpstreamAuth    = "upstream_auth"
	ReasonOperator        = "operator"     // an operator that gave none
	ReasonRecheck         = "recheck"      // of CredentialOn
	ReasonKeyReplaced     = "key_replaced" // of CredentialOn
	ReasonProbe           = "probe"        // of CredentialResumed, ChannelResumed
)

const (
	defaultRecheck    = 10 * time.Minute
	defaultWeightStep = 30 * time.Second
	defaultProbeTime  = 10 * time.Minute
	// probeSlack is what an attempt may take to report a timer that fired.
	probeSlack = 5 * time.Second
)

// Options set up a Registry. Zero values mean the defaults that are named.
type Options struct {
	Now          func() time.Time // time.Now
	Breaker      config.Breaker   // config.Default's; Configure replaces these three
	Cooldown     config.Cooldown
	BalancePause time.Duration
	Recheck      time.Duration // between re-checks of a disabled credential: 10 min
	WeightStep   time.Duration // a lowered weight doubles after each: 30 s
	Notify       func(Event)   // called outside the lock, in the caller's goroutine; may call the Registry
}

// Registry holds the health of all routes. It is safe for concurrent use: one
// lock, held for a few map look-ups at a time.
type Registry struct {
	now          func() time.Time
	notify       func(Event)
	recheck      time.Duration
	wakeRechecks chan struct{} // wakes RunRechecks

	mu       sync.Mutex
	set      settings
	channels map[string]*channel
	weights  map[weightOf]int
}

// settings are the numbers in force.
type settings struct {
	breaker      config.Breaker
	cooldown     config.Cooldown
	balancePause time.Duration
	step         time.Duration // of the weight's return
	probeTime    time.Duration // how long a probe may be silent
}

// weightOf names an override of a weight.
type weightOf struct{ model, channel string }

// channel is the health of one channel.
type channel struct {
	conf        *config.Channel
	since       time.Time // known since
	paused      *Order    // by an operator
	credentials []*credential
	models      map[string]*model // by upstream model
}

// model is the health of one channel for one upstream model.
type model struct {
	breaker breaker.State
	flying  flying
}

// Order is what an operator said, or (of a refused credential) the gateway.
type Order struct {
	Reason string    `json:"reason"`
	Actor  string    `json:"actor,omitempty"`
	Since  time.Time `json:"since"`
}

// New makes an empty registry; Configure sets the channels. Routes of
// channels that it does not know are let through and not judged.
func New(o Options) *Registry {
	usual := config.Default()
	r := &Registry{
		now: o.Now, notify: o.Notify, recheck: o.Recheck, wakeRechecks: make(chan struct{}, 1),
		set:      settings{breaker: o.Breaker, cooldown: o.Cooldown, balancePause: o.BalancePause, step: o.WeightStep, probeTime: defaultProbeTime},
		channels: map[string]*channel{}, weights: map[weightOf]int{},
	}
	if r.now == nil {
		r.now = time.Now
	}
	if r.recheck <= 0 {
		r.recheck = defaultRecheck
	}
	if r.set.step <= 0 {
		r.set.step = defaultWeightStep
	}
	r.set.breaker = cmp.Or(r.set.breaker, usual.Breaker)
	r.set.cooldown = cmp.Or(r.set.cooldown, usual.Cooldown)
	r.set.balancePause = cmp.Or(r.set.balancePause, usual.BalancePause)
	return r
}

// model finds or begins the health of an upstream model.
func (c *channel) model(name string) *model {
	m := c.models[name]
	if m == nil {
		m = &model{}
		c.models[name] = m
	}
	return m
}

// credential finds a credential by name.
func (c *channel) credential(name string) *credential {
	for _, k := range c.credentials {
		if k.name == name {
			return k
		}
	}
	return nil
}

// notifyAll hands events on. It must be called without the lock.
func (r *Registry) notifyAll(events []Event) {
	if r.notify == nil {
		return
	}
	for _, e := range events {
		r.notify(e)
	}
}
