package idempotency

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// sharedAnswer is one request that runs, with what it has written so far. Those who
// joined read it at their own pace. As long as the log is whole it can be
// joined and recorded; over its bound only what somebody has still to read
// stays, and the writer waits for the slowest.
type sharedAnswer struct {
	digest             [sha256.Size]byte
	done               chan struct{} // closed once the key is free again or its answer stands in the database
	memory             *atomic.Int64 // bytes of all logs
	timeWithoutClients func() time.Duration

	mu        sync.Mutex
	changed   *sync.Cond
	running   bool
	ended     bool
	delivered bool
	cancelled bool
	stop      context.CancelCauseFunc
	listening int // clients
	timer     *time.Timer

	status   int
	header   http.Header
	log      []byte
	base     int64 // bytes before the log
	complete bool
	readers  map[*reader]struct{}
}

// reader is somebody's place in the log.
type reader struct{ at int64 }

func newFlight(digest [sha256.Size]byte, memory *atomic.Int64, linger func() time.Duration) *sharedAnswer {
	f := &sharedAnswer{digest: digest, done: make(chan struct{}), memory: memory, timeWithoutClients: linger, complete: true, readers: map[*reader]struct{}{}}
	f.changed = sync.NewCond(&f.mu)
	return f
}

// start begins the run, with its own client listening.
func (f *sharedAnswer) start(stop context.CancelCauseFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running, f.stop, f.listening = true, stop, 1
	f.changed.Broadcast()
}

// notify lets everybody look again.
func (f *sharedAnswer) notify() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changed.Broadcast()
}

// cancel ends the run.
func (f *sharedAnswer) cancel(cause error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cancelLocked(cause)
}

func (f *sharedAnswer) cancelLocked(cause error) {
	if f.running && !f.cancelled {
		f.cancelled = true
		f.stop(cause)
	}
}

// join adds a client to those who listen, with a place at the beginning of the
// log. It waits until it is known whether the flight runs at all. Without a
// place, late means that it runs but its beginning is not kept; otherwise it
// never ran or ends, and its key must be asked for again once it is gone.
func (f *sharedAnswer) join(ctx context.Context) (at *reader, late bool) {
	defer context.AfterFunc(ctx, f.notify)()
	f.mu.Lock()
	defer f.mu.Unlock()
	for !f.running && !f.isDone() && ctx.Err() == nil {
		f.changed.Wait()
	}
	switch {
	case !f.running, f.cancelled, ctx.Err() != nil, f.ended && !(f.delivered && f.complete):
		return nil, false
	case !f.complete:
		return nil, true
	}
	f.listening++
	if f.timer != nil {
		f.timer.Stop()
	}
	at = &reader{}
	f.readers[at] = struct{}{}
	return at, false
}

func (f *sharedAnswer) isDone() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

// clientLeft notes that a client stopped listening. A cause that is not the client's
// own leaving, such as a shutdown, is meant for all.
func (f *sharedAnswer) clientLeft(cause error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listening--
	if f.ended {
		return
	}
	if cause != nil && !errors.Is(cause, context.Canceled) {
		f.cancelLocked(cause)
		return
	}
	if f.listening > 0 {
		return
	}
	wait := f.timeWithoutClients()
	if wait <= 0 {
		f.cancelLocked(context.Canceled)
		return
	}
	f.timer = time.AfterFunc(wait, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.listening == 0 {
			f.cancelLocked(context.Canceled)
		}
	})
}

// begin notes status and header, once.
func (f *sharedAnswer) begin(status int, header http.Header) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.status == 0 {
		f.status, f.header = status, recorded(header)
		f.changed.Broadcast()
	}
}

// recorded is what of a header belongs to the answer and not to the moment.
func recorded(header http.Header) http.Header {
	h := header.Clone()
	for name := range h {
		for _, prefix := range perResponsePrefix {
			if strings.HasPrefix(name, prefix) {
				delete(h, name)
			}
		}
	}
	return h
}

// perResponsePrefix begin the names of headers that tell how a key stands, and which
// page may see the answer.
var perResponsePrefix = [...]string{"X-Ratelimit-", "Access-Control-", "Vary"}

// write adds to the log.
func (f *sharedAnswer) write(ctx context.Context, b []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.complete && (len(f.log)+len(b) > maxAnswer || f.memory.Load()+int64(len(b)) > maxMemory) {
		f.complete = false
	}
	f.log = append(f.log, b...)
	f.memory.Add(int64(len(b)))
	f.changed.Broadcast()
	if f.complete {
		return
	}
	for f.dropRead(); len(f.log) > 0 && ctx.Err() == nil; f.dropRead() {
		f.changed.Wait()
	}
}

// dropRead forgets what everybody has read.
func (f *sharedAnswer) dropRead() {
	least := f.base + int64(len(f.log))
	for r := range f.readers {
		least = min(least, r.at)
	}
	n := least - f.base
	f.base = least
	f.log = slices.Delete(f.log, 0, int(n))
	f.memory.Add(-n)
}

// end says that nothing will be written any more and gives what is to be kept.
func (f *sharedAnswer) end(delivered bool) *answer {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended, f.delivered = true, delivered
	if f.timer != nil {
		f.timer.Stop()
	}
	f.changed.Broadcast()
	a := &answer{status: f.status, header: f.header, state: stateKept}
	switch {
	case !delivered:
		a.state = stateReleased
	case !f.complete || f.status == 0:
		a.state = stateNotKept
	default:
		a.body = f.log // nobody writes to it any more
	}
	return a
}

// releaseMemory gives the log's memory back, when the flight is not found any more.
// Readers that are still at it keep it alive.
func (f *sharedAnswer) releaseMemory() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.memory.Add(-int64(len(f.log)))
	f.memory = new(atomic.Int64)
	f.changed.Broadcast()
}

// removeReader gives the place up.
func (f *sharedAnswer) removeReader(r *reader, cause error) {
	f.mu.Lock()
	delete(f.readers, r)
	f.changed.Broadcast()
	f.mu.Unlock()
	f.clientLeft(cause)
}

// head waits for status and header; false when there will be none.
func (f *sharedAnswer) head(ctx context.Context) (int, http.Header, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.status == 0 && !f.ended && ctx.Err() == nil {
		f.changed.Wait()
	}
	return f.status, f.header, f.status != 0 && ctx.Err() == nil
}

// next waits for what comes behind the place and moves it on; more is false at
// the end. The chunk is the caller's.
func (f *sharedAnswer) next(ctx context.Context, r *reader) (chunk []byte, more bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for r.at == f.base+int64(len(f.log)) && !f.ended && ctx.Err() == nil {
		f.changed.Wait()
	}
	rest := f.log[r.at-f.base:]
	chunk = slices.Clone(rest[:min(len(rest), chunkSize)])
	r.at += int64(len(chunk))
	if !f.complete {
		f.changed.Broadcast() // the writer may wait for us
	}
	return chunk, len(chunk) < len(rest) || !f.ended
}
