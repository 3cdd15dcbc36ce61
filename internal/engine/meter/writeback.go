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

// uncertainReason is the reason of releasing a hold whose commit was uncertain.
const uncertainReason = fault.StoreUnavailable

// Queue sets the spool in which the ends of requests wait while the database is
// away, and a function that is called once a second with their number. It must be
// called before anything is written.
func (b *Bookkeeper) Queue(s *spool.Spool, log *slog.Logger, onWaiting func(waiting int, since time.Time)) {
	b.queue, b.log, b.onWaiting = s, log, onWaiting
}

// Waiting is how many ends of requests wait for the database, and since when
// the longest.
func (b *Bookkeeper) Waiting() (n int, since time.Time) {
	if b.queue == nil {
		return 0, time.Time{}
	}
	return b.queue.Waiting()
}

// writeBackIfPossible writes the queue back. When it is empty, a database server
// is probed instead, because a node without traffic would not notice an outage. A
// database file is probed only when Probe is called, which is cheap.
func (b *Bookkeeper) writeBackIfPossible(ctx context.Context) {
	if b.queue == nil {
		return
	}
	if n, _ := b.queue.Waiting(); n > 0 {
		if written, err := b.WriteBack(ctx, b.queue); written > 0 {
			b.log.Info("wrote back the ends of requests from the spool", "requests", written, "error", err)
		}
	} else if b.DatabaseAway() || b.db.Shared() {
		b.Probe(ctx)
	}
	if b.onWaiting != nil {
		b.onWaiting(b.queue.Waiting())
	}
}

// Probe writes to the database unless it took a write within the last second, so
// that DatabaseAway is current.
func (b *Bookkeeper) Probe(ctx context.Context) {
	b.probing.Lock()
	defer b.probing.Unlock()
	if b.node != nil && (b.DatabaseAway() || b.now().UnixMilli()-b.wrote.Load() >= progressEvery.Milliseconds()) {
		b.noteDatabaseResult(ctx, b.node.Renew(ctx))
	}
}

// queuedEnd is the end of a request in the queue. It may be written more than
// once.
type queuedEnd struct {
	Closing RequestEnd `json:"closing"`
	Node    string     `json:"node"` // which a record's JSON leaves out
	// HoldUncertain: the hold may never have been made.
	HoldUncertain bool `json:"void,omitempty"`
}

// DatabaseAway reports whether the last write found the database away.
func (b *Bookkeeper) DatabaseAway() bool { return b.databaseAway.Load() }

// noteDatabaseResult notes whether the database was away, from the error of a
// write.
func (b *Bookkeeper) noteDatabaseResult(ctx context.Context, err error) {
	switch {
	case isUnavailable(err):
		if !b.databaseAway.Swap(true) {
			b.log.Error("the database is away: ends of requests wait on disk, new requests are refused", "error", err)
		}
	case err != nil: // an error of the work itself, or ctx ended: it says nothing about the database
	default:
		b.wrote.Store(b.now().UnixMilli())
		if b.databaseAway.Swap(false) {
			b.log.Info("the database is back")
		}
		b.lost.over(b.log)
	}
}

// isUnavailable reports whether the error means that the database is away, and
// not that the work itself failed.
func isUnavailable(err error) bool {
	return errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrUncertain) || errors.Is(err, store.ErrClosed)
}

// errWait is the cause when the database keeps a request waiting for too long. It
// counts as a database that is away.
var errWait = fmt.Errorf("%w: a request waited for %s", store.ErrUnavailable, waitTime)

// refused reports whether an end can never be written, and not only not now.
func refused(err error) bool {
	var p *store.Panic
	return errors.Is(err, ledger.ErrInvalid) || errors.Is(err, ledger.ErrNoHold) || errors.Is(err, ledger.ErrResolved) ||
		errors.Is(err, journal.ErrInvalid) || errors.Is(err, store.ErrConflict) || errors.As(err, &p)
}

// ErrNotDurable is the error of an end that could be neither written nor queued.
var ErrNotDurable = errors.New("the end of a request could be neither written nor queued")

