package idempotency

import (
	"context"
	"net/http"
	"time"

	"rubicon/internal/wire/fault"
)

// Run answers a request: it writes to w, goes on until ctx ends, and tells
// whether anything was delivered or charged, so that it must not run again.
type Run func(ctx context.Context, w http.ResponseWriter) (delivered bool)

// Serve answers the call: by run if it is the first of its key, else with what
// the first one answers or has answered. A fault means that nothing was written.
func (k *Keys) Serve(w http.ResponseWriter, r *http.Request, c Call, run Run) *fault.Error {
	for {
		f, first := k.join(c)
		if first {
			return k.runFirst(f, w, r, c, run)
		}
		if f.digest != c.Digest {
			return conflict()
		}
		at, late := f.join(r.Context())
		switch {
		case at != nil:
			k.copyTo(f, at, w, r)
			return nil
		case late:
			return fault.New(fault.IdempotencyInProgress, "A request with this Idempotency-Key is still running, and its answer is too long to be joined.")
		}
		select { // it ends without an answer to be had here; then ask again
		case <-f.done:
		case <-r.Context().Done():
			return nil // there is nobody to tell
		}
	}
}

func conflict() *fault.Error {
	return fault.New(fault.IdempotencyConflict, "").WithParam(Header)
}

// join finds the flight of a key, or makes it; the first one leads it.
func (k *Keys) join(c Call) (f *sharedAnswer, first bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := id{c.Customer, c.Key}
	if f := k.flights[key]; f != nil {
		return f, false
	}
	f = newFlight(c.Digest, &k.memory, k.TimeWithoutClients)
	k.flights[key] = f
	return f, true
}

func (k *Keys) remove(f *sharedAnswer, c Call) {
	k.mu.Lock()
	delete(k.flights, id{c.Customer, c.Key})
	k.mu.Unlock()
	close(f.done)
	f.releaseMemory()
}

// runFirst runs the request, unless the database knows better.
func (k *Keys) runFirst(f *sharedAnswer, w http.ResponseWriter, r *http.Request, c Call, run Run) *fault.Error {
	defer k.remove(f, c)
	found, err := k.claim(r.Context(), c)
	switch {
	case err != nil && r.Context().Err() != nil:
		return nil
	case err != nil:
		return fault.New(fault.StoreUnavailable, "").WithCause(err)
	case found == nil:
		k.run(f, w, r, c, run)
		return nil
	case found.digest != c.Digest:
		return conflict()
	case found.state == stateKept:
		k.sendStored(w, found)
		return nil
	case found.state == stateNotKept:
		return fault.Newf(fault.IdempotencyConflict, "The request of this Idempotency-Key was answered as %s, and its answer was not kept. Send a new key to run it again.", found.requestID).WithParam(Header)
	}
	return fault.New(fault.IdempotencyInProgress, "")
}

// run is the first request of its key. It goes on when its own client has left
// as long as others listen.
func (k *Keys) run(f *sharedAnswer, w http.ResponseWriter, r *http.Request, c Call, run Run) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(r.Context()))
	defer cancel(nil)
	defer context.AfterFunc(ctx, f.notify)()
	rec := &recorder{w: w, rc: http.NewResponseController(w), flight: f, ctx: ctx}
	f.start(cancel)
	defer context.AfterFunc(r.Context(), func() { rec.noteClientLeft(context.Cause(r.Context())) })()
	delivered := false
	defer func() { k.conclude(f, c, delivered) }() // after a panic too
	delivered = run(ctx, rec)
	if rec.hasClientLeft() {
		// Its own client was not told the end, or not all of it: to return would
		// write a clean one.
		panic(http.ErrAbortHandler)
	}
}

// conclude makes the answer durable, or frees the key. Those who listen do not
// wait for it.
func (k *Keys) conclude(f *sharedAnswer, c Call, delivered bool) {
	a := f.end(delivered)
	ctx, done := context.WithTimeout(context.Background(), finishTime)
	defer done()
	if err := k.finish(ctx, c, a); err != nil {
		k.Log.Error("recording an answer under its idempotency key", "request_id", c.RequestID, "error", err)
	}
}

const finishTime = 30 * time.Second

// copyTo passes on what a flight writes, from its first byte.
func (k *Keys) copyTo(f *sharedAnswer, at *reader, w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	defer context.AfterFunc(ctx, f.notify)()
	defer func() { f.removeReader(at, context.Cause(ctx)) }()
	status, header, ok := f.head(ctx)
	if !ok {
		panic(http.ErrAbortHandler)
	}
	out := k.output(w)
	out.begin(status, header)
	for {
		chunk, more := f.next(ctx, at)
		if len(chunk) > 0 && out.send(chunk) != nil || ctx.Err() != nil {
			panic(http.ErrAbortHandler)
		}
		if !more {
			return
		}
	}
}

// sendStored gives a recorded answer.
func (k *Keys) sendStored(w http.ResponseWriter, a *answer) {
	out := k.output(w)
	out.begin(a.status, a.header)
	for body := a.body; len(body) > 0; {
		n := min(len(body), chunkSize)
		if out.send(body[:n]) != nil {
			panic(http.ErrAbortHandler)
		}
		body = body[n:]
	}
}

// output writes a copy of an answer to a client.
type output struct {
	w     http.ResponseWriter
	rc    *http.ResponseController
	limit time.Duration
}

// chunkSize is what is written under one deadline.
const chunkSize = 64 << 10

func (k *Keys) output(w http.ResponseWriter) *output {
	return &output{w: w, rc: http.NewResponseController(w), limit: k.WriteLimit()}
}

func (o *output) begin(status int, header http.Header) {
	h := o.w.Header()
	for name, values := range header {
		h[name] = values
	}
	h.Set(RepeatedHeader, "true")
	o.w.WriteHeader(status)
}

func (o *output) send(b []byte) error {
	if o.limit > 0 {
		_ = o.rc.SetWriteDeadline(time.Now().Add(o.limit))
	}
	if _, err := o.w.Write(b); err != nil {
		return err
	}
	return o.rc.Flush()
}
