package jsonscan

import (
	"fmt"
	"strings"
)

// Edit is one change to a top-level member. A nil Value deletes the member.
type Edit struct {
	Key   string
	Value []byte
}

// Set returns body with top-level members replaced in place, absent ones added as first members, in the order of edits,
// and all other bytes untouched. Every occurrence of an edited key is changed, however it is escaped: a reader that takes
// the last one must not see another value. Of two edits of one key the last counts. A deleted member takes one comma and
// the white space between the two with it.
// body must be a valid object and each value valid JSON, else an error. The result never aliases body.
func Set(body []byte, edits ...Edit) ([]byte, error) {
	for i := range edits {
		if edits[i].Value != nil && !Valid(edits[i].Value) {
			return nil, fmt.Errorf("jsonscan: set %q: the new value is not JSON", strings.Clone(edits[i].Key))
		}
	}
	// Room on the stack for the usual few changes: the output is then the only allocation. What keeps it there is that
	// plans travel by value and cuts hold indices, no pointers.
	var room [16]cut
	p := plan{cuts: room[:0], lead: -1}
	m := Object(body)
	for m.Next() {
		p = p.member(&m, edits)
	}
	if err := m.Err(); err != nil {
		return nil, err
	}
	return p.apply(body, edits), nil
}

// cut replaces body[from:to] with the value of an edit, which is nil for a deletion.
type cut struct{ from, to, edit int }

type plan struct {
	cuts []cut // in order of offsets, without overlap
	kept bool  // a member that stays was met
	lead int   // index of a deletion that waits to learn where the next member starts, or -1
}

// member plans what happens to the current member.
func (p plan) member(m *Members, edits []Edit) plan {
	if p.lead >= 0 {
		p.cuts[p.lead].to = m.keyStart
		p.lead = -1
	}
	k := find(edits, m.Key())
	switch {
	case k < 0:
		p.kept = true
	case edits[k].Value != nil:
		p.kept = true
		p.cuts = append(p.cuts, cut{m.start, m.end, k})
	case p.kept:
		p.cuts = append(p.cuts, cut{m.comma, m.end, k})
	default:
		// Nothing before it stays, so the comma to go is the one behind it, if any.
		p.lead = len(p.cuts)
		p.cuts = append(p.cuts, cut{m.keyStart, m.end, k})
	}
	return p
}

// find returns the last edit of a key, -1 if there is none.
func find(edits []Edit, key []byte) int {
	for k := len(edits) - 1; k >= 0; k-- {
		if edits[k].Key == string(key) {
			return k
		}
	}
	return -1
}

func (p plan) apply(body []byte, edits []Edit) []byte {
	size := len(body)
	for _, c := range p.cuts {
		size += len(edits[c.edit].Value) - (c.to - c.from)
	}
	for i := range edits {
		if p.adds(edits, i) {
			size += 6*len(edits[i].Key) + len(`"":,`) + len(edits[i].Value)
		}
	}
	at := space(body, 0) + 1 // behind the opening brace
	out := append(make([]byte, 0, size), body[:at]...)
	out = p.appendAdded(out, edits)
	for _, c := range p.cuts {
		out = append(out, body[at:c.from]...)
		out = append(out, edits[c.edit].Value...)
		at = c.to
	}
	return append(out, body[at:]...)
}

func (p plan) appendAdded(out []byte, edits []Edit) []byte {
	first := true
	for i := range edits {
		if !p.adds(edits, i) {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = AppendString(out, edits[i].Key)
		out = append(out, ':')
		out = append(out, edits[i].Value...)
	}
	if !first && p.kept {
		out = append(out, ',')
	}
	return out
}

// adds reports whether edit i makes a new member: it has a value, its key is absent and no later edit overrides it.
func (p plan) adds(edits []Edit, i int) bool {
	if edits[i].Value == nil || find(edits[i+1:], []byte(edits[i].Key)) >= 0 {
		return false
	}
	for _, c := range p.cuts {
		if c.edit == i {
			return false
		}
	}
	return true
}
