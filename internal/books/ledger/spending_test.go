package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
	"rubicon/internal/money"
	"rubicon/internal/store"
	"rubicon/internal/store/storetest"
	"rubicon/internal/wire/ident"
)

// clock is a time that the test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

// dated is a ledger whose time the test moves, with a rich customer.
func dated(t *testing.T, at time.Time) (*fixture, *clock) {
	f, c := open(t), &clock{at: at}
	ids := ident.New(rand.NewChaCha8([32]byte{9}), time.Now)
	f.Ledger = ledger.New(f.db, ids, c.now)
	_, err := f.TopUp(t.Context(), ledger.TopUpArgs{Customer: "cus_1", Amount: 1e12, Reason: "test", Actor: "test"})
	must(t, err)
	return f, c
}

// spend holds for a key under a budget.
func (f *fixture) spend(ctx context.Context, request, key string, amount money.Nano, b *ledger.Budget) error {
	return f.db.Write(ctx, func(tx *store.Tx) error {
		err := f.Hold(tx, ledger.HoldArgs{Request: request, Customer: "cus_1", Model: model, Amount: amount, Key: key, Budget: b})
		if err != nil {
			return err
		}
		return f.journal.Begin(tx, journal.Record{RequestID: request, Customer: "cus_1", Key: key, PublicModel: model})
	})
}

// charge settles what spend held.
func (f *fixture) charge(ctx context.Context, request, key string, charge money.Nano) error {
	return f.db.Write(ctx, func(tx *store.Tx) error {
		err := f.Settle(tx, ledger.SettleArgs{Request: request, Customer: "cus_1", Model: model, Charge: charge, Key: key})
		if err != nil {
			return err
		}
		return f.journal.Finish(tx, journal.Record{RequestID: request, Customer: "cus_1", Key: key, PublicModel: model,
			Outcome: journal.OutcomeCompleted, Charge: charge})
	})
}

func wantOver(t *testing.T, err error, spent, held money.Nano) {
	t.Helper()
	var over *ledger.OverBudget
	if !errors.As(err, &over) || over.Spent != spent || over.Held != held {
		t.Fatalf("got %v; want a refusal with %s spent and %s held", err, spent, held)
	}
}

func (f *fixture) clean(t *testing.T) {
	t.Helper()
	r, err := f.Verify(t.Context())
	must(t, err)
	if !r.OK {
		t.Errorf("verify: %q", r.Differences)
	}
}

func TestBudget(t *testing.T) {
	ctx := t.Context()
	f, _ := dated(t, time.Date(2026, 7, 30, 12, 0, 0, 0, time.UTC))
	b := &ledger.Budget{Amount: 100, Since: time.Date(2026, 7, 30, 0, 0, 0, 0, time.UTC)}
	must(t, f.spend(ctx, "req_1", "key_1", 60, b))
	wantOver(t, f.spend(ctx, "req_2", "key_1", 41, b), 0, 60)
	must(t, f.spend(ctx, "req_3", "key_1", 40, b))
	must(t, f.spend(ctx, "req_4", "key_2", 100, b)) // another key's budget is its own
	must(t, f.charge(ctx, "req_1", "key_1", 10))
	wantOver(t, f.spend(ctx, "req_5", "key_1", 51, b), 10, 40)
	must(t, f.release(ctx, "req_3", "cus_1"))
	must(t, f.spend(ctx, "req_6", "key_1", 90, b))
	must(t, f.charge(ctx, "req_6", "key_1", 120)) // an overrun is spent like anything else
	wantOver(t, f.spend(ctx, "req_7", "key_1", 0, b), 130, 0)
	must(t, f.charge(ctx, "req_4", "key_2", 100))
	must(t, f.spend(ctx, "req_8", "key_1", 500, nil)) // no budget any more
	must(t, f.charge(ctx, "req_8", "key_1", 500))
	wantOver(t, f.spend(ctx, "req_9", "key_1", 0, b), 630, 0)
	f.clean(t)
}

// What was spent before a budget was set counts; each period counts its own.
func TestBudgetPeriods(t *testing.T) {
	ctx := t.Context()
	day := func(month time.Month, day int) time.Time { return time.Date(2026, month, day, 0, 0, 0, 0, time.UTC) }
	f, c := dated(t, day(6, 30).Add(23*time.Hour))
	for n, at := range []time.Time{c.at, day(7, 1), day(7, 27), day(7, 29).Add(24*time.Hour - time.Nanosecond), day(7, 30)} {
		c.set(at)
		id := fmt.Sprintf("req_%d", n)
		must(t, f.spend(ctx, id, "key_1", 1<<20, nil))
		must(t, f.charge(ctx, id, "key_1", 1<<n))
	}
	for since, spent := range map[time.Time]money.Nano{day(7, 30): 16, day(7, 27): 28, day(7, 1): 30, {}: 31} {
		b := &ledger.Budget{Amount: spent, Since: since}
		wantOver(t, f.spend(ctx, "req_over", "key_1", 1, b), spent, 0)
		id := "req_" + since.Format("0102")
		must(t, f.spend(ctx, id, "key_1", 0, b))
		must(t, f.release(ctx, id, "cus_1"))
	}
	f.clean(t)
	c.set(day(12, 1))
	must(t, f.ForgetDays(ctx))
	wantOver(t, f.spend(ctx, "req_x", "key_1", 1, &ledger.Budget{Amount: 31}), 31, 0)
	must(t, f.spend(ctx, "req_y", "key_1", 1, &ledger.Budget{Amount: 1, Since: day(7, 30)}))
	must(t, f.release(ctx, "req_y", "cus_1"))
	f.clean(t)
}

