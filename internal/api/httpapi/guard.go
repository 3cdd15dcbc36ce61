package httpapi

import (
	"fmt"
	"net/http"
	"runtime/debug"

	"rubicon/internal/wire/fault"
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
	last  bool // the connection is closed after the answer
}

// begin is called before anything is written.
func (g *guarded) begin() {
	if g.last && !g.begun {
		g.Header().Set("Connection", "close")
	}
	g.begun = true
}

func (g *guarded) WriteHeader(status int) {
	g.begin()
	g.ResponseWriter.WriteHeader(status)
}

func (g *guarded) Write(b []byte) (int, error) {
	g.begin()
	return g.ResponseWriter.Write(b)
}

// ambiguous tells whether a proxy in front may see another end of the request
// than this server does, because it came with a length and in chunks (RFC 9112,
// 6.3): what follows on the connection could be somebody else's. Package http
// takes the length away before anybody sees it, so that every request in chunks
// counts; clients that know what they send do not use them.
func ambiguous(r *http.Request) bool { return r.ProtoMajor == 1 && len(r.TransferEncoding) > 0 }

// Unwrap is for http.ResponseController.
func (g *guarded) Unwrap() http.ResponseWriter { return g.ResponseWriter }
