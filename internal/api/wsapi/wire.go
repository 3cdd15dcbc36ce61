package wsapi

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"rubicon/internal/api/pressure"
)

// clientSocket is the socket under the library. It bounds how long a client may take
// nothing: the library's own way costs allocations for every frame, and cuts a
// slow client in the middle of a large one.
type clientSocket struct {
	net.Conn
	early    []byte // came with the upgrade
	limit    time.Duration
	received atomic.Int64

	mu      sync.Mutex
	until   time.Time // the write deadline in force
	closing bool      // it is not moved any more
}

func (w *clientSocket) Read(p []byte) (int, error) {
	if len(w.early) > 0 {
		n := copy(p, w.early)
		w.early = w.early[n:]
		return n, nil
	}
	n, err := w.Conn.Read(p)
	w.received.Add(int64(n))
	return n, err
}

func (w *clientSocket) Write(p []byte) (written int, err error) {
	for len(p) > 0 && err == nil {
		w.arm()
		var n int
		n, err = w.Conn.Write(p[:min(len(p), pressure.WriteStep)])
		written += n
		p = p[n:]
	}
	return written, err
}

// arm moves the write deadline on, every now and then: to set it costs more
// than the write.
func (w *clientSocket) arm() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closing || w.limit <= 0 {
		return
	}
	if now := time.Now(); w.until.Sub(now) < w.limit {
		w.until = now.Add(w.limit + w.limit/8)
		_ = w.Conn.SetWriteDeadline(w.until)
	}
}

// setWriteLimit sets how long the client may take nothing from now on; models differ.
func (w *clientSocket) setWriteLimit(limit time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if limit != w.limit {
		w.limit, w.until = limit, time.Time{}
	}
}

// SetReadDeadline bounds what comes in, as long as nobody closes: then the last
// word is closeReads'.
func (w *clientSocket) SetReadDeadline(at time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closing {
		return nil
	}
	return w.Conn.SetReadDeadline(at)
}

// closeReads gives what still comes in a last deadline.
func (w *clientSocket) closeReads(at time.Time) { _ = w.Conn.SetReadDeadline(at) }

// closeWrites gives what is still to be written a last deadline.
func (w *clientSocket) closeWrites(at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closing = true
	_ = w.Conn.SetWriteDeadline(at)
}
