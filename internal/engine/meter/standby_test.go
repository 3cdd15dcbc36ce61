package meter_test

import (
	"errors"
	"sync"
	"testing"

	"rubicon/internal/books/journal"
	"rubicon/internal/store"
	"rubicon/internal/store/pgtest"
)

// TestCommitsWithoutAnAnswer: a hold and a settlement are given up while their
// COMMITs wait for a standby that was lost. Both are carried out in the end, the
// hold is given back, and the settlement that was queued too counts once.
func TestCommitsWithoutAnAnswer(t *testing.T) {
	server, err := pgtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	f := openAt(t, pgtest.On(t, server.URL()))
	t.Cleanup(func() { _ = f.db.Close() })
	f.credit(usd)
	q := f.queued(t)
	f.mustBegin("req_ended")
	if err := server.LoseStandby(); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := f.begin("req_begun"); !errors.Is(err, store.ErrUncertain) && !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("a hold: %v", err)
		}
	})
	wg.Go(func() {
		if err := f.Close(t.Context(), answered(t, "req_ended")); err != nil {
			t.Errorf("an end: %v", err)
		}
	})
	wg.Wait()
	if n, _ := q.Waiting(); n == 0 || !f.DatabaseAway() {
		t.Errorf("%d wait, away %t", n, f.DatabaseAway())
	}
	if err := server.FindStandby(); err != nil {
		t.Fatal(err)
	}
	for { // the writers are told by the server
		if _, err := f.WriteBack(t.Context(), q); err == nil {
			break
		}
	}
	f.balance(usd-350_000, 0)
	f.verified()
	if r := f.record("req_ended"); r.Outcome != journal.OutcomeCompleted || r.Charge != 350_000 {
		t.Errorf("%s, charged %s", r.Outcome, r.Charge)
	}
	if n := f.recover(); n != 0 {
		t.Errorf("%d were left for recovery", n)
	}
}
