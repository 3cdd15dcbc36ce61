// Package watch notices that files changed, by looking at them.
//
// It is not for reading what is in them, nor for what follows. It looks once a
// second and not through the kernel, because that works on every file system,
// through symbolic links and for files that are replaced.
//
// Invariant: a change is told once, after the files have been quiet for a
// moment, so that nobody reads a file that is half written; a file that was
// only touched is no change.
package watch

import (
	"context"
	"crypto/sha256"
	"io"
	"os"
	"slices"
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

// look is what was seen at one moment.
type look map[string]stamp

// Run calls changed whenever a file changed, until ctx ends. What they hold
// when it starts is no change.
func Run(ctx context.Context, files Files, changed func()) {
	t := time.NewTicker(Every)
	defer t.Stop()
	last := see(files())
	known, contents := last, hash(files())
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		now := see(files())
		settled := now.equal(last)
		last = now
		if !settled || now.equal(known) {
			continue
		}
		known = now
		if h := hash(files()); h != contents {
			contents = h
			changed()
		}
	}
}

func see(files []string) look {
	out := look{}
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			out[f] = stamp{true, info.ModTime(), info.Size()}
		} else {
			out[f] = stamp{}
		}
	}
	return out
}

func (l look) equal(m look) bool {
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

// bound is how much of a file is looked at.
const bound = 16 << 20

// hash is over names and contents; a file that cannot be read counts as empty.
func hash(files []string) (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, f := range slices.Sorted(slices.Values(files)) {
		_, _ = io.WriteString(h, f+"\x00")
		if file, err := os.Open(f); err == nil {
			_, _ = io.Copy(h, io.LimitReader(file, bound))
			_ = file.Close()
		}
		_, _ = io.WriteString(h, "\x00")
	}
	h.Sum(sum[:0])
	return sum
}
