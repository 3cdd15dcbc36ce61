// Package breaker is the circuit breaker of one channel and upstream model as
// a pure function: state, event and time in, state and effect out.
//
// It holds no lock, reads no clock and knows no channel; package health keeps
// the states. Its caller decides what counts as a failure.
//
// Invariants: open lets nothing through; half-open never has more probes in
// flight than configured; a probe without an end is given up at its deadline;
// an aborted probe decides nothing; a result of an older generation, or of a
// probe that was given up, changes nothing; whatever happened before, enough
// good answers close it.
package breaker

import "time"

// Position is the state of the breaker, as the admin API spells it.
type Position string

// The positions. The zero State is closed.
const (
	Closed   Position = "closed"
	Open     Position = "open"
	HalfOpen Position = "half_open"
)

// State is everything a breaker knows. It is a value: Step never changes the
// one it was given. It can be stored as JSON.
type State struct {
	Position   Position  `json:"at,omitempty"` // "" is closed
	Generation uint64    `json:"generation"`   // counts the changes of Position
	Since      time.Time `json:"since"`        // of the last change; zero: never changed
	Cause      string    `json:"cause,omitempty"`

	// ConsecutiveFailures is how many results that counted were failures since the last success.
	ConsecutiveFailures int `json:"row,omitempty"`

	// Lately is the results of the channel inside the window, in every position.
	Lately Lately `json:"-"`

	// Closed: the failures since the last success, inside the window, oldest first.
	Failures []Failure `json:"failures,omitempty"`
	// The customer that used the channel last, and the last one before that was
	// another customer.
	Last, LastOther Use `json:"-"`

	// Open and half-open.
	Outage  time.Time     `json:"outage,omitzero"` // when it opened first, since it was closed
	OpenFor time.Duration `json:"open_for,omitempty"`
	Until   time.Time     `json:"until"`

	// Half-open.
	Successes int     `json:"successes,omitempty"`
	Probes    []Probe `json:"-"`
	LastProbe uint64  `json:"-"` // the last probe's number
}

// Failure is one that counts.
type Failure struct {
	At       time.Time `json:"at"`
	Sent     time.Time `json:"-"`
	Customer string    `json:"customer"`
}

// Use is a customer's latest permit or result.
type Use struct {
	Customer string
	At       time.Time
}

// Probe is a probe in flight.
type Probe struct {
	Number   uint64
	Deadline time.Time
}

// Kind says what happened.
type Kind uint8

// The kinds of events. Every one of them also lets time pass.
const (
	Tick      Kind = iota // nothing but time
	Acquire               // a request asks for a permit
	Success               // a stream or answer ended well
	Failed                // a failure that counts
	Abandoned             // the permit comes back without a verdict
	Extend                // the probe produced output: its deadline moves
)

// Event is what happened. Customer belongs to all but Tick and Extend; Ticket
// to all but Tick and Acquire; Deadline to Acquire (used if it becomes a probe)
// and Extend; Cause (the failure's class), Sent (when the request was sent) and
// Outlived (when the newest was that is under way for longer) to Failed.
type Event struct {
	Kind     Kind
	Customer string
	Ticket   Ticket
	Deadline time.Time
	Cause    string
	Sent     time.Time
	Outlived time.Time
}

// Ticket ties a result to the state that let its request through.
type Ticket struct {
	Generation uint64
	Probe      uint64 // 0: not a probe
}

// Effect is what follows from an event.
type Effect struct {
	Allowed bool   // Acquire: the request may go
	Ticket  Ticket // if allowed
	Counted bool   // the result was taken; false: too late, or nothing to decide
	// Changes are the positions entered, in order, "" for none. Two at most:
	// open to half-open by time, and on from there by the event.
	Changes [2]Position
}
