package turn

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"rubicon/internal/books/ledger"
	"rubicon/internal/books/state"
	"rubicon/internal/config"
	"rubicon/internal/engine/meter"
	"rubicon/internal/engine/upstream"
	"rubicon/internal/money"
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/protocol"
)

// admit decides whether the request runs at all, reserves its money and begins
// its record. No upstream call was made when it refuses.
func (t *turn) admit() *fault.Error {
	if t.engine.Overloaded != nil && t.engine.Overloaded() {
		return fault.New(fault.Overloaded, "")
	}
	if f := t.findModel(); f != nil {
		return f
	}
	t.limitTime()
	if f := t.findState(); f != nil {
		return f
	}
	held, tokens, f := t.amount()
	if f != nil {
		return f
	}
	if f := t.takeLimits(tokens); f != nil {
		return f
	}
	if f := t.chooseFirst(); f != nil {
		return f
	}
	return t.openRequest(held)
}

// findModel finds the public model and checks that the key and the surface fit.
func (t *turn) findModel() *fault.Error {
	name := t.req.Parsed.Model
	t.model = t.cfg.Model(name)
	if t.model == nil {
		return fault.Newf(fault.ModelNotFound, "The model %q does not exist here. GET /v1/models lists those that do.", fault.Clip(name)).WithParam("model")
	}
	if !t.req.Principal.MayUse(name) {
		return fault.Newf(fault.ModelNotAllowed, "This key may not use the model %q.", fault.Clip(name)).WithParam("model")
	}
	var speaks []string
	for i := range t.model.Channels {
		p := t.model.Channels[i].Channel.Protocol
		if p == t.req.Protocol.Channel() {
			return nil
		}
		if !slices.Contains(speaks, p) {
			speaks = append(speaks, p)
		}
	}
	slices.Sort(speaks)
	return fault.Newf(fault.UnsupportedSurface, "The model %q does not speak this API; it speaks: %s.", fault.Clip(name), strings.Join(speaks, ", ")).WithParam("model")
}

// limitTime sets the request's deadlines.
func (t *turn) limitTime() {
	t.timers = t.model.TimersFor(t.req.Protocol.Channel())
	if t.timers.Total > 0 {
		ctx, cancel := context.WithTimeoutCause(t.ctx, t.timers.Total-time.Since(t.req.Received), upstream.ErrTotal)
		t.ctx = ctx
		t.atEnd(cancel)
	}
	rules := gateRules{hold: t.timers.EventHold, keepalive: t.timers.Keepalive}
	rules.limit = t.cfg.Limits.HeldBytes + 2*int64(len(t.req.Body))
	atomic := t.req.Parsed.Stream && t.atomic()
	if atomic {
		rules.limit = t.cfg.Limits.AtomicBytes + 2*int64(len(t.req.Body))
	}
	t.gate.configure(rules, atomic)
}

// atomic tells whether output is held until the answer is complete: as the request
// asks, else as its key is configured, else as the model is.
func (t *turn) atomic() bool {
	if d := t.req.Delivery; d != "" {
		return d == config.DeliveryAtomic
	}
	if d := t.req.Principal.Key.Delivery; d != "" {
		return d == config.DeliveryAtomic
	}
	return t.model.Delivery == config.DeliveryAtomic
}

// findState resolves the upstream state that the request names: it must belong
// to this customer, and binds the request to its origin.
func (t *turn) findState() *fault.Error {
	p := &t.req.Parsed
	t.stored = p.Store == protocol.StoreTrue
	if p.Store == protocol.StoreAbsent {
		t.storeOff = t.cfg.Replay.DefaultStoreFalse
		t.stored = !t.storeOff
	}
	if len(p.Refs) == 0 {
		return nil
	}
	many := t.origins() > 1
	refs := make([]state.Ref, 0, len(p.Refs))
	for _, r := range p.Refs {
		if many || r.Kind != protocol.KindSealed { // otherwise bindState does not need the entry
			refs = append(refs, state.Ref{Kind: state.Kind(r.Kind), ID: r.ID})
		}
	}
	known, err := t.engine.States.LookupAll(t.ctx, t.req.Principal.Customer.ID, refs)
	if err != nil {
		return fault.New(fault.StoreUnavailable, "").WithCause(err)
	}
	for _, r := range p.Refs {
		e, ok := known[state.Ref{Kind: state.Kind(r.Kind), ID: r.ID}]
		if f := t.bindState(r, e, ok, many); f != nil {
			return f
		}
	}
	return nil
}

