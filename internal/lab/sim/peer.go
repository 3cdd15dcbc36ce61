package sim

import (
	"bufio"
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// peer watches, while a script plays, whether the other side is still there.
type peer struct {
	conn net.Conn
	gone chan struct{} // closed when the peer left
	wg   sync.WaitGroup
}

// watch starts looking; the caller must call stop before anybody else reads from the connection.
func watch(conn net.Conn, in *bufio.Reader) *peer {
	p := &peer{conn: conn, gone: make(chan struct{})}
	p.wg.Go(func() {
		// A next request that comes early stays in the buffer; from then on only writes notice.
		if _, err := in.Peek(1); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			close(p.gone)
		}
	})
	return p
}

// stop ends the watching and leaves the connection readable.
func (p *peer) stop() {
	// The deadline lies in any clock's past, a virtual one's too. A connection that is closed needs none.
	_ = p.conn.SetReadDeadline(time.Unix(1, 0))
	p.wg.Wait()
	_ = p.conn.SetReadDeadline(time.Time{})
}

// sleep waits for d (negative: for ever) or gives errGone when the peer left first.
func (p *peer) sleep(d time.Duration) error {
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
	case <-p.gone:
		return errGone
	}
}

// left says whether the peer is known to have left.
func (p *peer) left() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}
