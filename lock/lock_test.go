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
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			compare(t, s.Name, r.Run(t, s, false))
		})
		if s.Streams() {
			t.Run(s.Name+".ws", func(t *testing.T) {
				t.Parallel()
				compare(t, s.Name+".ws", r.Run(t, s, true))
			})
		}
	}
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
