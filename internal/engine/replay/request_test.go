package replay_test

import (
	"testing"

	"rubicon/internal/engine/replay"
	"rubicon/internal/wire/classify"
)

// progress is the state of a request between two attempts, and how many of its
// attempts may have executed upstream. Walking the states instead of the
// sequences covers every sequence: what follows depends on nothing else.
type progress struct {
	made     replay.Counts
	executed int
}

// TestWholeRequests walks every request of up to three attempts: at most two
// executions may have run, three only where a timeout count is 2; and never
// more than three attempts, one replay, two switches.
func TestWholeRequests(t *testing.T) {
	for bits := range 1 << 5 {
		request := replay.Facts{Streaming: bits&1 > 0, EventTimeout: bits&2 > 0, Stored: bits&4 > 0, HostedTool: bits&8 > 0, RouteLeft: true}
		for _, limits := range budgets {
			limits.AfterLifecycle = bits&16 > 0
			request.Limits = limits
			most := 2
			if limits.TimeoutSwitches == 2 {
				most = 3
			}
			walk(t, request, most)
		}
	}
}

func walk(t *testing.T, request replay.Facts, most int) {
	t.Helper()
	attempts := outcomes(request.Streaming)
	start := progress{made: replay.Counts{Attempts: 1}}
	known := map[progress]bool{start: true}
	for open := []progress{start}; len(open) > 0; open = open[1:] {
		at := open[0]
		if m := at.made; m.Attempts > 3 || m.Replays > request.Limits.Replays || m.Switches > request.Limits.Switches {
			t.Fatalf("budgets overdrawn: %+v under %+v", m, request.Limits)
		}
		for _, o := range attempts {
			f := request
			f.Failure, f.ByEvent, f.Events, f.Atomic, f.Executed, f.Made = o.Failure, o.ByEvent, o.Events, o.Atomic, o.Executed, at.made
			executed := at.executed
			if f.Executed {
				executed++
			}
			if executed > most {
				t.Fatalf("%d executions may have run: %+v", executed, f)
			}
			next := progress{at.made, executed}
			next.made.Attempts++
			switch v := replay.Decide(f); v.Action {
			case replay.Replay:
				next.made.Replays++
			case replay.Switch:
				next.made.Switches++
				if timeout(f.Failure) {
					next.made.TimeoutSwitches++
				}
			default:
				continue
			}
			if !known[next] {
				known[next] = true
				open = append(open, next)
			}
		}
	}
}

// outcomes are the ways in which one attempt can fail before anything was
// handed over. What certainly did not execute is what the rows say so of.
func outcomes(streaming bool) (out []replay.Facts) {
	certainlyNot := map[classify.Failure]bool{classify.Connect: true, classify.RateLimited: true, classify.Overloaded: true,
		classify.Balance: true, classify.Auth: true, classify.Unfit: true, classify.Deterministic: true}
	for _, failure := range failures {
		for bits := range 1 << 3 {
			f := replay.Facts{Failure: failure, ByEvent: bits&1 > 0, Events: bits&2 > 0, Atomic: bits&4 > 0}
			f.Executed = f.ByEvent || !certainlyNot[failure]
			if !streaming && (f.Events || f.Atomic) {
				continue
			}
			out = append(out, f)
		}
	}
	return out
}
