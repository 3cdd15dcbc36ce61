// Package memnet is an in-memory network that behaves like TCP where HTTP can tell the difference: buffered
// directions with back-pressure, half-close, reset, refusal, deadlines.
//
// It is for tests inside a testing/synctest bubble, where real sockets would stop the virtual clock. It is not a
// simulator of loss, latency or reordering.
//
// Invariant: whoever waits here waits on a sync.Cond or a channel made in the bubble, never on a poller, so that
// a bubble in which everybody waits is durably blocked and its clock moves.
package memnet

import (
	"context"
	"net"
)

// Network is a closed world of listeners and connections. The zero value is not usable; call New.
type Network struct{}

// New makes an empty network.
func New() *Network { return &Network{} }

// Listen opens a listener at host:port. The host may be any name or IP; port 0 picks a free one. A taken address
// is an EADDRINUSE error.
func (n *Network) Listen(addr string) (net.Listener, error) { return nil, nil }

// Dial connects to a listener. Nobody there: ECONNREFUSED in a *net.OpError. A host under .invalid: *net.DNSError.
// A black hole: nothing until ctx ends.
func (n *Network) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	return nil, nil
}

// Blackhole makes every later dial to addr wait until its context ends.
func (n *Network) Blackhole(addr string) {}
