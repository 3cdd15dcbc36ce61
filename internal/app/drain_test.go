package app

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// While a request runs on, others are told that the gateway goes; it ends as soon
// as nothing runs any more, long before the grace time.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := limitedWorld(t, func(w http.ResponseWriter, r *http.Request) {
			stream(w, 2*time.Second, created, delta, completed)
		}, "timers: {shutdown_grace: 60s}\n", map[string]any{})
		running, ended := make(chan reply, 1), make(chan time.Duration, 1)
		go func() { running <- w.ask(t.Context()) }()
		time.Sleep(time.Second)
		began, stop := time.Now(), w.stop
		go func() { stop(); ended <- time.Since(began) }()
		time.Sleep(time.Second)
		r := w.refused(503, "shutting_down")
		if r.header.Get("Retry-After") == "" || r.header.Get("X-Should-Retry") != "true" {
			t.Errorf("headers %v", r.header)
		}
		for path, status := range map[string]int{"/readyz": 503, "/healthz": 200} {
			res, err := w.http.Get("http://127.0.0.1:8080" + path)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if res.StatusCode != status {
				t.Errorf("%s: %d, want %d", path, res.StatusCode, status)
			}
		}
		if r := <-running; !r.ok() {
			t.Errorf("the running one: %d %v %s", r.status, r.err, r.body)
		}
		if took := <-ended; took > 10*time.Second {
			t.Errorf("ended after %s", took)
		}
		w.stop = nil
		if !strings.Contains(w.log.String(), "stopped") {
			t.Error("not stopped")
		}
	})
}
