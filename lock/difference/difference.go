// Package difference tells people how two recordings differ.
//
// It is for reading; nothing is decided by it. Recordings are JSON in a layout
// where a fact has a line, so lines are compared.
package difference

import (
	"fmt"
	"strings"
)

const (
	around = 2   // equal lines that are shown around a difference
	most   = 200 // of a long line
	before = 60  // of it that stands before what differs
)

// Of gives the lines that differ, each stretch with the place where it stands.
func Of(was, is []byte) []string {
	a, b := lines(was), lines(is)
	var out []string
	shown := 0 // lines of a that were written or passed
	for _, h := range stretches(a, b) {
		from := max(h.a-around, shown)
		if from > shown || len(out) == 0 {
			out = append(out, fmt.Sprintf("@@ line %d: %s", h.b+1, place(b, h.b)))
		}
		for i := from; i < h.a; i++ {
			out = append(out, "  "+clip(a[i], 0))
		}
		out = append(out, changed("- ", a[h.a:h.aEnd], b[h.b:h.bEnd])...)
		out = append(out, changed("+ ", b[h.b:h.bEnd], a[h.a:h.aEnd])...)
		shown = min(h.aEnd+around, h.next)
		for i := h.aEnd; i < shown; i++ {
			out = append(out, "  "+clip(a[i], 0))
		}
	}
	return out
}

func lines(b []byte) []string {
	if len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

// changed writes lines of one side; a long line shows what differs from its
// counterpart.
func changed(mark string, side, other []string) (out []string) {
	for i, line := range side {
		same := 0
		if len(side) == len(other) {
			for same < len(line) && same < len(other[i]) && line[same] == other[i][same] {
				same++
			}
		}
		out = append(out, mark+clip(line, same))
	}
	return out
}

// clip shows the part of a long line around a place.
func clip(line string, at int) string {
	if len(line) <= most {
		return line
	}
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	from := min(max(at-before, 0), len(line)-most)
	out := strings.ToValidUTF8(line[from:from+most], "")
	if from > len(indent) {
		out = indent + "…" + out
	}
	if from+most < len(line) {
		out += "…"
	}
	return out
}

// place is the way to a line through the objects around it.
func place(all []string, at int) string {
	if at >= len(all) {
		return "the end"
	}
	var way []string
	depth := indent(all[at])
	for i := at; i >= 0; i-- {
		if d := indent(all[i]); d < depth || i == at {
			depth = d
			if key, _, ok := strings.Cut(strings.TrimSpace(all[i]), `":`); ok && strings.HasPrefix(key, `"`) {
				way = append([]string{key[1:]}, way...)
			}
		}
	}
	return strings.Join(way, " › ")
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
