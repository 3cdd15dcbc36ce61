// Package billing works out what a request costs: which usage counts, who pays
// for which attempt, and which reported usage cannot be true. It is pure.
//
// It is not for prices (price), for writing a bill (meter) or for reading
// answers (protocol).
//
// Invariant: a customer pays for the delivered attempt only, and for an
// estimate never more than was held; the operator bears the cost of every other
// attempt.
package billing

import (
	"slices"

	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
	"rubicon/internal/money"
	"rubicon/internal/money/price"
	"rubicon/internal/wire/protocol"
)

// Flags of a usage beside price's own.
const (
	FlagOverrun = "overrun" // charged above the hold, as reported
)

// Attempt is what the bill depends on of one upstream call.
type Attempt struct {
	N        int
	Channel  string
	Cost     price.List
	Executed bool               // may have executed upstream
	Seen     *protocol.Observed // nil: nothing was read
	Reason   string             // why it was lost
}

// Input is a request at its end.
type Input struct {
	Request, Customer string
	Model             string // public
	Price             price.List
	Held              money.Nano
	InputEstimate     int64     // tokens, as in the hold
	Bounds            Bounds    // of what can be believed
	BytesPerToken     float64   // of the delivered text
	Attempts          []Attempt // the last one is the attempt whose end the client saw
	Received          Received
	Uncharged         bool // recorded, never charged (token counting)
}

// Received is how the last attempt ended for the client.
type Received uint8

// The endings of the table docs/contract.md#s7-who-pays.
const (
	ReceivedNothing      Received = iota // a failure, or the client left, and no output event, or none with content
	ReceivedAnswer                       // completed or incomplete
	ReceivedPart                         // output with content, then a failure or the client left
	ReceivedFailedResult                 // a failure event whose own payload holds output
)

// Bill is who pays what.
type Bill struct {
	Charged bool // settle; otherwise the hold is released
	Charge  money.Nano
	Lines   []journal.Line
	Usage   journal.Usage
	Costs   []ledger.CostArgs
	// Anomalies are the attempts whose reported usage cannot be, in order.
	Anomalies []Anomaly
}

// CostOf is what the bill books for an attempt upstream.
func (b Bill) CostOf(attempt int) money.Nano {
	for _, c := range b.Costs {
		if c.Attempt == attempt {
			return c.Amount
		}
	}
	return 0
}

// Make works out the bill.
func Make(c Input) (Bill, error) {
	var b Bill
	b.Usage = journal.Usage{Tools: map[string]int64{}, Source: journal.SourceNone, Flags: []string{}}
	last := len(c.Attempts) - 1
	if last < 0 || c.Uncharged {
		return b, nil // counting tokens is not charged and costs nothing
	}
	for i, a := range c.Attempts {
		if i == last && c.Received != ReceivedNothing {
			continue
		}
		if err := b.addAbsorbed(c, a); err != nil {
			return Bill{}, err
		}
	}
	if c.Received == ReceivedNothing {
		b.setUncharged(c, c.Attempts[last])
		return b, nil
	}
	return b, b.delivered(c, c.Attempts[last])
}

// delivered charges the attempt that was delivered.
func (b *Bill) delivered(c Input, a Attempt) error {
	u, source, flags := usageOf(c, a)
	if slices.Contains(flags, price.FlagAnomaly) {
		b.doubt(a)
	}
	quote, err := c.Price.Charge(u)
	if err != nil {
		return err
	}
	b.Charged, b.Charge, b.Lines = true, quote.Total, lines(quote)
	flags = append(flags, quote.Flags...)
	if b.Charge > c.Held {
		if source == journal.SourceEstimated {
			b.capAt(c.Held)
		} else {
			flags = append(flags, FlagOverrun)
		}
	}
	b.Usage = record(u, source, flags)
	cost, err := a.Cost.Charge(u)
	if err != nil {
		return err
	}
	b.Costs = append(b.Costs, ledger.CostArgs{Request: c.Request, Customer: c.Customer, Channel: a.Channel, Amount: cost.Total, Attempt: a.N})
	return nil
}

