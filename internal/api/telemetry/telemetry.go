// Package telemetry is the gateway's Prometheus metrics, on a registry of their
// own.
//
// It is for counting what others decided and for reading states when somebody
// asks. It is not for logs or records, and decides nothing.
//
// Invariants: no label comes from a client (names that are not configured are
// counted as "other"), so that the number of series is bounded by the
// configuration; no customer, key or id is a label; nothing is counted per
// stream event.
package telemetry

import (
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// other stands for whatever is not configured.
const other = "other"

// Options say what is read when metrics are asked for. Nil functions are left out.
type Options struct {
	Version  string
	Channels func() []Channel // as they stand now
	Known    func(publicModel string) bool
	Waiting  func() (int64, error) // alerts that the webhook did not take yet
	// Backlog is how many ends of requests wait for the database, and since when
	// the longest; the zero time if none does.
	Backlog func() (waiting int, since time.Time)
	// Unrecorded is how many refused requests could not be recorded.
	Unrecorded func() int64
}

// Metrics counts. It is safe for concurrent use.
type Metrics struct {
	known    func(string) bool
	registry *prometheus.Registry
	requests requests
	routes   routes
	reloads  reloads
	ledger   ledger
	alerts   *prometheus.CounterVec
}

// New makes the metrics of one gateway.
func New(o Options) *Metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m := build(factory{to: registry}, o)
	m.registry = registry
	return m
}

func build(f factory, o Options) *Metrics {
	m := &Metrics{known: o.Known}
	if m.known == nil {
		m.known = func(string) bool { return false }
	}
	m.requests = newRequests(f)
	m.routes = newRoutes(f)
	if o.Channels != nil {
		f.to.MustRegister(newStates(f, o.Channels))
	}
	m.ledger = newLedger(f)
	m.alerts = f.counter("rubicon_alerts_total", "Alerts that were raised.", "kind")
	if o.Waiting != nil {
		f.gaugeFunc("rubicon_alerts_undelivered", "Alerts that the webhook did not take yet; -1 if the database does not say.", func() float64 {
			n, err := o.Waiting()
			if err != nil {
				return -1
			}
			return float64(n)
		})
	}
	if o.Backlog != nil {
		f.gaugeFunc("rubicon_settlements_waiting", "Ends of requests that wait on disk for a database that is away.", func() float64 {
			n, _ := o.Backlog()
			return float64(n)
		})
		f.gaugeFunc("rubicon_settlements_waiting_seconds", "How long the longest of them has waited.", func() float64 {
			_, since := o.Backlog()
			if since.IsZero() {
				return 0
			}
			return time.Since(since).Seconds()
		})
	}
	if o.Unrecorded != nil {
		f.counted("rubicon_refusals_unrecorded_total", "Requests refused while the database was away whose records found no room on disk, and are lost. Money never is.",
			func() float64 { return float64(o.Unrecorded()) })
	}
	m.reloads = newReloads(f)
	f.gauge("rubicon_build_info", "The program that runs; the value is 1.", "version", "go").WithLabelValues(o.Version, runtime.Version()).Set(1)
	return m
}

// Handler serves the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Timeout: 10 * time.Second})
}

// Alerted counts an alert.
func (m *Metrics) Alerted(kind string) { m.alerts.WithLabelValues(kind).Inc() }

// model is a label for a public model: clients may ask for any name.
func (m *Metrics) model(name string) string {
	if m.known(name) {
		return name
	}
	return other
}

// Row is one metric, for documentation.
type Row struct {
	Name, Type, Help string
	Labels           []string
}

// Table gives every metric of the gateway's own, those of Go and of the process apart.
func Table() []Row {
	f := factory{to: prometheus.NewRegistry(), rows: new([]Row)}
	build(f, Options{Channels: func() []Channel { return nil }, Waiting: func() (int64, error) { return 0, nil },
		Backlog: func() (int, time.Time) { return 0, time.Time{} }, Unrecorded: func() int64 { return 0 }})
	return *f.rows
}

// factory makes and registers vectors; a name that is taken is a mistake in
// this package, which every test finds.
type factory struct {
	to   prometheus.Registerer
	rows *[]Row // nil: nobody asks
}

// note puts a metric into the table.
func (f factory) note(kind, name, help string, labels []string) {
	if f.rows != nil {
		*f.rows = append(*f.rows, Row{name, kind, help, labels})
	}
}

func (f factory) counter(name, help string, labels ...string) *prometheus.CounterVec {
	f.note("counter", name, help, labels)
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	f.to.MustRegister(v)
	return v
}

func (f factory) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	f.note("gauge", name, help, labels)
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	f.to.MustRegister(v)
	return v
}

func (f factory) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	f.note("histogram", name, help, labels)
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	f.to.MustRegister(v)
	return v
}

// gaugeFunc is a gauge whose value is read when metrics are asked for.
func (f factory) gaugeFunc(name, help string, read func() float64) {
	f.note("gauge", name, help, nil)
	f.to.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read))
}

// counted is a counter that somebody else keeps.
func (f factory) counted(name, help string, read func() float64) {
	f.note("counter", name, help, nil)
	f.to.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, read))
}

// desc describes a gauge of a collector.
func (f factory) desc(name, help string, labels ...string) *prometheus.Desc {
	f.note("gauge", name, help, labels)
	return prometheus.NewDesc(name, help, labels, nil)
}
