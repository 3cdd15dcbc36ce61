package wsapi

import (
	"context"
	"errors"
	"sync"
	"time"
)

// errSilent: the client answered no ping any more.
var errSilent = errors.New("pings were not answered")

// mostMissed is how many pings may go unanswered.
const mostMissed = 2

// uploadStep is what a client must have sent since a ping to be excused for not
// answering it: no pong can come in the middle of a frame, and large ones take
// their time.
const uploadStep = 1 << 10

// pulse pings a client every ws.ping, between turns too. It has no goroutine
// while it waits for the next one.
type pulse struct {
	busy   sync.Mutex // a ping waits for its answer; after the end for good
	timer  *time.Timer
	missed int
}

// start arms the pulse.
func (c *conn) startPulse(ctx context.Context) {
	c.pulse.busy.Lock() // the first beat finds the timer set
	defer c.pulse.busy.Unlock()
	every := c.Config().WS.Ping
	c.pulse.timer = time.AfterFunc(every, func() { c.beat(ctx, every) })
}

// beat sends one ping, waits for its answer and arms the next.
func (c *conn) beat(ctx context.Context, every time.Duration) {
	p := &c.pulse
	if !p.busy.TryLock() {
		return
	}
	defer p.busy.Unlock()
	if ctx.Err() != nil {
		return
	}
	start, before := time.Now(), c.wire.received.Load()
	// Not under ctx: the library closes the socket when the context of a write
	// ends, and conn.end has something to say yet. It closes the socket soon
	// enough, which ends the wait.
	wait, done := context.WithTimeout(context.WithoutCancel(ctx), every)
	err := c.ws.Ping(wait)
	done()
	switch {
	case err == nil:
		p.missed = 0
	case c.uploading.Load() && c.wire.received.Load()-before >= uploadStep:
	default:
		p.missed++
	}
	if p.missed >= mostMissed {
		c.stop(errSilent)
		return
	}
	p.timer.Reset(max(every-time.Since(start), 0))
}

// soon asks for a ping now, without waiting for it.
func (p *pulse) soon() { p.timer.Reset(0) }

// end waits for the last ping; there is none after it.
func (p *pulse) end() {
	p.busy.Lock()
	p.timer.Stop()
}
