package billing

import (
	"fmt"

	"rubicon/internal/money/price"
	"rubicon/internal/wire/protocol"
)

// Bounds are what is known of a request that bounds what it can have used. What
// a provider reports beyond that is an error of the provider, and is not charged.
type Bounds struct {
	Body        int64 // bytes; 0: nothing is known, and nothing bounded
	Attachments int64 // images and files
	Parent      int64 // tokens on record of a stored response that it continues
	Elsewhere   bool  // there is input besides the body, of unknown size: state at the provider, hosted tools
	Maximum     int64 // of output tokens as the request names it, for all choices; 0: it names none
}

const (
	attachmentBound = 10_000     // tokens of an image or file
	templateTokens  = 2_000      // what providers write around a request: chat templates, instructions for tools, a system prompt of their own
	elsewhereTokens = 10_000_000 // far above any context, also where hosted tools read it several times
	outputMargin    = 100_000    // hidden reasoning above all
)

// plausible reports whether a normal usage can be that of the request: text has at
// most a token a byte, and no provider answers far beyond the maximum.
func (b Bounds) plausible(u price.Usage, seen *protocol.Observed) bool {
	if b.Body == 0 {
		return true
	}
	return u.Input+u.CachedInput+u.CacheWrite <= b.input(seen) && u.Output <= b.output(seen)
}

func (b Bounds) input(seen *protocol.Observed) int64 {
	most := b.Body + b.Attachments*attachmentBound + b.Parent + templateTokens
	if b.Elsewhere || seen.Ran {
		most += elsewhereTokens
	}
	return most
}

func (b Bounds) output(seen *protocol.Observed) int64 {
	if b.Maximum > 0 {
		return 2*b.Maximum + outputMargin
	}
	return seen.TextBytes + outputMargin
}

// reported is the usage that the answer reported, hosted calls and tier included.
// anomaly means that it must not be charged.
func reported(c Input, seen *protocol.Observed) (u price.Usage, anomaly bool) {
	u = seen.Usage
	u.Tools, u.Tier = seen.Hosted, seen.Tier
	u, anomaly = price.Normalize(u)
	return u, anomaly || !c.Bounds.plausible(u, seen)
}

// believable leaves out the counts that made a usage an anomaly.
func believable(calls map[string]int64) map[string]int64 {
	out := map[string]int64{}
	for name, n := range calls {
		if _, anomaly := price.Normalize(price.Usage{Tools: map[string]int64{name: n}}); !anomaly {
			out[name] = n
		}
	}
	return out
}

// Anomaly is an attempt whose reported usage cannot be.
type Anomaly struct {
	Attempt  int
	Channel  string
	Reported price.Usage
}

func (b *Bill) doubt(a Attempt) {
	u := a.Seen.Usage
	u.Tools = a.Seen.Hosted
	b.Anomalies = append(b.Anomalies, Anomaly{a.N, a.Channel, u})
}

// String says what was reported.
func (n Anomaly) String() string {
	u := n.Reported
	text := fmt.Sprintf("%d input and %d output tokens", shown(u.Input+u.CachedInput+u.CacheWrite), shown(u.Output))
	if len(u.Tools) > 0 {
		text += fmt.Sprintf(" with hosted calls %v", u.Tools)
	}
	return "attempt " + fmt.Sprint(n.Attempt) + ": upstream reported " + text + ", which cannot be; an estimate counts instead"
}

// shown is a number for a message. Far negative numbers, with which readers
// replace what is not a number, become -1.
func shown(n int64) int64 {
	if n < -1<<32 {
		return -1
	}
	return n
}
