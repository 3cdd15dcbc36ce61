package health

import (
	"sync/atomic"
	"time"

	"rubicon/internal/health/breaker"
	"rubicon/internal/wire/classify"
)

// Route is a channel with one of its credentials ("" for a keyless channel)
// for one upstream model.
type Route struct{ Channel, Credential, UpstreamModel string }

// Permit lets one attempt go. It must be given back with Done.
type Permit struct {
	r        *Registry
	channel  *channel
	route    Route
	customer string
	model    *model
	cred     *credential // nil: not known
	ticket   breaker.Ticket
	credGen  uint64
	sent     time.Time
	older    *Permit // among what is under way; under the lock, like newer
	newer    *Permit
	balance  bool // this is a balance pause's probe
	done     bool // under the lock

	alive atomic.Int64 // when output was last noted, in nanoseconds
}

// Result is how an attempt ended.
type Result struct {
	OK         bool             // the stream or answer ended well
	Failure    classify.Failure // else why not
	RateLimit  bool             // a rate limit, whatever its class (classify.Finding)
	RetryAfter time.Duration    // what upstream asked for, 0 nothing
	Aborted    bool             // no verdict: the client left, shutdown, superseded
	Customer   string           // "": the one of Allow
}

// aliveEvery is the least time between two notes of output of a probe.
const aliveEvery = time.Second

// Allow asks to send one attempt. The permit is nil if it may not go.
func (r *Registry) Allow(route Route, customer string) (*Permit, bool) {
	return r.ask(route, customer, (*credential).available)
}

// AllowCooling is Allow for a route that may cool: no better one is
// available, and the cooldown was set by the gateway and not named by upstream.
func (r *Registry) AllowCooling(route Route, customer string) (*Permit, bool) {
	return r.ask(route, customer, func(k *credential, _ string, now time.Time) bool { return k.ready(now) })
}

// fit reports whether a credential may be used for a model at that time.
type fit func(k *credential, model string, now time.Time) bool

func (r *Registry) ask(route Route, customer string, is fit) (*Permit, bool) {
	now := r.now()
	r.mu.Lock()
	p, events := r.allow(route, customer, is, now)
	r.mu.Unlock()
	r.notifyAll(events)
	return p, p != nil
}

func (r *Registry) allow(route Route, customer string, is fit, now time.Time) (*Permit, []Event) {
	c := r.channels[route.Channel]
	if c == nil {
		return &Permit{}, nil // the channel was removed: there is nothing to protect
	}
	k := c.credential(route.Credential)
	if c.paused != nil || k != nil && !is(k, route.UpstreamModel, now) {
		return nil, nil
	}
	p := &Permit{r: r, channel: c, route: route, customer: customer, model: c.model(route.UpstreamModel), cred: k, sent: now}
	eff, events := p.step(breaker.Event{Kind: breaker.Acquire, Customer: customer, Deadline: now.Add(r.set.probeTime)}, now)
	if !eff.Allowed {
		return nil, events
	}
	p.ticket = eff.Ticket
	p.model.flying.add(p)
	p.alive.Store(now.UnixNano())
	if k == nil {
		return p, events
	}
	p.credGen = k.generation
	if !k.balance.until.IsZero() {
		p.balance = true
		k.balance.probe, k.balance.deadline = p, now.Add(r.set.probeTime)
	}
	return p, events
}

// step moves the breaker of the permit's channel and model.
func (p *Permit) step(e breaker.Event, now time.Time) (breaker.Effect, []Event) {
	next, eff := breaker.Step(p.model.breaker, e, now, p.r.set.breaker)
	p.model.breaker = next
	return eff, changes(eff, next, p.route, now)
}

// Probe reports whether this attempt probes a route: a half-open breaker, or a
// credential whose balance pause is over.
func (p *Permit) Probe() bool { return p != nil && (p.ticket.Probe != 0 || p.balance) }

// Alive notes that an event arrived: a probe with output is not hung. It is cheap enough for every event, and does nothing for others.
func (p *Permit) Alive() {
	if !p.Probe() {
		return
	}
	now := p.r.now()
	last := p.alive.Load()
	if now.UnixNano()-last < int64(aliveEvery) || !p.alive.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	p.r.mu.Lock()
	deadline := now.Add(p.r.set.probeTime)
	_, events := p.step(breaker.Event{Kind: breaker.Extend, Ticket: p.ticket, Deadline: deadline}, now)
	if p.balance && p.cred.balance.probe == p {
		p.cred.balance.deadline = deadline
	}
	p.r.mu.Unlock()
	p.r.notifyAll(events)
}

