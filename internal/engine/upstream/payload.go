package upstream

import (
	"io"
	"sync/atomic"
)

// payload is a request's body that releases its bytes once they are sent:
// the transport keeps the request for as long as its answer is read, and an
// agent's context can be megabytes. It is no type that net/http knows, so
// nothing rewinds it.
type payload struct {
	bytes atomic.Pointer[[]byte] // nil once closed, which may happen in the middle of a Read
	off   int
}

func newPayload(b []byte) *payload {
	p := &payload{}
	p.bytes.Store(&b)
	return p
}

func (p *payload) Read(dst []byte) (int, error) {
	b := p.bytes.Load()
	switch {
	case b == nil:
		return 0, io.ErrClosedPipe
	case p.off == len(*b):
		return 0, io.EOF
	}
	n := copy(dst, (*b)[p.off:])
	p.off += n
	return n, nil
}

func (p *payload) Close() error {
	p.bytes.Store(nil)
	return nil
}
