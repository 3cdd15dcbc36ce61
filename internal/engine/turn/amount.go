package turn

import (
	"errors"
	"fmt"
	"math"

	"rubicon/internal/engine/billing"
	"rubicon/internal/engine/meter"
	"rubicon/internal/money"
	"rubicon/internal/money/price"
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/protocol"
)

// amount works out the charge hold, and how many tokens of the key's rate limit the
// request is expected to use.
func (t *turn) amount() (held money.Nano, tokens expected, f *fault.Error) {
	p := &t.req.Parsed
	t.bounds = t.believed()
	t.estimate += price.EstimateInput(p.EstimateBytes, p.Attachments)
	t.billing = meter.Billing{InputEstimate: t.estimate, BytesPerToken: billing.FirstBytesPerToken}
	t.rec.PriceVersion = t.model.Price.Version()
	if t.req.Uncharged {
		return 0, expected{}, nil
	}
	bound := p.MaxOutput
	if bound == 0 && !t.req.Protocol.NoOutput {
		bound = t.model.HoldOutputTokens
	}
	held, err := t.model.Price.Hold(price.HoldInput{InputTokens: t.estimate, Choices: p.Choices, OutputBound: bound, Tier: p.Tier})
	switch {
	case errors.Is(err, price.ErrUnknownTier):
		return 0, expected{}, fault.Newf(fault.UnsupportedParameter, "The service tier %q has no price for this model.", fault.Clip(p.Tier)).WithParam("service_tier")
	case errors.Is(err, price.ErrOverflow):
		return 0, expected{}, t.holdTooLarge()
	case err != nil:
		return 0, expected{}, fault.New(fault.InternalError, "").WithCause(err)
	}
	return held, t.expects(bound), nil
}

// believed gives the largest usage of this request that is believed if a channel
// reports it. At this point the estimate holds the recorded tokens of a stored
// parent response, and nothing else.
func (t *turn) believed() billing.Bounds {
	p := &t.req.Parsed
	b := billing.Bounds{Body: int64(len(t.req.Body)), Attachments: int64(p.Attachments), Parent: t.estimate}
	if p.MaxOutput > 0 {
		b.Maximum = mostOutput(p.Choices, p.MaxOutput)
	}
	b.Elsewhere = len(p.Hosted) > 0 || p.PrevResponse != "" && t.estimate == 0
	for _, r := range p.Refs {
		if r.Kind != protocol.KindSealed && r.Kind != protocol.KindResponse {
			b.Elsewhere = true
		}
	}
	return b
}

// mostOutput is choices times bound, or more than any limit.
func mostOutput(choices, bound int64) int64 {
	choices = max(choices, 1)
	if bound > math.MaxInt32/choices {
		return math.MaxInt32
	}
	return choices * bound
}

// holdTooLarge refuses a request whose cost does not fit into an amount. The message
// names the largest amount instead.
func (t *turn) holdTooLarge() *fault.Error {
	available, err := t.engine.Bookkeeper.Available(t.ctx, t.req.Principal.Customer.ID)
	if err != nil {
		return fault.New(fault.StoreUnavailable, "").WithCause(err)
	}
	return t.insufficientBalance(available.String(), money.Nano(math.MaxInt64).String())
}

func (t *turn) insufficientBalance(balance, estimated string) *fault.Error {
	f := fault.Newf(fault.InsufficientBalance, "The balance of %s USD does not cover the estimated cost of %s USD. Add credit, or lower the request's maximum of output tokens.", balance, estimated)
	f.Extra = []fault.Field{{Name: "balance", Value: fmt.Sprintf("%q", balance)}, {Name: "estimated_cost", Value: fmt.Sprintf("%q", estimated)}}
	return f
}
