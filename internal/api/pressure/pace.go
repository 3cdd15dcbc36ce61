package pressure

import "time"

// Pace bounds how long a client may take to send something. As with what it is
// given, a deadline is for a piece: whoever sends less than Piece in that time
// is given up. Without it a byte now and then would keep a request in memory.
type Pace struct {
	conn  Reader
	limit time.Duration
	last  time.Time // of all; zero: none
	got   int       // of the piece
}

// Reader is a connection that is read from.
type Reader interface{ SetReadDeadline(time.Time) error }

// NewPace begins: a piece may take limit, the whole total. 0 is no bound.
func NewPace(conn Reader, limit, total time.Duration) *Pace {
	p := &Pace{conn: conn, limit: limit}
	if total > 0 {
		p.last = time.Now().Add(total)
	}
	p.arm()
	return p
}

// Took notes that n bytes came.
func (p *Pace) Took(n int) {
	if p.got += n; p.got >= WriteStep {
		p.got = 0
		p.arm()
	}
}

func (p *Pace) arm() {
	if p.limit <= 0 {
		return
	}
	deadline := time.Now().Add(p.limit)
	if !p.last.IsZero() && deadline.After(p.last) {
		deadline = p.last
	}
	_ = p.conn.SetReadDeadline(deadline)
}

// End takes the deadline back: from here on the connection is read only to
// learn that the client left, and that must not look so. What did not come
// keeps it, because a server reads on before it answers.
func (p *Pace) End() { _ = p.conn.SetReadDeadline(time.Time{}) }
