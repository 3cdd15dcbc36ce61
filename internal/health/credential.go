package health

import (
	"time"

	"rubicon/internal/config"
)

// credential is the health of one key of a channel.
type credential struct {
	name string
	key  config.Secret
	// generation counts the times somebody put the credential right; what
	// requests from before report about key and balance is old news then.
	generation uint64

	off     *Order    // disabled
	recheck time.Time // the next one if upstream refused it; zero: an operator's order

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
	factor       float64 // of the weight while cooling; grows back afterwards
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
func (c cooling) limited(now time.Time, wait time.Duration, set settings) cooling {
	if wait <= 0 {
		wait = set.cooldown.Default
	}
	wait = min(wait, set.cooldown.Max)
	next := cooling{since: now, until: now.Add(wait), factor: max(c.factorAt(now, set.step)/2, set.cooldown.WeightFloor)}
	if now.Before(c.until) {
		next.since = c.since
		if next.until.Before(c.until) {
			next.until = c.until
		}
	}
	return next
}

// free tells whether the credential may be used for the model at that time.
func (k *credential) free(model string, now time.Time) bool {
	return k.off == nil && !now.Before(k.cooling[model].until) && k.balance.free(now)
}

// free: not paused, or the pause is over and its one probe is not in flight.
func (b balance) free(now time.Time) bool {
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
func (k *credential) cool(model string, now time.Time, wait time.Duration, set settings) cooling {
	if k.cooling == nil {
		k.cooling = map[string]cooling{}
	}
	c := k.cooling[model].limited(now, wait, set)
	k.cooling[model] = c
	return c
}

// view is what others see of the credential.
func (k *credential) view(model string, now time.Time, set settings) CredentialView {
	cool := k.cooling[model]
	v := CredentialView{Name: k.name, State: CredentialActive, Usable: k.free(model, now), Factor: cool.factorAt(now, set.step)}
	switch {
	case k.off != nil:
		v.State, v.Reason, v.Since = CredentialDisabled, k.off.Reason, k.off.Since
	case !k.balance.until.IsZero():
		v.State, v.Reason, v.Since, v.Until = StatePaused, ReasonUpstreamBalance, k.balance.since, k.balance.until
	case now.Before(cool.until):
		v.State, v.Reason, v.Since, v.Until = StateCooling, ReasonRateLimited, cool.since, cool.until
	}
	return v
}
