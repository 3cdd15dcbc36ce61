package form

import "bytes"

// width is how long a line may be before an object or list is broken.
const width = 180

// rows are the lists whose elements have a line each, however long it is: they
// are read from top to bottom, like a table.
var rows = map[string]bool{
	`"events"`: true, `"attempts"`: true, `"decisions"`: true, `"lines"`: true,
	`"money"`: true, `"transactions"`: true, `"upstream"`: true, `"channels"`: true,
}

// Layout breaks compact JSON into lines: what fits into the width stays on one
// line, so that a person can read it and a difference is a line or two.
func Layout(text []byte) []byte {
	l := &layouter{in: text, width: width}
	l.value(0, 0, false)
	return append(l.out, '\n')
}

type layouter struct {
	in    []byte
	at    int
	out   []byte
	width int
}

// value writes the next value; used is what stands before it on the line.
func (l *layouter) value(depth, used int, table bool) {
	open := l.in[l.at]
	if open != '{' && open != '[' {
		n := ScalarEnd(l.in[l.at:])
		l.out = append(l.out, l.in[l.at:l.at+n]...)
		l.at += n
		return
	}
	n := compoundEnd(l.in[l.at:])
	if line := spaced(l.in[l.at : l.at+n]); 2*depth+used+len(line) <= l.width {
		l.out = append(l.out, line...)
		l.at += n
		return
	}
	l.broken(depth, table)
}

func (l *layouter) broken(depth int, table bool) {
	open := l.in[l.at]
	l.out = append(l.out, open)
	l.at++
	for {
		l.newline(depth + 1)
		used, inside := 0, false
		if open == '{' {
			n := ScalarEnd(l.in[l.at:])
			l.out = append(append(l.out, l.in[l.at:l.at+n]...), ": "...)
			inside = rows[string(l.in[l.at:l.at+n])]
			l.at += n + 1
			used = n + 2
		}
		if open == '[' && table {
			used = -len(l.in) // fits
		}
		l.value(depth+1, used, inside)
		last := l.in[l.at] != ','
		if last {
			l.newline(depth)
		}
		l.out = append(l.out, l.in[l.at])
		l.at++
		if last {
			return
		}
	}
}

func (l *layouter) newline(depth int) {
	l.out = append(l.out, '\n')
	l.out = append(l.out, bytes.Repeat([]byte("  "), depth)...)
}

// spaced is a compact value with a space after each colon and comma.
func spaced(v []byte) []byte {
	out := make([]byte, 0, len(v)+len(v)/4)
	for len(v) > 0 {
		n := 1
		if v[0] == '"' {
			n = ScalarEnd(v)
		}
		out = append(out, v[:n]...)
		if v[0] == ':' || v[0] == ',' {
			out = append(out, ' ')
		}
		v = v[n:]
	}
	return out
}

// ScalarEnd is the length of the string, number or word at the start of compact JSON.
func ScalarEnd(v []byte) int {
	if v[0] != '"' {
		if n := bytes.IndexAny(v, ",]}:"); n >= 0 {
			return n
		}
		return len(v)
	}
	for i := 1; ; i++ {
		switch v[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// compoundEnd is the length of the object or list at the start.
func compoundEnd(v []byte) int {
	depth := 0
	for i := 0; ; i++ {
		switch v[i] {
		case '"':
			i += ScalarEnd(v[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
}
