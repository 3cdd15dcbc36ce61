package turn

import (
	"errors"
	"slices"

	"rubicon/internal/books/journal"
	"rubicon/internal/books/state"
	"rubicon/internal/config"
	"rubicon/internal/engine/billing"
	"rubicon/internal/engine/meter"
	"rubicon/internal/engine/replay"
	"rubicon/internal/engine/wording"
	"rubicon/internal/health"
	"rubicon/internal/wire/classify"
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/protocol"
)

// conclude ends the request after its last attempt: money and record first,
// durable, then the end for the client.
func (t *turn) conclude(a *attempt) Result {
	if a.failed == nil {
		a.verdict = replay.Verdict{Action: replay.Deliver, Reason: replay.Answered}
		a.report(health.Result{OK: true, Customer: t.req.Principal.Customer.ID})
	}
	e, closing := t.account(a)
	if err := t.finish(closing); err != nil {
		e = t.undurable(a, e, closing, err)
	}
	t.releaseLimits()
	t.show(a, e)
	t.observe()
	return Result{Outcome: t.rec.Outcome, Seen: a.seen, Sent: true}
}

// undurable handles an end that could be neither written nor queued. A good end is
// not shown then, because after a crash there would be no record of it. The request
// fails with what was delivered so far, and that is written as soon as possible.
func (t *turn) undurable(a *attempt, e ShownFailure, closing meter.RequestEnd, cause error) ShownFailure {
	if a.failed == nil {
		a.failed = gatewayFault(cause)
		a.failed.Executed = true
		a.verdict = replay.Verdict{Action: replay.Deliver, Reason: replay.GatewayFault}
		if handed, _ := t.gate.state(); handed == replay.NothingHanded { // the output would have been handed over only now
			t.live.Events.Store(0)
			t.live.Bytes.Store(0)
			t.live.Content.Store(false)
		}
		e, closing = t.account(a)
	}
	if errors.Is(cause, meter.ErrNotDurable) {
		t.engine.Bookkeeper.Keep(closing)
	}
	return e
}

// account works out how the request ends: its record and bill, and how a failure
// is shown.
func (t *turn) account(a *attempt) (e ShownFailure, closing meter.RequestEnd) {
	handed := t.handedAtEnd(a)
	t.rec.AfterOutput = handed == replay.OutputHanded || a.failed == nil && a.seen.OutputEvents > 0
	t.rec.UpstreamModel = a.route.Candidate.UpstreamModel
	t.rec.ResponseID = a.seen.ResponseID
	t.rec.Outcome = t.outcome(a, handed)
	if a.failed != nil {
		t.rec.ResponseID = a.secrets().Take(t.rec.ResponseID)
		e = t.shownFailure(a, handed)
		t.rec.Error = t.recordedError(e)
		t.recordOwnID(e)
		t.noteFailures()
	}
	return e, t.bills(a, handed)
}

// handedAtEnd is what the client has once the end was shown: with atomic
// delivery that may be output which is still held. Money and record are written
// before the end is shown, and must already describe it.
func (t *turn) handedAtEnd(a *attempt) replay.Handed {
	handed, outputHeld := t.gate.state()
	switch {
	case handed != replay.NothingHanded || !outputHeld:
		return handed
	case a.failed != nil && (t.clientLeftBeforeEnd(a) || t.form(a, handed) == FormStatus):
		return replay.NothingHanded // the held output is dropped
	}
	t.noteDelivered(a)
	return replay.OutputHanded
}

// recordOwnID records the response id that the gateway's own ending of a stream
// gives where upstream named none, so that the request is found by the id that its
// client saw.
func (t *turn) recordOwnID(e ShownFailure) {
	ours := e.Form == FormOurs || e.NeedsFailedEvent
	if t.rec.ResponseID == "" && ours && !t.req.WebSocket && t.req.Protocol.MadeID != nil {
		t.rec.ResponseID = t.req.Protocol.MadeID(t.req.ID)
	}
}

// clientLeftBeforeEnd tells whether the client left before the end.
func (t *turn) clientLeftBeforeEnd(a *attempt) bool {
	return a.failed.Failure == classify.ClientGone || t.clientLeft()
}

