package jsonscan

import "math"

// Kind is the type of a JSON value.
type Kind uint8

// The kinds. KindInvalid is what no JSON value starts like.
const (
	KindInvalid Kind = iota
	KindNull
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject
)

// Empty reports whether a checked value has nothing in it: null, "", [] or {}.
func Empty(raw []byte) bool {
	switch raw[0] {
	case 'n':
		return true
	case '"':
		return len(raw) == 2
	case '[', '{':
		return space(raw, 1) == len(raw)-1
	}
	return false
}

// KindOf tells the kind of a value by its first byte; it does not check the rest. Leading white space is skipped.
func KindOf(raw []byte) Kind {
	i := space(raw, 0)
	if i >= len(raw) {
		return KindInvalid
	}
	switch c := raw[i]; {
	case c == '"':
		return KindString
	case c == '{':
		return KindObject
	case c == '[':
		return KindArray
	case c == '-' || isDigit(c):
		return KindNumber
	case c == 't' || c == 'f':
		return KindBool
	case c == 'n':
		return KindNull
	}
	return KindInvalid
}

// Bool reads true or false; ok is false if raw is neither.
func Bool(raw []byte) (value, ok bool) {
	value = string(raw) == "true"
	return value, value || string(raw) == "false"
}

// Int reads an integer. Forms like 1e3 and 10.0 count if they are exactly integral; false if raw is no such number or
// does not fit.
func Int(raw []byte) (int64, bool) {
	if KindOf(raw) != KindNumber || number(raw, 0) != len(raw) {
		return 0, false
	}
	negative := raw[0] == '-'
	if negative {
		raw = raw[1:]
	}
	abs, ok := integer(raw)
	switch {
	case !ok:
		return 0, false
	case negative && abs <= -math.MinInt64:
		return -int64(abs), true
	case !negative && abs <= math.MaxInt64:
		return int64(abs), true
	}
	return 0, false
}

// integer evaluates a valid number without its sign: its digits, with the point moved by the exponent. Digits behind the
// point must be zero; places before it that have no digit are.
func integer(raw []byte) (uint64, bool) {
	mantissa, point := split(raw)
	var n uint64
	place := 0
	for _, c := range mantissa {
		switch {
		case c == '.':
			continue
		case place >= point && c != '0':
			return 0, false
		case place < point:
			if n > (math.MaxUint64-9)/10 {
				return 0, false
			}
			n = n*10 + uint64(c-'0')
		}
		place++
	}
	for ; n != 0 && place < point; place++ {
		if n > math.MaxUint64/10 {
			return 0, false
		}
		n *= 10
	}
	return n, true
}

// split separates the mantissa from the exponent and tells before which digit of the mantissa the point belongs.
func split(raw []byte) (mantissa []byte, point int) {
	end := digits(raw, 0)
	point = end
	if end < len(raw) && raw[end] == '.' {
		end = digits(raw, end+1)
	}
	return raw[:end], point + exponent(raw[end:])
}

// exponent reads e12, E+12, e-12 or nothing. It saturates far beyond what any mantissa in memory could make up for.
func exponent(raw []byte) int {
	if len(raw) == 0 {
		return 0
	}
	n := 0
	for _, c := range raw[1:] {
		if isDigit(c) && n < math.MaxInt/100 {
			n = n*10 + int(c-'0')
		}
	}
	if raw[1] == '-' {
		return -n
	}
	return n
}
