package chat

import "rubicon/internal/wire/protocol"

// Answer reads a whole answer. An error body is none; an answer whose choices
// are there and which says that it failed nevertheless has Failed.
func Answer(b []byte) (*protocol.Observed, error) {
	var c chunk
	if c.split(b) != nil || c.empty() || c.choices[0] != '[' {
		return nil, protocol.ErrNotProtocol
	}
	r := reader{seen: protocol.Observed{Sequence: -1}, need: 1}
	l := chunkFacts{seen: &r.seen}
	l.choices(c.choices)
	if !l.whole {
		return nil, protocol.ErrNotProtocol
	}
	r.seen.Events = 1
	r.content(&l)
	if l.output {
		r.seen.OutputEvents = 1
	}
	c.names(&r.seen)
	if usage := c.usageOf(&l); usage != nil {
		r.tokens.read(usage, &r.seen)
		r.tokens.report(&r.seen, false)
	}
	if l.failed || c.failed(nil) {
		r.fail(&c, &l)
	}
	return &r.seen, nil
}

// FailureUsage reads the usage that a refusal's body carries.
func FailureUsage(b []byte, seen *protocol.Observed) {
	var c chunk
	if c.split(b) != nil {
		return
	}
	if usage := c.usageOf(&chunkFacts{}); usage != nil {
		var tokens counts
		tokens.read(usage, seen)
		tokens.report(seen, false)
	}
}
