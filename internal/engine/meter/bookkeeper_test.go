package meter_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
	"rubicon/internal/books/state"
	"rubicon/internal/engine/billing"
	"rubicon/internal/engine/meter"

	"rubicon/internal/store/storetest"
)

func TestOpenThenClose(t *testing.T) {
	f := open(t)
	f.credit(usd)
	f.mustBegin("req_1")
	f.balance(usd-usd/100, usd/100)
	if r := f.record("req_1"); r.Outcome != journal.OutcomeRunning {
		t.Errorf("begun as %s", r.Outcome)
	}

	b, err := billing.Make(request(billing.ReceivedAnswer, attempt(1, nil, true, "replay_read_error"), attempt(2, seen(), true, "answered")))
	if err != nil {
		t.Fatal(err)
	}
	c := meter.RequestEnd{Bill: b, Record: journal.Record{RequestID: "req_1", Customer: customer, PublicModel: model, Outcome: journal.OutcomeCompleted,
		Charge: b.Charge, Usage: b.Usage, Lines: b.Lines, PriceVersion: "v1"},
		State: []state.Entry{{Kind: state.KindResponse, ID: "resp_1", Origin: "ch/k1", Channel: "ch", Tokens: 15}}}
	if err := f.Close(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	f.balance(usd-350_000, 0)
	if paid, absorbed := f.costsOf("req_1"); paid != 175_000 || absorbed != 500_000 {
		t.Errorf("cost %s, absorbed %s", paid, absorbed)
	}
	if r := f.record("req_1"); r.Outcome != journal.OutcomeCompleted || r.Charge != 350_000 || r.Usage.Source != "reported" {
		t.Errorf("on record: %+v", r)
	}
	e, ok, err := f.states.Lookup(t.Context(), customer, state.KindResponse, "resp_1")
	if err != nil || !ok || e.Origin != "ch/k1" || e.Tokens != 15 {
		t.Errorf("remembered %+v, %v, %v", e, ok, err)
	}
	f.verified()

	if err := f.Close(t.Context(), c); !errors.Is(err, ledger.ErrResolved) {
		t.Errorf("closed twice: %v", err)
	}
	f.balance(usd-350_000, 0)
	f.verified()
}

func TestCloseReleases(t *testing.T) {
	f := open(t)
	f.credit(usd)
	f.mustBegin("req_1")
	b, err := billing.Make(request(billing.ReceivedNothing, attempt(1, nil, true, "header_timeout")))
	if err != nil {
		t.Fatal(err)
	}
	err = f.Close(t.Context(), meter.RequestEnd{Bill: b, Reason: "header_timeout",
		Record: journal.Record{RequestID: "req_1", Customer: customer, PublicModel: model, Outcome: journal.OutcomeFailed}})
	if err != nil {
		t.Fatal(err)
	}
	f.balance(usd, 0)
	list, _, err := f.ledger.Transactions(t.Context(), ledger.Filter{RequestID: "req_1", Kind: ledger.KindRelease})
	if err != nil || len(list) != 1 || list[0].Reason != "header_timeout" {
		t.Errorf("%+v, %v", list, err)
	}
	f.verified()
}

// TestCloseIsOneTransaction: where the ledger refuses, nothing is written.
func TestCloseIsOneTransaction(t *testing.T) {
	f := open(t)
	f.credit(usd)
	f.mustBegin("req_1")
	bad := meter.RequestEnd{Record: journal.Record{RequestID: "req_1", Customer: "cus_other", PublicModel: model, Outcome: journal.OutcomeCompleted},
		Bill:  billing.Bill{Charged: true, Charge: 1, Costs: []ledger.CostArgs{cost(1, 5)}},
		State: []state.Entry{{Kind: state.KindResponse, ID: "resp_1", Origin: "o"}}}
	if err := f.Close(t.Context(), bad); !errors.Is(err, ledger.ErrInvalid) {
		t.Fatalf("another customer's hold: %v", err)
	}
	f.balance(usd-usd/100, usd/100)
	if r := f.record("req_1"); r.Outcome != journal.OutcomeRunning {
		t.Errorf("the record was finished: %s", r.Outcome)
	}
	if paid, _ := f.costsOf("req_1"); paid != 0 {
		t.Errorf("a cost of %s was booked", paid)
	}
	if _, ok, _ := f.states.Lookup(t.Context(), "cus_other", state.KindResponse, "resp_1"); ok {
		t.Error("an id was remembered")
	}
	f.verified()
}

func TestInsufficientLeavesNothing(t *testing.T) {
	f := open(t)
	f.credit(usd / 200)
	err := f.begin("req_1")
	var short *ledger.Insufficient
	if !errors.As(err, &short) || short.Available != usd/200 || short.Required != usd/100 {
		t.Fatalf("%v", err)
	}
	f.balance(usd/200, 0)
	if _, err := f.journal.Get(t.Context(), "req_1"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("there is a record: %v", err)
	}
	f.verified()

	r := journal.Record{RequestID: "req_1", Customer: customer, PublicModel: model, Error: &journal.Error{Code: "insufficient_balance"}}
	if err := f.Reject(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if r := f.record("req_1"); r.Outcome != journal.OutcomeRejected || r.Charge != 0 || r.Error.Code != "insufficient_balance" {
		t.Errorf("%+v", r)
	}
	f.verified()
}

// TestParallelHolds: many at once never hold more than there is.
func TestParallelHolds(t *testing.T) {
	f := open(t)
	f.credit(usd / 10) // ten holds of a cent
	var wg sync.WaitGroup
	var mu sync.Mutex
	granted := 0
	for i := range 60 {
		wg.Go(func() {
			if f.begin(fmt.Sprintf("req_%d", i)) == nil {
				mu.Lock()
				granted++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if granted != 10 {
		t.Errorf("%d holds were granted", granted)
	}
	f.balance(0, usd/10)
	f.verified()
}

func TestFree(t *testing.T) {
	f := open(t)
	f.mustBegin("req_1", func(o *meter.RequestStart) { o.Uncharged, o.Held = true, 0 })
	err := f.Close(t.Context(), meter.RequestEnd{Uncharged: true,
		Record: journal.Record{RequestID: "req_1", Customer: customer, PublicModel: model, Outcome: journal.OutcomeCompleted}})
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := f.ledger.Transactions(t.Context(), ledger.Filter{})
	if err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	f.verified()
}

// running is the progress on record.
func (f *fixture) running() map[string]journal.Progress {
	f.t.Helper()
	list, err := f.journal.Running(context.Background())
	if err != nil {
		f.t.Fatal(err)
	}
	out := map[string]journal.Progress{}
	for _, r := range list {
		p := r.Progress
		p.At = time.Time{}
		out[r.Record.RequestID] = p
	}
	return out
}

func TestProgress(t *testing.T) {
	url := storetest.URL(t)
	synctest.Test(t, func(t *testing.T) {
		f := openAt(t, url)
		f.credit(usd)
		f.mustBegin("req_1")
		f.mustBegin("req_2")
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			if err := f.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		live, untrack := f.Track("req_1")
		_, untrackIdle := f.Track("req_2")
		if n := f.Running(); n != 2 {
			t.Errorf("%d are running", n)
		}
		live.SetAttempt(meter.RunningAttempt{Attempt: 1, Channel: "ch", Credential: "k1", UpstreamModel: "up"})
		live.Events.Store(3)
		live.Bytes.Store(20)
		const note = `{"attempt":1,"channel":"ch","credential":"k1","upstream_model":"up"}`

		time.Sleep(999 * time.Millisecond)
		synctest.Wait()
		if diff := cmp.Diff(map[string]journal.Progress{"req_1": {}, "req_2": {}}, f.running()); diff != "" {
			t.Errorf("before a second:\n%s", diff)
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		want := map[string]journal.Progress{"req_1": {OutputEvents: 3, DeliveredBytes: 20, Note: note}, "req_2": {}}
		if diff := cmp.Diff(want, f.running()); diff != "" {
			t.Errorf("after a second:\n%s", diff)
		}

		live.Bytes.Store(40)
		untrack() // what has left the board is noted no more
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if diff := cmp.Diff(want, f.running()); diff != "" {
			t.Errorf("after its end:\n%s", diff)
		}
		untrackIdle()
		if n := f.Running(); n != 0 {
			t.Errorf("%d are still running", n)
		}
		cancel()
		running.Wait()
		if err := f.db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestProgressTriesAgain: what could not be noted is noted at the next tick.
func TestProgressTriesAgain(t *testing.T) {
	url := storetest.URL(t)
	synctest.Test(t, func(t *testing.T) {
		f := openAt(t, url)
		f.credit(usd)
		f.mustBegin("req_1")
		live, untrack := f.Track("req_1")
		defer untrack()
		live.Events.Store(1)
		failing, stop := context.WithCancel(t.Context())
		stop()
		meter.Note(f.Bookkeeper, failing)
		if got := f.running()["req_1"].OutputEvents; got != 0 {
			t.Fatalf("%d events were noted without a database", got)
		}
		meter.Note(f.Bookkeeper, t.Context())
		if got := f.running()["req_1"].OutputEvents; got != 1 {
			t.Errorf("%d events are on record, want 1", got)
		}
		if err := f.db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestRefunds: the record tells of the reversal of its settlement, and of no
// other.
func TestRefunds(t *testing.T) {
	f := open(t)
	f.credit(usd)
	for _, id := range []string{"req_1", "req_2"} {
		f.mustBegin(id)
		r := journal.Record{RequestID: id, Customer: customer, PublicModel: model, Outcome: journal.OutcomeCompleted, Charge: 350_000}
		if err := f.Close(t.Context(), meter.RequestEnd{Record: r, Bill: billing.Bill{Charged: true, Charge: 350_000}}); err != nil {
			t.Fatal(err)
		}
	}
	list, _, err := f.ledger.Transactions(t.Context(), ledger.Filter{RequestID: "req_1", Kind: ledger.KindSettle})
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	back, err := f.ledger.Reverse(t.Context(), list[0].ID, "a bad answer", "alice")
	if err != nil {
		t.Fatal(err)
	}
	corrected, err := f.ledger.Adjust(t.Context(), ledger.AdjustArgs{Customer: customer, Request: "req_2", Amount: 5, Reason: "r", Actor: "bob"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.ledger.Reverse(t.Context(), corrected.ID, "a mistake", "bob"); err != nil {
		t.Fatal(err)
	}
	want := &ledger.Refund{Amount: 350_000, At: back.At, Reason: "a bad answer"}
	if diff := cmp.Diff(want, f.record("req_1").Refunded); diff != "" {
		t.Error(diff)
	}
	if r := f.record("req_2"); r.Refunded != nil || r.Charge != 350_000 {
		t.Errorf("%+v", r.Refunded)
	}
	page, _, err := f.journal.List(t.Context(), journal.Filter{})
	if err != nil || len(page) != 2 {
		t.Fatal(page, err)
	}
	for _, r := range page {
		if (r.Refunded != nil) != (r.RequestID == "req_1") {
			t.Errorf("%s in a list: %+v", r.RequestID, r.Refunded)
		}
	}
}
