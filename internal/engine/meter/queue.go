package meter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
	"rubicon/internal/store"
	"rubicon/internal/store/spool"
	"rubicon/internal/wire/fault"
)

// voidReason is why a hold is released that nobody knew to exist.
const voidReason = fault.StoreUnavailable

// Queue sets where the ends of requests wait while the database is away, and
// who is told once a second how many there are; before anything is written.
func (b *Books) Queue(s *spool.Spool, log *slog.Logger, told func(waiting int, since time.Time)) {
	b.queue, b.log, b.told = s, log, told
}

// Waiting is how many ends of requests wait for the database, and since when
// the longest.
func (b *Books) Waiting() (n int, since time.Time) {
	if b.queue == nil {
		return 0, time.Time{}
	}
	return b.queue.Waiting()
}

// catchUp tells the database what waits, or tries whether a server takes writes:
// a node without traffic would not know. A file is tried when somebody asks
// (Probe), which takes no time.
func (b *Books) catchUp(ctx context.Context) {
	if b.queue == nil {
		return
	}
	if n, _ := b.queue.Waiting(); n > 0 {
		if told, err := b.Replay(ctx, b.queue); told > 0 {
			b.log.Info("ends of requests that waited are in the database", "requests", told, "error", err)
		}
	} else if b.Away() || b.db.Shared() {
		b.Probe(ctx)
	}
	if b.told != nil {
		b.told(b.queue.Waiting())
	}
}

// Probe writes to the database unless it took a write within the last second, so
// that Away is true to the moment.
func (b *Books) Probe(ctx context.Context) {
	b.probing.Lock()
	defer b.probing.Unlock()
	if b.node != nil && (b.Away() || b.now().UnixMilli()-b.wrote.Load() >= progressEvery.Milliseconds()) {
		b.heard(ctx, b.node.Beat(ctx))
	}
}

// entry is what waits: the end of a request. It may be carried out more than
// once.
type entry struct {
	Closing Closing `json:"closing"`
	Node    string  `json:"node"` // which a record's JSON leaves out
	// Void: the hold may never have been made.
	Void bool `json:"void,omitempty"`
}

// Away tells whether the database's last word was that it is away.
func (b *Books) Away() bool { return b.away.Load() }

// heard takes in what the database said to work under ctx.
func (b *Books) heard(ctx context.Context, err error) {
	switch {
	case troubled(err):
		if !b.away.Swap(true) {
			b.log.Error("the database is away: ends of requests wait on disk, new requests are refused", "error", err)
		}
	case err != nil: // of the work, or nobody waited: no word about writes
	default:
		b.wrote.Store(b.now().UnixMilli())
		if b.away.Swap(false) {
			b.log.Info("the database is back")
		}
		b.lost.over(b.log)
	}
}

// troubled tells an error of a database that is away from one of the work.
func troubled(err error) bool {
	return errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrUncertain) || errors.Is(err, store.ErrClosed)
}

// errWait is a database that keeps a request waiting for too long: it may as
// well be away.
var errWait = fmt.Errorf("%w: a request waited for %s", store.ErrUnavailable, waitTime)

// refused tells an end that can never be written from one that could not be now.
func refused(err error) bool {
	var p *store.Panic
	return errors.Is(err, ledger.ErrInvalid) || errors.Is(err, ledger.ErrNoHold) || errors.Is(err, ledger.ErrResolved) ||
		errors.Is(err, journal.ErrInvalid) || errors.Is(err, store.ErrConflict) || errors.As(err, &p)
}

// ErrNotDurable is the error of an end that could be neither written nor queued.
var ErrNotDurable = errors.New("the end of a request could be neither written nor queued")

// later puts an end into the queue, where it is durable.
func (b *Books) later(e entry, cause error) error {
	raw, err := e.encode()
	switch {
	case err != nil:
	case e.spare():
		if err = b.queue.Spare(raw); err != nil {
			b.lost.note(b.log, err)
		}
	default:
		err = b.queue.Append(raw)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotDurable, errors.Join(cause, err))
	}
	return nil
}

// Keep takes the end of a request that Close refused with ErrNotDurable, as its
// client was shown it. It is written if the database is back before this process
// ends; else the next start resolves the request.
func (b *Books) Keep(c Closing) {
	if b.queue != nil {
		b.keep(entry{Closing: c})
	}
}

// keep puts an end into the queue on which nobody relies.
func (b *Books) keep(e entry) {
	if b.queue == nil {
		return
	}
	raw, err := e.encode()
	if err == nil {
		err = b.queue.Keep(raw)
	}
	if err != nil {
		b.log.Error("the end of a request is lost; its hold stays open until the next start resolves it", "request_id", e.Closing.Record.RequestID, "error", err)
	}
}

