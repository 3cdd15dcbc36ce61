package messages

import (
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/translate"
)

// number is one of the numbers of a usage.
type number uint8

const (
	fresh number = iota
	cachedRead
	written
	written5m
	written1h
	output
	thinking
	searches
	numbers
)

// tokens are the last known numbers: a usage is cumulative and may leave numbers
// out. A zero never replaces what the opening counted of the input.
type tokens struct {
	n     [numbers]int64
	known [numbers]bool
}

func (t *tokens) read(usage []byte, opening bool) {
	m := jsonscan.Object(usage)
	for m.Next() {
		v := m.Value()
		switch string(m.Key()) {
		case "input_tokens":
			t.put(fresh, v)
		case "cache_read_input_tokens":
			t.put(cachedRead, v)
		case "cache_creation_input_tokens":
			t.put(written, v)
		case "cache_creation":
			t.put(written5m, jsonscan.Get(v, "ephemeral_5m_input_tokens"))
			t.put(written1h, jsonscan.Get(v, "ephemeral_1h_input_tokens"))
		case "output_tokens":
			if !opening { // a guess at the opening
				t.put(output, v)
			}
		case "output_tokens_details":
			t.put(thinking, jsonscan.Get(v, "thinking_tokens"))
			t.put(thinking, jsonscan.Get(v, "reasoning_tokens"))
		case "server_tool_use":
			t.put(searches, jsonscan.Get(v, "web_search_requests"))
		}
	}
}

func (t *tokens) put(is number, raw []byte) {
	n, ok := jsonscan.Int(raw)
	if !ok || n == 0 && is < output && t.n[is] > 0 {
		return
	}
	t.n[is], t.known[is] = n, true
}

// usage divides the written tokens by their lifetimes; what the flat number
// holds beyond those is taken for the shorter one.
func (t *tokens) usage() translate.Usage {
	u := translate.Usage{
		Fresh: t.n[fresh], Cached: t.n[cachedRead], Write5m: t.n[written5m], Write1h: t.n[written1h],
		Output: t.n[output], Thinking: t.n[thinking], WebSearches: t.n[searches],
	}
	u.Write5m += max(0, t.n[written]-u.Write5m-u.Write1h)
	u, _ = u.Sound()
	return u
}
