package messages

import (
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
)

// Answer reads a whole answer: a message with a list of content. An error body
// is none.
func Answer(b []byte) (*protocol.Observed, error) {
	r := newReader()
	var typ, content, usage []byte
	m := jsonscan.Object(b)
	for m.Next() {
		switch string(m.Key()) {
		case "type":
			typ = m.Value()
		case "content":
			content = m.Value()
		case "usage":
			usage = m.Value()
		}
	}
	if m.Err() != nil || !jsonscan.Equal(typ, "message") || jsonscan.KindOf(content) != jsonscan.KindArray {
		return nil, protocol.ErrNotProtocol
	}
	r.messageStart(b)
	r.seen.OpeningUsage, r.seen.Events = false, 1
	el := jsonscan.Array(content)
	for el.Next() {
		block := readBlock(el.Value())
		r.block(&block)
		if jsonscan.Equal(block.typ, "thinking") {
			remember(&r.seen, block.signature)
		}
		r.seen.OutputEvents = 1
	}
	if jsonscan.KindOf(usage) == jsonscan.KindObject {
		r.usage(usage)
	}
	return &r.seen, nil
}

// FailureUsage reads the usage that a refusal's body carries.
func FailureUsage(b []byte, seen *protocol.Observed) {
	var e event
	if e.split(b) != nil {
		return
	}
	r := newReader()
	r.seen = *seen
	r.failureUsage(&e)
	*seen = r.seen
}

// AnswerCountTokens reads the answer of count_tokens.
func AnswerCountTokens(b []byte) (*protocol.Observed, error) {
	n, ok := protocol.Count(jsonscan.Get(b, "input_tokens"))
	if !ok || n < 0 || !jsonscan.Valid(b) {
		return nil, protocol.ErrNotProtocol
	}
	seen := &protocol.Observed{Sequence: -1, Events: 1, OutputEvents: 1, Reported: true}
	seen.Usage.Input = n
	return seen, nil
}
