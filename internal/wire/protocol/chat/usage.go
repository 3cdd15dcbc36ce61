package chat

import (
	"rubicon/internal/money/price"
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
)

// webSearch is the hosted call that several providers count.
const webSearch = "web_search"

// number is one of the numbers that usages are made of.
type number uint8

const (
	prompt     number = iota // the input total, cached and written tokens included
	cached                   // of it, read from a cache
	written                  // of it, written to a cache
	completion               // output, reasoning usually included
	reasoning
	total
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
	{"prompt_tokens_details", "cache_write_tokens", written},    // OpenRouter
	{"prompt_tokens_details", "cache_creation_tokens", written}, // LiteLLM
	{"completion_tokens_details", "reasoning_tokens", reasoning},
	{"", "cached_tokens", cached},                // Moonshot
	{"", "prompt_cache_hit_tokens", cached},      // DeepSeek
	{"", "cache_read_input_tokens", cached},      // relays of Messages
	{"", "cache_creation_input_tokens", written}, // the same, Vercel
	{"", "input_tokens", prompt},                 // relays of Responses
	{"", "output_tokens", completion},
	{"input_tokens_details", "cached_tokens", cached},
	{"output_tokens_details", "reasoning_tokens", reasoning},
}

// hostedFields says where usages count hosted calls.
var hostedFields = [...]struct{ in, name, tool string }{
	{"server_tool_use", "web_search_requests", webSearch}, // OpenRouter, LiteLLM
	{"server_tool_use", "web_fetch_requests", "web_fetch"},
	{"server_tool_use", "code_execution_requests", "code_execution"},
	{"prompt_tokens_details", "web_search_requests", webSearch},
	{"", "num_search_queries", webSearch},          // Perplexity
	{"", "num_sources_used", "live_search_source"}, // xAI bills by the source
}

// counts are the last known numbers.
type counts [numbers]struct {
	n     int64
	known bool
}

// read takes in one usage: a number that it leaves out keeps its last value.
func (c *counts) read(raw []byte, seen *protocol.Observed) {
	var now counts
	m := jsonscan.Object(raw)
	for m.Next() {
		key, v := m.Key(), m.Value()
		now.field(nil, key, v, seen)
		in := jsonscan.Object(v)
		for in.Next() {
			now.field(key, in.Key(), in.Value(), seen)
		}
	}
	for i := range now {
		if now[i].known {
			c[i] = now[i]
		}
	}
}

func (c *counts) field(in, key, v []byte, seen *protocol.Observed) {
	for i := range usageFields {
		f := &usageFields[i]
		if f.name != string(key) || f.in != string(in) {
			continue
		}
		if n, ok := protocol.Count(v); ok {
			c.put(f.is, n)
		}
	}
	if tool := toolOf(in, key); tool != "" {
		if n, ok := protocol.Count(v); ok && n != 0 {
			seen.Call(tool, n)
		}
	}
}

// toolOf is the tool whose calls a member counts, "" if none.
func toolOf(in, key []byte) string {
	if string(in) == protocol.ToolDetails {
		return protocol.DetailedTool(key)
	}
	for i := range hostedFields {
		if f := &hostedFields[i]; f.name == string(key) && f.in == string(in) {
			return f.tool
		}
	}
	return ""
}

// put keeps the larger number, but never hides a negative one: that makes the
// usage an anomaly.
func (c *counts) put(is number, n int64) {
	if have := c[is]; !have.known || have.n >= 0 && (n < 0 || n > have.n) {
		c[is].n, c[is].known = n, true
	}
}

// report writes the numbers into seen. opening: they came before anything was
// answered, so that their output means nothing and they are no sign that the
// request was executed.
func (c *counts) report(seen *protocol.Observed, opening bool) {
	if opening {
		seen.OpeningUsage = seen.OpeningUsage || c[prompt].known
		seen.Usage = price.Disjoint(c[prompt].n, c[cached].n, c[written].n, 0)
		return
	}
	seen.ShowsExecution = true
	out, known := c.output()
	seen.Reported = seen.Reported || known
	seen.Usage = price.Disjoint(c[prompt].n, c[cached].n, c[written].n, out)
}

// output is the number of output tokens. xAI does not count its reasoning among
// the completion tokens, which shows in the total; the provider bills both.
func (c *counts) output() (n int64, known bool) {
	p, out, r, t := c[prompt], c[completion], c[reasoning], c[total]
	switch {
	case !out.known && p.known && t.known && t.n >= p.n:
		return t.n - p.n, true
	case out.known && r.known && t.known && r.n > 0 && t.n == p.n+out.n+r.n:
		return out.n + r.n, true
	}
	return out.n, out.known
}
