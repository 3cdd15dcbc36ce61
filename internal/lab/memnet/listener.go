package memnet

import (
	"context"
	"net"
	"os"
	"sync"
	"syscall"
)

// backlog is how many connections may wait for Accept before dialers wait.
const backlog = 128

// listener hands out the server ends of dialed connections, first come first served.
type listener struct {
	net  *Network
	addr *net.TCPAddr

	queue  chan *conn
	closed chan struct{}
	once   sync.Once
}

func newListener(n *Network, a *net.TCPAddr) *listener {
	return &listener{net: n, addr: a, queue: make(chan *conn, backlog), closed: make(chan struct{})}
}

// Accept waits for the next connection; after Close it gives net.ErrClosed.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case <-l.closed:
		return nil, l.closedError()
	default:
	}
	select {
	case c := <-l.queue:
		return c, nil
	case <-l.closed:
		return nil, l.closedError()
	}
}

// Close refuses later dials and resets what nobody accepted.
func (l *listener) Close() error {
	err := l.closedError()
	l.once.Do(func() {
		err = nil
		l.net.forget(l)
		close(l.closed)
		for {
			select {
			case c := <-l.queue:
				c.reset()
			default:
				return
			}
		}
	})
	return err
}

func (l *listener) Addr() net.Addr { return l.addr }

func (l *listener) closedError() error {
	return &net.OpError{Op: "accept", Net: "tcp", Addr: l.addr, Err: net.ErrClosed}
}

// offer puts a connection into the queue, or gives the error that the dialer sees.
func (l *listener) offer(ctx context.Context, c *conn) error {
	refused := os.NewSyscallError("connect", syscall.ECONNREFUSED)
	select {
	case <-l.closed:
		return refused
	case <-ctx.Done():
		return contextError(ctx.Err())
	case l.queue <- c:
	}
	select {
	case <-l.closed: // Close may have emptied the queue before c was in it: nobody would ever accept c
		c.reset()
		return refused
	default:
		return nil
	}
}
