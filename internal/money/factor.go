package money

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"
)

// Factor is a decimal without a unit, with up to 9 places and never negative,
// such as 0.5 or 2. The zero value is 0, not 1: use One.
type Factor struct{ billionths int64 }

// One is the factor that changes nothing.
func One() Factor { return Factor{scale} }

// ParseFactor reads a decimal like Parse, but not a negative one.
func ParseFactor(s string) (Factor, error) {
	n, err := Parse(s)
	if err != nil {
		return Factor{}, err
	}
	if n < 0 {
		return Factor{}, errors.New("a factor must not be negative")
	}
	return Factor{int64(n)}, nil
}

// Compare is -1, 0 or +1 as f is below, equal to or above g.
func (f Factor) Compare(g Factor) int { return cmp.Compare(f.billionths, g.billionths) }

// Equal reports whether both are the same number.
func (f Factor) Equal(g Factor) bool { return f == g }

// String shows the factor without trailing zeros, as in "1.25" or "2".
func (f Factor) String() string {
	s := formatDecimal(false, uint64(f.billionths))
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// MarshalJSON writes the factor as a string, like amounts.
func (f Factor) MarshalJSON() ([]byte, error) { return json.Marshal(f.String()) }

// UnmarshalJSON reads what MarshalJSON writes.
func (f *Factor) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	read, err := ParseFactor(text)
	if err == nil {
		*f = read
	}
	return err
}
