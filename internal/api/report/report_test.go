package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/books/ledger"
	"rubicon/internal/engine/meter"
	"rubicon/internal/money"
	"rubicon/internal/store"
	"rubicon/internal/store/storetest"
	"rubicon/internal/wire/ident"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// ledgerFixture is a ledger whose time the test sets.
type ledgerFixture struct {
	*ledger.Ledger
	t   *testing.T
	db  *store.DB
	now time.Time
}

func newPast(t *testing.T) *ledgerFixture {
	t.Helper()
	db := storetest.Open(t)
	p := &ledgerFixture{t: t, db: db, now: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return p.now }
	p.Ledger = ledger.New(db, ident.New(rand.NewChaCha8([32]byte{1}), clock), clock)
	for _, c := range []string{"cus_a", "cus_b"} {
		_, err := p.TopUp(t.Context(), ledger.TopUpArgs{Customer: c, Amount: 1e15, Reason: "test", Actor: "test"})
		p.must(err)
	}
	return p
}

func (p *ledgerFixture) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// request holds, books costs, and charges (charge nil: releases).
func (p *ledgerFixture) request(id, customer, model string, charge *meter.Charge, amount money.Nano, costs ...ledger.CostArgs) {
	p.t.Helper()
	p.must(p.db.Write(p.t.Context(), func(tx *store.Tx) error {
		if err := p.Hold(tx, ledger.HoldArgs{Request: id, Customer: customer, Model: model, Amount: amount}); err != nil {
			return err
		}
		if charge == nil {
			if err := p.Release(tx, id, "no"); err != nil {
				return err
			}
		} else {
			meta, _ := json.Marshal(charge)
			if err := p.Settle(tx, ledger.SettleArgs{Request: id, Customer: customer, Model: model, Charge: amount, Meta: meta}); err != nil {
				return err
			}
		}
		for n, c := range costs {
			c.Request, c.Customer, c.Attempt = id, customer, n+1
			if err := p.Cost(tx, c); err != nil {
				return err
			}
		}
		return nil
	}))
}

func TestMonth(t *testing.T) {
	p := newPast(t)
	good := &meter.Charge{PriceVersion: "v", Channel: "x", Source: "reported", Input: 10, CachedInput: 1, CacheWrite: 2, Output: 5, Tools: map[string]int64{"web_search": 2}}
	guess := &meter.Charge{PriceVersion: "v", Channel: "x", Source: "estimated", Input: 7, Output: 3}
	p.now = time.Date(2026, 6, 30, 23, 59, 59, 999e6, time.UTC)
	p.request("req_0", "cus_a", "m", good, 1, ledger.CostArgs{Channel: "x", Amount: 1})
	p.now = time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	p.request("req_1", "cus_a", "m", good, 1000, ledger.CostArgs{Channel: "y", Amount: 40, Absorbed: true, Reason: "replay_read_error"}, ledger.CostArgs{Channel: "x", Amount: 500})
	p.request("req_2", "cus_a", "m", guess, 300, ledger.CostArgs{Channel: "x", Amount: 100})
	p.request("req_3", "cus_b", "n", nil, 50, ledger.CostArgs{Channel: "y", Amount: 9, Absorbed: true, Reason: "client_disconnected"})
	list, _, err := p.Transactions(t.Context(), ledger.Filter{RequestID: "req_2", Kind: ledger.KindSettle})
	p.must(err)
	_, err = p.Reverse(t.Context(), list[0].ID, "wrong", "op")
	p.must(err)
	_, err = p.Adjust(t.Context(), ledger.AdjustArgs{Customer: "cus_b", Amount: 25, Reason: "sorry", Actor: "op", Model: "n"})
	p.must(err)
	_, err = p.Adjust(t.Context(), ledger.AdjustArgs{Customer: "cus_b", Amount: 11, Reason: "a gift", Actor: "op"})
	p.must(err)
	p.now = time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	p.request("req_4", "cus_a", "m", good, 1)

	got, err := Month(t.Context(), p.Ledger, time.Date(2026, 7, 30, 12, 0, 0, 0, time.UTC))
	p.must(err)
	used := func() *Tokens {
		return &Tokens{Input: 10, CachedInput: 1, CacheWrite: 2, Output: 5, Tools: map[string]int64{"web_search": 2}}
	}
	nothing := &Tokens{Tools: map[string]int64{}}
	want := Statement{Month: "2026-07", From: time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC), To: p.now, Currency: "USD",
		Rows: []Row{
			{"cus_a", "m", "x", Sums{Requests: 1, Usage: map[string]*Tokens{"reported": used(), "estimated": nothing},
				Revenue: 1000, Cost: 600, AbsorbedByReason: map[string]money.Nano{}, Margin: 400}},
			{"cus_a", "m", "y", Sums{Usage: map[string]*Tokens{}, Absorbed: 40, AbsorbedByReason: map[string]money.Nano{"replay_read_error": 40}, Margin: -40}},
			{"cus_b", "n", "", Sums{Usage: map[string]*Tokens{}, Revenue: -25, AbsorbedByReason: map[string]money.Nano{}, Margin: -25}},
			{"cus_b", "n", "y", Sums{Usage: map[string]*Tokens{}, Absorbed: 9, AbsorbedByReason: map[string]money.Nano{"client_disconnected": 9}, Margin: -9}},
		},
		Total: Sums{Requests: 1, Usage: map[string]*Tokens{"reported": used(), "estimated": nothing}, Revenue: 975, Cost: 600, Absorbed: 49,
			AbsorbedByReason: map[string]money.Nano{"replay_read_error": 40, "client_disconnected": 9}, Margin: 326}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var b strings.Builder
	p.must(got.WriteCSV(&b))
	lines, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	p.must(err)
	if len(lines) != 5 || strings.Join(lines[1], " ") != "2026-07 cus_a m x 1 10 1 2 5 web_search=2 0 0 0 0  0.000001000 0.000000600 0.000000000  0.000000400" {
		t.Errorf("%s", b.String())
	}
	empty, err := Month(t.Context(), p.Ledger, time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC))
	p.must(err)
	if empty.Rows == nil || len(empty.Rows) != 0 || empty.Total.Margin != 0 {
		t.Errorf("an empty month: %+v", empty)
	}
}

