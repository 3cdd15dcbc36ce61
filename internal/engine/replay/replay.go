// Package replay is the one decision this gateway exists for: after an attempt
// failed, may the request run again? It is a pure function of facts; every
// answer carries its reason. The rules per class of failure are data (rules.go).
//
// It does not choose the next channel, read a clock or know a transport.
//
// Invariants, tested over the whole fact space: the function is total; at most
// two executions of a request may have run upstream (three only where an
// operator sets a timeout count to 2); never a second beginning to one client;
// never a replay once usage, a result, output (atomic delivery apart) or
// upstream state was seen.
package replay

import "rubicon/internal/wire/classify"

// Action is what happens next.
type Action string

// The actions, as the record spells them.
const (
	Deliver Action = "deliver" // the failure (or answer) goes to the client
	Switch  Action = "switch"  // next attempt; this one certainly executed nothing, or timed out where that is allowed
	Replay  Action = "replay"  // second execution
)

// Handed is what of the request was handed to the client's writer.
type Handed uint8

// What was handed over. Anything but Nothing is the point of no return.
const (
	NothingHanded Handed = iota
	LifecycleHanded
	OutputHanded
)

// Facts is all that the decision may depend on.
type Facts struct {
	Failure classify.Failure
	ByEvent bool // the failure came as an upstream event, not as a status

	Streaming    bool // the client asked for a stream
	EventTimeout bool // timeouts for first event and output may switch on this surface (Chat, Messages)
	Events       bool // an event other than heartbeats arrived in this attempt
	Handed       Handed
	Usage        bool // usage that is a sign of execution, or a result, was seen
	Executed     bool // the attempt may have executed upstream

	Stored       bool
	Continuation bool
	OriginBound  bool
	HostedTool   bool

	Atomic     bool // atomic delivery: output was seen, but nothing released
	ClientLeft bool
	RouteLeft  bool

	Made   Counts // before this decision, this attempt included in Attempts
	Limits Limits
}

// Counts is what a request has used up.
type Counts struct {
	Attempts        int
	Switches        int
	TimeoutSwitches int // of Switches
	Replays         int
}

// Limits are the budgets in force.
type Limits struct {
	Attempts        int  // 3
	Switches        int  // switch.max
	TimeoutSwitches int  // switch.on_timeout for this surface
	Replays         int  // replay.max
	AfterLifecycle  bool // replay.after_lifecycle
}

// Verdict is the decision. Decision and reason are what the record, the log
// and the metrics show.
type Verdict struct {
	Action Action
	Reason Reason
}

// Decide is the whole decision.
func Decide(f Facts) Verdict {
	w := ruleOf(f.Failure).wants(f)
	if why := forbids(f, w); why != "" {
		return Verdict{Deliver, why}
	}
	return Verdict{w.action, w.reason}
}

// wanted is what a class of failure would do if nothing forbade it.
type wanted struct {
	action  Action // Switch or Replay: the action that the failure's rule wants
	reason  Reason // if it is done
	refused Reason // the class's own refusal, "" none
}

// wants applies the class's rule to the facts. Facts that contradict each other
// (a refused connection that may have executed) are taken as if it had executed.
func (r rule) wants(f Facts) wanted {
	w := wanted{action: r.again, reason: r.reason, refused: r.no}
	switch {
	case f.Atomic && (r.atomic || r.again != Deliver):
		return wanted{action: Replay, reason: ReplayAtomic}
	case r.again == Deliver:
		w.action = Replay // the action that its refusals are checked against
	case r.timeout:
		if timeoutMaySwitch(f, r) {
			w.refused = ""
		}
	case f.ByEvent:
		w = wanted{action: Replay, reason: ReplayFailedEvent}
	case r.again == Switch && f.Executed:
		w = wanted{action: Replay, reason: ReplayBadAnswer}
	case f.Failure == classify.ReadError && f.Streaming && f.Events && !f.Limits.AfterLifecycle:
		w.refused = ReadErrorAfterLifecycle
	}
	return w
}

// timeoutMaySwitch: docs/contract.md#s3-row-8 and docs/contract.md#s3-row-9. A switch after a timeout may leave the first
// execution running, so it needs a stateless request, no replay before it and
// fewer timeout switches than allowed.
func timeoutMaySwitch(f Facts, r rule) bool {
	if r.eventTimeout && !f.EventTimeout {
		return false
	}
	if f.Stored || f.hostedForbids() {
		return false
	}
	return f.Made.Replays == 0 && f.Made.TimeoutSwitches < f.Limits.TimeoutSwitches
}

// ClientMayRepeat returns whether the failure's class allows to call the failure
// retryable. It does not after the timeouts for which the gateway itself makes no
// second attempt, since the first execution may still be running: otherwise an agent
// could call a silent channel dozens of times.
//
// switch.on_timeout does not change that. It allows executions that the gateway
// starts, and the failure is shown when they are spent or there is no route.
func (f Facts) ClientMayRepeat() bool {
	return f.EventTimeout || !f.Streaming || !ruleOf(f.Failure).timeout
}

// hostedForbids: docs/contract.md#s3-row-13.
func (f Facts) hostedForbids() bool {
	if !f.HostedTool {
		return false
	}
	if f.Streaming {
		return f.Events
	}
	return f.Executed
}

// forbids finds the first reason, in the order of docs/contract.md#s3-precedence, that forbids the
// wanted action; "" when none does.
func forbids(f Facts, w wanted) Reason {
	for i := range precedence {
		p := &precedence[i]
		if !(p.doesNotForbid && w.action == Switch) && p.applies(f, w) {
			return p.reason
		}
	}
	return ""
}
