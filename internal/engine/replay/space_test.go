package replay_test

import (
	"math/bits"
	"slices"
	"strings"
	"testing"

	"rubicon/internal/engine/replay"
	"rubicon/internal/wire/classify"
)

// order is the order of reasons of docs/contract.md#s3-precedence, written once more.
var order = []replay.Reason{
	"client_disconnected", "output_delivered", "lifecycle_delivered", "usage_observed", "upstream_auth", "gateway_fault", "connection_limit",
	"deterministic", "unknown_failure", "stateful_continuation", "origin_bound", "stateful_store", "hosted_tool",
	"answer_timeout", "header_timeout", "first_event_timeout", "first_output_timeout", "stream_idle_timeout",
	"request_timeout", "buffer_limit", "read_error_after_lifecycle", "attempts_spent", "switch_budget_spent",
	"replay_budget_spent", "no_channel_left",
}

// counts are all that a request of three attempts can have used up.
var counts = func() (out []replay.Counts) {
	for switches := range 3 {
		for replays := range 2 {
			for timeouts := range switches + 1 {
				if n := 1 + switches + replays; n <= 3 {
					out = append(out, replay.Counts{Attempts: n, Switches: switches, TimeoutSwitches: timeouts, Replays: replays})
				}
			}
		}
	}
	return out
}()

// budgets are all limits that a configuration can set, the option of docs/contract.md#s3-row-18 apart.
var budgets = func() (out []replay.Limits) {
	for switches := range 3 {
		for timeouts := range 3 {
			for replays := range 2 {
				out = append(out, replay.Limits{Attempts: 3, Switches: switches, TimeoutSwitches: timeouts, Replays: replays})
			}
		}
	}
	return out
}()

// flags are the facts that are true or false; every combination is a number.
var flags = []func(*replay.Facts, bool){
	func(f *replay.Facts, b bool) { f.ByEvent = b },
	func(f *replay.Facts, b bool) { f.Streaming = b },
	func(f *replay.Facts, b bool) { f.EventTimeout = b },
	func(f *replay.Facts, b bool) { f.Events = b },
	func(f *replay.Facts, b bool) { f.Usage = b },
	func(f *replay.Facts, b bool) { f.Executed = b },
	func(f *replay.Facts, b bool) { f.Stored = b },
	func(f *replay.Facts, b bool) { f.Continuation = b },
	func(f *replay.Facts, b bool) { f.OriginBound = b },
	func(f *replay.Facts, b bool) { f.HostedTool = b },
	func(f *replay.Facts, b bool) { f.Atomic = b },
	func(f *replay.Facts, b bool) { f.ClientLeft = b },
	func(f *replay.Facts, b bool) { f.RouteLeft = b },
}

// failures are all classes and one that does not exist.
var failures = append(classify.All(), "of another version")

// TestSpace walks the fact space. Every failure meets every combination of
// flags and every thing handed over, each with two of the budgets in turn; and
// every failure meets every budget, with the flags that budgets can matter to.
func TestSpace(t *testing.T) {
	n := 0
	var met reasonPairs
	check := func(f replay.Facts) {
		n++
		v := replay.Decide(f)
		if msg := broken(f, v); msg != "" {
			t.Fatalf("%s\n%+v\n%+v", msg, f, v)
		}
		if msg := judge(f, v, &met); msg != "" {
			t.Fatalf("%s\n%+v\n%+v", msg, f, v)
		}
	}
	for _, failure := range failures {
		for set := range 1 << len(flags) {
			f := replay.Facts{Failure: failure}
			for i, flag := range flags {
				flag(&f, set>>i&1 == 1)
			}
			for _, f.Handed = range []replay.Handed{replay.NothingHanded, replay.LifecycleHanded, replay.OutputHanded} {
				for range 2 {
					f.Made, f.Limits = counts[n%len(counts)], budgets[n/7%len(budgets)]
					f.Limits.AfterLifecycle = n/11%2 == 0
					check(f)
				}
			}
		}
		for set := range 1 << 5 {
			f := replay.Facts{Failure: failure, ByEvent: set&1 > 0, Streaming: set&2 > 0, EventTimeout: true,
				RouteLeft: set&4 > 0, Stored: set&8 > 0, Atomic: set&16 > 0, Events: set&16 > 0}
			for _, f.Made = range counts {
				for _, f.Limits = range budgets {
					check(f)
				}
			}
		}
	}
	t.Logf("%d combinations", n)
	met.check(t)
}

