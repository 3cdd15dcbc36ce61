package route

import (
	"slices"
	"time"

	"rubicon/internal/books/journal"
	"rubicon/internal/config"
	"rubicon/internal/health"
)

// Comeback is the route that returns first where nothing but cooldowns keeps
// every route of a request from being used.
type Comeback struct {
	Route  Route
	At     time.Time
	Stated bool // upstream named the time of one of the cooldowns
}

// FirstBack finds the comeback of a request that Choose found no route for.
// Routes that are out for other reasons than a cooldown are not waited for:
// their time is a guess, or an operator's.
func FirstBack(model *config.Model, views []health.View, q Query) (first Comeback, ok bool) {
	options, _ := candidates(model, thawed(views), q)
	stated := false
	for _, o := range options {
		v := o.health
		stated = stated || v.Stated
		if !ok || v.Until.Before(first.At) || v.Until.Equal(first.At) && o.route.Candidate.Priority < first.Route.Candidate.Priority {
			first, ok = Comeback{Route: o.route, At: v.Until}, true
		}
	}
	first.Stated = stated
	return first, ok
}

// thawed is the health of channels as it would be without cooldowns.
func thawed(views []health.View) []health.View {
	out := make([]health.View, len(views))
	for i, v := range views {
		credentials := make([]health.CredentialView, len(v.Credentials))
		for j, c := range v.Credentials {
			credentials[j] = c
			if c.State == health.StateCooling {
				credentials[j].Usable = true
				v.Usable = v.Ready
			}
		}
		v.Credentials = credentials
		out[i] = v
	}
	return out
}

// Wait is how long a request that may wait so long waits before it looks again;
// 0 sends it to the comeback's route at once, although that one cools. ok is false where
// it must not wait: upstream said when to come back, and that is too late.
func (c Comeback) Wait(now time.Time, left time.Duration) (wait time.Duration, ok bool) {
	until := max(c.At.Sub(now), 0)
	if until > left && c.Stated {
		return 0, false
	}
	return min(until, left), true
}

// Decision is the choice of the comeback's route while it cools.
func (c Comeback) Decision(none journal.Decision) journal.Decision {
	none.Chosen, none.Reason = c.Route.Candidate.Channel.Name, reasonFirstBack
	none.Candidates = slices.Clone(none.Candidates)
	for i := range none.Candidates {
		if k := &none.Candidates[i]; k.Channel == none.Chosen {
			k.Excluded = ""
		}
	}
	return none
}
