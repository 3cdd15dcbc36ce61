package e2e

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"rubicon/internal/api/admin"
	"rubicon/internal/books/journal"
	"rubicon/internal/config"
	"rubicon/internal/lab/sim"
	"rubicon/internal/money"
	"rubicon/internal/store/pgtest"
	"rubicon/test/stand"
)

// outageTime is longer than anybody waits for a database.
func outageTime() time.Duration {
	if allCuts {
		return 30 * time.Second
	}
	return 6 * time.Second
}

// The database goes away in the middle of load and comes back: what runs ends
// well for its clients, new requests are refused clearly, operators see it, and
// nothing is lost or doubled.
func TestDatabaseAway(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		store := "sqlite:" + t.TempDir() + "/e2e.db"
		var unblock func()
		databaseAway(t, store, func() { unblock = blockWrites(t, store) }, func() { unblock() })
	})
	type does = func(*pgtest.Server) error
	for name, how := range map[string][2]does{
		"killed":              {(*pgtest.Server).Kill, (*pgtest.Server).Up},
		"stopped":             {(*pgtest.Server).Halt, (*pgtest.Server).Up}, // as pg_ctl stop -m immediate: the server says that it goes
		"frozen":              {(*pgtest.Server).Freeze, (*pgtest.Server).Thaw},
		"without its standby": {(*pgtest.Server).LoseStandby, (*pgtest.Server).FindStandby},
	} {
		t.Run("postgres "+name, func(t *testing.T) {
			t.Parallel()
			server, store := ownServer(t)
			do := func(f does) func() {
				return func() {
					if err := f(server); err != nil {
						t.Error(err)
					}
				}
			}
			databaseAway(t, store, do(how[0]), do(how[1]))
		})
	}
}

func databaseAway(t *testing.T, store string, leave, back func()) {
	quick := sim.Answer("Cast.", sim.Tokens(10, 0, 5))
	long := []sim.Step{sim.Created(), sim.Text("The ")}
	for range int(outageTime() / (500 * time.Millisecond)) {
		long = append(long, sim.Wait(250*time.Millisecond), sim.Text("die "))
	}
	long = append(long, sim.Completed(sim.Tokens(10, 0, 5)))
	alpha := sim.New(sim.Options{Scripts: map[string]sim.Script{"quick": sim.Play(quick), "long": sim.Play(long...)}, Seed: "a"})
	yaml := "channels:\n  - {name: a, protocol: responses, base_url: \"{alpha}\", allow_private: true, credentials: [{name: k, key: \"{key}\"}]}\nmodels:\n"
	for _, m := range []string{"quick", "long"} {
		yaml += "  - {name: " + m + ", price: {input: \"10\", output: \"50\"}, channels: [{channel: a, upstream_model: " + m + ", cost: {input: \"1\", output: \"5\"}}]}\n"
	}
	s := stand.Start(t, stand.Options{Config: yaml, Store: store, Peers: map[string]stand.Peer{"alpha": alpha},
		Tune: func(c *config.Config) { c.Store.Lease = 2 * time.Second }})
	o := &outage{s: s}

	var running sync.WaitGroup
	for range 6 { // these run over the beginning of the outage, and end in it
		running.Go(func() { o.note(s.Post(s.Default, "/v1/responses", apis[0].stream("long"))) })
	}
	stop := make(chan struct{})
	for range 6 {
		running.Go(func() { o.load(stop) })
	}
	must(t, 10*time.Second, "load", func() bool { return o.laterAnswers() > 20 && len(alpha.Calls("long")) == 6 })

	leave()
	began := time.Now()
	must(t, 15*time.Second, "a refusal", func() bool { return o.refused() > 0 })
	start := time.Now()
	o.checkRefusal(t, s.Post(s.Default, "/v1/responses", apis[0].stream("quick")))
	if took := time.Since(start); took > 6*time.Second {
		t.Errorf("a refusal took %v", took)
	}
	ready := s.Do(stand.Customer{}, "GET", "/readyz", nil, nil)
	if ready.Status != 503 || ready.Fault().Code != "store_unavailable" {
		t.Errorf("readiness: %d %s", ready.Status, ready.Body)
	}
	must(t, outageTime(), "the long answers, in the outage", func() bool { return o.runningAnswers() == 6 })
	if n := o.metric(t, "rubicon_settlements_waiting"); n < 6 {
		t.Errorf("%v settlements wait, want 6 at least", n)
	}
	time.Sleep(time.Until(began.Add(outageTime())))
	back()

	must(t, 20*time.Second, "service", func() bool { return s.Post(s.Default, "/v1/responses", apis[0].stream("quick")).Status == 200 })
	close(stop)
	running.Wait()
	must(t, 20*time.Second, "the settlement of what waited", func() bool { return o.metric(t, "rubicon_settlements_waiting") == 0 })
	must(t, 5*time.Second, "readiness", func() bool { return s.Do(stand.Customer{}, "GET", "/readyz", nil, nil).Status == 200 })
	o.check(t)
}

