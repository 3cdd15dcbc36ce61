package protocol

import (
	"cmp"
	"slices"
)

// Progress tells for one stream, of whatever protocol, which of its events are
// progress for the idle timer: an upstream that says for ever that it works, or
// sends deltas with nothing in them, is as silent as one that says nothing.
type Progress struct {
	begun []string // the kinds of lifecycle events that came; the protocols know a handful
}

// Made takes in the next event of the stream. The first lifecycle event of each
// kind is progress, and so is everything behind them that has something in it.
// Heartbeats never are.
func (p *Progress) Made(ev Event) bool {
	switch ev.Class {
	case Heartbeat:
		return false
	case Lifecycle:
		kind := cmp.Or(ev.Kind, ev.Type)
		if slices.Contains(p.begun, kind) {
			return false
		}
		p.begun = append(p.begun, kind)
		return true
	}
	return !ev.Vain
}