// lineCap is the line that takes an estimate down to what was held.
const lineCap = "estimate_capped"

// capAt lowers the charge; the lines keep their sum.
func (b *Bill) capAt(held money.Nano) {
	over := held - b.Charge
	b.Lines = append(b.Lines, journal.Line{Class: lineCap, Units: 1, Price: over.String(), Amount: over})
	b.Charge = held
}

// addAbsorbed books an attempt that the customer does not pay for: the reported
// usage, else the input estimate where it may have executed, else nothing.
func (b *Bill) addAbsorbed(c Input, a Attempt) error {
	u, anomaly := price.Usage{}, true
	if a.Seen != nil && a.Seen.Reported {
		if u, anomaly = reported(c, a.Seen); anomaly {
			b.doubt(a)
		}
	}
	switch {
	case !anomaly:
	case a.Executed:
		u = price.Usage{Input: c.InputEstimate}
	default:
		return nil
	}
	cost, err := a.Cost.Charge(u)
	if err != nil {
		return err
	}
	b.Costs = append(b.Costs, ledger.CostArgs{Request: c.Request, Customer: c.Customer, Channel: a.Channel, Amount: cost.Total,
		Absorbed: true, Reason: a.Reason, Attempt: a.N})
	return nil
}

// setUncharged puts the reported usage of an unpaid last attempt on record.
func (b *Bill) setUncharged(c Input, a Attempt) {
	if a.Seen == nil || !a.Seen.Reported {
		return
	}
	u, source, flags := usageOf(c, a)
	b.Usage = record(u, source, flags)
}

// usageOf is what the delivered attempt used: as reported, else estimated.
func usageOf(c Input, a Attempt) (u price.Usage, source string, flags []string) {
	seen := a.Seen
	if seen == nil {
		seen = &protocol.Observed{}
	}
	u, anomaly := reported(c, seen)
	if anomaly {
		flags = append(flags, price.FlagAnomaly)
	}
	if seen.Reported && !anomaly {
		return u, journal.SourceReported, flags
	}
	u = Estimate(c, seen)
	u.Tools, u.Tier = believable(seen.Hosted), seen.Tier
	return u, journal.SourceEstimated, flags
}

// Estimate is the usage of an answer that did not report it, or not one that can
// be: the hold's input estimate (or the classes reported at the opening) and the
// delivered text by the model's bytes per token.
func Estimate(c Input, seen *protocol.Observed) price.Usage {
	u := price.Usage{Input: c.InputEstimate}
	if seen.OpeningUsage {
		in := price.Usage{Input: seen.Usage.Input, CachedInput: seen.Usage.CachedInput, CacheWrite: seen.Usage.CacheWrite}
		if in, anomaly := price.Normalize(in); !anomaly && c.Bounds.plausible(in, seen) {
			u = in
		}
	}
	u.Output = tokensOf(seen.TextBytes, c.BytesPerToken)
	return u
}

func record(u price.Usage, source string, flags []string) journal.Usage {
	out := journal.Usage{Input: u.Input, CachedInput: u.CachedInput, CacheWrite: u.CacheWrite, Output: u.Output,
		Tools: map[string]int64{}, Source: source, Flags: slices.Compact(slices.Sorted(slices.Values(flags)))}
	if out.Flags == nil {
		out.Flags = []string{}
	}
	for k, v := range u.Tools {
		out.Tools[k] = v
	}
	return out
}

func lines(q price.Quote) []journal.Line {
	out := make([]journal.Line, 0, len(q.Lines))
	for _, l := range q.Lines {
		out = append(out, journal.Line{Class: l.Class, Units: l.Units, Price: l.Price.String(), Amount: l.Amount})
	}
	return out
}
