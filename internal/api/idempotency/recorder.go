package idempotency

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"
)

// recorder is the connection of a flight's first client: what is written goes
// to the log and to the client. That the client has left is no error for whoever
// writes: the flight's context says when the request is over.
type recorder struct {
	w          http.ResponseWriter
	rc         *http.ResponseController
	flight     *sharedAnswer
	ctx        context.Context
	clientLeft atomic.Bool
}

// noteClientLeft notes that the client is not there any more, once.
func (r *recorder) noteClientLeft(cause error) {
	if !r.clientLeft.Swap(true) {
		r.flight.clientLeft(cause)
	}
}

func (r *recorder) hasClientLeft() bool { return r.clientLeft.Load() }

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.w.Header() }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	r.flight.begin(status, r.w.Header())
	if !r.hasClientLeft() {
		r.w.WriteHeader(status)
	}
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(b []byte) (int, error) {
	r.flight.begin(http.StatusOK, r.w.Header())
	r.flight.write(r.ctx, b)
	if !r.hasClientLeft() {
		if _, err := r.w.Write(b); err != nil {
			r.noteClientLeft(nil)
		}
	}
	return len(b), nil
}

// FlushError is for http.ResponseController.
func (r *recorder) FlushError() error {
	if !r.hasClientLeft() {
		if err := r.rc.Flush(); err != nil {
			r.noteClientLeft(nil)
		}
	}
	return nil
}

// SetWriteDeadline is for http.ResponseController.
func (r *recorder) SetWriteDeadline(t time.Time) error {
	if r.hasClientLeft() {
		return nil
	}
	return r.rc.SetWriteDeadline(t)
}
