package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// reloads tells which configuration runs.
type reloads struct {
	info  *prometheus.GaugeVec
	tried *prometheus.CounterVec
	last  prometheus.Gauge
}

func newReloads(f factory) reloads {
	r := reloads{
		info:  f.gauge("rubicon_config_info", "The configuration that runs; the value is 1. /readyz shows the same version.", "version"),
		tried: f.counter("rubicon_config_reloads_total", "Configurations that were offered while running: applied, or refused and ignored.", "result"),
		last:  f.gauge("rubicon_config_applied_timestamp_seconds", "When the running configuration was applied.").WithLabelValues(),
	}
	for _, result := range [...]string{"applied", "refused"} { // so that a first failure is an increase
		r.tried.WithLabelValues(result)
	}
	return r
}

// Configured tells which configuration runs now; reload is false at the start.
func (m *Metrics) Configured(version string, at time.Time, reload bool) {
	m.reloads.info.Reset()
	m.reloads.info.WithLabelValues(version).Set(1)
	m.reloads.last.Set(float64(at.UnixMilli()) / 1000)
	if reload {
		m.reloads.tried.WithLabelValues("applied").Inc()
	}
}

// ConfigRefused counts a configuration that was refused and ignored.
func (m *Metrics) ConfigRefused() { m.reloads.tried.WithLabelValues("refused").Inc() }

// ledger counts the operations that requests wait for.
type ledger struct {
	done    *prometheus.CounterVec
	seconds *prometheus.HistogramVec
}

func newLedger(f factory) ledger {
	return ledger{
		done: f.counter("rubicon_ledger_operations_total",
			"Holds, settlements and releases of requests (record: of those without money; reject: a request refused before its hold), by result: ok, refused (the balance is too low) or failed.", "operation", "result"),
		seconds: f.histogram("rubicon_ledger_operation_seconds", "How long a request waited until such an operation was durable.",
			[]float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 30}, "operation"),
	}
}

// LedgerOperation counts one operation of the books.
func (m *Metrics) LedgerOperation(operation, result string, took time.Duration) {
	m.ledger.done.WithLabelValues(operation, result).Inc()
	m.ledger.seconds.WithLabelValues(operation).Observe(took.Seconds())
}
