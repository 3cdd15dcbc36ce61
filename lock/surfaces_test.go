package lock

import (
	"strings"
	"testing"

	"rubicon/internal/replay"
	"rubicon/lock/scenario"
)

// TestSurfaces: each row of the decision has a scenario on Responses, on Chat and
// on Messages, and what is named after a counterpart has it beside it.
func TestSurfaces(t *testing.T) {
	all, err := scenario.LoadAll("scenarios")
	if err != nil {
		t.Fatal(err)
	}
	names, shown := map[string]bool{}, map[string]bool{}
	for _, s := range all {
		names[s.Name] = true
		for row := range strings.SplitSeq(s.Row, ",") {
			shown[s.Protocol+" "+strings.TrimSpace(row)] = true
		}
	}
	for _, s := range all {
		base, surface, other := strings.Cut(s.Name, ".")
		if other && !names[base] {
			t.Errorf("%s has no counterpart %s", s.Name, base)
		}
		if other && surface != s.Protocol {
			t.Errorf("%s is of %s", s.Name, s.Protocol)
		}
	}
	rows := []string{"11a"} // a condition of other rows
	for _, r := range replay.Table() {
		rows = append(rows, r.Row)
	}
	for _, r := range replay.Refusals() {
		rows = append(rows, r.Row)
	}
	for _, protocol := range []string{"responses", "chat", "messages"} {
		for _, row := range rows {
			if row == "18c" && protocol != "responses" {
				continue // only the socket has an age, and it speaks Responses
			}
			if !shown[protocol+" "+row] {
				t.Errorf("no scenario shows row %s on %s", row, protocol)
			}
		}
	}
}
