package replay

import "rubicon/internal/wire/classify"

// Reason names why; it is the same word in the record, the log, the metric
// label and the documentation table.
type Reason string

// Reasons for running again, and for a good attempt.
const (
	Answered                 Reason = "answered"
	ReplayFailedEvent        Reason = "replay_failed_event"
	ReplayReadError          Reason = "replay_read_error"
	ReplayUpstream5xx        Reason = "replay_upstream_5xx"
	ReplayBadAnswer          Reason = "replay_bad_answer"
	ReplayAtomic             Reason = "replay_atomic"
	SwitchConnect            Reason = "switch_connect"
	SwitchRateLimited        Reason = "switch_rate_limited"
	SwitchOverloaded         Reason = "switch_overloaded"
	SwitchUpstreamBalance    Reason = "switch_upstream_balance"
	SwitchChannelUnfit       Reason = "switch_channel_unfit"
	SwitchHeaderTimeout      Reason = "switch_header_timeout"
	SwitchAnswerTimeout      Reason = "switch_answer_timeout"
	SwitchFirstEventTimeout  Reason = "switch_first_event_timeout"
	SwitchFirstOutputTimeout Reason = "switch_first_output_timeout"
)

// Reasons for delivering a failure.
const (
	ClientDisconnected      Reason = "client_disconnected"
	OutputDelivered         Reason = "output_delivered"
	LifecycleDelivered      Reason = "lifecycle_delivered"
	UsageObserved           Reason = "usage_observed"
	UpstreamAuth            Reason = "upstream_auth"
	GatewayFault            Reason = "gateway_fault"
	ConnectionLimit         Reason = "connection_limit"
	Deterministic           Reason = "deterministic"
	UnknownFailure          Reason = "unknown_failure"
	StatefulContinuation    Reason = "stateful_continuation"
	OriginBound             Reason = "origin_bound"
	StatefulStore           Reason = "stateful_store"
	HostedTool              Reason = "hosted_tool"
	AnswerTimeout           Reason = "answer_timeout"
	HeaderTimeout           Reason = "header_timeout"
	FirstEventTimeout       Reason = "first_event_timeout"
	FirstOutputTimeout      Reason = "first_output_timeout"
	StreamIdleTimeout       Reason = "stream_idle_timeout"
	RequestTimeout          Reason = "request_timeout"
	BufferLimit             Reason = "buffer_limit"
	ReadErrorAfterLifecycle Reason = "read_error_after_lifecycle"
	AttemptsSpent           Reason = "attempts_spent"
	SwitchBudgetSpent       Reason = "switch_budget_spent"
	ReplayBudgetSpent       Reason = "replay_budget_spent"
	NoChannelLeft           Reason = "no_channel_left"
)

// rule is one line of the table docs/contract.md#s3: what a class of failure
// does when nothing forbids it.
type rule struct {
	failure      classify.Failure
	row          string
	what         string
	again        Action
	reason       Reason // of doing it
	no           Reason // of not doing it, the class's own
	timeout      bool   // docs/contract.md#s3-row-8, docs/contract.md#s3-row-9
	eventTimeout bool   // docs/contract.md#s3-row-9: not on Responses streams
	atomic       bool   // docs/contract.md#s3-row-11a applies
}

// rules lists every class once. It is never written to.
var rules = [...]rule{
	{failure: classify.FailedEvent, row: "1", what: "a failure event that names a retryable code, before output", again: Replay, reason: ReplayFailedEvent, atomic: true},
	{failure: classify.ReadError, row: "2", what: "the stream or the answer broke off before any event", again: Replay, reason: ReplayReadError, atomic: true},
	{failure: classify.Upstream5xx, row: "3", what: "a 5xx status instead of an answer", again: Replay, reason: ReplayUpstream5xx},
	{failure: classify.BadAnswer, row: "3a", what: "3xx, 408, 425, or a 2xx that is no protocol, before any event", again: Replay, reason: ReplayBadAnswer},
	{failure: classify.Connect, row: "4", what: "no connection; or it died before a byte was written; or upstream refused the request unprocessed", again: Switch, reason: SwitchConnect},
	{failure: classify.RateLimited, row: "5", what: "429 as a status", again: Switch, reason: SwitchRateLimited},
	{failure: classify.Overloaded, row: "5a", what: "503 or 529 as a status, with an overload code", again: Switch, reason: SwitchOverloaded},
	{failure: classify.Balance, row: "6", what: "the upstream account is out of balance", again: Switch, reason: SwitchUpstreamBalance},
	{failure: classify.Auth, row: "7", what: "401, or a 403 that names key, account or permission", again: Deliver, no: UpstreamAuth},
	{failure: classify.Unfit, row: "7a", what: "404 for the model, 405 or 426", again: Switch, reason: SwitchChannelUnfit},
	{failure: classify.HeaderTimeout, row: "8", what: "streaming: no status line in time", again: Switch, reason: SwitchHeaderTimeout, no: HeaderTimeout, timeout: true},
	{failure: classify.AnswerTimeout, row: "8", what: "not streaming: no whole answer in time", again: Switch, reason: SwitchAnswerTimeout, no: AnswerTimeout, timeout: true},
	{failure: classify.FirstEventTimeout, row: "9", what: "no event in time after the status", again: Switch, reason: SwitchFirstEventTimeout, no: FirstEventTimeout, timeout: true, eventTimeout: true},
	{failure: classify.FirstOutputTimeout, row: "9", what: "no output event in time", again: Switch, reason: SwitchFirstOutputTimeout, no: FirstOutputTimeout, timeout: true, eventTimeout: true},
	{failure: classify.BufferLimit, row: "14", what: "held events over their bound, or one event over limits.event", again: Deliver, no: BufferLimit},
	{failure: classify.ClientGone, row: "15", what: "the client left", again: Deliver, no: ClientDisconnected},
	{failure: classify.Deterministic, row: "16", what: "a failure that would come again: 400, 409, 413, 415, 422, other 404 and 403, and their like as events", again: Deliver, no: Deterministic},
	{failure: classify.Unknown, row: "16a", what: "a failure event with an unknown code", again: Deliver, no: UnknownFailure},
	{failure: classify.IdleTimeout, row: "18a", what: "the stream fell silent", again: Deliver, no: StreamIdleTimeout, atomic: true},
	{failure: classify.TotalTimeout, row: "18a", what: "the request's total time is over", again: Deliver, no: RequestTimeout},
	{failure: classify.GatewayFault, row: "18b", what: "a fault of the gateway itself after dispatch", again: Deliver, no: GatewayFault},
	{failure: classify.ConnectionLimit, row: "18c", what: "the time of the client's own connection is over (ws.lifetime)", again: Deliver, no: ConnectionLimit},
}