// TestBudgetUnderFire lets 200 requests at once at a budget for 3, again and
// again, with settlements between: never is more spent than the budget.
func TestBudgetUnderFire(t *testing.T) {
	ctx := t.Context()
	f, _ := dated(t, time.Date(2026, 7, 30, 12, 0, 0, 0, time.UTC))
	b := &ledger.Budget{Amount: 35}
	var allowed int
	for round := range 4 {
		var mu sync.Mutex
		var wg sync.WaitGroup
		for n := range 200 {
			wg.Go(func() {
				id := fmt.Sprintf("req_%d_%d", round, n)
				err := f.spend(ctx, id, "key_1", 10, b)
				var over *ledger.OverBudget
				if errors.As(err, &over) {
					return
				}
				if err == nil && n%2 == 0 {
					err = f.charge(ctx, id, "key_1", 5)
					mu.Lock()
					allowed++
					mu.Unlock()
				} else if err == nil {
					err = f.release(ctx, id, "cus_1")
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	// Whoever settles leaves 5: at most 6 can, after which 10 do not fit.
	if allowed > 6 {
		t.Errorf("%d requests of 5 were let through a budget of 35 that wants 10 free for each", allowed)
	}
	f.clean(t)
}

// One transaction of the database may hold, settle and hold again.
func TestBudgetInOneTransaction(t *testing.T) {
	ctx := t.Context()
	f, _ := dated(t, time.Date(2026, 7, 30, 12, 0, 0, 0, time.UTC))
	b := &ledger.Budget{Amount: 10}
	hold := func(tx *store.Tx, request string, amount money.Nano) error {
		err := f.Hold(tx, ledger.HoldArgs{Request: request, Customer: "cus_1", Model: model, Amount: amount, Key: "key_1", Budget: b})
		if err == nil {
			err = f.journal.Begin(tx, journal.Record{RequestID: request, Customer: "cus_1", PublicModel: model})
		}
		return err
	}
	var refused [2]error
	must(t, f.db.Write(ctx, func(tx *store.Tx) error {
		return errors.Join(
			hold(tx, "req_1", 6),
			func() error { refused[0] = hold(tx, "req_2", 5); return nil }(),
			f.Settle(tx, ledger.SettleArgs{Request: "req_1", Customer: "cus_1", Model: model, Charge: 4, Key: "key_1"}),
			f.journal.Finish(tx, journal.Record{RequestID: "req_1", Customer: "cus_1", PublicModel: model, Outcome: journal.OutcomeCompleted, Charge: 4}),
			hold(tx, "req_3", 6),
			tx.Flush(),
			func() error { refused[1] = hold(tx, "req_4", 1); return nil }(),
			f.releaseIn(tx, "req_3", "cus_1"),
			hold(tx, "req_5", 6),
			f.releaseIn(tx, "req_5", "cus_1"),
		)
	}))
	wantOver(t, refused[0], 0, 6)
	wantOver(t, refused[1], 4, 6)
	f.clean(t)
}

func TestSpendingVerified(t *testing.T) {
	ctx := t.Context()
	f, _ := dated(t, time.Date(2026, 7, 30, 12, 0, 0, 0, time.UTC))
	must(t, f.spend(ctx, "req_2", "key_1", 60, nil))
	must(t, f.charge(ctx, "req_2", "key_1", 50))
	f.clean(t)
	for _, c := range []struct{ text, want string }{
		{`UPDATE key_spending SET amount = 51 WHERE day > 0`, "more on single days than ever"},
		{`UPDATE key_spending SET amount = 49`, "spent less than its requests"},
	} {
		must(t, f.db.Write(ctx, func(tx *store.Tx) error { _, err := tx.Exec(c.text); return err }))
		r, err := f.Verify(ctx)
		must(t, err)
		if !strings.Contains(strings.Join(r.Differences, "\n"), c.want) {
			t.Errorf("%s: verify said %q", c.text, r.Differences)
		}
	}
}

// Two nodes on one database spend one budget.
func TestBudgetOnTwoNodes(t *testing.T) {
	if storetest.Kind() == storetest.SQLite {
		t.Skip("one gateway runs on a file")
	}
	ctx := t.Context()
	one, _ := dated(t, time.Now())
	two, closeTwo, err := openAt(ctx, one.url)
	must(t, err)
	defer closeTwo()
	b := &ledger.Budget{Amount: 35}
	var mu sync.Mutex
	var wg sync.WaitGroup
	allowed := 0
	for n := range 200 {
		node := one
		if n%2 == 0 {
			node = two
		}
		wg.Go(func() {
			id := fmt.Sprintf("req_%d", n)
			err := node.spend(ctx, id, "key_1", 10, b)
			var over *ledger.OverBudget
			if errors.As(err, &over) {
				return
			}
			if err == nil {
				err = node.charge(ctx, id, "key_1", 5)
			}
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			allowed++
			mu.Unlock()
		})
	}
	wg.Wait()
	if allowed == 0 || allowed > 6 {
		t.Errorf("%d requests of 5 were let through a budget of 35 that wants 10 free for each", allowed)
	}
	one.clean(t)
}
