package meter_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
	"rubicon/internal/engine/meter"
	"rubicon/internal/money"
	"rubicon/internal/money/price"
	"rubicon/internal/store"
	"rubicon/internal/store/storetest"
)

// progressed notes what was delivered of a running request, as the board does.
func (f *fixture) progressed(id string, events, bytes int64, route *meter.RunningAttempt) {
	f.t.Helper()
	live, untrack := f.Track(id)
	defer untrack()
	if route != nil {
		live.SetAttempt(*route)
	}
	live.Events.Store(events)
	live.Bytes.Store(bytes)
	live.Content.Store(bytes > 0)
	meter.Note(f.Bookkeeper, context.Background())
}

var second = meter.RunningAttempt{Attempt: 2, Channel: "ch", Credential: "k1", UpstreamModel: "up"}

func chosen(channel string) func(*meter.RequestStart) {
	return func(o *meter.RequestStart) { o.Record.Decisions = []journal.Decision{{N: 1, Chosen: channel}} }
}

func TestRecover(t *testing.T) {
	url := storetest.URL(t)
	before := openAt(t, url)
	before.credit(usd)
	before.mustBegin("req_partial", chosen("first"))
	before.progressed("req_partial", 3, 20, &second)
	learned := second
	learned.BytesPerToken = 2
	before.mustBegin("req_learned")
	before.progressed("req_learned", 3, 20, &learned)
	before.mustBegin("req_waiting")
	before.progressed("req_waiting", 0, 0, &second)
	before.mustBegin("req_young", chosen("ch"))
	before.mustBegin("req_undispatched")
	before.mustBegin("req_capped", func(o *meter.RequestStart) { o.Held = 1_000_001 })
	before.progressed("req_capped", 1, 20, &second)
	before.mustBegin("req_gone", func(o *meter.RequestStart) { o.Record.PublicModel, o.Record.PriceVersion = "gone", "gone" })
	before.progressed("req_gone", 1, 20, &second)
	before.mustBegin("req_free", func(o *meter.RequestStart) { o.Uncharged, o.Held = true, 0 })
	err := before.db.Write(t.Context(), func(tx *store.Tx) error {
		return before.ledger.Hold(tx, ledger.HoldArgs{Request: "req_bare", Customer: customer, Model: model, Amount: 5})
	})
	if err != nil {
		t.Fatal(err)
	}
	before.balance(usd-6*(usd/100)-1_000_001-5, 6*(usd/100)+1_000_001+5)
	if err := before.db.Close(); err != nil { // as after a crash: nothing was settled
		t.Fatal(err)
	}

	f := openAt(t, url)
	t.Cleanup(func() { _ = f.db.Close() })
	if n := f.recover(); n != 9 {
		t.Errorf("resolved %d, want 9", n)
	}
	f.balance(usd-1_250_000-1_500_000-1_000_001, 0)
	f.verified()

	r := f.record("req_partial")
	want := journal.Record{RequestID: "req_partial", Outcome: journal.OutcomePartial, AfterOutput: true, Charge: 1_250_000,
		UpstreamModel: "up", Error: &journal.Error{Code: "internal_error", Type: "server_error"},
		Usage:     journal.Usage{Input: 100, Output: 5, Source: "estimated"},
		Delivered: journal.Delivered{Events: 3, Bytes: 20},
		Lines:     []journal.Line{line("input", 100, "10.000000000", 1_000_000), line("output", 5, "50.000000000", 250_000)},
		Attempts: []journal.Attempt{{N: 2, Channel: "ch", Credential: "k1", UpstreamModel: "up", Outcome: "failed", Failure: "gateway_fault",
			MayHaveExecuted: true, Verdict: "deliver", Reason: "gateway_fault", Events: 3, Cost: 625_000}}}
	ignore := cmpopts.IgnoreFields(journal.Record{}, "Customer", "PublicModel", "StartedAt", "FinishedAt", "Times", "Decisions", "Notes", "Billing")
	if diff := cmp.Diff(want, r, ignore, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(journal.Attempt{}, "StartedAt")); diff != "" {
		t.Error(diff)
	}
	if r.FinishedAt.Before(r.StartedAt) || r.FinishedAt.IsZero() || len(r.Notes) != 1 {
		t.Errorf("started %v, finished %v, notes %q", r.StartedAt, r.FinishedAt, r.Notes)
	}
	for _, c := range []struct {
		id       string
		outcome  journal.Outcome
		charge   string
		source   string
		channel  string // of the attempt
		paid     int64
		absorbed int64
	}{
		{"req_partial", "partial", "0.001250000", "estimated", "ch", 625_000, 0},
		{"req_waiting", "failed", "0.000000000", "none", "ch", 0, 500_000},
		{"req_young", "failed", "0.000000000", "none", "ch", 0, 500_000},
		{"req_undispatched", "failed", "0.000000000", "none", "", 0, 0},
		{"req_capped", "partial", "0.001000001", "estimated", "ch", 625_000, 0},
		{"req_gone", "partial", "0.000000000", "none", "ch", 0, 0},
		{"req_free", "failed", "0.000000000", "none", "", 0, 0},
	} {
		r := f.record(c.id)
		if r.Outcome != c.outcome || r.Charge.String() != c.charge || r.Usage.Source != c.source {
			t.Errorf("%s: %s, %s, %s", c.id, r.Outcome, r.Charge, r.Usage.Source)
		}
		if got := len(r.Attempts) > 0; got != (c.channel != "") || got && r.Attempts[0].Channel != c.channel {
			t.Errorf("%s: attempts %+v", c.id, r.Attempts)
		}
		if paid, absorbed := f.costsOf(c.id); int64(paid) != c.paid || int64(absorbed) != c.absorbed {
			t.Errorf("%s: cost %s, absorbed %s", c.id, paid, absorbed)
		}
	}

	if n := f.recover(); n != 0 {
		t.Errorf("the second run resolved %d", n)
	}
	f.balance(usd-1_250_000-1_500_000-1_000_001, 0)
	f.verified()
}

