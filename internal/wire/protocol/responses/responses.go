// Package responses reads the Responses API: its requests, its stream events and
// its whole answers, and writes the ending of a stream that broke.
//
// It is not for WebSocket framing (wsapi), for the word on what may run again
// (replay, classify) or for money: it reads, as protocol says.
//
// Invariants: bytes are never changed in reading; every text byte, hosted call
// and id counts once; an output delta is read in one pass and allocates nothing.
package responses

import (
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/protocol"
)

// Name is the protocol's name in configuration and records.
const Name = "responses"

// Protocol is the Responses API.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:         Name,
		Path:         "/responses",
		HoldsShown:   true,
		ParseRequest: ParseRequest,
		Upstream:     Upstream,
		NewReader:    NewReader,
		Answer:       Answer,
		FailureUsage: FailureUsage,
		Ending:       Ending,
		MadeID:       madeID,
		ErrorBody:    fault.OpenAIBody,
	}
}
