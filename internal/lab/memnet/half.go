package memnet

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// window is how many bytes one direction holds before its writer waits.
const window = 64 << 10

// pipe is one direction of a connection. Each state below is final; the order in which a blocked call looks at
// them is the order in which TCP would report them.
type pipe struct {
	mu   sync.Mutex
	cond *sync.Cond
	buf  []byte

	fin        bool // the writer said that nothing more comes
	writerGone bool // the writer closed its end: its own calls fail
	readerGone bool // the reader closed its end: writes break
	broken     bool // reset from either side: nothing is delivered any more

	readBy, writeBy deadline
}

func newHalf() *pipe {
	h := &pipe{}
	h.cond = sync.NewCond(&h.mu)
	return h
}

// read waits for bytes, the end or a failure. A reset discards what was not read yet.
func (h *pipe) read(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch {
		case h.readerGone:
			return 0, net.ErrClosed
		case h.broken:
			return 0, os.NewSyscallError("read", syscall.ECONNRESET)
		case h.readBy.due:
			return 0, os.ErrDeadlineExceeded
		case len(p) == 0:
			return 0, nil
		case len(h.buf) > 0:
			n := copy(p, h.buf)
			h.consume(n)
			return n, nil
		case h.fin:
			return 0, io.EOF
		}
		h.cond.Wait()
	}
}

// consume drops n read bytes and keeps the backing array from growing for ever. The caller holds h.mu.
func (h *pipe) consume(n int) {
	h.buf = h.buf[n:]
	if len(h.buf) == 0 {
		h.buf = nil
	}
	h.cond.Broadcast()
}

// write waits until all of p has found room. What was taken before a failure was sent, as with a socket.
func (h *pipe) write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	written := 0
	for {
		switch {
		case h.writerGone:
			return written, net.ErrClosed
		case h.broken:
			return written, os.NewSyscallError("write", syscall.ECONNRESET)
		case h.readerGone, h.fin:
			return written, os.NewSyscallError("write", syscall.EPIPE)
		case h.writeBy.due:
			return written, os.ErrDeadlineExceeded
		case written == len(p):
			return written, nil
		}
		if room := window - len(h.buf); room > 0 {
			n := min(room, len(p)-written)
			h.buf = append(h.buf, p[written:written+n]...)
			written += n
			h.cond.Broadcast()
			continue
		}
		h.cond.Wait()
	}
}

// change applies f under the lock and wakes everybody to look again.
func (h *pipe) change(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
	h.cond.Broadcast()
}

// reset is the reset: whatever is on the way is lost.
func (h *pipe) reset() {
	h.change(func() { h.broken, h.buf = true, nil })
}

// deadline is a point in time that wakes the waiters of its half.
type deadline struct {
	at    time.Time
	due   bool // the timer fired; not asked of the clock again, whose reading may differ by a nanosecond
	timer *time.Timer
}

// set moves the deadline. The caller holds the half's lock; h is woken when the time comes. A timer of an earlier
// deadline that fires late changes nothing.
func (d *deadline) set(h *pipe, at time.Time) {
	d.stop()
	wait := time.Until(at)
	*d = deadline{at: at, due: !at.IsZero() && wait <= 0}
	if at.IsZero() || d.due {
		return
	}
	d.timer = time.AfterFunc(wait, func() {
		h.change(func() {
			if d.at == at {
				d.due = true
			}
		})
	})
}

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}
