package cluster

import (
	"slices"
	"time"
)

// watch is what a node has seen of the others. It compares no clocks: a beat
// that does not change while the watcher looks is all there is to see.
type watch struct {
	updatedAt time.Time
	seen      map[string]lastSeen
}

// lastSeen is a node's beat, and since when it has been the same.
type lastSeen struct {
	beat  int64
	since time.Time
}

// update takes in what stands in the database now, and tells which nodes have
// not beaten for a lease. After a pause in looking longer than gap everything
// begins anew: whatever kept the watcher from looking may have kept the others
// from beating.
func (w *watch) update(now time.Time, beats map[string]int64, lease, gap time.Duration) (silent []string) {
	if w.updatedAt.IsZero() || now.Sub(w.updatedAt) > gap {
		w.seen = nil
	}
	w.updatedAt = now
	seen := make(map[string]lastSeen, len(beats))
	for id, beat := range beats {
		s, known := w.seen[id]
		if !known || s.beat != beat {
			s = lastSeen{beat, now}
		}
		seen[id] = s
		if now.Sub(s.since) >= lease {
			silent = append(silent, id)
		}
	}
	w.seen = seen
	slices.Sort(silent)
	return silent
}

// reset forgets everything: the database could not be looked at.
func (w *watch) reset() { *w = watch{} }
