package billing_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
	"rubicon/internal/engine/billing"
	"rubicon/internal/money"
	"rubicon/internal/money/price"
	"rubicon/internal/wire/protocol"
)

const usd = money.Nano(1_000_000_000)

// The price list of docs/contract.md#s7-example, and a cost of half of it.
var (
	prices = price.List{Input: 10 * usd, Output: 50 * usd, Tools: map[string]money.Nano{"web_search": usd / 100}}
	costs  = price.List{Input: 5 * usd, Output: 25 * usd}
)

// seen is an answer that reported 10 input and 5 output tokens.
func seen() *protocol.Observed {
	return &protocol.Observed{Reported: true, ShowsExecution: true, Usage: price.Usage{Input: 10, Output: 5}, TextBytes: 20, OutputEvents: 3}
}

// silent is an answer that delivered 20 bytes and reported nothing.
func silent() *protocol.Observed { return &protocol.Observed{TextBytes: 20, OutputEvents: 3} }

// request is a request with a hold of a cent and an input estimate of 100.
func request(ended billing.Received, attempts ...billing.Attempt) billing.Input {
	return billing.Input{Request: "req_1", Customer: "cus_1", Model: "m", Price: prices, Held: usd / 100, InputEstimate: 100,
		BytesPerToken: 4, Attempts: attempts, Received: ended}
}

func attempt(n int, s *protocol.Observed, executed bool, reason string) billing.Attempt {
	return billing.Attempt{N: n, Channel: "ch", Cost: costs, Executed: executed, Seen: s, Reason: reason}
}

func cost(n int, amount money.Nano) ledger.CostArgs {
	return ledger.CostArgs{Request: "req_1", Customer: "cus_1", Channel: "ch", Amount: amount, Attempt: n}
}

func absorbed(n int, amount money.Nano, reason string) ledger.CostArgs {
	c := cost(n, amount)
	c.Absorbed, c.Reason = true, reason
	return c
}

func line(class string, units int64, price string, amount money.Nano) journal.Line {
	return journal.Line{Class: class, Units: units, Price: price, Amount: amount}
}

var (
	reportedUsage = journal.Usage{Input: 10, Output: 5, Source: "reported"}
	reportedLines = []journal.Line{line("input", 10, "10.000000000", 100_000), line("output", 5, "50.000000000", 250_000)}
	noUsage       = journal.Usage{Source: "none"}
)

