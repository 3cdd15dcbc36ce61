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

	mu     sync.Mutex
	since  time.Time // zero: it answers
	tried  time.Time
	trying int // how many try at this moment
	cause  error
}

// refuses gives an error where trying is known to be in vain: it has been away
// for longer than anybody waits, and was tried a moment ago, or somebody is at
// it: a server that hangs keeps whoever tries for seconds.
func (o *outage) refuses(now time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() || now.Sub(o.since) < o.patience || o.trying == 0 && now.Sub(o.tried) >= retryOutage {
		return nil
	}
	return unavailable(o.cause)
}

// begin notes an attempt, and end that it is over.
func (o *outage) begin() (end func()) {
	o.add(1)
	return func() { o.add(-1) }
}

func (o *outage) add(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.trying += n
}

// failed notes a failed attempt, and tells whether patience is at its end.
func (o *outage) failed(now time.Time, cause error) (giveUp bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() {
		o.since = now
	}
	o.tried, o.cause = now, cause
	return now.Sub(o.since) >= o.patience
}

// over notes that the database answers. Where it did not, the other sessions'
// next attempt is not put off any longer.
func (o *outage) over() {
	if o.end() && o.other != nil {
		o.other.tryNow()
	}
}

func (o *outage) end() (wasAway bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	wasAway = !o.since.IsZero()
	o.since, o.cause = time.Time{}, nil
	return wasAway
}

func (o *outage) tryNow() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tried = time.Time{}
}
