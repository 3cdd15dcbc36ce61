package sim

import (
	"bufio"
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// caller watches, while a script plays, whether the other side is still there.
type caller struct {
	conn       net.Conn
	callerLeft chan struct{} // closed when the peer left
	wg         sync.WaitGroup
}

// watch starts looking; the caller must call stop before anybody else reads from the connection.
func watch(conn net.Conn, in *bufio.Reader) *caller {
	p := &caller{conn: conn, callerLeft: make(chan struct{})}
	p.wg.Go(func() {
		// A next request that comes early stays in the buffer; from then on only writes notice.
		if _, err := in.Peek(1); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			close(p.callerLeft)
		}
	})
	return p
}

// stop ends the watching and leaves the connection readable.
func (p *caller) stop() {
	// The deadline lies in any clock's past, a virtual one's too. A connection that is closed needs none.
	_ = p.conn.SetReadDeadline(time.Unix(1, 0))
	p.wg.Wait()
	_ = p.conn.SetReadDeadline(time.Time{})
}

// sleep waits for d (negative: for ever) or gives errGone when the peer left first.
func (p *caller) sleep(d time.Duration) error {
	if d == 0 {
		return nil
	}
	var after <-chan time.Time
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		after = t.C
	}
	select {
	case <-after:
		return nil
	case <-p.callerLeft:
		return errCallerLeft
	}
}

// hasCallerLeft says whether the peer is known to have left.
func (p *caller) hasCallerLeft() bool {
	select {
	case <-p.callerLeft:
		return true
	default:
		return false
	}
}
