package httpapi

import (
	"fmt"
	"net/http"
	"runtime/debug"

	"rubicon/internal/fault"
)

// guard ends a request whose handler panicked: with the gateway's own failure
// while nothing was written, else by cutting the answer off, because net/http
// would do that without a word to the operator.
func (a *api) guard(w *guarded, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler {
		panic(p)
	}
	a.Log.Error("panic in a request", "request_id", requestID(r), "path", r.URL.Path, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	if w.begun {
		panic(http.ErrAbortHandler)
	}
	a.fail(w, r, fault.New(fault.InternalError, ""))
}

// guarded knows whether anything of the answer was written.
type guarded struct {
	http.ResponseWriter
	begun bool
}

func (g *guarded) WriteHeader(status int) {
	g.begun = true
	g.ResponseWriter.WriteHeader(status)
}

func (g *guarded) Write(b []byte) (int, error) {
	g.begun = true
	return g.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (g *guarded) Unwrap() http.ResponseWriter { return g.ResponseWriter }