// enqueue puts an end into the queue, where it is durable.
func (b *Bookkeeper) enqueue(e queuedEnd, cause error) error {
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
func (b *Bookkeeper) Keep(c RequestEnd) {
	if b.queue != nil {
		b.keep(queuedEnd{Closing: c})
	}
}

// keep puts an end into the queue, in memory where the disk does not take it. If
// that copy is lost, the next start resolves the request.
func (b *Bookkeeper) keep(e queuedEnd) {
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

func (e queuedEnd) encode() ([]byte, error) {
	e.Node = e.Closing.Record.Node
	return json.Marshal(e)
}

// spare reports whether an entry is without money: the record of a request that
// was refused, or whose client left, before its first attempt. Many of those must
// not take the room of settlements.
func (e queuedEnd) spare() bool {
	r := e.Closing.Record
	return !e.HoldUncertain && e.Closing.Uncharged && len(r.Attempts) == 0 && (r.Outcome == journal.OutcomeRejected || r.Outcome == journal.OutcomeCancelled)
}

// losses counts the records of refused requests for which there was no room.
type losses struct {
	mu    sync.Mutex
	total int64
	now   int64 // in this outage
}

// note counts one, and logs the first of an outage.
func (l *losses) note(log *slog.Logger, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total++
	if l.now++; l.now == 1 {
		log.Error("records of refused requests find no room while the database is away: they are counted and dropped, settlements are not", "error", why)
	}
}

// over logs how many were dropped in an outage.
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
func (b *Bookkeeper) Unrecorded() int64 {
	b.lost.mu.Lock()
	defer b.lost.mu.Unlock()
	return b.lost.total
}

// WriteBack writes to the database what waits in a spool, in order, and returns
// how many entries were written. An error means that the database is still away;
// an entry that fails for another reason is logged and removed.
func (b *Bookkeeper) WriteBack(ctx context.Context, s *spool.Spool) (written int, err error) {
	err = s.Process(func(entries [][]byte) (int, error) {
		errs := make([]error, len(entries))
		var wg sync.WaitGroup
		for i, raw := range entries { // together, so that they share commits
			wg.Go(func() { errs[i] = b.writeQueued(ctx, raw) })
		}
		wg.Wait()
		for i, err := range errs {
			if err != nil {
				return i, err
			}
			written++
		}
		return len(entries), nil
	})
	if err != nil {
		err = fmt.Errorf("writing back a spool: %w", err)
	}
	return written, err
}

// writeQueued writes one end. The error is nil unless the database is away or ctx
// has ended.
func (b *Bookkeeper) writeQueued(ctx context.Context, raw []byte) error {
	var e queuedEnd
	err := json.Unmarshal(raw, &e)
	if err == nil {
		e.Closing.Record.Node = e.Node
		err = b.writeAgain(ctx, e)
	}
	b.noteDatabaseResult(ctx, err)
	if isUnavailable(err) || err != nil && ctx.Err() != nil {
		return err
	}
	if err != nil {
		// Trying again would not help. The hold, if it is open, is resolved at
		// the next start.
		b.log.Error("an end of a request in the spool cannot be written", "request_id", e.Closing.Record.RequestID, "error", err, "entry", string(raw))
	}
	return nil
}

// writeAgain writes an end that may have been written before.
func (b *Bookkeeper) writeAgain(ctx context.Context, e queuedEnd) error {
	if e.HoldUncertain {
		return b.releasePossibleHold(ctx, e.Closing)
	}
	err := b.close(ctx, e.Closing)
	if errors.Is(err, ledger.ErrResolved) {
		err = b.correctEstimate(ctx, e.Closing, nil)
	}
	return err
}

// releasePossibleHold gives back a hold if there is one, and records that the request was
// refused.
func (b *Bookkeeper) releasePossibleHold(ctx context.Context, c RequestEnd) error {
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

// correctionReason is the reason of the adjustment that corrects the estimate of
// a take-over.
const correctionReason = "late_settlement"

// correctEstimate handles an end of a request that has ended already. Either the
// same end was written before and its confirmation was lost; then own is returned.
// Or a take-over has estimated the charge; then the difference is adjusted, once.
func (b *Bookkeeper) correctEstimate(ctx context.Context, c RequestEnd, own error) error {
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
		Request: c.Record.RequestID, Reason: correctionReason, Actor: "gateway", IdempotencyKey: "late:" + c.Record.RequestID})
	return err
}
