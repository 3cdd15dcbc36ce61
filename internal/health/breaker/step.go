package breaker

import (
	"slices"
	"time"

	"rubicon/internal/config"
)

// oneCustomer is the share of the failures that one customer may contribute
// while others use the channel: 3 of 5. It is never less than 3, so that a
// breaker set to fewer failures still opens by one customer alone.
const (
	customerShareOf5 = 3
	customerShareMin = 3
)

// LongOutage is from when on a breaker stays open for open_max between probes.
const LongOutage = 2 * time.Minute

// Step is the rule of the breaker.
//
// Time passes first: an open breaker whose time is up becomes half-open, and
// probes past their deadline are given up without a verdict. Then the event
// is applied.
func Step(s State, e Event, now time.Time, cfg config.Breaker) (State, Effect) {
	var eff Effect
	s = atTime(s, now, &eff)
	switch e.Kind {
	case Acquire:
		if s = acquire(s, e, cfg, &eff); eff.Allowed {
			s.use(e.Customer, now)
		}
	case Success, Failed, Abandoned:
		s.use(e.Customer, now)
		if isCurrent(s, e.Ticket) {
			s = result(s, e, now, cfg, &eff)
		}
	case Extend:
		if i := s.probe(e.Ticket); i >= 0 {
			s.Probes = slices.Clone(s.Probes)
			s.Probes[i].Deadline = e.Deadline
		}
	}
	return s, eff
}

// PositionAt is the position at that time, without an event.
func (s State) PositionAt(now time.Time) Position {
	switch {
	case s.Position == "":
		return Closed
	case s.Position == Open && !now.Before(s.Until):
		return HalfOpen
	}
	return s.Position
}

// WouldAllow reports whether an Acquire would be allowed at that time.
func (s State) WouldAllow(now time.Time, cfg config.Breaker) bool {
	switch s.PositionAt(now) {
	case Open:
		return false
	case HalfOpen:
		flying := 0
		for _, p := range s.Probes {
			if now.Before(p.Deadline) {
				flying++
			}
		}
		return flying < max(cfg.Probes, 1)
	}
	return true
}

// atTime applies the passing of time.
func atTime(s State, now time.Time, eff *Effect) State {
	if s.Position == Open && !now.Before(s.Until) {
		s = moveTo(s, HalfOpen, now, eff)
	}
	gone := func(p Probe) bool { return !now.Before(p.Deadline) }
	if slices.ContainsFunc(s.Probes, gone) {
		s.Probes = slices.DeleteFunc(slices.Clone(s.Probes), gone)
	}
	return s
}

// moveTo changes the position and removes what belongs to the old one.
func moveTo(s State, to Position, now time.Time, eff *Effect) State {
	s.Position, s.Since = to, now
	s.Generation++
	s.Failures, s.Probes, s.Successes = nil, nil, 0
	if to != Open {
		s.Until = time.Time{}
	}
	if to == Closed {
		s.OpenFor, s.Cause, s.Outage = 0, "", time.Time{}
	}
	if eff.Changes[0] == "" {
		eff.Changes[0] = to
	} else {
		eff.Changes[1] = to
	}
	return s
}

func acquire(s State, e Event, cfg config.Breaker, eff *Effect) State {
	switch {
	case s.Position == Open:
		return s
	case s.Position == HalfOpen:
		if len(s.Probes) >= max(cfg.Probes, 1) {
			return s
		}
		s.LastProbe++
		s.Probes = append(slices.Clone(s.Probes), Probe{Number: s.LastProbe, Deadline: e.Deadline})
		eff.Ticket.Probe = s.LastProbe
	}
	eff.Allowed = true
	eff.Ticket.Generation = s.Generation
	return s
}

// isCurrent reports whether a ticket's result may still decide something.
func isCurrent(s State, t Ticket) bool {
	if t.Generation != s.Generation {
		return false
	}
	return s.Position != HalfOpen || s.probe(t) >= 0
}

func (s *State) probe(t Ticket) int {
	if s.Position != HalfOpen || t.Generation != s.Generation {
		return -1
	}
	return slices.IndexFunc(s.Probes, func(p Probe) bool { return p.Number == t.Probe })
}

