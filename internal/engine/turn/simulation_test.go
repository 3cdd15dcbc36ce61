package turn

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rubicon/internal/engine/upstream"
)

var update = flag.Bool("update", false, "write internal/lab/docgen/simulation.md")

// storms are the rows of the table, each with the shares that failed on one and
// on two channels under the rules before these: cooldowns of 5 s, no waiting, any
// five failures in a row opening a breaker, for 30 s and doubling. They were
// measured by this very test.
var storms = []struct {
	what    string
	failure upstream.Failure
	percent int
	before  [2]float64
}{
	{"429", rejected, 1, [2]float64{82.43, 55.34}},
	{"429", rejected, 4, [2]float64{93.49, 85.50}},
	{"429", rejected, 10, [2]float64{97.43, 93.79}},
	{"429 with `Retry-After: 1`", rejectedFor, 1, [2]float64{41.98, 5.24}},
	{"429 with `Retry-After: 1`", rejectedFor, 4, [2]float64{72.56, 39.19}},
	{"429 with `Retry-After: 1`", rejectedFor, 10, [2]float64{85.68, 68.88}},
	{"500", serverError, 10, [2]float64{10.19, 0.93}},
	{"500", serverError, 25, [2]float64{97.61, 90.09}},
	{"500", serverError, 40, [2]float64{99.92, 99.85}},
	{"500", serverError, 60, [2]float64{99.99, 99.98}},
}

// weathered runs the clients for ten minutes and gives the share that failed.
func weathered(t *testing.T, channels, percent int, failure upstream.Failure) (share float64) {
	synctest.Test(t, func(t *testing.T) {
		s := newStorm(t, channels, some(10*percent, failure))
		s.run(10 * time.Minute)
		share = s.share()
	})
	return share
}

// TestSimulation: what must hold, whatever else the table says. With -update it
// writes the table.
func TestSimulation(t *testing.T) {
	for _, row := range []struct {
		failure           upstream.Failure
		channels, percent int
		most              float64 // percent of the requests that fail
	}{
		{rejected, 1, 1, 1.5},
		{rejected, 2, 1, 0.1},
		{rejectedFor, 2, 1, 0.1},
		{rejected, 2, 10, 2},
		{serverError, 2, 25, 7},
		{serverError, 2, 40, 20},
	} {
		if got := weathered(t, row.channels, row.percent, row.failure); got >= row.most {
			t.Errorf("%d channels with %d %% of %d: %.2f %% of the requests fail, want less than %v %%", row.channels, row.percent, row.failure.Status, got, row.most)
		}
	}
	if !*update {
		return
	}
	var b strings.Builder
	b.WriteString("| each attempt fails with | one channel, before | one channel | two channels, before | two channels |\n|---|---|---|---|---|\n")
	for _, row := range storms {
		fmt.Fprintf(&b, "| %s, %d %% | %s | %s | %s | %s |\n", row.what, row.percent,
			percents(row.before[0]), percents(weathered(t, 1, row.percent, row.failure)), percents(row.before[1]), percents(weathered(t, 2, row.percent, row.failure)))
	}
	if err := os.WriteFile(filepath.Join("..", "docgen", "simulation.md"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// percents shows a share as finely as its size deserves.
func percents(share float64) string {
	if share < 1 {
		return fmt.Sprintf("%.2f %%", share)
	}
	return fmt.Sprintf("%.0f %%", share)
}

// down is a channel that is away between two moments, and well otherwise.
func down(channel string, from, to time.Duration) weather {
	return func(c string, since time.Duration, _ *rand.Rand) *upstream.Failure {
		if c != channel || since < from || since >= to {
			return nil
		}
		f := serverError
		return &f
	}
}

// TestADeadChannel: once its breaker is open it costs at most six probes a
// minute, and it is used again within 15 s of being well.
func TestADeadChannel(t *testing.T) {
	for _, tt := range []struct {
		outage, back time.Duration
	}{
		{10 * time.Second, 15 * time.Second}, {48 * time.Second, 15 * time.Second}, {time.Minute, 15 * time.Second}, {110 * time.Second, 15 * time.Second},
		{10 * time.Minute, 35 * time.Second}, // probes are 30 s apart by then
	} {
		synctest.Test(t, func(t *testing.T) {
			const from = time.Minute
			s := newStorm(t, 2, down("a", from, from+tt.outage))
			s.run(from + tt.outage + tt.back + time.Minute)
			if s.failed > 0 {
				t.Errorf("away for %s: %d of %d requests failed, and b was well", tt.outage, s.failed, s.requests)
			}
			if probes := s.mostProbes("a", from, from+tt.outage); probes > 6 {
				t.Errorf("away for %s: %d probes in a minute", tt.outage, probes)
			}
			if used := s.okCalls("a", from+tt.outage+tt.back); used < 100 {
				t.Errorf("away for %s: %d good answers in the minute that begins %s after it was well", tt.outage, used, tt.back)
			}
		})
	}
}

// opened is how long a busy channel may fail until its breaker is open: a row of
// twenty, which those under way make longer.
const opened = 5 * time.Second

// mostProbes is the most calls in any minute of an outage, once it is known.
func (s *storm) mostProbes(channel string, from, to time.Duration) (most int) {
	var calls []time.Duration
	for _, c := range s.calls {
		if c.channel == channel && c.at >= from+opened && c.at < to {
			calls = append(calls, c.at)
		}
	}
	for i := range calls {
		n := 0
		for _, at := range calls[i:] {
			if at-calls[i] < time.Minute {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// okCalls is how many attempts a channel answers in the minute from then on.
func (s *storm) okCalls(channel string, from time.Duration) (n int) {
	for _, c := range s.calls {
		if c.channel == channel && c.ok && c.at >= from && c.at < from+time.Minute {
			n++
		}
	}
	return n
}
