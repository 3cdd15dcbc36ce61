package price

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"rubicon/internal/money"
)

func usd(t *testing.T, s string) money.Nano {
	t.Helper()
	n, err := money.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func factor(t *testing.T, s string) money.Factor {
	t.Helper()
	f, err := money.ParseFactor(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func full(t *testing.T) List {
	cached, write := usd(t, "1"), usd(t, "12.5")
	return List{
		Input: usd(t, "10"), Output: usd(t, "50"), CachedInput: &cached, CacheWrite: &write,
		Request: usd(t, "0.001"),
		Tools:   map[string]money.Nano{"web_search": usd(t, "0.01")},
		Tiers:   map[string]money.Factor{"priority": factor(t, "2"), "flex": factor(t, "0.5")},
	}
}

func TestCharge(t *testing.T) {
	plain := List{Input: usd(t, "10"), Output: usd(t, "50")}
	for _, c := range []struct {
		name  string
		list  List
		usage Usage
		want  Quote
	}{
		{"the contract's example", plain, Usage{Input: 10, Output: 5}, Quote{ // docs/contract.md#s7-example
			Total: 350_000,
			Lines: []Line{{ClassInput, 10, 10_000_000_000, 100_000}, {ClassOutput, 5, 50_000_000_000, 250_000}},
		}},
		{"cache classes without a price cost as input", plain, Usage{CachedInput: 10, CacheWrite: 10}, Quote{
			Total: 200_000,
			Lines: []Line{{ClassCachedInput, 10, 10_000_000_000, 100_000}, {ClassCacheWrite, 10, 10_000_000_000, 100_000}},
		}},
		{"every class, a tool and a tier", full(t), Usage{Input: 10, CachedInput: 100, CacheWrite: 8, Output: 5, Tools: map[string]int64{"web_search": 2}, Tier: "flex"}, Quote{
			Total: 10_775_000,
			Lines: []Line{
				{ClassRequest, 1, 1_000_000, 1_000_000},
				{ClassInput, 10, 10_000_000_000, 100_000},
				{ClassCachedInput, 100, 1_000_000_000, 100_000},
				{ClassCacheWrite, 8, 12_500_000_000, 100_000},
				{ClassOutput, 5, 50_000_000_000, 250_000},
				{"tool:web_search", 2, 10_000_000, 20_000_000},
				{"tier:flex", 1, -10_775_000, -10_775_000},
			},
		}},
		{"a tool without a price", plain, Usage{Tools: map[string]int64{"code_interpreter": 1, "web_search": 1, "none": 0}}, Quote{
			Lines: []Line{{"tool:code_interpreter", 1, 0, 0}, {"tool:web_search", 1, 0, 0}}, Flags: []string{FlagUnpriced},
		}},
		{"a tier without a factor counts 1", plain, Usage{Input: 1, Tier: "turbo"}, Quote{
			Total: 10_000, Lines: []Line{{ClassInput, 1, 10_000_000_000, 10_000}}, Flags: []string{FlagUnpriced},
		}},
		{"the ordinary tier needs none", plain, Usage{Input: 1, Tier: "standard_only"}, Quote{
			Total: 10_000, Lines: []Line{{ClassInput, 1, 10_000_000_000, 10_000}},
		}},
		{"a free list", List{}, Usage{Input: 7, Output: 7}, Quote{
			Lines: []Line{{ClassInput, 7, 0, 0}, {ClassOutput, 7, 0, 0}},
		}},
		{"half a nano rounds up, once per line", List{Input: 500_000, Output: 500_000}, Usage{Input: 1, Output: 1}, Quote{
			Total: 2, Lines: []Line{{ClassInput, 1, 500_000, 1}, {ClassOutput, 1, 500_000, 1}},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.list.Charge(c.usage)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestChargeRefuses(t *testing.T) {
	dear := List{Input: math.MaxInt64, Output: math.MaxInt64}
	if _, err := dear.Charge(Usage{Input: 1 << 31}); !errors.Is(err, ErrOverflow) {
		t.Errorf("a line over the end: %v", err)
	}
	if _, err := dear.Charge(Usage{Input: 1_000_000, Output: 1_000_000}); !errors.Is(err, ErrOverflow) {
		t.Errorf("a sum over the end: %v", err)
	}
	for _, u := range []Usage{{Input: -1}, {Output: -1}, {Tools: map[string]int64{"x": -1}}} {
		if _, err := full(t).Charge(u); !errors.Is(err, ErrUsage) {
			t.Errorf("Charge(%+v): %v; want ErrUsage", u, err)
		}
	}
}

func TestLinesSumToTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nano := rapid.Map(rapid.Int64Range(0, 1<<40), func(v int64) money.Nano { return money.Nano(v) })
		units := rapid.Int64Range(0, 1<<20)
		f, err := money.ParseFactor(money.Nano(rapid.Int64Range(0, 5_000_000_000).Draw(t, "factor")).String())
		if err != nil {
			t.Fatal(err)
		}
		l := List{Input: nano.Draw(t, "in"), Output: nano.Draw(t, "out"), Request: nano.Draw(t, "request"), Tiers: map[string]money.Factor{"x": f}}
		q, err := l.Charge(Usage{Input: units.Draw(t, "i"), CachedInput: units.Draw(t, "c"), Output: units.Draw(t, "o"), Tier: "x"})
		if err != nil {
			t.Fatal(err)
		}
		var sum money.Nano
		for _, line := range q.Lines {
			if sum, err = sum.Add(line.Amount); err != nil {
				t.Fatal(err)
			}
		}
		if sum != q.Total || q.Total < 0 {
			t.Fatalf("lines sum to %s, total is %s", sum, q.Total)
		}
	})
}

func TestHold(t *testing.T) {
	for _, c := range []struct {
		name string
		list List
		in   HoldInput
		want money.Nano
		err  error
	}{
		{"input and output", List{Input: usd(t, "10"), Output: usd(t, "50")}, HoldInput{InputTokens: 10, Choices: 1, OutputBound: 5}, 350_000, nil},
		{"choices", List{Output: usd(t, "50")}, HoldInput{Choices: 3, OutputBound: 5}, 750_000, nil},
		{"no choices is one", List{Output: usd(t, "50")}, HoldInput{OutputBound: 5}, 250_000, nil},
		{"embeddings", List{Input: usd(t, "10")}, HoldInput{InputTokens: 10}, 100_000, nil},
		// (1,000,000 + 10×12,500 + 5×50,000) × 2
		{"dearest of input and cache write, dearest tier", full(t), HoldInput{InputTokens: 10, Choices: 1, OutputBound: 5}, 2_750_000, nil},
		{"auto is like none", full(t), HoldInput{InputTokens: 10, Choices: 1, OutputBound: 5, Tier: "auto"}, 2_750_000, nil},
		{"a requested tier", full(t), HoldInput{InputTokens: 10, Choices: 1, OutputBound: 5, Tier: "flex"}, 687_500, nil},
		{"the ordinary tier", full(t), HoldInput{InputTokens: 10, Choices: 1, OutputBound: 5, Tier: "default"}, 1_375_000, nil},
		{"only discounts: at least 1", List{Request: 10, Tiers: map[string]money.Factor{"flex": factor(t, "0.5")}}, HoldInput{}, 10, nil},
		{"an unknown tier", full(t), HoldInput{Tier: "turbo"}, 0, ErrUnknownTier},
		{"choices times bound overflows", List{}, HoldInput{Choices: math.MaxInt64, OutputBound: 2}, 0, ErrOverflow},
		{"output overflows", List{Output: usd(t, "1000000")}, HoldInput{OutputBound: math.MaxInt64}, 0, ErrOverflow},
		{"the sum overflows", List{Request: math.MaxInt64, Input: 1_000_000}, HoldInput{InputTokens: 1}, 0, ErrOverflow},
		{"the factor overflows", List{Request: math.MaxInt64, Tiers: map[string]money.Factor{"x": factor(t, "2")}}, HoldInput{}, 0, ErrOverflow},
		{"a negative bound", List{}, HoldInput{OutputBound: -1}, 0, ErrUsage},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.list.Hold(c.in)
			if got != c.want || !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
				t.Errorf("Hold = %d, %v; want %d, %v", got, err, c.want, c.err)
			}
		})
	}
}

func TestTierKnown(t *testing.T) {
	l := full(t)
	for tier, want := range map[string]bool{"": true, "auto": true, "default": true, "standard": true, "standard_only": true, "priority": true, "flex": true, "turbo": false, "Auto": false} {
		if got := l.TierKnown(tier); got != want {
			t.Errorf("TierKnown(%q) = %t", tier, got)
		}
	}
}

func TestNormalize(t *testing.T) {
	for _, c := range []struct {
		name    string
		in      Usage
		want    Usage
		anomaly bool
	}{
		{"as it should be", Usage{Input: 1, CachedInput: 2, CacheWrite: 3, Output: 4}, Usage{Input: 1, CachedInput: 2, CacheWrite: 3, Output: 4}, false},
		{"cached above the total clamps", Disjoint(10, 20, 0, 1), Usage{CachedInput: 10, Output: 1}, false},
		{"cached and written above the total clamp", Disjoint(10, 6, 8, 1), Usage{CachedInput: 6, CacheWrite: 4, Output: 1}, false},
		{"the bound itself", Usage{Output: 1 << 31}, Usage{Output: 1 << 31}, false},
		{"above the bound", Usage{Output: 1<<31 + 1}, Usage{Output: 1<<31 + 1}, true},
		{"input above the bound", Usage{Input: 1<<31 + 1}, Usage{Input: 1<<31 + 1}, true},
		{"a negative total", Disjoint(-5, 0, 0, 1), Usage{Input: -5, Output: 1}, true},
		{"negative cached", Usage{Input: 5, CachedInput: -1}, Usage{Input: 5, CachedInput: -1}, true},
		{"the smallest input", Usage{Input: math.MinInt64, CachedInput: 1}, Usage{Input: math.MinInt64, CachedInput: 1}, true},
		{"negative calls", Usage{Tools: map[string]int64{"x": -1}}, Usage{Tools: map[string]int64{"x": -1}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, anomaly := Normalize(c.in)
			if diff := cmp.Diff(c.want, got); diff != "" || anomaly != c.anomaly {
				t.Errorf("anomaly = %t\n%s", anomaly, diff)
			}
		})
	}
}

func TestEstimateInput(t *testing.T) {
	for _, c := range []struct {
		bytes       int64
		attachments int
		want        int64
	}{{0, 0, 0}, {1, 0, 1}, {3, 0, 1}, {4, 0, 2}, {300, 2, 3100}, {math.MaxInt64, 0, math.MaxInt64/3 + 1}} {
		if got := EstimateInput(c.bytes, c.attachments); got != c.want {
			t.Errorf("EstimateInput(%d, %d) = %d, want %d", c.bytes, c.attachments, got, c.want)
		}
	}
}

func TestVersion(t *testing.T) {
	if one, other := full(t), full(t); one.Version() != other.Version() {
		t.Error("equal lists have different versions")
	}
	zero, ten := money.Nano(0), usd(t, "10")
	lists := []List{
		{}, full(t), {Input: ten}, {Output: ten}, {Request: ten}, {CachedInput: &zero}, {CacheWrite: &zero},
		{Tools: map[string]money.Nano{"a": 0}}, {Tiers: map[string]money.Factor{"a": money.One()}},
	}
	seen := map[string]int{}
	for i, l := range lists {
		v := l.Version()
		if len(v) != 12 {
			t.Errorf("version %q is not 12 characters", v)
		}
		if j, again := seen[v]; again {
			t.Errorf("lists %d and %d share the version %s", i, j, v)
		}
		seen[v] = i
	}
	// Recorded charges name versions: the hash must not drift between releases.
	if got, want := (List{Input: usd(t, "10"), Output: usd(t, "50")}).Version(), "9733e3e8a196"; got != want {
		t.Errorf("version = %s, want %s", got, want)
	}
	if got, want := (List{Tools: map[string]money.Nano{}}).Version(), (List{}).Version(); got != want {
		t.Errorf("an empty map changes the version")
	}
}
