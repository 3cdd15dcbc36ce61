package ledger_test

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rubicon/internal/books/ledger"
	"rubicon/internal/money"
	"rubicon/internal/store/storetest"
)

// reference is the ledger as a few lines of arithmetic.
type reference struct {
	available map[string]money.Nano
	holds     map[string]reservation
	resolved  map[string]bool
	reversed  map[string]bool
	undo      map[string]change // by transaction: what can be reversed
	written   int
}

type reservation struct {
	customer string
	amount   money.Nano
}

type change struct {
	customer string
	amount   money.Nano
}

// TestRandomHistories runs random operations against the ledger and against
// the reference, and wants the same answers, the same balances and a ledger
// that verifies.
func TestRandomHistories(t *testing.T) {
	f, round := open(t), 0
	if storetest.Kind() == storetest.PostgreSQL {
		must(t, flag.Set("rapid.checks", "25")) // every operation is a commit
	}
	rapid.Check(t, func(rt *rapid.T) {
		round++
		before, err := f.Verify(t.Context())
		must(t, err)
		h := &history{f: f, t: t, prefix: fmt.Sprintf("r%d_", round), ref: reference{
			available: map[string]money.Nano{}, holds: map[string]reservation{}, resolved: map[string]bool{},
			reversed: map[string]bool{}, undo: map[string]change{},
		}}
		rt.Repeat(map[string]func(*rapid.T){
			"topup":   h.topUp,
			"adjust":  h.adjust,
			"hold":    h.hold,
			"settle":  h.settle,
			"release": h.release,
			"cost":    h.cost,
			"reverse": h.reverse,
			"":        h.compare,
		})
		report, err := f.Verify(t.Context())
		must(t, err)
		if n := report.Transactions - before.Transactions; !report.OK || n != h.ref.written {
			rt.Fatalf("verify: %d transactions, want %d; %v", n, h.ref.written, report.Differences)
		}
	})
}

type history struct {
	f        *fixture
	t        *testing.T
	prefix   string // of its names: all rounds share a database
	ref      reference
	requests int
	ids      []string // of all transactions that may be reversed
}

func (h *history) customers() []string {
	return []string{h.prefix + "cus_1", h.prefix + "cus_2", h.prefix + "cus_3"}
}

func (h *history) customer(rt *rapid.T) string {
	return rapid.SampledFrom(h.customers()).Draw(rt, "customer")
}

func amounts(from int64) *rapid.Generator[money.Nano] {
	return rapid.Map(rapid.Int64Range(from, 1000), func(n int64) money.Nano { return money.Nano(n) })
}

// request draws one that exists, or almost.
func (h *history) request(rt *rapid.T) string {
	return fmt.Sprintf("%sreq_%d", h.prefix, rapid.IntRange(0, h.requests).Draw(rt, "request"))
}

func (h *history) topUp(rt *rapid.T) {
	c := change{h.customer(rt), amounts(1).Draw(rt, "amount")}
	done := h.f.topUp(h.t, c.customer, c.amount)
	h.changed(done.ID, c)
}

func (h *history) adjust(rt *rapid.T) {
	c := change{h.customer(rt), amounts(-1000).Draw(rt, "amount")}
	done, err := h.f.Adjust(h.t.Context(), ledger.AdjustArgs{Customer: c.customer, Amount: c.amount, Reason: "r", Actor: "a", Model: "m"})
	if c.amount == 0 {
		h.want(rt, err, ledger.ErrInvalid)
		return
	}
	h.want(rt, err, nil)
	h.changed(done.ID, c)
}

func (h *history) changed(id string, c change) {
	h.ref.available[c.customer] += c.amount
	h.ref.undo[id] = c
	h.ids = append(h.ids, id)
	h.ref.written++
}