// outage is what clients saw.
type outage struct {
	s    *stand.Gateway
	mu   sync.Mutex
	ends []stand.Reply
	slow time.Duration // the longest that a refused request of the load waited
}

func (o *outage) note(r stand.Reply) stand.Reply {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ends = append(o.ends, r)
	return r
}

func (o *outage) load(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		began := time.Now()
		if o.note(o.s.Post(o.s.Default, "/v1/responses", apis[0].stream("quick"))).Status != 200 {
			o.waited(time.Since(began))
			time.Sleep(50 * time.Millisecond) // a client that was refused takes its time
		}
	}
}

func (o *outage) waited(d time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.slow = max(o.slow, d)
}

func (o *outage) count(is func(stand.Reply) bool) (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range o.ends {
		if is(r) {
			n++
		}
	}
	return n
}

func good(r stand.Reply) bool {
	return r.Status == 200 && strings.Contains(r.Body, "response.completed")
}

func (o *outage) laterAnswers() int { return o.count(good) }
func (o *outage) refused() int      { return o.count(func(r stand.Reply) bool { return r.Status == 503 }) }
func (o *outage) runningAnswers() int {
	return o.count(func(r stand.Reply) bool { return good(r) && strings.Count(r.Body, "die ") > 2 })
}

func (o *outage) checkRefusal(t *testing.T, r stand.Reply) {
	t.Helper()
	checkFault(t, r, "responses", 503, "store_unavailable")
	if f := r.Fault(); !*f.Retryable || r.Header.Get("X-Should-Retry") != "true" || r.Header.Get("Retry-After") == "" {
		t.Errorf("retryable %t, headers %v", *f.Retryable, r.Header)
	}
}

func (o *outage) metric(t *testing.T, name string) float64 {
	t.Helper()
	req, err := http.NewRequest("GET", o.s.Admin+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+stand.Token)
	resp, err := o.s.HTTP.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var b strings.Builder
	if _, err := io.Copy(&b, resp.Body); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}

// check wants every ending that a client saw, and nothing else, on record and
// paid.
func (o *outage) check(t *testing.T) {
	t.Helper()
	records := o.s.Records()
	var charged money.Nano
	for id, r := range records {
		charged += r.Charge
		if r.Outcome == journal.OutcomeRunning {
			t.Errorf("%s is still running", id)
		}
	}
	refused := 0
	for _, e := range o.ends {
		r, there := records[e.ID()]
		switch {
		case good(e):
			if !there || r.Outcome != journal.OutcomeCompleted || r.Charge.String() != "0.000350000" || r.Usage.Source != "reported" {
				t.Errorf("a client saw the good end of %s, its record: %s, %s", e.ID(), r.Outcome, r.Charge)
			}
		case e.Status == 503:
			refused++
			o.checkRefusal(t, e)
			if r.Charge != 0 || there && r.Outcome != journal.OutcomeRejected {
				t.Errorf("the refused %s: %s, %s", e.ID(), r.Outcome, r.Charge)
			}
		default:
			t.Errorf("a client saw %d %v %s", e.Status, e.Err, e.Body)
		}
	}
	want, _ := money.Parse("1000.00")
	if b := o.s.Balance(o.s.Default); b.Available != want-charged || b.Held != 0 {
		t.Errorf("balance %+v, charged %s", b, charged)
	}
	// Alerts wait for the database too.
	must(t, 10*time.Second, "both alerts", func() bool {
		var list admin.AlertList
		o.s.Operate("GET", "/admin/v1/alerts", nil, &list)
		var kinds []string
		for _, a := range list.Alerts {
			kinds = append(kinds, a.Kind)
		}
		return strings.Contains(strings.Join(kinds, " "), "settlement_caught_up settlement_backlog") // newest first
	})
	t.Logf("%d good, %d refused after %v at most", o.laterAnswers(), refused, o.slow.Round(time.Millisecond))
}
