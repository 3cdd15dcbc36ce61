package limit

import (
	"math/bits"
	"time"
)

// minute is what a rate limit counts in; it is also the burst: a key that
// rested may use a whole minute's worth at once.
const minute = time.Minute

// bucket is one rate limit of one key, after the generic cell rate algorithm:
// all it keeps is the moment at which everything used will have been earned
// back. The zero value is a rested one.
type bucket struct {
	limit int64     // per minute, under which until was computed
	until time.Time // the theoretical arrival time
}

// debt is what has been used and is not earned back yet, as time.
func (b bucket) debt(now time.Time) time.Duration { return max(b.until.Sub(now), 0) }

// withLimit is the bucket under another limit: what was used stays used, in units
// and not as a part, so that a raised limit is felt at once. A lowered one is
// never felt for longer than a minute.
func (b bucket) withLimit(limit int64, now time.Time) bucket {
	if b.limit == limit || b.limit == 0 {
		return bucket{limit, b.until}
	}
	one := max(timeFor(1, b.limit), 1)
	spent := int64((b.debt(now) + one - 1) / one)
	return bucket{limit, now.Add(min(timeFor(spent, limit), minute))}
}

// decision is what spend says.
type decision struct {
	ok         bool
	impossible bool          // cost is above the limit itself
	after      time.Duration // not ok: when the same cost would be
	next       bucket        // ok: the bucket afterwards
}

// spend asks for cost units. whole is the limit of all nodes together: what is
// above this node's part but not above that is let through by a rested bucket.
func (b bucket) spend(now time.Time, cost, whole int64) decision {
	if cost > whole {
		return decision{impossible: true}
	}
	debt := b.debt(now)
	after := debt + timeFor(cost, b.limit)
	if wait := min(after-minute, debt); wait > 0 {
		return decision{after: wait}
	}
	return decision{ok: true, next: bucket{b.limit, now.Add(after)}}
}

// correct adds units that were used beyond what was asked for, or gives back
// what was not used, if negative. taken is the bucket as the request left it:
// of its units only those come back that time has not earned back already.
func (b bucket) correct(now time.Time, more int64, taken bucket) bucket {
	switch {
	case b.limit == 0 || more == 0:
		return b
	case more > 0:
		return bucket{b.limit, now.Add(b.debt(now) + timeFor(more, b.limit))}
	}
	return bucket{b.limit, b.until.Add(-min(timeFor(-more, b.limit), taken.debt(now)))}
}

// window shows the bucket.
func (b bucket) window(now time.Time) Window {
	debt := b.debt(now)
	return Window{Limit: b.limit, Remaining: units(max(minute-debt, 0), b.limit), Reset: debt}
}

// maxTime bounds a debt: far more than any request can leave behind, far less
// than what times can add up.
const maxTime = 30 * 24 * time.Hour

// timeFor is how long cost units take to be earned, rounded down so that the
// limit fits into a minute unit by unit too.
func timeFor(cost, limit int64) time.Duration {
	hi, lo := bits.Mul64(uint64(cost), uint64(minute))
	if hi >= uint64(limit) {
		return maxTime
	}
	quotient, _ := bits.Div64(hi, lo, uint64(limit))
	return time.Duration(min(quotient, uint64(maxTime)))
}

// units is how many whole units a stretch of time is worth.
func units(d time.Duration, limit int64) int64 {
	hi, lo := bits.Mul64(uint64(d), uint64(limit))
	if hi >= uint64(minute) {
		return int64(^uint64(0) >> 1)
	}
	quotient, _ := bits.Div64(hi, lo, uint64(minute))
	return int64(min(quotient, ^uint64(0)>>1))
}
