// Package spool is a queue on local disk for what the database must learn and
// cannot be told now.
//
// It is for entries of any kind, in order. It is not for what they mean, and
// carries none out.
//
// Invariants: an entry that Append took without an error survives the death of
// the process (with sync, of the machine) until Drain's function took it; it
// may be handed out more than once, after a crash, so whoever carries entries
// out must be able to do that twice. A file belongs to one living process. What
// a damaged file still holds is handed out all the same, and what is broken of
// it is kept in a file beside it. Entries that may be lost (Spare) never take the
// room of others.
package spool

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

var (
	// ErrNotWritten is the error of an entry that the disk did not take.
	ErrNotWritten = errors.New("the spool cannot be written")
	// ErrFull is the error of an entry for which there is no room, not even in
	// memory.
	ErrFull = errors.New("the spool is full: an entry is lost")
)

const (
	// maxMemory bounds what waits in memory. More of it would mean that disk and
	// database have both been away for long.
	maxMemory = 10_000
	// spareRoom bounds the bytes of entries that may be lost.
	spareRoom = 4 << 20
	// reserved is how much of the disk a spool takes beforehand, so that there is
	// room when the disk is full: some thousand ends of requests, beside what may
	// be lost.
	reserved = 4 * spareRoom
)

// suffix ends the name of a spool's file.
const suffix = ".spool"

// Spool is one process's queue.
type Spool struct {
	Options
	path string

	processing sync.Mutex // one Drain at a time

	mu     sync.Mutex
	file   *os.File // nil: in memory only
	end    int64    // of what is whole in the file
	read   int64    // of what was drained
	filed  int      // entries between read and end
	memory [][]byte
	spared int       // bytes of entries that may be lost, since it was last empty
	oldest time.Time // when the longest waiting entry of this process came; zero: none

	examined int64 // up to where what is damaged was set aside
	keep     bool  // the file: something damaged could not be set aside
}

// Options are how a spool is kept.
type Options struct {
	Sync    bool         // Append survives a loss of power
	Damaged func(Damage) // is told of what cannot be read, once; nil: nobody
}

// Memory makes a spool without a file, for a database that ends with the
// process too.
func Memory() *Spool { return &Spool{} }

// Create makes a new spool in the folder. The name is the process's own.
func Create(dir, name string, o Options) (*Spool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder for settlements that wait; check store.spool: %w", err)
	}
	s := &Spool{Options: o, path: filepath.Join(dir, name+suffix)}
	f, err := os.OpenFile(s.path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("making the spool for settlements that wait; check store.spool: %w", err)
	}
	if err := lock(f); err != nil {
		return nil, errors.Join(fmt.Errorf("locking the spool: %w", err), f.Close())
	}
	s.file = f
	reserve(f, reserved)
	return s, nil
}

// lock locks a file until it is closed or the process ends.
func lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// Leftover is the spool of a process that ended without draining it.
type Leftover struct {
	*Spool
	Name string // that it was created with
}

// Leftovers takes over the spools in the folder whose names have the prefix and
// whose processes have ended. Those of living ones stay theirs.
func Leftovers(dir, prefix string, o Options) (list []Leftover, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), suffix)
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		s, err := openUnlocked(path, o)
		if err != nil {
			return list, fmt.Errorf("reading the spool %s: %w", path, err)
		}
		if s != nil {
			list = append(list, Leftover{s, name})
		}
	}
	return list, nil
}

// openUnlocked opens a spool that nobody holds; nil if somebody does.
func openUnlocked(path string, o Options) (*Spool, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // its process ended well at this moment
	}
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, nil
		}
		return nil, err
	}
	s := &Spool{Options: o, path: path, file: f}
	if err := s.examine(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if s.filed > 0 {
		s.oldest = time.Now() // it is not known better
	}
	return s, nil
}

// examine counts the entries of a file that another process left.
func (s *Spool) examine() error {
	r := bufio.NewReader(s.file)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		entries, broken := split(line)
		if err != nil && len(entries) == 0 { // the end, or what was being written when the process died
			return s.file.Truncate(s.end)
		}
		s.setAside(s.end, broken)
		s.end += int64(len(line))
		s.filed += len(entries)
		if err != nil {
			return nil
		}
	}
}

// Append adds an entry, which must hold no line break. With an error it is not
// in the spool.
func (s *Spool) Append(entry []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return s.remember(entry)
	}
	return s.write(entry, s.Sync)
}

