package messages

import (
	"strconv"

	"rubicon/internal/wire/jsonscan"
)

// writer writes JSON in the order in which it is told to. It sets the commas.
type writer struct{ b []byte }

func (w *writer) next() {
	if n := len(w.b); n > 0 && w.b[n-1] != '{' && w.b[n-1] != '[' && w.b[n-1] != ':' {
		w.b = append(w.b, ',')
	}
}

// key begins a member.
func (w *writer) key(name string) *writer {
	w.next()
	w.b = append(jsonscan.AppendString(w.b, name), ':')
	return w
}

// open begins an object or an array, as a value or an element.
func (w *writer) open(c byte) {
	w.next()
	w.b = append(w.b, c)
}

func (w *writer) close(c byte) { w.b = append(w.b, c) }

func (w *writer) text(s string) {
	w.next()
	w.b = jsonscan.AppendString(w.b, s)
}

func (w *writer) raw(v []byte) {
	w.next()
	w.b = append(w.b, v...)
}

func (w *writer) int(n int64) {
	w.next()
	w.b = strconv.AppendInt(w.b, n, 10)
}

func (w *writer) word(s string) {
	w.next()
	w.b = append(w.b, s...)
}
