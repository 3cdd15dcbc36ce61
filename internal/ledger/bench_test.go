package ledger_test

import (
	"crypto/rand"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"rubicon/internal/ident"
	"rubicon/internal/journal"
	"rubicon/internal/ledger"
	"rubicon/internal/store"
)

// BenchmarkHoldSettle is what a request costs the store: one op that holds and
// begins, and one that settles, books the cost and finishes.
func BenchmarkHoldSettle(b *testing.B) {
	for _, callers := range []int{1, 16, 256} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) { benchmarkHoldSettle(b, callers) })
	}
}

func benchmarkHoldSettle(b *testing.B, callers int) {
	db, err := store.Open(b.Context(), "sqlite:"+filepath.Join(b.TempDir(), "bench.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if err := db.Migrate(b.Context()); err != nil {
		b.Fatal(err)
	}
	ids := ident.New(rand.Reader, time.Now)
	money := ledger.New(db, ids, time.Now)
	requests := journal.New(db, time.Now)
	const customers = 50
	for c := range customers {
		_, err := money.TopUp(b.Context(), ledger.TopUpArgs{Customer: fmt.Sprintf("cus_%026d", c), Amount: 1e17, Reason: "bench", Actor: "bench"})
		if err != nil {
			b.Fatal(err)
		}
	}
	waits := make([][]time.Duration, callers)
	b.ResetTimer()
	before := cpuTime()
	var wg sync.WaitGroup
	for caller := range callers {
		wg.Go(func() {
			for i := caller; i < b.N; i += callers {
				id, customer := ids.ID("req"), fmt.Sprintf("cus_%026d", i%customers)
				r := benchRecord(id, customer)
				start := time.Now()
				begin, err := requests.Prepare(r)
				if err != nil {
					b.Error(err)
					return
				}
				err = db.Write(b.Context(), func(tx *store.Tx) error {
					if err := money.Hold(tx, ledger.HoldArgs{Request: id, Customer: customer, Model: "openai/gpt-5.6-terra", Amount: 40_960_000}); err != nil {
						return err
					}
					return begin.Begin(tx)
				})
				waits[caller] = append(waits[caller], time.Since(start))
				if err != nil {
					b.Error(err)
					return
				}
				benchFinish(&r)
				finish, err := requests.Prepare(r)
				if err != nil {
					b.Error(err)
					return
				}
				err = db.Write(b.Context(), func(tx *store.Tx) error {
					if err := money.Settle(tx, ledger.SettleArgs{Request: id, Customer: customer, Model: "openai/gpt-5.6-terra", Charge: 350_000}); err != nil {
						return err
					}
					if err := money.Cost(tx, ledger.CostArgs{Request: id, Customer: customer, Channel: "openai-main", Amount: 280_000, Attempt: 1}); err != nil {
						return err
					}
					return finish.Finish(tx)
				})
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64((cpuTime()-before).Microseconds())/float64(b.N), "µs-cpu/request")
	all := slices.Concat(waits...)
	slices.Sort(all)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "ms-p50-hold")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "ms-p99-hold")
}

func benchRecord(id, customer string) journal.Record {
	return journal.Record{
		RequestID: id, Outcome: journal.OutcomeRunning, Customer: customer, Key: "key_01", Surface: journal.SurfaceResponsesHTTP, Stream: true,
		PublicModel: "openai/gpt-5.6-terra", PriceVersion: "p1", StartedAt: time.Now(),
		Billing: []byte(`{"input_estimate":1500,"price_version":"p1","bytes_per_token":4.0}`),
	}
}

func benchFinish(r *journal.Record) {
	r.Outcome, r.ResponseID, r.UpstreamModel = journal.OutcomeCompleted, "resp_"+r.RequestID, "gpt-5.6-terra"
	r.Charge = 350_000
	r.Usage = journal.Usage{Input: 10, Output: 5, Source: "reported"}
	r.Attempts = []journal.Attempt{{N: 1, Channel: "openai-main", Credential: "k1", UpstreamModel: "gpt-5.6-terra", Status: 200,
		Outcome: "completed", Verdict: "deliver", Reason: "answered", Events: 12, Bytes: 4096, Cost: 280_000, StartedAt: r.StartedAt, MS: 80}}
	r.Decisions = []journal.Decision{{N: 1, Chosen: "openai-main", Candidates: []journal.Candidate{
		{Channel: "openai-main", State: "closed", Weight: 100, EffectiveWeight: 100}, {Channel: "openai-eu", State: "closed", Weight: 100, EffectiveWeight: 100}}}}
}

// cpuTime is what the process has used: on a busy machine the fairer measure.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