// Keep is Append for an entry that nobody relies on: where the disk does not
// take it, it waits in memory.
func (s *Spool) Keep(entry []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil || s.write(entry, s.Sync) != nil {
		return s.remember(entry)
	}
	return nil
}

// Spare is Append for an entry that may be lost: it has little room, and none
// that others may need.
func (s *Spool) Spare(entry []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spared+len(entry) > spareRoom || s.file == nil && len(s.memory) >= maxMemory/2 {
		return ErrFull
	}
	var err error
	if s.file == nil {
		err = s.remember(entry)
	} else {
		err = s.write(entry, false)
	}
	if err == nil {
		s.spared += len(entry)
	}
	return err
}

func (s *Spool) remember(entry []byte) error {
	if len(s.memory) >= maxMemory {
		return ErrFull
	}
	s.memory = append(s.memory, bytes.Clone(entry))
	s.waits()
	return nil
}

// waits notes that there is an entry.
func (s *Spool) waits() {
	if s.oldest.IsZero() {
		s.oldest = time.Now()
	}
}

func (s *Spool) write(entry []byte, sync bool) error {
	line := frame(entry)
	if _, err := s.file.WriteAt(line, s.end); err != nil {
		// Half a line would look like damage.
		return fmt.Errorf("%w: %w", ErrNotWritten, errors.Join(err, s.file.Truncate(s.end)))
	}
	if sync {
		if err := s.file.Sync(); err != nil {
			return fmt.Errorf("%w: %w", ErrNotWritten, errors.Join(err, s.file.Truncate(s.end)))
		}
	}
	s.end += int64(len(line))
	s.filed++
	s.waits()
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

// Process hands entries to take, in order and some at once, until there are none
// or take returns an error, which Drain returns. take tells how many of them,
// from the first, it has taken; those are forgotten.
func (s *Spool) Process(take func(entries [][]byte) (taken int, err error)) error {
	s.processing.Lock()
	defer s.processing.Unlock()
	for {
		b, err := s.next()
		if err != nil || len(b.entries) == 0 {
			return err
		}
		taken, failed := take(b.entries)
		if err := errors.Join(failed, s.done(b, taken)); err != nil {
			return err
		}
	}
}

// portion is the entries that have waited longest.
type portion struct {
	entries [][]byte
	starts  []int64 // of their lines; nil: they are in memory
	end     int64   // of the last line
}

func (s *Spool) next() (p portion, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.read < s.end {
		if p, err = s.fromFile(); err != nil || len(p.entries) > 0 {
			return p, err
		}
		// Nothing else can be read.
		s.filed = 0
		if err := s.forgetFile(s.end); err != nil {
			return p, err
		}
	}
	n := min(len(s.memory), batch)
	return portion{entries: s.memory[:n:n]}, nil
}

func (s *Spool) fromFile() (p portion, err error) {
	p.end = s.read
	r := bufio.NewReaderSize(io.NewSectionReader(s.file, s.read, s.end-s.read), 1<<16)
	for p.end < s.end && len(p.entries) < batch {
		line, err := r.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return p, fmt.Errorf("reading the spool: %w", err)
		}
		entries, broken := split(line)
		s.setAside(p.end, broken)
		for _, e := range entries {
			p.entries, p.starts = append(p.entries, e), append(p.starts, p.end)
		}
		p.end += int64(len(line))
		if err != nil {
			p.end = s.end // somebody made the file shorter
		}
	}
	return p, nil
}

// done forgets the first entries of a portion. Of several in one line, which
// damage can make, all come again as long as one of them waits.
func (s *Spool) done(p portion, taken int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.starts == nil {
		s.memory = s.memory[taken:]
		return s.forgetFile(s.read)
	}
	s.filed = max(s.filed-taken, 0)
	if taken < len(p.entries) {
		return s.forgetFile(p.starts[taken])
	}
	return s.forgetFile(p.end)
}

// forgetFile forgets the file up to there, and all of it with its last entry.
func (s *Spool) forgetFile(to int64) error {
	s.read = to
	if s.read < s.end {
		return nil
	}
	s.filed = 0
	if len(s.memory) == 0 {
		s.oldest, s.spared = time.Time{}, 0
	}
	if s.file == nil || s.end == 0 || s.keep {
		return nil
	}
	s.read, s.end, s.examined = 0, 0, 0
	err := s.file.Truncate(0)
	reserve(s.file, reserved)
	return err
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
	if s.filed == 0 && !s.keep {
		err = os.Remove(s.path)
	}
	err = errors.Join(err, s.file.Close())
	s.file = nil
	return err
}