func (h *history) hold(rt *rapid.T) {
	r := reservation{h.customer(rt), amounts(0).Draw(rt, "amount")}
	request := fmt.Sprintf("%sreq_%d", h.prefix, h.requests)
	err := h.f.begin(h.t.Context(), request, r.customer, r.amount)
	if available := h.ref.available[r.customer]; available < 0 || available < r.amount {
		var insufficient *ledger.Insufficient
		if !errors.As(err, &insufficient) || insufficient.Available != available {
			rt.Fatalf("hold of %s with %s: %v", r.amount, available, err)
		}
		return
	}
	h.want(rt, err, nil)
	h.requests++
	h.ref.available[r.customer] -= r.amount
	h.ref.holds[request] = r
	h.ref.written++
}

// resolvable gives the open hold of a request, or the error to expect.
func (h *history) resolvable(request string) (reservation, error) {
	if h.ref.resolved[request] {
		return reservation{}, ledger.ErrResolved
	}
	r, ok := h.ref.holds[request]
	if !ok {
		return reservation{}, ledger.ErrNoHold
	}
	return r, nil
}

func (h *history) settle(rt *rapid.T) {
	request, charge := h.request(rt), amounts(0).Draw(rt, "charge")
	r, want := h.resolvable(request)
	h.want(rt, h.f.settle(h.t.Context(), request, r.customer, charge), want)
	if want != nil {
		return
	}
	h.resolve(request, r, r.amount-charge)
	list, _, err := h.f.Transactions(h.t.Context(), ledger.Filter{RequestID: request, Kind: ledger.KindSettle})
	h.want(rt, err, nil)
	h.ids = append(h.ids, list[0].ID)
	h.ref.undo[list[0].ID] = change{r.customer, -charge}
}

func (h *history) release(rt *rapid.T) {
	request := h.request(rt)
	r, want := h.resolvable(request)
	h.want(rt, h.f.release(h.t.Context(), request, r.customer), want)
	if want == nil {
		h.resolve(request, r, r.amount)
	}
}

func (h *history) resolve(request string, r reservation, back money.Nano) {
	h.ref.available[r.customer] += back
	delete(h.ref.holds, request)
	h.ref.resolved[request] = true
	h.ref.written++
}

func (h *history) cost(rt *rapid.T) {
	a := ledger.CostArgs{
		Request: h.request(rt), Channel: "main", Amount: amounts(0).Draw(rt, "amount"),
		Absorbed: rapid.Bool().Draw(rt, "absorbed"), Attempt: h.ref.written, // never the same
	}
	h.want(rt, h.f.cost(h.t.Context(), a), nil)
	if a.Amount > 0 {
		h.ref.written++
	}
}

func (h *history) reverse(rt *rapid.T) {
	if len(h.ids) == 0 {
		rt.Skip("nothing to reverse")
	}
	id := rapid.SampledFrom(h.ids).Draw(rt, "transaction")
	_, err := h.f.Reverse(h.t.Context(), id, "r", "a")
	if h.ref.reversed[id] {
		h.want(rt, err, ledger.ErrReversed)
		return
	}
	h.want(rt, err, nil)
	h.ref.reversed[id] = true
	c := h.ref.undo[id]
	h.ref.available[c.customer] -= c.amount
	h.ref.written++
}

func (h *history) compare(rt *rapid.T) {
	held := map[string]money.Nano{}
	for _, r := range h.ref.holds {
		held[r.customer] += r.amount
	}
	for _, customer := range h.customers() {
		got, err := h.f.Balance(h.t.Context(), customer)
		h.want(rt, err, nil)
		if want := (ledger.Balance{Available: h.ref.available[customer], Held: held[customer]}); got != want {
			rt.Fatalf("%s has %v, want %v", customer, got, want)
		}
	}
	open, err := h.f.OpenHolds(h.t.Context())
	h.want(rt, err, nil)
	mine := 0
	for _, o := range open {
		if strings.HasPrefix(o.Request, h.prefix) {
			mine++
		}
	}
	if mine != len(h.ref.holds) {
		rt.Fatalf("%d open holds, want %d", mine, len(h.ref.holds))
	}
}

func (h *history) want(rt *rapid.T, err, want error) {
	if !errors.Is(err, want) {
		rt.Fatalf("got %v, want %v", err, want)
	}
}
