package messages

import (
	"rubicon/internal/fault"
	"rubicon/internal/protocol"
)

// ParseRequest reads a request's body.
func ParseRequest(body []byte) (protocol.Request, *fault.Error) { panic("todo") }

// ParseCountTokens reads a count_tokens request.
func ParseCountTokens(body []byte) (protocol.Request, *fault.Error) { panic("todo") }

// Upstream gives the body that travels up: the upstream model apart, nothing changes.
func Upstream(body []byte, rw protocol.Rewrite) ([]byte, error) { panic("todo") }

// NewReader starts reading a stream.
func NewReader(o protocol.ReaderOptions) protocol.Reader { panic("todo") }

// Answer reads a whole answer.
func Answer(body []byte) (*protocol.Seen, error) { panic("todo") }

// AnswerCountTokens reads the answer of count_tokens.
func AnswerCountTokens(body []byte) (*protocol.Seen, error) { panic("todo") }