// Done gives the permit back. Only the first call counts; a nil permit is none.
func (p *Permit) Done(res Result) {
	if p == nil || p.r == nil {
		return
	}
	now := p.r.now()
	p.r.mu.Lock()
	if p.done {
		p.r.mu.Unlock()
		return
	}
	p.done = true
	events := p.applyResult(res, now)
	p.r.mu.Unlock()
	p.r.notifyAll(events)
}

// applyResult applies a result.
func (p *Permit) applyResult(res Result, now time.Time) []Event {
	var effect Effect
	if !res.OK && !res.Aborted {
		effect = EffectOf(res.Failure, res.RateLimit)
	}
	e := breaker.Event{Kind: breaker.Abandoned, Customer: p.customer, Ticket: p.ticket, Cause: string(res.Failure), Sent: p.sent, Outlived: p.outlived()}
	p.model.flying.remove(p)
	switch {
	case res.Aborted:
	case res.OK:
		e.Kind = breaker.Success
	case effect.Breaker:
		e.Kind = breaker.Failed
	}
	if res.Customer != "" {
		e.Customer = res.Customer
	}
	_, events := p.step(e, now)
	if effect.Unfit {
		events = append(events, p.event(ChannelUnfit, now))
	}
	if p.cred != nil {
		events = append(events, p.applyToCredential(effect, res, now)...)
	}
	return events
}

// applyToCredential applies what a result does to the credential.
func (p *Permit) applyToCredential(effect Effect, res Result, now time.Time) (events []Event) {
	k := p.cred
	probing := p.balance && k.balance.probe == p
	if probing {
		k.balance.probe = nil
	}
	if effect.Cool {
		cool := k.cool(p.route.UpstreamModel, now, strike{p.sent, res.RetryAfter}, p.r.set)
		ev := p.event(CooldownStarted, now)
		ev.Reason, ev.Until = ReasonRateLimited, cool.until
		events = append(events, ev)
	}
	if res.OK {
		k.answered(p.route.UpstreamModel)
	}
	switch {
	case p.credGen != k.generation:
		return events // it was put in use again since
	case res.OK && probing:
		wasOut := p.channel.allPaused()
		k.unpause()
		events = append(events, p.credentialEvent(CredentialResumed, ReasonProbe, time.Time{}, now))
		if wasOut && p.channel.paused == nil {
			events = append(events, Event{Kind: ChannelResumed, At: now, Channel: p.route.Channel, Reason: ReasonProbe})
		}
	case effect.Balance && k.pause(now, p.r.set):
		events = append(events, p.credentialEvent(CredentialPaused, ReasonUpstreamBalance, k.balance.until, now))
		if p.channel.allPaused() {
			events = append(events, Event{Kind: ChannelPaused, At: now, Channel: p.route.Channel, Reason: ReasonUpstreamBalance, Until: k.balance.until})
		}
	case effect.Disable && k.disabled == nil:
		p.r.disableRefused(k, now)
		events = append(events, p.credentialEvent(CredentialDisabledEvent, ReasonUpstreamAuth, time.Time{}, now))
	}
	return events
}

func (p *Permit) event(k Kind, now time.Time) Event {
	return Event{Kind: k, At: now, Channel: p.route.Channel, Credential: p.route.Credential, UpstreamModel: p.route.UpstreamModel}
}

// credentialEvent is about the credential, whatever the model.
func (p *Permit) credentialEvent(k Kind, reason string, until, now time.Time) Event {
	return Event{Kind: k, At: now, Channel: p.route.Channel, Credential: p.route.Credential, Reason: reason, Until: until}
}

// allPaused reports whether upstream's balance has all credentials of the channel
// out, disabled ones apart.
func (c *channel) allPaused() bool {
	paused := 0
	for _, k := range c.credentials {
		if k.disabled != nil {
			continue
		}
		if k.balance.until.IsZero() {
			return false
		}
		paused++
	}
	return paused > 0
}
