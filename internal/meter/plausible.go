package meter

import (
	"rubicon/internal/price"
	"rubicon/internal/protocol"
)

// Bounds are what is known of a request that bounds what it can have used. What
// a provider reports beyond that is an error of the provider's, and nobody is
// charged for it.
type Bounds struct {
	Body        int64 // bytes; 0: nothing is known, and nothing bounded
	Attachments int64 // images and files
	Parent      int64 // tokens on record of a stored response that it continues
	Elsewhere   bool  // more than the body is input, and nobody here knows how much: state at the provider, hosted tools
	Maximum     int64 // of output tokens as the request names it, for all choices; 0: it names none
}

const (
	attachmentBound = 10_000     // tokens of an image or file
	templateTokens  = 2_000      // what providers write around a request: chat templates, instructions for tools, a system prompt of their own
	elsewhereTokens = 10_000_000 // far above any context, also where hosted tools read it several times
	outputMargin    = 100_000    // hidden reasoning above all
)

// plausible tells whether a normal usage can be that of the request: text has at
// most a token a byte, and no provider answers far beyond the maximum.
func (b Bounds) plausible(u price.Usage, seen *protocol.Seen) bool {
	if b.Body == 0 {
		return true
	}
	return u.Input+u.CachedInput+u.CacheWrite <= b.input(seen) && u.Output <= b.output(seen)
}

func (b Bounds) input(seen *protocol.Seen) int64 {
	most := b.Body + b.Attachments*attachmentBound + b.Parent + templateTokens
	if b.Elsewhere || seen.Ran {
		most += elsewhereTokens
	}
	return most
}

func (b Bounds) output(seen *protocol.Seen) int64 {
	if b.Maximum > 0 {
		return 2*b.Maximum + outputMargin
	}
	return seen.TextBytes + outputMargin
}
