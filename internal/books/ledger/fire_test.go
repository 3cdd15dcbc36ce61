package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"rubicon/internal/books/ledger"
	"rubicon/internal/money"
	"rubicon/internal/store/storetest"
)

// concurrentOps is what many workers did at the same time, as they were told.
type concurrentOps struct {
	mu        sync.Mutex
	available map[string]money.Nano // what the acknowledged operations sum up to
	open      map[string]reservation
	done      map[string]int // settled or released, by request
	reversed  map[string]int
	written   int
	requests  []string
	undo      []reversal
}

// reversal is a transaction that may be reversed, and what that gives back.
type reversal struct {
	id string
	change
}

// TestUnderFire lets many workers do random things at the same time, on one
// node and where it can be on two, and compares with what they were told:
// balances are the sum of what was acknowledged, every request is resolved once
// however many try, holds match, and nobody falls below zero who was not
// overrun.
func TestUnderFire(t *testing.T) {
	t.Run("one node", func(t *testing.T) { underConcurrentOps(t, 1) })
	if storetest.Kind() == storetest.PostgreSQL {
		t.Run("two nodes", func(t *testing.T) { underConcurrentOps(t, 2) })
	}
}

// The careful are never overrun, adjusted or reversed; the others are.
const (
	withinBalance = "cus_careful"
	beyondBalance = "cus_careless"
)

func underConcurrentOps(t *testing.T, nodes int) {
	url := storetest.URL(t)
	list := make([]*fixture, nodes)
	for i := range list {
		f, closeIt, err := openAt(t.Context(), url)
		must(t, err)
		defer closeIt()
		list[i] = f
	}
	r := &concurrentOps{available: map[string]money.Nano{}, open: map[string]reservation{}, done: map[string]int{}, reversed: map[string]int{}}
	var workers, watcher sync.WaitGroup
	watching, stop := context.WithCancel(t.Context())
	watcher.Go(func() { neverBelowZero(watching, t, list[0]) })
	for w := range 16 {
		workers.Go(func() {
			random := rand.New(rand.NewPCG(uint64(w), 1))
			for range 60 {
				r.act(t, list[w%nodes], random)
			}
		})
	}
	workers.Wait()
	stop()
	watcher.Wait()
	r.compare(t, list[0])
}

// neverBelowZero looks at the careful all the time.
func neverBelowZero(ctx context.Context, t *testing.T, f *fixture) {
	for ctx.Err() == nil {
		b, err := f.Balance(ctx, withinBalance)
		if err == nil && (b.Available < 0 || b.Held < 0) {
			t.Errorf("%s has %+v", withinBalance, b)
		}
	}
}

func (r *concurrentOps) act(t *testing.T, f *fixture, random *rand.Rand) {
	customer := []string{withinBalance, beyondBalance}[random.IntN(2)]
	amount := money.Nano(random.IntN(1000) + 1)
	switch ctx := t.Context(); random.IntN(8) {
	case 0:
		tx, err := f.TopUp(ctx, ledger.TopUpArgs{Customer: customer, Amount: 3 * amount, Reason: "r", Actor: "a"})
		r.note(t, err, tx.ID, customer, 3*amount)
	case 1:
		if customer == beyondBalance {
			tx, err := f.Adjust(ctx, ledger.AdjustArgs{Customer: customer, Amount: amount - 500, Reason: "r", Actor: "a"})
			if amount != 500 {
				r.note(t, err, tx.ID, customer, amount-500)
			}
		}
	case 2, 3, 4:
		r.hold(t, f, customer, amount)
	case 5, 6:
		r.resolve(t, f, random)
	case 7:
		r.reverse(t, f, random)
	}
}

// note takes in a correction.
func (r *concurrentOps) note(t *testing.T, err error, id, customer string, amount money.Nano) {
	must(t, err)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.available[customer] += amount
	r.written++
	if customer == beyondBalance {
		r.undo = append(r.undo, reversal{id, change{customer, amount}})
	}
}

func (r *concurrentOps) hold(t *testing.T, f *fixture, customer string, amount money.Nano) {
	r.mu.Lock()
	request := fmt.Sprintf("req_%d", len(r.requests))
	r.requests = append(r.requests, request)
	r.mu.Unlock()
	err := f.begin(t.Context(), request, customer, amount)
	var insufficient *ledger.Insufficient
	if errors.As(err, &insufficient) {
		if insufficient.Available >= amount {
			t.Errorf("refused %s with %s", amount, insufficient.Available)
		}
		return
	}
	must(t, err)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.available[customer] -= amount
	r.open[request] = reservation{customer, amount}
	r.written++
}

// resolve lets three try to end one request at the same time.
func (r *concurrentOps) resolve(t *testing.T, f *fixture, random *rand.Rand) {
	r.mu.Lock()
	var request string
	var held reservation
	for request, held = range r.open { // any
		break
	}
	r.mu.Unlock()
	if request == "" {
		return
	}
	charge := money.Nano(random.IntN(int(held.amount) + 1))
	if held.customer == beyondBalance {
		charge *= 2 // an overrun, sometimes
	}
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			r.end(t, f.settle(t.Context(), request, held.customer, charge), request, held, held.amount-charge)
		})
	}
	all.Go(func() { r.end(t, f.release(t.Context(), request, held.customer), request, held, held.amount) })
	all.Wait()
}

func (r *concurrentOps) end(t *testing.T, err error, request string, held reservation, back money.Nano) {
	if errors.Is(err, ledger.ErrResolved) {
		return
	}
	must(t, err)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done[request]++
	r.available[held.customer] += back
	r.written++
	delete(r.open, request)
}

// reverse lets two try to reverse the same.
func (r *concurrentOps) reverse(t *testing.T, f *fixture, random *rand.Rand) {
	r.mu.Lock()
	if len(r.undo) == 0 {
		r.mu.Unlock()
		return
	}
	u := r.undo[random.IntN(len(r.undo))]
	r.mu.Unlock()
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			_, err := f.Reverse(t.Context(), u.id, "r", "a")
			if errors.Is(err, ledger.ErrReversed) {
				return
			}
			must(t, err)
			r.mu.Lock()
			defer r.mu.Unlock()
			r.reversed[u.id]++
			r.available[u.customer] -= u.amount
			r.written++
		})
	}
	all.Wait()
}

func (r *concurrentOps) compare(t *testing.T, f *fixture) {
	held := map[string]money.Nano{}
	for _, h := range r.open {
		held[h.customer] += h.amount
	}
	for _, customer := range []string{withinBalance, beyondBalance} {
		f.wantBalance(t, customer, r.available[customer], held[customer])
	}
	for request, n := range r.done {
		if n != 1 {
			t.Errorf("%s was resolved %d times", request, n)
		}
	}
	for id, n := range r.reversed {
		if n != 1 {
			t.Errorf("%s was reversed %d times", id, n)
		}
	}
	open, err := f.OpenHolds(t.Context())
	must(t, err)
	if len(open) != len(r.open) {
		t.Errorf("%d holds are open, want %d", len(open), len(r.open))
	}
	f.wantVerified(t, r.written)
	t.Logf("%d transactions, %d requests resolved, %d open", r.written, len(r.done), len(r.open))
}
