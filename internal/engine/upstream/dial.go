package upstream

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"rubicon/internal/config"
)

// errPrivate refuses a resolved address that the channel may not reach.
var errPrivate = errors.New("base_url resolves to a loopback, private, local or reserved address; set allow_private: true on the channel if that is meant")

// abandonedDialTime bounds a dial and a handshake whose request has given up: the
// transport goes on with both, because another request may want the connection.
const abandonedDialTime = 30 * time.Second

type dialLimit struct{}

// limitDial sets for the dialer how long a call waits for its connection. A value
// of the context, because the transport passes nothing else on.
func limitDial(ctx context.Context, d time.Duration) context.Context {
	if d <= 0 {
		return ctx
	}
	return context.WithValue(ctx, dialLimit{}, d)
}

func limitOf(ctx context.Context) time.Duration {
	if d, ok := ctx.Value(dialLimit{}).(time.Duration); ok {
		return d
	}
	return abandonedDialTime
}

// dialer opens connections that count what is written, and checks the resolved
// address where the channel may not reach private ones: a name that resolves
// to the metadata service of a cloud must not give access to it.
func (c *Client) dialer(allowPrivate bool) Dial {
	dial := c.dial
	if dial == nil {
		d := &net.Dialer{}
		if !allowPrivate {
			d.Control = func(_, address string, _ syscall.RawConn) error { return checkPublic(address) }
		}
		dial = d.DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, limitOf(ctx))
		defer cancel()
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &countedConn{Conn: conn}, nil
	}
}

func checkPublic(address string) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return errPrivate
	}
	if !config.IsPublic(ap.Addr()) {
		return errPrivate
	}
	return nil
}

// countedConn counts what is written, so that it is known whether a connection
// broke before a byte was written.
type countedConn struct {
	net.Conn
	written atomic.Int64
	writing atomic.Int32
}

func (c *countedConn) Write(b []byte) (int, error) {
	if isAlert(b) {
		return c.Conn.Write(b)
	}
	c.writing.Add(1)
	n, err := c.Conn.Write(b)
	c.written.Add(int64(n))
	c.writing.Add(-1)
	return n, err
}

// wroteSince reports whether a byte may have been written since the count was
// at from: a write that has not returned counts.
func (c *countedConn) wroteSince(from int64) bool {
	return c.writing.Load() > 0 || c.written.Load() > from
}

// isAlert recognises the TLS record that closes a connection: it is not part of a
// request. In TLS 1.3 it looks like data, but no
// request fits into 24 bytes.
func isAlert(b []byte) bool {
	const alert, data, shortest = 21, 23, 24
	return len(b) > 0 && (b[0] == alert || b[0] == data && len(b) <= shortest)
}

// countedOf finds the counting connection below TLS.
func countedOf(c net.Conn) *countedConn {
	for {
		switch v := c.(type) {
		case *countedConn:
			return v
		case interface{ NetConn() net.Conn }:
			c = v.NetConn()
		default:
			return nil
		}
	}
}
