package messages

import (
	"bytes"

	"rubicon/internal/money/price"
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
)

// number is one of the numbers that usages are made of.
type number uint8

const (
	input   number = iota // neither read from nor written to a cache
	cached                // read from a cache
	written               // written to a cache
	output
	numbers
)

// counts are the last known numbers: usages are cumulative and may leave
// numbers out.
type counts [numbers]struct {
	n     int64
	known bool
}

func (c *counts) read(usage []byte) {
	var parts []byte
	total := false
	m := jsonscan.Object(usage)
	for m.Next() {
		v := m.Value()
		switch string(m.Key()) {
		case "input_tokens":
			c.put(input, v)
		case "cache_read_input_tokens":
			c.put(cached, v)
		case "cache_creation_input_tokens":
			total = c.put(written, v) || total
		case "cache_creation":
			parts = v
		case "output_tokens":
			c.put(output, v)
		}
	}
	if !total {
		c.sum(parts)
	}
}

func (c *counts) put(is number, raw []byte) bool {
	n, ok := protocol.Count(raw)
	if ok {
		c.set(is, n)
	}
	return ok
}

// set takes the last word on a number, with one exception: input that was read
// once stays read, so that a 0 takes no count of it back. Relays close with
// zeros for what they told at the opening.
func (c *counts) set(is number, n int64) {
	if n == 0 && is != output && c[is].n > 0 {
		return
	}
	c[is].n, c[is].known = n, true
}

// sum adds the written tokens up by their lifetimes, where their total is not
// given.
func (c *counts) sum(parts []byte) {
	var sum int64
	any := false
	m := jsonscan.Object(parts)
	for m.Next() {
		if !bytes.HasSuffix(m.Key(), []byte("_tokens")) {
			continue
		}
		n, ok := protocol.Count(m.Value())
		if n < 0 || sum < 0 {
			n, sum = 0, -1 // one that is no number must not hide among others
		}
		sum, any = sum+n, any || ok
	}
	if any {
		c.set(written, sum)
	}
}

// open reports the input of a message_start and forgets its output.
func (c *counts) open(seen *protocol.Observed) {
	c[output].n, c[output].known = 0, false
	seen.OpeningUsage = c[input].known || c[cached].known || c[written].known
	seen.Usage = c.usage()
}

// report reports closing numbers: they count once they tell the output.
func (c *counts) report(seen *protocol.Observed) {
	seen.Reported = c[output].known
	seen.Usage = c.usage()
}

// invalidCount is an input that price takes for an anomaly. A slightly negative
// one it would take for cached tokens above the total, which there is not here.
const invalidCount = -1 << 40

func (c *counts) usage() price.Usage {
	in := c[input].n
	if in < 0 {
		in = invalidCount
	}
	return price.Usage{Input: in, CachedInput: c[cached].n, CacheWrite: c[written].n, Output: c[output].n}
}
