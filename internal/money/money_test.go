package money

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Nano
		show string
	}{
		{"0", 0, "0.000000000"},
		{"-0", 0, "0.000000000"},
		{"10", 10_000_000_000, "10.000000000"},
		{"+1.5", 1_500_000_000, "1.500000000"},
		{"-0.00035", -350_000, "-0.000350000"},
		{"0.000000001", 1, "0.000000001"},
		{"007", 7_000_000_000, "7.000000000"},
		{"9223372036.854775807", math.MaxInt64, "9223372036.854775807"},
		{"-9223372036.854775808", math.MinInt64, "-9223372036.854775808"},
	} {
		got, err := Parse(c.in)
		if err != nil || got != c.want || got.String() != c.show {
			t.Errorf("Parse(%q) = %d (%s), %v; want %d (%s)", c.in, got, got, err, c.want, c.show)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, in := range []string{
		"", "-", "+", ".", "1.", ".5", "--1", "+-1", "1e3", "1,5", "1_000", " 1", "1 ", "0x10", "NaN", "1.0000000001", "1.-5", "1.+5", "١",
	} {
		if got, err := Parse(in); err == nil || errors.Is(err, ErrOverflow) {
			t.Errorf("Parse(%q) = %v, %v; want a refusal of the form", in, got, err)
		}
	}
	for _, in := range []string{"9223372036.854775808", "-9223372036.854775809", "18446744073.709551616", "99999999999999999999999999"} {
		if got, err := Parse(in); !errors.Is(err, ErrOverflow) {
			t.Errorf("Parse(%q) = %v, %v; want ErrOverflow", in, got, err)
		}
	}
}

func TestJSON(t *testing.T) {
	raw, err := json.Marshal(map[string]Nano{"amount": -350_000})
	if err != nil || string(raw) != `{"amount":"-0.000350000"}` {
		t.Fatalf("Marshal = %s, %v", raw, err)
	}
	var back map[string]Nano
	if err := json.Unmarshal(raw, &back); err != nil || back["amount"] != -350_000 {
		t.Fatalf("Unmarshal = %v, %v", back, err)
	}
	for _, bad := range []string{`1.5`, `"x"`, `"1.0000000000"`, `{}`, `null0`} {
		var n Nano
		if err := json.Unmarshal([]byte(bad), &n); err == nil {
			t.Errorf("Unmarshal(%s) = %v, want an error", bad, n)
		}
	}
}

func TestLine(t *testing.T) {
	for _, c := range []struct {
		units int64
		price string
		want  Nano
	}{
		{10, "10", 100_000},   // docs/contract.md#s7-example
		{5, "50", 250_000},    // its second half
		{1, "0.0000005", 0},   // 0.0005 nano
		{1, "0.0005", 1},      // 0.5 nano rounds up
		{1, "0.000499999", 0}, // just below
		{3, "0.0005", 2},      // 1.5
		{-1, "0.0005", -1},    // away from zero
		{1 << 31, "1000", 2_147_483_648_000_000},
		{0, "10", 0},
	} {
		price, err := Parse(c.price)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Line(c.units, price); err != nil || got != c.want {
			t.Errorf("Line(%d, %s) = %d, %v; want %d", c.units, c.price, got, err, c.want)
		}
	}
}

// within compares a result with the exact rational p/q, rounded half away from
// zero, or demands ErrOverflow where that does not fit.
func within(t *rapid.T, got Nano, err error, p *big.Int, q int64) {
	t.Helper()
	abs := new(big.Int).Abs(p)
	abs.Mul(abs, big.NewInt(2)).Add(abs, big.NewInt(q)).Quo(abs, big.NewInt(2*q))
	if p.Sign() < 0 {
		abs.Neg(abs)
	}
	if !abs.IsInt64() {
		if !errors.Is(err, ErrOverflow) {
			t.Fatalf("got %d, %v; want ErrOverflow for %v", got, err, abs)
		}
		return
	}
	if err != nil || int64(got) != abs.Int64() {
		t.Fatalf("got %d, %v; want %v", got, err, abs)
	}
}

// amounts leans to the ends of the range and to small values, where the
// mistakes are.
func amounts() *rapid.Generator[int64] {
	return rapid.OneOf(
		rapid.Int64(), rapid.Int64Range(-2_000_000, 2_000_000),
		rapid.SampledFrom([]int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, 499_999, 500_000, math.MaxInt64 - 1, math.MaxInt64}),
	)
}

func TestAgainstBigIntegers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := amounts().Draw(t, "a"), amounts().Draw(t, "b")
		bigA, bigB := big.NewInt(a), big.NewInt(b)
		product := new(big.Int).Mul(bigA, bigB)

		got, err := Nano(a).Add(Nano(b))
		within(t, got, err, new(big.Int).Add(bigA, bigB), 1)
		got, err = Nano(a).Sub(Nano(b))
		within(t, got, err, new(big.Int).Sub(bigA, bigB), 1)
		got, err = Line(a, Nano(b))
		within(t, got, err, product, perM)
		got, err = Times(a, Nano(b))
		within(t, got, err, product, 1)
		if b >= 0 {
			got, err = Mul(Nano(a), Factor{b})
			within(t, got, err, product, scale)
		}
		if back, err := Parse(Nano(a).String()); err != nil || back != Nano(a) {
			t.Fatalf("Parse(%q) = %d, %v", Nano(a).String(), back, err)
		}
	})
}

func TestSum(t *testing.T) {
	if got, err := Sum(1, 2, -5); err != nil || got != -2 {
		t.Errorf("Sum = %d, %v", got, err)
	}
	if _, err := Sum(math.MaxInt64, 1); !errors.Is(err, ErrOverflow) {
		t.Errorf("Sum over the end: %v", err)
	}
}

func TestFactor(t *testing.T) {
	half, err := ParseFactor("0.5")
	if err != nil || half.String() != "0.5" || One().String() != "1" || (Factor{}).String() != "0" {
		t.Fatalf("half = %s, one = %s, none = %s, %v", half, One(), Factor{}, err)
	}
	if half.Compare(One()) >= 0 || One().Compare(half) <= 0 || half.Equal(One()) {
		t.Error("factors are out of order")
	}
	if got, err := Mul(3, half); err != nil || got != 2 {
		t.Errorf("3 × 0.5 = %d, %v; want 2", got, err)
	}
	if raw, err := json.Marshal(half); err != nil || string(raw) != `"0.5"` {
		t.Errorf("Marshal = %s, %v", raw, err)
	}
	for _, bad := range []string{"-1", "x", "", "0.0000000001"} {
		if f, err := ParseFactor(bad); err == nil {
			t.Errorf("ParseFactor(%q) = %s, want an error", bad, f)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"0", "-0.000350000", "9223372036.854775807", "1e9", "+", "00.1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := Parse(s)
		if err != nil {
			return
		}
		exact, ok := new(big.Rat).SetString(s)
		if !ok || exact.Mul(exact, big.NewRat(scale, 1)).Cmp(new(big.Rat).SetInt64(int64(n))) != 0 {
			t.Fatalf("Parse(%q) = %s", s, n)
		}
	})
}
