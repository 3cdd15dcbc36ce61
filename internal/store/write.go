package store

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
)

// maxBatch bounds how many ops share a transaction, and with it how long one
// of them can wait for the others.
const maxBatch = 512

// Panic is the error of an op that panicked.
type Panic struct {
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("panic in a store operation: %v", p.Value) }

// Where a job is. It leaves waiting once: to the writer or back to its caller.
const (
	waiting int32 = iota
	taken
	withdrawn
)

type job struct {
	op   func(tx *Tx) error
	at   atomic.Int32
	done chan error // with room for the one result
}

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
// When ctx ends before op was taken, it is withdrawn; afterwards its end is
// awaited, so that the caller always knows what happened.
func (db *DB) Write(ctx context.Context, op func(tx *Tx) error) error {
	j := &job{op: op, done: make(chan error, 1)}
	if err := db.enqueue(ctx, j); err != nil {
		return err
	}
	select {
	case err := <-j.done:
		return err
	case <-ctx.Done():
		if j.at.CompareAndSwap(waiting, withdrawn) {
			return context.Cause(ctx)
		}
		return <-j.done
	}
}

func (db *DB) enqueue(ctx context.Context, j *job) error {
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

// runWriter is the one goroutine that writes. A batch is whatever queued up
// while the last one was committed: nothing ever waits for company.
func (db *DB) runWriter() {
	defer close(db.due)
	batch := make([]*job, 0, maxBatch)
	for first := range db.queue {
		batch = db.collect(batch[:0], first)
		if len(batch) == 0 {
			continue
		}
		s := <-db.writing.free
		s.runBatch(batch)
		db.noteRows(s)
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
func (s *session) runBatch(batch []*job) {
	results, err := s.transact(batch)
	switch {
	case err == nil:
		for i, j := range batch {
			j.done <- results[i]
		}
	case len(batch) == 1:
		batch[0].done <- err
	default:
		for i := range batch {
			s.runBatch(batch[i : i+1])
		}
	}
}

// transact runs jobs in one transaction. results are the refusals, one for
// each job; err means that nothing was written at all.
func (s *session) transact(jobs []*job) (results []error, err error) {
	// The writer finishes what it began, whoever stops waiting.
	ctx := context.Background()
	results = make([]error, len(jobs))
	if _, err := s.exec(ctx, s.dialect.begin, nil); err != nil {
		return results, err
	}
	tx := &Tx{session: s, ctx: ctx}
	for i, j := range jobs {
		if results[i], err = tx.run(j.op); err != nil {
			results[i] = nil
			return results, errors.Join(err, s.rollback(ctx))
		}
	}
	if !tx.dirty() {
		return results, s.rollback(ctx)
	}
	if err := tx.Flush(); err != nil {
		return results, errors.Join(err, s.rollback(ctx))
	}
	if _, err := s.exec(ctx, "COMMIT", nil); err != nil {
		return results, errors.Join(err, s.rollback(ctx))
	}
	s.rows += tx.writes
	return results, nil
}

// rollback ignores nothing but that there is nothing left to roll back, which
// is so after errors where the database did it by itself.
func (s *session) rollback(ctx context.Context) error {
	_, err := s.exec(ctx, "ROLLBACK", nil)
	if err != nil && s.dialect.isNoTransaction(err) {
		return nil
	}
	return err
}

// run runs one op. refusal is an error of the op alone; broken means that the
// transaction cannot go on.
func (tx *Tx) run(op func(*Tx) error) (refusal, broken error) {
	before := tx.writes
	err := guarded(tx, op)
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

func guarded(tx *Tx, op func(*Tx) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &Panic{Value: v, Stack: debug.Stack()}
		}
	}()
	return op(tx)
}
