package upstream

import (
	"context"
	"net/http/httptrace"
	"sync"
	"time"

	"rubicon/internal/config"
)

// trace watches one exchange up to its status line and runs the deadlines of
// that part: connect (until a connection is there), then headers (from request
// written) for streams, or answer for the rest.
type trace struct {
	timers config.Timers
	stream bool
	cancel context.CancelCauseFunc

	deadline deadlineTimer

	mu       sync.Mutex
	conn     *countedConn
	baseline int64
	gotConn  bool
}

func (t *trace) start(timers config.Timers, stream bool, cancel context.CancelCauseFunc) {
	t.timers, t.stream, t.cancel = timers, stream, cancel
	t.arm(timers.Connect, errConnect)
}

func (t *trace) arm(d time.Duration, cause error) {
	t.deadline.arm(d, func() { t.cancel(cause) })
}

func (t *trace) stop() { t.deadline.stop() }

func (t *trace) hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			t.mu.Lock()
			t.gotConn = true
			t.conn = countedOf(info.Conn)
			if t.conn != nil {
				t.baseline = t.conn.written.Load()
			}
			t.mu.Unlock()
			if t.stream {
				// A peer that does not take the request must not escape the deadline.
				t.arm(t.timers.Headers, errHeaders)
			} else {
				t.arm(0, nil)
			}
		},
		// Called when the request is in the transport's buffer: it says nothing
		// about the wire, so whether bytes went out is counted there.
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			if info.Err == nil && t.stream {
				t.arm(t.timers.Headers, errHeaders)
			}
		},
	}
}

// wrote reports whether any byte of the request may have reached the peer. On an
// HTTP/2 connection, which others share, it reports so too often and never too
// seldom.
func (t *trace) wrote() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.gotConn {
		return false
	}
	return t.conn == nil || t.conn.wroteSince(t.baseline)
}
