package turn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rubicon/internal/books/journal"
	"rubicon/internal/config"
	"rubicon/internal/engine/upstream"
	"rubicon/internal/health"
	"rubicon/internal/health/route"
	"rubicon/internal/wire/classify"
	"rubicon/internal/wire/fault"
)

// candidate is a chosen route with its permit.
type candidate struct {
	route  route.Route
	permit *health.Permit
}

// chooseFirst chooses the first route. Where none is available, the request is
// refused before a charge hold is made.
func (t *turn) chooseFirst() *fault.Error {
	t.sign()
	ok, err := t.choose(nil, false)
	switch {
	case err != nil:
		return fault.New(fault.InternalError, "").WithCause(err)
	case ok:
		return nil
	case t.ctx.Err() != nil || t.parent.Err() != nil:
		return t.interrupted(nil) // while it waited
	}
	if t.req.Continued && t.origin != "" {
		return fault.New(fault.PreviousResponseNotFound, "Previous response not found: the upstream account that holds its state is not available. Send the full input without previous_response_id.").WithParam("previous_response_id")
	}
	return t.unavailable()
}

// interrupted is the failure of a request that ended before its first attempt: its
// transport ended it, its time was over, or its client left.
func (t *turn) interrupted(cause error) *fault.Error {
	if stop, ok := stopped(t.parent); ok {
		return fault.New(stop.Code, "").WithCause(cause)
	}
	if errors.Is(context.Cause(t.ctx), upstream.ErrTotal) {
		return fault.New(fault.RequestTimeout, "").WithCause(cause)
	}
	return fault.New(fault.InternalError, "The client left.").WithCause(cause)
}

// unavailable is the failure that no route is available, with the time after which
// one may be.
func (t *turn) unavailable() *fault.Error {
	f := fault.New(fault.AllChannelsFailed, "")
	f.RetryAfter = t.untilReturn()
	return f
}

// unknownReturn is the delay that a client is given where no route comes back
// without an operator.
const unknownReturn = time.Minute

// untilReturn is how long until one of the routes that may serve this request
// comes back.
func (t *turn) untilReturn() time.Duration {
	at, ok := t.engine.Health.EarliestReturn(t.routes())
	if !ok {
		return unknownReturn
	}
	return max(time.Until(at), time.Second)
}

// routes lists the routes that could serve this request if all were healthy. If
// there are none, the account that holds its state is not configured any more.
func (t *turn) routes() (out []health.Route) {
	for i := range t.model.Channels {
		c := &t.model.Channels[i]
		if c.Channel.Protocol != t.req.Protocol.Channel() || t.weight(c) <= 0 {
			continue
		}
		for _, cred := range t.engine.Health.View(c.Channel, c.UpstreamModel).Credentials {
			if t.origin == "" || c.Channel.OriginOf(cred.Name) == t.origin {
				out = append(out, health.Route{Channel: c.Channel.Name, Credential: cred.Name, UpstreamModel: c.UpstreamModel})
			}
		}
	}
	return out
}

// weight is a candidate's weight as configured or as an operator set it.
func (t *turn) weight(c *config.Candidate) int {
	if w, set := t.engine.Health.Weight(t.model.Name, c.Channel.Name); set {
		return w
	}
	return c.Weight
}

// choose picks the next route and takes its permit; false when none is left.
// Where every route cools down, it waits for the first one, at most as long as
// cooldown.wait allows. The decision is recorded either way. A fault of the gateway
// itself comes back as an error.
func (t *turn) choose(last *route.Route, hostFirst bool) (ok bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			ok, err = false, fmt.Errorf("choosing a route: %v", p)
		}
	}()
	q := route.Query{Protocol: t.req.Protocol.Channel(), Origin: t.origin, Tried: t.triedRoutes, Last: last, HostFirst: hostFirst,
		Failed: t.failedRecently(), Affinity: t.affinity(), Random: t.engine.Random,
		Weight: func(channel string) (int, bool) { return t.engine.Health.Weight(t.model.Name, channel) }}
	for before := t.waited; ; {
		views := t.views()
		chosen, found, d := t.engine.Choose(t.model, views, q)
		allow := t.engine.Health.Allow
		if !found {
			back, cools := route.FirstBack(t.model, views, q)
			wait, may := back.Wait(time.Now(), t.cfg.Cooldown.Wait-t.waited)
			d.WaitedMS = (t.waited - before).Milliseconds()
			switch {
			case !cools, !may, !t.wait(wait):
				t.decided(d)
				return false, nil
			case wait > 0:
				q.Denied = nil // probes that ran before the wait may have ended
				continue
			}
			chosen, d, allow = back.Route, back.Decision(d), t.engine.Health.AllowCooling
		}
		permit, allowed := allow(chosen.Key(), t.req.Principal.Customer.ID)
		if !allowed {
			q.Denied = append(q.Denied, chosen.Key())
			continue
		}
		d.WaitedMS = (t.waited - before).Milliseconds()
		t.decided(d)
		t.next = &candidate{route: chosen, permit: permit}
		return true, nil
	}
}

// views is the health of the model's channels at this moment.
func (t *turn) views() []health.View {
	views := make([]health.View, len(t.model.Channels))
	for i := range t.model.Channels {
		c := &t.model.Channels[i]
		views[i] = t.engine.Health.View(c.Channel, c.UpstreamModel)
	}
	return views
}

// wait lets a request wait for a route, and records that as time in the queue. It
// returns false if the client left meanwhile, or the request's time is over.
func (t *turn) wait(long time.Duration) bool {
	if long <= 0 {
		return t.ctx.Err() == nil
	}
	timer, start := time.NewTimer(long), time.Now()
	defer timer.Stop()
	select {
	case <-t.ctx.Done():
	case <-t.parent.Done():
	case <-timer.C:
	}
	took := time.Since(start)
	t.waited += took
	t.rec.Times.Queue += took.Milliseconds()
	return t.ctx.Err() == nil && t.parent.Err() == nil
}

func (t *turn) decided(d journal.Decision) {
	d.N = len(t.rec.Decisions) + 1
	t.rec.Decisions = append(t.rec.Decisions, d)
}

// affinity is a key that keeps the requests of one conversation on one route. It
// holds the customer, so that customers with equal keys are kept apart.
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

// hostFirst tells whether a route on another host is preferred even to one of a
// better priority (docs/contract.md#s3-next-route).
func hostFirst(f classify.Failure) bool {
	switch f {
	case classify.FailedEvent, classify.ReadError, classify.Upstream5xx, classify.BadAnswer, classify.Connect:
		return true
	}
	return false
}
