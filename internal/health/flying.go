package health

import "time"

// flying are the attempts under way on one channel and upstream model, in the
// order in which they were sent.
//
// Failures are quick and good answers slow: of twenty requests sent together, the
// first to come back are the failed ones, one after the other, however few they
// are. What is under way for longer than a failure took has not failed, and ends
// the consecutive failures that were sent before it.
type flying struct{ newest *Permit }

func (f *flying) add(p *Permit) {
	p.older = f.newest
	if f.newest != nil {
		f.newest.newer = p
	}
	f.newest = p
}

func (f *flying) remove(p *Permit) {
	if p.newer != nil {
		p.newer.older = p.older
	} else {
		f.newest = p.older
	}
	if p.older != nil {
		p.older.newer = p.newer
	}
	p.older, p.newer = nil, nil
}

// outlived is when the newest attempt was sent that is under way for longer than
// this one; zero: there is none.
func (p *Permit) outlived() time.Time {
	if p.older == nil {
		return time.Time{}
	}
	return p.older.sent
}
