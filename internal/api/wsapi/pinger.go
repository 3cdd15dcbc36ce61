package wsapi

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// errPingsUnanswered: the client answered no ping any more.
var errPingsUnanswered = errors.New("pings were not answered")

// maxMissedPings is how many pings may go unanswered.
const maxMissedPings = 2

// uploadStep is what a client must have sent since a ping to be excused for not
// answering it: no pong can come in the middle of a frame, and large ones take
// their time.
const uploadStep = 1 << 10

// pinger pings a client every ws.ping, between turns too. It has no goroutine
// while it waits for the next one.
type pinger struct {
	ponged atomic.Bool // a pong came

	busy     sync.Mutex // held by a beat, after the end for good; it guards the rest
	timer    *time.Timer
	pinged   bool  // a ping was sent
	received int64 // bytes from the client up to it
	missed   int
}

// startPings arms the pulse.
func (c *conn) startPings(ctx context.Context) {
	p := &c.pulse
	p.busy.Lock() // the first beat finds the timer set
	defer p.busy.Unlock()
	every := c.Config().WS.Ping
	p.timer = time.AfterFunc(every, func() { c.nextPing(ctx, every) })
}

// nextPing looks whether the last ping was answered, and sends the next.
func (c *conn) nextPing(ctx context.Context, every time.Duration) {
	defer c.guard()
	p := &c.pulse
	if !p.busy.TryLock() {
		return
	}
	defer p.busy.Unlock()
	if ctx.Err() != nil {
		return
	}
	received := c.wire.received.Load()
	switch heard := p.ponged.Swap(false); {
	case !p.pinged || heard:
		p.missed = 0
	case c.uploading.Load() && received-p.received >= uploadStep:
	default:
		p.missed++
	}
	if p.missed >= maxMissedPings {
		c.stop(errPingsUnanswered)
		return
	}
	p.received = received
	p.pinged = c.ping()
	p.timer.Reset(every)
}

// end waits for the last beat; there is none after it.
func (p *pinger) end() {
	p.busy.Lock()
	p.timer.Stop()
}
