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
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// firstPort is where picked ports start: a fixed number, so that addresses are the same in every run.
const firstPort = 40000

// Network is a closed world of listeners and connections. The zero value is not usable; call New.
type Network struct {
	mu         sync.Mutex
	listeners  map[string]*listener // by IP:port
	blackholes map[string]bool
	hosts      map[string]net.IP // names, in order of first mention
	nextPort   int
}

// New makes an empty network.
func New() *Network {
	return &Network{
		listeners:  map[string]*listener{},
		blackholes: map[string]bool{},
		hosts:      map[string]net.IP{},
		nextPort:   firstPort,
	}
}

// Listen opens a listener at host:port. The host may be any name or IP; port 0 picks a free one. A taken address
// is an EADDRINUSE error.
func (n *Network) Listen(addr string) (net.Listener, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	a, err := n.resolve(addr)
	if err != nil {
		return nil, &net.OpError{Op: "listen", Net: "tcp", Err: err}
	}
	if a.Port == 0 {
		a.Port = n.port()
	}
	if n.listeners[a.String()] != nil {
		return nil, &net.OpError{Op: "listen", Net: "tcp", Addr: a, Err: os.NewSyscallError("bind", syscall.EADDRINUSE)}
	}
	l := newListener(n, a)
	n.listeners[a.String()] = l
	return l, nil
}

// Dial connects to a listener. Nobody there: ECONNREFUSED in a *net.OpError. A host under .invalid: *net.DNSError.
// A black hole: nothing until ctx ends.
func (n *Network) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	n.mu.Lock()
	a, err := n.resolve(addr)
	if err != nil {
		n.mu.Unlock()
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	l, hole := n.listeners[a.String()], n.blackholes[a.String()]
	local := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: n.port()}
	n.mu.Unlock()

	if err := ctx.Err(); err != nil {
		return nil, dialError(network, a, contextError(err))
	}
	if hole {
		<-ctx.Done()
		return nil, dialError(network, a, contextError(ctx.Err()))
	}
	if l == nil {
		return nil, dialError(network, a, os.NewSyscallError("connect", syscall.ECONNREFUSED))
	}
	client, server := pair(local, a)
	if err := l.offer(ctx, server); err != nil {
		return nil, dialError(network, a, err)
	}
	return client, nil
}

// Blackhole makes every later dial to addr wait until its context ends.
func (n *Network) Blackhole(addr string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if a, err := n.resolve(addr); err == nil {
		n.blackholes[a.String()] = true
	}
}

// resolve turns host:port into an address; names get one of 10.0.0.0/16 each. The caller holds n.mu.
func (n *Network) resolve(addr string) (*net.TCPAddr, error) {
	host, service, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return nil, &net.AddrError{Err: "invalid port", Addr: addr}
	}
	switch {
	case host == "" || host == "localhost":
		host = "127.0.0.1"
	case strings.HasSuffix(host, ".invalid"):
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	ip := net.ParseIP(host)
	if ip == nil {
		if ip = n.hosts[host]; ip == nil {
			k := len(n.hosts) + 1
			ip = net.IPv4(10, 0, byte(k>>8), byte(k))
			n.hosts[host] = ip
		}
	}
	return &net.TCPAddr{IP: ip, Port: int(port)}, nil
}

// port picks the next number. The caller holds n.mu.
func (n *Network) port() int {
	n.nextPort++
	return n.nextPort
}

func (n *Network) forget(l *listener) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listeners[l.addr.String()] == l {
		delete(n.listeners, l.addr.String())
	}
}

func dialError(network string, to net.Addr, err error) error {
	return &net.OpError{Op: "dial", Net: network, Addr: to, Err: err}
}

// contextError is what the real dialer makes of a context's end: a deadline is a timeout in net.Error's sense.
func contextError(err error) error {
	if err == context.DeadlineExceeded {
		return os.ErrDeadlineExceeded
	}
	return err
}
