package responses

import (
	"rubicon/internal/money/price"
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
)

// readUsage reads a usage object. ok is false when it names no count at all:
// then nothing is reported.
func readUsage(raw []byte) (u price.Usage, ok bool) {
	var input, cached, written, output int64
	m := jsonscan.Object(raw)
	for m.Next() {
		switch string(m.Key()) {
		case "input_tokens":
			input, ok = count(m.Value(), ok)
		case "output_tokens":
			output, ok = count(m.Value(), ok)
		case "input_tokens_details":
			cached, written = readDetails(m.Value())
		}
	}
	return price.Disjoint(input, cached, written, output), ok
}

func readDetails(raw []byte) (cached, written int64) {
	m := jsonscan.Object(raw)
	for m.Next() {
		switch string(m.Key()) {
		case "cached_tokens":
			cached, _ = count(m.Value(), false)
		case "cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens":
			written, _ = count(m.Value(), false)
		}
	}
	return cached, written
}

// count reads a token count. found is true if one was found before or this is one.
func count(raw []byte, was bool) (n int64, found bool) {
	n, ok := protocol.Count(raw)
	return n, ok || was
}
