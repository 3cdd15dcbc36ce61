package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/books/journal"
	"rubicon/internal/store"
	"rubicon/internal/store/storetest"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 123_456_789, time.FixedZone("east", 3600))

// The suite runs on every database that the store supports.
func TestMain(m *testing.M) { storetest.Main(m) }

type fixture struct {
	*journal.Journal
	db  *store.DB
	now time.Time
}

func open(t *testing.T) *fixture {
	t.Helper()
	db := storetest.Open(t)
	f := &fixture{db: db, now: start}
	f.Journal = journal.New(db, func() time.Time { return f.now })
	return f
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

type step func(tx *store.Tx, r journal.Record) error

func (f *fixture) write(t *testing.T, do step, r journal.Record) {
	t.Helper()
	must(t, f.db.Write(t.Context(), func(tx *store.Tx) error { return do(tx, r) }))
}

// full is a record with a value in every field.
func full() journal.Record {
	return journal.Record{
		RequestID: "req_1", Customer: "cus_1", Key: "key_1", ClientRequestID: "mine-1", Surface: journal.SurfaceResponsesWS,
		Stream: true, PublicModel: "openai/x", UpstreamModel: "x-2026", ResponseID: "resp_1", Outcome: journal.OutcomePartial,
		Error: &journal.Error{Code: "stream_read_error", Type: "server_error"}, AfterOutput: true,
		Usage: journal.Usage{Input: 10, CachedInput: 20, CacheWrite: 30, Output: 5, Tools: map[string]int64{"web_search": 2},
			Source: journal.SourceReported, Flags: []string{"overrun"}},
		Charge: 350_000, Lines: []journal.Line{{Class: "input", Units: 10, Price: "10", Amount: 100_000}}, PriceVersion: "p1",
		StartedAt: start, FinishedAt: start.Add(80 * time.Millisecond),
		Times:     journal.Times{Queue: 1, ChargeHold: 2, EventHold: 30, FirstEvent: 40, FirstOutput: 41, Total: 80},
		Delivered: journal.Delivered{Events: 7, Bytes: 700},
		Attempts: []journal.Attempt{{N: 1, Channel: "main", Credential: "k1", UpstreamModel: "x-2026", Status: 200, Outcome: "failed",
			Failure: "failed_event", Code: "server_is_overloaded", MayHaveExecuted: true, Verdict: "replay", Reason: "replay_failed_event",
			Events: 2, Bytes: 512, Cost: 75_000, UpstreamRequestID: "up_1", StartedAt: start, FirstEventMS: 12, MS: 40}},
		Decisions: []journal.Decision{
			{N: 1, Chosen: "main", Candidates: []journal.Candidate{
				{Channel: "main", State: "closed", Priority: 1, Weight: 100, EffectiveWeight: 50},
				{Channel: "eu", State: "open", Excluded: "open"}}},
			{N: 2, Reason: "no_channel_left", Candidates: []journal.Candidate{}}},
		Notes: []string{"atomic_over_bound"},
	}
}

// stored is how a record comes back.
func stored(r journal.Record) journal.Record {
	r.StartedAt = r.StartedAt.UTC().Truncate(time.Millisecond)
	if !r.FinishedAt.IsZero() {
		r.FinishedAt = r.FinishedAt.UTC().Truncate(time.Millisecond)
	}
	r.Attempts = slices.Clone(r.Attempts)
	for i := range r.Attempts {
		r.Attempts[i].StartedAt = r.Attempts[i].StartedAt.UTC().Truncate(time.Millisecond)
	}
	return r
}

func TestARecordComesBackAsItWas(t *testing.T) {
	f := open(t)
	running := full()
	running.Outcome, running.FinishedAt, running.Charge = journal.OutcomeRunning, time.Time{}, 0
	running.Usage = journal.Usage{}
	running.Node, running.Billing = "node_1", json.RawMessage(`{"input_estimate":1500}`)
	f.write(t, f.Begin, running)
	got, err := f.Get(t.Context(), "req_1")
	must(t, err)
	want := stored(running)
	want.Usage = journal.Usage{Tools: map[string]int64{}, Source: "none", Flags: []string{}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("running: %s", diff)
	}

	final := full()
	final.Node = "node_1"
	f.write(t, f.Finish, final)
	got, err = f.Get(t.Context(), "req_1")
	must(t, err)
	if diff := cmp.Diff(stored(final), got); diff != "" {
		t.Errorf("final: %s", diff)
	}
	_, err = f.Get(t.Context(), "req_2")
	if !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

func TestAFinalRecordStays(t *testing.T) {
	f := open(t)
	f.write(t, f.Begin, full())
	f.write(t, f.Finish, full())
	again := full()
	again.Outcome = journal.OutcomeFailed
	f.write(t, f.Finish, again)
	got, err := f.Get(t.Context(), "req_1")
	must(t, err)
	if got.Outcome != journal.OutcomePartial {
		t.Errorf("outcome %s", got.Outcome)
	}
	running, err := f.Running(t.Context())
	must(t, err)
	if len(running) != 0 {
		t.Errorf("running %v", running)
	}
}

func TestRejectedAndOtherOutcomes(t *testing.T) {
	f := open(t)
	f.now = start.Add(time.Second)
	f.write(t, f.Reject, journal.Record{RequestID: "req_r", Customer: "cus_1", StartedAt: start, Error: &journal.Error{Code: "insufficient_balance"}})
	got, err := f.Get(t.Context(), "req_r")
	must(t, err)
	if got.Outcome != journal.OutcomeRejected || !got.FinishedAt.Equal(f.now.Truncate(time.Millisecond)) || got.Usage.Source != "none" {
		t.Errorf("got %+v", got)
	}
	for _, bad := range []journal.Record{{}, {RequestID: "req_x", Outcome: "running"}, {RequestID: "req_x", Outcome: "odd"}, {RequestID: "req_x"}} {
		err := f.db.Write(t.Context(), func(tx *store.Tx) error { return f.Finish(tx, bad) })
		if !errors.Is(err, journal.ErrInvalid) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	p, err := f.Prepare(journal.Record{RequestID: "req_x", Outcome: journal.OutcomeFailed})
	must(t, err)
	if err := f.db.Write(t.Context(), p.Begin); !errors.Is(err, journal.ErrInvalid) {
		t.Errorf("a final record begun: %v", err)
	}
}

func TestBeginAndFinishInOneTransaction(t *testing.T) {
	f := open(t)
	must(t, f.db.Write(t.Context(), func(tx *store.Tx) error {
		return errors.Join(f.Finish(tx, full()), f.Begin(tx, full()))
	}))
	got, err := f.Get(t.Context(), "req_1")
	must(t, err)
	running, err := f.Running(t.Context())
	must(t, err)
	if got.Outcome != journal.OutcomePartial || len(running) != 0 {
		t.Errorf("outcome %s, running %v", got.Outcome, running)
	}
}

func TestRunningWithProgress(t *testing.T) {
	f := open(t)
	for i := range 3 {
		f.write(t, f.Begin, journal.Record{RequestID: fmt.Sprintf("req_%d", i), StartedAt: start.Add(time.Duration(-i) * time.Second),
			Node: "node_1", Billing: json.RawMessage(`{}`)})
	}
	note := func(id string, events, bytes int64) {
		must(t, f.db.Write(t.Context(), func(tx *store.Tx) error { return f.Progress(tx, id, events, bytes, "opening") }))
	}
	note("req_1", 1, 10)
	f.now = f.now.Add(time.Second)
	note("req_1", 2, 20)
	note("req_1", 1, 15) // read before what was noted already
	note("req_none", 9, 9)
	running, err := f.Running(t.Context())
	must(t, err)
	var got []string
	for _, r := range running {
		got = append(got, fmt.Sprint(r.Record.RequestID, r.Record.Node, string(r.Record.Billing), r.Progress.OutputEvents,
			r.Progress.DeliveredBytes, r.Progress.Note, r.Progress.At.IsZero()))
	}
	want := []string{"req_2node_1{}0 0true", "req_1node_1{}2 20openingfalse", "req_0node_1{}0 0true"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if at := running[1].Progress.At; !at.Equal(f.now.Truncate(time.Millisecond)) {
		t.Errorf("noted at %s", at)
	}
}

// many writes 60 records of which every tenth runs.
func many(t *testing.T, f *fixture) {
	for i := range 60 {
		r := journal.Record{
			RequestID: fmt.Sprintf("req_%02d", i), Customer: fmt.Sprintf("cus_%d", i%2), PublicModel: fmt.Sprintf("m%d", i%3),
			ResponseID: fmt.Sprintf("resp_%d", i/2), StartedAt: start.Add(time.Duration(i/4) * time.Second), Outcome: journal.OutcomeCompleted,
		}
		if i%5 == 1 {
			r.Outcome = journal.OutcomeFailed
		}
		if i%10 == 0 {
			f.write(t, f.Begin, r)
		} else {
			f.write(t, f.Finish, r)
		}
	}
}

func TestListFiltersAndPages(t *testing.T) {
	f := open(t)
	many(t, f)
	for _, c := range []struct {
		filter journal.Filter
		keep   func(i int) bool
	}{
		{journal.Filter{}, func(int) bool { return true }},
		{journal.Filter{Customer: "cus_1"}, func(i int) bool { return i%2 == 1 }},
		{journal.Filter{Model: "m2"}, func(i int) bool { return i%3 == 2 }},
		{journal.Filter{ResponseID: "resp_5"}, func(i int) bool { return i/2 == 5 }},
		{journal.Filter{Outcome: journal.OutcomeRunning}, func(i int) bool { return i%10 == 0 }},
		{journal.Filter{Outcome: journal.OutcomeFailed}, func(i int) bool { return i%5 == 1 }},
		{journal.Filter{Outcome: journal.OutcomeCancelled}, func(int) bool { return false }},
		{journal.Filter{Since: start.Add(7 * time.Second).Truncate(time.Millisecond)}, func(i int) bool { return i/4 >= 7 }},
		{journal.Filter{Customer: "cus_0", Model: "m0", Since: start.Add(3 * time.Second).Truncate(time.Millisecond)},
			func(i int) bool { return i%6 == 0 && i/4 >= 3 }},
		{journal.Filter{Customer: "' OR 1=1 --"}, func(int) bool { return false }},
	} {
		want := []string{}
		for i := 59; i >= 0; i-- {
			if c.keep(i) {
				want = append(want, fmt.Sprintf("req_%02d", i))
			}
		}
		for _, limit := range []int{0, 1, 7} {
			c.filter.Limit, c.filter.Cursor = limit, ""
			if diff := cmp.Diff(want, pages(t, f, c.filter)); diff != "" {
				t.Errorf("%+v: %s", c.filter, diff)
			}
		}
	}
	for _, bad := range []struct {
		filter journal.Filter
		want   error
	}{{journal.Filter{Outcome: "odd"}, journal.ErrOutcome}, {journal.Filter{Cursor: "x"}, journal.ErrCursor}, {journal.Filter{Cursor: "1x.req"}, journal.ErrCursor}} {
		if _, _, err := f.List(t.Context(), bad.filter); !errors.Is(err, bad.want) || !errors.Is(err, journal.ErrInvalid) {
			t.Errorf("%+v: %v", bad.filter, err)
		}
	}
}

// pages reads all pages of a list.
func pages(t *testing.T, f *fixture, filter journal.Filter) []string {
	t.Helper()
	ids := []string{}
	for {
		list, next, err := f.List(t.Context(), filter)
		must(t, err)
		if list == nil || filter.Limit > 0 && len(list) > filter.Limit {
			t.Fatalf("%d records, nil %v", len(list), list == nil)
		}
		for _, r := range list {
			ids = append(ids, r.RequestID)
		}
		if filter.Cursor = next; next == "" {
			return ids
		}
	}
}

func TestRetainKeepsWhatRunsAndWhatIsNew(t *testing.T) {
	f := open(t)
	many(t, f)
	deleted, err := f.Retain(context.Background(), start.Add(10*time.Second).Truncate(time.Millisecond))
	must(t, err)
	if deleted != 36 {
		t.Errorf("deleted %d", deleted)
	}
	ids := pages(t, f, journal.Filter{})
	if len(ids) != 24 || !slices.Contains(ids, "req_00") || slices.Contains(ids, "req_39") || !slices.Contains(ids, "req_41") {
		t.Errorf("left %v", ids)
	}
}

func TestPrepareTakesTheTimeOnlyWhereNoneIsGiven(t *testing.T) {
	f := open(t)
	f.write(t, f.Begin, journal.Record{RequestID: "req_1"})
	got, err := f.Get(t.Context(), "req_1")
	must(t, err)
	if !got.StartedAt.Equal(start.Truncate(time.Millisecond)) || !got.FinishedAt.IsZero() {
		t.Errorf("started %s, finished %s", got.StartedAt, got.FinishedAt)
	}
}