// bindState applies what is known of one piece of state that the request names.
func (t *turn) bindState(r protocol.Ref, e state.Entry, known, manyOrigins bool) *fault.Error {
	sealed := r.Kind == protocol.KindSealed
	if sealed && !manyOrigins {
		return nil
	}
	if r.Kind != protocol.KindResponse && r.Kind != protocol.KindConversation {
		t.bound = true
	}
	switch {
	case known && r.Kind == protocol.KindResponse && e.StoreOff:
		return fault.New(fault.PreviousResponseNotFound, "Previous response not found: this gateway turned its \"store\" off (option replay.default_store: false). Send \"store\": true with the request to be continued, or the full input without previous_response_id.").WithParam(r.Param)
	case known:
		t.bindOrigin(e.Origin)
		if r.Kind == protocol.KindResponse {
			t.estimate += e.Tokens
		}
		return nil
	case sealed, t.cfg.State.PassUnknown():
		return nil
	case r.Kind == protocol.KindResponse:
		return fault.Newf(fault.PreviousResponseNotFound, "Previous response with id '%s' not found.", fault.Clip(r.ID)).WithParam(r.Param)
	}
	return fault.Newf(fault.NotFound, "No %s with id '%s' was found.", strings.ReplaceAll(r.Kind, "_", " "), fault.Clip(r.ID)).WithParam(r.Param)
}

// noOrigin is the origin of a request that names state of two origins. No account
// holds both, so no route matches it.
const noOrigin = "\x00two origins"

// bindOrigin binds the request to the account that holds state it names.
func (t *turn) bindOrigin(origin string) {
	if t.origin != "" && t.origin != origin {
		origin = noOrigin
	}
	t.origin = origin
}

// origins counts the upstream accounts behind the candidates of this surface.
func (t *turn) origins() int {
	seen := map[string]bool{}
	for i := range t.model.Channels {
		ch := t.model.Channels[i].Channel
		if ch.Protocol != t.req.Protocol.Channel() {
			continue
		}
		if len(ch.Credentials) == 0 {
			seen[ch.OriginOf("")] = true
		}
		for _, c := range ch.Credentials {
			seen[ch.OriginOf(c.Name)] = true
		}
	}
	return len(seen)
}

// openRequest makes the hold and the record.
func (t *turn) openRequest(held money.Nano) *fault.Error {
	start := time.Now()
	t.billing.Held = held
	err := t.engine.Bookkeeper.Open(t.ctx, meter.RequestStart{Record: t.rec, Held: held, Uncharged: t.req.Uncharged, Billing: t.billing, Budget: t.budget()})
	var short *ledger.Insufficient
	var over *ledger.OverBudget
	switch {
	case errors.As(err, &over):
		return t.overBudget(over)
	case errors.As(err, &short):
		return t.insufficientBalance(short.Available.String(), held.String())
	case err != nil && (t.endedByTransport() || t.ctx.Err() != nil):
		return t.interrupted(err)
	case err != nil:
		level := slog.LevelError
		if t.engine.Bookkeeper.DatabaseAway() {
			level = slog.LevelDebug // the bookkeeper logs this once, and not for every request
		}
		t.engine.Log.Log(t.ctx, level, "making a charge hold", "request_id", t.req.ID, "error", err)
		return fault.New(fault.StoreUnavailable, "").WithCause(err)
	}
	t.opened = true
	t.rec.Times.Queue = start.Sub(t.req.Received).Milliseconds()
	t.rec.Times.ChargeHold = time.Since(start).Milliseconds()
	return nil
}
