package billing_test

import (
	"math"
	"testing"

	"rubicon/internal/engine/billing"
	"rubicon/internal/wire/protocol"
)

func TestEstimatedTokensRoundUp(t *testing.T) {
	for _, c := range []struct {
		bytes    int64
		perToken float64
		want     int64
	}{{0, 4, 0}, {1, 4, 1}, {4, 4, 1}, {5, 4, 2}, {10, 3.5, 3}, {11, 3.5, 4}, {8, 0, 2}, {8, -1, 2}} {
		u := billing.Estimate(billing.Input{BytesPerToken: c.perToken}, &protocol.Observed{TextBytes: c.bytes})
		if u.Output != c.want {
			t.Errorf("%d bytes of %g per token are %d tokens, want %d", c.bytes, c.perToken, u.Output, c.want)
		}
	}
}

func TestLearner(t *testing.T) {
	l := billing.NewLearner()
	if r := l.BytesPerToken("a"); r != 4 {
		t.Errorf("an unknown model has %g", r)
	}
	for n, want := range []float64{3.5, 10.0 / 3, 3.25} { // the mean, with the 4 of the beginning
		if l.Learn("a", 300, 100); math.Abs(l.BytesPerToken("a")-want) > 0.001 {
			t.Errorf("after %d answers of 3 bytes per token: %g, want %g", n+1, l.BytesPerToken("a"), want)
		}
	}
	for range 200 {
		l.Learn("a", 300, 100)
	}
	if r := l.BytesPerToken("a"); math.Abs(r-3) > 0.01 {
		t.Errorf("after many answers of 3 bytes per token: %g", r)
	}
	before := l.BytesPerToken("a")
	l.Learn("a", 300, 15)      // too short
	l.Learn("a", 0, 100)       // no text
	l.Learn("a", 50, 100)      // hidden reasoning
	l.Learn("a", 100_000, 100) // counts that cannot be
	l.Learn("a", 100, -100)    // nor these
	if after := l.BytesPerToken("a"); after != before {
		t.Errorf("moved from %g to %g by what teaches nothing", before, after)
	}
	for range 40 { // what it has learned does not make it deaf
		l.Learn("a", 500, 100)
	}
	if r := l.BytesPerToken("a"); r < 4.5 {
		t.Errorf("after many answers of 5 bytes per token: %g", r)
	}
	if l.Learn("b", 500, 100); l.BytesPerToken("b") <= 4 || l.BytesPerToken("c") != 4 {
		t.Error("models are not kept apart")
	}
}

func TestMeanOutput(t *testing.T) {
	l := billing.NewLearner()
	if n := l.MeanOutput("m"); n != 256 {
		t.Errorf("of a new model %d are assumed", n)
	}
	for n, want := range []int64{178, 152, 139} { // the mean, with the 256 of the beginning, rounded up
		if l.LearnOutput("m", 100, 1); l.MeanOutput("m") != want {
			t.Errorf("after %d answers of 100 tokens: %d, want %d", n+1, l.MeanOutput("m"), want)
		}
	}
	for range 200 {
		l.LearnOutput("m", 3000, 3) // a thousand a choice
	}
	if n := l.MeanOutput("m"); n < 990 || n > 1000 {
		t.Errorf("after many answers of 1000 tokens: %d", n)
	}
	if l.MeanOutput("other") != 256 {
		t.Error("models are not kept apart")
	}
}