// recordedError is the error that the client received, as the record shows it; nil
// if the client left and received none.
func (t *turn) recordedError(e ShownFailure) *journal.Error {
	if t.rec.Outcome == journal.OutcomeCancelled {
		return nil
	}
	return &journal.Error{Code: firstOf(e.Error.Code, e.Error.Type), Type: t.typeOf(e.Error)}
}

// typeOf is a failure's type as this surface says it.
func (t *turn) typeOf(f *fault.Error) string {
	if t.req.Protocol.Channel() == config.ProtocolMessages {
		return f.MessagesType()
	}
	return f.Type
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// outcome is the record's word for how the request ended.
func (t *turn) outcome(a *attempt, handed replay.Handed) journal.Outcome {
	switch {
	case a.failed == nil && a.seen.Incomplete:
		return journal.OutcomeIncomplete
	case a.failed == nil:
		return journal.OutcomeCompleted
	case t.clientLeftBeforeEnd(a):
		return journal.OutcomeCancelled
	case handed == replay.OutputHanded:
		return journal.OutcomePartial
	}
	return journal.OutcomeFailed
}

// paid is the row of the table of who pays (docs/contract.md#s7-who-pays). Output is what commits;
// what is paid for is content, which not every output event has.
func (t *turn) paid(a *attempt, handed replay.Handed) billing.Received {
	switch {
	case a.failed == nil:
		return billing.ReceivedAnswer
	case handed == replay.OutputHanded && t.live.Content.Load():
		return billing.ReceivedPart
	case a.seen.Result && a.seen.Content:
		return billing.ReceivedFailedResult
	}
	return billing.ReceivedNothing
}

// shownFailure is how the failure is shown.
func (t *turn) shownFailure(a *attempt, handed replay.Handed) ShownFailure {
	e := ShownFailure{Form: t.form(a, handed), Error: t.clientError(a, handed),
		Protocol: t.req.Protocol, Reader: a.reader, ErrorSent: a.errorSent}
	if e.Form != FormEvent {
		return e
	}
	e.Events, e.Answer = a.failures, a.answer
	if e.Answer != nil {
		e.Answer = wording.Answer(a.secrets(), e.Answer, wording.FailurePlace(t.req.Protocol))
		return e
	}
	last := ""
	if n := len(e.Events); n > 0 {
		last = e.Events[n-1].Type
	}
	e.NeedsFailedEvent = t.req.Protocol.HoldsShown && last != "response.failed"
	return e
}

// form is the way in which the attempt's failure is shown.
func (t *turn) form(a *attempt, handed replay.Handed) Form {
	if a.shownInstead != nil {
		return FormStatus
	}
	if !t.req.Parsed.Stream && a.failed.ByEvent && a.seen.Result {
		return FormEvent // the customer gets what there is of an answer, and pays for it
	}
	return formOf(t.req.Protocol, t.req.Parsed.Stream, a.failed.ByEvent, handed, a.seen.Events)
}

// bills works out who pays what, and finishes the record with it.
func (t *turn) bills(a *attempt, handed replay.Handed) meter.RequestEnd {
	c := billing.Input{Request: t.req.ID, Customer: t.req.Principal.Customer.ID, Model: t.model.Name, Price: t.model.Price, Held: t.billing.Held,
		InputEstimate: t.estimate, Bounds: t.bounds, BytesPerToken: t.billing.BytesPerToken, Uncharged: t.req.Uncharged,
		Received: t.paid(a, handed)}
	for _, x := range t.attempts {
		c.Attempts = append(c.Attempts, billing.Attempt{N: x.n, Channel: x.route.Candidate.Channel.Name, Cost: x.route.Candidate.Cost,
			Executed: x.failed == nil || x.failed.Executed, Seen: x.seen, Reason: string(x.lostReason())})
	}
	bill, err := billing.Make(c)
	if err != nil {
		t.engine.Log.Error("working out a bill", "request_id", t.req.ID, "error", err)
		bill = billing.Bill{Usage: t.rec.Usage}
	}
	t.learn(a, bill)
	t.doubt(bill)
	return t.closing(bill, a, handed)
}

// learn updates the learner with the usage that an answer reported.
func (t *turn) learn(a *attempt, bill billing.Bill) {
	if a.failed == nil && bill.Usage.Source == journal.SourceReported {
		t.engine.Learner.Learn(a.route.Candidate.UpstreamModel, a.seen.TextBytes, bill.Usage.Output)
		if !t.req.Protocol.NoOutput {
			t.engine.Learner.LearnOutput(t.model.Name, bill.Usage.Output, t.req.Parsed.Choices)
		}
	}
}

// doubt records reported usage that is not possible, and passes it on to operators.
func (t *turn) doubt(bill billing.Bill) {
	for _, n := range bill.Anomalies {
		if slices.Contains(t.rec.Notes, n.String()) {
			continue // the bill is made anew when an end could not be written
		}
		t.rec.Notes = append(t.rec.Notes, n.String())
		if t.engine.Doubted != nil {
			t.engine.Doubted(n.Channel, t.attempts[n.Attempt-1].route.Candidate.UpstreamModel, t.req.ID+", "+n.String())
		}
	}
}

// lostReason is why the operator bears an attempt's cost.
func (a *attempt) lostReason() string {
	return string(a.verdict.Reason)
}

const spilledNote = "atomic delivery went over limits.atomic_bytes; delivered as a stream from there"

// closing is the bill and the finished record.
func (t *turn) closing(bill billing.Bill, a *attempt, handed replay.Handed) meter.RequestEnd {
	t.rec.Delivered = t.handedOver(a)
	t.rec.Attempts = make([]journal.Attempt, 0, len(t.attempts))
	for _, x := range t.attempts {
		t.rec.Attempts = append(t.rec.Attempts, x.entry())
	}
	meter.WriteBill(&t.rec, bill)
	if t.gate.wentOverAtomicBound() && !slices.Contains(t.rec.Notes, spilledNote) {
		t.rec.Notes = append(t.rec.Notes, spilledNote)
	}
	t.setTimes()
	closing := meter.RequestEnd{Record: t.rec, Bill: bill, Uncharged: t.req.Uncharged, Reason: string(a.verdict.Reason)}
	if a.failed == nil || handed != replay.NothingHanded || a.seen.Result {
		closing.State = t.remembered(a)
	}
	return closing
}

// finish makes the outcome durable.
func (t *turn) finish(closing meter.RequestEnd) error {
	ctx, done := t.detached()
	defer done()
	t.closed = true
	err := t.engine.Bookkeeper.Close(ctx, closing)
	if err != nil {
		t.engine.Log.Error("settling a request; unless that succeeds later, its hold stays open until the next start resolves it", "request_id", t.req.ID, "error", err)
	}
	return err
}

// handedOver is how much output the client has once the end was shown. A whole
// answer is output too; while the request runs none of it counts as delivered,
// since it goes out only afterwards.
func (t *turn) handedOver(a *attempt) journal.Delivered {
	if a.answer != nil && (a.failed == nil || a.seen.Result) {
		return journal.Delivered{Events: a.seen.OutputEvents, Bytes: a.seen.TextBytes}
	}
	return journal.Delivered{Events: t.live.Events.Load(), Bytes: t.live.Bytes.Load()}
}

// remembered lists the ids of upstream state that the answer named, with the origin
// that holds it.
func (t *turn) remembered(a *attempt) []state.Entry {
	out := make([]state.Entry, 0, len(a.seen.State))
	for _, s := range a.seen.State {
		if s.Kind == protocol.KindResponse && t.req.Parsed.Store == protocol.StoreFalse {
			continue // it is stored nowhere, so its id cannot be used again
		}
		e := state.Entry{Kind: state.Kind(s.Kind), ID: s.ID, Origin: a.route.Origin(), Channel: a.route.Candidate.Channel.Name}
		if s.Kind == protocol.KindResponse {
			u := t.rec.Usage
			e.StoreOff, e.Tokens = t.storeOff, u.Input+u.CachedInput+u.CacheWrite+u.Output
		}
		out = append(out, e)
	}
	return out
}

// show gives the client its end.
func (t *turn) show(a *attempt, e ShownFailure) {
	if a.failed != nil {
		t.gate.fail(e)
		return
	}
	if a.answer != nil {
		if a.seen.Incomplete {
			a.answer = wording.Answer(a.secrets(), a.answer, fault.InIncomplete)
		}
		t.gate.answer(func(s Sink) error { return s.Answer(a.answer) })
		return
	}
	t.gate.finish(a.terminal, a.tail)
}
