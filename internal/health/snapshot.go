package health

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"rubicon/internal/health/breaker"
)

// Snapshot is what outlives a restart: the operator's orders, and health with
// its times. It encodes as JSON and holds no secret.
type Snapshot struct {
	At       time.Time         `json:"at"`
	Channels []ChannelSnapshot `json:"channels"`
	Weights  []WeightSnapshot  `json:"weights"`
}

// ChannelSnapshot is one channel's part.
type ChannelSnapshot struct {
	Name        string                   `json:"name"`
	Paused      *Order                   `json:"paused,omitempty"`
	Credentials []CredentialSnapshot     `json:"credentials,omitempty"`
	Breakers    map[string]breaker.State `json:"breakers,omitempty"` // by upstream model
}

// CredentialSnapshot is one credential's part.
type CredentialSnapshot struct {
	Name         string                     `json:"name"`
	Key          string                     `json:"key,omitempty"` // see mark
	Disabled     *Order                     `json:"disabled,omitempty"`
	ByUpstream   bool                       `json:"by_upstream,omitempty"` // disabled by upstream's refusal
	Recheck      time.Time                  `json:"recheck,omitzero"`      // when upstream is asked about it
	BalanceSince time.Time                  `json:"balance_since,omitzero"`
	BalanceUntil time.Time                  `json:"balance_until,omitzero"`
	Cooling      map[string]CoolingSnapshot `json:"cooling,omitempty"` // by upstream model
}

// CoolingSnapshot is a cooldown and what it left of the weight.
type CoolingSnapshot struct {
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until"`
	Stated bool      `json:"stated,omitempty"` // upstream named the time
	Factor float64   `json:"factor"`
	Steps  int       `json:"steps,omitempty"`
}

// WeightSnapshot is one override of a weight.
type WeightSnapshot struct {
	PublicModel string `json:"public_model"`
	Channel     string `json:"channel"`
	Weight      int    `json:"weight"`
}

// Export takes a snapshot. Notify's events are the moments to store one.
func (r *Registry) Export() Snapshot {
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	s := Snapshot{At: now}
	for name, c := range r.channels {
		s.Channels = append(s.Channels, c.export(name, now, r.set))
	}
	for of, w := range r.weights {
		s.Weights = append(s.Weights, WeightSnapshot{of.model, of.channel, w})
	}
	slices.SortFunc(s.Channels, func(a, b ChannelSnapshot) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(s.Weights, func(a, b WeightSnapshot) int {
		return cmp.Or(cmp.Compare(a.PublicModel, b.PublicModel), cmp.Compare(a.Channel, b.Channel))
	})
	return s
}

func (c *channel) export(name string, now time.Time, set settings) ChannelSnapshot {
	s := ChannelSnapshot{Name: name, Paused: c.paused, Breakers: map[string]breaker.State{}}
	for m, b := range c.models {
		s.Breakers[m] = b.breaker
	}
	for _, k := range c.credentials {
		cs := CredentialSnapshot{
			Name: k.name, Key: k.keyDigest(), Disabled: k.disabled, ByUpstream: !k.recheck.IsZero(), Recheck: k.recheck,
			BalanceSince: k.balance.since, BalanceUntil: k.balance.until, Cooling: map[string]CoolingSnapshot{},
		}
		for m, cool := range k.cooling {
			if cool.factorAt(now, set.step) < 1 || now.Before(cool.until) {
				cs.Cooling[m] = CoolingSnapshot{cool.since, cool.until, cool.stated, cool.factor, cool.steps}
			}
		}
		s.Credentials = append(s.Credentials, cs)
	}
	return s
}

// Import takes a snapshot over, after Configure: channels and credentials that
// are not configured are ignored, and so is what ended by now. No time reaches
// further into the future than the configuration allows, whatever a clock did.
// A credential whose key has changed meanwhile starts anew, but for an operator's
// order.
func (r *Registry) Import(s Snapshot, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, cs := range s.Channels {
		if c := r.channels[cs.Name]; c != nil {
			c.restore(cs, now, r.set, r.recheck)
		}
	}
	for _, w := range s.Weights {
		if r.channels[w.Channel] != nil {
			r.weights[weightOf{w.PublicModel, w.Channel}] = w.Weight
		}
	}
	r.wake()
}

func (c *channel) restore(s ChannelSnapshot, now time.Time, set settings, recheck time.Duration) {
	c.paused = s.Paused
	for m, b := range s.Breakers {
		b.Until = earlier(b.Until, now.Add(set.breaker.OpenMax))
		c.model(m).breaker = b
	}
	for _, cs := range s.Credentials {
		k := c.credential(cs.Name)
		if k == nil {
			continue
		}
		replaced := cs.Key != "" && cs.Key != k.keyDigest()
		if replaced && cs.ByUpstream {
			cs.Disabled = nil
		}
		k.disabled, k.recheck = cs.Disabled, time.Time{}
		if k.disabled != nil && cs.ByUpstream {
			k.recheck = earlier(cs.Recheck, now.Add(recheck))
			if k.recheck.IsZero() {
				k.recheck = now // of a version that did not keep it
			}
		}
		if replaced {
			continue
		}
		k.balance = balance{since: cs.BalanceSince, until: earlier(cs.BalanceUntil, now.Add(set.balancePause))}
		for m, cool := range cs.Cooling {
			if k.cooling == nil {
				k.cooling = map[string]cooling{}
			}
			k.cooling[m] = cooling{since: cool.Since, until: earlier(cool.Until, now.Add(set.cooldown.Max)), stated: cool.Stated,
				factor: cool.Factor, steps: cool.Steps}
		}
	}
}

// keyDigest distinguishes keys and reveals nothing else of them: four bytes of
// a digest fit too many keys to find one.
func (k *credential) keyDigest() string {
	if k.key.Empty() {
		return ""
	}
	sum := sha256.Sum256([]byte("rubicon credential\x00" + k.key.Reveal()))
	return hex.EncodeToString(sum[:4])
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
