package meter_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
	"rubicon/internal/books/state"
	"rubicon/internal/engine/billing"
	"rubicon/internal/engine/meter"
	"rubicon/internal/store/cluster"
	"rubicon/internal/store/spool"
	"rubicon/internal/wire/ident"
)

// BenchmarkRequest is what a request costs the database: its hold and the
// beginning of its record before the dispatch, its settlement, costs and final
// record before its end.
func BenchmarkRequest(b *testing.B) {
	for _, callers := range []int{1, 16, 256} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) { benchmarkRequest(b, callers) })
	}
}

const benchCustomers = 50

// BenchmarkPaced is how long requests wait before their dispatch that arrive at
// a rate which the database can keep up with: callers that never pause, as
// above, wait for each other and not for it.
func BenchmarkPaced(b *testing.B) {
	const perSecond = 500
	f, ids := benchBooks(b)
	waits := make([]time.Duration, b.N)
	b.ResetTimer()
	arrive := time.NewTicker(time.Second / perSecond)
	defer arrive.Stop()
	var wg sync.WaitGroup
	for i := range b.N {
		<-arrive.C
		wg.Go(func() {
			start := time.Now()
			opening := benchOpening(ids.ID("req"), benchCustomer(i%benchCustomers), start)
			if err := f.Open(context.Background(), opening); err != nil {
				b.Error(err)
				return
			}
			waits[i] = time.Since(start)
			if err := f.Close(context.Background(), benchClosing(opening.Record)); err != nil {
				b.Error(err)
			}
		})
	}
	wg.Wait()
	reportWaits(b, waits)
}

func reportWaits(b *testing.B, all []time.Duration) {
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "ms-p50-hold")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "ms-p99-hold")
}

func benchBooks(b *testing.B) (*fixture, *ident.Source) {
	f := open(b)
	ids := ident.New(rand.Reader, time.Now)
	node, err := cluster.Join(b.Context(), cluster.Options{DB: f.db, IDs: ids, Log: slog.New(slog.DiscardHandler), Lease: time.Minute})
	if err != nil {
		b.Fatal(err)
	}
	f.Join(node)
	f.Queue(spool.Memory(), slog.New(slog.DiscardHandler), nil)
	for c := range benchCustomers {
		_, err := f.ledger.TopUp(b.Context(), ledger.TopUpArgs{Customer: benchCustomer(c), Amount: 1e17, Reason: "bench", Actor: "bench"})
		if err != nil {
			b.Fatal(err)
		}
	}
	return f, ids
}

func benchmarkRequest(b *testing.B, callers int) {
	f, ids := benchBooks(b)
	waits := make([][]time.Duration, callers)
	b.ResetTimer()
	before := cpuTime()
	var wg sync.WaitGroup
	for caller := range callers {
		wg.Go(func() {
			for i := caller; i < b.N; i += callers {
				id := ids.ID("req")
				start := time.Now()
				opening := benchOpening(id, benchCustomer(i%benchCustomers), start)
				if err := f.Open(context.Background(), opening); err != nil {
					b.Error(err)
					return
				}
				waits[caller] = append(waits[caller], time.Since(start))
				if err := f.Close(context.Background(), benchClosing(opening.Record)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64((cpuTime()-before).Microseconds())/float64(b.N), "µs-cpu/request")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
	reportWaits(b, slices.Concat(waits...))
	if n, _ := f.Waiting(); n > 0 {
		b.Errorf("%d settlements did not reach the database", n)
	}
}

func benchCustomer(n int) string { return fmt.Sprintf("cus_%026d", n) }

func benchOpening(id, customer string, at time.Time) meter.RequestStart {
	return meter.RequestStart{Held: 40_960_000, Billing: meter.Billing{InputEstimate: 1500, BytesPerToken: 4},
		Record: journal.Record{RequestID: id, Outcome: journal.OutcomeRunning, Customer: customer, Key: "key_01", Surface: journal.SurfaceResponsesHTTP,
			Stream: true, PublicModel: "openai/gpt-5.6-terra", PriceVersion: "p1", StartedAt: at, Decisions: benchDecisions()}}
}

func benchDecisions() []journal.Decision {
	return []journal.Decision{{N: 1, Chosen: "openai-main", Candidates: []journal.Candidate{
		{Channel: "openai-main", State: "closed", Weight: 100, EffectiveWeight: 100}, {Channel: "openai-eu", State: "closed", Weight: 100, EffectiveWeight: 100}}}}
}

func benchClosing(r journal.Record) meter.RequestEnd {
	r.Outcome, r.ResponseID, r.UpstreamModel, r.Charge = journal.OutcomeCompleted, "resp_"+r.RequestID, "gpt-5.6-terra", 350_000
	r.Usage = journal.Usage{Input: 10, Output: 5, Source: "reported"}
	r.Attempts = []journal.Attempt{{N: 1, Channel: "openai-main", Credential: "k1", UpstreamModel: "gpt-5.6-terra", Status: 200,
		Outcome: "completed", Verdict: "deliver", Reason: "answered", Events: 12, Bytes: 4096, Cost: 280_000, StartedAt: r.StartedAt, MS: 80}}
	return meter.RequestEnd{Record: r, Reason: "answered",
		Bill: billing.Bill{Charged: true, Charge: 350_000, Usage: r.Usage, Costs: []ledger.CostArgs{
			{Request: r.RequestID, Customer: r.Customer, Channel: "openai-main", Amount: 280_000, Attempt: 1}}},
		State: []state.Entry{{Kind: state.KindResponse, ID: r.ResponseID, Origin: "openai-main/k1", Channel: "openai-main", Tokens: 15}}}
}

// cpuTime is what the process has used: on a busy machine the fairer measure.
// A PostgreSQL server's is not in it.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
