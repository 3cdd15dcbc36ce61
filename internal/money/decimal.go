package money

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// errDecimal is deliberately without the text: what was to be parsed may have
// come from a secret that was put into the wrong place.
var errDecimal = errors.New(`not a decimal like "1.25" with at most 9 places`)

// parseDecimal reads sign and magnitude in billionths.
func parseDecimal(s string) (negative bool, magnitude uint64, err error) {
	digits := s
	if s != "" && (s[0] == '-' || s[0] == '+') {
		negative, digits = s[0] == '-', s[1:]
	}
	whole, fraction, point := strings.Cut(digits, ".")
	if whole == "" || point && fraction == "" || len(fraction) > places {
		return false, 0, errDecimal
	}
	if !allDigits(whole) || !allDigits(fraction) {
		return false, 0, errDecimal
	}
	w, err := strconv.ParseUint(whole, 10, 64)
	if err != nil {
		return false, 0, ErrOverflow
	}
	f, err := strconv.ParseUint(fraction+strings.Repeat("0", places-len(fraction)), 10, 64)
	if err != nil {
		return false, 0, errDecimal
	}
	hi, lo := bits.Mul64(w, scale)
	magnitude, carry := bits.Add64(lo, f, 0)
	if hi != 0 || carry != 0 {
		return false, 0, ErrOverflow
	}
	return negative, magnitude, nil
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

func formatDecimal(negative bool, magnitude uint64) string {
	sign := ""
	if negative {
		sign = "-"
	}
	return fmt.Sprintf("%s%d.%09d", sign, magnitude/scale, magnitude%scale)
}
