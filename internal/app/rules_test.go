package app

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

// A channel's own rules decide over statuses and over failure events.
func TestChannelRulesDecide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		event := false
		a := &counted{do: func(rw http.ResponseWriter, _ *http.Request) {
			if event {
				stream(rw, 0, created, strings.Replace(shed, "server_is_overloaded", "HOUSE_LIMIT", 1))
				return
			}
			refuse(rw, 418, "house_error", "HOUSE_LIMIT")
		}}
		b := &counted{do: good}
		w.upstream("a.example", a)
		w.upstream("b.example", b)
		rules := strings.Replace(twoChannels, "credentials: [{name: k1, key: canary-a}]", "credentials: [{name: k1, key: canary-a}], rules: [{code: house_limit, class: rate_limited}]", 1)
		w.configure(rules + modelAB)
		w.start()
		w.customer()
		if got := w.ask(t.Context()); !got.ok() || a.count() != 1 || b.count() != 1 {
			t.Fatalf("%+v, calls %d and %d", got, a.count(), b.count())
		}
		if got := w.channel("a"); got["state"] != "cooling" {
			t.Errorf("a is %v", got)
		}
		if got := w.metric(`rubicon_attempts_total{channel="a",class="rate_limited"}`); got != "1" {
			t.Errorf("attempts %q", got)
		}

		cooled(t, w)
		event = true
		if got := w.ask(t.Context()); !got.ok() || a.count() != 2 || strings.Contains(got.body, "HOUSE_LIMIT") {
			t.Fatalf("%+v, calls %d", got, a.count())
		}
		if got := w.metric(`rubicon_verdicts_total{reason="replay_failed_event",verdict="replay"}`); got != "1" {
			t.Errorf("verdicts %q", got)
		}
		if got := w.channel("a"); got["state"] != "cooling" || got["consecutive_failures"] != 0.0 {
			t.Errorf("a is %v", got)
		}
	})
}
