// Package turn runs one request from admission to the last byte: the pipeline
// that both transports share. Transports differ in their Sink alone; protocols
// in their event classes alone.
//
// The rules are elsewhere and pure: replay decides, route chooses, meter bills.
// This package gives them the facts and carries out what they return.
//
// Invariants: the client sees the events of exactly one attempt and exactly one
// ending; the charge hold is durable before dispatch and resolved once; the
// outcome is durable before the client is shown the end; no goroutine and no
// upstream call outlives Run.
package turn

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"rubicon/internal/books/account"
	"rubicon/internal/books/journal"
	"rubicon/internal/books/limit"
	"rubicon/internal/books/state"
	"rubicon/internal/config"
	"rubicon/internal/engine/billing"
	"rubicon/internal/engine/meter"
	"rubicon/internal/engine/replay"
	"rubicon/internal/engine/upstream"
	"rubicon/internal/health"
	"rubicon/internal/health/route"
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/protocol"
)

// Chooser is route.Choose; a field so that its failure can be tested.
type Chooser func(*config.Model, []health.View, route.Query) (route.Route, bool, journal.Decision)

// Engine is what all turns share.
type Engine struct {
	Config     func() *config.Config // the configuration in force; a turn keeps the one it began with
	Health     *health.Registry
	Upstream   *upstream.Client
	Bookkeeper *meter.Bookkeeper
	States     *state.States
	Learner    *billing.Learner
	Limits     *limit.Limits // nil: keys' rates and concurrency are not enforced
	Choose     Chooser
	Random     func() float64 // in [0,1)
	// Overloaded returns whether new requests must be refused; nil: never.
	Overloaded func() bool
	Observe    Observer // may be nil
	// Doubted is called with a description of usage that a channel reported and
	// that is not possible. It must return at once. May be nil.
	Doubted func(channel, upstreamModel, what string)
	Log     *slog.Logger
	Node    func() string // this process in the database

	drains  drains
	repeats repeats
}

// Observer receives the beginning and end of requests, for metrics.
type Observer interface {
	// Started is called when a request begins to run, and ended when it ended.
	Started(s journal.Surface) (ended func())
	// Finished is called for every request that ended, refused ones included.
	Finished(r *journal.Record)
}

// Request is one request as its transport decoded it.
type Request struct {
	ID              string
	Principal       account.Principal
	Surface         journal.Surface
	Protocol        *protocol.Protocol
	Parsed          protocol.Request
	Body            []byte      // the engine takes it away once nothing can run again
	Header          http.Header // allow-listed for upstream
	ClientRequestID string
	Session         string    // the client's session id, for affinity
	Received        time.Time // when its first byte was read
	Delivery        string    // what the request asked for: config.DeliveryStream, DeliveryAtomic or ""
	Uncharged       bool      // token counting: recorded, no hold, no charge
	WebSocket       bool
	// OnLimits is called with the state of the key's rate limits, before anything
	// of the answer is handed over. May be nil.
	OnLimits func(limit.State)
	// TransportOutlivesClient: the transport itself lets the request go on for some
	// time after its client left.
	TransportOutlivesClient bool
	// Continued: the transport completed the input from its own memory, so a
	// missing origin is answered as a missing previous response.
	Continued bool

	grant *limit.Grant // what Enter took
}

// Result is what a transport may want to know afterwards.
type Result struct {
	Outcome journal.Outcome
	Seen    *protocol.Observed // of the delivered attempt; nil if there was none
	Sent    bool               // an attempt was made
	// Delivered: the client was given output or a whole answer, or pays. To run
	// the request again would be to run it twice.
	Delivered bool
}

// Sink is a client connection in its role for one request. Its methods are
// never called at the same time.
type Sink interface {
	// Begin opens the event stream, once, before its first event. failed is not
	// nil when it is opened only to show that failure.
	Begin(contentType string, failed *fault.Error)
	// Event hands over one event; it need not be sent before Flush.
	Event(ev protocol.Event) error
	// Flush sends what was handed over.
	Flush() error
	// KeepAlive writes a keep-alive.
	KeepAlive() error
	// Answer sends a whole answer that is not streamed.
	Answer(a *upstream.Answer) error
	// Fail sends the failure in the given form and ends the request.
	Fail(e ShownFailure) error
	// ErrorAtOnce: after output an upstream error event goes out before it is
	// known whether a response.failed follows.
	ErrorAtOnce() bool
}

