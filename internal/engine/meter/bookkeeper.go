// Package meter settles requests: it makes the charge hold, notes the progress
// of running requests, writes bill and record in one database transaction, keeps
// in a spool what the database cannot take, and resolves what a node left open.
//
// It is not for the bill itself (billing) or for balances (ledger).
//
// Invariant: money and record of a request are written together.
package meter

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
	"rubicon/internal/books/state"
	"rubicon/internal/engine/billing"
	"rubicon/internal/money"
	"rubicon/internal/store"
	"rubicon/internal/store/cluster"
	"rubicon/internal/store/spool"
)

// Bookkeeper writes a request's money and record, together.
type Bookkeeper struct {
	db           *store.DB
	ledger       *ledger.Ledger
	journal      *journal.Journal
	state        *state.States
	now          func() time.Time
	log          *slog.Logger
	running      runningRequests
	watch        Observer
	node         *cluster.Node // nil: the database is this process's alone
	queue        *spool.Spool  // ends of requests that the database cannot take now; nil: there is no queue
	onWaiting    func(waiting int, since time.Time)
	databaseAway atomic.Bool // the last write found the database away
	probing      sync.Mutex
	wrote        atomic.Int64 // when it last took a write, Unix milliseconds
	lost         losses
}

// Observer is called after every operation that a request waits for. The
// operation is hold, settle, release, record (without money) or reject; the
// result is ok, refused or failed.
type Observer func(operation, result string, took time.Duration)

// Observe sets the observer. It must be called before anything is written.
func (b *Bookkeeper) Observe(w Observer) { b.watch = w }

// observe reports an operation that ends to the observer.
func (b *Bookkeeper) observe(operation string, began time.Time, err *error) {
	if b.watch == nil {
		return
	}
	result := "ok"
	var short *ledger.Insufficient
	switch {
	case errors.As(*err, &short):
		result = "refused"
	case *err != nil:
		result = "failed"
	}
	b.watch(operation, result, b.now().Sub(began))
}

// operation names what happens to the money of a request.
func operation(free bool, withMoney string) string {
	if free {
		return "record"
	}
	return withMoney
}

// NewBookkeeper joins the packages that own the tables.
func NewBookkeeper(db *store.DB, l *ledger.Ledger, j *journal.Journal, s *state.States, now func() time.Time) *Bookkeeper {
	return &Bookkeeper{db: db, ledger: l, journal: j, state: s, now: now, log: slog.New(slog.DiscardHandler)}
}

// Join makes every request that Open begins one of this node's, before anything
// is written.
func (b *Bookkeeper) Join(n *cluster.Node) { b.node = n }

// RequestStart is a request before its first attempt.
type RequestStart struct {
	Record    journal.Record
	Held      money.Nano
	Uncharged bool // no hold
	Billing   Billing
	Budget    *ledger.Budget // of the record's key; nil: none
}

// Billing is what a take-over needs to make the bill. It is part of the record.
type Billing struct {
	InputEstimate int64      `json:"input_estimate"`
	BytesPerToken float64    `json:"bytes_per_token"`
	Held          money.Nano `json:"held"`
	Uncharged     bool       `json:"free,omitempty"`
}

const (
	// waitTime bounds how long a request waits for its hold.
	waitTime = 2500 * time.Millisecond
	// endTime bounds how long the end of a request waits for the database before
	// it goes into the queue. Such a delay alone is not taken for an outage.
	endTime = 1500 * time.Millisecond
)

// Open makes the charge hold and begins the record; both are durable when it
// returns. It refuses with *ledger.Insufficient or *ledger.OverBudget. When the
// database is away, it waits for waitTime at most.
func (b *Bookkeeper) Open(ctx context.Context, o RequestStart) (err error) {
	defer b.observe(operation(o.Uncharged, "hold"), b.now(), &err)
	ctx, done := context.WithTimeoutCause(ctx, waitTime, errWait)
	defer done()
	for try := 0; ; try++ {
		if b.node != nil {
			o.Record.Node = b.node.ID()
		}
		err = b.open(ctx, o)
		b.noteDatabaseResult(ctx, err)
		if try > 0 || !errors.Is(err, cluster.ErrLeaseLost) {
			break
		}
		if err := b.node.Rejoin(ctx, o.Record.Node); err != nil {
			return err
		}
	}
	if errors.Is(err, store.ErrUncertain) {
		// The hold may exist, and its request will never run.
		r := o.Record
		r.Outcome = journal.OutcomeRejected
		b.keep(queuedEnd{HoldUncertain: true, Closing: RequestEnd{Record: r, Uncharged: o.Uncharged, Reason: uncertainReason}})
	}
	return err
}

func (b *Bookkeeper) open(ctx context.Context, o RequestStart) error {
	o.Billing.Held, o.Billing.Uncharged = o.Held, o.Uncharged
	raw, err := json.Marshal(o.Billing)
	if err != nil {
		return err
	}
	o.Record.Outcome, o.Record.Billing = journal.OutcomeRunning, raw
	// Encoded here and not on the writer, which all requests share.
	record, err := b.journal.Prepare(o.Record)
	if err != nil {
		return err
	}
	fenced := b.node != nil && b.db.Shared()
	announce := []func(*store.Tx){ledger.Expect(o.Record.Customer, "")}
	if fenced {
		announce = append(announce, cluster.Expect(o.Record.Node))
	}
	return b.db.Write(ctx, func(tx *store.Tx) error {
		if fenced {
			if err := cluster.Check(tx, o.Record.Node); err != nil {
				return err
			}
		}
		if !o.Uncharged {
			if err := b.ledger.Hold(tx, ledger.HoldArgs{Request: o.Record.RequestID, Customer: o.Record.Customer,
				Model: o.Record.PublicModel, Amount: o.Held, Key: o.Record.Key, Budget: o.Budget}); err != nil {
				return err
			}
		}
		return record.Begin(tx)
	}, announce...)
}

