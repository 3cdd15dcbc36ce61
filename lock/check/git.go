package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"rubicon/lock/form"
)

const (
	recordings   = "lock/recordings"
	declarations = "lock/declarations"
	usual        = "lock/form/usual.json"
)

// state is the lock at one moment: file contents by path.
type state struct {
	recordings   map[string][]byte // by name, without .json
	declarations map[string][]byte // by file name
	usual        []byte            // the table that the recordings are written with; nil where they are written out
}

func newState() state {
	return state{recordings: map[string][]byte{}, declarations: map[string][]byte{}}
}

// writeOut gives every recording in full, in the layout of this revision, so that
// only what it says is compared. What cannot be read stays as it is.
func (s state) writeOut() error {
	table := s.usual
	if table == nil {
		table = []byte("{}")
	}
	u, err := form.ParseUsual(table)
	if err != nil {
		return err
	}
	full := map[string][]byte{}
	for name := range s.recordings {
		s.expand(u, name, full)
	}
	for name, compact := range full {
		if text, err := form.Write(compact, nil); err == nil {
			s.recordings[name] = text
		}
	}
	return nil
}

// expand puts a recording as compact JSON into full, after its sibling.
func (s state) expand(u *form.Usual, name string, full map[string][]byte) []byte {
	if full[name] != nil || s.recordings[name] == nil {
		return full[name]
	}
	var sibling []byte
	if other, ok := strings.CutSuffix(name, ".ws"); ok {
		sibling = s.expand(u, other, full)
	}
	if compact, err := u.Expand(s.recordings[name], sibling); err == nil {
		full[name] = compact
	}
	return full[name]
}

// add takes in a file of the lock.
func (s *state) add(path string, content []byte) {
	if path == usual {
		s.usual = content
		return
	}
	dir, name := filepath.Split(path)
	switch filepath.ToSlash(filepath.Clean(dir)) {
	case recordings:
		if base, ok := strings.CutSuffix(name, ".json"); ok {
			s.recordings[base] = content
		}
	case declarations:
		if strings.HasSuffix(name, ".md") {
			s.declarations[name] = content
		}
	}
}

// repository is a git work tree.
type repository struct{ root string }

func open(dir string) (*repository, error) {
	r := &repository{root: dir}
	top, err := r.git("rev-parse", "--show-toplevel")
	if err != nil {
		return nil, fmt.Errorf("not in a git work tree: %w", err)
	}
	r.root = strings.TrimSpace(top)
	return r, nil
}

func (r *repository) git(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = r.root
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(errs.String()))
	}
	return string(out), nil
}

// before is the lock at the base. Without a base to be had everything is new:
// a first commit, or a shallow clone that ends at HEAD.
func (r *repository) before(base string) (s *state, about string, err error) {
	commit, err := r.base(base)
	if errors.Is(err, errNoBase) {
		return nil, err.Error() + "; everything is new", nil
	}
	if err != nil {
		return nil, "", err
	}
	list, err := r.git("ls-tree", "-r", "-z", "--name-only", commit, "--", recordings, declarations, usual)
	if err != nil {
		return nil, "", err
	}
	found := newState()
	for path := range strings.SplitSeq(strings.TrimSuffix(list, "\x00"), "\x00") {
		if path == "" {
			return nil, "there is no lock at " + short(commit) + "; everything is new", nil
		}
		content, err := r.git("show", commit+":"+path)
		if err != nil {
			return nil, "", err
		}
		found.add(path, []byte(content))
	}
	return &found, "compared with " + short(commit), found.writeOut()
}

func (r *repository) base(rev string) (string, error) {
	if rev != "" {
		commit, err := r.git("rev-parse", "--verify", "--quiet", rev+"^{commit}")
		if err != nil {
			return "", fmt.Errorf("--base %s is no revision here (a shallow clone lacks old ones: git fetch --unshallow)", rev)
		}
		return strings.TrimSpace(commit), nil
	}
	commit, err := r.git("rev-parse", "--verify", "--quiet", "HEAD^1^{commit}")
	if err != nil {
		return "", fmt.Errorf("%w: HEAD has no parent in this clone", errNoBase)
	}
	return strings.TrimSpace(commit), nil
}

func short(commit string) string { return commit[:min(12, len(commit))] }

// now is the lock as it stands in the work tree.
func (r *repository) now() (state, error) {
	s := newState()
	for _, dir := range [...]string{recordings, declarations} {
		files, err := os.ReadDir(filepath.Join(r.root, dir))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return s, err
		}
		for _, f := range files {
			content, err := os.ReadFile(filepath.Join(r.root, dir, f.Name()))
			if err != nil {
				return s, err
			}
			s.add(dir+"/"+f.Name(), content)
		}
	}
	table, err := os.ReadFile(filepath.Join(r.root, usual))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	s.usual = table
	return s, s.writeOut()
}
