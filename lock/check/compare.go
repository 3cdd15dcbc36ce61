package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"rubicon/lock/difference"
)

// report is what the comparison found.
type report struct {
	problems   []string
	declared   []string // changes that are announced, in words
	fresh      int      // new recordings
	same       int
	undeclared groups // how the recordings differ that nobody announced
	announced  groups // how the others differ
}

// compare is the whole rule. before is nil where there is no base.
func compare(before *state, now state) *report {
	r := &report{}
	new := &announced{}
	for _, file := range slices.Sorted(maps.Keys(now.declarations)) {
		d, err := parse(file, now.declarations[file])
		if err != nil {
			r.problem("%s: %v", file, err)
			continue
		}
		if before != nil && before.declarations[file] == nil {
			new.add(d)
		}
	}
	r.numbers(now)
	if before == nil {
		r.fresh = len(now.recordings)
		return r
	}
	changed := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(before.recordings)) {
		was, is := before.recordings[name], now.recordings[name]
		if bytes.Equal(was, is) && is != nil {
			r.same++
			continue
		}
		changed[name] = true
		r.changed(name, was, is, new.by(name))
	}
	for name := range now.recordings {
		if before.recordings[name] == nil {
			r.fresh++
		}
	}
	r.idle(new, changed, now)
	return r
}

func (r *report) changed(name string, was, is []byte, by string) {
	word := "changed"
	if is == nil {
		word = "is gone"
	}
	into := &r.undeclared
	if by != "" {
		r.declared = append(r.declared, fmt.Sprintf("%s %s, as %s says", name, word, by))
		into = &r.announced
	} else {
		r.problem("%s %s, and no new declaration names it", name, word)
	}
	if is != nil {
		into.add(name, difference.Of(was, is))
	}
}

// idle finds what new declarations name and what did not change.
func (r *report) idle(new *announced, changed map[string]bool, now state) {
	for _, d := range new.all {
		for _, name := range d.recordings {
			switch {
			case changed[name]:
			case now.recordings[name] != nil:
				r.problem("%s names %s, which did not change", d.file, name)
			default:
				r.problem("%s names %s, which there is not", d.file, name)
			}
		}
	}
}

// numbers: a number belongs to one declaration.
func (r *report) numbers(now state) {
	taken := map[string]string{}
	for _, file := range slices.Sorted(maps.Keys(now.declarations)) {
		number, _, _ := strings.Cut(file, "-")
		if other := taken[number]; other != "" {
			r.problem("%s and %s have the same number", other, file)
		}
		taken[number] = file
	}
}

func (r *report) problem(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

func (r *report) print(w io.Writer, about string, full bool) {
	fmt.Fprintf(w, "behaviour lock: %s: %d recordings unchanged, %d new, %d changed as declared\n", about, r.same, r.fresh, len(r.declared))
	for _, d := range r.declared {
		fmt.Fprintf(w, "  %s\n", d)
	}
	if full {
		r.announced.print(w, full)
	}
	if len(r.problems) == 0 {
		return
	}
	fmt.Fprintln(w)
	for _, p := range r.problems {
		fmt.Fprintf(w, "✗ %s\n", p)
	}
	r.undeclared.print(w, full)
	fmt.Fprintf(w, "\n%d problems. A change of behaviour needs a new lock/declarations/NNNN-title.md that says what changes and why, and names\nthe recordings that it changes, no others; lock/README.md shows the form. If the change was not meant, it is a bug.\n", len(r.problems))
}
