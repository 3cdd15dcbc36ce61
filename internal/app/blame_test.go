package app

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// many is how often a client may misbehave without anything happening to a channel.
func many() int {
	if underRace {
		return 500
	}
	return 5000
}

// atOnce lets clients ask side by side until many requests were made.
func atOnce(ask func()) {
	const clients = 50
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for range many() / clients {
				ask()
			}
		})
	}
	wg.Wait()
}

// unharmed checks that nothing that happened was held against a channel.
func (w *world) unharmed() {
	w.t.Helper()
	for _, name := range []string{"a", "b"} {
		if c := w.channel(name); c["state"] != "closed" || c["consecutive_failures"] != 0.0 || c["effective_weight"] != c["weight"] {
			w.t.Errorf("%s: %v", name, c)
		}
	}
	_, out := w.admin("GET", "/metrics", nil)
	for line := range strings.Lines(fmt.Sprint(out["text"])) {
		if strings.HasPrefix(line, "rubicon_breaker_transitions_total{") || strings.HasPrefix(line, "rubicon_cooldowns_total{") {
			w.t.Error(line)
		}
	}
}

// Clients that leave decide nothing about a channel: before its status, while
// lifecycle events are held, and after output.
func TestClientsThatLeave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var mu sync.Mutex
		calls := 0
		stalling := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			mu.Lock()
			calls++
			phase := calls % 3
			mu.Unlock()
			switch phase {
			case 1:
				stream(rw, 0, created)
			case 2:
				stream(rw, 0, created, delta)
			}
			<-r.Context().Done()
		})
		w.upstream("a.example", stalling)
		w.upstream("b.example", stalling)
		w.configure(twoChannels + strings.Replace(modelAB, ", priority: 1", "", 1))
		w.start()
		w.customer()
		atOnce(func() {
			ctx, leave := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer leave()
			if got := w.ask(ctx); got.err == nil {
				t.Errorf("an answer: %+v", got)
			}
		})
		time.Sleep(time.Second)
		w.unharmed()
		gone := 0
		for _, name := range []string{"a", "b"} {
			var n int
			_, _ = fmt.Sscan(w.metric(`rubicon_attempts_total{channel="`+name+`",class="client_gone"}`), &n)
			gone += n
		}
		if gone != many() {
			t.Errorf("%d attempts ended because the client left", gone)
		}
	})
}

// Callers' mistakes decide nothing about a channel either.
func TestCallersMistakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var mu sync.Mutex
		calls := 0
		wrong := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			mu.Lock()
			calls++
			status := []int{400, 413, 415, 422, 404, 403, 409}[calls%7]
			mu.Unlock()
			refuse(rw, status, "invalid_request_error", "invalid_value")
		})
		w.upstream("a.example", wrong)
		w.upstream("b.example", wrong)
		w.configure(twoChannels + strings.Replace(modelAB, ", priority: 1", "", 1))
		w.start()
		w.customer()
		atOnce(func() {
			if got := w.ask(t.Context()); got.status/100 != 4 {
				t.Errorf("%+v", got)
			}
		})
		w.unharmed()
		if calls != many() {
			t.Errorf("%d upstream calls for %d mistakes", calls, many())
		}
	})
}

// Of two credentials one is refused by upstream: exactly one customer's request
// meets it, and it comes back without customers' help.
func TestOneRequestMeetsARefusedCredential(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var mu sync.Mutex
		met, checks, right := 0, 0, false
		w.upstream("a.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			mu.Lock()
			defer mu.Unlock()
			if r.Header.Get("Authorization") == "Bearer canary-2" {
				if r.Method == "GET" {
					checks++
				}
				if !right {
					if r.Method == "POST" {
						met++
					}
					refuse(rw, 401, "authentication_error", "invalid_api_key")
					return
				}
			}
			if r.Method == "GET" {
				rw.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(rw, `{"object":"list","data":[]}`)
				return
			}
			good(rw, r)
		}))
		w.configure(`
channels: [{name: a, protocol: responses, base_url: "http://a.example/v1", credentials: [{name: k1, key: canary-1}, {name: k2, key: canary-2}]}]
models: [{name: m, price: {input: "10", output: "50"}, channels: [{channel: a}]}]
`)
		w.start()
		w.customer()
		refused := 0
		for range 120 { // an hour
			if got := w.ask(t.Context()); !got.ok() {
				refused++
				if got.status != 502 || !strings.Contains(got.body, `"upstream_auth"`) {
					t.Errorf("%+v", got)
				}
			}
			time.Sleep(30 * time.Second)
		}
		mu.Lock()
		if met != 1 || refused != 1 || checks < 5 || checks > 6 {
			t.Errorf("met by %d requests, %d refused, %d re-checks", met, refused, checks)
		}
		right = true
		mu.Unlock()
		if c := w.channel("a"); c["state"] != "closed" || c["consecutive_failures"] != 0.0 {
			t.Errorf("the channel: %v", c)
		}
		time.Sleep(11 * time.Minute)
		keys := fmt.Sprint(w.channel("a")["credentials"])
		if strings.Contains(keys, "disabled") {
			t.Errorf("after a re-check: %s", keys)
		}
		_, alerts := w.admin("GET", "/admin/v1/alerts", nil)
		text := fmt.Sprint(alerts)
		if !strings.Contains(text, "kind:credential_disabled") || !strings.Contains(text, "kind:credential_enabled") || strings.Contains(text, "firing") {
			t.Errorf("alerts: %s", text)
		}
	})
}
