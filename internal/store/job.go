package store

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// Where a job is. Its caller may leave at any time, and what it learns then
// holds: what was withdrawn is never carried out, and what was abandoned is
// carried out by the COMMIT that is under way or not at all.
const (
	waiting    int32 = iota // in the queue
	taken                   // a writer runs it; nothing of it can be durable yet
	committing              // its COMMIT is under way
	answered                // its caller has the result
	withdrawn               // its caller left before the COMMIT
	abandoned               // its caller left during the COMMIT
)

// job is one call of Write.
type job struct {
	op       func(tx *Tx) error
	announce []func(tx *Tx)
	began    time.Time
	at       atomic.Int32
	done     chan error // with room for the one result
}

// outageWait is how long the caller waits.
func (j *job) patience(ctx context.Context) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return min(outageWait, deadline.Sub(j.began))
	}
	return outageWait
}

// leave notes that the caller does not wait any longer, and tells where the job
// was; answered if it must wait after all.
func (j *job) leave() (was int32) {
	for {
		was = j.at.Load()
		to := withdrawn
		switch was {
		case committing:
			to = abandoned
		case answered:
			return was
		}
		if j.at.CompareAndSwap(was, to) {
			return was
		}
	}
}

// end tells the caller, if it is still there.
func (j *job) end(result error) {
	for {
		was := j.at.Load()
		if was == withdrawn || was == abandoned {
			return
		}
		if j.at.CompareAndSwap(was, answered) {
			j.done <- result
			return
		}
	}
}

// errWithdrawn: a job of the transaction was withdrawn before its COMMIT.
var errWithdrawn = errors.New("withdrawn before the commit")

// wanted is the jobs whose callers still wait. It is asked before a transaction
// runs, when nothing of them is durable or under way: one whose COMMIT failed
// for certain may run again.
func wanted(batch []*job) []*job {
	kept := batch[:0]
	for _, j := range batch {
		if j.at.CompareAndSwap(committing, taken) || j.at.Load() == taken {
			kept = append(kept, j)
		}
	}
	return kept
}

// commits notes that the COMMIT is under way; false if a job was withdrawn, with
// which nothing may be committed.
func commits(jobs []*job) bool {
	for _, j := range jobs {
		if !j.at.CompareAndSwap(taken, committing) {
			return false
		}
	}
	return true
}

// awaited reports whether any caller waits for the result of the COMMIT.
func awaited(jobs []*job) bool {
	for _, j := range jobs {
		if j.at.Load() == committing {
			return true
		}
	}
	return false
}