// broken names the invariant that a verdict breaks.
func broken(f replay.Facts, v replay.Verdict) string {
	runs := v.Action != replay.Deliver
	switch {
	case v.Action == replay.Deliver && !slices.Contains(order, v.Reason):
		return "delivered without a reason of docs/contract.md#s3-precedence"
	case v.Action == replay.Switch && !strings.HasPrefix(string(v.Reason), "switch_"),
		v.Action == replay.Replay && !strings.HasPrefix(string(v.Reason), "replay_"):
		return "action and reason do not fit"
	case v.Action != replay.Deliver && v.Action != replay.Switch && v.Action != replay.Replay:
		return "no action"
	case runs && f.Handed != replay.NothingHanded:
		return "a second beginning to one client"
	case runs && f.Usage:
		return "runs again although usage or a result was seen"
	case runs && (f.Continuation || f.OriginBound):
		return "moves state"
	case runs && f.ClientLeft:
		return "runs for nobody"
	case runs && !f.RouteLeft:
		return "runs again without a route"
	case runs && f.Made.Attempts >= f.Limits.Attempts:
		return "too many attempts"
	case v.Action == replay.Replay && f.Stored:
		return "replays a stored request"
	case v.Action == replay.Replay && f.Atomic && v.Reason != replay.ReplayAtomic:
		return "replays after output, and not as docs/contract.md#s3-row-11a"
	case v.Action == replay.Replay && (f.Made.Replays >= f.Limits.Replays || f.Made.TimeoutSwitches > 0):
		return "replays beyond the budget"
	case v.Action == replay.Switch && f.Made.Switches >= f.Limits.Switches:
		return "switches beyond the budget"
	case v.Action == replay.Switch && f.Executed && !timeout(f.Failure):
		return "switches after a possible execution"
	case v.Action == replay.Switch && timeout(f.Failure) && (f.Stored || f.Made.Replays > 0 || f.Made.TimeoutSwitches >= f.Limits.TimeoutSwitches):
		return "switches after a timeout that forbids it"
	case runs && f.HostedTool && f.Executed && (f.Events || !f.Streaming):
		return "runs hosted tools twice"
	}
	return ""
}

func timeout(f classify.Failure) bool { return strings.HasSuffix(string(f), "_timeout") }

// judge compares a verdict with docs/contract.md#s3: the reasons that forbid
// the wanted action, found without the package's tables, and the first of
// them in the order of docs/contract.md#s3-precedence.
func judge(f replay.Facts, v replay.Verdict, met *reasonPairs) string {
	action, reason, own := atHand(f)
	all := forbidding(f, action, own)
	if all == 0 {
		if v.Action != action || v.Reason != reason {
			return "nothing forbids " + string(reason)
		}
		return ""
	}
	met.note(all)
	if first := order[bits.TrailingZeros32(uint32(all))]; v.Action != replay.Deliver || v.Reason != first {
		return "the first reason is " + string(first)
	}
	return ""
}

// reasons is a set of them, by their place in order.
type reasons uint32

func setOf(r replay.Reason) reasons { return 1 << slices.Index(order, r) }

type decided struct {
	action replay.Action
	reason replay.Reason
}

var plain = map[classify.Failure]decided{
	"failed_event": {"replay", "replay_failed_event"}, "read_error": {"replay", "replay_read_error"},
	"upstream_5xx": {"replay", "replay_upstream_5xx"}, "bad_answer": {"replay", "replay_bad_answer"},
	"connect": {"switch", "switch_connect"}, "rate_limited": {"switch", "switch_rate_limited"},
	"overloaded": {"switch", "switch_overloaded"}, "balance": {"switch", "switch_upstream_balance"},
	"unfit": {"switch", "switch_channel_unfit"}, "header_timeout": {"switch", "switch_header_timeout"},
	"answer_timeout": {"switch", "switch_answer_timeout"}, "first_event_timeout": {"switch", "switch_first_event_timeout"},
	"first_output_timeout": {"switch", "switch_first_output_timeout"},
}

// never are the classes that never run again.
var never = map[classify.Failure]replay.Reason{
	"auth": "upstream_auth", "buffer_limit": "buffer_limit", "client_gone": "client_disconnected",
	"deterministic": "deterministic", "idle_timeout": "stream_idle_timeout", "total_timeout": "request_timeout",
	"gateway_fault": "gateway_fault", "connection_limit": "connection_limit",
}

