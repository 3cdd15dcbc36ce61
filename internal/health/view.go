package health

import (
	"time"

	"rubicon/internal/config"
	"rubicon/internal/health/breaker"
)

// View is the health of a channel for one upstream model at one moment. State
// is for people; routing uses Usable: a paused channel whose balance
// pause is over may be usable for one probe.
type View struct {
	State               string
	Reason              string
	Since, Until        time.Time // zero: unknown, without an end
	Usable              bool      // an Allow with one of the usable credentials would be granted now
	Ready               bool      // the same, but for what keeps the credentials from being used
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
	Stated       bool // cooling: upstream named the time
	Usable       bool
	Factor       float64
}

// View reads the health of a channel for an upstream model.
func (r *Registry) View(channel *config.Channel, upstreamModel string) View {
	now := r.now()
	v := View{Credentials: make([]CredentialView, 0, max(len(channel.Credentials), 1))}
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.channels[channel.Name]
	if len(channel.Credentials) == 0 {
		v.Credentials = append(v.Credentials, c.viewCredential("", upstreamModel, now, r.set))
	}
	for i := range channel.Credentials {
		v.Credentials = append(v.Credentials, c.viewCredential(channel.Credentials[i].Name, upstreamModel, now, r.set))
	}
	var s breaker.State
	if c != nil {
		if m := c.models[upstreamModel]; m != nil {
			s = m.breaker
		}
		v.Since = c.since
	}
	v.position(s, now)
	v.Ready = s.WouldAllow(now, r.set.breaker)
	v.Usable = v.Ready
	v.fromCredentials()
	if c != nil && c.paused != nil {
		v.Usable, v.Ready, v.State, v.Reason, v.Since, v.Until = false, false, StatePaused, c.paused.Reason, c.paused.Since, time.Time{}
	}
	return v
}

// viewCredential views one credential; one that is not known is active.
func (c *channel) viewCredential(name, model string, now time.Time, set settings) CredentialView {
	if c != nil {
		if k := c.credential(name); k != nil {
			return k.view(model, now, set)
		}
	}
	return CredentialView{Name: name, State: CredentialActive, Usable: true, Factor: 1}
}

// position fills in the state of the breaker.
func (v *View) position(s breaker.State, now time.Time) {
	at := s.PositionAt(now)
	v.State, v.ConsecutiveFailures = string(at), s.ConsecutiveFailures
	if at == breaker.Closed {
		if !s.Since.IsZero() {
			v.Since = s.Since
		}
		return
	}
	v.Reason, v.Since, v.Until = s.Cause, s.Since, s.Until
	if at == breaker.HalfOpen && s.Position == breaker.Open {
		v.Since, v.Until = s.Until, time.Time{} // its time is over, and no request has come yet
	}
}

// fromCredentials takes the state from the credentials where none is active:
// cooling if one of them only cools, paused if the rest is, no_credential if
// all are disabled. Since is when the last of them became unusable, Until when the
// first becomes usable.
func (v *View) fromCredentials() {
	state, usable, sum, counted := StateNoCredential, false, 0.0, 0
	var since, until time.Time
	var reason string
	for _, k := range v.Credentials {
		usable = usable || k.Usable
		switch {
		case k.State == CredentialActive:
			state = CredentialActive
		case state != CredentialActive && (k.State == StateCooling || k.State == StatePaused && state != StateCooling):
			state = k.State
		}
		if k.State != CredentialDisabled {
			sum += k.Factor
			counted++
		}
	}
	v.Factor = 1
	if counted > 0 {
		v.Factor = sum / float64(counted)
	}
	v.Usable = v.Usable && usable
	if state == CredentialActive {
		return
	}
	for _, k := range v.Credentials {
		if k.State == state || state == StateNoCredential {
			reason = k.Reason
		}
		if k.Since.After(since) {
			since = k.Since
		}
		if !k.Until.IsZero() && (until.IsZero() || k.Until.Before(until)) {
			until = k.Until
		}
	}
	v.State, v.Reason, v.Since, v.Until = state, reason, since, until
}

// probeRunning is what to report where a probe is in flight: its end is not known.
const probeRunning = time.Second

// EarliestReturn is the earliest moment one of the routes may answer; false if
// none will by itself. For the retry_after of all_channels_failed. A credential
// that upstream refused comes back with a re-check at the earliest; that is
// reported only where nothing else will come.
func (r *Registry) EarliestReturn(routes []Route) (time.Time, bool) {
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	var sure, perhaps time.Time
	for _, route := range routes {
		at, certain, ok := r.returns(route, now)
		best := &sure
		if !certain {
			best = &perhaps
		}
		if ok && (best.IsZero() || at.Before(*best)) {
			*best = at
		}
	}
	if sure.IsZero() {
		sure = perhaps
	}
	return sure, !sure.IsZero()
}

// returns is when one route may answer; not certain if that depends on a re-check.
func (r *Registry) returns(route Route, now time.Time) (at time.Time, certain, ok bool) {
	c := r.channels[route.Channel]
	if c == nil {
		return now, true, true
	}
	if c.paused != nil {
		return at, false, false
	}
	at, certain = now, true
	later := func(t time.Time) {
		if t.After(at) {
			at = t
		}
	}
	if m := c.models[route.UpstreamModel]; m != nil && !m.breaker.WouldAllow(now, r.set.breaker) {
		later(now.Add(probeRunning))
		if m.breaker.PositionAt(now) == breaker.Open {
			later(m.breaker.Until)
		}
	}
	k := c.credential(route.Credential)
	if k == nil {
		return at, certain, true
	}
	if k.disabled != nil {
		if k.recheck.IsZero() {
			return at, false, false
		}
		certain = false
		later(k.recheck)
	}
	later(k.cooling[route.UpstreamModel].until)
	later(k.balance.until)
	if !k.balance.available(now) {
		later(now.Add(probeRunning))
	}
	return at, certain, true
}
