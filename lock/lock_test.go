package lock

import (
	"flag"
	"os"
	"testing"

	"rubicon/lock/scenario"
)

var update = flag.Bool("update", false, "write the recordings instead of comparing")

// TestScenarios plays every scenario, and where it has one its WebSocket twin,
// and compares with the recording.
func TestScenarios(t *testing.T) {
	all, err := scenario.LoadAll("scenarios")
	if err != nil {
		t.Fatal(err)
	}
	r := scenario.NewRunner(t)
	kept := &recordings{fresh: map[string][]byte{}}
	t.Cleanup(func() { kept.write(t) }) // once all have been played
	play := func(s *scenario.Scenario, name string, ws bool) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept.compare(t, name, r.Run(t, s, ws))
		})
	}
	for i, s := range all {
		if sampled(i) {
			play(s, s.Name, false)
		}
		if s.Streams() && sampled(i+1) {
			play(s, s.Name+".ws", true)
		}
	}
}

// sampled: under the race detector every second of the runs is played, over HTTP
// here and over WebSocket there. Without it, and with RUBICON_TEST_ALL, all are.
func sampled(i int) bool {
	return !underRace || i%2 == 0 || os.Getenv("RUBICON_TEST_ALL") != ""
}
