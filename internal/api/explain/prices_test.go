package explain

import (
	"strings"
	"testing"
	"time"

	"rubicon/internal/books/versions"
	"rubicon/internal/money"
	"rubicon/internal/money/price"
)

func TestPrices(t *testing.T) {
	cached := money.Nano(1e9)
	double, err := money.ParseFactor("2")
	if err != nil {
		t.Fatal(err)
	}
	got := Prices(versions.PriceList{Version: "abc", FirstUsedAt: time.Date(2026, 7, 30, 0, 0, 0, 0, time.UTC), List: price.List{
		Input: 10e9, Output: 50e9, CachedInput: &cached, CacheWrite: &cached, Request: 1, Tools: map[string]money.Nano{"web_search": 5}, Tiers: map[string]money.Factor{"priority": double}}})
	for _, want := range []string{"Price list abc, in force since 2026-07-30", "input             10.000000000", "output            50.000000000", "cached_input      1.000000000",
		"cache_write       1.000000000", "request           0.000000001", "tool:web_search   0.000000005", "tier:priority     × 2"} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
}