// ruleOf finds a class's rule; what is not known is treated as docs/contract.md#s3-row-16a.
func ruleOf(f classify.Failure) rule {
	var unknown int
	for i := range rules {
		switch rules[i].failure {
		case f:
			return rules[i]
		case classify.Unknown:
			unknown = i
		}
	}
	return rules[unknown]
}

// refusal is a reason not to run again, by facts or as a class's own.
type refusal struct {
	reason        Reason
	row           string
	what          string // "" for a class's own: its rule has the text
	doesNotForbid bool   // never forbids a switch
	applies       func(Facts, wanted) bool
}

// precedence is the order of reasons, docs/contract.md#s3-precedence: the first that forbids the
// wanted action is given. It is never written to.
//
// Two readings are ours (docs/contract.md#s3-choice-own-class, docs/contract.md#s3-choice-timeout-switch). The rule of a class that never runs
// again (an idle timeout) wants no action; it is taken as if it wanted a replay, so
// that stateful_store and hosted_tool come before stream_idle_timeout, where
// the order has them. The rule of a timeout of docs/contract.md#s3-row-8 or docs/contract.md#s3-row-9 wants a switch, which
// store and hosted tools never forbid; that such a request may not be switched
// is the timeout rule's own condition, so the timeout's own reason is given.
var precedence = [...]refusal{
	{reason: ClientDisconnected, row: "15", what: "the client left",
		applies: func(f Facts, w wanted) bool { return f.ClientLeft || w.refused == ClientDisconnected }},
	{reason: OutputDelivered, row: "11", what: "an output event was handed to the client",
		applies: func(f Facts, _ wanted) bool { return f.Handed == OutputHanded }},
	{reason: LifecycleDelivered, row: "11", what: "a lifecycle event was handed to the client",
		applies: func(f Facts, _ wanted) bool { return f.Handed == LifecycleHanded }},
	{reason: UsageObserved, row: "17", what: "the failure carries usage or a result: it ran, and is delivered as it is",
		applies: func(f Facts, _ wanted) bool { return f.Usage }},
	own(UpstreamAuth),
	own(GatewayFault),
	own(ConnectionLimit),
	own(Deterministic),
	own(UnknownFailure),
	{reason: StatefulContinuation, row: "12", what: "the request continues upstream state",
		applies: func(f Facts, _ wanted) bool { return f.Continuation }},
	{reason: OriginBound, row: "12", what: "the request names things that live at one upstream account",
		applies: func(f Facts, _ wanted) bool { return f.OriginBound }},
	{reason: StatefulStore, row: "12", what: "the request is stored upstream", doesNotForbid: true,
		applies: func(f Facts, _ wanted) bool { return f.Stored }},
	{reason: HostedTool, row: "13", what: "hosted tools may have had effects", doesNotForbid: true,
		applies: func(f Facts, _ wanted) bool { return f.hostedForbids() }},
	own(AnswerTimeout),
	own(HeaderTimeout),
	own(FirstEventTimeout),
	own(FirstOutputTimeout),
	own(StreamIdleTimeout),
	own(RequestTimeout),
	own(BufferLimit),
	{reason: ReadErrorAfterLifecycle, row: "18", what: "the stream broke off after a lifecycle event was held (replay.after_lifecycle allows it)",
		applies: func(_ Facts, w wanted) bool { return w.refused == ReadErrorAfterLifecycle }},
	{reason: AttemptsSpent, row: "19", what: "three attempts were made",
		applies: func(f Facts, _ wanted) bool { return f.Made.Attempts >= f.Limits.Attempts }},
	{reason: SwitchBudgetSpent, row: "19", what: "the switches are spent (switch.max)",
		applies: func(f Facts, w wanted) bool { return w.action == Switch && f.Made.Switches >= f.Limits.Switches }},
	{reason: ReplayBudgetSpent, row: "10", what: "the replay was made (replay.max), or a timeout switch has taken its place", doesNotForbid: true,
		applies: func(f Facts, _ wanted) bool {
			return f.Made.Replays >= f.Limits.Replays || f.Made.TimeoutSwitches > 0
		}},
	{reason: NoChannelLeft, row: "19", what: "no other route is left",
		applies: func(f Facts, _ wanted) bool { return !f.RouteLeft }},
}

// own is the place in the order of a class's own refusal.
func own(r Reason) refusal {
	return refusal{reason: r, applies: func(_ Facts, w wanted) bool { return w.refused == r }}
}
