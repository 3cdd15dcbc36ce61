package chat

import (
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// number is one of the numbers that usages are made of.
type number uint8

const (
	prompt number = iota
	cached
	written
	written30m
	written12h
	completion
	reasoning
	total
	searches
	numbers
)

// usageFields says which member of a usage is which number. Where one usage
// names a number twice, the larger counts: relays fill in the other with 0.
var usageFields = [...]struct {
	in, name string // in: the member that holds it, "" the usage itself
	is       number
}{
	{"", "prompt_tokens", prompt},
	{"", "completion_tokens", completion},
	{"", "total_tokens", total},
	{"prompt_tokens_details", "cached_tokens", cached},
	{"prompt_tokens_details", "cache_write_tokens", written},
	{"prompt_tokens_details", "cache_creation_tokens", written}, // LiteLLM
	{"cache_write_tokens_details", "ttl_30m", written30m},
	{"cache_write_tokens_details", "ttl_12h", written12h},
	{"completion_tokens_details", "reasoning_tokens", reasoning},
	{"", "cached_tokens", cached},                // Moonshot
	{"", "prompt_cache_hit_tokens", cached},      // DeepSeek
	{"", "cache_read_input_tokens", cached},      // relays of Messages
	{"", "cache_creation_input_tokens", written}, // the same, Vercel
	{"", "input_tokens", prompt},                 // relays of Responses
	{"", "output_tokens", completion},
	{"input_tokens_details", "cached_tokens", cached},
	{"output_tokens_details", "reasoning_tokens", reasoning},
	{"server_tool_use", "web_search_requests", searches},
	{"prompt_tokens_details", "web_search_requests", searches},
	{"", "num_search_queries", searches}, // Perplexity
}

// counts are the last known numbers.
type counts [numbers]struct {
	n     int64
	known bool
}

// usage passes on the usage of a chunk, wherever the provider put it.
func (d *answerDecoder) usage(c *chunk, inner []byte) {
	raw := c.usage
	if raw == nil {
		raw = inner
	}
	if raw == nil && c.groq != nil {
		raw = jsonscan.Get(c.groq, "usage")
	}
	if raw == nil && c.err != nil {
		raw = jsonscan.Get(c.err, "usage")
	}
	if raw == nil || raw[0] != '{' || jsonscan.Empty(raw) {
		return
	}
	d.tokens.read(raw)
	d.emit(translate.Event{Kind: translate.UsageNow, Usage: d.tokens.usage(), Tier: d.tier})
}

// read takes in one usage: a number that it leaves out keeps its last value.
func (c *counts) read(raw []byte) {
	var now counts
	now.members("", raw, 2)
	for i := range now {
		if now[i].known {
			c[i] = now[i]
		}
	}
}

func (c *counts) members(in string, raw []byte, depth int) {
	m := jsonscan.Object(raw)
	for m.Next() {
		key, v := m.Key(), m.Value()
		if v[0] == '{' && depth > 0 {
			c.members(string(key), v, depth-1)
			continue
		}
		n, ok := jsonscan.Int(v)
		if !ok {
			continue
		}
		for i := range usageFields {
			if f := &usageFields[i]; f.name == string(key) && f.in == in {
				c.put(f.is, n)
			}
		}
	}
}

func (c *counts) put(is number, n int64) {
	if have := c[is]; !have.known || n > have.n {
		c[is].n, c[is].known = n, true
	}
}

// usage makes disjoint classes of the numbers.
func (c *counts) usage() translate.Usage {
	write := max(c[written].n, c[written30m].n+c[written12h].n)
	u := translate.Usage{
		Fresh:    c[prompt].n - c[cached].n - write,
		Cached:   c[cached].n,
		Write:    write - c[written30m].n - c[written12h].n,
		Write30m: c[written30m].n, Write12h: c[written12h].n,
		Output: c.output(), Thinking: c[reasoning].n, WebSearches: c[searches].n,
	}
	u, _ = u.Sound()
	return u
}

// output is the number of output tokens. xAI does not count its reasoning among
// the completion tokens, which shows in the total.
func (c *counts) output() int64 {
	p, out, r, t := c[prompt], c[completion], c[reasoning], c[total]
	switch {
	case !out.known && p.known && t.known && t.n >= p.n:
		return t.n - p.n
	case out.known && r.known && t.known && r.n > 0 && t.n == p.n+out.n+r.n:
		return out.n + r.n
	}
	return out.n
}
