package form

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// What stands for a usual object in a shortened text: {"like": NAME, then the
// members that differ}. "without" names members that the usual one has and this
// one lacks. In a list {"again": N} repeats what is written before it N times.
//
// A recording over WebSocket has a sibling, the one over HTTP: there the name
// overHTTP means the sibling's object in the same place.
const (
	keyLike    = `"like"`
	keyWithout = `"without"`
	keyAgain   = `"again"`

	overHTTP = "over HTTP"
)

// What the table says of members that have no usual value.
const (
	always = `"…"` // shown in each recording
	maybe  = `"?"` // shown where it is there; most objects lack it
)

// fewest is how many members an object must have in common with a usual one to
// be written as one.
const fewest = 2

//go:embed usual.json
var usualJSON []byte

// Usual is a table of usual objects.
type Usual struct {
	names   []string
	objects map[string]*value
}

// Standard is the table that recordings of this revision are written with.
func Standard() *Usual {
	u, err := ParseUsual(usualJSON)
	if err != nil {
		panic(err) // it is part of the program, and a test reads it
	}
	return u
}

// Names are those of the usual objects.
func (u *Usual) Names() []string { return u.names }

// ParseUsual reads a table: an object of objects, each under its name. Where
// several fit, the one that leaves the shortest text is taken, of equals the
// first.
func ParseUsual(data []byte) (*Usual, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return nil, fmt.Errorf("the table of usual objects: %w", err)
	}
	u := &Usual{objects: map[string]*value{}}
	for _, m := range read(compact.Bytes()).members {
		name := strings.Trim(m.key, `"`)
		switch {
		case name == overHTTP:
			return nil, fmt.Errorf("%q is the name of siblings", name)
		case m.kind != '{':
			return nil, fmt.Errorf("the usual %s is no object", name)
		case u.objects[name] != nil:
			return nil, fmt.Errorf("two usual objects are called %s", name)
		}
		u.names, u.objects[name] = append(u.names, name), m.value
	}
	return u, nil
}

// Shorten takes compact JSON and gives compact JSON in which usual objects,
// repeats and what the sibling (nil: none) holds in the same place are short. An
// object that already looks like a short form is an error: it could not be told
// from one.
func (u *Usual) Shorten(compact, sibling []byte) ([]byte, error) {
	v, err := u.shorten(read(compact), read(sibling))
	if err != nil {
		return nil, err
	}
	return []byte(v.raw), nil
}

func (u *Usual) shorten(v, sibling *value) (*value, error) {
	switch v.kind {
	case '{':
		return u.shortenObject(v, sibling)
	case '[':
		return u.shortenList(v, sibling)
	}
	return v, nil
}

func (u *Usual) shortenObject(v, sibling *value) (*value, error) {
	if v.get(keyLike) != nil || v.get(keyAgain) != nil {
		return nil, fmt.Errorf("%.80s has a member that is kept for usual objects and repeats", v.raw)
	}
	plain := make([]member, len(v.members))
	for i, m := range v.members {
		short, err := u.shorten(m.value, sibling.get(m.key))
		if err != nil {
			return nil, err
		}
		plain[i] = member{m.key, short}
	}
	best := object(plain)
	if sibling != nil && sibling.kind == '{' {
		if like := likeness(overHTTP, sibling, v, plain); like != nil && len(like.raw) < len(best.raw) {
			best = like
		}
	}
	for _, name := range u.names {
		if like := likeness(name, u.objects[name], v, plain); like != nil && len(like.raw) < len(best.raw) {
			best = like
		}
	}
	return best, nil
}

// likeness writes v as a usual object with differences; nil where it is none:
// where v has other members, or the same ones in another order. plain holds v's
// members, each shortened.
func likeness(name string, usual, v *value, plain []member) *value {
	differ := []member{{keyLike, text(name)}}
	var without []*value
	i, common := 0, 0
	for _, m := range usual.members {
		switch {
		case i == len(v.members) || v.members[i].key != m.key:
			if m.raw != maybe {
				without = append(without, &value{raw: m.key})
			}
			continue
		case v.members[i].raw != m.raw || m.raw == always || m.raw == maybe:
			differ = append(differ, plain[i])
		default:
			common++
		}
		i++
	}
	if i < len(v.members) || common < fewest {
		return nil
	}
	if len(without) > 0 {
		differ = append(differ, member{keyWithout, list(without)})
	}
	return object(differ)
}

