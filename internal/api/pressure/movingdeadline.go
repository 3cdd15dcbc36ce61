package pressure

import (
	"net"
	"sync"
	"time"
)

// movingDeadlineConn is a connection whose write deadline bounds how long its client takes
// nothing. As the operating system has it, it bounds a whole write, and an event
// can be megabytes: a client that takes them slowly would be cut in the middle.
type movingDeadlineConn struct {
	net.Conn

	mu     sync.Mutex
	until  time.Time     // the write deadline in force
	limit  time.Duration // how long that was when it was set
	strict bool          // it is not moved here
}

// WriteStep is what a client must take, or send, in one go, in bytes.
const WriteStep = 64 << 10

func (p *movingDeadlineConn) Write(b []byte) (written int, err error) {
	for {
		p.moveOn()
		n, err := p.Conn.Write(b[:min(len(b), WriteStep)])
		written += n
		if b = b[n:]; len(b) == 0 || err != nil {
			return written, err
		}
	}
}

// moveOn moves the deadline on, every now and then: to set it costs more than
// the write. One that is over stays so.
func (p *movingDeadlineConn) moveOn() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.strict || p.limit <= 0 {
		return
	}
	now := time.Now()
	if left := p.until.Sub(now); left > 0 && left < p.limit-p.limit/8 {
		p.until = now.Add(p.limit)
		_ = p.Conn.SetWriteDeadline(p.until)
	}
}

func (p *movingDeadlineConn) SetWriteDeadline(t time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until, p.limit = t, time.Until(t)
	return p.Conn.SetWriteDeadline(t)
}

func (p *movingDeadlineConn) SetDeadline(t time.Time) error {
	if err := p.SetReadDeadline(t); err != nil {
		return err
	}
	return p.SetWriteDeadline(t)
}

// FixedDeadline leaves the deadlines of a connection of Listen to whoever took it over,
// who has something to do with it until it is closed; conn may be TLS on top of
// it.
func FixedDeadline(conn net.Conn) {
	if k, ok := unwrap(conn).(*counted); ok {
		k.c.work(k, +1)
		k.mu.Lock()
		defer k.mu.Unlock()
		k.strict = true
	}
}

// unwrap is what lies below TLS.
func unwrap(conn net.Conn) net.Conn {
	if t, ok := conn.(interface{ NetConn() net.Conn }); ok {
		return t.NetConn()
	}
	return conn
}
