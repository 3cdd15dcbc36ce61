package turn

import (
	"context"
	"sync"
	"time"

	"rubicon/internal/config"
	"rubicon/internal/engine/upstream"
	"rubicon/internal/health"
	"rubicon/internal/wire/classify"
)

// With on_disconnect: drain the upstream stream of a client that left is read
// on, so that the customer pays for what was used and not for an estimate. It is so
// only where the customer pays at all: once content was handed over. The hold stays
// open meanwhile and is settled once, with the usage that was read; nothing is
// adjusted afterwards.

// DrainTime bounds how long a stream is drained. Its bytes are
// bounded by limits.event.
const DrainTime = 2 * time.Minute

// drains are the turns that drain the stream of a client that left.
type drains struct {
	mu   sync.Mutex
	over bool
	live map[*turn]context.CancelCauseFunc
}

// StopDraining ends all draining turns, and lets none begin any more. It is called
// when the gateway shuts down.
func (e *Engine) StopDraining() {
	e.drains.mu.Lock()
	defer e.drains.mu.Unlock()
	e.drains.over = true
	for _, cancel := range e.drains.live {
		cancel(ErrShutdown)
	}
}

func (d *drains) add(t *turn, cancel context.CancelCauseFunc) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over {
		return false
	}
	if d.live == nil {
		d.live = map[*turn]context.CancelCauseFunc{}
	}
	d.live[t] = cancel
	return true
}

func (d *drains) remove(t *turn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.live, t)
}

// watchClient ties the turn to its client: when the client leaves, the turn is
// cancelled, or it drains the stream.
func (t *turn) watchClient(client context.Context, sink Sink) {
	if t.cfg.OnDisconnect != config.DisconnectDrain || t.req.TransportOutlivesClient {
		t.ctx, t.cancel = context.WithCancelCause(client)
		cancel := t.cancel
		t.gate = newGate(sink, func(err error, _ bool) bool { cancel(err); return false })
		t.unwatch = func() {}
		return
	}
	t.ctx, t.cancel = context.WithCancelCause(context.WithoutCancel(client))
	cancel := t.cancel
	var bound *time.Timer
	t.gate = newGate(sink, func(err error, output bool) bool {
		if !output || !t.live.Content.Load() || !t.engine.drains.add(t, cancel) {
			cancel(err)
			return false
		}
		bound = time.AfterFunc(DrainTime, func() { cancel(err) })
		return true
	})
	stopWatching := context.AfterFunc(client, func() {
		if _, ok := stopped(client); ok {
			cancel(context.Cause(client))
			return
		}
		t.gate.noteClientLeft(context.Cause(client))
	})
	t.unwatch = func() {
		stopWatching()
		t.gate.close() // from here on a client that leaves changes nothing
		t.engine.drains.remove(t)
		if bound != nil {
			bound.Stop()
		}
	}
}

// mayReadOn tells whether another event may be read. A draining turn may do so
// within a bound.
func (t *turn) mayReadOn(a *attempt) bool {
	if !t.gate.isDraining() {
		return true
	}
	read := a.stream.Bytes()
	if a.drainedFrom == 0 {
		a.drainedFrom = read
		t.rec.Notes = append(t.rec.Notes, "the client left; the rest of the stream was read to learn its usage (on_disconnect: drain)")
	}
	return read-a.drainedFrom <= t.cfg.Limits.Event
}

// clientLeftFailure is the failure of an attempt whose client left before its end.
func (a *attempt) clientLeftFailure() *upstream.Failure {
	return &upstream.Failure{Failure: classify.ClientGone, Status: a.status, RequestID: a.requestID, Executed: true}
}

// endDrain ends an attempt whose stream was drained. However the stream ended, the
// client had left before. An estimate counts only what the client was given.
func (t *turn) endDrain(a *attempt) {
	if !t.gate.isDraining() {
		return
	}
	if a.failed == nil {
		a.report(health.Result{OK: true, Customer: t.req.Principal.Customer.ID})
		a.failed = a.clientLeftFailure()
	}
	if !a.seen.Reported {
		a.seen.TextBytes = t.live.Bytes.Load()
	}
}
