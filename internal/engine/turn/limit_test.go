package turn

import "testing"

// TestExpectedTokens: a guess keeps no rested key out; what the request asks for
// itself does.
func TestExpectedTokens(t *testing.T) {
	for _, c := range []struct {
		name      string
		e         expected
		tpm, want int64
	}{
		{"nothing", expected{}, 1000, 0},
		{"input and a guess", expected{sure: 30, guess: 256}, 1000, 286},
		{"a guess beyond the limit", expected{sure: 30, guess: 5000}, 1000, 1000},
		{"the limit itself", expected{sure: 30, guess: 970}, 1000, 1000},
		{"input beyond the limit", expected{sure: 1200, guess: 256}, 1000, 1200},
		{"no guess", expected{sure: 1200}, 1000, 1200},
		{"no limit", expected{sure: 30, guess: 256}, 0, 30},
	} {
		if got := c.e.tokens(c.tpm); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
