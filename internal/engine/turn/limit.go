package turn

import (
	"fmt"
	"time"

	"rubicon/internal/books/account"
	"rubicon/internal/books/ledger"
	"rubicon/internal/books/limit"
	"rubicon/internal/wire/fault"
)

// Enter takes what can be known of a request before it is read: there is memory
// for it, and its key has a place under its rate and its concurrency. The place
// is taken along by Run, Local and Refused.
func (e *Engine) Enter(req *Request) *fault.Error {
	if e.Overloaded != nil && e.Overloaded() {
		return fault.New(fault.Overloaded, "")
	}
	if e.Limits == nil {
		return nil
	}
	k := &req.Principal.Key
	grant, refused := e.Limits.Admit(time.Now(), limit.Demand{Key: k.ID, RPM: k.RPM, Concurrency: k.Concurrency})
	if refused != nil {
		req.showLimits(refused.State)
		return limited(refused)
	}
	req.grant = grant
	return nil
}

// Leave gives back what Enter took, if nobody took it along.
func (r *Request) Leave() {
	r.grant.Cancel(time.Now())
	r.grant = nil
}

// expected is what a request is let in for by its key's tokens per minute. What
// it really uses counts once that is known.
type expected struct {
	sure  int64 // the input, and the output that the request asked for
	guess int64 // output by what the model's answers were so far
}

// tokens is the sum, as far as the limit goes: a guess alone keeps no key that
// rested from its request.
func (e expected) tokens(tpm int64) int64 {
	return e.sure + min(e.guess, max(tpm-e.sure, 0))
}

// expects tells how much output is expected of the request, whose output the
// hold bounds. A maximum that it named by its own will is what it asked for. One
// that its API demands says little: agents name the model's largest.
func (t *turn) expects(bound int64) expected {
	p := &t.req.Parsed
	switch {
	case t.req.Protocol.NoOutput:
		return expected{sure: t.estimate}
	case p.MaxOutput > 0 && !t.req.Protocol.NamesMaximum:
		return expected{sure: t.estimate + mostOutput(p.Choices, p.MaxOutput)}
	}
	mean := min(t.engine.Learner.MeanOutput(t.model.Name), bound)
	return expected{sure: t.estimate, guess: mostOutput(p.Choices, mean)}
}

// takeLimits takes the request's place under its key's limits, or adds to the
// one from Enter what only its body tells: tokens.
func (t *turn) takeLimits(e expected) *fault.Error {
	if t.engine.Limits == nil {
		return nil
	}
	k := &t.req.Principal.Key
	ask := limit.Demand{Key: k.ID, RPM: k.RPM, TPM: k.TPM, Concurrency: k.Concurrency, Tokens: e.tokens(k.TPM)}
	var refused *limit.Refusal
	if t.grant != nil {
		refused = t.grant.Extend(time.Now(), ask)
	} else {
		t.grant, refused = t.engine.Limits.Admit(time.Now(), ask)
	}
	if refused != nil {
		t.req.showLimits(refused.State)
		return limited(refused)
	}
	t.req.showLimits(t.grant.State())
	return nil
}

// showLimits tells the transport how the key stands.
func (r *Request) showLimits(s limit.State) {
	if r.OnLimits != nil {
		r.OnLimits(s)
	}
}

// limited is a refusal in the client's words.
func limited(r *limit.Refusal) *fault.Error {
	var f *fault.Error
	switch {
	case r.Reason == limit.Concurrency:
		f = fault.Newf(fault.ConcurrencyLimit, "This key may run %d requests at the same time.", r.Limit)
	case r.Impossible:
		f = fault.Newf(fault.RateLimitExceeded, "This request alone may use more than the %d tokens per minute of this key. Lower its maximum of output tokens, or send less.", r.Limit)
		f.Retryable = false
	default:
		f = fault.Newf(fault.RateLimitExceeded, "The limit of %d %s per minute of this key is reached.", r.Limit, r.Reason)
	}
	f.RetryAfter = r.After
	f.Extra = []fault.Field{{Name: "limit", Value: fmt.Sprintf("%q", r.Reason)}}
	return f
}

// releaseLimits gives the place back, before the client is shown the end: whoever
// sees it sends the next request at once. Afterwards it does nothing.
func (t *turn) releaseLimits() {
	if !t.opened {
		t.grant.Cancel(time.Now())
		return
	}
	u := t.rec.Usage
	t.grant.Done(time.Now(), u.Input+u.CachedInput+u.CacheWrite+u.Output)
}

// budget is what the key's budget counts at this moment; nil: it has none.
func (t *turn) budget() *ledger.Budget {
	b := t.req.Principal.Key.Budget
	if b == nil {
		return nil
	}
	start, _ := account.PeriodAt(b.Period, time.Now())
	return &ledger.Budget{Amount: b.Amount, Since: start}
}

// overBudget is that refusal in the client's words.
func (t *turn) overBudget(over *ledger.OverBudget) *fault.Error {
	period := t.req.Principal.Key.Budget.Period
	left := max(over.Budget-over.Spent-over.Held, 0)
	f := fault.Newf(fault.KeyBudgetExceeded, "The budget of this key (%s USD, period: %s) has %s USD left and does not cover the estimated cost of %s USD.",
		over.Budget, period, left, over.Required)
	f.Extra = []fault.Field{
		{Name: "budget", Value: fmt.Sprintf("%q", over.Budget)}, {Name: "period", Value: fmt.Sprintf("%q", period)},
		{Name: "spent", Value: fmt.Sprintf("%q", over.Spent)}, {Name: "held", Value: fmt.Sprintf("%q", over.Held)},
		{Name: "estimated_cost", Value: fmt.Sprintf("%q", over.Required)},
	}
	if _, end := account.PeriodAt(period, time.Now()); !end.IsZero() {
		f.Extra = append(f.Extra, fault.Field{Name: "resets_at", Value: fmt.Sprintf("%q", end.Format(time.RFC3339))})
	}
	return f
}
