package store

import (
	"sync"
	"time"
)

// retryOutage is how often a database that has been away for long is tried.
const retryOutage = 250 * time.Millisecond

// outage is what all sessions of a database know of its being away. Its
// methods take the time, so that it is a value like any other.
type outage struct {
	patience time.Duration
	other    *outage // of the same database's other sessions, or nil
	both     bool    // what fails here is away there too

	mu       sync.Mutex
	since    time.Time // zero: it answers
	tried    time.Time
	answered time.Time // when it last did
	trying   int       // how many try at this moment
	began    time.Time // when the last of them did
	cause    error
}

// isRefusing gives an error where waiting is known to be in vain, for somebody who
// would wait behind others: an attempt that has only begun may be the one that
// finds the database back.
func (o *outage) isRefusing(now time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.trying > 0 && now.Sub(o.began) < retryOutage {
		return nil
	}
	return o.refusal(now)
}

// refusal is an error where trying is known to be in vain: it has been away for
// longer than anybody waits, and was tried a moment ago, or somebody is at it: a
// server that hangs keeps whoever tries for seconds.
func (o *outage) refusal(now time.Time) error {
	if o.since.IsZero() || now.Sub(o.since) < o.patience || o.trying == 0 && now.Sub(o.tried) >= retryOutage {
		return nil
	}
	return unavailable(o.cause)
}

// begin notes an attempt, unless it is refused; end, that it is over.
func (o *outage) begin(now time.Time) (end func(), err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.refusal(now); err != nil {
		return nil, err
	}
	o.trying++
	o.began = now
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.trying--
	}, nil
}

// failed notes an attempt that began at a moment and was in vain, and tells
// whether patience is at its end. A database that answered somebody since then
// was not away until that moment, whatever became of the attempt.
func (o *outage) failed(began, now time.Time, cause error) (giveUp bool) {
	if o.both {
		o.other.failed(began, now, cause)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() {
		o.since = began
		if o.answered.After(began) {
			o.since = o.answered
		}
	}
	o.tried, o.cause = now, cause
	return now.Sub(o.since) >= o.patience
}

// over notes that the database answers. Where it did not, the other sessions'
// next attempt is not put off any longer.
func (o *outage) over(now time.Time) {
	if o.end(now) && o.other != nil {
		o.other.mayTry()
	}
}

func (o *outage) end(now time.Time) (wasAway bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	wasAway = !o.since.IsZero()
	o.since, o.cause, o.answered = time.Time{}, nil, now
	return wasAway
}

func (o *outage) mayTry() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tried = time.Time{}
}
