package pressure

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
)

// Connections counts the open connections of a listener, hijacked ones too.
type Connections struct {
	most func() int
	open atomic.Int64
}

// NewConnections makes a counter; most is the bound in force.
func NewConnections(most func() int) *Connections { return &Connections{most: most} }

// Open is how many there are.
func (c *Connections) Open() int64 { return c.open.Load() }

// Listen counts what l accepts.
func (c *Connections) Listen(l net.Listener) net.Listener { return &listener{Listener: l, c: c} }

type listener struct {
	net.Listener
	c *Connections
}

func (l *listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	n := l.c.open.Add(1)
	boundUnsent(conn)
	return &counted{patient: patient{Conn: conn}, c: l.c, over: n > int64(l.c.most())}, nil
}

// counted is a connection that gives its place back once.
type counted struct {
	patient
	c    *Connections
	over bool
	once sync.Once
}

func (c *counted) Close() error {
	c.once.Do(func() { c.c.open.Add(-1) })
	return c.Conn.Close()
}

// CloseWrite keeps the half-close of TCP, which the HTTP server uses so that a
// refused client reads its answer.
func (c *counted) CloseWrite() error {
	if tcp, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return tcp.CloseWrite()
	}
	return nil
}

type overKey struct{}

// Mark is an http.Server's ConnContext: it remembers that a connection came
// over the bound, so that its request is answered and not just cut.
func (c *Connections) Mark(ctx context.Context, conn net.Conn) context.Context {
	if k, ok := below(conn).(*counted); ok && k.over {
		return context.WithValue(ctx, overKey{}, true)
	}
	return ctx
}

// TooMany tells of a request's context whether its connection is over the
// bound.
func TooMany(ctx context.Context) bool { return ctx.Value(overKey{}) != nil }
