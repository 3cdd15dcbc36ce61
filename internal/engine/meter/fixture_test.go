package meter_test

import (
	"context"
	"log/slog"
	mathrand "math/rand/v2"
	"testing"
	"time"

	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
	"rubicon/internal/books/state"
	"rubicon/internal/engine/meter"
	"rubicon/internal/money"
	"rubicon/internal/money/price"
	"rubicon/internal/store"
	"rubicon/internal/store/storetest"
	"rubicon/internal/wire/ident"
)

const (
	customer = "cus_1"
	model    = "m"
)

// The suite runs on every database that the store supports.
func TestMain(m *testing.M) { storetest.Main(m) }

// fixture is books over a real database.
type fixture struct {
	*meter.Bookkeeper
	t       testing.TB
	db      *store.DB
	ledger  *ledger.Ledger
	journal *journal.Journal
	states  *state.States
}

func open(t testing.TB) *fixture {
	t.Helper()
	f := openAt(t, storetest.URL(t))
	t.Cleanup(func() { _ = f.db.Close() })
	return f
}

// openAt does not close: a test of a crash opens the same file again.
func openAt(t testing.TB, url string) *fixture {
	t.Helper()
	db := storetest.OpenURL(t, url)
	ids := ident.New(mathrand.NewChaCha8([32]byte{byte(time.Now().UnixNano())}), time.Now)
	f := &fixture{t: t, db: db, ledger: ledger.New(db, ids, time.Now), journal: journal.New(db, time.Now), states: state.New(db, time.Now)}
	f.Bookkeeper = meter.NewBookkeeper(db, f.ledger, f.journal, f.states, time.Now)
	return f
}

func (f *fixture) credit(amount money.Nano) {
	f.t.Helper()
	if _, err := f.ledger.TopUp(context.Background(), ledger.TopUpArgs{Customer: customer, Amount: amount, Reason: "test", Actor: "test"}); err != nil {
		f.t.Fatal(err)
	}
}

// begin opens a request that holds a cent, with an input estimate of 100.
func (f *fixture) begin(id string, change ...func(*meter.RequestStart)) error {
	o := meter.RequestStart{Held: usd / 100, Billing: meter.Billing{InputEstimate: 100, BytesPerToken: 4},
		Record: journal.Record{RequestID: id, Customer: customer, PublicModel: model, Outcome: journal.OutcomeRunning}}
	for _, c := range change {
		c(&o)
	}
	return f.Open(context.Background(), o)
}

func (f *fixture) mustBegin(id string, change ...func(*meter.RequestStart)) {
	f.t.Helper()
	if err := f.begin(id, change...); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) balance(available, held money.Nano) {
	f.t.Helper()
	b, err := f.ledger.Balance(context.Background(), customer)
	if err != nil {
		f.t.Fatal(err)
	}
	if b.Available != available || b.Held != held {
		f.t.Errorf("%s available and %s held, want %s and %s", b.Available, b.Held, available, held)
	}
}

func (f *fixture) record(id string) journal.Record {
	f.t.Helper()
	r, err := f.journal.Get(context.Background(), id)
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

// verified wants a ledger without a difference.
func (f *fixture) verified() {
	f.t.Helper()
	report, err := f.ledger.Verify(context.Background())
	if err != nil {
		f.t.Fatal(err)
	}
	if !report.OK {
		f.t.Errorf("the ledger differs: %q", report.Differences)
	}
}

// costsOf sums what a request cost the operator.
func (f *fixture) costsOf(id string) (paid, absorbed money.Nano) {
	f.t.Helper()
	list, _, err := f.ledger.Transactions(context.Background(), ledger.Filter{RequestID: id, Kind: ledger.KindCost})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, tx := range list {
		for _, p := range tx.Postings {
			switch p.Account {
			case "cost:ch":
				paid += p.Amount
			case "absorbed:ch":
				absorbed += p.Amount
			}
		}
	}
	return paid, absorbed
}

func (f *fixture) recover() int {
	f.t.Helper()
	priceOf := func(version string) (price.List, bool) { return prices, version != "gone" }
	costOf := func(channel, name string) (price.List, bool) { return costs, channel == "ch" && name == model }
	n, err := f.Recover(context.Background(), "", priceOf, costOf, slog.New(slog.DiscardHandler))
	if err != nil {
		f.t.Fatal(err)
	}
	return n
}
