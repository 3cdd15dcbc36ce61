// Package body reads the top-level members of a request body that the gateway
// knows, and refuses a body in which they are not what they seem.
//
// It is not for members nobody here reads or writes: those travel untouched,
// whatever they are.
//
// Invariant (docs/contract.md#s10-members): a known member is read only if every JSON
// reader upstream sees the same value: it occurs once, in exact case, with its
// right type. null counts as absent.
package body

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/jsonscan"
)

// Type is a set of JSON types that a member may have.
type Type uint8

// The types. They can be combined.
const (
	String Type = 1 << iota
	Bool
	Count // a positive integer
	Array
	Object
)

// Key is a member that the gateway knows.
type Key struct {
	Name     string
	Type     Type
	Required bool
}

// Members are the known members of one body, raw, in the order of the keys.
type Members struct {
	keys []Key
	raw  [][]byte
}

// Read reads the known members of body, which must be an object. keys are not
// copied and not changed.
func Read(body []byte, keys []Key) (Members, *fault.Error) {
	if !utf8.Valid(body) {
		return Members{}, fault.New(fault.InvalidJSON, "The request body is not valid UTF-8.")
	}
	return read(body, keys, "")
}

// Unreadable says why what is no JSON object was not read; thing names it.
func Unreadable(thing string, err error) *fault.Error {
	var syntax *jsonscan.SyntaxError
	switch {
	case errors.Is(err, jsonscan.ErrNotObject):
		return fault.Newf(fault.InvalidJSON, "The %s must be one JSON object.", thing).WithCause(err)
	case errors.As(err, &syntax) && syntax.TooDeep:
		return fault.Newf(fault.InvalidJSON, "The %s nests arrays and objects more than %d deep.", thing, jsonscan.MaxDepth).WithCause(err)
	}
	return fault.Newf(fault.InvalidJSON, "The %s is not valid JSON.", thing).WithCause(err)
}

// Nested reads the known members of an object inside a body; path names it in
// errors. A nil object has no members.
func Nested(object []byte, keys []Key, path string) (Members, *fault.Error) {
	if object == nil {
		return Members{keys: keys, raw: make([][]byte, len(keys))}, nil
	}
	return read(object, keys, path+".")
}

func read(body []byte, keys []Key, path string) (Members, *fault.Error) {
	out := Members{keys: keys, raw: make([][]byte, len(keys))}
	met := make([]bool, len(keys))
	var bad *fault.Error
	m := jsonscan.Object(body)
	for m.Next() {
		k := find(keys, m.Key())
		if k < 0 {
			continue
		}
		if problem := check(keys[k], m.Key(), m.Value(), met[k]); problem != "" && bad == nil {
			bad = fault.New(fault.InvalidRequest, problem).WithParam(path + keys[k].Name)
		}
		met[k] = true
		if jsonscan.KindOf(m.Value()) != jsonscan.KindNull {
			out.raw[k] = m.Value()
		}
	}
	if err := m.Err(); err != nil {
		return out, Unreadable("request body", err)
	}
	return out, out.complete(bad, path)
}

// complete adds what is missing to what is wrong.
func (m Members) complete(bad *fault.Error, path string) *fault.Error {
	for i, k := range m.keys {
		if bad == nil && k.Required && m.raw[i] == nil {
			bad = fault.Newf(fault.InvalidRequest, "The parameter '%s' is required.", k.Name).WithParam(path + k.Name)
		}
	}
	return bad
}

// find also finds a key that only some readers take for the known one.
func find(keys []Key, name []byte) int {
	for i := range keys {
		if len(name) < 4*len(keys[i].Name) && (string(name) == keys[i].Name || bytes.EqualFold(name, []byte(keys[i].Name))) {
			return i
		}
	}
	return -1
}

// check says what is wrong with a member, "" if nothing.
func check(k Key, name, value []byte, again bool) string {
	switch {
	case string(name) != k.Name:
		return "The parameter '" + k.Name + "' must be written in exactly this case."
	case again:
		return "The parameter '" + k.Name + "' is given more than once."
	case !k.Type.holds(value):
		return "The parameter '" + k.Name + "' must be " + k.Type.String() + "."
	}
	return ""
}

func (t Type) holds(raw []byte) bool {
	switch jsonscan.KindOf(raw) {
	case jsonscan.KindNull:
		return true
	case jsonscan.KindString:
		return t&String != 0
	case jsonscan.KindBool:
		return t&Bool != 0
	case jsonscan.KindArray:
		return t&Array != 0
	case jsonscan.KindObject:
		return t&Object != 0
	case jsonscan.KindNumber:
		n, ok := jsonscan.Int(raw)
		return t&Count != 0 && ok && n > 0
	}
	return false
}

func (t Type) String() string {
	words := [...]string{"a string", "a boolean", "a positive integer", "an array", "an object"}
	var named []string
	for i, w := range words {
		if t&(1<<i) != 0 {
			named = append(named, w)
		}
	}
	return strings.Join(named, " or ")
}

// Raw is the member's value, nil if it is absent or null. name must be one of
// the keys.
func (m Members) Raw(name string) []byte {
	for i := range m.keys {
		if m.keys[i].Name == name {
			return m.raw[i]
		}
	}
	panic("body: " + name + " is none of the keys")
}

// Text is a string member's text, "" if it is absent or no string.
func (m Members) Text(name string) string {
	s, _ := jsonscan.Text(m.Raw(name))
	return s
}

// True reports whether a boolean member is true.
func (m Members) True(name string) bool {
	v, _ := jsonscan.Bool(m.Raw(name))
	return v
}

// Int is a count member's value, 0 if it is absent.
func (m Members) Int(name string) int64 {
	n, _ := jsonscan.Int(m.Raw(name))
	return n
}
