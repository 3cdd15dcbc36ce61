package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// groups are the stretches in which recordings differ. Equal ones are one group,
// so that a change that shows in fifty recordings is read once.
type groups struct{ all []*group }

type group struct {
	key        string   // what went and what came
	stretch    []string // as the first recording shows it
	recordings []string
}

// add takes in how one recording differs, as package difference tells it.
func (g *groups) add(recording string, diff []string) {
	for len(diff) > 0 {
		n := 1
		for n < len(diff) && !strings.HasPrefix(diff[n], "@@") {
			n++
		}
		for _, lines := range pairs(diff[:n]) {
			g.stretch(recording, lines)
		}
		diff = diff[n:]
	}
}

// pairs cuts a stretch in which as many lines came as went into one for each
// line, because others may have only some of them.
func pairs(stretch []string) [][]string {
	var went, came []string
	for _, line := range stretch {
		switch {
		case strings.HasPrefix(line, "- "):
			went = append(went, line)
		case strings.HasPrefix(line, "+ "):
			came = append(came, line)
		}
	}
	if len(went) < 2 || len(went) != len(came) {
		return [][]string{stretch}
	}
	var out [][]string
	for i := range went {
		out = append(out, []string{stretch[0], went[i], came[i]})
	}
	return out
}

func (g *groups) stretch(recording string, lines []string) {
	key := changes(lines)
	i := slices.IndexFunc(g.all, func(o *group) bool { return o.key == key })
	if i < 0 {
		i = len(g.all)
		g.all = append(g.all, &group{key: key, stretch: lines})
	}
	if of := g.all[i]; len(of.recordings) == 0 || of.recordings[len(of.recordings)-1] != recording {
		of.recordings = append(of.recordings, recording)
	}
}

// changes are the lines that went and that came, wherever they stand.
func changes(stretch []string) string {
	var b strings.Builder
	for _, line := range stretch {
		if strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "+ ") {
			b.WriteString(line[:2] + strings.TrimSuffix(strings.TrimSpace(line[2:]), ",") + "\n")
		}
	}
	return b.String()
}

// What is shown unless everything is asked for.
const (
	shownLines = 60
	shownNames = 8
)

// print shows what most recordings share first.
func (g *groups) print(w io.Writer, full bool) {
	slices.SortStableFunc(g.all, func(a, b *group) int { return cmp.Compare(len(b.recordings), len(a.recordings)) })
	lines := 0
	for i, of := range g.all {
		if lines > shownLines && !full {
			fmt.Fprintf(w, "\n… %d more differences (-full shows them)\n", len(g.all)-i)
			return
		}
		lines += len(of.stretch)
		fmt.Fprintf(w, "\n%s:\n", of.where(full))
		for n, line := range of.stretch {
			if n == shownLines && !full {
				fmt.Fprintf(w, "    … %d more lines (-full shows them)\n", len(of.stretch)-n)
				break
			}
			fmt.Fprintf(w, "    %s\n", line)
		}
	}
}

func (g *group) where(full bool) string {
	names := g.recordings
	if len(names) == 1 {
		return "in " + names[0]
	}
	more := ""
	if len(names) > shownNames && !full {
		more = fmt.Sprintf(" and %d more", len(names)-shownNames)
		names = names[:shownNames]
	}
	return fmt.Sprintf("in %d recordings the same, as in %s%s", len(g.recordings), strings.Join(names, ", "), more)
}
