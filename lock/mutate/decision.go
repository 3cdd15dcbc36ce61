package main

// decisionMutants breaks the table of what runs again (docs/contract.md#s3): each
// row, each refusal, and the facts and the choice that go with them.
func decisionMutants() []mutant {
	const (
		rules   = "internal/engine/replay/rules.go"
		decide  = "internal/engine/replay/replay.go"
		again   = "internal/engine/turn/again.go"
		admit   = "internal/engine/turn/admit.go"
		choice  = "internal/health/route/route.go"
		events  = "internal/wire/classify/classify.go"
		status  = "internal/wire/classify/rules.go"
		numbers = "internal/wire/classify/number.go"
	)
	return []mutant{
		// Rows that run again: they do not.
		{name: "do not replay a failure event", breaks: []string{"row 1"}, caught: []string{"row-01-failed-event"}, edits: []edit{
			in(rules, `before output", again: Replay, reason: ReplayFailedEvent, atomic: true`, `before output", again: Deliver, no: UnknownFailure`),
			in(decide, "	case f.ByEvent:\n", "	case f.ByEvent && f.Failure != classify.FailedEvent:\n")}},
		{name: "do not replay a reader failure", breaks: []string{"row 2"}, caught: []string{"row-02-cut-after-status"}, edits: []edit{
			in(rules, `again: Replay, reason: ReplayReadError, atomic: true`, `again: Deliver, no: ReadErrorAfterLifecycle`)}},
		{name: "do not replay a 5xx", breaks: []string{"row 3"}, caught: []string{"row-03-5xx"}, edits: []edit{
			in(rules, `again: Replay, reason: ReplayUpstream5xx`, `again: Deliver, no: UnknownFailure`)}},
		{name: "do not replay a bad answer", breaks: []string{"row 3a"}, caught: []string{"row-03a-html-200"}, edits: []edit{
			in(rules, `before any event", again: Replay, reason: ReplayBadAnswer`, `before any event", again: Deliver, no: UnknownFailure`)}},
		{name: "do not switch after a failed connection", breaks: []string{"row 4"}, caught: []string{"row-04-refused"}, edits: []edit{
			in(rules, `again: Switch, reason: SwitchConnect`, `again: Deliver, no: UnknownFailure`)}},
		{name: "count a failed connection as an execution", breaks: []string{"row 4"}, caught: []string{"row-04-stored-moves"}, edits: []edit{
			in(rules, `again: Switch, reason: SwitchConnect`, `again: Replay, reason: ReplayReadError`)}},
		{name: "do not switch after a 429", breaks: []string{"row 5"}, caught: []string{"row-05-429"}, edits: []edit{
			in(rules, `again: Switch, reason: SwitchRateLimited`, `again: Deliver, no: UnknownFailure`)}},
		{name: "do not switch after an overload", breaks: []string{"row 5a"}, caught: []string{"row-05a-529"}, edits: []edit{
			in(rules, `again: Switch, reason: SwitchOverloaded`, `again: Deliver, no: UnknownFailure`)}},
		{name: "take any 503 for a rejection", breaks: []string{"row 3", "row 5a"}, caught: []string{"row-03-503-no-code"}, edits: []edit{
			in(status, `From: 503, Words: overloadWords, Failure`, `From: 503, Failure`)}},
		{name: "do not switch away from an empty account", breaks: []string{"row 6"}, caught: []string{"row-06-402"}, edits: []edit{
			in(rules, `again: Switch, reason: SwitchUpstreamBalance`, `again: Deliver, no: UnknownFailure`)}},
		{name: "try a refused key elsewhere", breaks: []string{"row 7", "upstream_auth"}, caught: []string{"row-07-401"}, edits: []edit{
			in(rules, `again: Deliver, no: UpstreamAuth`, `again: Switch, reason: SwitchChannelUnfit`)}},
		{name: "do not switch away from an unfit channel", breaks: []string{"row 7a"}, caught: []string{"row-07a-405"}, edits: []edit{
			in(rules, `again: Switch, reason: SwitchChannelUnfit`, `again: Deliver, no: UnknownFailure`)}},
		{name: "always switch after a header timeout", breaks: []string{"row 8", "header_timeout"}, caught: []string{"row-08-header-timeout"}, edits: []edit{
			in(rules, `again: Switch, reason: SwitchHeaderTimeout, no: HeaderTimeout, timeout: true`, `again: Switch, reason: SwitchHeaderTimeout`)}},
		{name: "never switch after an answer timeout", breaks: []string{"row 8", "answer_timeout"}, caught: []string{"whole-row-08-answer-timeout"}, edits: []edit{
			in(rules, `no: AnswerTimeout, timeout: true`, `no: AnswerTimeout`)}},
		{name: "switch after timeouts without end", breaks: []string{"row 8", "answer_timeout"}, caught: []string{"whole-row-08-second-timeout"}, edits: []edit{
			in(decide, `f.Made.Replays == 0 && f.Made.TimeoutSwitches < f.Limits.TimeoutSwitches`, `f.Made.Replays == 0`)}},
		{name: "switch after a timeout although it was replayed", breaks: []string{"row 8"}, caught: []string{"row-08-after-replay"}, edits: []edit{
			in(decide, `return f.Made.Replays == 0 && f.Made.TimeoutSwitches`, `return f.Made.TimeoutSwitches`)}},
		{name: "switch a stored request after a timeout", breaks: []string{"row 8", "row 12"}, caught: []string{"whole-row-08-stored"}, edits: []edit{
			in(decide, `if f.Stored || f.hostedForbids() {`, `if f.hostedForbids() {`)}},
		{name: "switch hosted tools after a timeout", breaks: []string{"row 8", "row 13"}, caught: []string{"whole-row-08-hosted-tool"}, edits: []edit{
			in(decide, `if f.Stored || f.hostedForbids() {`, `if f.Stored {`)}},
		{name: "tell clients to repeat what the gateway refuses to", breaks: []string{"row 8", "row 9"}, caught: []string{"row-08-header-timeout"}, edits: []edit{
			in(decide, `return f.EventTimeout || !f.Streaming || !ruleOf(f.Failure).timeout`, `return true`)}},
		{name: "replay a first-event timeout", breaks: []string{"row 9", "first_event_timeout"}, caught: []string{"row-09-first-event-timeout"}, small: true, edits: []edit{
			in(rules, `again: Switch, reason: SwitchFirstEventTimeout, no: FirstEventTimeout, timeout: true, eventTimeout: true`, `again: Replay, reason: ReplayReadError`)}},
		{name: "replay a first-output timeout", breaks: []string{"row 9", "first_output_timeout"}, caught: []string{"row-09-first-output-timeout"}, edits: []edit{
			in(rules, `again: Switch, reason: SwitchFirstOutputTimeout, no: FirstOutputTimeout, timeout: true, eventTimeout: true`, `again: Replay, reason: ReplayReadError`)}},
		{name: "switch Responses streams after an event timeout", breaks: []string{"row 9"}, caught: []string{"row-09-no-option"}, edits: []edit{
			in(decide, `if r.eventTimeout && !f.EventTimeout {`, `if r.eventTimeout && false {`)}},
		{name: "never switch Chat after an event timeout", breaks: []string{"row 9"}, caught: []string{"row-09-first-event-timeout.chat"}, edits: []edit{
			in(again, `EventTimeout: t.req.Protocol.Channel() != config.ProtocolResponses`, `EventTimeout: false && t.req.Protocol.Channel() != config.ProtocolResponses`)}},

		// Rows that do not run again: they do.
		{name: "replay twice", breaks: []string{"row 10", "replay_budget_spent"}, caught: []string{"row-10-second-failure"}, small: true, edits: []edit{
			in(rules, `f.Made.Replays >= f.Limits.Replays`, `f.Made.Replays > f.Limits.Replays`)}},
		{name: "replay after a timeout switch", breaks: []string{"row 10", "replay_budget_spent"}, caught: []string{"row-08-option-then-failure"}, edits: []edit{
			in(rules, ` || f.Made.TimeoutSwitches > 0`, ``)}},
		{name: "let a spent replay forbid switches", breaks: []string{"row 10"}, caught: []string{"row-10-then-switch"}, edits: []edit{
			in(rules, `has taken its place", doesNotForbid: true`, `has taken its place"`)}},
		{name: "replay after output", breaks: []string{"row 11", "output_delivered"}, caught: []string{"row-11-failed-after-output"}, edits: []edit{
			in(rules, `return f.Handed == OutputHanded`, `return false`)}},
		{name: "replay after a lifecycle event went out", breaks: []string{"row 11", "lifecycle_delivered"}, caught: []string{"row-11-lifecycle-delivered"}, edits: []edit{
			in(rules, `return f.Handed == LifecycleHanded`, `return false`)}},
		{name: "do not replay under atomic delivery", breaks: []string{"row 11a"}, caught: []string{"row-11a-read-error"}, edits: []edit{
			in(decide, `case f.Atomic && (`, `case false && (`)}},
		{name: "do not replay a silent stream under atomic delivery", breaks: []string{"row 11a"}, caught: []string{"row-11a-idle"}, edits: []edit{
			in(rules, `no: StreamIdleTimeout, atomic: true`, `no: StreamIdleTimeout`)}},
		{name: "forget the store check", breaks: []string{"row 12", "stateful_store"}, caught: []string{"row-12-stored"}, small: true, edits: []edit{
			in(rules, `return f.Stored }`, `return false }`)}},
		{name: "take an absent store for false", breaks: []string{"row 12"}, caught: []string{"row-12-store-absent"}, edits: []edit{
			in(admit, `t.stored = !t.storeOff`, `t.stored = false`)}},
		{name: "do not write store false", breaks: []string{"row 12"}, caught: []string{"row-12-default-store-false"}, edits: []edit{
			in(admit, `t.storeOff = t.cfg.Replay.DefaultStoreFalse`, `t.storeOff = false`)}},
		{name: "let store forbid switches", breaks: []string{"row 12"}, caught: []string{"row-05-stored-moves"}, edits: []edit{
			in(rules, `is stored upstream", doesNotForbid: true`, `is stored upstream"`)}},
		{name: "replay a continuation", breaks: []string{"row 12", "stateful_continuation"}, caught: []string{"row-12-continuation"}, edits: []edit{
			in(rules, `return f.Continuation }`, `return false }`)}},
		{name: "move a continuation after a rejection", breaks: []string{"row 12"}, caught: []string{"row-12-continuation-not-moved"}, edits: []edit{
			in(rules, `what: "the request continues upstream state"`, `what: "the request continues upstream state", spares: true`)}},
		{name: "replay an origin-bound request", breaks: []string{"row 12", "origin_bound"}, caught: []string{"row-12-origin-bound"}, edits: []edit{
			in(rules, `return f.OriginBound }`, `return false }`)}},
		{name: "send a continuation to any origin", breaks: []string{"row 12"}, caught: []string{"state-previous-known"}, edits: []edit{
			in(choice, `case q.Origin != "" && r.Origin() != q.Origin:`, `case false && r.Origin() != q.Origin:`)}},
		{name: "let unknown ids pass", breaks: []string{"row 12"}, caught: []string{"state-file-unknown"}, edits: []edit{
			in(admit, `case sealed, t.cfg.State.PassUnknown():`, `case true, sealed:`)}},
		{name: "replay hosted tools", breaks: []string{"row 13", "hosted_tool"}, caught: []string{"row-13-hosted-tool"}, edits: []edit{
			in(decide, `if !f.HostedTool {`, `if true {`)}},
		{name: "let hosted tools forbid replays before the first event", breaks: []string{"row 13"}, caught: []string{"row-13-hosted-before-event"}, edits: []edit{
			in(decide, `return f.Events`, `return true`)}},
		{name: "replay hosted tools that did not stream", breaks: []string{"row 13"}, caught: []string{"whole-row-13-hosted-tool"}, edits: []edit{
			in(decide, "	return f.Executed\n", "	return f.Events\n")}},
		{name: "let hosted tools forbid switches", breaks: []string{"row 13"}, caught: []string{"state-hosted-switches"}, edits: []edit{
			in(rules, `may have had effects", doesNotForbid: true`, `may have had effects"`)}},
		{name: "replay an overflow", breaks: []string{"row 14", "buffer_limit"}, caught: []string{"row-14-held-too-much"}, edits: []edit{
			in(rules, `again: Deliver, no: BufferLimit`, `again: Replay, reason: ReplayReadError`)}},
		{name: "replay for nobody", breaks: []string{"row 15", "client_disconnected"}, caught: []string{"row-15-leaves-in-the-hold"}, edits: []edit{
			in(rules, `return f.ClientLeft || w.refused == ClientDisconnected`, `return false`)}},
		{name: "replay a deterministic failure", breaks: []string{"row 16", "deterministic"}, caught: []string{"row-16-400"}, edits: []edit{
			in(rules, `again: Deliver, no: Deterministic`, `again: Replay, reason: ReplayBadAnswer`)}},
		{name: "replay an unknown failure", breaks: []string{"row 16a", "unknown_failure"}, caught: []string{"row-16a-unknown-code"}, edits: []edit{
			in(rules, `again: Deliver, no: UnknownFailure`, `again: Replay, reason: ReplayFailedEvent`)}},
		{name: "take every event failure for retryable", breaks: []string{"row 16a"}, caught: []string{"row-16a-unknown-code"}, edits: []edit{
			in(status, `{Name: "unknown event", Failure: Unknown}`, `{Name: "unknown event", Failure: FailedEvent}`)}},
		{name: "take numbers for unknown codes", breaks: []string{"row 1"}, caught: []string{"row-01-number"}, edits: []edit{
			in(numbers, `[]Span{{401, 599}}`, `[]Span{{600, 600}}`)}},
		{name: "take every number for retryable", breaks: []string{"row 16"}, caught: []string{"class-words"}, edits: []edit{
			in(numbers, `{409, 409}, `, ``)}},
		{name: "read words in one case alone", breaks: []string{"row 1"}, caught: []string{"class-words"}, edits: []edit{
			in(events, `strings.ToLower(info.Type)) || info.State`, `info.Type) || info.State`),
			in("internal/wire/protocol/errorbody.go", `info.State = strings.ToLower(text(v))`, `info.State = text(v)`)}},
		{name: "show a text with its quotes", breaks: []string{"row 16"}, caught: []string{"class-texts"}, edits: []edit{
			in("internal/wire/protocol/errorbody.go", `		return readText(s, depth)`, `		return FailureInfo{Message: s}, s != ""`)}},
		{name: "ignore what an event says of itself", breaks: []string{"row 1"}, caught: []string{"row-01-says-retryable"}, edits: []edit{
			in(events, `if info.Retryable != nil && *info.Retryable {`, `if false {`)}},
		{name: "replay although usage was seen", breaks: []string{"row 17", "usage_observed"}, caught: []string{"row-17-usage"}, edits: []edit{
			in(rules, `return f.Usage }`, `return false }`)}},
		{name: "replay although there is a result", breaks: []string{"row 17"}, caught: []string{"row-17-result-without-usage"}, edits: []edit{
			in("internal/wire/protocol/responses/answer.go", `a.seen.Result, a.seen.ShowsExecution = true, true`, `a.seen.Result = true`),
			in(again, `Usage: a.seen.ShowsExecution || a.seen.Result`, `Usage: a.seen.ShowsExecution`)}},
		{name: "replay a cut after a lifecycle event", breaks: []string{"row 18", "read_error_after_lifecycle"}, caught: []string{"row-18-cut-after-lifecycle"}, edits: []edit{
			in(decide, `f.Streaming && f.Events && !f.Limits.AfterLifecycle`, `false`)}},
		{name: "ignore replay.after_lifecycle", breaks: []string{"row 18"}, caught: []string{"row-18-option-after-lifecycle"}, edits: []edit{
			in(decide, `f.Streaming && f.Events && !f.Limits.AfterLifecycle`, `f.Streaming && f.Events`)}},
		{name: "replay an idle timeout", breaks: []string{"row 18a", "stream_idle_timeout"}, caught: []string{"row-18a-idle-held"}, edits: []edit{
			in(rules, `again: Deliver, no: StreamIdleTimeout, atomic: true`, `again: Replay, reason: ReplayReadError`)}},
		{name: "replay after the total time", breaks: []string{"row 18a", "request_timeout"}, caught: []string{"row-18a-total"}, edits: []edit{
			in(rules, `again: Deliver, no: RequestTimeout`, `again: Replay, reason: ReplayReadError`)}},
		{name: "replay a fault of the gateway", breaks: []string{"row 18b", "gateway_fault"}, caught: []string{"row-18b-shutdown-held"}, edits: []edit{
			in(rules, `again: Deliver, no: GatewayFault`, `again: Replay, reason: ReplayReadError`)}},
		{name: "replay a turn whose connection is over", breaks: []string{"row 18c", "connection_limit"}, caught: []string{"row-18c-hour-in-the-hold"}, edits: []edit{
			in(rules, `again: Deliver, no: ConnectionLimit`, `again: Replay, reason: ReplayReadError`)}},
		{name: "call the age of a connection a fault of the gateway", breaks: []string{"row 18c"}, caught: []string{"row-18c-hour-in-the-hold"}, edits: []edit{
			in("internal/engine/turn/stop.go", `if s.Code == fault.ConnectionLimitReached {`, `if false {`)}},
		{name: "make a fourth attempt", breaks: []string{"row 19", "attempts_spent"}, caught: []string{"edge-three-attempts"}, edits: []edit{
			in(rules, `f.Made.Attempts >= f.Limits.Attempts`, `f.Made.Attempts > f.Limits.Attempts`)}},
		{name: "ignore switch.max", breaks: []string{"row 19", "switch_budget_spent"}, caught: []string{"row-19-switch-max"}, edits: []edit{
			in(rules, `w.action == Switch && f.Made.Switches >= f.Limits.Switches`, `false`)}},
		{name: "call a lack of routes something else", breaks: []string{"row 19", "no_channel_left"}, caught: []string{"row-19-no-route-left"}, edits: []edit{
			in(rules, `{reason: NoChannelLeft, row:`, `{reason: AttemptsSpent, row:`)}},

		// The choice that follows.
		{name: "go back to a route that was tried", breaks: []string{"row 19"}, caught: []string{"row-19-no-route-left"}, edits: []edit{
			in(choice, `case slices.Contains(q.Tried, key):`, `case false:`)}},
		{name: "prefer priority to another host after a failure", breaks: []string{"row 1"}, caught: []string{"edge-other-host-first"}, edits: []edit{
			in(choice, `if q.Last != nil && q.HostFirst {`, `if false {`)}},
		{name: "ignore priority", breaks: []string{"row 19"}, caught: []string{"row-01-failed-event"}, edits: []edit{
			in(choice, `step(reasonPriority, lowestPriority)`, `step(reasonPriority, func(all []option) []option { return all })`)}},
	}
}
