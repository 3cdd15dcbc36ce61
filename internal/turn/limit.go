package turn

import (
	"fmt"
	"time"

	"rubicon/internal/fault"
	"rubicon/internal/ledger"
	"rubicon/internal/limit"
)

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
	mean := min(t.Learner.MeanOutput(t.model.Name), bound)
	return expected{sure: t.estimate, guess: mostOutput(p.Choices, mean)}
}

// takeLimits takes the request's place under its key's rates and concurrency.
func (t *turn) takeLimits(e expected) *fault.Error {
	if t.Limits == nil {
		return nil
	}
	k := &t.req.Principal.Key
	grant, refused := t.Limits.Admit(time.Now(), limit.Ask{Key: k.ID, RPM: k.RPM, TPM: k.TPM, Concurrency: k.Concurrency, Tokens: e.tokens(k.TPM)})
	if refused != nil {
		t.showLimits(refused.State)
		return limited(refused)
	}
	t.grant = grant
	t.showLimits(grant.State())
	return nil
}

// showLimits tells the transport how the key stands.
func (t *turn) showLimits(s limit.State) {
	if t.req.OnLimits != nil {
		t.req.OnLimits(s)
	}
}

// limited is a refusal in the client's words.
func limited(r *limit.Refusal) *fault.Error {
	var f *fault.Error
	switch {
	case r.Reason == limit.Concurrency:
		f = fault.Newf(fault.ConcurrencyLimit, "This key may run %d requests at the same time.", r.Limit)
	case r.Never:
		f = fault.Newf(fault.RateLimitExceeded, "This request alone may use more than the %d tokens per minute of this key. Lower its maximum of output tokens, or send less.", r.Limit)
		f.Retryable = false
	default:
		f = fault.Newf(fault.RateLimitExceeded, "The limit of %d %s per minute of this key is reached.", r.Limit, r.Reason)
	}
	f.RetryAfter = r.After
	f.Extra = []fault.Field{{Name: "limit", Value: fmt.Sprintf("%q", r.Reason)}}
	return f
}

// freeLimits gives the place back, before the client is shown the end: whoever
// sees it sends the next request at once. Afterwards it does nothing.
func (t *turn) freeLimits() {
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
	start, _ := limit.Period(b.Period, time.Now())
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
	if _, end := limit.Period(period, time.Now()); !end.IsZero() {
		f.Extra = append(f.Extra, fault.Field{Name: "resets_at", Value: fmt.Sprintf("%q", end.Format(time.RFC3339))})
	}
	return f
}
