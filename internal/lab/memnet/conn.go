package memnet

import (
	"io"
	"net"
	"sync"
	"time"
)

// conn is one end of a connection. Its methods are those of *net.TCPConn that HTTP code looks for.
type conn struct {
	in, out       *pipe
	local, remote *net.TCPAddr

	mu     sync.Mutex
	linger int // as SetLinger: negative is the normal close, 0 resets
	closed bool
}

// pair makes the two ends of a connection from client to server.
func pair(client, server *net.TCPAddr) (atClient, atServer *conn) {
	up, down := newHalf(), newHalf()
	atClient = &conn{in: down, out: up, local: client, remote: server, linger: -1}
	atServer = &conn{in: up, out: down, local: server, remote: client, linger: -1}
	return atClient, atServer
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.in.read(p)
	return n, c.wrap("read", err)
}

func (c *conn) Write(p []byte) (int, error) {
	n, err := c.out.write(p)
	return n, c.wrap("write", err)
}

// Close says the end to the peer, who still reads what was written; after SetLinger(0) it resets instead.
func (c *conn) Close() error {
	c.mu.Lock()
	again, reset := c.closed, c.linger == 0
	c.closed = true
	c.mu.Unlock()
	if again {
		return c.wrap("close", net.ErrClosed)
	}
	if reset {
		c.reset()
	}
	c.in.change(func() {
		c.in.readerGone, c.in.buf = true, nil
		c.in.readBy.stop()
	})
	c.out.change(func() {
		c.out.fin, c.out.writerGone = true, true
		c.out.writeBy.stop()
	})
	return nil
}

// CloseWrite is the half-close: the peer reads the end, this side still reads.
func (c *conn) CloseWrite() error {
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	if closed {
		return c.wrap("close", net.ErrClosed)
	}
	c.out.change(func() { c.out.fin = true })
	return nil
}

// reset breaks both directions for both ends.
func (c *conn) reset() {
	c.in.reset()
	c.out.reset()
}

// SetLinger with 0 makes Close a reset, as on TCP; any other value makes it the normal close.
func (c *conn) SetLinger(sec int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.linger = sec
	return nil
}

func (c *conn) SetNoDelay(bool) error                  { return nil }
func (c *conn) SetKeepAlive(bool) error                { return nil }
func (c *conn) SetKeepAlivePeriod(time.Duration) error { return nil }
func (c *conn) LocalAddr() net.Addr                    { return c.local }
func (c *conn) RemoteAddr() net.Addr                   { return c.remote }

func (c *conn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

func (c *conn) SetReadDeadline(t time.Time) error {
	return c.setDeadline(c.in, &c.in.readBy, &c.in.readerGone, t)
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	return c.setDeadline(c.out, &c.out.writeBy, &c.out.writerGone, t)
}

// setDeadline sets one deadline and wakes its waiter, who may be late already; an end that is closed has none.
func (c *conn) setDeadline(h *pipe, d *deadline, gone *bool, t time.Time) error {
	closed := false
	h.change(func() {
		if closed = *gone; !closed {
			d.set(h, t)
		}
	})
	if closed {
		return c.wrap("set", net.ErrClosed)
	}
	return nil
}

// wrap dresses a failure as the net package does; io.EOF stays bare.
func (c *conn) wrap(op string, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.local, Addr: c.remote, Err: err}
}
