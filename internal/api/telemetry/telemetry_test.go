package telemetry

import (
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"rubicon/internal/books/journal"
	"rubicon/internal/health"
)

// scrape reads the metrics as Prometheus does.
func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	text, err := io.ReadAll(w.Body)
	if err != nil || w.Code != 200 {
		t.Fatal(w.Code, err)
	}
	return string(text)
}

func want(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(text, "\n"+line+"\n") {
			name, _, _ := strings.Cut(line, "{")
			t.Errorf("missing %s\nhave:", line)
			for have := range strings.SplitSeq(text, "\n") {
				if strings.HasPrefix(have, name) {
					t.Log(have)
				}
			}
		}
	}
}

func gateway() *Metrics {
	return New(Options{Version: "v1", Known: func(m string) bool { return m == "m" },
		Channels: func() []Channel {
			return []Channel{{Name: "a", PublicModel: "m", State: health.StateCooling, Weight: 100, EffectiveWeight: 50, ConsecutiveFailures: 2,
				Credentials: []Credential{{"k1", health.StateCooling}}}}
		},
		Waiting: func() (int64, error) { return 3, nil }})
}

func replayed() *journal.Record {
	return &journal.Record{Customer: "cus_secret", Key: "key_secret", RequestID: "req_secret", Surface: journal.SurfaceResponsesHTTP, Stream: true,
		PublicModel: "m", Outcome: journal.OutcomeCompleted, Charge: 350_000,
		Usage: journal.Usage{Input: 10, Output: 5},
		Lines: []journal.Line{{Class: "input"}},
		Times: journal.Times{EventHold: 30, FirstOutput: 400, Total: 700},
		Attempts: []journal.Attempt{
			{N: 1, Channel: "a", Failure: "failed_event", Verdict: "replay", Reason: "replay_failed_event", Cost: 75_000},
			{N: 2, Channel: "b", Verdict: "deliver", Reason: "answered", Cost: 200_000},
		}}
}

func TestARequestIsCounted(t *testing.T) {
	m := gateway()
	ended := m.Started(journal.SurfaceResponsesHTTP)
	want(t, scrape(t, m), `rubicon_requests_running{surface="responses.http"} 1`)
	m.Finished(replayed())
	ended()
	text := scrape(t, m)
	want(t, text,
		`rubicon_requests_running{surface="responses.http"} 0`,
		`rubicon_requests_total{model="m",outcome="completed",surface="responses.http"} 1`,
		`rubicon_attempts_total{channel="a",class="failed_event"} 1`,
		`rubicon_attempts_total{channel="b",class="answered"} 1`,
		`rubicon_verdicts_total{reason="replay_failed_event",verdict="replay"} 1`,
		`rubicon_verdicts_total{reason="answered",verdict="deliver"} 1`,
		`rubicon_replays_saved_total{model="m"} 1`,
		`rubicon_event_hold_seconds_bucket{surface="responses.http",le="0.05"} 1`,
		`rubicon_event_hold_seconds_bucket{surface="responses.http",le="0.025"} 0`,
		`rubicon_first_output_seconds_sum{model="m"} 0.4`,
		`rubicon_charged_usd_total{model="m"} 0.00035`,
		`rubicon_cost_usd_total{channel="b"} 0.0002`,
		`rubicon_absorbed_usd_total{channel="a",reason="replay_failed_event"} 7.5e-05`,
		`rubicon_tokens_total{class="output",model="m"} 5`,
	)
	if strings.Contains(text, "secret") {
		t.Error("an id of a customer, key or request is a label")
	}
}

// What a client sends never makes a series.
func TestLabelsAreBounded(t *testing.T) {
	m := gateway()
	for _, model := range []string{"no-such-1", "no-such-2"} {
		m.Finished(&journal.Record{Surface: journal.SurfaceChat, PublicModel: model, Outcome: journal.OutcomeRejected,
			Error: &journal.Error{Code: "model_not_found"}})
	}
	m.Finished(&journal.Record{Surface: journal.SurfaceChat, PublicModel: "m", Outcome: journal.OutcomeFailed, Error: &journal.Error{Code: "whatever upstream says"}})
	text := scrape(t, m)
	want(t, text, `rubicon_requests_total{model="other",outcome="rejected",surface="chat"} 2`,
		`rubicon_request_errors_total{code="model_not_found"} 2`, `rubicon_request_errors_total{code="upstream"} 1`)
	if strings.Contains(text, "no-such") || strings.Contains(text, "whatever") {
		t.Error("a client's or provider's words are a label")
	}
}