// TestRecoverTellsOfLostAttempts: what was lost before the attempt that ran at
// the crash is on record and the operator's, as it would have been without it.
func TestRecoverTellsOfLostAttempts(t *testing.T) {
	for _, c := range []struct {
		name     string
		events   int64
		executed bool
		paid     int64
		absorbed int64
	}{
		{"a replay that delivers", 3, true, 625_000, 500_000},
		{"a replay that waits", 0, true, 0, 1_000_000},
		{"a switch that delivers", 3, false, 625_000, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := open(t)
			f.credit(usd)
			f.mustBegin("req_1")
			route := second
			route.Earlier = []journal.Attempt{{N: 1, Channel: "ch", Credential: "k0", UpstreamModel: "up", Outcome: "failed",
				Failure: "failed_event", MayHaveExecuted: c.executed, Verdict: "replay", Reason: "replay_failed_event"}}
			f.progressed("req_1", c.events, 20, &route)
			if n := f.recover(); n != 1 {
				t.Errorf("resolved %d", n)
			}
			if paid, absorbed := f.costsOf("req_1"); int64(paid) != c.paid || int64(absorbed) != c.absorbed {
				t.Errorf("cost %s, absorbed %s", paid, absorbed)
			}
			r := f.record("req_1")
			if len(r.Attempts) != 2 || r.Attempts[0].Credential != "k0" || r.Attempts[0].Reason != "replay_failed_event" || r.Attempts[1].N != 2 {
				t.Fatalf("attempts %+v", r.Attempts)
			}
			if sum := r.Attempts[0].Cost + r.Attempts[1].Cost; int64(sum) != c.paid+c.absorbed {
				t.Errorf("the attempts' costs sum to %s", sum)
			}
			f.verified()
		})
	}
}

