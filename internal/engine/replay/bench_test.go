package replay

import (
	"testing"

	"rubicon/internal/wire/classify"
)

// BenchmarkDecide decides on every class of failure in turn.
func BenchmarkDecide(b *testing.B) {
	classes := classify.All()
	f := Facts{Streaming: true, Executed: true, RouteLeft: true, Made: Counts{Attempts: 1},
		Limits: Limits{Attempts: 3, Switches: 2, TimeoutSwitches: 1, Replays: 1}}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		f.Failure = classes[i%len(classes)]
		if v := Decide(f); v.Reason == "" {
			b.Fatalf("no reason for %s", f.Failure)
		}
	}
}
