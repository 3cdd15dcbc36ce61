// Package messages reads the Messages API, and its count_tokens: requests, the
// events of a stream, whole answers.
//
// It is not for what follows from what it reads (replay, classify), for money,
// or for the transport.
//
// Invariants: bytes are never changed in reading; a stream is complete with its
// message_stop and with nothing else; a text delta is read without allocating.
package messages

import (
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/sse"
)

// Name is the protocol's name in configuration and records.
const Name = "messages"

// Protocol is the Messages API.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:         Name,
		Path:         "/messages",
		NamesMaximum: true,
		ParseRequest: ParseRequest,
		Upstream:     Upstream,
		NewReader:    NewReader,
		Answer:       Answer,
		FailureUsage: FailureUsage,
		Ending:       Ending,
		ErrorBody:    fault.MessagesBody,
	}
}

// CountTokens counts the tokens of a Messages request, on the same channels.
// It is not streamed, and nothing is held or charged for it.
func CountTokens() protocol.Protocol {
	return protocol.Protocol{
		Name:         "count_tokens",
		Path:         "/messages/count_tokens",
		Speaks:       Name,
		NoOutput:     true,
		ParseRequest: ParseCountTokens,
		Upstream:     Upstream,
		NewReader:    NewReader,
		Answer:       AnswerCountTokens,
		FailureUsage: FailureUsage,
		Ending:       Ending,
		ErrorBody:    fault.MessagesBody,
	}
}

// Ending appends the error event that ends a stream which broke; message_stop
// never follows it.
func Ending(dst []byte, _ protocol.Reader, f *fault.Error, errorSent bool) []byte {
	if errorSent {
		return dst
	}
	return sse.AppendEvent(dst, "error", fault.MessagesBody(f))
}