// atHand is the action that the failure's row names, its reason, and the row's
// own refusal.
func atHand(f replay.Facts) (replay.Action, replay.Reason, replay.Reason) {
	a, runs := plain[f.Failure]
	switch {
	case f.Atomic && (runs || f.Failure == "idle_timeout"):
		return "replay", "replay_atomic", ""
	case !runs && never[f.Failure] != "":
		return "replay", "", never[f.Failure]
	case !runs:
		return "replay", "", "unknown_failure"
	case timeout(f.Failure):
		onlyEvents := f.Failure == "first_event_timeout" || f.Failure == "first_output_timeout"
		hosted := f.HostedTool && (f.Streaming && f.Events || !f.Streaming && f.Executed)
		may := (!onlyEvents || f.EventTimeout) && !f.Stored && !hosted && f.Made.Replays == 0 && f.Made.TimeoutSwitches < f.Limits.TimeoutSwitches
		if !may {
			return a.action, a.reason, replay.Reason(f.Failure)
		}
	case f.ByEvent:
		return "replay", "replay_failed_event", ""
	case a.action == replay.Switch && f.Executed:
		return "replay", "replay_bad_answer", ""
	case f.Failure == "read_error" && f.Streaming && f.Events && !f.Limits.AfterLifecycle:
		return a.action, a.reason, "read_error_after_lifecycle"
	}
	return a.action, a.reason, ""
}

// forbidding is every reason that forbids the action.
func forbidding(f replay.Facts, action replay.Action, own replay.Reason) (all reasons) {
	again := action == replay.Replay
	if own != "" {
		all |= setOf(own)
	}
	for _, c := range [...]struct {
		applies bool
		reason  replay.Reason
	}{
		{f.ClientLeft, "client_disconnected"},
		{f.Handed == replay.OutputHanded, "output_delivered"},
		{f.Handed == replay.LifecycleHanded, "lifecycle_delivered"},
		{f.Usage, "usage_observed"},
		{f.Continuation, "stateful_continuation"},
		{f.OriginBound, "origin_bound"},
		{again && f.Stored, "stateful_store"},
		{again && f.HostedTool && (f.Streaming && f.Events || !f.Streaming && f.Executed), "hosted_tool"},
		{f.Made.Attempts >= f.Limits.Attempts, "attempts_spent"},
		{!again && f.Made.Switches >= f.Limits.Switches, "switch_budget_spent"},
		{again && (f.Made.Replays >= f.Limits.Replays || f.Made.TimeoutSwitches > 0), "replay_budget_spent"},
		{!f.RouteLeft, "no_channel_left"},
	} {
		if c.applies {
			all |= setOf(c.reason)
		}
	}
	return all
}

// reasonPairs collects which reasons stood side by side.
type reasonPairs [32]reasons

func (m *reasonPairs) note(all reasons) {
	for i := range order {
		if all>>i&1 == 1 {
			m[i] |= all
		}
	}
}

// check makes sure that the walk put every two reasons side by side that can
// are next to each other: then the whole order was tested.
func (m *reasonPairs) check(t *testing.T) {
	t.Helper()
	// A class's own refusal excludes that of another class.
	classes := []replay.Reason{"upstream_auth", "gateway_fault", "connection_limit", "deterministic", "unknown_failure", "answer_timeout", "header_timeout",
		"first_event_timeout", "first_output_timeout", "stream_idle_timeout", "request_timeout", "buffer_limit", "read_error_after_lifecycle"}
	// The rule of a timeout wants a switch, which these never forbid; the other rules want a replay.
	timeouts := classes[5:9]
	replays := []replay.Reason{"stateful_store", "hosted_tool", "replay_budget_spent"}
	cannot := func(a, b replay.Reason) bool {
		return slices.Contains(classes, a) && slices.Contains(classes, b) ||
			a == "output_delivered" && b == "lifecycle_delivered" ||
			slices.Contains(replays, a) && (b == "switch_budget_spent" || slices.Contains(timeouts, b)) ||
			a == "switch_budget_spent" && slices.Contains(classes, b) && !slices.Contains(timeouts, b)
	}
	for i, a := range order {
		for _, b := range order[i+1:] {
			if together := m[i]&setOf(b) != 0; together == (cannot(a, b) || cannot(b, a)) {
				t.Errorf("%s and %s: met %v", a, b, together)
			}
		}
	}
}
