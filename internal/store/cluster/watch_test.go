package cluster

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const (
	testLease = 15 * time.Second
	testGap   = testLease / 2
)

// lookCase is one look at the database: after so long, with those beats.
type lookCase struct {
	after     time.Duration
	beats     map[string]int64
	readFails bool // the database could not be looked at before
	want      []string
}

func TestWatch(t *testing.T) {
	still := map[string]int64{"a": 1}
	for name, glances := range map[string][]lookCase{
		"a node that beats": {{0, still, false, nil}, {5 * time.Second, map[string]int64{"a": 2}, false, nil},
			{5 * time.Second, map[string]int64{"a": 3}, false, nil}, {5 * time.Second, map[string]int64{"a": 4}, false, nil}},
		"one that does not": {{0, still, false, nil}, {5 * time.Second, still, false, nil}, {5 * time.Second, still, false, nil},
			{5 * time.Second, still, false, []string{"a"}}, {5 * time.Second, still, false, []string{"a"}}},
		"a beat at the last moment": {{0, still, false, nil}, {5 * time.Second, still, false, nil}, {5 * time.Second, still, false, nil},
			{4 * time.Second, map[string]int64{"a": 2}, false, nil}, {5 * time.Second, map[string]int64{"a": 2}, false, nil}},
		"a watcher that could not look": {{0, still, false, nil}, {5 * time.Second, still, false, nil}, {5 * time.Second, still, true, nil},
			{5 * time.Second, still, false, nil}, {5 * time.Second, still, false, nil}, {5 * time.Second, still, false, []string{"a"}}},
		"a watcher that slept": {{0, still, false, nil}, {time.Hour, still, false, nil}, {5 * time.Second, still, false, nil},
			{5 * time.Second, still, false, nil}, {5 * time.Second, still, false, []string{"a"}}},
		"several": {{0, map[string]int64{"b": 1, "a": 1, "c": 1}, false, nil}, {5 * time.Second, map[string]int64{"b": 1, "a": 1, "c": 2}, false, nil},
			{5 * time.Second, map[string]int64{"b": 1, "a": 1, "d": 1}, false, nil},
			{5 * time.Second, map[string]int64{"b": 1, "a": 1, "d": 1}, false, []string{"a", "b"}}},
		"a name that comes back": {{0, still, false, nil}, {7 * time.Second, nil, false, nil}, {7 * time.Second, still, false, nil}, {7 * time.Second, still, false, nil}},
	} {
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		var w watch
		for i, g := range glances {
			now = now.Add(g.after)
			if g.readFails {
				w.reset()
			}
			if diff := cmp.Diff(g.want, w.update(now, g.beats, testLease, testGap)); diff != "" {
				t.Errorf("%s, look %d: %s", name, i, diff)
			}
		}
	}
}

// TestWatchNeverBuriesTheLiving: a node that beats at least once in a lease
// while the database can be reached is never taken for dead, whatever happens
// to the watcher and the database.
func TestWatchNeverBuriesTheLiving(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		var w watch
		beat, silent := int64(0), time.Duration(0)
		for range 200 {
			step := time.Duration(rapid.IntRange(1, 7000).Draw(rt, "ms")) * time.Millisecond
			now = now.Add(step)
			if rapid.IntRange(0, 20).Draw(rt, "outage") == 0 {
				now = now.Add(time.Hour) // for both
				w.reset()
				silent = 0
			}
			if silent += step; silent >= testLease-time.Second || rapid.Bool().Draw(rt, "beats") {
				beat++
				silent = 0
			}
			if dead := w.update(now, map[string]int64{"a": beat}, testLease, testGap); len(dead) > 0 {
				rt.Fatalf("%v taken for dead, silent for %s", dead, silent)
			}
		}
	})
}
