package turn

import (
	"errors"
	"fmt"

	"rubicon/internal/config"
	"rubicon/internal/engine/replay"
	"rubicon/internal/engine/upstream"
	"rubicon/internal/engine/wording"
	"rubicon/internal/health"
	"rubicon/internal/wire/classify"
	"rubicon/internal/wire/fault"
)

// maxAttempts is the bound of docs/contract.md#s3-budgets on attempts of one request.
const maxAttempts = 3

// errChoosing means that another attempt was decided, and that choosing its route
// failed by a fault of the gateway itself.
var errChoosing = errors.New("choosing the replacement failed")

// again asks the decision whether the request runs again after a failed
// attempt, and prepares the next one if so. The gate hands nothing over while the
// decision is made: otherwise the client could get the beginning of this attempt
// from the deadline, and after it the beginning of the replay.
func (t *turn) again(a *attempt) bool {
	a.report(t.healthResult(a))
	t.gate.beginDecision()
	facts := t.facts(a)
	facts.RouteLeft = true
	a.verdict = replay.Decide(facts)
	if a.verdict.Action != replay.Deliver {
		found, err := t.choose(&a.route, hostFirst(a.failed.Failure))
		if err != nil {
			t.engine.Log.Error("choosing the replacement", "request_id", t.req.ID, "error", err)
			a.verdict = replay.Verdict{Action: replay.Deliver, Reason: replay.GatewayFault}
			a.shownInstead = gatewayFault(fmt.Errorf("%w: %w", errChoosing, err))
			t.gate.discard() // this attempt's events are not shown any more
			return false
		}
		if !found {
			facts = t.facts(a) // the client may have left while a route was waited for
			a.verdict = replay.Decide(facts)
		}
	}
	t.engine.Log.Debug("attempt failed", "request_id", t.req.ID, "attempt", a.n, "channel", a.route.Candidate.Channel.Name,
		"failure", a.failed.Failure, "verdict", a.verdict.Action, "reason", a.verdict.Reason)
	switch a.verdict.Action {
	case replay.Switch:
		t.counts.Switches++
		if isTimeout(a.failed.Failure) {
			t.counts.TimeoutSwitches++
		}
	case replay.Replay:
		t.counts.Replays++
	default:
		return false
	}
	a.close()
	t.gate.discard()
	t.rec.Times.FirstOutput = 0 // the client saw no output of the lost attempt
	return true
}

func isTimeout(f classify.Failure) bool {
	switch f {
	case classify.HeaderTimeout, classify.AnswerTimeout, classify.FirstEventTimeout, classify.FirstOutputTimeout:
		return true
	}
	return false
}

// facts gathers what the decision may depend on.
func (t *turn) facts(a *attempt) replay.Facts {
	handed, outputHeld := t.gate.state()
	p := &t.req.Parsed
	return replay.Facts{
		Failure: a.failed.Failure, ByEvent: a.failed.ByEvent,
		Streaming: p.Stream, EventTimeout: t.req.Protocol.Channel() != config.ProtocolResponses,
		Events: a.seen.Events > 0, Handed: handed, Usage: a.seen.ShowsExecution || a.seen.Result, Executed: a.failed.Executed,
		Stored: t.stored, Continuation: p.Continuation, OriginBound: t.bound, HostedTool: len(p.Hosted) > 0,
		Atomic: outputHeld && handed == replay.NothingHanded, ClientLeft: t.clientLeft(),
		Made: t.counts, Limits: t.limits(),
	}
}

func (t *turn) limits() replay.Limits {
	on := t.cfg.Switch.OnTimeout
	timeouts := on.NotStreaming
	if t.req.Parsed.Stream {
		switch t.req.Protocol.Channel() {
		case config.ProtocolResponses:
			timeouts = on.ResponsesStream
		case config.ProtocolChat:
			timeouts = on.ChatStream
		default:
			timeouts = on.MessagesStream
		}
	}
	return replay.Limits{Attempts: maxAttempts, Switches: t.cfg.Switch.Max, TimeoutSwitches: timeouts,
		Replays: t.cfg.Replay.Max, AfterLifecycle: t.cfg.Replay.AfterLifecycle}
}

func (t *turn) clientLeft() bool {
	return t.parent.Err() != nil && !t.endedByTransport() || t.gate.hasClientLeft()
}

// endedByTransport: the transport ended the turn, not the client.
func (t *turn) endedByTransport() bool {
	_, ok := stopped(t.parent)
	return ok
}

// healthResult is what the route's health learns from a failed attempt.
func (t *turn) healthResult(a *attempt) health.Result {
	f := a.failed
	return health.Result{Failure: f.Failure, RateLimit: f.RateLimit, RetryAfter: f.RetryAfter, Customer: t.req.Principal.Customer.ID,
		Aborted: t.clientLeft() || f.Failure == classify.ClientGone}
}

// clientError is the failure in the words that the client reads.
func (t *turn) clientError(a *attempt, handed replay.Handed) *fault.Error {
	shown := a.failed
	if a.shownInstead != nil {
		shown = a.shownInstead
	}
	f := wording.Of(shown, t.req.Protocol, gatewayCode(shown, t.req))
	a.secrets().Clean(f)
	if f.RetryAfter >= upstream.LongestWait {
		f.RetryAfter = 0 // no client waits for a year
	}
	if f.RetryAfter == 0 && (a.failed.Failure == classify.Balance || a.failed.Failure == classify.RateLimited || a.failed.RateLimit) {
		f.RetryAfter = t.untilReturn() // the route is out for some time, and others may be out too
	}
	f.RequestID = t.req.ID
	f.AfterOutput = handed == replay.OutputHanded
	facts := t.facts(a)
	facts.Failure = shown.Failure
	f.Retryable = f.Retryable && facts.ClientMayRepeat() && t.repeatIsHarmless(f.AfterOutput)
	f.NoRetry = t.counts.Replays > 0
	return f
}

// repeatIsHarmless tells whether a repeat by the client does nothing twice. An answer
// that failed but holds output was paid for, whether it was shown or not.
func (t *turn) repeatIsHarmless(afterOutput bool) bool {
	executed := false
	for _, a := range t.attempts {
		executed = executed || a.failed == nil || a.failed.Executed
		afterOutput = afterOutput || a.seen.Result
	}
	p := &t.req.Parsed
	return !executed || !t.stored && !p.Continuation && !t.bound && len(p.Hosted) == 0 && !afterOutput
}
