package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rubicon/internal/engine/replay"
	"rubicon/internal/health"
)

const root = "../.."

// TestTableIsCurrent: every edit finds its text once and leaves Go behind, every
// name is one mutant's, and every scenario that is named is there. Whether it
// builds and is caught is the command's to find out.
func TestTableIsCurrent(t *testing.T) {
	names := map[string]bool{}
	for _, m := range table() {
		if names[m.name] {
			t.Errorf("two mutants are called %q", m.name)
		}
		names[m.name] = true
		if len(m.breaks) == 0 || len(m.edits) == 0 || len(m.caught) == 0 {
			t.Errorf("%s: breaks, edits and caught are required", m.name)
		}
		files, err := m.mutated(root)
		if err != nil {
			t.Error(err)
			continue
		}
		for file, text := range files {
			if _, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution); err != nil {
				t.Errorf("%s: %v", m.name, err)
			}
		}
		for _, name := range m.caught {
			if _, err := os.Stat(filepath.Join("..", "recordings", name+".json")); err != nil {
				t.Errorf("%s names the scenario %s, which there is not", m.name, name)
			}
		}
	}
}

// TestStaleEdits: an edit that does not fit is refused.
func TestStaleEdits(t *testing.T) {
	for _, e := range []edit{
		in("lock/lock.go", "no such text anywhere", "x"),
		in("lock/lock.go", "lock", "x"), // more than once
		in("lock/lock.go", "package lock", "package lock"),
		in("lock/none.go", "x", "y"),
	} {
		m := mutant{name: "x", edits: []edit{e}}
		if _, err := m.mutated(root); err == nil {
			t.Errorf("%s: %q is no edit", e.file, e.old)
		}
	}
}

// named are the mutants that the design of the lock asks for by name.
var named = []string{
	"replay a first-event timeout", "do not replay a reader failure", "replay an overflow", "forget the store check",
	"commit on lifecycle", "flush nothing at the deadline", "replay twice", "settle and release", "charge the discarded attempt",
	"count client aborts against the breaker", "never leave half-open",
}

// rules are those of the contract that are no data of the code: the event hold
// (docs/contract.md#s4), the states of a channel (docs/contract.md#s6) and money (docs/contract.md#s7).
var rules = []string{
	"hold: lifecycle events are held", "hold: output ends it at once", "hold: in order and unchanged", "hold: the deadline commits",
	"hold: counted from the first held event", "hold: a replay does not restart it", "hold: past the deadline lifecycle goes out at once",
	"hold: no status line", "hold: a discarded attempt is never seen", "hold: its bound", "hold: no bytes go out",
	"hold: heartbeats start no clock", "hold: heartbeats keep their place", "hold: keep-alive after commitment", "hold: its length is measured",
	"hold: first_output wins a tie", "hold: atomic delivery",

	"stream: openings of what is still empty are held", "stream: records without data reach no client", "stream: wrapped comments are dropped",
	"stream: no blank line behind an id ends no event", "stream: a last record without its blank line counts", "stream: what says nothing new is silent",
	"stream: its first bytes tell it", "stream: response.processed is read over", "stream: a whole answer is on record before it is shown",

	"closed → open", "closed: the window", "closed: a success ends the row", "closed: one customer's share", "open: no traffic",
	"open → half-open", "half-open → open", "half-open → closed", "half-open: one probe at a time", "half-open: a hanging probe is given up",
	"half-open: an aborted probe decides nothing", "results of an older generation are ignored", "success is counted at the end",
	"closed: only if half of the window failed", "closed: a long row opens", "closed: a row by the order of sending", "open: open_max after two minutes",
	"→ cooling", "cooling: as long as upstream asks", "cooling: at most 60 s", "cooling: extended, never shortened", "cooling →",
	"cooling: doubling while 429s go on", "cooling: back by one step for each good answer", "cooling: a burst is one 429",
	"cooling: a request waits", "cooling: a stated time holds", "cooling: then the first to return", "one host and key are one route", "a repeat goes elsewhere",
	"weight: halves on 429", "weight: floor 1/8", "weight: doubles back",
	"→ paused", "paused → by a probe", "paused: one probe", "→ paused by an operator", "paused → by an operator",
	"→ disabled", "disabled → by a re-check", "→ disabled by an operator", "disabled → by an operator",
	"all unavailable: the earliest moment", "affinity",

	"money: rounded half up", "money: usage classes", "money: classes sum to the input total", "money: cache classes without a price cost as input",
	"money: price per request", "money: price per hosted call", "money: unpriced is flagged", "money: factor of the tier", "money: a tier without an entry",
	"money: anomalies are estimated", "money: the hold", "money: input estimate", "money: output bound", "money: insufficient balance",
	"money: overrun, then refused", "money: counting tokens is free", "money: exactly one of settle and release", "money: settle",
	"who pays: an answer", "who pays: nothing delivered", "who pays: a failure that holds output", "who pays: output, then a cut", "who pays: after a replay",
	"money: an estimate is never above the hold", "money: estimated usage", "money: bytes per token are learned", "money: client gone",
	"money: durable before the end is shown", "money: a restart resolves open holds", "money: reversed once",
	"money: only top-up, settle and adjust are reversed",
	"who pays: output without content", "money: implausible usage", "money: anomalies are told", "money: numbers as texts",
	"money: of searches the searches", "money: the provider's count of calls", "money: a zero takes back no input", "money: a refund is shown",
	"limits: tokens by learned output", "limits: tokens by the request's maximum",
}

