package turn

import (
	"time"

	"rubicon/internal/engine/replay"
)

// gateRules are the bounds of one request's event hold. They are set once, by
// gate.configure, before the first attempt.
type gateRules struct {
	hold      time.Duration // how long lifecycle events are held; zero: not at all
	keepalive time.Duration // the silence after which a keep-alive is written; zero: never
	limit     int64         // bytes that may be held
}

// gateState is where the gate stands. Each field is one question; answers that
// exclude each other are values of one type. It only changes under the lock of
// the gate.
type gateState struct {
	phase    gatePhase
	handed   replay.Handed // what the client was given
	client   clientState
	deadline deadlineState
	delivery deliveryState
	deciding bool // a decision is being made: if the deadline passes meanwhile, nothing is released
}

// gatePhase is how far the request's answer is.
type gatePhase uint8

const (
	gateUnopened gatePhase = iota // the sink was not asked to begin
	gateOpened                    // the stream was begun
	gateClosed                    // the end was shown, or the turn ended: nothing is written any more
)

// clientState is whether the client still reads.
type clientState uint8

const (
	clientPresent  clientState = iota
	clientLeft                 // it left, or could not be written to
	clientDraining             // it left, and the upstream stream is drained: nothing is written any more
)

// deadlineState is whether the event hold's deadline has passed.
type deadlineState uint8

const (
	_ deadlineState = iota // it is still to come
	// deadlineTied: it came at the same moment as the attempt's first-output
	// deadline. That one ends the attempt; for the next attempt the hold is over.
	deadlineTied
	deadlinePassed
)

// deliveryState is whether output is held until the answer is complete.
type deliveryState uint8

const (
	deliverStream    deliveryState = iota
	deliverAtomic                  // output is held too
	deliverOverBound               // atomic delivery went over its bound, and is a stream from there
)
