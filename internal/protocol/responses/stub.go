package responses

import (
	"rubicon/internal/fault"
	"rubicon/internal/protocol"
)

// ParseRequest reads a request body, of HTTP or of a WebSocket response.create.
func ParseRequest(body []byte) (protocol.Request, *fault.Error) { panic("todo") }

// Upstream gives the body that travels up; all other bytes stay as they are.
func Upstream(body []byte, rw protocol.Rewrite) ([]byte, error) { panic("todo") }

// NewReader starts reading a stream.
func NewReader(o protocol.ReaderOptions) protocol.Reader { panic("todo") }

// Answer reads an answer that was not streamed.
func Answer(body []byte) (*protocol.Seen, error) { panic("todo") }

// Ending appends the ending of an opened stream that broke.
func Ending(dst []byte, r protocol.Reader, f *fault.Error, errorSent bool) []byte { panic("todo") }
