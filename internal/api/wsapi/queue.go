package wsapi

import (
	"context"
	"slices"
	"sync"

	"rubicon/internal/api/pressure"
	"rubicon/internal/engine/turn"
	"rubicon/internal/wire/fault"
)

// queue is a connection's turns: one runs, a few wait, in order.
type queue struct {
	mu       sync.Mutex
	waiting  []create
	taken    int  // places: of the turns that wait, and of the one that runs until its ending is written
	working  bool // a goroutine works the queue off
	lastTurn bool // the running turn is the last one
	closed   bool // nothing is taken any more
	worker   sync.WaitGroup
}

// create is a response.create whose turn has not come. What it holds counts as
// its customer's upload until then.
type create struct {
	body   []byte
	upload *pressure.Upload
}

// take queues a create, or says why not.
func (c *conn) take(ctx context.Context, create create) *fault.Error {
	q := &c.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed || q.lastTurn:
		return tooLate(ctx)
	case q.taken > c.Config().WS.QueuedTurns:
		return fault.New(fault.ResponseAlreadyActive, "")
	}
	q.taken++
	q.waiting = append(q.waiting, create)
	if !q.working {
		q.working = true
		q.worker.Go(func() { c.work(ctx) })
	}
	return nil
}

// tooLate is what a create is told that comes too late.
func tooLate(ctx context.Context) *fault.Error {
	if stop, ok := context.Cause(ctx).(*turn.EndedByGateway); ok {
		return fault.New(stop.Code, "")
	}
	return fault.New(fault.ShuttingDown, "")
}

// releasePlace gives a place back.
func (c *conn) releasePlace() {
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	c.queue.taken--
}

// work runs the turns that wait, one after the other, and ends with the last.
func (c *conn) work(ctx context.Context) {
	defer c.guard()
	for {
		create, late, ok := c.next()
		if !ok {
			return
		}
		c.turn(ctx, create, late)
	}
}

// next gives the create that waits longest; late means that it is
// not served any more.
func (c *conn) next() (create create, late, ok bool) {
	q := &c.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.working = false
		if q.lastTurn {
			c.stop(turn.ErrShutdown)
		}
		return create, false, false
	}
	create = q.waiting[0]
	q.waiting = slices.Delete(q.waiting, 0, 1)
	return create, q.lastTurn || q.closed, true
}

// finishTurn lets the running turn be the last one.
func (c *conn) finishTurn() {
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	c.queue.lastTurn = true
	if !c.queue.working {
		c.stop(turn.ErrShutdown)
	}
}

// closeQueue takes no create any more; those that wait are told so, each by itself.
func (c *conn) closeQueue() {
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	c.queue.closed = true
}