// Available is what a customer can spend at this moment.
func (b *Bookkeeper) Available(ctx context.Context, customer string) (money.Nano, error) {
	balance, err := b.ledger.Balance(ctx, customer)
	return balance.Available, err
}

// Reject records a request that was refused before its first attempt, or queues
// the record. The queue has little room for such records, and none that a
// settlement may need: without room the record is counted and dropped, and the
// error is ErrNotDurable.
func (b *Bookkeeper) Reject(ctx context.Context, r journal.Record) (err error) {
	defer b.observe("reject", b.now(), &err)
	r.Outcome = journal.OutcomeRejected
	c := RequestEnd{Record: r, Uncharged: true}
	if b.DatabaseAway() && b.queue != nil { // a client that waited for the database once does not wait again
		return b.enqueue(queuedEnd{Closing: c}, nil)
	}
	return b.end(ctx, c)
}

// RequestEnd is a request at its end.
type RequestEnd struct {
	Record    journal.Record
	Bill      billing.Bill
	Uncharged bool          `json:"Free"` // spools of earlier versions call it so
	State     []state.Entry // ids that the answer carried
	Reason    string        // of a release
}

// WriteBill puts a bill into the record of its request: the usage, the charge
// with its lines, and the cost of every attempt. The attempts must be in the
// record already.
func WriteBill(r *journal.Record, bill billing.Bill) {
	r.Usage, r.Charge, r.Lines = bill.Usage, bill.Charge, bill.Lines
	for i := range r.Attempts {
		r.Attempts[i].Cost = bill.CostOf(r.Attempts[i].N)
	}
}

// Close settles or releases the hold, books the costs, writes the final record
// and remembers the answer's ids, in one transaction. When it returns nil, all of
// that is durable in the database or in the queue. With ErrNotDurable it is in
// neither, and the client must not be shown a successful ending.
func (b *Bookkeeper) Close(ctx context.Context, c RequestEnd) (err error) {
	ends := "release"
	if c.Bill.Charged {
		ends = "settle"
	}
	defer b.observe(operation(c.Uncharged, ends), b.now(), &err)
	return b.end(ctx, c)
}

// end closes a request, or queues its end when the database is away.
func (b *Bookkeeper) end(ctx context.Context, c RequestEnd) error {
	ctx, done := context.WithTimeoutCause(ctx, endTime, errWait)
	defer done()
	began := b.now()
	err := b.close(ctx, c)
	if err == nil || b.now().Sub(began) < endTime {
		b.noteDatabaseResult(ctx, err)
	}
	if errors.Is(err, ledger.ErrResolved) {
		err = b.correctEstimate(ctx, c, err)
	}
	if err == nil || refused(err) || b.queue == nil {
		return err
	}
	return b.enqueue(queuedEnd{Closing: c}, err)
}

// close is the transaction.
func (b *Bookkeeper) close(ctx context.Context, c RequestEnd) error {
	record, err := b.journal.Prepare(c.Record)
	if err != nil {
		return err
	}
	meta, err := json.Marshal(chargeOf(c.Record, c.Bill.Usage))
	if err != nil {
		return err
	}
	var announce []func(*store.Tx)
	if !c.Uncharged {
		announce = append(announce, ledger.Expect(c.Record.Customer, c.Record.RequestID))
	}
	now := b.now()
	return b.db.Write(ctx, func(tx *store.Tx) error {
		if err := b.resolve(tx, c, meta); err != nil {
			return err
		}
		for _, cost := range c.Bill.Costs {
			if err := b.ledger.Cost(tx, cost); err != nil {
				return err
			}
		}
		if len(c.State) > 0 {
			if err := b.state.Remember(tx, c.Record.Customer, c.State, now); err != nil {
				return err
			}
		}
		return record.Finish(tx)
	}, announce...)
}

// resolve settles or releases the hold. It is called first, so that nothing has
// been written when the ledger refuses.
func (b *Bookkeeper) resolve(tx *store.Tx, c RequestEnd, meta json.RawMessage) error {
	switch {
	case c.Uncharged:
		return nil
	case c.Bill.Charged:
		return b.ledger.Settle(tx, ledger.SettleArgs{Request: c.Record.RequestID, Customer: c.Record.Customer,
			Model: c.Record.PublicModel, Charge: c.Bill.Charge, Meta: meta, Key: c.Record.Key})
	}
	return b.ledger.Release(tx, c.Record.RequestID, c.Reason)
}

// Charge is what a charge was for. It is kept in the meta of the transaction,
// because records are deleted some day and the ledger never is.
type Charge struct {
	PriceVersion string           `json:"price_version"`
	Channel      string           `json:"channel,omitempty"` // that answered
	Source       string           `json:"usage"`
	Input        int64            `json:"input,omitempty"`
	CachedInput  int64            `json:"cached_input,omitempty"`
	CacheWrite   int64            `json:"cache_write,omitempty"`
	Output       int64            `json:"output,omitempty"`
	Tools        map[string]int64 `json:"tools,omitempty"`
}

func chargeOf(r journal.Record, u journal.Usage) Charge {
	c := Charge{PriceVersion: r.PriceVersion, Source: u.Source, Input: u.Input, CachedInput: u.CachedInput, CacheWrite: u.CacheWrite,
		Output: u.Output, Tools: u.Tools}
	if n := len(r.Attempts); n > 0 {
		c.Channel = r.Attempts[n-1].Channel
	}
	return c
}