// TestRecoverWholeAnswers: an answer that its client had in whole is charged as
// one, and a note of an earlier moment that comes late changes nothing of that.
func TestRecoverWholeAnswers(t *testing.T) {
	tools := map[string]int64{"web_search": 1}
	for _, c := range []struct {
		name    string
		events  int64
		whole   *meter.LiveWhole
		outcome journal.Outcome
		usage   journal.Usage
		charge  money.Nano
	}{
		{"with usage", 3, &meter.LiveWhole{ResponseID: "chatcmpl-1", Reported: true, Usage: price.Usage{Input: 10, Output: 4, Tools: tools}},
			journal.OutcomeCompleted, journal.Usage{Input: 10, Output: 4, Tools: tools, Source: "reported", Flags: []string{"overrun"}}, 10_300_000},
		{"without usage", 3, &meter.LiveWhole{}, journal.OutcomeCompleted, journal.Usage{Input: 100, Output: 5, Source: "estimated"}, 1_250_000},
		{"with the input known", 3, &meter.LiveWhole{Opening: true, Usage: price.Usage{Input: 7}},
			journal.OutcomeCompleted, journal.Usage{Input: 7, Output: 5, Source: "estimated"}, 320_000},
		{"whole without output is nothing", 0, &meter.LiveWhole{Reported: true, Usage: price.Usage{Input: 10, Output: 4}},
			journal.OutcomeFailed, journal.Usage{Source: "none"}, 0},
		{"not whole", 3, nil, journal.OutcomePartial, journal.Usage{Input: 100, Output: 5, Source: "estimated"}, 1_250_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := open(t)
			f.credit(usd)
			f.mustBegin("req_1")
			live, untrack := f.Track("req_1")
			defer untrack()
			live.SetAttempt(second)
			live.Events.Store(c.events)
			live.Bytes.Store(20)
			live.Whole(c.whole)
			f.NoteNow(t.Context(), live)
			if c.events > 0 {
				f.progressed("req_1", c.events-1, 10, &second)
			}
			if n := f.recover(); n != 1 {
				t.Errorf("resolved %d", n)
			}
			r := f.record("req_1")
			if r.Outcome != c.outcome || r.Charge != c.charge || (r.Error == nil) != (c.outcome == journal.OutcomeCompleted) {
				t.Errorf("%s, %s, %+v", r.Outcome, r.Charge, r.Error)
			}
			if diff := cmp.Diff(c.usage, r.Usage, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
			want := "failed gateway_fault"
			if c.outcome == journal.OutcomeCompleted {
				want = "completed answered"
			}
			if got := r.Attempts[0].Outcome + " " + r.Attempts[0].Reason; got != want || c.whole != nil && c.events > 0 && r.ResponseID != c.whole.ResponseID {
				t.Errorf("attempt %s, response %q", got, r.ResponseID)
			}
			f.verified()
		})
	}
}

// TestRecoverUnreadableBilling: what another version wrote must not keep the
// gateway from starting, nor a hold open.
// TestRecoverChargesContent: of output without a byte of content the customer
// has nothing, also when the gateway died; an image has no text.
func TestRecoverChargesContent(t *testing.T) {
	url := storetest.URL(t)
	before := openAt(t, url)
	before.credit(usd)
	noted := func(id string, content bool) {
		before.mustBegin(id)
		live, untrack := before.Track(id)
		live.SetAttempt(second)
		live.Events.Store(2)
		meter.Note(before.Bookkeeper, t.Context())
		live.Content.Store(content) // a change by itself
		meter.Note(before.Bookkeeper, t.Context())
		untrack()
	}
	noted("req_empty", false)
	noted("req_image", true)
	_ = before.db.Close()
	f := openAt(t, url)
	t.Cleanup(func() { _ = f.db.Close() })
	if n := f.recover(); n != 2 {
		t.Errorf("%d were resolved", n)
	}
	for id, want := range map[string]struct{ charge, cost, absorbed money.Nano }{"req_empty": {absorbed: 500_000}, "req_image": {charge: 1_000_000, cost: 500_000}} {
		r := f.record(id)
		cost, absorbed := f.costsOf(id)
		if r.Charge != want.charge || cost != want.cost || absorbed != want.absorbed || r.Outcome != journal.OutcomePartial || !r.AfterOutput {
			t.Errorf("%s: charged %s, cost %s, absorbed %s, %s", id, r.Charge, cost, absorbed, r.Outcome)
		}
	}
	f.balance(usd-1_000_000, 0)
	f.verified()
}

func TestRecoverUnreadableBilling(t *testing.T) {
	f := open(t)
	f.credit(usd)
	err := f.db.Write(t.Context(), func(tx *store.Tx) error {
		if err := f.ledger.Hold(tx, ledger.HoldArgs{Request: "req_1", Customer: customer, Model: model, Amount: 1_000}); err != nil {
			return err
		}
		return f.journal.Begin(tx, journal.Record{RequestID: "req_1", Customer: customer, PublicModel: model, Billing: []byte(`"?"`)})
	})
	if err != nil {
		t.Fatal(err)
	}
	f.progressed("req_1", 2, 400, nil)
	if n := f.recover(); n != 1 {
		t.Errorf("resolved %d", n)
	}
	f.balance(usd-1_000, 0) // 100 tokens by text, never above the hold
	if r := f.record("req_1"); r.Outcome != journal.OutcomePartial || r.Charge != 1_000 {
		t.Errorf("%s, %s", r.Outcome, r.Charge)
	}
	f.verified()
}
