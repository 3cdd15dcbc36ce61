// Package watch notices that files changed, by looking at them.
//
// It is not for reading what is in them, nor for what follows. It looks once a
// second and not through the kernel, because that works on every file system,
// through symbolic links and for files that are replaced.
//
// Invariant: a change is told once, after the files have been quiet for a
// moment, so that nobody reads a file that is half written. A file that was
// only touched counts as changed: what of it matters is known to whoever reads it.
package watch

import (
	"context"
	"os"
	"time"
)

// Every is how often the files are looked at.
const Every = time.Second

// Files says which files to look at; it is asked every time.
type Files func() []string

// stamp is what a look at a file costs nothing to tell.
type stamp struct {
	there    bool
	modified time.Time
	size     int64
}

// snapshot is what was seen at one moment.
type snapshot map[string]stamp

// Run calls changed whenever a file changed, until ctx ends. What they hold
// when it starts is no change.
func Run(ctx context.Context, files Files, changed func()) {
	t := time.NewTicker(Every)
	defer t.Stop()
	last := takeSnapshot(files())
	known := last
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		now := takeSnapshot(files())
		settled := now.equal(last)
		last = now
		if settled && !now.equal(known) {
			known = now
			changed()
		}
	}
}

func takeSnapshot(files []string) snapshot {
	out := snapshot{}
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			out[f] = stamp{true, info.ModTime(), info.Size()}
		} else {
			out[f] = stamp{}
		}
	}
	return out
}

func (l snapshot) equal(m snapshot) bool {
	if len(l) != len(m) {
		return false
	}
	for f, s := range l {
		o, there := m[f]
		if !there || s.there != o.there || s.size != o.size || !s.modified.Equal(o.modified) {
			return false
		}
	}
	return true
}