func TestWhatASwitchSavedAndWhatNothingSaved(t *testing.T) {
	m := gateway()
	r := replayed()
	r.Attempts[0].Verdict, r.Attempts[0].Reason = "switch", "switch_connect"
	m.Finished(r)
	r = replayed() // the replacement failed: nothing was saved, all of it is the operator's
	r.Outcome, r.Charge, r.Lines = journal.OutcomeFailed, 0, nil
	r.Attempts[1].Reason = "replay_budget_spent"
	m.Finished(r)
	text := scrape(t, m)
	want(t, text, `rubicon_switches_saved_total{model="m"} 1`, `rubicon_cost_usd_total{channel="b"} 0.0002`,
		`rubicon_absorbed_usd_total{channel="b",reason="replay_budget_spent"} 0.0002`)
	if strings.Contains(text, "rubicon_replays_saved_total{") {
		t.Error("a replay is said to have saved something")
	}
}

func TestRoutesAlertsAndConfiguration(t *testing.T) {
	m := gateway()
	for _, k := range []health.Kind{health.BreakerOpened, health.BreakerHalfOpen, health.BreakerClosed} {
		m.HealthEvent(health.Event{Kind: k, Channel: "a", UpstreamModel: "up"})
	}
	m.HealthEvent(health.Event{Kind: health.CooldownStarted, Channel: "a", Credential: "k1", UpstreamModel: "up"})
	m.Alerted("breaker_opened")
	m.Configured("aaaa", time.Unix(5, 0), false)
	m.Configured("bbbb", time.Unix(7, 0), true)
	m.ConfigRefused()
	m.LedgerOperation("hold", "refused", time.Millisecond)
	text := scrape(t, m)
	want(t, text,
		`rubicon_breaker_transitions_total{channel="a",to="open",upstream_model="up"} 1`,
		`rubicon_breaker_transitions_total{channel="a",to="half_open",upstream_model="up"} 1`,
		`rubicon_breaker_transitions_total{channel="a",to="closed",upstream_model="up"} 1`,
		`rubicon_cooldowns_total{channel="a",credential="k1"} 1`,
		`rubicon_health_events_total{channel="a",event="cooldown"} 1`,
		`rubicon_channel_state{channel="a",model="m",state="cooling"} 1`,
		`rubicon_channel_state{channel="a",model="m",state="closed"} 0`,
		`rubicon_channel_effective_weight{channel="a",model="m"} 50`,
		`rubicon_credential_state{channel="a",credential="k1",model="m",state="cooling"} 1`,
		`rubicon_alerts_total{kind="breaker_opened"} 1`,
		`rubicon_alerts_undelivered 3`,
		`rubicon_config_info{version="bbbb"} 1`,
		`rubicon_config_applied_timestamp_seconds 7`,
		`rubicon_config_reloads_total{result="applied"} 1`,
		`rubicon_config_reloads_total{result="refused"} 1`,
		`rubicon_ledger_operations_total{operation="hold",result="refused"} 1`,
	)
	if strings.Contains(text, "aaaa") {
		t.Error("the old configuration still shows")
	}
	for _, name := range []string{"rubicon_build_info", "go_goroutines", "process_open_fds"} {
		if !strings.Contains(text, "\n"+name) {
			t.Errorf("no %s", name)
		}
	}
}

func TestAStoreThatIsAwayDoesNotBreakTheScrape(t *testing.T) {
	m := New(Options{Waiting: func() (int64, error) { return 0, errors.New("away") }})
	want(t, scrape(t, m), `rubicon_alerts_undelivered -1`)
}

func TestTheTableIsWhole(t *testing.T) {
	names := map[string]bool{}
	for _, r := range Table() {
		if names[r.Name] || r.Help == "" || !strings.HasPrefix(r.Name, "rubicon_") {
			t.Errorf("%+v", r)
		}
		names[r.Name] = true
	}
	for line := range strings.SplitSeq(scrape(t, gateway()), "\n") {
		name, found := strings.CutPrefix(line, "# TYPE rubicon_")
		if name, _, _ := strings.Cut(name, " "); found && !names["rubicon_"+name] {
			t.Errorf("%s is not in the table", name)
		}
	}
}

func BenchmarkFinished(b *testing.B) {
	m, r := gateway(), replayed()
	b.ReportAllocs()
	for b.Loop() {
		m.Finished(r)
	}
}
