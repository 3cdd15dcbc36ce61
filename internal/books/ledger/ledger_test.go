package ledger_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	mathrand "math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
	"rubicon/internal/money"
	"rubicon/internal/store"
	"rubicon/internal/store/storetest"
	"rubicon/internal/wire/ident"
)

const model = "openai/gpt-5.6-terra"

// The suite runs on every database that the store supports.
func TestMain(m *testing.M) { storetest.Main(m) }

// fixture is a ledger on a real database, with the journal that goes with it.
type fixture struct {
	*ledger.Ledger
	db      *store.DB
	journal *journal.Journal
	url     string
}

func open(t testing.TB) *fixture {
	t.Helper()
	url := storetest.URL(t)
	f, closeIt, err := openAt(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(closeIt)
	return f
}

func openAt(ctx context.Context, url string) (*fixture, func(), error) {
	db, err := store.Open(ctx, url, store.Options{})
	if err != nil {
		return nil, nil, err
	}
	if err := db.Migrate(ctx); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	// Seeded by the time: a test opens the same file more than once.
	ids := ident.New(mathrand.NewChaCha8([32]byte{byte(time.Now().UnixNano())}), time.Now)
	f := &fixture{Ledger: ledger.New(db, ids, time.Now), db: db, journal: journal.New(db, time.Now), url: url}
	return f, func() { _ = db.Close() }, nil
}

func (f *fixture) begin(ctx context.Context, request, customer string, amount money.Nano) error {
	return f.db.Write(ctx, func(tx *store.Tx) error {
		if err := f.Hold(tx, ledger.HoldArgs{Request: request, Customer: customer, Model: model, Amount: amount}); err != nil {
			return err
		}
		return f.journal.Begin(tx, journal.Record{RequestID: request, Customer: customer, PublicModel: model})
	}, ledger.Expect(customer, ""))
}

func (f *fixture) settle(ctx context.Context, request, customer string, charge money.Nano) error {
	return f.db.Write(ctx, func(tx *store.Tx) error {
		if err := f.Settle(tx, ledger.SettleArgs{Request: request, Customer: customer, Model: model, Charge: charge}); err != nil {
			return err
		}
		return f.journal.Finish(tx, journal.Record{
			RequestID: request, Customer: customer, PublicModel: model, Outcome: journal.OutcomeCompleted, Charge: charge,
		})
	}, ledger.Expect(customer, request))
}

func (f *fixture) release(ctx context.Context, request, customer string) error {
	return f.db.Write(ctx, func(tx *store.Tx) error { return f.releaseIn(tx, request, customer) }, ledger.Expect(customer, request))
}

func (f *fixture) releaseIn(tx *store.Tx, request, customer string) error {
	if err := f.Release(tx, request, "failed"); err != nil {
		return err
	}
	return f.journal.Finish(tx, journal.Record{
		RequestID: request, Customer: customer, PublicModel: model, Outcome: journal.OutcomeFailed,
	})
}

func (f *fixture) cost(ctx context.Context, a ledger.CostArgs) error {
	return f.db.Write(ctx, func(tx *store.Tx) error { return f.Cost(tx, a) })
}

func (f *fixture) topUp(t testing.TB, customer string, amount money.Nano) ledger.Transaction {
	t.Helper()
	done, err := f.TopUp(t.Context(), ledger.TopUpArgs{Customer: customer, Amount: amount, Reason: "paid", Actor: "test"})
	must(t, err)
	return done
}

func (f *fixture) wantBalance(t testing.TB, customer string, available, held money.Nano) {
	t.Helper()
	got, err := f.Balance(t.Context(), customer)
	must(t, err)
	if want := (ledger.Balance{Available: available, Held: held}); got != want {
		t.Errorf("%s has %v, want %v", customer, got, want)
	}
}

func (f *fixture) wantVerified(t testing.TB, transactions int) {
	t.Helper()
	report, err := f.Verify(t.Context())
	must(t, err)
	if !report.OK || report.Transactions != transactions || len(report.Differences) > 0 {
		t.Errorf("verify: %d transactions, want %d; differences:\n%s",
			report.Transactions, transactions, strings.Join(report.Differences, "\n"))
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantError(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

func TestARequestIsHeldAndSettled(t *testing.T) {
	f := open(t)
	f.topUp(t, "cus_1", 1000)
	must(t, f.begin(t.Context(), "req_1", "cus_1", 400))
	f.wantBalance(t, "cus_1", 600, 400)
	f.wantVerified(t, 2)

	must(t, f.settle(t.Context(), "req_1", "cus_1", 350))
	must(t, f.cost(t.Context(), ledger.CostArgs{Request: "req_1", Customer: "cus_1", Channel: "main", Amount: 280, Attempt: 2}))
	must(t, f.cost(t.Context(), ledger.CostArgs{
		Request: "req_1", Channel: "main", Amount: 75, Attempt: 1, Absorbed: true, Reason: "replay_failed_event",
	}))
	must(t, f.cost(t.Context(), ledger.CostArgs{Request: "req_1", Channel: "main", Attempt: 3}))
	f.wantBalance(t, "cus_1", 650, 0)
	f.wantVerified(t, 5)

	list, next, err := f.Transactions(t.Context(), ledger.Filter{RequestID: "req_1"})
	must(t, err)
	if next != "" {
		t.Errorf("next %q", next)
	}
	var got []string
	for _, tx := range list {
		line := string(tx.Kind)
		for _, p := range tx.Postings {
			line += fmt.Sprintf(" %s %s", p.Account, p.Amount)
		}
		got = append(got, line)
	}
	want := []string{ // newest first
		"cost upstream:main -0.000000075 absorbed:main 0.000000075",
		"cost upstream:main -0.000000280 cost:main 0.000000280",
		"settle customer:cus_1:held -0.000000400 revenue:" + model + " 0.000000350 customer:cus_1:available 0.000000050",
		"hold customer:cus_1:available -0.000000400 customer:cus_1:held 0.000000400",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTransactionJSON(t *testing.T) {
	f := open(t)
	done := f.topUp(t, "cus_1", 10_000_000_000)
	list, _, err := f.Transactions(t.Context(), ledger.Filter{})
	must(t, err)
	if diff := cmp.Diff([]ledger.Transaction{done}, list); diff != "" {
		t.Error(diff)
	}
	text, err := json.Marshal(done)
	must(t, err)
	want := fmt.Sprintf(`{"id":%q,"kind":"topup","request_id":"","customer":"cus_1","at":%q,"postings":[`+
		`{"account":"world","amount":"-10.000000000"},{"account":"customer:cus_1:available","amount":"10.000000000"}],`+
		`"meta":{},"reason":"paid","actor":"test"}`, done.ID, done.At.Format(time.RFC3339Nano))
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

func TestHoldRefuses(t *testing.T) {
	f := open(t)
	f.topUp(t, "cus_1", 100)
	var insufficient *ledger.Insufficient
	if err := f.begin(t.Context(), "req_1", "cus_1", 101); !errors.As(err, &insufficient) ||
		*insufficient != (ledger.Insufficient{Available: 100, Required: 101}) {
		t.Errorf("too much: %v", err)
	}
	for _, much := range []money.Nano{1e18, 1e18 + 1, math.MaxInt64} { // above the bound of an amount too
		if err := f.begin(t.Context(), "req_1", "cus_1", much); !errors.As(err, &insufficient) || insufficient.Required != much {
			t.Errorf("%s: %v", much, err)
		}
	}
	if err := f.begin(t.Context(), "req_2", "cus_nobody", 1); !errors.As(err, &insufficient) || insufficient.Available != 0 {
		t.Errorf("nobody: %v", err)
	}
	must(t, f.begin(t.Context(), "req_3", "cus_1", 100))
	must(t, f.settle(t.Context(), "req_3", "cus_1", 150)) // an overrun
	f.wantBalance(t, "cus_1", -50, 0)
	if err := f.begin(t.Context(), "req_4", "cus_1", 0); !errors.As(err, &insufficient) || insufficient.Available != -50 {
		t.Errorf("below zero: %v", err)
	}
	for _, a := range []ledger.HoldArgs{
		{Customer: "cus_1", Model: model},
		{Request: "req_5", Model: model},
		{Request: "req_5", Customer: "cus_1"},
		{Request: "req_5", Customer: "cus:1", Model: model},
		{Request: "req_5", Customer: "cus_1", Model: model, Amount: -1},
		{Request: "req_5", Customer: "cus_1", Model: model, Meta: json.RawMessage(`[1]`)},
		{Request: "req_5", Customer: "cus_1", Model: model, Meta: json.RawMessage(`{`)},
	} {
		f.topUp(t, "cus_1", 100)
		err := f.db.Write(t.Context(), func(tx *store.Tx) error { return f.Hold(tx, a) })
		wantError(t, err, ledger.ErrInvalid)
	}
}

func TestAHoldOfZeroIsAHold(t *testing.T) {
	f := open(t)
	must(t, f.begin(t.Context(), "req_1", "cus_1", 0))
	holds, err := f.OpenHolds(t.Context())
	must(t, err)
	if len(holds) != 1 || holds[0].Request != "req_1" || holds[0].Customer != "cus_1" || holds[0].Model != model {
		t.Errorf("open holds %v", holds)
	}
	list, _, err := f.Transactions(t.Context(), ledger.Filter{RequestID: "req_1"})
	must(t, err)
	want := []ledger.Posting{{Account: "customer:cus_1:available"}, {Account: "customer:cus_1:held"}}
	if diff := cmp.Diff(want, list[0].Postings); diff != "" {
		t.Error(diff)
	}
	f.wantVerified(t, 1)
	must(t, f.release(t.Context(), "req_1", "cus_1"))
	f.wantVerified(t, 2)
}

func TestAHoldEndsOnce(t *testing.T) {
	f := open(t)
	f.topUp(t, "cus_1", 1000)
	wantError(t, f.settle(t.Context(), "req_none", "cus_1", 1), ledger.ErrNoHold)
	wantError(t, f.release(t.Context(), "req_none", "cus_1"), ledger.ErrNoHold)

	must(t, f.begin(t.Context(), "req_1", "cus_1", 100))
	wantError(t, f.begin(t.Context(), "req_1", "cus_1", 100), store.ErrConflict)
	wantError(t, f.settle(t.Context(), "req_1", "cus_2", 1), ledger.ErrInvalid)
	wantError(t, f.settle(t.Context(), "req_1", "cus_1", -1), ledger.ErrInvalid)
	must(t, f.settle(t.Context(), "req_1", "cus_1", 30))
	wantError(t, f.settle(t.Context(), "req_1", "cus_1", 30), ledger.ErrResolved)
	wantError(t, f.release(t.Context(), "req_1", "cus_1"), ledger.ErrResolved)

	must(t, f.begin(t.Context(), "req_2", "cus_1", 100))
	must(t, f.release(t.Context(), "req_2", "cus_1"))
	wantError(t, f.release(t.Context(), "req_2", "cus_1"), ledger.ErrResolved)
	wantError(t, f.settle(t.Context(), "req_2", "cus_1", 30), ledger.ErrResolved)
	f.wantBalance(t, "cus_1", 970, 0)
	f.wantVerified(t, 5)
}

func TestHoldAndItsEndInOneTransaction(t *testing.T) {
	f := open(t)
	f.topUp(t, "cus_1", 1000)
	err := f.db.Write(t.Context(), func(tx *store.Tx) error {
		if err := f.Hold(tx, ledger.HoldArgs{Request: "req_1", Customer: "cus_1", Model: model, Amount: 10}); err != nil {
			return err
		}
		return f.Release(tx, "req_1", "at once")
	})
	must(t, err)
	f.wantBalance(t, "cus_1", 1000, 0)
	f.wantVerified(t, 3)
}

func TestOneCostPerAttempt(t *testing.T) {
	f := open(t)
	a := ledger.CostArgs{Request: "req_1", Channel: "main", Amount: 1, Attempt: 1}
	must(t, f.cost(t.Context(), a))
	wantError(t, f.cost(t.Context(), a), store.ErrConflict)
	a.Attempt = 2
	must(t, f.cost(t.Context(), a))
	a.Channel = ""
	wantError(t, f.cost(t.Context(), a), ledger.ErrInvalid)
}

func TestTopUpIsIdempotent(t *testing.T) {
	f := open(t)
	a := ledger.TopUpArgs{Customer: "cus_1", Amount: 100, Reason: "paid", Actor: "ann", IdempotencyKey: "k"}
	results := make([]ledger.Transaction, 20)
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() {
			var err error
			if results[i], err = f.TopUp(t.Context(), a); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, r := range results[1:] {
		if diff := cmp.Diff(results[0], r); diff != "" {
			t.Fatal(diff)
		}
	}
	f.wantBalance(t, "cus_1", 100, 0)

	other := a
	other.Amount = 101
	_, err := f.TopUp(t.Context(), other)
	wantError(t, err, ledger.ErrIdempotencyConflict)
	other = a
	other.Reason = "gift"
	_, err = f.TopUp(t.Context(), other)
	wantError(t, err, ledger.ErrIdempotencyConflict)

	other = a
	other.Customer = "cus_2" // the key's scope is the customer
	_, err = f.TopUp(t.Context(), other)
	must(t, err)
	for range 2 { // without a key nothing is the same
		f.topUp(t, "cus_1", 1)
	}
	f.wantBalance(t, "cus_1", 102, 0)
	f.wantVerified(t, 4)
}

func TestCreditsAreChecked(t *testing.T) {
	f := open(t)
	for _, a := range []ledger.TopUpArgs{
		{Customer: "cus_1", Amount: 0, Reason: "r", Actor: "a"},
		{Customer: "cus_1", Amount: -1, Reason: "r", Actor: "a"},
		{Customer: "cus_1", Amount: 1e18 + 1, Reason: "r", Actor: "a"},
		{Customer: "", Amount: 1, Reason: "r", Actor: "a"},
		{Customer: "cus_1", Amount: 1, Actor: "a"},
		{Customer: "cus_1", Amount: 1, Reason: "r"},
	} {
		_, err := f.TopUp(t.Context(), a)
		wantError(t, err, ledger.ErrInvalid)
	}
	for range 9 {
		f.topUp(t, "cus_1", 1e18)
	}
	_, err := f.TopUp(t.Context(), ledger.TopUpArgs{Customer: "cus_1", Amount: 1e18, Reason: "r", Actor: "a"})
	wantError(t, err, money.ErrOverflow)
	f.wantBalance(t, "cus_1", 9e18, 0)
	f.wantVerified(t, 9)
}

func TestAdjustAndReverse(t *testing.T) {
	f := open(t)
	top := f.topUp(t, "cus_1", 1000)
	must(t, f.begin(t.Context(), "req_1", "cus_1", 100))
	must(t, f.settle(t.Context(), "req_1", "cus_1", 40))
	down, err := f.Adjust(t.Context(), ledger.AdjustArgs{Customer: "cus_1", Amount: -60, Reason: "wrong price", Actor: "ann", Model: model})
	must(t, err)
	up, err := f.Adjust(t.Context(), ledger.AdjustArgs{Customer: "cus_1", Amount: 5, Reason: "kindness", Actor: "ann"})
	must(t, err)
	f.wantBalance(t, "cus_1", 905, 0)

	list, _, err := f.Transactions(t.Context(), ledger.Filter{RequestID: "req_1", Kind: ledger.KindSettle})
	must(t, err)
	reversed := func(id string, available money.Nano, want ...ledger.Posting) {
		t.Helper()
		done, err := f.Reverse(t.Context(), id, "a mistake", "bob")
		must(t, err)
		if diff := cmp.Diff(want, done.Postings); diff != "" || done.Reverses != id {
			t.Errorf("reverses %s: %s", done.Reverses, diff)
		}
		f.wantBalance(t, "cus_1", available, 0)
		_, err = f.Reverse(t.Context(), id, "again", "bob")
		wantError(t, err, ledger.ErrReversed)
		_, err = f.Reverse(t.Context(), done.ID, "the reversal", "bob")
		wantError(t, err, ledger.ErrNotReversible)
	}
	available := "customer:cus_1:available"
	reversed(list[0].ID, 945, ledger.Posting{Account: "revenue:" + model, Amount: -40}, ledger.Posting{Account: available, Amount: 40})
	reversed(down.ID, 1005, ledger.Posting{Account: "revenue:" + model, Amount: -60}, ledger.Posting{Account: available, Amount: 60})
	reversed(up.ID, 1000, ledger.Posting{Account: "world", Amount: 5}, ledger.Posting{Account: available, Amount: -5})
	reversed(top.ID, 0, ledger.Posting{Account: "world", Amount: 1000}, ledger.Posting{Account: available, Amount: -1000})

	holds, _, err := f.Transactions(t.Context(), ledger.Filter{Kind: ledger.KindHold})
	must(t, err)
	_, err = f.Reverse(t.Context(), holds[0].ID, "r", "a")
	wantError(t, err, ledger.ErrNotReversible)
	_, err = f.Reverse(t.Context(), "tx_none", "r", "a")
	wantError(t, err, ledger.ErrNotFound)
	_, err = f.Reverse(t.Context(), top.ID, "", "a")
	wantError(t, err, ledger.ErrInvalid)
	// The reversal of a settle is found by the request too.
	list, _, err = f.Transactions(t.Context(), ledger.Filter{RequestID: "req_1"})
	must(t, err)
	if len(list) != 3 || list[0].Kind != ledger.KindReverse {
		t.Errorf("got %v", list)
	}
	f.wantVerified(t, 9)
}

func TestConcurrentReversalsAreOne(t *testing.T) {
	f := open(t)
	top := f.topUp(t, "cus_1", 1000)
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		done int
	)
	for range 20 {
		wg.Go(func() {
			_, err := f.Reverse(t.Context(), top.ID, "r", "a")
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				done++
			} else if !errors.Is(err, ledger.ErrReversed) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if done != 1 {
		t.Errorf("%d reversals", done)
	}
	f.wantBalance(t, "cus_1", 0, 0)
}

func TestTransactionsArePaged(t *testing.T) {
	f := open(t)
	var want []string
	for i := range 25 {
		tx := f.topUp(t, fmt.Sprintf("cus_%d", i%2), 1)
		want = append([]string{tx.ID}, want...)
	}
	var got []string
	f2 := ledger.Filter{Limit: 7}
	for pages := 0; ; pages++ {
		list, next, err := f.Transactions(t.Context(), f2)
		must(t, err)
		for _, tx := range list {
			got = append(got, tx.ID)
			if len(tx.Postings) != 2 {
				t.Errorf("%d postings", len(tx.Postings))
			}
		}
		if f2.Cursor = next; next == "" {
			if pages != 3 {
				t.Errorf("%d full pages", pages)
			}
			break
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	list, _, err := f.Transactions(t.Context(), ledger.Filter{Customer: "cus_1", Kind: ledger.KindTopUp})
	must(t, err)
	if len(list) != 12 {
		t.Errorf("%d of cus_1", len(list))
	}
	list, _, err = f.Transactions(t.Context(), ledger.Filter{RequestID: "req_none"})
	must(t, err)
	if list == nil || len(list) != 0 {
		t.Errorf("got %v", list)
	}
	_, _, err = f.Transactions(t.Context(), ledger.Filter{Kind: "gift' OR 1=1 --"})
	wantError(t, err, ledger.ErrInvalid)
}

func TestParallelHoldsNeverOverspend(t *testing.T) {
	f := open(t)
	f.topUp(t, "cus_1", 1000)
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		held int
	)
	for i := range 200 {
		wg.Go(func() {
			request := fmt.Sprintf("req_%d", i)
			err := f.begin(t.Context(), request, "cus_1", 90)
			var insufficient *ledger.Insufficient
			if errors.As(err, &insufficient) {
				return
			}
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			held++
			mu.Unlock()
			if i%2 == 0 {
				return // stays open
			}
			if err := f.settle(t.Context(), request, "cus_1", 90); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if held != 11 {
		t.Errorf("%d holds of 90 out of 1000", held)
	}
	b, err := f.Balance(t.Context(), "cus_1")
	must(t, err)
	if b.Available != 10 {
		t.Errorf("got %v", b)
	}
	report, err := f.Verify(t.Context())
	must(t, err)
	if !report.OK {
		t.Error(report.Differences)
	}
}