// TestTableCovers: each row and each refusal of the decision, each class's
// effect on health, and each rule that is listed above has a mutant.
func TestTableCovers(t *testing.T) {
	broken, names := map[string]bool{}, map[string]bool{}
	for _, m := range table() {
		names[m.name] = true
		for _, b := range m.breaks {
			broken[b] = true
		}
	}
	wanted := slices.Clone(rules)
	for _, r := range replay.Table() {
		wanted = append(wanted, "row "+r.Row)
	}
	for _, r := range replay.Refusals() {
		wanted = append(wanted, string(r.Reason), "row "+r.Row)
	}
	wanted = append(wanted, "row 11a") // a condition of other rows
	for class := range health.Effects() {
		wanted = append(wanted, "effect "+string(class))
	}
	known := map[string]bool{}
	for _, w := range wanted {
		known[w] = true
		if !broken[w] {
			t.Errorf("no mutant breaks %q", w)
		}
	}
	for b := range broken {
		if !known[b] && !strings.HasPrefix(b, "end: ") {
			t.Errorf("a mutant breaks %q, which is no rule", b)
		}
	}
	for _, n := range named {
		if !names[n] {
			t.Errorf("no mutant is called %q", n)
		}
	}
}

// TestSmall: the few that run with every test are of every area.
func TestSmall(t *testing.T) {
	for area, of := range map[string][]mutant{"decision": decisionMutants(), "hold": holdMutants(), "health": healthMutants(), "money": moneyMutants()} {
		if !slices.ContainsFunc(of, func(m mutant) bool { return m.small }) {
			t.Errorf("no small mutant of %s", area)
		}
	}
	small, err := choose(table(), true, "")
	if err != nil || len(small) > 8 {
		t.Errorf("%d small mutants (%v)", len(small), err)
	}
}

// TestOutcomes reads what a test binary says.
func TestOutcomes(t *testing.T) {
	failed, ran := outcomes([]byte("=== RUN   TestScenarios/x\n    --- FAIL: TestScenarios/row-01.ws (0.1s)\n    --- PASS: TestScenarios/row-02 (0.1s)\n\x16--- PASS: TestScenarios/row-03 (0s)\n--- FAIL: TestScenarios (1s)\n"))
	if !slices.Equal(failed, []string{"row-01.ws"}) || ran != 3 {
		t.Errorf("failed %v of %d", failed, ran)
	}
}
