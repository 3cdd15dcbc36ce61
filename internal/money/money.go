// Package money is integer money: nano-USD, checked sums, and one rounding rule.
//
// It is for amounts and for prices per million units. It is not for floating
// point (nothing here converts to or from one), other currencies, or the ledger.
//
// Invariant: an operation either returns the exact amount, rounded once where
// docs/contract.md#s7-rounding wants, or an error. Nothing wraps around and nothing saturates.
package money

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// Nano is an amount in 10⁻⁹ USD. The zero value is no money.
type Nano int64

// ErrOverflow is returned when an amount does not fit into 64 bits.
var ErrOverflow = errors.New("amount is out of range")

const (
	places = 9
	scale  = 1_000_000_000
	perM   = 1_000_000
)

// Parse reads a decimal such as "10", "-0.00035" or "+1.5": an optional sign,
// digits, and at most 9 digits after the point. No exponent, no separators, no
// spaces. What does not fit wraps ErrOverflow.
func Parse(s string) (Nano, error) {
	negative, magnitude, err := parseDecimal(s)
	if err != nil {
		return 0, err
	}
	return signed(negative, magnitude)
}

// String shows the amount with exactly 9 places, as in "-0.000350000".
func (n Nano) String() string { return formatDecimal(n < 0, magnitudeOf(int64(n))) }

// MarshalJSON writes the amount as a string, because JSON numbers are floats
// in most readers.
func (n Nano) MarshalJSON() ([]byte, error) { return json.Marshal(n.String()) }

// UnmarshalJSON reads what MarshalJSON writes: a decimal in a string.
func (n *Nano) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("an amount must be a decimal in a string: %w", err)
	}
	parsed, err := Parse(s)
	if err != nil {
		return err
	}
	*n = parsed
	return nil
}

// Add is n + m, or ErrOverflow.
func (n Nano) Add(m Nano) (Nano, error) {
	sum := n + m
	// Two summands of one sign cannot give the other one without wrapping.
	if (n >= 0) == (m >= 0) && (sum >= 0) != (n >= 0) {
		return 0, fmt.Errorf("adding amounts: %w", ErrOverflow)
	}
	return sum, nil
}

// Sub is n − m, or ErrOverflow.
func (n Nano) Sub(m Nano) (Nano, error) {
	difference := n - m
	if (n >= 0) != (m >= 0) && (difference >= 0) != (n >= 0) {
		return 0, fmt.Errorf("subtracting amounts: %w", ErrOverflow)
	}
	return difference, nil
}

// Sum adds amounts, or returns ErrOverflow.
func Sum(amounts ...Nano) (Nano, error) {
	var total Nano
	for _, a := range amounts {
		var err error
		if total, err = total.Add(a); err != nil {
			return 0, err
		}
	}
	return total, nil
}

// Line is units × perMillion ÷ 10⁶, rounded once; half a nano rounds away from
// zero, which is up for everything but a negative result.
func Line(units int64, perMillion Nano) (Nano, error) {
	return mulDiv(units, int64(perMillion), perM)
}

// Times is units × each without rounding, for prices per piece.
func Times(units int64, each Nano) (Nano, error) {
	return mulDiv(units, int64(each), 1)
}

// Mul is n × f, rounded once; half a nano rounds away from zero.
func Mul(n Nano, f Factor) (Nano, error) {
	return mulDiv(int64(n), f.billionths, scale)
}

// mulDiv is a × b ÷ d with a product of 128 bits, rounded half away from zero.
// d must be positive.
func mulDiv(a, b int64, d uint64) (Nano, error) {
	hi, lo := bits.Mul64(magnitudeOf(a), magnitudeOf(b))
	lo, carry := bits.Add64(lo, d/2, 0)
	hi += carry
	// Div64 panics when the quotient needs more than 64 bits.
	if hi >= d {
		return 0, fmt.Errorf("multiplying an amount: %w", ErrOverflow)
	}
	quotient, _ := bits.Div64(hi, lo, d)
	return signed((a < 0) != (b < 0), quotient)
}

// magnitudeOf is |v|, right for the smallest int64 too.
func magnitudeOf(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

func signed(negative bool, magnitude uint64) (Nano, error) {
	switch {
	case !negative && magnitude <= math.MaxInt64:
		return Nano(magnitude), nil
	case negative && magnitude <= 1<<63:
		return Nano(-magnitude), nil
	}
	return 0, ErrOverflow
}
