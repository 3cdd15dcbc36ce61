package health

import (
	"context"
	"time"

	"rubicon/internal/config"
)

// recheckTimeout bounds one re-check, so that a provider that does not answer
// does not delay those of the others.
const recheckTimeout = 30 * time.Second

// CredentialCheck asks a provider whether it accepts a credential (GET {base_url}/models)
// and returns nil only if it did. No answer, or an answer for which the key was
// not checked, is an error.
type CredentialCheck func(ctx context.Context, channel *config.Channel, credential string) error

// disableRefused disables a credential that upstream refused.
func (r *Registry) disableRefused(k *credential, now time.Time) {
	k.disabled = &Order{Reason: ReasonUpstreamAuth, Since: now}
	k.recheck = now.Add(r.recheck)
	r.wake()
}

// wake lets RunRechecks look again when the next one is due.
func (r *Registry) wake() {
	select {
	case r.wakeRechecks <- struct{}{}:
	default: // it was woken already
	}
}

// RunRechecks re-checks credentials that upstream refused, away from customers'
// traffic, until ctx ends; it returns nil then. One at a time.
func (r *Registry) RunRechecks(ctx context.Context, do CredentialCheck) error {
	for {
		due, next := r.dueRechecks()
		for _, c := range due {
			err := ask(ctx, do, c)
			if ctx.Err() != nil {
				return nil
			}
			r.rechecked(c, err == nil)
		}
		if len(due) > 0 {
			continue // the check took time: look again
		}
		if !r.sleep(ctx, next) {
			return nil
		}
	}
}

func ask(ctx context.Context, do CredentialCheck, c check) error {
	ctx, cancel := context.WithTimeout(ctx, recheckTimeout)
	defer cancel()
	return do(ctx, c.conf, c.k.name)
}

// sleep waits until next (zero: no end) or until woken; false when ctx ended.
func (r *Registry) sleep(ctx context.Context, next time.Time) bool {
	var timer <-chan time.Time
	if !next.IsZero() {
		t := time.NewTimer(next.Sub(r.now()))
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-ctx.Done():
		return false
	case <-timer:
	case <-r.wakeRechecks:
	}
	return true
}

// check is a credential to re-check.
type check struct {
	c          *channel
	conf       *config.Channel
	k          *credential
	generation uint64
}

// dueRechecks lists the credentials to re-check now, and when the next is due.
func (r *Registry) dueRechecks() (due []check, next time.Time) {
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.channels {
		for _, k := range c.credentials {
			switch {
			case k.disabled == nil || k.recheck.IsZero():
			case !now.Before(k.recheck):
				due = append(due, check{c, c.conf, k, k.generation})
			case next.IsZero() || k.recheck.Before(next):
				next = k.recheck
			}
		}
	}
	return due, next
}

// rechecked applies the result of a re-check, unless the credential was changed
// meanwhile.
func (r *Registry) rechecked(c check, accepted bool) {
	now := r.now()
	r.mu.Lock()
	at := &channelAt{channel: c.c, now: now}
	switch k := c.k; {
	case k.generation != c.generation || k.disabled == nil || k.recheck.IsZero():
	case accepted:
		at.enable(k, ReasonRecheck, "")
	default:
		k.recheck = now.Add(r.recheck)
	}
	r.mu.Unlock()
	r.notifyAll(at.events)
}
