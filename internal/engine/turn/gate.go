package turn

import (
	"errors"
	"slices"
	"sync"
	"time"

	"rubicon/internal/config"
	"rubicon/internal/engine/replay"
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/protocol"
)

// errHeld: the held events are over their bound.
var errHeld = errors.New("held events over their bound")

// gate is the event hold: lifecycle events stay here until the first output
// event, an ending, or the deadline. Whatever reaches the client goes through
// it, under one lock, because the deadline and the keep-alive write from timers
// of their own.
type gate struct {
	sink Sink
	// onClientLeft is called once, when the client left, with whether output had been
	// handed over. It returns whether the turn drains the stream.
	onClientLeft func(err error, output bool) (drain bool)

	mu sync.Mutex
	gateRules
	gateState
	contentType  string
	shownFailure *fault.Error // the failure that is being shown

	held      []protocol.Event // with bytes of their own
	heldBytes int64
	heldAs    replay.Handed // what releasing the held events hands over; nothing for heartbeats alone

	start       time.Time // of the first held event of the request, heartbeats apart
	timer       *time.Timer
	firstOutput time.Time // deadline of the attempt's first output; zero: none
	measured    time.Duration

	keepAliveTimer *time.Timer
	lastWrite      time.Time // when something was written
}

func newGate(sink Sink, onClientLeft func(error, bool) bool) *gate {
	return &gate{sink: sink, onClientLeft: onClientLeft}
}

// configure sets the bounds of the request's hold, and whether output is held
// too.
func (g *gate) configure(rules gateRules, atomic bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gateRules = rules
	g.delivery = deliverStream
	if atomic {
		g.delivery = deliverAtomic
	}
}

// add hands over or holds one event. errHeld means the bound is passed.
func (g *gate) add(ev protocol.Event) error {
	if ev.Hidden {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.handed == replay.OutputHanded:
		g.write(ev)
	case ev.Class == protocol.Heartbeat && g.handed == replay.NothingHanded:
		return g.holdEvent(ev)
	case ev.Class == protocol.Lifecycle && g.handed == replay.NothingHanded && g.deadline != deadlinePassed && g.hold > 0 || g.delivery == deliverAtomic:
		return g.holdEvent(ev)
	case ev.Class == protocol.Lifecycle:
		g.release(replay.LifecycleHanded)
		g.write(ev)
	case ev.Class == protocol.Heartbeat:
		g.write(ev)
	default:
		g.release(replay.OutputHanded)
		g.write(ev)
	}
	return nil
}

// holdEvent holds an event, with a copy of its bytes.
func (g *gate) holdEvent(ev protocol.Event) error {
	ev.Raw, ev.Data = slices.Clone(ev.Raw), slices.Clone(ev.Data)
	g.held = append(g.held, ev)
	g.heldBytes += int64(len(ev.Raw))
	switch ev.Class {
	case protocol.Lifecycle:
		g.heldAs = max(g.heldAs, replay.LifecycleHanded)
		g.arm()
	case protocol.Heartbeat:
	default:
		g.heldAs = replay.OutputHanded
		g.arm()
	}
	if g.heldBytes <= g.limit {
		return nil
	}
	if g.delivery == deliverAtomic && g.heldAs == replay.OutputHanded {
		g.delivery = deliverOverBound
		g.release(replay.OutputHanded)
		return nil
	}
	return errHeld
}

// arm starts the hold with its first event. Atomic delivery has no deadline.
func (g *gate) arm() {
	if !g.start.IsZero() {
		return
	}
	g.start = time.Now()
	if g.delivery != deliverAtomic && g.hold > 0 {
		g.timer = time.AfterFunc(g.hold, g.expire)
	}
}

// expire is the deadline: what is held goes out and the request is committed.
// If it comes together with the attempt's first-output deadline, that one wins.
func (g *gate) expire() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.phase == gateClosed || g.handed != replay.NothingHanded {
		return
	}
	if !g.firstOutput.IsZero() && !time.Now().Before(g.firstOutput) {
		g.deadline = deadlineTied
		return
	}
	g.deadline = deadlinePassed
	if g.heldAs == replay.LifecycleHanded && !g.deciding {
		g.release(replay.LifecycleHanded)
		g.flush()
	}
}

// release hands over what is held. From here on the request is committed.
func (g *gate) release(as replay.Handed) {
	if g.handed == replay.NothingHanded {
		if !g.start.IsZero() {
			g.measured = time.Since(g.start)
		}
		if g.timer != nil {
			g.timer.Stop()
		}
		g.armKeepAlive()
	}
	g.handed = max(g.handed, as)
	for _, ev := range g.held {
		g.write(ev)
	}
	g.clearHeld()
}

// beginDecision keeps the deadline from handing anything over until discard, or until
// the end, which decides about the held events itself.
func (g *gate) beginDecision() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.deciding = true
}

// discard drops the events of a lost attempt. The deadline goes on.
func (g *gate) discard() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.deciding = false
	if g.deadline == deadlineTied {
		g.deadline = deadlinePassed
	}
	g.clearHeld()
}