// result takes a result that counts for this generation.
func result(s State, e Event, now time.Time, cfg config.Breaker, eff *Effect) State {
	eff.Counted = e.Kind != Abandoned
	if eff.Counted {
		s.Lately = s.Lately.with(e.Kind == Failed, now, cfg.Window)
	}
	if s.Position == HalfOpen {
		i := s.probe(e.Ticket)
		s.Probes = slices.Delete(slices.Clone(s.Probes), i, i+1)
	}
	switch e.Kind {
	case Success:
		s.ConsecutiveFailures = 0
	case Failed:
		s.ConsecutiveFailures++
	}
	switch {
	case e.Kind == Abandoned:
	case e.Kind == Success && s.Position == HalfOpen:
		s.Successes++
		if s.Successes >= cfg.Successes {
			s = moveTo(s, Closed, now, eff)
		}
	case e.Kind == Success:
		s.Failures = nil
	case s.Position == HalfOpen:
		s = open(s, e.Cause, now, cfg, eff)
	default:
		s.Failures = remember(s.Failures, Failure{At: now, Sent: e.Sent, Customer: e.Customer}, cfg)
		if s.down(e, now, cfg) {
			s = open(s, e.Cause, now, cfg, eff)
		}
	}
	return s
}

// open opens for the first time, or again because a probe failed. A channel that is
// out for minutes is probed less often.
func open(s State, cause string, now time.Time, cfg config.Breaker, eff *Effect) State {
	s = moveTo(s, Open, now, eff)
	if s.Outage.IsZero() {
		s.Outage = now
	}
	s.OpenFor = cfg.Open
	if now.Sub(s.Outage) >= LongOutage {
		s.OpenFor = max(cfg.Open, cfg.OpenMax)
	}
	s.Until = now.Add(s.OpenFor)
	s.Cause = cause
	return s
}

// down reports whether this failure means that the channel is down. There must be
// cfg.Failures consecutive ones, and the results of the window must not show that
// the channel fails only now and then: such a channel has consecutive failures
// too, and is better than none. Below cfg.Samples results the window proves
// nothing. After cfg.Samples consecutive failures neither the window, whose
// successes are older then, nor the order of sending matters.
func (s *State) down(e Event, now time.Time, cfg config.Breaker) bool {
	if s.ConsecutiveFailures >= cfg.Samples {
		return s.counted(time.Time{}, now, cfg) >= cfg.Failures
	}
	ok, failed := s.Lately.count(now, cfg.Window)
	mostly := ok+failed < cfg.Samples || float64(failed) >= cfg.Rate*float64(ok+failed)
	return mostly && s.counted(e.Outlived, now, cfg) >= cfg.Failures
}

// remember adds a failure and drops what is outside the window, and of each
// customer what is more than can ever count: the list stays bounded.
func remember(list []Failure, f Failure, cfg config.Breaker) []Failure {
	kept := make([]Failure, 0, len(list)+1)
	of := 1
	for _, old := range slices.Backward(list) {
		if f.At.Sub(old.At) >= cfg.Window {
			break
		}
		if old.Customer == f.Customer {
			if of++; of > max(cfg.Failures, 1) {
				continue
			}
		}
		kept = append(kept, old)
	}
	slices.Reverse(kept)
	return append(kept, f)
}

// counted is how many of the failures count: those that were sent after what has
// outlived them, and of one customer only up to its share while another customer
// uses the channel. "Uses" means a permit or a result of another customer inside
// the window; a success of any customer resets the consecutive failures anyway.
// So one customer whose requests crash the upstream cannot take the channel from
// the others, but a channel that only this customer uses opens as usual.
func (s *State) counted(outlived, now time.Time, cfg config.Breaker) int {
	n, share := 0, max(customerShareMin, (cfg.Failures*customerShareOf5+4)/5)
	for i, f := range s.Failures {
		if f.Sent.Before(outlived) {
			continue
		}
		before := 0
		for _, g := range s.Failures[:i] {
			if g.Customer == f.Customer {
				before++
			}
		}
		if before < share || !s.othersUse(f.Customer, now, cfg.Window) {
			n++
		}
	}
	return n
}

func (s *State) use(customer string, now time.Time) {
	if s.Last.Customer != customer {
		s.LastOther = s.Last
	}
	s.Last = Use{Customer: customer, At: now}
}

// othersUse reports whether another customer used the channel inside the window.
// Last and Other are of two customers, so one of them is the latest use by
// another one.
func (s *State) othersUse(customer string, now time.Time, window time.Duration) bool {
	u := s.Last
	if u.Customer == customer {
		u = s.LastOther
	}
	return !u.At.IsZero() && now.Sub(u.At) < window
}
