package health

import (
	"time"

	"rubicon/internal/config"
)

// credential is the health of one key of a channel.
type credential struct {
	name string
	key  config.Secret
	// generation counts how often the credential was put in use again. What
	// earlier requests report about key and balance is ignored.
	generation uint64

	disabled *Order    // disabled
	recheck  time.Time // the next one if upstream refused it; zero: an operator's order

	balance balance
	cooling map[string]cooling // by upstream model
}

// balance is a pause because the upstream account is empty.
type balance struct {
	since, until time.Time // zero: no pause
	probe        *Permit   // in flight, after until
	deadline     time.Time // of the probe
}

// cooling is what 429s left behind, for one upstream model.
type cooling struct {
	since, until time.Time
	stated       bool      // upstream named the time
	factor       float64   // of the weight while cooling; grows back afterwards
	steps        int       // 429s without a time, less the good answers since: each doubles the next cooldown
	stepped      time.Time // the last of them
}

// strike is one 429.
type strike struct {
	sent  time.Time     // when the attempt that got it was sent
	asked time.Duration // what upstream asked for; 0 nothing
}

// factorAt is the share of the weight at that time: it doubles after every
// step since the cooldown's end.
func (c cooling) factorAt(now time.Time, step time.Duration) float64 {
	if c.until.IsZero() {
		return 1
	}
	f := c.factor
	for t := c.until.Add(step); f < 1 && !t.After(now); t = t.Add(step) {
		f *= 2
	}
	return min(f, 1)
}

// limited takes a 429 in: extended, never shortened; halved at once.
func (c cooling) limited(now time.Time, s strike, set settings) cooling {
	next := c
	if c.factorAt(now, set.step) == 1 {
		next.steps = 0 // the last ones are forgotten with the weight that they cost
	}
	next.factor = max(c.factorAt(now, set.step)/2, set.cooldown.WeightFloor)
	wait, stated := s.asked, true
	if wait <= 0 {
		next = next.further(now, s)
		wait, stated = next.guess(set.cooldown.Default, set.cooldown.Max), false
	}
	wait = min(wait, set.cooldown.Max)
	if !now.Before(c.until) {
		next.since = now
	}
	if until := now.Add(wait); until.After(c.until) {
		next.until, next.stated = until, stated
	}
	return next
}

// further makes the next cooldown without a time twice as long. Of requests that
// were under way together the first one says what the others say too.
func (c cooling) further(now time.Time, s strike) cooling {
	if c.steps == 0 || !s.sent.Before(c.stepped) {
		c.steps, c.stepped = c.steps+1, now
	}
	return c
}

// guess is the cooldown where upstream names no time: the shortest one first,
// twice as long with every step.
func (c cooling) guess(shortest, longest time.Duration) time.Duration {
	wait := shortest
	for i := 1; i < c.steps && wait < longest; i++ {
		wait *= 2
	}
	return wait
}

// answered takes a good answer in: one step back.
func (c cooling) answered() cooling {
	c.steps = max(c.steps-1, 0)
	return c
}

// available reports whether the credential may be used for the model at that time.
func (k *credential) available(model string, now time.Time) bool {
	return k.ready(now) && !now.Before(k.cooling[model].until)
}

// ready: nothing but a cooldown may keep it from being used.
func (k *credential) ready(now time.Time) bool { return k.disabled == nil && k.balance.available(now) }

// available: not paused, or the pause is over and its one probe is not in flight.
func (b balance) available(now time.Time) bool {
	return b.until.IsZero() || !now.Before(b.until) && (b.probe == nil || !now.Before(b.deadline))
}

// pause starts a balance pause, or starts it again; false if it runs already
// (a request from before it says what is known).
func (k *credential) pause(now time.Time, set settings) bool {
	if now.Before(k.balance.until) {
		return false
	}
	since := k.balance.since
	if since.IsZero() {
		since = now
	}
	k.balance = balance{since: since, until: now.Add(set.balancePause)}
	return true
}

// unpause ends a balance pause; false if there was none.
func (k *credential) unpause() bool {
	had := !k.balance.until.IsZero()
	k.balance = balance{}
	return had
}

// cool takes a 429 in.
func (k *credential) cool(model string, now time.Time, s strike, set settings) cooling {
	if k.cooling == nil {
		k.cooling = map[string]cooling{}
	}
	c := k.cooling[model].limited(now, s, set)
	k.cooling[model] = c
	return c
}

// answered takes a good answer in.
func (k *credential) answered(model string) {
	if c, ok := k.cooling[model]; ok {
		k.cooling[model] = c.answered()
	}
}

// view is what others see of the credential.
func (k *credential) view(model string, now time.Time, set settings) CredentialView {
	cool := k.cooling[model]
	v := CredentialView{Name: k.name, State: CredentialActive, Usable: k.available(model, now), Factor: cool.factorAt(now, set.step)}
	switch {
	case k.disabled != nil:
		v.State, v.Reason, v.Since = CredentialDisabled, k.disabled.Reason, k.disabled.Since
	case !k.balance.until.IsZero():
		v.State, v.Reason, v.Since, v.Until = StatePaused, ReasonUpstreamBalance, k.balance.since, k.balance.until
	case now.Before(cool.until):
		v.State, v.Reason, v.Since, v.Until, v.Stated = StateCooling, ReasonRateLimited, cool.since, cool.until, cool.stated
	}
	return v
}
