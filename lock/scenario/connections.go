package scenario

import (
	"context"
	"net"
	"sync"

	"rubicon/internal/lab/memnet"
)

// connections are one gateway's, so that killing it can cut them.
type connections struct {
	mu   sync.Mutex
	dead bool
	open []net.Conn // from clients
}

func (c *connections) listen(n *memnet.Network, address string) (net.Listener, error) {
	l, err := n.Listen(address)
	if err != nil {
		return nil, err
	}
	return &listener{Listener: l, conns: c}, nil
}

func (c *connections) dial(n *memnet.Network) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c.mu.Lock()
		dead := c.dead
		c.mu.Unlock()
		if dead {
			return nil, net.ErrClosed
		}
		return n.Dial(ctx, network, address)
	}
}

// cut resets what clients have open and lets nothing out any more: what a
// killed process would still do must not be seen.
func (c *connections) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dead = true
	for _, conn := range c.open {
		if l, ok := conn.(interface{ SetLinger(int) error }); ok {
			_ = l.SetLinger(0)
		}
		_ = conn.Close()
	}
}

type listener struct {
	net.Listener
	conns *connections
}

func (l *listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		l.conns.mu.Lock()
		l.conns.open = append(l.conns.open, conn)
		l.conns.mu.Unlock()
	}
	return conn, err
}
