package messages

import (
	"rubicon/internal/jsonscan"
	"rubicon/internal/price"
	"rubicon/internal/protocol"
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
		c[is].n, c[is].known = n, true
	}
	return ok
}

// sum adds the written tokens up by their lifetimes, where their total is not
// given.
func (c *counts) sum(parts []byte) {
	var sum int64
	any := false
	m := jsonscan.Object(parts)
	for m.Next() {
		if n, ok := protocol.Count(m.Value()); ok {
			sum, any = sum+n, true
		}
	}
	if any {
		c[written].n, c[written].known = sum, true
	}
}

// open reports the input of a message_start and forgets its output.
func (c *counts) open(seen *protocol.Seen) {
	c[output].n, c[output].known = 0, false
	seen.Opening = c[input].known || c[cached].known || c[written].known
	seen.Usage = c.usage()
}

// report reports closing numbers: they count once they tell the output.
func (c *counts) report(seen *protocol.Seen) {
	seen.Reported = c[output].known
	seen.Usage = c.usage()
}

// impossible is an input that price takes for an anomaly. A slightly negative
// one it would take for cached tokens above the total, which there is not here.
const impossible = -1 << 40

func (c *counts) usage() price.Usage {
	in := c[input].n
	if in < 0 {
		in = impossible
	}
	return price.Usage{Input: in, CachedInput: c[cached].n, CacheWrite: c[written].n, Output: c[output].n}
}
