package replay

import "rubicon/internal/classify"

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

// rule is one line of the contract's table, section 3: what a class of failure
// does when nothing forbids it.
type rule struct {
	row          string
	again        Action
	reason       Reason // of doing it
	no           Reason // of not doing it, the class's own
	timeout      bool   // rows 8 and 9
	eventTimeout bool   // row 9: not on Responses streams
	atomic       bool   // row 11a applies
}

var rules = map[classify.Failure]rule{
	classify.FailedEvent:        {row: "1", again: Replay, reason: ReplayFailedEvent, atomic: true},
	classify.ReadError:          {row: "2, 18", again: Replay, reason: ReplayReadError, atomic: true},
	classify.Upstream5xx:        {row: "3", again: Replay, reason: ReplayUpstream5xx},
	classify.BadAnswer:          {row: "3a", again: Replay, reason: ReplayBadAnswer},
	classify.Connect:            {row: "4", again: Switch, reason: SwitchConnect},
	classify.RateLimited:        {row: "5", again: Switch, reason: SwitchRateLimited},
	classify.Overloaded:         {row: "5a", again: Switch, reason: SwitchOverloaded},
	classify.Balance:            {row: "6", again: Switch, reason: SwitchUpstreamBalance},
	classify.Auth:               {row: "7", again: Deliver, no: UpstreamAuth},
	classify.Unfit:              {row: "7a", again: Switch, reason: SwitchChannelUnfit},
	classify.HeaderTimeout:      {row: "8", again: Switch, reason: SwitchHeaderTimeout, no: HeaderTimeout, timeout: true},
	classify.AnswerTimeout:      {row: "8", again: Switch, reason: SwitchAnswerTimeout, no: AnswerTimeout, timeout: true},
	classify.FirstEventTimeout:  {row: "9", again: Switch, reason: SwitchFirstEventTimeout, no: FirstEventTimeout, timeout: true, eventTimeout: true},
	classify.FirstOutputTimeout: {row: "9", again: Switch, reason: SwitchFirstOutputTimeout, no: FirstOutputTimeout, timeout: true, eventTimeout: true},
	classify.BufferLimit:        {row: "14", again: Deliver, no: BufferLimit},
	classify.ClientGone:         {row: "15", again: Deliver, no: ClientDisconnected},
	classify.Deterministic:      {row: "16", again: Deliver, no: Deterministic},
	classify.Unknown:            {row: "16a", again: Deliver, no: UnknownFailure},
	classify.IdleTimeout:        {row: "18a", again: Deliver, no: StreamIdleTimeout, atomic: true},
	classify.TotalTimeout:       {row: "18a", again: Deliver, no: RequestTimeout},
	classify.GatewayFault:       {row: "18b", again: Deliver, no: GatewayFault},
}

// precedence is the contract's order of reasons: the first that forbids the
// action at hand is given. own(r) stands for a class's own refusal.
var precedence = [...]struct {
	reason  Reason
	applies func(Facts, wish) bool
}{
	{ClientDisconnected, func(f Facts, w wish) bool { return f.ClientGone || w.refused == ClientDisconnected }},
	{OutputDelivered, func(f Facts, w wish) bool { return f.Handed == OutputToo }},
	{LifecycleDelivered, func(f Facts, w wish) bool { return f.Handed == LifecycleOnly }},
	{UsageObserved, func(f Facts, w wish) bool { return f.Usage }},
	own(UpstreamAuth),
	own(GatewayFault),
	own(Deterministic),
	own(UnknownFailure),
	{StatefulContinuation, func(f Facts, w wish) bool { return f.Continuation }},
	{OriginBound, func(f Facts, w wish) bool { return f.OriginBound }},
	{StatefulStore, func(f Facts, w wish) bool { return f.Stored && w.action == Replay }},
	{HostedTool, func(f Facts, w wish) bool { return w.action == Replay && f.hostedForbids() }},
	own(AnswerTimeout),
	own(HeaderTimeout),
	own(FirstEventTimeout),
	own(FirstOutputTimeout),
	own(StreamIdleTimeout),
	own(RequestTimeout),
	own(BufferLimit),
	own(ReadErrorAfterLifecycle),
	{AttemptsSpent, func(f Facts, w wish) bool { return f.Made.Attempts >= f.Limits.Attempts }},
	{SwitchBudgetSpent, func(f Facts, w wish) bool { return w.action == Switch && f.Made.Switches >= f.Limits.Switches }},
	{ReplayBudgetSpent, func(f Facts, w wish) bool {
		return w.action == Replay && (f.Made.Replays >= f.Limits.Replays || f.Made.TimeoutSwitches > 0)
	}},
	{NoChannelLeft, func(f Facts, w wish) bool { return !f.RouteLeft }},
}

// own is the place in the order of a class's own refusal.
func own(r Reason) struct {
	reason  Reason
	applies func(Facts, wish) bool
} {
	return struct {
		reason  Reason
		applies func(Facts, wish) bool
	}{r, func(_ Facts, w wish) bool { return w.refused == r }}
}
