package billing_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/books/ledger"
	"rubicon/internal/engine/billing"
	"rubicon/internal/money/price"
	"rubicon/internal/wire/protocol"
)

// TestImplausibleUsage: beyond what the request can have used nobody is charged
// for it. The bounds themselves are believed.
func TestImplausibleUsage(t *testing.T) {
	usage := func(in, out int64) *protocol.Observed {
		return &protocol.Observed{Reported: true, Usage: price.Usage{Input: in, Output: out}, TextBytes: 40}
	}
	cached := usage(0, 1)
	cached.Usage.CachedInput, cached.Usage.CacheWrite = 2_000, 301
	searched := usage(200_000, 1)
	searched.Ran = true
	far := usage(10_002_301, 1)
	far.Ran = true
	plain := billing.Bounds{Body: 300}
	for _, c := range []struct {
		name     string
		bounds   billing.Bounds
		seen     *protocol.Observed
		believed bool
	}{
		{"as usual", plain, usage(60, 10), true},
		{"a token a byte, and what providers add", plain, usage(2_300, 10), true},
		{"one more", plain, usage(2_301, 10), false},
		{"one more, in caches", plain, cached, false},
		{"images and files", billing.Bounds{Body: 300, Attachments: 2}, usage(22_300, 10), true},
		{"images and files, one more", billing.Bounds{Body: 300, Attachments: 2}, usage(22_301, 10), false},
		{"a stored parent", billing.Bounds{Body: 300, Parent: 5_000}, usage(7_300, 10), true},
		{"a stored parent, one more", billing.Bounds{Body: 300, Parent: 5_000}, usage(7_301, 10), false},
		{"what a tool found is input", plain, searched, true},
		{"whatever it found", plain, far, false},
		{"state at the provider", billing.Bounds{Body: 300, Elsewhere: true}, usage(200_000, 10), true},
		{"twice the maximum, and hidden reasoning", billing.Bounds{Body: 300, Maximum: 16}, usage(60, 100_032), true},
		{"one more than that", billing.Bounds{Body: 300, Maximum: 16}, usage(60, 100_033), false},
		{"the most of an int32", billing.Bounds{Body: 300, Maximum: 16}, usage(60, 1<<31-1), false},
		{"without a maximum: what was delivered", plain, usage(60, 100_040), true},
		{"without a maximum, one more", plain, usage(60, 100_041), false},
		{"nothing is known of the request", billing.Bounds{}, usage(1<<31, 1<<31), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := func(r *billing.Input) { r.Bounds, r.Held = c.bounds, 1_000*usd }
			b := bill(t, c.seen, set)
			if believed := b.Usage.Source == "reported"; believed != c.believed || believed != (len(b.Anomalies) == 0) {
				t.Fatalf("%+v, anomalies %v", b.Usage, b.Anomalies)
			}
			if !c.believed {
				expectUsage(t, b, 1_500_000, "estimated", "usage_anomaly")
			}
		})
	}
}

// TestAnImplausibleLostAttempt costs its estimate, and the operator is told.
func TestAnImplausibleLostAttempt(t *testing.T) {
	s := seen()
	s.Usage.Output = 1<<31 - 1
	c := request(billing.ReceivedAnswer, attempt(1, s, true, "replay_read_error"), attempt(2, seen(), true, "answered"))
	c.Bounds = billing.Bounds{Body: 300}
	b, err := billing.Make(c)
	if err != nil {
		t.Fatal(err)
	}
	expectUsage(t, b, 350_000, "reported")
	if diff := cmp.Diff([]ledger.CostArgs{absorbed(1, 500_000, "replay_read_error"), cost(2, 175_000)}, b.Costs); diff != "" {
		t.Error(diff)
	}
	want := "attempt 1: upstream reported 10 input and 2147483647 output tokens, which cannot be; an estimate counts instead"
	if len(b.Anomalies) != 1 || b.Anomalies[0].String() != want || b.Anomalies[0].Channel != "ch" {
		t.Errorf("%v", b.Anomalies)
	}
}

// TestAnImplausibleOpening replaces no estimate.
func TestAnImplausibleOpening(t *testing.T) {
	s := silent()
	s.OpeningUsage, s.Usage.Input = true, 5_000
	b := bill(t, s, func(c *billing.Input) { c.Bounds = billing.Bounds{Body: 300} })
	expectUsage(t, b, 1_250_000, "estimated", "usage_anomaly")
}
