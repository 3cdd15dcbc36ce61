package jsonscan

import (
	"errors"
	"fmt"
)

// What Err returns besides a *SyntaxError.
var (
	// ErrNotObject and ErrNotArray: the input is valid JSON, but of another kind.
	ErrNotObject = errors.New("jsonscan: not an object")
	ErrNotArray  = errors.New("jsonscan: not an array")
	// ErrUnfinished: the walk was asked for its verdict before Next had returned false.
	ErrUnfinished = errors.New("jsonscan: walk not finished")
)

// SyntaxError says where the input stops being JSON. It holds no part of the input.
type SyntaxError struct {
	Offset  int
	TooDeep bool // it may go on, but deeper than MaxDepth
}

func (e *SyntaxError) Error() string {
	if e.TooDeep {
		return fmt.Sprintf("jsonscan: deeper than %d levels at byte %d", MaxDepth, e.Offset)
	}
	return fmt.Sprintf("jsonscan: invalid JSON at byte %d", e.Offset)
}

// phase is how far a walk got.
type phase uint8

const (
	phaseFresh   phase = iota // before the first item
	phaseInside               // at an item
	phaseDone                 // clean end
	phaseInvalid              // syntax error at pos
	phaseOther                // the input is not of the kind to walk over
)

// cursor is what the walks over objects and arrays have in common.
type cursor struct {
	b          []byte
	pos        int // the next byte to read
	comma      int // the comma before the current item, -1 before the first
	start, end int // the current value
	phase      phase
}

func newCursor(b []byte, opening byte) cursor {
	i := space(b, 0)
	if i >= len(b) || b[i] != opening {
		return cursor{b: b, phase: phaseOther}
	}
	return cursor{b: b, pos: i + 1}
}

// advance moves pos to the first byte of the next item, which exists. It returns false at the end and on errors.
func (c *cursor) advance(closing byte) bool {
	if c.phase > phaseInside {
		return false
	}
	i := space(c.b, c.pos)
	switch {
	case i >= len(c.b):
		return c.fail(i)
	case c.b[i] == closing:
		return c.finish(i + 1)
	case c.phase == phaseFresh:
		c.phase, c.comma, c.pos = phaseInside, -1, i
	case c.b[i] == ',':
		c.comma, c.pos = i, space(c.b, i+1)
		return c.pos < len(c.b) || c.fail(c.pos)
	default:
		return c.fail(i)
	}
	return true
}

// take reads the value at i.
func (c *cursor) take(i int) bool {
	end := value(c.b, i, 1)
	if end < 0 {
		return c.fail(^end)
	}
	c.start, c.end, c.pos = i, end, end
	return true
}

func (c *cursor) finish(i int) bool {
	if i = space(c.b, i); i < len(c.b) {
		return c.fail(i)
	}
	c.phase = phaseDone
	return false
}

func (c *cursor) fail(i int) bool {
	c.phase, c.pos = phaseInvalid, i
	return false
}

func (c *cursor) err(other error) error {
	switch c.phase {
	case phaseDone:
		return nil
	case phaseInvalid:
		return syntaxError(c.b, c.pos)
	case phaseOther:
		if at := check(c.b); at >= 0 {
			return syntaxError(c.b, at)
		}
		return other
	}
	return ErrUnfinished
}

// syntaxError finds out why b could not be read on at a byte: a scanner returns
// an offset alone.
func syntaxError(b []byte, at int) error {
	e := &SyntaxError{Offset: at}
	if at >= len(b) || b[at] != '{' && b[at] != '[' {
		return e
	}
	depth := 0
	for i := 0; i < at; i++ {
		switch b[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			i = text(b, i) - 1 // it was read before
		}
	}
	e.TooDeep = depth >= MaxDepth
	return e
}

// Members walks the members of an object: m := Object(b); for m.Next() { m.Key(); m.Value() }; m.Err().
type Members struct {
	cursor
	keyStart, keyEnd int
	escaped          bool // the key holds escapes
}

// Object starts a walk over the members of the object b.
func Object(b []byte) Members { return Members{cursor: newCursor(b, '{')} }

// Next moves to the next member. It returns false at the end and at the first error.
func (m *Members) Next() bool {
	if !m.advance('}') {
		return false
	}
	if m.b[m.pos] != '"' {
		return m.fail(m.pos)
	}
	// Most keys end at the first byte that is not plain. Noticing it here spares Key a search.
	i := plain(m.b, m.pos+1)
	escaped := i < len(m.b) && m.b[i] == '\\'
	if i = textFrom(m.b, i); i < 0 {
		return m.fail(^i)
	}
	m.keyStart, m.keyEnd, m.escaped = m.pos, i, escaped
	if i = colon(m.b, i); i < 0 {
		return m.fail(^i)
	}
	return m.take(i)
}

// Key returns the current key with its escapes resolved, nil before the first Next. It aliases the input unless the key holds
// escapes; only then it allocates. Bytes that are not UTF-8 stay as they are.
func (m *Members) Key() []byte {
	if m.keyEnd == 0 {
		return nil
	}
	body := m.b[m.keyStart+1 : m.keyEnd-1]
	if !m.escaped {
		return body
	}
	return unescape(make([]byte, 0, len(body)), body)
}

// Value returns the current value, raw and fully checked, without surrounding white space. It aliases the input.
func (m *Members) Value() []byte { return m.b[m.start:m.end:m.end] }

// Err is nil only after Next returned false at a clean end with nothing but white space behind it.
func (m *Members) Err() error { return m.err(ErrNotObject) }

// Elements walks the elements of an array, as Members does for objects.
type Elements struct{ cursor }

// Array starts a walk over the elements of the array b.
func Array(b []byte) Elements { return Elements{newCursor(b, '[')} }

// Next moves to the next element. It returns false at the end and at the first error.
func (e *Elements) Next() bool { return e.advance(']') && e.take(e.pos) }

// Value returns the current element, raw and fully checked. It aliases the input.
func (e *Elements) Value() []byte { return e.b[e.start:e.end:e.end] }

// Err is nil only after Next returned false at a clean end with nothing but white space behind it.
func (e *Elements) Err() error { return e.err(ErrNotArray) }

// Get returns the first value at a path of object keys, nil if there is none. The value is checked, what follows it is not.
// Without a path it is b itself.
func Get(b []byte, path ...string) []byte {
	for _, want := range path {
		m := Object(b)
		for b = nil; b == nil && m.Next(); {
			if string(m.Key()) == want {
				b = m.Value()
			}
		}
		if b == nil {
			return nil
		}
	}
	return b
}
