package meter_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
	"rubicon/internal/engine/billing"
	"rubicon/internal/engine/meter"
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

// request is a request with a hold of a cent and an input estimate of 100.
func request(received billing.Received, attempts ...billing.Attempt) billing.Input {
	return billing.Input{Request: "req_1", Customer: "cus_1", Model: "m", Price: prices, Held: usd / 100, InputEstimate: 100,
		BytesPerToken: 4, Attempts: attempts, Received: received}
}

func attempt(n int, s *protocol.Observed, executed bool, reason string) billing.Attempt {
	return billing.Attempt{N: n, Channel: "ch", Cost: costs, Executed: executed, Seen: s, Reason: reason}
}

func cost(n int, amount money.Nano) ledger.CostArgs {
	return ledger.CostArgs{Request: "req_1", Customer: "cus_1", Channel: "ch", Amount: amount, Attempt: n}
}

func line(class string, units int64, price string, amount money.Nano) journal.Line {
	return journal.Line{Class: class, Units: units, Price: price, Amount: amount}
}

// TestWriteBill: the record shows the bill, and no cost of an earlier bill.
func TestWriteBill(t *testing.T) {
	bill, err := billing.Make(request(billing.ReceivedAnswer, attempt(1, nil, true, "replay_read_error"), attempt(2, seen(), true, "answered")))
	if err != nil {
		t.Fatal(err)
	}
	r := journal.Record{Attempts: []journal.Attempt{{N: 1}, {N: 2}, {N: 3, Cost: 7}}}
	meter.WriteBill(&r, bill)
	want := journal.Record{Charge: bill.Charge, Lines: bill.Lines, Usage: bill.Usage,
		Attempts: []journal.Attempt{{N: 1, Cost: 500_000}, {N: 2, Cost: 175_000}, {N: 3}}}
	if diff := cmp.Diff(want, r); diff != "" || r.Charge != 350_000 {
		t.Error(diff, r.Charge)
	}
}
