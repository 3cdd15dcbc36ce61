package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"
)

// maxBatch bounds how many ops share a transaction, and with it how long one
// of them can wait for the others.
const maxBatch = 512

// maxTries bounds how often a transaction is run that others were in the way
// of, or whose connection was lost before its commit.
const maxTries = 5

// Panic is the error of an op that panicked.
type Panic struct {
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("panic in a store operation: %v", p.Value) }

// outageWait is how long anybody waits for a database, and how long an outage is
// ridden through. Afterwards work is refused at once, until it answers again.
const outageWait = 2500 * time.Millisecond

// Write runs op in a transaction that it shares with whatever else is waiting,
// and returns when that is durable. The rules for op:
//
//   - it may be run more than once, so it must only set what it returns;
//   - it refuses (returns an error) before it writes anything; then only it
//     fails. An error after a write is safe but dear: it costs every other op
//     of the batch a second run, each in a transaction of its own;
//   - it runs on the writer's goroutine: no waiting, no calls to Write or
//     Read, no runtime.Goexit (a test's t.Fatal).
//
// The rows that announce names to a Preloader (see Tx.Pending) are read before the
// ops run, for all of them at once. The package comment has the whole way of an op.
//
// When ctx ends before op was taken, it is withdrawn; afterwards its end is
// awaited, but not beyond patience or ctx's deadline, whatever the database
// does: the error is then ErrUnavailable if op was withdrawn in time, and
// ErrUncertain if its COMMIT has no answer.
func (db *DB) Write(ctx context.Context, op func(tx *Tx) error, announce ...func(tx *Tx)) error {
	j := &job{op: op, announce: announce, began: time.Now(), done: make(chan error, 1)}
	if err := db.enqueue(ctx, j); err != nil {
		return err
	}
	limit := time.NewTimer(j.patience(ctx))
	defer limit.Stop()
	for left := ctx.Done(); ; left = nil {
		select {
		case err := <-j.done:
			return err
		case <-limit.C:
			return db.giveUp(j)
		case <-left:
			if j.at.CompareAndSwap(waiting, withdrawn) {
				return context.Cause(ctx)
			}
		}
	}
}

// giveUp ends the waiting for a job that the database holds up.
func (db *DB) giveUp(j *job) error {
	switch was := j.leave(); was {
	case waiting, taken:
		db.writes.failed(j.began, time.Now(), errSlow)
		return errSlow
	case committing:
		db.writes.failed(j.began, time.Now(), errSlow)
		return fmt.Errorf("%w: %w", ErrUncertain, errSlow)
	}
	return <-j.done // at this moment
}

func (db *DB) enqueue(ctx context.Context, j *job) error {
	if err := db.writes.isRefusing(j.began); err != nil {
		return err
	}
	db.gate.RLock()
	defer db.gate.RUnlock()
	// A select with two ready cases picks either; these two must win.
	select {
	case <-db.closing:
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	default:
	}
	select {
	case db.queue <- j:
		return nil
	case <-db.closing:
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// runWriter is a goroutine that writes. A batch is whatever queued up while
// the writers were busy: nothing ever waits for company.
func (db *DB) runWriter() {
	batch := make([]*job, 0, maxBatch)
	for first := range db.queue {
		batch = db.collect(batch[:0], first)
		if len(batch) == 0 {
			continue
		}
		s := <-db.writing.idle
		db.runBatch(s, batch)
		db.noteVolume(s)
		db.writing.give(s)
		clear(batch)
	}
}

func (db *DB) collect(batch []*job, first *job) []*job {
	take := func(j *job) {
		if j.at.CompareAndSwap(waiting, taken) {
			batch = append(batch, j)
		}
	}
	take(first)
	for len(batch) < maxBatch {
		select {
		case j, open := <-db.queue:
			if !open {
				return batch
			}
			take(j)
		default:
			return batch
		}
	}
	return batch
}

// runBatch runs all jobs in one transaction, or else each in its own.
func (db *DB) runBatch(s *session, batch []*job) {
	batch, results, err := db.persist(s, batch)
	switch {
	case err == nil:
		for i, j := range batch {
			j.end(results[i])
		}
	case len(batch) == 1, errors.Is(err, ErrUnavailable), errors.Is(err, ErrUncertain):
		// None of them would fare better alone.
		for _, j := range batch {
			j.end(err)
		}
	default:
		for i := range batch {
			db.runBatch(s, batch[i:i+1])
		}
	}
}

// persist runs the transaction again where that may help, without the jobs that
// were withdrawn meanwhile; ran is those of the last run.
func (db *DB) persist(s *session, batch []*job) (ran []*job, results []error, err error) {
	end, err := s.outage.begin(time.Now())
	if err != nil {
		return batch, nil, err
	}
	defer end()
	for try := 1; ; try++ {
		if batch = wanted(batch); len(batch) == 0 {
			return nil, nil, nil
		}
		began := time.Now()
		results, err = db.transact(s, batch)
		if errors.Is(err, errWithdrawn) {
			try-- // which ends, since there are fewer of them every time
			continue
		}
		hangs := errors.Is(err, context.DeadlineExceeded)
		if meaning(err) == databaseAway || hangs {
			s.outage.failed(began, time.Now(), err)
		}
		if err == nil || try == maxTries || errors.Is(err, ErrUncertain) || meaning(err) != runAgain && !s.connectionBroken() || hangs {
			return batch, results, err
		}
		time.Sleep(rand.N(time.Duration(try) * 5 * time.Millisecond))
	}
}

// transact runs jobs in one transaction. results are the refusals, one for
// each job; err means that nothing was written at all, or is ErrUncertain.
func (db *DB) transact(s *session, jobs []*job) (results []error, err error) {
	// The writer finishes what it began, whoever stops waiting.
	ctx := context.Background()
	if limit := db.dialect.transaction; limit > 0 {
		var done context.CancelFunc
		ctx, done = context.WithTimeout(ctx, limit)
		defer done()
	}
	results = make([]error, len(jobs))
	if err := s.ready(ctx); err != nil {
		return results, err
	}
	tx := &Tx{session: s, ctx: ctx}
	defer tx.recycle()
	if err := tx.begin(jobs); err != nil {
		return results, errors.Join(err, s.rollback(ctx))
	}
	for i, j := range jobs {
		if results[i], err = tx.run(j.op); err != nil {
			results[i] = nil
			return results, errors.Join(err, s.rollback(ctx))
		}
	}
	if !tx.dirty() {
		return results, s.rollback(ctx)
	}
	return results, db.commit(tx, jobs)
}

// begin starts the transaction and reads what the jobs announced.
func (tx *Tx) begin(jobs []*job) error {
	for _, j := range jobs {
		for _, announce := range j.announce {
			if err := withoutPanic(tx, func(tx *Tx) error { announce(tx); return nil }); err != nil {
				return err
			}
		}
	}
	return tx.start()
}

// run runs one op. refusal is an error of the op alone; broken means that the
// transaction cannot go on.
func (tx *Tx) run(op func(*Tx) error) (refusal, broken error) {
	before := tx.writes
	err := withoutPanic(tx, op)
	var p *Panic
	switch {
	case tx.broken != nil:
		// The database's word counts, even if the op swallowed it.
		return nil, errors.Join(err, tx.broken)
	case errors.As(err, &p), err != nil && tx.writes != before:
		return nil, err
	}
	return err, nil
}

func withoutPanic(tx *Tx, op func(*Tx) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &Panic{Value: v, Stack: debug.Stack()}
		}
	}()
	return op(tx)
}
