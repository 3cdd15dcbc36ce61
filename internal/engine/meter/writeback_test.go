package meter_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
	"rubicon/internal/books/state"
	"rubicon/internal/engine/billing"
	"rubicon/internal/engine/meter"
	"rubicon/internal/money/price"
	"rubicon/internal/store"
	"rubicon/internal/store/spool"
	"rubicon/internal/store/storetest"
)

// queued gives the books a queue on disk.
func (f *fixture) queued(t *testing.T) *spool.Spool {
	t.Helper()
	s, err := spool.Create(t.TempDir(), "test", spool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	f.Queue(s, slog.New(slog.DiscardHandler), nil)
	return s
}

func (f *fixture) replay(s *spool.Spool) int {
	f.t.Helper()
	n, err := f.WriteBack(context.Background(), s)
	if err != nil {
		f.t.Fatal(err)
	}
	if waiting, _ := s.Waiting(); waiting != 0 {
		f.t.Errorf("%d wait after a replay", waiting)
	}
	return n
}

// answered is the end of a request with everything that an end can have.
func answered(t *testing.T, id string) meter.RequestEnd {
	t.Helper()
	c := request(billing.ReceivedAnswer, attempt(1, nil, true, "replay_read_error"), attempt(2, seen(), true, "answered"))
	c.Request = id
	b, err := billing.Make(c)
	if err != nil {
		t.Fatal(err)
	}
	b.Usage.Flags, b.Usage.Tools = []string{"unpriced"}, map[string]int64{"web_search": 2}
	at := time.Date(2026, 7, 30, 12, 0, 0, 123e6, time.UTC)
	return meter.RequestEnd{Bill: b, Reason: "answered", State: []state.Entry{{Kind: state.KindResponse, ID: "resp_" + id, Origin: "ch/k1", Channel: "ch", StoreOff: true, Tokens: 15}},
		Record: journal.Record{RequestID: id, Customer: customer, Key: "key_1", ClientRequestID: "theirs", Surface: journal.SurfaceChat, Stream: true,
			PublicModel: model, UpstreamModel: "up", ResponseID: "resp_" + id, Outcome: journal.OutcomeCompleted, Error: &journal.Error{Code: "c", Type: "t"},
			AfterOutput: true, Usage: b.Usage, Charge: b.Charge, Lines: b.Lines, PriceVersion: "v1", StartedAt: at, FinishedAt: at.Add(time.Second),
			Times: journal.Times{Queue: 1, ChargeHold: 2, EventHold: 3, FirstEvent: 4, FirstOutput: 5, Total: 6}, Delivered: journal.Delivered{Events: 7, Bytes: 8},
			Attempts:  []journal.Attempt{{N: 1, Channel: "ch", Credential: "k1", Status: 200, Failure: "read_error", Cost: 5, UpstreamRequestID: "x", StartedAt: at}},
			Decisions: []journal.Decision{{N: 1, Chosen: "ch", Candidates: []journal.Candidate{{Channel: "ch", State: "closed", Weight: 1, EffectiveWeight: .5}}}},
			Notes:     []string{"a note"}, Node: "node_1"}}
}

// TestEndsWaitForTheDatabase: what the database cannot be told is told later,
// whole, once, and by another process if need be.
func TestEndsWaitForTheDatabase(t *testing.T) {
	url := storetest.URL(t)
	before := openAt(t, url)
	before.credit(usd)
	q := before.queued(t)
	for _, id := range []string{"req_1", "req_2", "req_3"} {
		before.mustBegin(id)
	}
	if err := before.Close(t.Context(), answered(t, "req_1")); err != nil {
		t.Fatal(err)
	}
	if n, _ := q.Waiting(); n != 0 || before.DatabaseAway() {
		t.Errorf("%d wait, away %t, with a database that is there", n, before.DatabaseAway())
	}
	if err := before.db.Close(); err != nil { // it is away, whatever the reason
		t.Fatal(err)
	}
	for _, c := range []meter.RequestEnd{answered(t, "req_2"), {Reason: "header_timeout",
		Record: journal.Record{RequestID: "req_3", Customer: customer, PublicModel: model, Outcome: journal.OutcomeFailed}}} {
		if err := before.Close(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	refused := journal.Record{RequestID: "req_4", Customer: customer, PublicModel: model, Error: &journal.Error{Code: "store_unavailable", Type: "server_error"}}
	if err := before.Reject(t.Context(), refused); err != nil {
		t.Fatal(err)
	}
	if err := before.begin("req_5"); !errors.Is(err, store.ErrClosed) {
		t.Errorf("a hold without a database: %v", err)
	}
	if n, since := q.Waiting(); n != 3 || since.IsZero() || !before.DatabaseAway() {
		t.Errorf("%d wait since %v, away %t", n, since, before.DatabaseAway())
	}
	// Once more, as after a crash in the middle of telling.
	if err := meter.Later(before.Bookkeeper, answered(t, "req_2")); err != nil {
		t.Fatal(err)
	}

	f := openAt(t, url)
	t.Cleanup(func() { _ = f.db.Close() })
	if n := f.replay(q); n != 4 {
		t.Errorf("told %d", n)
	}
	f.balance(usd-700_000, 0)
	f.verified()
	direct, late := f.record("req_1"), f.record("req_2")
	direct.RequestID, direct.ResponseID = late.RequestID, late.ResponseID
	if diff := cmp.Diff(direct, late); diff != "" {
		t.Errorf("written at once (-) and later (+):\n%s", diff)
	}
	for id, want := range map[string]journal.Outcome{"req_3": journal.OutcomeFailed, "req_4": journal.OutcomeRejected} {
		if r := f.record(id); r.Outcome != want {
			t.Errorf("%s is %s", id, r.Outcome)
		}
	}
	if _, ok, err := f.states.Lookup(t.Context(), customer, state.KindResponse, "resp_req_2"); err != nil || !ok {
		t.Errorf("the answer's id: %t, %v", ok, err)
	}
	if n := f.recover(); n != 0 {
		t.Errorf("%d were left for recovery", n)
	}
}

// TestALeavingClientIsNoOutage: who gives up says nothing about the database.
func TestALeavingClientIsNoOutage(t *testing.T) {
	f := open(t)
	f.credit(usd)
	f.queued(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := f.Open(ctx, meter.RequestStart{Held: 1, Record: journal.Record{RequestID: "req_1", Customer: customer, PublicModel: model}})
	if !errors.Is(err, context.Canceled) || f.DatabaseAway() {
		t.Errorf("%v, away %t", err, f.DatabaseAway())
	}
}

// TestAnOpeningInDoubt: a hold of which nobody knows whether it was made is
// given back if it was.
func TestAnOpeningInDoubt(t *testing.T) {
	f := open(t)
	f.credit(usd)
	q := f.queued(t)
	f.mustBegin("req_made")
	f.mustBegin("req_settled")
	if err := f.Close(t.Context(), answered(t, "req_settled")); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"req_made", "req_never", "req_settled"} {
		meter.MakeUncertain(f.Bookkeeper, meter.RequestEnd{Reason: "store_unavailable",
			Record: journal.Record{RequestID: id, Customer: customer, PublicModel: model, Outcome: journal.OutcomeRejected}})
	}
	f.replay(q)
	f.balance(usd-350_000, 0)
	f.verified()
	for id, want := range map[string]journal.Outcome{"req_made": journal.OutcomeRejected, "req_never": journal.OutcomeRejected, "req_settled": journal.OutcomeCompleted} {
		if r := f.record(id); r.Outcome != want {
			t.Errorf("%s is %s", id, r.Outcome)
		}
	}
}

// TestTheTruthComesLate: another node resolved the request by estimate; what it
// really cost replaces that, once.
func TestTheTruthComesLate(t *testing.T) {
	f := open(t)
	f.credit(usd)
	q := f.queued(t)
	released := meter.RequestEnd{Reason: "x", Record: journal.Record{RequestID: "req_released", Customer: customer, PublicModel: model, Outcome: journal.OutcomeFailed}}
	for _, id := range []string{"req_dearer", "req_cheaper", "req_released"} {
		f.mustBegin(id)
		if id != "req_dearer" {
			f.progressed(id, 3, 4000, &second) // far more than it will turn out to be
		}
	}
	if n := f.recover(); n != 3 {
		t.Fatalf("recovered %d", n)
	}
	for range 2 {
		for _, c := range []meter.RequestEnd{answered(t, "req_dearer"), answered(t, "req_cheaper"), released} {
			if err := f.Close(t.Context(), c); err != nil { // directly
				t.Errorf("%s: %v", c.Record.RequestID, err)
			}
			if err := meter.Later(f.Bookkeeper, c); err != nil { // and out of the queue
				t.Error(err)
			}
		}
		f.replay(q)
	}
	f.balance(usd-2*350_000, 0)
	f.verified()
	for id, want := range map[string]int{"req_dearer": 1, "req_cheaper": 1, "req_released": 1} {
		list, _, err := f.ledger.Transactions(t.Context(), ledger.Filter{RequestID: id, Kind: ledger.KindAdjust})
		if err != nil || len(list) != want {
			t.Errorf("%s: %d adjustments, %v", id, len(list), err)
		}
	}
}

// TestAnEndThatCannotBeWritten does not keep the others waiting.
func TestAnEndThatCannotBeWritten(t *testing.T) {
	f := open(t)
	f.credit(usd)
	q := f.queued(t)
	var said strings.Builder
	f.Queue(q, slog.New(slog.NewTextHandler(&said, nil)), nil)
	f.mustBegin("req_1")
	wrong := answered(t, "req_1")
	wrong.Record.Customer = "cus_other"
	later := func(c meter.RequestEnd) {
		if err := meter.Later(f.Bookkeeper, c); err != nil {
			t.Fatal(err)
		}
	}
	later(wrong)
	f.replay(q) // by itself: what waits together is told at the same time, in any order
	later(answered(t, "req_unknown"))
	later(answered(t, "req_1"))
	if err := q.Append([]byte("nonsense")); err != nil {
		t.Fatal(err)
	}
	f.replay(q)
	f.balance(usd-350_000, 0)
	f.verified()
	if n := strings.Count(said.String(), "cannot be written"); n != 3 {
		t.Errorf("%d complaints:\n%s", n, said.String())
	}
}

// TestTwoRecoverAtOnce: nodes that take over the same dead one at the same time
// resolve each request once.
func TestTwoRecoverAtOnce(t *testing.T) {
	url := storetest.URL(t)
	dead := openAt(t, url)
	dead.credit(usd)
	for i := range 40 {
		id := "req_" + string(rune('a'+i%26)) + string(rune('a'+i/26))
		dead.mustBegin(id)
		dead.progressed(id, 1, 20, &second)
	}
	if err := dead.db.Close(); err != nil {
		t.Fatal(err)
	}
	a, b := openAt(t, url), openAt(t, url)
	defer a.db.Close()
	defer b.db.Close()
	other := make(chan int)
	go func() { other <- b.mayRecover() }()
	if n := a.mayRecover() + <-other; n != 40 {
		t.Errorf("%d were resolved", n)
	}
	a.balance(usd-40*1_250_000, 0)
	a.verified()
}

// mayRecover is recover where another node may have been quicker.
func (f *fixture) mayRecover() int {
	priceOf := func(string) (price.List, bool) { return prices, true }
	costOf := func(string, string) (price.List, bool) { return costs, true }
	n, err := f.Recover(context.Background(), "", priceOf, costOf, slog.New(slog.DiscardHandler))
	if err != nil {
		f.t.Error(err)
	}
	return n
}