func (e entry) encode() ([]byte, error) {
	e.Node = e.Closing.Record.Node
	return json.Marshal(e)
}

// spare tells an entry that stands for no money: the record of a request that
// was refused, or whose client left, before anything was done for it. A flood of
// those must not take the room of settlements.
func (e entry) spare() bool {
	r := e.Closing.Record
	return !e.Void && e.Closing.Free && len(r.Attempts) == 0 && (r.Outcome == journal.OutcomeRejected || r.Outcome == journal.OutcomeCancelled)
}

// losses counts the records of refused requests for which there was no room.
type losses struct {
	mu    sync.Mutex
	total int64
	now   int64 // in this outage
}

// note counts one, and says the first of an outage.
func (l *losses) note(log *slog.Logger, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total++
	if l.now++; l.now == 1 {
		log.Error("records of refused requests find no room while the database is away: they are counted and dropped, settlements are not", "error", why)
	}
}

// over says how many an outage cost.
func (l *losses) over(log *slog.Logger) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now > 0 {
		log.Warn("records of refused requests were dropped while the database was away", "requests", l.now)
		l.now = 0
	}
}

// Unrecorded is how many refused requests have no record, because there was no
// room for it.
func (b *Books) Unrecorded() int64 {
	b.lost.mu.Lock()
	defer b.lost.mu.Unlock()
	return b.lost.total
}

// Replay tells the database what waits in a spool, in order. An error says that
// it is still away; everything else is done with.
func (b *Books) Replay(ctx context.Context, s *spool.Spool) (told int, err error) {
	err = s.Drain(func(entries [][]byte) (int, error) {
		errs := make([]error, len(entries))
		var wg sync.WaitGroup
		for i, raw := range entries { // together, so that they share commits
			wg.Go(func() { errs[i] = b.carryOut(ctx, raw) })
		}
		wg.Wait()
		for i, err := range errs {
			if err != nil {
				return i, err
			}
			told++
		}
		return len(entries), nil
	})
	if err != nil {
		err = fmt.Errorf("telling the database what waited: %w", err)
	}
	return told, err
}

// carryOut writes one end. The error is nil unless the database is away or ctx
// has ended.
func (b *Books) carryOut(ctx context.Context, raw []byte) error {
	var e entry
	err := json.Unmarshal(raw, &e)
	if err == nil {
		e.Closing.Record.Node = e.Node
		err = b.repeat(ctx, e)
	}
	b.heard(ctx, err)
	if troubled(err) || err != nil && ctx.Err() != nil {
		return err
	}
	if err != nil {
		// Nobody else can do more about it. The hold, if it is open, is
		// resolved at the next start.
		b.log.Error("the end of a request that waited cannot be written", "request_id", e.Closing.Record.RequestID, "error", err, "entry", string(raw))
	}
	return nil
}

// repeat writes an end that may have been written before.
func (b *Books) repeat(ctx context.Context, e entry) error {
	if e.Void {
		return b.void(ctx, e.Closing)
	}
	err := b.close(ctx, e.Closing)
	if errors.Is(err, ledger.ErrResolved) {
		err = b.late(ctx, e.Closing, nil)
	}
	return err
}

// void gives back a hold if there is one, and records that the request was
// refused.
func (b *Books) void(ctx context.Context, c Closing) error {
	record, err := b.journal.Prepare(c.Record)
	if err != nil {
		return err
	}
	return b.db.Write(ctx, func(tx *store.Tx) error {
		err := b.ledger.Release(tx, c.Record.RequestID, c.Reason)
		if err != nil && !errors.Is(err, ledger.ErrNoHold) && !errors.Is(err, ledger.ErrResolved) {
			return err
		}
		return record.Finish(tx)
	}, ledger.Expect(c.Record.Customer, c.Record.RequestID))
}

// lateReason stands in the adjustment that corrects what a recovery assumed.
const lateReason = "late_settlement"

// late deals with an end that comes after another: its own, written before the
// answer was lost, or that of a recovery, which could only estimate. Of the
// latter the difference is adjusted, once. own is what to return for its own.
func (b *Books) late(ctx context.Context, c Closing, own error) error {
	was, err := b.journal.Get(ctx, c.Record.RequestID)
	if err != nil {
		return err
	}
	if !slices.Contains(was.Notes, recoveredNote) {
		return own
	}
	if was.Charge == c.Bill.Charge {
		return nil
	}
	_, err = b.ledger.Adjust(ctx, ledger.AdjustArgs{Customer: c.Record.Customer, Amount: was.Charge - c.Bill.Charge, Model: c.Record.PublicModel,
		Request: c.Record.RequestID, Reason: lateReason, Actor: "gateway", IdempotencyKey: "late:" + c.Record.RequestID})
	return err
}
