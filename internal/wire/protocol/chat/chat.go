// Package chat reads the Chat Completions API, and Embeddings, which the same
// channels serve: requests, the chunks of a stream, whole answers.
//
// It is not for what follows from what it reads (replay, classify), for money,
// or for the transport.
//
// Invariants: bytes are never changed in reading; a stream is complete only
// once every choice that it showed has a finish_reason, and "[DONE]" alone never
// makes it so; a plain content delta is read without allocating.
package chat

import (
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/sse"
)

// Name is the protocol's name in configuration and records.
const Name = "chat"

// Protocol is the Chat Completions API.
func Protocol() protocol.Protocol {
	return protocol.Protocol{
		Name:         Name,
		Path:         "/chat/completions",
		ParseRequest: ParseRequest,
		Upstream:     Upstream,
		NewReader:    NewReader,
		Answer:       Answer,
		FailureUsage: FailureUsage,
		Ending:       Ending,
		ErrorBody:    fault.OpenAIBody,
	}
}

// Embeddings is the Embeddings API, served by the same channels: never
// streamed, input tokens only.
func Embeddings() protocol.Protocol {
	return protocol.Protocol{
		Name:         "embeddings",
		Path:         "/embeddings",
		Speaks:       Name,
		NoOutput:     true,
		ParseRequest: ParseEmbeddings,
		Upstream:     UpstreamEmbeddings,
		NewReader:    newNoStream,
		Answer:       AnswerEmbeddings,
		FailureUsage: FailureUsage,
		Ending:       Ending,
		ErrorBody:    fault.OpenAIBody,
	}
}

// Ending appends the error that ends a stream which broke. There is no "[DONE]"
// after it: that would be a second ending, and a good one.
func Ending(dst []byte, _ protocol.Reader, f *fault.Error, errorSent bool) []byte {
	if errorSent {
		return dst
	}
	return sse.AppendEvent(dst, "", fault.OpenAIBody(f))
}
