package health

import (
	"time"

	"rubicon/internal/config"
)

// Configure takes over a configuration: state is kept by names of channel,
// credential and upstream model, what vanished is dropped. A credential whose
// key changed starts anew, an operator's order apart: what was said of the old
// key says nothing of the new one.
func (r *Registry) Configure(cfg *config.Config) {
	now := r.now()
	r.mu.Lock()
	r.set.take(cfg)
	before := r.channels
	r.channels = make(map[string]*channel, len(cfg.Channels))
	var events []Event
	for i := range cfg.Channels {
		conf := &cfg.Channels[i]
		c := before[conf.Name]
		if c == nil {
			c = &channel{since: now, models: map[string]*model{}}
		}
		delete(before, conf.Name)
		r.channels[conf.Name] = c
		events = append(events, c.configure(conf, now)...)
	}
	for _, gone := range before {
		gone.ignoreResults()
	}
	r.keepServed(cfg)
	r.mu.Unlock()
	r.notifyAll(events)
}

// take takes over the numbers; a group that is not set stays as it was (a
// configuration that was loaded has them all).
func (s *settings) take(cfg *config.Config) {
	if cfg.Breaker != (config.Breaker{}) {
		s.breaker = cfg.Breaker
	}
	if cfg.Cooldown != (config.Cooldown{}) {
		s.cooldown = cfg.Cooldown
	}
	if cfg.BalancePause != 0 {
		s.balancePause = cfg.BalancePause
	}
	s.probeTime = probeTime(cfg)
}

// configure takes over a channel's credentials.
func (c *channel) configure(conf *config.Channel, now time.Time) (events []Event) {
	names := conf.Credentials
	if len(names) == 0 {
		names = []config.Credential{{}} // keyless: one implicit credential
	}
	before := c.credentials
	c.conf, c.credentials = conf, make([]*credential, 0, len(names))
	for _, n := range names {
		k := &credential{name: n.Name, key: n.Key}
		if old := (&channel{credentials: before}).credential(n.Name); old != nil && old.key.Equal(n.Key) {
			k = old
		} else if old != nil {
			old.generation++
			if old.disabled != nil && old.recheck.IsZero() {
				k.disabled = old.disabled
			} else if old.disabled != nil {
				events = append(events, Event{Kind: CredentialEnabledEvent, At: now, Channel: conf.Name, Credential: n.Name, Reason: ReasonKeyReplaced})
			}
		}
		c.credentials = append(c.credentials, k)
	}
	return events
}

// ignoreResults makes results of attempts that still run on a removed channel be
// ignored.
func (c *channel) ignoreResults() {
	for _, k := range c.credentials {
		k.generation++
	}
}

// keepServed drops the breakers and weights of what no model lists any more.
func (r *Registry) keepServed(cfg *config.Config) {
	type served struct{ channel, model string }
	up, public := map[served]bool{}, map[weightOf]bool{}
	for i := range cfg.Models {
		for _, cand := range cfg.Models[i].Channels {
			up[served{cand.Channel.Name, cand.UpstreamModel}] = true
			public[weightOf{cfg.Models[i].Name, cand.Channel.Name}] = true
		}
	}
	for name, c := range r.channels {
		for m := range c.models {
			if !up[served{name, m}] {
				delete(c.models, m)
			}
		}
		for _, k := range c.credentials {
			for m := range k.cooling {
				if !up[served{name, m}] {
					delete(k.cooling, m)
				}
			}
		}
	}
	for w := range r.weights {
		if !public[w] {
			delete(r.weights, w)
		}
	}
}

// probeTime is the longest silence that any attempt's own timers allow: a probe
// that is silent for longer has been lost by its owner. As long as the timers
// work, they end it before.
func probeTime(cfg *config.Config) time.Duration {
	longest := max(cfg.Timers.Headers, cfg.Timers.Answer, cfg.Timers.FirstEvent, cfg.Timers.Idle)
	for i := range cfg.Models {
		for _, cand := range cfg.Models[i].Channels {
			t := cfg.Models[i].TimersFor(cand.Channel.Protocol)
			longest = max(longest, t.Headers, t.Answer, t.FirstEvent, t.Idle)
		}
	}
	if longest <= 0 {
		return defaultProbeTime
	}
	return longest + cfg.Timers.Connect + probeSlack
}
