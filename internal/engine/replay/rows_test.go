package replay_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/engine/replay"
	"rubicon/internal/wire/classify"
)

// TestRows states the table docs/contract.md#s3 row by row, as values. The
// base is a stateless Chat stream after its first attempt under the default
// configuration, with another route left.
func TestRows(t *testing.T) {
	usual := replay.Limits{Attempts: 3, Switches: 2, TimeoutSwitches: 1, Replays: 1}
	responses := func(f *replay.Facts) { f.EventTimeout, f.Limits.TimeoutSwitches = false, 0 }
	whole := func(f *replay.Facts) { f.Streaming = false }
	event := func(f *replay.Facts) { f.ByEvent, f.Events = true, true }
	stored := func(f *replay.Facts) { f.Stored = true }
	events := func(f *replay.Facts) { f.Events = true }
	replayed := func(f *replay.Facts) { f.Made = replay.Counts{Attempts: 2, Replays: 1} }
	timedOut := func(f *replay.Facts) { f.Made = replay.Counts{Attempts: 2, Switches: 1, TimeoutSwitches: 1} }
	atomic := func(f *replay.Facts) { f.Atomic, f.Events = true, true }
	hosted := func(f *replay.Facts) { f.HostedTool = true }
	executed := func(f *replay.Facts) { f.Executed = true }
	type change = func(*replay.Facts)
	for _, c := range []struct {
		row     string
		failure classify.Failure
		change  []change
		action  replay.Action
		reason  replay.Reason
	}{
		{"1", "failed_event", []change{event}, "replay", "replay_failed_event"},
		{"1, balance as an event", "balance", []change{event}, "replay", "replay_failed_event"},
		{"1, rate limit as an event", "rate_limited", []change{event}, "replay", "replay_failed_event"},
		{"1, stored", "failed_event", []change{event, stored}, "deliver", "stateful_store"},
		{"2", "read_error", nil, "replay", "replay_read_error"},
		{"2, not streaming", "read_error", []change{whole, executed}, "replay", "replay_read_error"},
		{"2, stored", "read_error", []change{stored}, "deliver", "stateful_store"},
		{"3", "upstream_5xx", []change{executed}, "replay", "replay_upstream_5xx"},
		{"3a", "bad_answer", []change{executed}, "replay", "replay_bad_answer"},
		{"4", "connect", nil, "switch", "switch_connect"},
		{"4, stored", "connect", []change{stored}, "switch", "switch_connect"},
		{"5", "rate_limited", nil, "switch", "switch_rate_limited"},
		{"5a", "overloaded", nil, "switch", "switch_overloaded"},
		{"6", "balance", nil, "switch", "switch_upstream_balance"},
		{"7", "auth", nil, "deliver", "upstream_auth"},
		{"7a", "unfit", nil, "switch", "switch_channel_unfit"},
		{"8, Chat", "header_timeout", []change{executed}, "switch", "switch_header_timeout"},
		{"8, Responses", "header_timeout", []change{responses, executed}, "deliver", "header_timeout"},
		{"8, not streaming", "answer_timeout", []change{whole, executed}, "switch", "switch_answer_timeout"},
		{"8, stored", "answer_timeout", []change{whole, executed, stored}, "deliver", "answer_timeout"},
		{"8, twice", "header_timeout", []change{timedOut}, "deliver", "header_timeout"},
		{"8, after a replay", "header_timeout", []change{replayed}, "deliver", "header_timeout"},
		{"8, replay.max 0", "header_timeout", []change{func(f *replay.Facts) { f.Limits.Replays = 0 }}, "switch", "switch_header_timeout"},
		{"8, Responses with on_timeout 1", "header_timeout", []change{responses, func(f *replay.Facts) { f.Limits.TimeoutSwitches = 1 }}, "switch", "switch_header_timeout"},
		{"9, Chat", "first_event_timeout", nil, "switch", "switch_first_event_timeout"},
		{"9, Responses with on_timeout 1", "first_event_timeout", []change{responses, func(f *replay.Facts) { f.Limits.TimeoutSwitches = 1 }}, "deliver", "first_event_timeout"},
		{"9, output", "first_output_timeout", []change{events}, "switch", "switch_first_output_timeout"},
		{"9, output, Responses", "first_output_timeout", []change{responses, events}, "deliver", "first_output_timeout"},
		{"9, committed", "first_output_timeout", []change{events, func(f *replay.Facts) { f.Handed = replay.LifecycleHanded }}, "deliver", "lifecycle_delivered"},
		{"10", "upstream_5xx", []change{replayed}, "deliver", "replay_budget_spent"},
		{"10, last route", "upstream_5xx", []change{replayed, func(f *replay.Facts) { f.RouteLeft = false }}, "deliver", "replay_budget_spent"},
		{"10, rows 4–7a still switch", "rate_limited", []change{replayed}, "switch", "switch_rate_limited"},
		{"10, replay.max 0", "failed_event", []change{event, func(f *replay.Facts) { f.Limits.Replays = 0 }}, "deliver", "replay_budget_spent"},
		{"10, after a timeout switch", "upstream_5xx", []change{timedOut}, "deliver", "replay_budget_spent"},
		{"11, output", "read_error", []change{events, func(f *replay.Facts) { f.Handed = replay.OutputHanded }}, "deliver", "output_delivered"},
		{"11, lifecycle", "failed_event", []change{event, func(f *replay.Facts) { f.Handed = replay.LifecycleHanded }}, "deliver", "lifecycle_delivered"},
		{"11a, read error", "read_error", []change{atomic}, "replay", "replay_atomic"},
		{"11a, idle", "idle_timeout", []change{atomic}, "replay", "replay_atomic"},
		{"11a, event", "failed_event", []change{atomic, event}, "replay", "replay_atomic"},
		{"11a, usage", "failed_event", []change{atomic, event, func(f *replay.Facts) { f.Usage = true }}, "deliver", "usage_observed"},
		{"11a, hosted tool", "read_error", []change{atomic, hosted}, "deliver", "hosted_tool"},
		{"11a, replayed", "read_error", []change{atomic, replayed}, "deliver", "replay_budget_spent"},
		{"11a, total timeout", "total_timeout", []change{atomic}, "deliver", "request_timeout"},
		{"12, continuation", "read_error", []change{func(f *replay.Facts) { f.Continuation = true }, stored}, "deliver", "stateful_continuation"},
		{"12, continuation is not moved", "connect", []change{func(f *replay.Facts) { f.Continuation = true }}, "deliver", "stateful_continuation"},
		{"12, origin bound", "rate_limited", []change{func(f *replay.Facts) { f.OriginBound = true }}, "deliver", "origin_bound"},
		{"12, store", "upstream_5xx", []change{stored}, "deliver", "stateful_store"},
		{"13, streaming, an event", "failed_event", []change{event, hosted}, "deliver", "hosted_tool"},
		{"13, streaming, no event", "upstream_5xx", []change{hosted, executed}, "replay", "replay_upstream_5xx"},
		{"13, not streaming", "upstream_5xx", []change{whole, hosted, executed}, "deliver", "hosted_tool"},
		{"13, not executed", "connect", []change{whole, hosted}, "switch", "switch_connect"},
		{"14", "buffer_limit", []change{events}, "deliver", "buffer_limit"},
		{"15", "client_gone", nil, "deliver", "client_disconnected"},
		{"15, at any failure", "connect", []change{func(f *replay.Facts) { f.ClientLeft = true }}, "deliver", "client_disconnected"},
		{"16", "deterministic", nil, "deliver", "deterministic"},
		{"16, event", "deterministic", []change{event}, "deliver", "deterministic"},
		{"16a", "unknown", []change{event}, "deliver", "unknown_failure"},
		{"17", "failed_event", []change{event, func(f *replay.Facts) { f.Usage = true }}, "deliver", "usage_observed"},
		{"18", "read_error", []change{events}, "deliver", "read_error_after_lifecycle"},
		{"18, option", "read_error", []change{events, func(f *replay.Facts) { f.Limits.AfterLifecycle = true }}, "replay", "replay_read_error"},
		{"18, stored", "read_error", []change{events, stored}, "deliver", "stateful_store"},
		{"18a, idle", "idle_timeout", []change{events}, "deliver", "stream_idle_timeout"},
		{"18a, idle, stored", "idle_timeout", []change{events, stored}, "deliver", "stateful_store"},
		{"18a, total", "total_timeout", nil, "deliver", "request_timeout"},
		{"18b", "gateway_fault", nil, "deliver", "gateway_fault"},
		{"18c", "connection_limit", nil, "deliver", "connection_limit"},
		{"18c, stored", "connection_limit", []change{stored}, "deliver", "connection_limit"},
		{"19, route", "connect", []change{func(f *replay.Facts) { f.RouteLeft = false }}, "deliver", "no_channel_left"},
		{"19, switches", "connect", []change{func(f *replay.Facts) {
			f.Limits.Switches, f.Made = 1, replay.Counts{Attempts: 2, Switches: 1}
		}}, "deliver", "switch_budget_spent"},
		{"19, attempts", "connect", []change{func(f *replay.Facts) {
			f.Made = replay.Counts{Attempts: 3, Switches: 2}
		}}, "deliver", "attempts_spent"},
	} {
		t.Run(c.row, func(t *testing.T) {
			f := replay.Facts{Failure: c.failure, Streaming: true, EventTimeout: true, RouteLeft: true, Limits: usual, Made: replay.Counts{Attempts: 1}}
			for _, change := range c.change {
				change(&f)
			}
			if diff := cmp.Diff(replay.Verdict{Action: c.action, Reason: c.reason}, replay.Decide(f)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestTable: every class has one line, and what the lines say is what Decide
// does with nothing in the way.
func TestTable(t *testing.T) {
	lines := map[classify.Failure]int{}
	for _, row := range replay.Table() {
		lines[row.Failure]++
		if row.Row == "" || row.What == "" {
			t.Errorf("%s: a line without words", row.Failure)
		}
		v := replay.Decide(replay.Facts{Failure: row.Failure, Streaming: true, EventTimeout: true, RouteLeft: true,
			Made: replay.Counts{Attempts: 1}, Limits: replay.Limits{Attempts: 3, Switches: 2, TimeoutSwitches: 1, Replays: 1}})
		want := replay.Verdict{Action: row.Action, Reason: row.Reason}
		if row.Action == replay.Deliver {
			want.Reason = row.Refusal
		}
		if diff := cmp.Diff(want, v); diff != "" {
			t.Errorf("%s:\n%s", row.Failure, diff)
		}
	}
	for _, f := range classify.All() {
		if lines[f] != 1 {
			t.Errorf("%s has %d lines", f, lines[f])
		}
	}
	var got []replay.Reason
	for _, r := range replay.Refusals() {
		got = append(got, r.Reason)
		if r.Row == "" || r.What == "" || !r.Replay && !r.Switch {
			t.Errorf("%s: a line without words or without effect", r.Reason)
		}
	}
	if diff := cmp.Diff(order, got); diff != "" {
		t.Error(diff)
	}
}

// What the gateway refuses to do by itself it tells no client to do
// (docs/contract.md#s5-retryable): docs/contract.md#s3-row-8 and
// docs/contract.md#s3-row-9 on Responses streams, whatever the operator allows there.
func TestClientMayRepeat(t *testing.T) {
	silent := map[classify.Failure]bool{classify.HeaderTimeout: true, classify.FirstEventTimeout: true, classify.FirstOutputTimeout: true, classify.AnswerTimeout: true}
	for _, class := range classify.All() {
		for bits := range 8 {
			f := replay.Facts{Failure: class, Streaming: bits&1 > 0, EventTimeout: bits&2 > 0, Limits: replay.Limits{TimeoutSwitches: bits >> 2}}
			responsesStream := f.Streaming && !f.EventTimeout
			if got, want := f.ClientMayRepeat(), !(responsesStream && silent[class]); got != want {
				t.Errorf("%s, streaming %v, Responses %v, timeout switches %d: %v", class, f.Streaming, !f.EventTimeout, f.Limits.TimeoutSwitches, got)
			}
		}
	}
}
