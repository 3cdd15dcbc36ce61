package turn

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"rubicon/internal/books/journal"
	"rubicon/internal/engine/meter"
	"rubicon/internal/engine/replay"
	"rubicon/internal/engine/upstream"
	"rubicon/internal/engine/wording"
	"rubicon/internal/health"
	"rubicon/internal/health/route"
	"rubicon/internal/wire/classify"
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/protocol"
)

// attempt is one upstream call and what came of it.
type attempt struct {
	n      int
	route  route.Route
	permit *health.Permit
	call   *upstream.Call

	stream *upstream.Stream // open until the end was shown, because it holds the terminal event's bytes
	reader protocol.Reader  // nil when nothing was streamed
	seen   *protocol.Observed
	answer *upstream.Answer

	failed       *upstream.Failure // nil: answered
	shownInstead *upstream.Failure // the failure that is shown instead: the gateway failed after the attempt
	terminal     protocol.Event    // answered stream: the event that ends it, not handed over yet
	tail         []byte            // bytes that the gateway adds where the end is incomplete
	failures     []protocol.Event  // failure events, with bytes of their own
	errorSent    bool              // an error event went out already
	whole        bool              // it is recorded that the client has the whole answer
	unnoted      bool              // it is about to have it, which is not recorded yet

	status     int
	requestID  string
	started    time.Time
	firstEvent time.Duration
	took       time.Duration
	bytes      int64
	// drainedFrom is how many bytes had been read when the client left.
	drainedFrom int64
	verdict     replay.Verdict
	reported    bool // the permit was given back
}

// attempt dispatches the chosen route and reads until its end.
func (t *turn) attempt() *attempt {
	next := t.next
	t.next = nil
	t.counts.Attempts++
	a := &attempt{n: t.counts.Attempts, route: next.route, permit: next.permit, started: time.Now(), seen: &protocol.Observed{Sequence: -1}}
	t.attempts = append(t.attempts, a)
	t.triedRoutes = append(t.triedRoutes, next.route.Key())
	if t.live == nil {
		live, untrack := t.engine.Bookkeeper.Track(t.req.ID)
		t.live = live
		t.atEnd(untrack)
	}
	t.billing.BytesPerToken = t.engine.Learner.BytesPerToken(a.route.Candidate.UpstreamModel)
	t.live.SetAttempt(meter.RunningAttempt{Attempt: a.n, Channel: a.route.Candidate.Channel.Name, Credential: a.route.CredentialName(),
		UpstreamModel: a.route.Candidate.UpstreamModel, BytesPerToken: t.billing.BytesPerToken, Earlier: t.earlierAttempts()})
	t.run(a)
	a.took = time.Since(a.started)
	if a.failed != nil {
		t.reclassifyCancelled(a)
	}
	return a
}

// earlierAttempts are the attempts before the one that begins, as the record will show
// them.
func (t *turn) earlierAttempts() (list []journal.Attempt) {
	for _, a := range t.attempts[:len(t.attempts)-1] {
		list = append(list, a.entry())
	}
	return list
}

// run makes the call. A panic on the way is a fault of the gateway like any
// other: the failure is shown to the client, and the hold is resolved.
func (t *turn) run(a *attempt) {
	defer func() {
		if p := recover(); p != nil {
			t.engine.Log.Error("panic in an attempt", "request_id", t.req.ID, "panic", p, "stack", string(debug.Stack()))
			a.failed = gatewayFault(fmt.Errorf("panic: %v", p))
			a.failed.Executed = true
		}
	}()
	call, err := t.call(a.route)
	if err != nil {
		a.failed = gatewayFault(err)
		return
	}
	a.call = call
	if t.req.Parsed.Stream {
		t.relay(a)
	} else {
		t.fetch(a)
	}
	if a.failed != nil && a.failed.Body != nil {
		t.req.Protocol.FailureUsage(a.failed.Body, a.seen)
	}
}

