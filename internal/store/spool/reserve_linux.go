package spool

import (
	"os"
	"syscall"
)

// keepSize reserves without making the file longer (FALLOC_FL_KEEP_SIZE).
const keepSize = 1

// reserve takes room on the disk for the file. Where that cannot be done, what
// the disk does not take is not taken, and whoever appends is told.
func reserve(f *os.File, bytes int64) { _ = syscall.Fallocate(int(f.Fd()), keepSize, 0, bytes) }