// turn is one running request.
type turn struct {
	engine *Engine
	req    *Request
	cfg    *config.Config
	model  *config.Model
	timers config.Timers
	gate   *gate
	live   *meter.Progress

	parent context.Context // the client's
	ctx    context.Context // with the total deadline
	cancel context.CancelCauseFunc

	unwatch  func()   // ends what watchClient began
	cleanups []func() // what end runs last, in the order in which it was added

	rec      journal.Record
	origin   string // the origin of the state that the request names; "" if it names none
	bound    bool   // origin-bound (docs/contract.md#s3-origin-bound)
	stored   bool
	storeOff bool // the gateway turned "store" off
	estimate int64
	bounds   billing.Bounds // the largest usage that is believed
	grant    *limit.Grant
	billing  meter.Billing
	opened   bool // the hold and the record exist
	closed   bool // both were brought to their end

	signs  []uint64      // hashes by which a repeat of this request is recognised
	waited time.Duration // for routes in a cooldown

	counts      replay.Counts
	triedRoutes []health.Route
	attempts    []*attempt
	next        *candidate // chosen, with its permit, not dispatched yet
}

// Run serves the request. It returns after the end was shown to the client.
func (e *Engine) Run(ctx context.Context, req *Request, sink Sink) Result {
	if e.Observe != nil {
		defer e.Observe.Started(req.Surface)()
	}
	t := e.begin(ctx, req, sink)
	defer t.end()
	defer t.resolveAfterPanic()
	if f := t.admit(); f != nil {
		t.refuse(f)
		return Result{Outcome: t.rec.Outcome}
	}
	for {
		a := t.attempt()
		if a.failed == nil || !t.again(a) {
			r := t.conclude(a)
			r.Delivered = a.failed == nil || t.rec.AfterOutput || t.rec.Charge > 0
			return r
		}
	}
}

func (e *Engine) node() string {
	if e.Node == nil {
		return ""
	}
	return e.Node()
}

func (e *Engine) begin(ctx context.Context, req *Request, sink Sink) *turn {
	t := &turn{engine: e, req: req, cfg: e.Config(), parent: ctx}
	t.grant, req.grant = req.grant, nil
	t.watchClient(ctx, sink)
	t.rec = journal.Record{
		RequestID: req.ID, Customer: req.Principal.Customer.ID, Key: req.Principal.Key.ID, ClientRequestID: req.ClientRequestID,
		Surface: req.Surface, Stream: req.Parsed.Stream, PublicModel: req.Parsed.Model, Outcome: journal.OutcomeRunning,
		StartedAt: req.Received.UTC(), Node: e.node(), Attempts: []journal.Attempt{}, Decisions: []journal.Decision{},
		Usage: journal.Usage{Tools: map[string]int64{}, Source: journal.SourceNone, Flags: []string{}},
	}
	return t
}

// end gives back whatever is still held; after it nothing of the turn runs.
func (t *turn) end() {
	t.gate.close()
	t.unwatch()
	t.releaseLimits()
	for _, a := range t.attempts {
		a.close()
	}
	if t.next != nil {
		t.next.permit.Done(health.Result{Aborted: true})
	}
	t.cancel(nil)
	for _, cleanup := range t.cleanups {
		cleanup()
	}
}

// atEnd has end call the function, after the context was cancelled.
func (t *turn) atEnd(cleanup func()) { t.cleanups = append(t.cleanups, cleanup) }

// refuse ends a request before its first attempt.
func (t *turn) refuse(f *fault.Error) {
	t.releaseLimits()
	t.reject(f)
	t.gate.fail(ShownFailure{Form: FormStatus, Error: f, Protocol: t.req.Protocol})
}

// reject records that the request was refused, or that its client left before
// it could be admitted.
func (t *turn) reject(f *fault.Error) {
	f.RequestID = t.req.ID
	t.setTimes()
	ctx, done := t.detached()
	defer done()
	var err error
	if t.clientLeft() {
		t.rec.Outcome = journal.OutcomeCancelled
		err = t.engine.Bookkeeper.Close(ctx, meter.RequestEnd{Record: t.rec, Uncharged: true})
	} else {
		t.rec.Outcome = journal.OutcomeRejected
		t.rec.Error = &journal.Error{Code: f.Code, Type: t.typeOf(f)}
		err = t.engine.Bookkeeper.Reject(ctx, t.rec)
	}
	if err != nil {
		level := slog.LevelError
		if errors.Is(err, meter.ErrNotDurable) {
			level = slog.LevelDebug // the bookkeeper logs this once
		}
		t.engine.Log.Log(ctx, level, "recording a refused request", "request_id", t.req.ID, "error", err)
	}
	t.observe()
}

// detached is the context of what must happen although the client left.
func (t *turn) detached() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(t.ctx), outcomeTimeout)
}

const outcomeTimeout = 30 * time.Second

func (t *turn) setTimes() {
	now := time.Now()
	t.rec.FinishedAt = now.UTC()
	t.rec.Times.Total = now.Sub(t.req.Received).Milliseconds()
	t.rec.Times.EventHold = t.gate.heldFor().Milliseconds()
}

func (t *turn) observe() {
	if t.engine.Observe != nil {
		t.engine.Observe.Finished(&t.rec)
	}
}
