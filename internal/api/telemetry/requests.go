package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"

	"rubicon/internal/books/journal"
	"rubicon/internal/engine/replay"
	"rubicon/internal/money"
	"rubicon/internal/wire/fault"
)

// requests counts what the records of requests say.
type requests struct {
	running  *prometheus.GaugeVec
	finished *prometheus.CounterVec
	errors   *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	held     *prometheus.HistogramVec
	output   *prometheus.HistogramVec
	attempts *prometheus.CounterVec
	verdicts *prometheus.CounterVec
	replays  *prometheus.CounterVec
	switches *prometheus.CounterVec
	tokens   *prometheus.CounterVec
	charged  *prometheus.CounterVec
	cost     *prometheus.CounterVec
	absorbed *prometheus.CounterVec
}

func newRequests(f factory) requests {
	long := []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800}
	return requests{
		running:  f.gauge("rubicon_requests_running", "Requests that run now.", "surface"),
		finished: f.counter("rubicon_requests_total", "Requests that ended, by how.", "surface", "model", "outcome"),
		errors:   f.counter("rubicon_request_errors_total", "Failures that clients were shown; a provider's own codes count as upstream.", "code"),
		seconds:  f.histogram("rubicon_request_seconds", "From a request's first byte to its end.", long, "surface"),
		held: f.histogram("rubicon_event_hold_seconds", "How long the lifecycle events of a stream were held back.",
			[]float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 7.5, 10, 15}, "surface"),
		output:   f.histogram("rubicon_first_output_seconds", "From a request's first byte to the first output event of its answer.", long, "model"),
		attempts: f.counter("rubicon_attempts_total", "Upstream calls by class of failure; class answered is a good one.", "channel", "class"),
		verdicts: f.counter("rubicon_verdicts_total", "What was decided after each attempt, and why.", "verdict", "reason"),
		replays:  f.counter("rubicon_replays_saved_total", "Answers that the client got only because of a replay.", "model"),
		switches: f.counter("rubicon_switches_saved_total", "Answers that the client got only because of a switch, without a replay.", "model"),
		tokens:   f.counter("rubicon_tokens_total", "Tokens of usage as recorded.", "model", "class"),
		charged:  f.counter("rubicon_charged_usd_total", "What customers were charged.", "model"),
		cost:     f.counter("rubicon_cost_usd_total", "What delivered answers cost upstream.", "channel"),
		absorbed: f.counter("rubicon_absorbed_usd_total", "What attempts cost upstream that no customer paid for.", "channel", "reason"),
	}
}

// classAnswered is the class of an attempt without a failure.
const classAnswered = "answered"

// Started counts a request that begins to run; ended must be called once.
func (m *Metrics) Started(s journal.Surface) (ended func()) {
	g := m.requests.running.WithLabelValues(string(s))
	g.Inc()
	return g.Dec
}

// Finished counts a request by its record.
func (m *Metrics) Finished(r *journal.Record) {
	q, model, surface := &m.requests, m.model(r.PublicModel), string(r.Surface)
	q.finished.WithLabelValues(surface, model, string(r.Outcome)).Inc()
	q.seconds.WithLabelValues(surface).Observe(seconds(r.Times.Total))
	if r.Error != nil {
		q.errors.WithLabelValues(ownCode(r.Error.Code)).Inc()
	}
	if r.Stream && len(r.Attempts) > 0 {
		q.held.WithLabelValues(surface).Observe(seconds(r.Times.EventHold))
	}
	if r.Times.FirstOutput > 0 {
		q.output.WithLabelValues(model).Observe(seconds(r.Times.FirstOutput))
	}
	q.attempted(r)
	q.countSaved(r, model)
	q.money(r, model)
}

func (q *requests) attempted(r *journal.Record) {
	for i := range r.Attempts {
		a := &r.Attempts[i]
		class := a.Failure
		if class == "" {
			class = classAnswered
		}
		q.attempts.WithLabelValues(a.Channel, class).Inc()
		q.verdicts.WithLabelValues(a.Verdict, a.Reason).Inc()
	}
}

// countSaved counts an answer that one attempt alone would not have given.
func (q *requests) countSaved(r *journal.Record, model string) {
	if r.Outcome != journal.OutcomeCompleted && r.Outcome != journal.OutcomeIncomplete || len(r.Attempts) < 2 {
		return
	}
	for i := range r.Attempts {
		if r.Attempts[i].Verdict == string(replay.Replay) {
			q.replays.WithLabelValues(model).Inc()
			return
		}
	}
	q.switches.WithLabelValues(model).Inc()
}

// money: the last attempt is the customer's if anything was charged for or
// delivered, every other one the operator's.
func (q *requests) money(r *journal.Record, model string) {
	q.charged.WithLabelValues(model).Add(usd(r.Charge))
	u := &r.Usage
	for _, t := range [...]struct {
		class string
		n     int64
	}{{"input", u.Input}, {"cached_input", u.CachedInput}, {"cache_write", u.CacheWrite}, {"output", u.Output}} {
		if t.n > 0 {
			q.tokens.WithLabelValues(model, t.class).Add(float64(t.n))
		}
	}
	paid := len(r.Lines) > 0
	switch r.Outcome {
	case journal.OutcomeCompleted, journal.OutcomeIncomplete, journal.OutcomePartial:
		paid = true
	}
	for i := range r.Attempts {
		a := &r.Attempts[i]
		switch {
		case a.Cost <= 0:
		case paid && i == len(r.Attempts)-1:
			q.cost.WithLabelValues(a.Channel).Add(usd(a.Cost))
		default:
			q.absorbed.WithLabelValues(a.Channel, a.Reason).Add(usd(a.Cost))
		}
	}
}

// ownCode is a label for a code: providers' own are theirs to choose.
func ownCode(code string) string {
	if _, own := fault.Lookup(code); own {
		return code
	}
	return "upstream"
}

func seconds(ms int64) float64 { return float64(ms) / 1000 }

// usd is for counters only; money is counted in whole nano-USD everywhere else.
func usd(n money.Nano) float64 { return max(float64(n)/1e9, 0) }
