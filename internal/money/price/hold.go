package price

import (
	"fmt"

	"rubicon/internal/money"
)

// Hold is the amount to reserve before the first attempt:
//
//	(request + input × the dearest of input and cache write + choices × bound × output) × tier factor
//
// where no tier, or "auto", takes the dearest listed factor and at least 1,
// because the answer may come from any tier. An amount that does not fit is
// ErrOverflow (no balance covers it), a requested tier without a factor is
// ErrUnknownTier.
func (l List) Hold(h HoldInput) (money.Nano, error) {
	if h.InputTokens < 0 || h.Choices < 0 || h.OutputBound < 0 {
		return 0, fmt.Errorf("computing a hold: %w", ErrUsage)
	}
	factor, err := l.holdFactor(h.Tier)
	if err != nil {
		return 0, err
	}
	input, err := money.Line(h.InputTokens, max(l.Input, orElse(l.CacheWrite, l.Input)))
	if err != nil {
		return 0, fmt.Errorf("holding for input: %w", err)
	}
	// Choices × bound may itself leave 64 bits; Times checks.
	tokens, err := money.Times(max(h.Choices, 1), money.Nano(h.OutputBound))
	if err != nil {
		return 0, fmt.Errorf("holding for output: %w", err)
	}
	output, err := money.Line(int64(tokens), l.Output)
	if err != nil {
		return 0, fmt.Errorf("holding for output: %w", err)
	}
	sum, err := money.Sum(l.Request, input, output)
	if err != nil {
		return 0, fmt.Errorf("computing a hold: %w", err)
	}
	held, err := money.Mul(sum, factor)
	if err != nil {
		return 0, fmt.Errorf("computing a hold: %w", err)
	}
	return held, nil
}

func (l List) holdFactor(tier string) (money.Factor, error) {
	if tier == "" || tier == tierAuto {
		dearest := money.One()
		for _, f := range l.Tiers {
			if f.Compare(dearest) > 0 {
				dearest = f
			}
		}
		return dearest, nil
	}
	factor, known := l.factor(tier)
	if !known {
		return money.Factor{}, ErrUnknownTier
	}
	return factor, nil
}

const tierAuto = "auto"

// TierKnown reports whether a tier has a factor or needs none.
func (l List) TierKnown(tier string) bool {
	_, known := l.factor(tier)
	return known
}

// factor is the factor of a tier; without an entry it is 1, and known only for
// the tiers that mean the ordinary one.
func (l List) factor(tier string) (factor money.Factor, known bool) {
	if f, listed := l.Tiers[tier]; listed {
		return f, true
	}
	switch tier {
	case "", tierAuto, "default", "standard", "standard_only":
		return money.One(), true
	}
	return money.One(), false
}