func (u *Usual) shortenList(v, sibling *value) (*value, error) {
	var items []*value
	again := 0 // how often the last element of items comes once more
	repeat := func() {
		if again > 0 {
			items = append(items, object([]member{{keyAgain, &value{raw: strconv.Itoa(again)}}}))
		}
		again = 0
	}
	last := ""
	for i, item := range v.items {
		short, err := u.shorten(item, sibling.item(i))
		if err != nil {
			return nil, err
		}
		if short.kind == '{' && short.raw == last {
			again++
			continue
		}
		repeat()
		items, last = append(items, short), short.raw
	}
	repeat()
	return list(items), nil
}

// Expand undoes Shorten: JSON in whatever layout in, compact JSON out. Text that
// was never shortened passes as it is.
func (u *Usual) Expand(data, sibling []byte) ([]byte, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return nil, err
	}
	v, err := u.expand(read(compact.Bytes()), read(sibling))
	if err != nil {
		return nil, err
	}
	return []byte(v.raw), nil
}

func (u *Usual) expand(v, sibling *value) (*value, error) {
	switch v.kind {
	case '{':
		return u.expandObject(v, sibling)
	case '[':
		return u.expandList(v, sibling)
	}
	return v, nil
}

func (u *Usual) expandObject(v, sibling *value) (*value, error) {
	members := make([]member, len(v.members))
	for i, m := range v.members {
		full, err := u.expand(m.value, sibling.get(m.key))
		if err != nil {
			return nil, err
		}
		members[i] = member{m.key, full}
	}
	whole := object(members)
	like := whole.get(keyLike)
	if like == nil {
		return whole, nil
	}
	name := strings.Trim(like.raw, `"`)
	usual := u.objects[name]
	if name == overHTTP {
		usual = sibling
	}
	if usual == nil || usual.kind != '{' {
		return nil, fmt.Errorf("there is no usual object %s", like.raw)
	}
	return applied(usual, whole)
}

// applied is the usual object with the differences of v.
func applied(usual, v *value) (*value, error) {
	var without []string
	if w := v.get(keyWithout); w != nil {
		for _, item := range w.items {
			without = append(without, item.raw)
		}
	}
	var out []member
	used := 1 // of v's members: "like"
	for _, m := range usual.members {
		if slices.Contains(without, m.key) {
			continue
		}
		other := v.get(m.key)
		switch {
		case other != nil:
			m.value = other
			used++
		case m.raw == maybe:
			continue
		case m.raw == always:
			return nil, fmt.Errorf("%.80s does not say %s", v.raw, m.key)
		}
		out = append(out, m)
	}
	if without != nil {
		used++
	}
	if used != len(v.members) {
		return nil, fmt.Errorf("%.80s has a member that the usual object lacks", v.raw)
	}
	return object(out), nil
}

func (u *Usual) expandList(v, sibling *value) (*value, error) {
	var items []*value
	var last *value
	for _, item := range v.items {
		times := 1
		if n := item.get(keyAgain); n != nil {
			var err error
			if times, err = strconv.Atoi(n.raw); err != nil || last == nil || times < 1 {
				return nil, errors.New("a repeat of nothing")
			}
			item = last
		}
		for range times {
			full, err := u.expand(item, sibling.item(len(items)))
			if err != nil {
				return nil, err
			}
			items = append(items, full)
		}
		last = item
	}
	return list(items), nil
}

// Write gives a recording's compact JSON the form in which it is kept. sibling is
// the compact JSON of the recording over HTTP, nil for those that have none.
func Write(compact, sibling []byte) ([]byte, error) {
	short, err := Standard().Shorten(compact, sibling)
	if err != nil {
		return nil, err
	}
	return Layout(short), nil
}
