package turn

import (
	"fmt"
	"time"

	"rubicon/internal/books/account"
	"rubicon/internal/books/ledger"
	"rubicon/internal/books/limit"
	"rubicon/internal/wire/fault"
)

// Enter checks what can be checked before a request is read: that there is memory
// for it, and that its key's rate and concurrency have a place for it. Run, Local
// and Refused take the place over.
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

// Leave gives back the place that Enter took, if no call has taken it over.
func (r *Request) Leave() {
	r.grant.Cancel(time.Now())
	r.grant = nil
}

// expected is how many tokens a request counts for under its key's tokens per minute
// when it begins. Its real usage counts once that is known.
type expected struct {
	sure  int64 // the input, and the output that the request asked for
	guess int64 // output by what the model's answers were so far
}

// tokens is the sum, but the guess counts at most as far as the limit, so that a guess
// alone never refuses the request of a key that was not used for a minute.
func (e expected) tokens(tpm int64) int64 {
	return e.sure + min(e.guess, max(tpm-e.sure, 0))
}

// expects gives how many tokens are expected of the request; bound is the output that
// the hold covers. An optional maximum that the request names counts in full. One
// that the API demands does not: agents name the model's largest.
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
// one from Enter the tokens, which only the body shows.
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

// showLimits gives the transport the state of the key's limits.
func (r *Request) showLimits(s limit.State) {
	if r.OnLimits != nil {
		r.OnLimits(s)
	}
}

// limited is a refusal by a limit, as the client reads it.
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

// releaseLimits gives the place back. It is called before the client is shown the end,
// because a client that sees the end may send its next request at once. A second
// call does nothing.
func (t *turn) releaseLimits() {
	if !t.opened {
		t.grant.Cancel(time.Now())
		return
	}
	u := t.rec.Usage
	t.grant.Done(time.Now(), u.Input+u.CachedInput+u.CacheWrite+u.Output)
}

// budget is the key's budget in the present period; nil if it has none.
func (t *turn) budget() *ledger.Budget {
	b := t.req.Principal.Key.Budget
	if b == nil {
		return nil
	}
	start, _ := account.PeriodAt(b.Period, time.Now())
	return &ledger.Budget{Amount: b.Amount, Since: start}
}

// overBudget is the refusal by a budget, as the client reads it.
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
