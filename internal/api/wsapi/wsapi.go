// Package wsapi is the Responses API over WebSocket: it upgrades, reads frames,
// queues turns and hands them to the engine one at a time, and writes what
// comes out, one event a frame.
//
// No rule about routing, replay or money lives here: the engine serves a turn
// as it serves a request over HTTP, through another sink. What is here alone is
// the connection: who may open one, how long it lasts, and the memory from
// which a response that is stored nowhere can be continued.
//
// Who does what: one goroutine reads (conn.read) and never waits for a turn;
// one works the queue off while there is any (conn.work); the pulse pings on a
// timer; conn.end runs once, when the connection's context is over, and closes.
// All of them write through the outlet, whose frames are whole.
//
// Invariants: every response.create gets exactly one ending as long as its
// client is there; the place of a turn is free before its ending is written;
// nothing of a connection runs after it is closed; nothing here grows without a
// configured bound.
package wsapi

import (
	"context"
	"log/slog"
	"net/http"
	"sync"

	"rubicon/internal/api/httpapi"
	"rubicon/internal/api/pressure"
	"rubicon/internal/books/account"
	"rubicon/internal/config"
	"rubicon/internal/engine/turn"
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/ident"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/protocol/responses"
)

// Deps is what the transport is made of.
type Deps struct {
	Config   func() *config.Config
	Engine   *turn.Engine
	Accounts *account.Accounts
	IDs      *ident.Source
	// Uploads counts the messages on their way in; nil: nothing is counted.
	Uploads *pressure.Uploads
	Log     *slog.Logger
}

// Handler upgrades GET /v1/responses. It owns its connections: net/http forgets
// them, so whoever shuts the server down calls Shutdown too.
type Handler struct {
	Deps
	protocol protocol.Protocol

	mu           sync.Mutex
	shuttingDown bool
	reserved     int // connections open or being opened
	conns        map[*conn]struct{}
	open         sync.WaitGroup
}

// New makes a Handler without connections.
func New(d Deps) *Handler {
	return &Handler{Deps: d, protocol: responses.Protocol(), conns: map[*conn]struct{}{}}
}

// ServeHTTP upgrades the request. It returns at once; the connection goes on,
// which frees what net/http keeps for a request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p, f := h.checkUpgrade(r)
	if f == nil {
		f = h.reserve()
	}
	if f != nil {
		httpapi.Fail(w, r, f)
		return
	}
	if err := h.accept(w, r, p); err != nil {
		h.release()
		h.Log.Debug("upgrading a connection", "error", err)
	}
}

// reserve takes a place for a connection.
func (h *Handler) reserve() *fault.Error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.shuttingDown:
		return fault.New(fault.ShuttingDown, "")
	case h.reserved >= h.Config().Limits.Connections:
		return fault.New(fault.Overloaded, "The gateway has as many connections as it takes.")
	}
	h.reserved++
	h.open.Add(1)
	return nil
}

func (h *Handler) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reserved--
	h.open.Done()
}

// run starts an upgraded connection. One that came through while the shutdown
// began is drained like the others.
func (h *Handler) run(ctx context.Context, c *conn) {
	h.mu.Lock()
	h.conns[c] = struct{}{}
	draining := h.shuttingDown
	h.mu.Unlock()
	go func() { // waited for by Shutdown, through open
		defer h.release()
		c.serve(ctx)
		h.mu.Lock()
		delete(h.conns, c)
		h.mu.Unlock()
	}()
	if draining {
		c.finishTurn()
	}
}

// Open is how many connections there are.
func (h *Handler) Open() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reserved
}

// Shutdown closes idle connections and lets running turns end until ctx is
// over; then it ends them. All connections are closed when it returns.
func (h *Handler) Shutdown(ctx context.Context) {
	for _, c := range h.finishAll() {
		c.finishTurn()
	}
	closed := make(chan struct{})
	go func() { // waited for below
		defer close(closed)
		h.open.Wait()
	}()
	select {
	case <-closed:
		return
	case <-ctx.Done():
	}
	for _, c := range h.finishAll() {
		c.stop(turn.ErrShutdown)
	}
	<-closed
}

// finishAll takes no connection any more and gives those that are there.
func (h *Handler) finishAll() []*conn {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.shuttingDown = true
	out := make([]*conn, 0, len(h.conns))
	for c := range h.conns {
		out = append(out, c)
	}
	return out
}
