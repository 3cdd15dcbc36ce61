package spool

import (
	"errors"
	"os"
	"path/filepath"
)

// Damage is a part of a spool's file that is no entry.
type Damage struct {
	File  string // that it is in, without its folder
	At    int64  // where
	Bytes int
	Kept  string // the file beside it that the part was put into, without its folder
	Err   error  // that could not be done: the spool's file stays
}

// asideSuffix makes the name of the file where damaged parts are kept.
const asideSuffix = ".damaged"

// setAside keeps what is broken of the line that begins there, once.
func (s *Spool) setAside(at int64, broken [][]byte) {
	if len(broken) == 0 || at < s.examined {
		return
	}
	s.examined = at + 1
	d := Damage{File: filepath.Base(s.path), At: at, Kept: filepath.Base(s.path) + asideSuffix}
	for _, b := range broken {
		d.Bytes += len(b)
	}
	if d.Err = keepAside(s.path+asideSuffix, broken); d.Err != nil {
		s.keep = true
	}
	if s.Damaged != nil {
		s.Damaged(d)
	}
}

// keepAside adds the parts to a file, a line each.
func keepAside(path string, broken [][]byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for _, b := range broken {
		if b[len(b)-1] != '\n' {
			b = append(b[:len(b):len(b)], '\n')
		}
		_, failed := f.Write(b)
		err = errors.Join(err, failed)
	}
	return errors.Join(err, f.Sync(), f.Close())
}
