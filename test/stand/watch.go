package stand

import (
	"bytes"
	"net"
	"slices"
	"sync"
)

// LeakWatch looks for what must not be seen in everything that is written.
type LeakWatch struct {
	who     string
	needles [][]byte

	mu    sync.Mutex
	leaks []string
	tail  []byte
}

const (
	keptTail  = 16 << 10
	keptLeaks = 5
	around    = 120 // bytes that are shown before a leak
)

// NewWatch watches for needles on behalf of who.
func NewWatch(who string, needles []string) *LeakWatch {
	w := &LeakWatch{who: who}
	for _, n := range needles {
		w.needles = append(w.needles, []byte(n))
	}
	return w
}

// Write takes one write of a log.
func (w *LeakWatch) Write(b []byte) (int, error) {
	w.look(b)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tail = append(w.tail, b...)
	if n := len(w.tail); n > 2*keptTail {
		w.tail = slices.Clone(w.tail[n-keptTail:])
	}
	return len(b), nil
}

// Tail is the end of what was written.
func (w *LeakWatch) Tail() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.tail[max(0, len(w.tail)-keptTail):])
}

// Leaks are the finds, the first few of them.
func (w *LeakWatch) Leaks() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.leaks)
}

func (w *LeakWatch) look(b []byte) {
	for _, n := range w.needles {
		if at := bytes.Index(b, n); at >= 0 {
			w.mu.Lock()
			if len(w.leaks) < keptLeaks {
				w.leaks = append(w.leaks, string(b[max(0, at-around):at+len(n)]))
			}
			w.mu.Unlock()
		}
	}
}

// watchedListener watches what the gateway writes on its connections.
type watchedListener struct {
	net.Listener
	watch *LeakWatch
}

func (l *watchedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &watchedConn{Conn: c, watch: l.watch}, nil
}

// watchedConn remembers the end of the last write, so that a needle that
// straddles two is found.
type watchedConn struct {
	net.Conn
	watch *LeakWatch
	end   []byte
}

func (c *watchedConn) Write(b []byte) (int, error) {
	c.watch.look(b)
	if len(c.end) > 0 {
		c.watch.look(append(c.end, b[:min(len(b), 64)]...))
	}
	c.end = append(c.end[:0:0], b[max(0, len(b)-64):]...)
	return c.Conn.Write(b)
}

// CloseWrite keeps half-closing possible.
func (c *watchedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
