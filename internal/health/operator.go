package health

import (
	"cmp"
	"fmt"
	"time"
)

// Unknown is the error for a channel or credential that is not configured.
type Unknown struct{ Channel, Credential string }

func (e *Unknown) Error() string {
	if e.Credential != "" {
		return fmt.Sprintf("channel %q has no credential %q", e.Channel, e.Credential)
	}
	return fmt.Sprintf("no channel %q", e.Channel)
}

// Pause takes a channel out until Resume. A channel that is paused keeps its
// first order. The error is *Unknown.
func (r *Registry) Pause(channel, reason, actor string) error {
	now := r.now()
	return r.order(channel, func(c *channelAt) {
		if c.paused != nil {
			return
		}
		c.paused = &Order{Reason: cmp.Or(reason, ReasonOperator), Actor: actor, Since: now}
		c.addEvent(Event{Kind: ChannelPaused, Reason: c.paused.Reason, Actor: actor})
	}, now)
}

// Resume ends a pause by an operator and the balance pauses of the channel's
// credentials; disabled ones stay disabled, but for the nameless one of a keyless
// channel, which an operator has no other way to put right. The error is *Unknown.
func (r *Registry) Resume(channel, reason, actor string) error {
	now := r.now()
	return r.order(channel, func(c *channelAt) {
		was := c.paused != nil || c.allPaused()
		c.paused = nil
		for _, k := range c.credentials {
			switch {
			case k.name == "" && k.disabled != nil:
				c.enable(k, cmp.Or(reason, ReasonOperator), actor)
			case k.unpause():
				k.generation++
				c.addEvent(Event{Kind: CredentialResumed, Credential: k.name, Reason: cmp.Or(reason, ReasonOperator), Actor: actor})
			}
		}
		if was {
			c.addEvent(Event{Kind: ChannelResumed, Reason: cmp.Or(reason, ReasonOperator), Actor: actor})
		}
	}, now)
}

// SetCredential disables or enables a credential. Enabling also ends its
// balance pause; a cooldown runs on, since only time ends it. The error is
// *Unknown.
func (r *Registry) SetCredential(channel, credential string, enabled bool, reason, actor string) error {
	now := r.now()
	missing := false
	err := r.order(channel, func(c *channelAt) {
		k := c.credential(credential)
		switch {
		case k == nil:
			missing = true
		case enabled:
			c.enable(k, cmp.Or(reason, ReasonOperator), actor)
		case k.disabled == nil || !k.recheck.IsZero(): // an operator's order replaces upstream's refusal
			k.disabled, k.recheck = &Order{Reason: cmp.Or(reason, ReasonOperator), Actor: actor, Since: now}, time.Time{}
			c.addEvent(Event{Kind: CredentialDisabledEvent, Credential: credential, Reason: k.disabled.Reason, Actor: actor})
		}
	}, now)
	if missing {
		return &Unknown{Channel: channel, Credential: credential}
	}
	return err
}

// enable puts a credential right.
func (c *channelAt) enable(k *credential, reason, actor string) {
	off, wasOut := k.disabled != nil, c.allPaused()
	paused := k.unpause()
	if !off && !paused {
		return
	}
	k.disabled, k.recheck = nil, time.Time{}
	k.generation++
	kind := CredentialEnabledEvent
	if !off {
		kind = CredentialResumed
	}
	c.addEvent(Event{Kind: kind, Credential: k.name, Reason: reason, Actor: actor})
	if wasOut && paused && c.paused == nil {
		c.addEvent(Event{Kind: ChannelResumed, Reason: reason, Actor: actor})
	}
}

// channelAt is a channel under the lock, with what happens to it.
type channelAt struct {
	*channel
	now    time.Time
	events []Event
}

func (c *channelAt) addEvent(e Event) {
	e.At, e.Channel = c.now, c.conf.Name
	c.events = append(c.events, e)
}

// order runs do on a channel under the lock, and reports what it did afterwards.
func (r *Registry) order(channel string, do func(*channelAt), now time.Time) error {
	r.mu.Lock()
	c := r.channels[channel]
	if c == nil {
		r.mu.Unlock()
		return &Unknown{Channel: channel}
	}
	at := &channelAt{channel: c, now: now}
	do(at)
	r.mu.Unlock()
	r.notifyAll(at.events)
	return nil
}

// SetWeight overrides the weight of a channel for a public model; a negative
// weight takes the override back. The error is *Unknown; that the model lists
// the channel is for the caller to check.
func (r *Registry) SetWeight(publicModel, channel string, weight int) error {
	now := r.now()
	return r.order(channel, func(c *channelAt) {
		if weight < 0 {
			delete(r.weights, weightOf{publicModel, channel})
		} else {
			r.weights[weightOf{publicModel, channel}] = weight
		}
		c.addEvent(Event{Kind: WeightSet, PublicModel: publicModel, Weight: weight})
	}, now)
}

// Weight is the operator's weight, if one was set.
func (r *Registry) Weight(publicModel, channel string) (int, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w, ok := r.weights[weightOf{publicModel, channel}]
	return w, ok
}