// call builds the upstream call.
func (t *turn) call(r route.Route) (*upstream.Call, error) {
	p := t.req.Protocol
	ch := r.Candidate.Channel
	body, err := p.Upstream(t.req.Body, protocol.Rewrite{
		Model: r.Candidate.UpstreamModel, StoreFalse: t.storeOff,
		AskUsage: ch.ChatUsage && t.req.Parsed.Stream, DropWS: t.req.WebSocket,
	})
	if err != nil {
		return nil, err
	}
	return &upstream.Call{Channel: ch, Credential: r.Credential, Path: p.Path, Body: body, Header: t.req.Header,
		Stream: t.req.Parsed.Stream, Timers: t.timers, MaxEvent: t.cfg.Limits.Event, Rules: ch.Rules}, nil
}

// fetch makes a call whose answer is not streamed.
func (t *turn) fetch(a *attempt) {
	a.answer, a.failed = t.engine.Upstream.Do(t.ctx, a.call)
	if a.failed != nil {
		a.status, a.requestID = a.failed.Status, a.failed.RequestID
		return
	}
	a.status, a.requestID, a.bytes = a.answer.Status, a.answer.RequestID, int64(len(a.answer.Body))
	a.firstEvent = time.Since(a.started)
	a.answer.ContentType = wording.ContentType(a.secrets(), a.answer.ContentType)
	seen, err := t.req.Protocol.Answer(a.answer.Body)
	if err != nil {
		a.failed = upstream.NoAnswer(a.call, a.answer)
		return
	}
	a.seen = seen
	if seen.Failure != nil {
		a.failed = t.eventFailure(a)
	}
}

// relay makes a streamed call and passes its events to the gate.
func (t *turn) relay(a *attempt) {
	a.reader = t.req.Protocol.NewReader(protocol.ReaderOptions{
		StripUsage: !t.req.Parsed.IncludeUsage, Model: t.model.Name, Choices: t.req.Parsed.Choices,
		Clean: func(raw []byte) []byte { return wording.Echo(a.secrets(), raw) }})
	a.seen = a.reader.Seen()
	t.gate.begin(a.started, t.timers)
	s, failed := t.engine.Upstream.Open(t.ctx, a.call, a.reader)
	if failed != nil {
		a.failed, a.status, a.requestID = failed, failed.Status, failed.RequestID
		return
	}
	a.stream, a.status, a.requestID = s, s.Status(), s.RequestID()
	t.gate.setContentType(wording.ContentType(a.secrets(), s.ContentType()))
	err := t.pump(a)
	a.bytes = s.Bytes()
	var f *upstream.Failure
	switch {
	case errors.As(err, &f):
		a.failed = f
	case err != nil:
		a.failed = &upstream.Failure{Failure: classify.BufferLimit, Status: a.status, RequestID: a.requestID, Executed: true}
	case a.seen.Failure != nil:
		a.failed = t.eventFailure(a)
	default:
		a.tail = a.reader.Tail()
	}
	t.endDrain(a)
}

// pump reads events until the stream's end. It writes synchronously, so that a
// slow client slows its upstream and no queue grows here. A terminal event
// is kept back for the settlement; failure events for the decision.
func (t *turn) pump(a *attempt) error {
	for {
		if !t.mayReadOn(a) {
			return a.clientLeftFailure()
		}
		ev, err := a.stream.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			t.gate.Flush()
			return err
		}
		if ev.Class != protocol.Heartbeat && a.firstEvent == 0 {
			a.firstEvent = max(time.Since(a.started), 1)
			t.noteFirst(&t.rec.Times.FirstEvent)
		}
		switch ev.Class {
		case protocol.Terminal:
			if a.terminal = ev; a.seen.Incomplete {
				a.terminal = wording.Event(a.secrets(), ev, fault.InIncomplete)
			}
			if !a.unnoted { // else what comes before it is sent together with the end
				t.gate.Flush()
			}
		case protocol.Failure:
			t.failureEvent(a, ev)
		default:
			if err := t.pass(a, ev); err != nil {
				return err
			}
		}
	}
}

