package lock

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rubicon/lock/difference"
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
	play := func(s *scenario.Scenario, name string, ws bool) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compare(t, name, r.Run(t, s, ws))
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

// compare holds a recording against the one that is kept.
func compare(t *testing.T, name string, got []byte) {
	t.Helper()
	if got == nil {
		return // it could not be played; that was reported
	}
	path := filepath.Join("recordings", name+".json")
	want, err := os.ReadFile(path)
	if *update {
		if t.Failed() {
			t.Logf("not recorded: %s", path)
			return
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err != nil {
		t.Errorf("no recording: look at the run with -update, then read what was written (%v)", err)
		return
	}
	if !bytes.Equal(want, got) {
		t.Errorf("the behaviour is not the recorded one (- recorded, + now):\n%s", strings.Join(difference.Of(want, got), "\n"))
	}
}