// TestSumsAreTheLedgers compares the report of every month of a random history
// with what the postings of its transactions come to.
func TestSumsAreTheLedgers(t *testing.T) {
	p := newPast(t)
	r := rand.New(rand.NewPCG(7, 30))
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	for n := range 400 {
		p.now = p.now.Add(time.Duration(r.IntN(int(16 * time.Hour))))
		id := fmt.Sprintf("req_%d", n)
		var charge *meter.Charge
		if r.IntN(3) > 0 {
			charge = &meter.Charge{Channel: pick("x", "y", ""), Source: pick("reported", "estimated"), Input: r.Int64N(100), Output: r.Int64N(100)}
		}
		var costs []ledger.CostArgs
		for range r.IntN(4) {
			costs = append(costs, ledger.CostArgs{Channel: pick("x", "y"), Amount: money.Nano(r.Int64N(1000)), Absorbed: r.IntN(2) == 0, Reason: pick("a", "b")})
		}
		p.request(id, pick("cus_a", "cus_b"), pick("m", "n"), charge, money.Nano(r.Int64N(5000)), costs...)
		if r.IntN(5) == 0 {
			_, err := p.Adjust(t.Context(), ledger.AdjustArgs{Customer: pick("cus_a", "cus_b"), Amount: money.Nano(r.Int64N(2000) - 1000), Reason: "r", Actor: "a", Model: pick("m", "n", "")})
			if err != nil && !strings.Contains(err.Error(), "invalid") {
				t.Fatal(err)
			}
		}
		if r.IntN(5) == 0 {
			list, _, err := p.Transactions(t.Context(), ledger.Filter{Limit: 5})
			p.must(err)
			_, _ = p.Reverse(t.Context(), list[r.IntN(len(list))].ID, "r", "a") // refused where it must be
		}
	}
	sums := map[string]map[string]money.Nano{}
	for cursor := ""; ; {
		list, next, err := p.Transactions(t.Context(), ledger.Filter{Cursor: cursor, Limit: 1000})
		p.must(err)
		for _, tx := range list {
			month := tx.At.Format(Layout)
			if sums[month] == nil {
				sums[month] = map[string]money.Nano{}
			}
			for _, posting := range tx.Postings {
				kind, _, _ := strings.Cut(posting.Account, ":")
				sums[month][kind] += posting.Amount
			}
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	if len(sums) < 3 {
		t.Fatalf("a history of %d months", len(sums))
	}
	for month, want := range sums {
		at, err := time.Parse(Layout, month)
		p.must(err)
		got, err := Month(t.Context(), p.Ledger, at)
		p.must(err)
		var rows Sums
		for _, row := range got.Rows {
			rows.Revenue += row.Revenue
			rows.Cost += row.Cost
			rows.Absorbed += row.Absorbed
			rows.Margin += row.Margin
			var why money.Nano
			for _, amount := range row.AbsorbedByReason {
				why += amount
			}
			if why != row.Absorbed || row.Margin != row.Revenue-row.Cost-row.Absorbed {
				t.Errorf("%s: %+v", month, row)
			}
		}
		for name, pair := range map[string][3]money.Nano{
			"revenue": {want["revenue"], got.Total.Revenue, rows.Revenue}, "cost": {want["cost"], got.Total.Cost, rows.Cost},
			"absorbed": {want["absorbed"], got.Total.Absorbed, rows.Absorbed},
			"margin":   {want["revenue"] - want["cost"] - want["absorbed"], got.Total.Margin, rows.Margin},
		} {
			if pair[0] != pair[1] || pair[0] != pair[2] {
				t.Errorf("%s: %s is %s by postings, %s in total, %s by rows", month, name, pair[0], pair[1], pair[2])
			}
		}
	}
}

func TestPlain(t *testing.T) {
	for name, want := range map[string]string{"": "", "m": "m", "=1+1": "'=1+1", "-x": "'-x", "@x": "'@x"} {
		if got := plain(name); got != want {
			t.Errorf("%q became %q", name, got)
		}
	}
}