// pass gives one event to the gate and notes progress.
func (t *turn) pass(a *attempt, ev protocol.Event) error {
	ready := a.stream.Ready()
	t.noteWhole(a, !ready)
	if err := t.gate.add(ev); err != nil {
		return err
	}
	if ev.Class == protocol.Output {
		if a.seen.OutputEvents == 1 {
			t.noteFirst(&t.rec.Times.FirstOutput)
		}
		if !t.gate.withholdsOutput() {
			t.noteDelivered(a)
		}
		a.permit.Alive()
	}
	if !ready {
		t.gate.Flush()
	}
	return nil
}

// noteDelivered notes that the client has the attempt's output so far. Nothing runs
// again from here, so the bodies that would be sent are released.
func (t *turn) noteDelivered(a *attempt) {
	a.call.Body, t.req.Body = nil, nil
	t.live.Events.Store(a.seen.OutputEvents)
	t.live.Bytes.Store(a.seen.TextBytes)
	t.live.Content.Store(a.seen.Content)
}

// failureEvent keeps a failure event for the decision. After output, where the
// transport shows errors at once, an error event does not wait for the
// response.failed that may follow.
func (t *turn) failureEvent(a *attempt, ev protocol.Event) {
	ev = wording.Event(a.secrets(), ev, fault.InFailure)
	if a.reader.Stage() == protocol.Finishing && t.gate.showsErrorAtOnce() {
		_ = t.gate.add(ev)
		t.gate.Flush()
		a.errorSent = true
		return
	}
	t.gate.Flush() // events that arrived with it must not wait for the decision
	a.failures = append(a.failures, ev)
}

// noteFirst notes a moment in the request's times, in milliseconds, once.
func (t *turn) noteFirst(at *int64) {
	if *at == 0 {
		*at = time.Since(t.req.Received).Milliseconds()
	}
}

// eventFailure classifies a failure that upstream reported in an event or answer.
func (t *turn) eventFailure(a *attempt) *upstream.Failure {
	info := *a.seen.Failure
	found := classify.Event(t.req.Protocol.Channel(), info, a.route.Candidate.Channel.Rules)
	return &upstream.Failure{Failure: found.Failure, RateLimit: found.RateLimit, Rule: found.Rule, ByEvent: true, Info: info, JSON: true,
		Status: a.status, RequestID: a.requestID, Executed: true, RetryAfter: info.RetryAfter}
}

func gatewayFault(err error) *upstream.Failure {
	return (&upstream.Failure{Failure: classify.GatewayFault}).WithCause(err)
}

// reclassifyCancelled gives a cancelled attempt its true class: the client left, or the
// gateway ended it.
func (t *turn) reclassifyCancelled(a *attempt) {
	if stop, ok := stopped(t.parent); ok {
		f := *a.failed
		f.Failure = stop.failure()
		a.failed = f.WithCause(stop)
	}
}

// report gives the permit back to health with the attempt's result, once.
func (a *attempt) report(r health.Result) {
	if !a.reported {
		a.reported = true
		a.permit.Done(r)
	}
}

// close gives back what the attempt still holds.
func (a *attempt) close() {
	a.report(health.Result{Aborted: true})
	if a.stream != nil {
		a.stream.Close()
		a.stream = nil
	}
}

// entry is the attempt as the record shows it.
func (a *attempt) entry() journal.Attempt {
	e := journal.Attempt{N: a.n, Channel: a.route.Candidate.Channel.Name, Credential: a.route.CredentialName(),
		UpstreamModel: a.route.Candidate.UpstreamModel, Status: a.status, Outcome: journal.AttemptCompleted, Verdict: string(a.verdict.Action),
		Reason: string(a.verdict.Reason), Events: int64(a.seen.Events), Bytes: a.bytes, UpstreamRequestID: a.requestID,
		StartedAt: a.started.UTC(), FirstEventMS: a.firstEvent.Milliseconds(), MS: a.took.Milliseconds(), MayHaveExecuted: true}
	if a.failed != nil {
		e.Outcome, e.Failure, e.MayHaveExecuted = journal.AttemptFailed, string(a.failed.Failure), a.failed.Executed
		e.Code = a.failed.Info.Code
		if e.Code == "" {
			e.Code = a.failed.Info.Type
		}
		s := a.secrets()
		e.Code, e.UpstreamRequestID = s.Scrub(e.Code), s.Take(e.UpstreamRequestID)
	}
	return e
}
