package lock

import (
	"strings"
	"testing"

	"rubicon/internal/engine/replay"
	"rubicon/lock/scenario"
)

// TestSurfaces: each row of the decision has a scenario on Responses, on Chat and
// on Messages.
func TestSurfaces(t *testing.T) {
	all, err := scenario.LoadAll("scenarios")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, s := range all {
		for row := range strings.SplitSeq(s.Row, ",") {
			shown[s.Protocol+" "+strings.TrimSpace(row)] = true
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
