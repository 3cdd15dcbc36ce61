package breaker

import "time"

// parts is how finely the window is cut: results leave it a slice at a time.
const parts = 12

// Lately counts the results of the last window. A busy channel has thousands of
// them, so that they are counted by slices of time and not listed.
type Lately struct {
	Ends   time.Time // of the newest slice
	Slices [parts]Tally
}

// Tally is what one slice of time saw.
type Tally struct{ OK, Failed int }

// with counts one result.
func (l Lately) with(failed bool, now time.Time, window time.Duration) Lately {
	l = l.at(now, window)
	if newest := &l.Slices[0]; failed {
		newest.Failed++
	} else {
		newest.OK++
	}
	return l
}

// count is what the window holds.
func (l Lately) count(now time.Time, window time.Duration) (ok, failed int) {
	for _, t := range l.at(now, window).Slices {
		ok, failed = ok+t.OK, failed+t.Failed
	}
	return ok, failed
}

// at moves the window on to that time: the newest slice is the first.
func (l Lately) at(now time.Time, window time.Duration) Lately {
	each := max(window/parts, 1)
	if now.Sub(l.Ends) >= each*parts {
		return Lately{Ends: now.Add(each)}
	}
	for !now.Before(l.Ends) {
		copy(l.Slices[1:], l.Slices[:])
		l.Slices[0], l.Ends = Tally{}, l.Ends.Add(each)
	}
	return l
}
