package jsonscan

import (
	"encoding/binary"
	"math/bits"
)

// MaxDepth is how deep arrays and objects may nest; deeper documents are invalid. It bounds the stack.
const MaxDepth = 1000

// Scanners take the offset of a token's first byte and return the offset behind it. A negative result is the complement of
// the offset where the input stops being JSON: one int carries both, which keeps the recursion cheap.

// Valid reports whether b is one JSON value with nothing but white space around it.
func Valid(b []byte) bool { return check(b) < 0 }

// check returns the offset of the first byte that makes b invalid, -1 if there is none.
func check(b []byte) int {
	end := value(b, space(b, 0), 0)
	if end < 0 {
		return ^end
	}
	if end = space(b, end); end < len(b) {
		return end
	}
	return -1
}

// value scans any value that is nested in depth containers.
func value(b []byte, i, depth int) int {
	if i >= len(b) {
		return ^i
	}
	switch c := b[i]; {
	case c == '"':
		return text(b, i)
	case c == '{':
		return object(b, i, depth)
	case c == '[':
		return array(b, i, depth)
	case c == '-' || isDigit(c):
		return number(b, i)
	case c == 't':
		return literal(b, i, "true")
	case c == 'f':
		return literal(b, i, "false")
	case c == 'n':
		return literal(b, i, "null")
	}
	return ^i
}

func object(b []byte, i, depth int) int {
	if depth >= MaxDepth {
		return ^i
	}
	if i = space(b, i+1); i < len(b) && b[i] == '}' {
		return i + 1
	}
	for {
		if i = key(b, i); i < 0 {
			return i
		}
		if i = colon(b, i); i < 0 {
			return i
		}
		if i = value(b, i, depth+1); i < 0 {
			return i
		}
		if i = space(b, i); i >= len(b) {
			return ^i
		}
		switch b[i] {
		case ',':
			i = space(b, i+1)
		case '}':
			return i + 1
		default:
			return ^i
		}
	}
}

func array(b []byte, i, depth int) int {
	if depth >= MaxDepth {
		return ^i
	}
	if i = space(b, i+1); i < len(b) && b[i] == ']' {
		return i + 1
	}
	for {
		if i = value(b, i, depth+1); i < 0 {
			return i
		}
		if i = space(b, i); i >= len(b) {
			return ^i
		}
		switch b[i] {
		case ',':
			i = space(b, i+1)
		case ']':
			return i + 1
		default:
			return ^i
		}
	}
}

// key scans a member's key.
func key(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return ^i
	}
	return text(b, i)
}

// colon scans what stands between a key and its value.
func colon(b []byte, i int) int {
	if i = space(b, i); i >= len(b) || b[i] != ':' {
		return ^i
	}
	return space(b, i+1)
}

// text scans a string, its quotes included.
func text(b []byte, i int) int { return textFrom(b, plain(b, i+1)) }

// textFrom scans the rest of a string from the first byte that is not plain.
func textFrom(b []byte, i int) int {
	for ; ; i = plain(b, i) {
		if i >= len(b) {
			return ^i
		}
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			if i = escape(b, i); i < 0 {
				return i
			}
		default:
			return ^i
		}
	}
}

// plain skips bytes that mean themselves inside a string: all but quotes, backslashes and control characters.
func plain(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		if m := special(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for i < len(b) && b[i] >= ' ' && b[i] != '"' && b[i] != '\\' {
		i++
	}
	return i
}

// special marks the high bit of the bytes of x that are not plain. Borrows may also mark bytes above such a byte, so only the
// lowest mark is exact, which is all that plain needs.
func special(x uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	quote := x ^ ones*'"'
	slash := x ^ ones*'\\'
	return ((x-ones*' ')&^x | (quote-ones)&^quote | (slash-ones)&^slash) & highs
}

func escape(b []byte, i int) int {
	if i++; i >= len(b) {
		return ^i
	}
	switch b[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1
	case 'u':
		for end := i + 4; i < end; {
			if i++; i >= len(b) || hex(b[i]) < 0 {
				return ^i
			}
		}
		return i + 1
	}
	return ^i
}

func number(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	switch {
	case i < len(b) && b[i] == '0':
		i++
	default:
		if i = digits(b, i); i < 0 {
			return i
		}
	}
	if i < len(b) && b[i] == '.' {
		if i = digits(b, i+1); i < 0 {
			return i
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		return digits(b, i)
	}
	return i
}

// digits scans one digit or more.
func digits(b []byte, i int) int {
	start := i
	for i < len(b) && isDigit(b[i]) {
		i++
	}
	if i == start {
		return ^i
	}
	return i
}

func literal(b []byte, i int, word string) int {
	for k := range len(word) {
		if i+k >= len(b) || b[i+k] != word[k] {
			return ^(i + k)
		}
	}
	return i + len(word)
}

// space skips white space.
func space(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

func isDigit(c byte) bool { return c-'0' <= 9 }

// hex is the value of a hexadecimal digit, negative for other bytes.
func hex(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}
