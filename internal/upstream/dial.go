package upstream

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
)

// errPrivate refuses a resolved address that the channel may not reach.
var errPrivate = errors.New("base_url resolves to a loopback, private or local address; set allow_private: true on the channel if that is meant")

// shared is the carrier-grade NAT range, which netip does not call private.
var shared = netip.MustParsePrefix("100.64.0.0/10")

// dialer opens connections that count what is written, and checks the resolved
// address where the channel may not reach private ones: a name that resolves
// to the metadata service of a cloud must not become a hole.
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
	ip := ap.Addr().Unmap()
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() || shared.Contains(ip) {
		return errPrivate
	}
	return nil
}

// countedConn counts bytes written, so that "died before a byte was written"
// is known.
type countedConn struct {
	net.Conn
	written atomic.Int64
}

func (c *countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.written.Add(int64(n))
	return n, err
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
