package chat

import (
	"rubicon/internal/fault"
	"rubicon/internal/protocol"
)

// ParseRequest reads a request's body. A store that is absent is StoreFalse:
// unlike Responses, Chat Completions keeps nothing unless it is asked to.
func ParseRequest(body []byte) (protocol.Request, *fault.Error) { panic("todo") }

// Upstream gives the body that travels up.
func Upstream(body []byte, rw protocol.Rewrite) ([]byte, error) { panic("todo") }

// NewReader starts reading a stream.
func NewReader(o protocol.ReaderOptions) protocol.Reader { panic("todo") }

// Answer reads a whole answer.
func Answer(body []byte) (*protocol.Seen, error) { panic("todo") }

// ParseEmbeddings reads an Embeddings request.
func ParseEmbeddings(body []byte) (protocol.Request, *fault.Error) { panic("todo") }

// UpstreamEmbeddings gives the body that travels up.
func UpstreamEmbeddings(body []byte, rw protocol.Rewrite) ([]byte, error) { panic("todo") }

// AnswerEmbeddings reads an Embeddings answer.
func AnswerEmbeddings(body []byte) (*protocol.Seen, error) { panic("todo") }

func newNoStream(protocol.ReaderOptions) protocol.Reader { panic("todo") }
