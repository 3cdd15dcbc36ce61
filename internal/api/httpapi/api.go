// Package httpapi is the client API over HTTP: it authenticates, reads and
// bounds what comes in, hands requests to the engine, and writes what comes
// out. It also serves the customer's own reading: models, balance, records and
// stored responses.
//
// No rule about routing, replay or money lives here.
//
// Invariants: every response carries x-request-id; every error has the one
// envelope; a stream that could not be ended properly is aborted, never closed
// as if it were whole.
package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"time"

	"rubicon/internal/api/idempotency"
	"rubicon/internal/api/pressure"
	"rubicon/internal/books/account"
	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
	"rubicon/internal/books/state"
	"rubicon/internal/config"
	"rubicon/internal/engine/turn"
	"rubicon/internal/engine/upstream"
	"rubicon/internal/store"
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/ident"
	"rubicon/internal/wire/protocol"
)

// Deps is what the API is made of.
type Deps struct {
	Config   func() *config.Config
	Engine   *turn.Engine
	Accounts *account.Accounts
	Ledger   *ledger.Ledger
	Journal  *journal.Journal
	States   *state.States
	DB       *store.DB
	Upstream *upstream.Client
	IDs      *ident.Source
	Log      *slog.Logger
	Ready    func(ctx context.Context) *fault.Error // nil: ready
	// Closed tells why every request is refused, as when the process starts or
	// ends; nil, or no fault: they are served.
	Closed func() *fault.Error
	// Waiting is how many ends of requests wait for the database; nil: not shown.
	Waiting func() int
	// Idempotency knows repeated requests; nil: Idempotency-Key is ignored.
	Idempotency *idempotency.Keys
	// Uploads counts the bodies on their way in; nil: nothing is counted.
	Uploads *pressure.Uploads
	// Version names the configuration that runs; nil: not shown.
	Version func() string
	// Socket serves the WebSocket upgrade of GET /v1/responses; nil: 426.
	Socket http.Handler
}

// api is the handler.
type api struct {
	Deps
	mux *http.ServeMux
}

// New makes the handler of the client listener. surfaces come from Surfaces.
func New(d Deps, surfaces []Surface) http.Handler {
	a := &api{Deps: d, mux: http.NewServeMux()}
	for _, r := range a.routes(surfaces) {
		a.mux.HandleFunc(r.pattern, r.serve)
	}
	return a
}

// route is one line of the client API.
type route struct {
	pattern string // METHOD /path
	serve   http.HandlerFunc
}

// routes is the whole client API; docs/reference/client-api.md explains each.
func (a *api) routes(surfaces []Surface) []route {
	var all []route
	for _, s := range surfaces {
		all = append(all, route{"POST " + s.Path, a.serve(s)})
	}
	return append(all, []route{
		{"GET /v1/responses", a.socket},
		{"GET /v1/responses/{id}", a.withKey(a.storedGet)},
		{"DELETE /v1/responses/{id}", a.withKey(a.storedDelete)},
		{"GET /v1/responses/{id}/input_items", a.withKey(a.storedItems)},
		{"GET /v1/models", a.withKey(a.models)},
		{"GET /v1/models/{id...}", a.withKey(a.model)},
		{"GET /v1/balance", a.withKey(a.balance)},
		{"GET /v1/requests", a.withKey(a.requests)},
		{"GET /v1/requests/{id}", a.withKey(a.request)},
		{"GET /healthz", a.healthz},
		{"GET /readyz", a.readyz},
		{"GET /{$}", a.answerRoot},
	}...)
}

// Patterns are the calls that New serves, as "METHOD /path".
func Patterns(surfaces []Surface) []string {
	var all []string
	for _, r := range (&api{}).routes(surfaces) {
		all = append(all, r.pattern)
	}
	return all
}

// Surface is one POST path that the engine serves.
type Surface struct {
	Path      string
	Surface   journal.Surface
	Protocol  *protocol.Protocol
	Uncharged bool // token counting: recorded, no hold, no charge
}

