package price

import (
	"fmt"
	"maps"
	"slices"

	"rubicon/internal/money"
)

// Charge prices a usage; the tier is the one that the answer reported. Lines
// without units and without a price are left out. A hosted call without a
// price is a line of 0. The factor of a tier applies to the sum of all other
// lines, the request price included, and is rounded once; it shows as a line
// of its own.
//
// The usage has gone through Normalize: a negative count is ErrUsage.
func (l List) Charge(u Usage) (Quote, error) {
	b := &bill{}
	b.request(l.Request)
	b.tokens(ClassInput, u.Input, l.Input)
	b.tokens(ClassCachedInput, u.CachedInput, orElse(l.CachedInput, l.Input))
	b.tokens(ClassCacheWrite, u.CacheWrite, orElse(l.CacheWrite, l.Input))
	b.tokens(ClassOutput, u.Output, l.Output)
	for _, tool := range slices.Sorted(maps.Keys(u.Tools)) {
		price, priced := l.Tools[tool]
		b.calls(tool, u.Tools[tool], price, priced)
	}
	factor, known := l.factor(u.Tier)
	if !known {
		b.flag(FlagUnpriced)
	}
	b.tier(u.Tier, factor)
	if b.err != nil {
		return Quote{}, fmt.Errorf("charging a usage: %w", b.err)
	}
	return b.quote, nil
}

// bill collects lines; after the first error it does nothing.
type bill struct {
	quote Quote
	err   error
}

func (b *bill) request(price money.Nano) {
	if price != 0 {
		b.add(Line{Class: ClassRequest, Units: 1, Price: price, Amount: price})
	}
}

func (b *bill) tokens(class string, units int64, perMillion money.Nano) {
	if b.err != nil || units == 0 {
		return
	}
	amount, err := money.Line(units, perMillion)
	b.fail(checkUnits(units), err)
	b.add(Line{Class: class, Units: units, Price: perMillion, Amount: amount})
}

func (b *bill) calls(tool string, units int64, each money.Nano, priced bool) {
	if b.err != nil || units == 0 {
		return
	}
	if !priced {
		b.flag(FlagUnpriced)
	}
	amount, err := money.Times(units, each)
	b.fail(checkUnits(units), err)
	b.add(Line{Class: ToolPrefix + tool, Units: units, Price: each, Amount: amount})
}

// tier adds the difference that the factor makes.
func (b *bill) tier(name string, factor money.Factor) {
	if b.err != nil || factor.Equal(money.One()) {
		return
	}
	total, err := money.Mul(b.quote.Total, factor)
	b.fail(err)
	difference, err := total.Sub(b.quote.Total)
	b.fail(err)
	b.add(Line{Class: TierPrefix + name, Units: 1, Price: difference, Amount: difference})
}

func (b *bill) add(line Line) {
	if b.err != nil {
		return
	}
	total, err := b.quote.Total.Add(line.Amount)
	if err != nil {
		b.fail(err)
		return
	}
	b.quote.Total = total
	b.quote.Lines = append(b.quote.Lines, line)
}

func (b *bill) flag(name string) {
	if !slices.Contains(b.quote.Flags, name) {
		b.quote.Flags = append(b.quote.Flags, name)
	}
}

func (b *bill) fail(errs ...error) {
	for _, err := range errs {
		if b.err == nil {
			b.err = err
		}
	}
}

func checkUnits(units int64) error {
	if units < 0 {
		return ErrUsage
	}
	return nil
}

func orElse(price *money.Nano, otherwise money.Nano) money.Nano {
	if price == nil {
		return otherwise
	}
	return *price
}
