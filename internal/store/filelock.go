package store

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// fileLock is a lock that ends with the process, however that ends. It is on a
// file of its own: SQLite's locks on the database would be lost with the first
// other descriptor of it that is closed.
type fileLock struct{ file *os.File }

func lockFile(path string) (*fileLock, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the database: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("another rubicon serves this database (%s is locked): stop it, or use PostgreSQL for more than one", path)
		}
		return nil, fmt.Errorf("locking the database: %w", err)
	}
	return &fileLock{f}, nil
}

// release gives the lock back. The file stays: removing it would let two
// processes hold locks on two files of the same name.
func (l *fileLock) release() error {
	if l == nil {
		return nil
	}
	return l.file.Close()
}