func (g *gate) clearHeld() {
	g.held, g.heldBytes, g.heldAs = nil, 0, replay.NothingHanded
}

func (g *gate) write(ev protocol.Event) {
	if g.client == clientDraining {
		return
	}
	g.open()
	g.noteWriteError(g.sink.Event(ev))
}

// open begins the stream, once.
func (g *gate) open() {
	if g.phase == gateUnopened {
		g.phase = gateOpened
		g.sink.Begin(g.contentType, g.shownFailure)
	}
}

// flush sends what was handed over.
func (g *gate) flush() {
	if g.phase == gateOpened && g.client != clientDraining {
		g.lastWrite = time.Now()
		g.noteWriteError(g.sink.Flush())
	}
}

// Flush is flush under the lock.
func (g *gate) Flush() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.flush()
}

func (g *gate) noteWriteError(err error) {
	if err == nil || g.client != clientPresent {
		return
	}
	g.client = clientLeft
	if g.onClientLeft(err, g.handed == replay.OutputHanded) {
		g.client = clientDraining
	}
}

// noteClientLeft notes that the client left.
func (g *gate) noteClientLeft(cause error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.phase != gateClosed {
		g.noteWriteError(cause)
	}
}

// isDraining tells whether the turn drains the stream of a client that left.
func (g *gate) isDraining() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.client == clientDraining
}

// armKeepAlive starts the keep-alive once the request is committed.
func (g *gate) armKeepAlive() {
	if g.keepalive > 0 && g.keepAliveTimer == nil && g.phase != gateClosed {
		g.lastWrite = time.Now()
		g.keepAliveTimer = time.AfterFunc(g.keepalive, g.writeKeepAlive)
	}
}

func (g *gate) writeKeepAlive() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.phase == gateClosed || g.client == clientDraining {
		return
	}
	left := g.keepalive - time.Since(g.lastWrite)
	if left <= 0 {
		g.lastWrite = time.Now()
		g.noteWriteError(g.sink.KeepAlive())
		left = g.keepalive
	}
	g.keepAliveTimer.Reset(left)
}

// finish hands over a good ending, behind whatever is held.
func (g *gate) finish(ev protocol.Event, tail []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.releaseAll()
	if ev.Raw != nil && !ev.Hidden {
		g.write(ev)
	}
	if len(tail) > 0 {
		g.write(protocol.Event{Class: protocol.Terminal, Raw: tail})
	}
	g.flush()
	g.stop()
}

// releaseAll hands over whatever is held, before an end is shown.
func (g *gate) releaseAll() {
	g.release(max(g.handed, g.heldAs, replay.LifecycleHanded))
}

// answer sends a whole answer.
func (g *gate) answer(send func(Sink) error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.noteWriteError(send(g.sink))
	g.stop()
}

// fail shows the failure. Held events go out before it where its form says so.
func (g *gate) fail(e ShownFailure) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shownFailure = e.Error
	if e.Form == FormStatus {
		g.clearHeld()
	} else if len(g.held) > 0 {
		g.releaseAll()
	}
	if g.client != clientDraining {
		if e.Form != FormStatus && e.Answer == nil {
			g.open()
		}
		g.noteWriteError(g.sink.Fail(e))
	}
	g.stop()
}

// close ends the gate: no timer writes any more.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stop()
}

func (g *gate) stop() {
	g.phase = gateClosed
	for _, t := range [...]*time.Timer{g.timer, g.keepAliveTimer} {
		if t != nil {
			t.Stop()
		}
	}
}

// state gives what the decision needs to know of the gate.
func (g *gate) state() (handed replay.Handed, outputHeld bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.handed, g.heldAs == replay.OutputHanded
}

// begin sets the gate up for one attempt.
func (g *gate) begin(dispatched time.Time, timers config.Timers) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.firstOutput = time.Time{}
	if timers.FirstOutput > 0 {
		g.firstOutput = dispatched.Add(timers.FirstOutput)
	}
}

func (g *gate) setContentType(s string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.contentType = s
}

// withholdsOutput tells whether output does not reach the client: it is held
// (atomic delivery), or the client has left.
func (g *gate) withholdsOutput() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.delivery == deliverAtomic || g.client == clientDraining
}

func (g *gate) hasClientLeft() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.client != clientPresent
}

// wentOverAtomicBound tells whether atomic delivery ended in a stream.
func (g *gate) wentOverAtomicBound() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.delivery == deliverOverBound
}

// showsErrorAtOnce tells whether an error event may be handed over before it is
// known whether more follows: its client has output, and its transport allows it.
func (g *gate) showsErrorAtOnce() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.handed == replay.OutputHanded && g.sink.ErrorAtOnce()
}

func (g *gate) heldFor() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.handed == replay.NothingHanded && g.heldAs == replay.OutputHanded {
		return time.Since(g.start) // atomic delivery: the record is written before the release
	}
	return g.measured
}