// TestWhoPays is the table docs/contract.md#s7-who-pays, row by row.
func TestWhoPays(t *testing.T) {
	opening := silent()
	opening.OpeningUsage, opening.Usage = true, price.Usage{Input: 7, CachedInput: 3, Output: 999}
	result := seen()
	result.Result = true
	for _, c := range []struct {
		name string
		c    billing.Input
		want billing.Bill
	}{
		{"completed: as reported", request(billing.ReceivedAnswer, attempt(1, seen(), true, "answered")),
			billing.Bill{Charged: true, Charge: 350_000, Lines: reportedLines, Usage: reportedUsage, Costs: []ledger.CostArgs{cost(1, 175_000)}}},
		{"completed, nothing reported: estimated", request(billing.ReceivedAnswer, attempt(1, silent(), true, "answered")),
			billing.Bill{Charged: true, Charge: 1_250_000, Lines: []journal.Line{line("input", 100, "10.000000000", 1_000_000), line("output", 5, "50.000000000", 250_000)},
				Usage: journal.Usage{Input: 100, Output: 5, Source: "estimated"}, Costs: []ledger.CostArgs{cost(1, 625_000)}}},
		{"failure without usage, not executed", request(billing.ReceivedNothing, attempt(1, &protocol.Observed{}, false, "no_channel_left")),
			billing.Bill{Usage: noUsage}},
		{"failure without usage, may have executed", request(billing.ReceivedNothing, attempt(1, &protocol.Observed{}, true, "stateful_store")),
			billing.Bill{Usage: noUsage, Costs: []ledger.CostArgs{absorbed(1, 500_000, "stateful_store")}}},
		{"failure, nothing read at all", request(billing.ReceivedNothing, attempt(1, nil, true, "header_timeout")),
			billing.Bill{Usage: noUsage, Costs: []ledger.CostArgs{absorbed(1, 500_000, "header_timeout")}}},
		{"failure with usage: released, absorbed as reported", request(billing.ReceivedNothing, attempt(1, seen(), true, "usage_observed")),
			billing.Bill{Usage: reportedUsage, Costs: []ledger.CostArgs{absorbed(1, 175_000, "usage_observed")}}},
		{"failure after the opening: the opening is no usage", request(billing.ReceivedNothing, attempt(1, opening, true, "client_disconnected")),
			billing.Bill{Usage: noUsage, Costs: []ledger.CostArgs{absorbed(1, 500_000, "client_disconnected")}}},
		{"failure whose payload holds output", request(billing.ReceivedFailedResult, attempt(1, result, true, "usage_observed")),
			billing.Bill{Charged: true, Charge: 350_000, Lines: reportedLines, Usage: reportedUsage, Costs: []ledger.CostArgs{cost(1, 175_000)}}},
		{"output, then a cut: reported if seen", request(billing.ReceivedPart, attempt(1, seen(), true, "output_delivered")),
			billing.Bill{Charged: true, Charge: 350_000, Lines: reportedLines, Usage: reportedUsage, Costs: []ledger.CostArgs{cost(1, 175_000)}}},
		{"output, then a cut: the opening replaces the input estimate", request(billing.ReceivedPart, attempt(1, opening, true, "output_delivered")),
			billing.Bill{Charged: true, Charge: 350_000,
				Lines: []journal.Line{line("input", 7, "10.000000000", 70_000), line("cached_input", 3, "10.000000000", 30_000), line("output", 5, "50.000000000", 250_000)},
				Usage: journal.Usage{Input: 7, CachedInput: 3, Output: 5, Source: "estimated"}, Costs: []ledger.CostArgs{cost(1, 175_000)}}},
		{"an answer after a replay", request(billing.ReceivedAnswer, attempt(1, &protocol.Observed{}, true, "replay_failed_event"), attempt(2, seen(), true, "answered")),
			billing.Bill{Charged: true, Charge: 350_000, Lines: reportedLines, Usage: reportedUsage,
				Costs: []ledger.CostArgs{absorbed(1, 500_000, "replay_failed_event"), cost(2, 175_000)}}},
		{"an answer after a switch", request(billing.ReceivedAnswer, attempt(1, nil, false, "switch_connect"), attempt(2, seen(), true, "answered")),
			billing.Bill{Charged: true, Charge: 350_000, Lines: reportedLines, Usage: reportedUsage, Costs: []ledger.CostArgs{cost(2, 175_000)}}},
		{"every lost attempt is the operator's", request(billing.ReceivedNothing, attempt(1, seen(), true, "replay_atomic"), attempt(2, nil, false, "switch_connect"), attempt(3, nil, true, "attempts_spent")),
			billing.Bill{Usage: noUsage, Costs: []ledger.CostArgs{absorbed(1, 175_000, "replay_atomic"), absorbed(3, 500_000, "attempts_spent")}}},
		{"no attempt", request(billing.ReceivedNothing), billing.Bill{Usage: noUsage}},
		{"counting tokens is free", func() billing.Input {
			c := request(billing.ReceivedAnswer, attempt(1, seen(), true, "answered"))
			c.Uncharged = true
			return c
		}(), billing.Bill{Usage: noUsage}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := billing.Make(c.c)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// bill settles an answered request whose answer was s.
func bill(t *testing.T, s *protocol.Observed, change func(*billing.Input)) billing.Bill {
	t.Helper()
	c := request(billing.ReceivedAnswer, attempt(1, s, true, "answered"))
	if change != nil {
		change(&c)
	}
	b, err := billing.Make(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func expectUsage(t *testing.T, b billing.Bill, charge money.Nano, source string, flags ...string) {
	t.Helper()
	if b.Charge != charge || b.Usage.Source != source {
		t.Errorf("charged %s by a usage that is %s, want %s, %s", b.Charge, b.Usage.Source, charge, source)
	}
	if diff := cmp.Diff(flags, b.Usage.Flags, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestEstimateNeverAboveTheHold(t *testing.T) {
	b := bill(t, silent(), func(c *billing.Input) { c.Held = 1_000_001 })
	expectUsage(t, b, 1_000_001, "estimated")
	var sum money.Nano
	for _, l := range b.Lines {
		sum += l.Amount
	}
	if sum != b.Charge || b.Lines[len(b.Lines)-1].Class != "estimate_capped" {
		t.Errorf("the lines sum to %s: %+v", sum, b.Lines)
	}
	if b.Costs[0].Amount != 625_000 {
		t.Errorf("the operator's cost is not capped, it is %s", b.Costs[0].Amount)
	}
}

func TestOverrun(t *testing.T) {
	b := bill(t, seen(), func(c *billing.Input) { c.Held = 349_999 })
	expectUsage(t, b, 350_000, "reported", "overrun")
	b = bill(t, seen(), func(c *billing.Input) { c.Held = 350_000 })
	expectUsage(t, b, 350_000, "reported")
}

func TestAnomalies(t *testing.T) {
	for name, u := range map[string]price.Usage{
		"huge input":       {Input: 1<<31 + 1, Output: 5},
		"negative cached":  {Input: 10, CachedInput: -1},
		"absurd and below": {Input: -1 << 40, CachedInput: 5},
	} {
		t.Run(name, func(t *testing.T) {
			s := seen()
			s.Usage, s.OpeningUsage = u, true
			b := bill(t, s, nil)
			expectUsage(t, b, 1_250_000, "estimated", "usage_anomaly")
			lost, err := billing.Make(request(billing.ReceivedNothing, attempt(1, s, true, "r")))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]ledger.CostArgs{absorbed(1, 500_000, "r")}, lost.Costs); diff != "" {
				t.Errorf("a lost attempt:\n%s", diff)
			}
		})
	}
	s := seen()
	s.Usage, s.OpeningUsage = price.Usage{Input: 10, Output: -1}, true // the opening is believed all the same
	expectUsage(t, bill(t, s, nil), 350_000, "estimated", "usage_anomaly")
	s = seen()
	s.Usage = price.Disjoint(10, 12, 0, 5) // more cached than there is input
	b := bill(t, s, nil)
	expectUsage(t, b, 350_000, "reported")
	if b.Usage.Input != 0 || b.Usage.CachedInput != 10 {
		t.Errorf("not clamped: %+v", b.Usage)
	}
}

func TestHostedCalls(t *testing.T) {
	s := seen()
	s.Hosted = map[string]int64{"web_search": 2, "code_interpreter": 1}
	b := bill(t, s, func(c *billing.Input) { c.Held = usd })
	expectUsage(t, b, 350_000+2*usd/100, "reported", "unpriced")
	if diff := cmp.Diff(s.Hosted, b.Usage.Tools); diff != "" {
		t.Error(diff)
	}
	s.Hosted = map[string]int64{"web_search": 1 << 40}
	b = bill(t, s, func(c *billing.Input) { c.Held = usd })
	expectUsage(t, b, 1_250_000, "estimated", "usage_anomaly")
	if len(b.Usage.Tools) != 0 {
		t.Errorf("an absurd count was taken over: %v", b.Usage.Tools)
	}
}

func TestTiers(t *testing.T) {
	two, err := money.ParseFactor("2")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		answered string
		charge   money.Nano
		flags    []string
	}{{"", 350_000, nil}, {"default", 350_000, nil}, {"priority", 700_000, nil}, {"flex", 350_000, []string{"unpriced"}}} {
		s := seen()
		s.Tier = c.answered
		b := bill(t, s, func(r *billing.Input) {
			r.Price.Tiers = map[string]money.Factor{"priority": two}
		})
		expectUsage(t, b, c.charge, "reported", c.flags...)
	}
}

// TestSettleIsFair: whatever happened, the lines sum to the charge, an
// estimate stays inside the hold, and without delivery nobody is charged.
func TestSettleIsFair(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		count := rapid.Int64Range(-10, 1<<33)
		s := &protocol.Observed{Reported: rapid.Bool().Draw(rt, "reported"), OpeningUsage: rapid.Bool().Draw(rt, "opening"),
			Usage:     price.Usage{Input: count.Draw(rt, "input"), CachedInput: count.Draw(rt, "cached"), CacheWrite: count.Draw(rt, "written"), Output: count.Draw(rt, "output")},
			TextBytes: rapid.Int64Range(0, 1<<30).Draw(rt, "bytes")}
		if rapid.Bool().Draw(rt, "tools") {
			s.Hosted = map[string]int64{"web_search": count.Draw(rt, "calls")}
		}
		ended := billing.Received(rapid.IntRange(0, 3).Draw(rt, "ended"))
		c := request(ended, attempt(1, s, rapid.Bool().Draw(rt, "executed"), "r"), attempt(2, s, true, "r"))
		c.Held = money.Nano(rapid.Int64Range(0, int64(usd)).Draw(rt, "held"))
		b, err := billing.Make(c)
		if err != nil {
			rt.Fatal(err)
		}
		var sum money.Nano
		for _, l := range b.Lines {
			sum += l.Amount
		}
		switch {
		case sum != b.Charge:
			rt.Fatalf("lines of %s, charge of %s", sum, b.Charge)
		case b.Charge < 0:
			rt.Fatalf("a charge of %s", b.Charge)
		case b.Charged != (ended != billing.ReceivedNothing), !b.Charged && b.Charge != 0:
			rt.Fatalf("charged %v, %s", b.Charged, b.Charge)
		case b.Usage.Source == "estimated" && b.Charge > c.Held:
			rt.Fatalf("estimated %s above the hold of %s", b.Charge, c.Held)
		}
		for _, x := range b.Costs {
			if x.Absorbed != (!b.Charged || x.Attempt == 1) || x.Amount < 0 {
				rt.Fatalf("%+v", x)
			}
		}
	})
}
