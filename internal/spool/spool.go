// Package spool is a queue on local disk for what the database must learn and
// cannot be told now.
//
// It is for entries of any kind, in order. It is not for what they mean, and
// carries none out.
//
// Invariants: an entry that Append took without an error survives the death of
// the process (with sync, of the machine) until Drain's function took it; it
// may be handed out more than once, after a crash, so whoever carries entries
// out must be able to do that twice. A file belongs to one living process.
package spool

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ErrMemory is the error of an entry that could not be written to disk and
// waits in memory only.
var ErrMemory = errors.New("the spool cannot be written: an entry waits in memory only")

// maxMemory bounds what waits in memory. More of it would mean that disk and
// database have both been away for long.
const maxMemory = 10_000

// suffix ends the name of a spool's file.
const suffix = ".spool"

// Spool is one process's queue.
type Spool struct {
	path string
	sync bool

	draining sync.Mutex // one Drain at a time

	mu     sync.Mutex
	file   *os.File // nil: in memory only
	end    int64    // of what is whole in the file
	read   int64    // of what was drained
	filed  int      // entries between read and end
	memory [][]byte
	oldest time.Time // when the longest waiting entry of this process came; zero: none
}

// Memory makes a spool without a file, for a database that ends with the
// process too.
func Memory() *Spool { return &Spool{} }

// Create makes a new spool in the folder. The name is the process's own.
// sync makes Append survive a loss of power.
func Create(dir, name string, sync bool) (*Spool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder for settlements that wait; check store.spool: %w", err)
	}
	s := &Spool{path: filepath.Join(dir, name+suffix), sync: sync}
	f, err := os.OpenFile(s.path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("making the spool for settlements that wait; check store.spool: %w", err)
	}
	if err := hold(f); err != nil {
		return nil, errors.Join(fmt.Errorf("locking the spool: %w", err), f.Close())
	}
	s.file = f
	return s, nil
}

// hold locks a file until it is closed or the process ends.
func hold(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// Left is the spool of a process that ended without draining it.
type Left struct {
	*Spool
	Name string // that it was created with
}

// Leftovers takes over the spools in the folder whose names have the prefix and
// whose processes have ended. Those of living ones stay theirs.
func Leftovers(dir, prefix string) (list []Left, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), suffix)
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		s, err := adopt(path)
		if err != nil {
			return list, fmt.Errorf("reading the spool %s: %w", path, err)
		}
		if s != nil {
			list = append(list, Left{s, name})
		}
	}
	return list, nil
}

// adopt opens a spool that nobody holds; nil if somebody does.
func adopt(path string) (*Spool, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // its process ended well at this moment
	}
	if err != nil {
		return nil, err
	}
	if err := hold(f); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, nil
		}
		return nil, err
	}
	s := &Spool{path: path, file: f}
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadBytes('\n')
		if _, ok := unframe(line); !ok {
			break // the end, or what was being written when the process died
		}
		s.end += int64(len(line))
		s.filed++
		if err != nil {
			break
		}
	}
	if s.filed > 0 {
		s.oldest = time.Now() // it is not known better
	}
	return s, nil
}

// Append adds an entry, which must hold no line break. An error says that it
// waits in memory only (ErrMemory), or not even there.
func (s *Spool) Append(entry []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.oldest.IsZero() {
		s.oldest = time.Now()
	}
	var err error
	if s.file != nil {
		if err = s.write(frame(entry)); err == nil {
			s.filed++
			return nil
		}
		err = fmt.Errorf("%w: %w", ErrMemory, err)
	}
	if len(s.memory) >= maxMemory {
		return errors.Join(errors.New("the spool's memory is full: an entry is lost"), err)
	}
	s.memory = append(s.memory, bytes.Clone(entry))
	return err
}

func (s *Spool) write(line []byte) error {
	if _, err := s.file.WriteAt(line, s.end); err != nil {
		// Half a line would take the next one with it.
		return errors.Join(err, s.file.Truncate(s.end))
	}
	if s.sync {
		if err := s.file.Sync(); err != nil {
			return err
		}
	}
	s.end += int64(len(line))
	return nil
}

// Waiting is how many entries wait, and since when the longest.
func (s *Spool) Waiting() (n int, since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.filed + len(s.memory), s.oldest
}

// batch is how many entries Drain hands out at once.
const batch = 256

// Drain hands entries to take, in order and some at once, until there are none
// or take returns an error, which Drain returns. take tells how many of them,
// from the first, it has taken; those are forgotten.
func (s *Spool) Drain(take func(entries [][]byte) (taken int, err error)) error {
	s.draining.Lock()
	defer s.draining.Unlock()
	for {
		entries, length, err := s.next()
		if err != nil || len(entries) == 0 {
			return err
		}
		taken, failed := take(entries)
		if length > 0 {
			length = 0
			for _, e := range entries[:taken] {
				length += int64(len(e) + sumLength + 1)
			}
		}
		if err := errors.Join(failed, s.done(taken, length)); err != nil {
			return err
		}
	}
}

// next is the entries that have waited longest. length is their lines' in the
// file, 0 in memory.
func (s *Spool) next() (entries [][]byte, length int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.filed == 0 {
		return s.memory[:min(len(s.memory), batch):min(len(s.memory), batch)], 0, nil
	}
	r := bufio.NewReaderSize(io.NewSectionReader(s.file, s.read, s.end-s.read), 1<<16)
	for range min(s.filed, batch) {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return nil, 0, fmt.Errorf("reading the spool: %w", err)
		}
		entry, ok := unframe(line)
		if !ok {
			return nil, 0, fmt.Errorf("reading the spool %s: damaged at byte %d", s.path, s.read+length)
		}
		entries = append(entries, entry)
		length += int64(len(line))
	}
	return entries, length, nil
}

// done forgets entries: so many, with so many bytes in the file.
func (s *Spool) done(taken int, length int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if length == 0 {
		s.memory = s.memory[min(taken, len(s.memory)):]
	} else {
		s.read += length
		s.filed -= taken
	}
	if s.filed+len(s.memory) == 0 {
		s.oldest = time.Time{}
	}
	if s.filed > 0 || s.file == nil || s.end == 0 {
		return nil
	}
	s.read, s.end = 0, 0
	return s.file.Truncate(0)
}

// Close gives the spool up. A drained one leaves no file; what still waits is
// found by Leftovers.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	var err error
	if s.filed == 0 {
		err = os.Remove(s.path)
	}
	err = errors.Join(err, s.file.Close())
	s.file = nil
	return err
}

// A line is the checksum of the entry, the entry, and a line feed.

const sumLength = 9

func frame(entry []byte) []byte {
	line := make([]byte, 0, len(entry)+sumLength+1)
	line = fmt.Appendf(line, "%08x ", crc32.ChecksumIEEE(entry))
	line = append(line, entry...)
	return append(line, '\n')
}

func unframe(line []byte) (entry []byte, ok bool) {
	if len(line) <= sumLength || line[len(line)-1] != '\n' || line[sumLength-1] != ' ' {
		return nil, false
	}
	entry = line[sumLength : len(line)-1]
	sum, err := strconv.ParseUint(string(line[:sumLength-1]), 16, 32)
	return entry, err == nil && uint32(sum) == crc32.ChecksumIEEE(entry)
}
