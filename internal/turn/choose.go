package turn

import (
	"fmt"
	"time"

	"rubicon/internal/classify"
	"rubicon/internal/config"
	"rubicon/internal/fault"
	"rubicon/internal/health"
	"rubicon/internal/journal"
	"rubicon/internal/route"
)

// candidate is a chosen route with its permit.
type candidate struct {
	route  route.Route
	permit *health.Permit
}

// chooseFirst chooses the first route; when there is none no customer waits
// for a channel that cannot come.
func (t *turn) chooseFirst() *fault.Error {
	ok, err := t.choose(nil, false)
	if err != nil {
		return fault.New(fault.InternalError, "").WithCause(err)
	}
	if ok {
		return nil
	}
	if t.req.Continued && t.origin != "" {
		return fault.New(fault.PreviousResponseNotFound, "Previous response not found: the upstream account that holds its state is not available. Send the full input without previous_response_id.").WithParam("previous_response_id")
	}
	return t.unavailable()
}

// unavailable says when one of the routes may answer again.
func (t *turn) unavailable() *fault.Error {
	f := fault.New(fault.AllChannelsFailed, "")
	f.RetryAfter = t.untilReturn()
	return f
}

// nobodyKnows is the delay to tell where no route comes back by itself: an
// operator has to act first.
const nobodyKnows = time.Minute

// untilReturn is how long until one of the routes that may serve this request
// comes back.
func (t *turn) untilReturn() time.Duration {
	at, ok := t.Health.EarliestReturn(t.routes())
	if !ok {
		return nobodyKnows
	}
	return max(time.Until(at), time.Second)
}

// routes lists the routes that may serve this request, as they were if all
// were well. Where that leaves none, its state's home is gone for good.
func (t *turn) routes() (out []health.Route) {
	for i := range t.model.Channels {
		c := &t.model.Channels[i]
		if c.Channel.Protocol != t.req.Protocol.Channel() || t.weight(c) <= 0 {
			continue
		}
		for _, cred := range t.Health.View(c.Channel, c.UpstreamModel).Credentials {
			if t.origin == "" || c.Channel.OriginOf(cred.Name) == t.origin {
				out = append(out, health.Route{Channel: c.Channel.Name, Credential: cred.Name, UpstreamModel: c.UpstreamModel})
			}
		}
	}
	return out
}

// weight is a candidate's weight as configured or as an operator set it.
func (t *turn) weight(c *config.Candidate) int {
	if w, set := t.Health.Weight(t.model.Name, c.Channel.Name); set {
		return w
	}
	return c.Weight
}

// choose picks the next route and takes its permit; false when none is left.
// The decision goes on record either way. A fault of the gateway itself comes
// back as an error.
func (t *turn) choose(last *route.Route, hostFirst bool) (ok bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			ok, err = false, fmt.Errorf("choosing a route: %v", p)
		}
	}()
	q := route.Query{Protocol: t.req.Protocol.Channel(), Origin: t.origin, Tried: t.tried, Last: last, HostFirst: hostFirst,
		Affinity: t.affinity(), Random: t.Random,
		Weight: func(channel string) (int, bool) { return t.Health.Weight(t.model.Name, channel) }}
	for {
		views := make([]health.View, len(t.model.Channels))
		for i := range t.model.Channels {
			c := &t.model.Channels[i]
			views[i] = t.Health.View(c.Channel, c.UpstreamModel)
		}
		chosen, found, d := t.Choose(t.model, views, q)
		if !found {
			t.decided(d)
			return false, nil
		}
		permit, allowed := t.Health.Allow(chosen.Key(), t.req.Principal.Customer.ID)
		if !allowed {
			q.Denied = append(q.Denied, chosen.Key())
			continue
		}
		t.decided(d)
		t.next = &candidate{route: chosen, permit: permit}
		return true, nil
	}
}

func (t *turn) decided(d journal.Decision) {
	d.N = len(t.rec.Decisions) + 1
	t.rec.Decisions = append(t.rec.Decisions, d)
}

// affinity keeps one conversation's requests together; another customer's with
// the same key go their own way.
func (t *turn) affinity() string {
	own := t.req.Parsed.Affinity
	if own == "" {
		own = t.req.Session
	}
	if own == "" {
		return ""
	}
	return t.req.Principal.Customer.ID + "\x00" + own
}

// hostFirst: another host goes before priority (docs/contract.md#s3-next-route).
func hostFirst(f classify.Failure) bool {
	switch f {
	case classify.FailedEvent, classify.ReadError, classify.Upstream5xx, classify.BadAnswer, classify.Connect:
		return true
	}
	return false
}
