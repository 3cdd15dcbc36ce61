package app

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rubicon/internal/store"
)

// limitedWorld is a world whose only channel answers well, with a key of the
// given limits.
func limitedWorld(t *testing.T, h http.HandlerFunc, config string, limits map[string]any) (w *world, customer string) {
	w = newWorld(t)
	w.upstream("a.example", h)
	w.configure(config + `
channels: [{name: a, protocol: responses, base_url: "http://a.example/v1", credentials: [{name: k1, key: canary-a}]}]
models: [{name: m, price: {input: "10", output: "50"}, hold_output_tokens: 100, channels: [{channel: a}]}]
`)
	w.start()
	customer = w.customer()
	limits["name"] = "limited"
	_, key := w.admin("POST", "/admin/v1/customers/"+customer+"/keys", limits)
	w.key = key["key"].(string)
	return w, customer
}

func (w *world) good(n int) {
	w.t.Helper()
	for i := range n {
		if r := w.ask(w.t.Context()); !r.ok() {
			w.t.Fatalf("request %d of %d: status %d, %v, %s", i+1, n, r.status, r.err, r.body)
		}
	}
}

func (w *world) refused(status int, code string) reply {
	w.t.Helper()
	r := w.ask(w.t.Context())
	if r.status != status || !strings.Contains(r.body, `"code":"`+code+`"`) {
		w.t.Fatalf("status %d, %s; want %d %s", r.status, r.body, status, code)
	}
	return r
}

func TestRequestsComeBackWithTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := limitedWorld(t, good, "", map[string]any{"rpm": 6})
		w.good(6)
		r := w.refused(429, "rate_limit_exceeded")
		if r.header.Get("Retry-After") != "10" || r.header.Get("X-Ratelimit-Reset-Requests") != "1m0s" {
			t.Errorf("headers %v", r.header)
		}
		time.Sleep(10 * time.Second)
		w.good(1)
		w.refused(429, "rate_limit_exceeded")
		time.Sleep(150 * time.Second) // not the two minutes after which the server closes an idle connection
		w.good(6)
		w.refused(429, "rate_limit_exceeded")
	})
}

func TestTokensComeBackWithTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Each is let in by its input, some 25, and what answers are expected to
		// have, 100 at first and ever less; and uses 15.
		w, _ := limitedWorld(t, good, "", map[string]any{"tpm": 150})
		w.good(7)
		w.refused(429, "rate_limit_exceeded")
		time.Sleep(time.Minute)
		w.good(8)
		w.refused(429, "rate_limit_exceeded")
	})
}

// Budgets begin anew at midnight, UTC. The bubble's time begins there; periods
// longer than a day are proven on the ledger.
func TestBudgetsBeginAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// A hold is some 0.0052, a charge 0.00035: two fit, a third does not.
		w, _ := limitedWorld(t, good, "", map[string]any{"budget": map[string]any{"amount": "0.0058", "period": "day"}})
		time.Sleep(20 * time.Hour)
		w.good(2)
		r := w.refused(402, "key_budget_exceeded")
		if !strings.Contains(r.body, `"spent":"0.000700000"`) || !strings.Contains(r.body, `"resets_at":"2000-01-02T00:00:00Z"`) {
			t.Errorf("%s", r.body)
		}
		midnight := time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC)
		time.Sleep(time.Until(midnight) - time.Second)
		w.refused(402, "key_budget_exceeded")
		time.Sleep(time.Second)
		w.good(2)
		w.refused(402, "key_budget_exceeded")
	})
}

// What is read for nobody is bounded in time.
func TestDrainEnds(t *testing.T) {
	for name, c := range map[string]struct {
		silence time.Duration
		source  string
	}{"in time": {time.Minute, "reported"}, "too late": {3 * time.Minute, "estimated"}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gone := make(chan time.Duration, 1)
				w, customer := limitedWorld(t, func(rw http.ResponseWriter, r *http.Request) {
					begun := time.Now()
					defer func() { gone <- time.Since(begun) }()
					stream(rw, 0, created, delta)
					select {
					case <-time.After(c.silence):
						stream(rw, 0, delta, completed)
					case <-r.Context().Done():
					}
				}, "on_disconnect: drain", map[string]any{"concurrency": 1})
				w.abort(t.Context())
				synctest.Wait()
				w.refused(429, "concurrency_limit") // the place is taken as long as it is read
				if took := <-gone; took > 2*time.Minute+time.Second {
					t.Errorf("it was read for %s", took)
				}
				time.Sleep(2 * time.Second)
				_, out := w.admin("GET", "/admin/v1/requests?outcome=cancelled&customer="+customer, nil)
				got := out["requests"].([]any)[0].(map[string]any)
				if source := got["usage"].(map[string]any)["source"]; source != c.source || got["charge"] == "0.000000000" {
					t.Errorf("%v from %s usage", got["charge"], source)
				}
				_, b := w.admin("GET", "/admin/v1/customers/"+customer+"/balance", nil)
				if b["held"] != "0.000000000" {
					t.Errorf("%s is held", b["held"])
				}
			})
		})
	}
}

// A recorded answer is given for a day, also by the next run of the gateway.
func TestAnswersAreKeptForADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := &counted{do: good}
		w, _ := limitedWorld(t, calls.ServeHTTP, "", map[string]any{})
		once := func(key string) reply {
			req, _ := http.NewRequestWithContext(t.Context(), "POST", "http://127.0.0.1:8080/v1/responses", strings.NewReader(`{"model":"m","input":"hi","stream":true,"store":false}`))
			req.Header.Set("Authorization", "Bearer "+w.key)
			req.Header.Set("Idempotency-Key", key)
			res, err := w.http.Do(req)
			if err != nil {
				return reply{err: err}
			}
			defer res.Body.Close()
			raw, err := io.ReadAll(res.Body)
			return reply{status: res.StatusCode, header: res.Header, body: string(raw), err: err}
		}
		first := once("k")
		if !first.ok() {
			t.Fatalf("%+v", first)
		}
		time.Sleep(23 * time.Hour)
		w.stop()
		w.start()
		if again := once("k"); again.body != first.body || again.header.Get("X-Request-Id") != first.header.Get("X-Request-Id") || again.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("after a restart: %+v", again)
		}
		time.Sleep(time.Hour)
		if later := once("k"); !later.ok() || later.header.Get("Idempotent-Replayed") != "" {
			t.Errorf("a day later: %+v", later)
		}
		if n := calls.count(); n != 2 {
			t.Errorf("%d calls", n)
		}
		time.Sleep(25 * time.Hour)
		var rows int
		if err := countAnswers(t.Context(), w, &rows); err != nil || rows != 0 {
			t.Errorf("%d answers are still kept, %v", rows, err)
		}
	})
}

func countAnswers(ctx context.Context, w *world, rows *int) error {
	return w.app.db.Read(ctx, func(q *store.Query) error { return q.QueryRow(`SELECT COUNT(*) FROM idempotency_answers`, nil, rows) })
}
