package chat

import (
	"strconv"

	"rubicon/internal/wire/jsonscan"
)

// writer appends JSON. It sets commas by what stands in front, so that members
// and elements can be written one after the other.
type writer struct{ b []byte }

func (w *writer) open(bracket byte) { w.b = append(w.b, bracket) }
func (w *writer) shut(bracket byte) { w.b = append(w.b, bracket) }

// element makes room for an element of an array.
func (w *writer) element() {
	if n := len(w.b); n > 0 && w.b[n-1] != '[' {
		w.b = append(w.b, ',')
	}
}

// key begins a member. Names are written as they are where they are plain.
func (w *writer) key(name string) {
	if n := len(w.b); n > 0 && w.b[n-1] != '{' {
		w.b = append(w.b, ',')
	}
	w.b = append(jsonscan.AppendString(w.b, name), ':')
}

func (w *writer) text(name, value string) {
	w.key(name)
	w.b = jsonscan.AppendString(w.b, value)
}

func (w *writer) raw(name string, value []byte) {
	w.key(name)
	w.b = append(w.b, value...)
}

func (w *writer) int(name string, value int64) {
	w.key(name)
	w.b = strconv.AppendInt(w.b, value, 10)
}

func (w *writer) bool(name string, value bool) {
	w.key(name)
	w.b = strconv.AppendBool(w.b, value)
}

// object and array begin a member that is one.
func (w *writer) object(name string) { w.key(name); w.open('{') }
func (w *writer) array(name string)  { w.key(name); w.open('[') }