// ServeHTTP names the request and sends it on, guarded.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := a.IDs.ID("req")
	w.Header().Set("X-Request-Id", id)
	if wantsMessages(r) {
		w.Header().Set("Request-Id", id) // the name that Anthropic's SDKs read
	}
	r = r.WithContext(context.WithValue(r.Context(), idKey{}, id))
	g := &guarded{ResponseWriter: w, last: ambiguous(r)}
	defer a.guard(g, r)
	w = g
	// The deadline of the connection's last answer must not end this one.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(a.Config().Timers.Write))
	if a.cors(w, r) {
		return
	}
	if pressure.TooMany(r.Context()) {
		w.Header().Set("Connection", "close")
		a.fail(w, r, fault.New(fault.Overloaded, "The gateway has as many connections as it takes, of this address or of all."))
		return
	}
	if f := a.closed(); f != nil && r.URL.Path != "/healthz" {
		discardRest(w, r)
		w.Header().Set("Connection", "close")
		a.fail(w, r, f)
		return
	}
	// The mux would redirect a path that is not clean, which no client expects.
	if _, pattern := a.mux.Handler(r); pattern == "" || path.Clean(r.URL.Path) != r.URL.Path {
		a.noRoute(w, r)
		return
	}
	a.mux.ServeHTTP(w, r)
}

func (a *api) closed() *fault.Error {
	if a.Closed == nil {
		return nil
	}
	return a.Closed()
}

type idKey struct{}

func requestID(r *http.Request) string {
	id, _ := r.Context().Value(idKey{}).(string)
	return id
}

// noRoute answers unknown paths and wrong methods in the one envelope.
func (a *api) noRoute(w http.ResponseWriter, r *http.Request) {
	rec := headWriter{header: http.Header{}}
	a.mux.ServeHTTP(&rec, r)
	f := fault.Newf(fault.NotFound, "There is no %s %s here.", r.Method, r.URL.Path)
	if rec.status == http.StatusMethodNotAllowed {
		f = fault.Newf(fault.InvalidRequest, "%s is not allowed on %s.", r.Method, r.URL.Path)
		f.Status = http.StatusMethodNotAllowed
		w.Header().Set("Allow", rec.header.Get("Allow"))
	}
	a.fail(w, r, f)
}

// headWriter learns what the mux would answer.
type headWriter struct {
	header http.Header
	status int
}

func (p *headWriter) Header() http.Header         { return p.header }
func (p *headWriter) Write(b []byte) (int, error) { return len(b), nil }
func (p *headWriter) WriteHeader(status int)      { p.status = status }

func (a *api) healthz(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, []byte(`{"status":"ok"}`))
}

func (a *api) readyz(w http.ResponseWriter, r *http.Request) {
	if a.Ready != nil {
		if f := a.Ready(r.Context()); f != nil {
			a.fail(w, r, f)
			return
		}
	}
	body := []byte(`{"status":"ready"`)
	if a.Version != nil {
		body = fmt.Appendf(body, `,"config":%q`, a.Version())
	}
	if a.Waiting != nil {
		if n := a.Waiting(); n > 0 {
			body = fmt.Appendf(body, `,"settlements_waiting":%d`, n)
		}
	}
	writeJSON(w, http.StatusOK, append(body, '}'))
}

// answerRoot answers the probes that some clients send before their first request.
func (a *api) answerRoot(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, []byte(`{"service":"rubicon"}`))
}

// socket is GET /v1/responses: the WebSocket upgrade.
func (a *api) socket(w http.ResponseWriter, r *http.Request) {
	if a.Socket != nil && a.Config().WS.Enabled {
		a.Socket.ServeHTTP(w, r)
		return
	}
	f := fault.New(fault.InvalidRequest, "WebSocket is switched off here; send POST /v1/responses.")
	f.Status = http.StatusUpgradeRequired
	w.Header().Set("Upgrade", "websocket")
	a.fail(w, r, f)
}
