package e2e

import (
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"rubicon/internal/api/admin"
	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
	"rubicon/internal/lab/sim"
	"rubicon/internal/money"
	"rubicon/internal/store/pgtest"
	"rubicon/test/stand"
)

// gated is an upstream that answers once it is told to.
func gated(t *testing.T) (up *stand.Raw, open func()) {
	gate := make(chan struct{})
	open = sync.OnceFunc(func() { close(gate) })
	t.Cleanup(open)
	return &stand.Raw{Handle: func(c *stand.Exchange) bool {
		select {
		case <-gate:
		case <-time.After(30 * time.Second):
		}
		c.Stream()
		_ = c.Chunk(events["responses"].opening + events["responses"].output + events["responses"].ending)
		return false
	}}, open
}

// nodes starts gateways that share a database.
func nodes(t *testing.T, n int, store string, up stand.Peer) []*stand.Gateway {
	t.Helper()
	list := make([]*stand.Gateway, n)
	for i := range list {
		list[i] = stand.Start(t, stand.Options{Config: peersOf("", "alpha"), Peers: map[string]stand.Peer{"alpha": up}, Store: store})
	}
	return list
}

// 200 requests at once against a balance for two: never more than two run, on
// one node and on two.
func TestNeverOverspent(t *testing.T) {
	t.Run("one node", func(t *testing.T) {
		onEach(t, func(t *testing.T, store string) { neverOverspent(t, 1, store) })
	})
	t.Run("two nodes", func(t *testing.T) { neverOverspent(t, 2, pgtest.Database(t)) })
}

func neverOverspent(t *testing.T, n int, store string) {
	up, open := gated(t)
	list := nodes(t, n, store, up)
	body := apis[0].stream("r")
	// What a request holds, by one of somebody else's.
	first := make(chan stand.Reply, 1)
	go func() { first <- list[0].Post(list[0].Default, "/v1/responses", body) }()
	must(t, 10*time.Second, "a hold", func() bool { return list[0].Balance(list[0].Default).Held > 0 })
	hold := list[0].Balance(list[0].Default).Held
	poor := list[0].NewCustomer((2*hold + hold/2).String())

	var answers sync.WaitGroup
	var ok, short, other atomic.Int64
	for i := range 200 {
		answers.Go(func() {
			switch r := list[i%n].Post(poor, "/v1/responses", body); {
			case r.Status == 200:
				ok.Add(1)
			case r.Status == 402:
				short.Add(1)
			default:
				other.Add(1)
				t.Errorf("status %d: %s", r.Status, r.Body)
			}
		})
	}
	must(t, 30*time.Second, "198 refusals", func() bool { return short.Load() == 198 || other.Load() > 0 })
	if b := list[0].Balance(poor); b.Held != 2*hold || b.Available < 0 {
		t.Errorf("balance %+v with a hold of %s", b, hold)
	}
	open()
	answers.Wait()
	if ok.Load() != 2 {
		t.Errorf("%d requests ran", ok.Load())
	}
	<-first
	want, _ := money.Parse("0.000700000")
	if b := list[0].Balance(poor); b.Available != 2*hold+hold/2-want || b.Held != 0 {
		t.Errorf("balance %+v", b)
	}
}

// What one node changes of customers and keys is effective on the other within
// a second.
func TestKeysOnEveryNode(t *testing.T) {
	up := sim.New(sim.Options{Scripts: map[string]sim.Script{"up": sim.Play(sim.Answer("Cast.", sim.Tokens(10, 0, 5)))}})
	list := nodes(t, 2, pgtest.Database(t), up)
	c := list[0].NewCustomer("1.00")
	status := func() int { return list[1].Post(c, "/v1/responses", apis[0].stream("r")).Status }
	if got := status(); got != 200 {
		t.Fatalf("status %d", got)
	}
	suspend := func(is bool) {
		list[0].Operate("PATCH", "/admin/v1/customers/"+c.ID, map[string]any{"suspended": is}, nil)
	}
	for _, change := range []struct {
		name string
		do   func()
		want int
	}{
		{"suspended", func() { suspend(true) }, 401},
		{"resumed", func() { suspend(false) }, 200},
		{"other models", func() {
			list[0].Operate("PATCH", "/admin/v1/keys/"+c.KeyID, map[string]any{"models": []string{"c"}}, nil)
		}, 403},
		{"revoked", func() { list[0].Operate("DELETE", "/admin/v1/keys/"+c.KeyID, nil, nil) }, 401},
	} {
		change.do()
		must(t, time.Second, change.name, func() bool { return status() == change.want })
	}
}

// What an operator orders about a channel on one node is effective on the other
// within a second, is told once, and is known to a node that starts later.
func TestOrdersOnEveryNode(t *testing.T) {
	up := sim.New(sim.Options{Scripts: map[string]sim.Script{"up": sim.Play(sim.Answer("Cast.", sim.Tokens(10, 0, 5)))}})
	store := pgtest.Database(t)
	list := nodes(t, 2, store, up)
	stands := func(s *stand.Gateway, state string, weight float64) {
		t.Helper()
		must(t, time.Second, state, func() bool {
			return slices.ContainsFunc(s.Channels(), func(c admin.Channel) bool {
				return c.Channel == "alpha-responses" && c.PublicModel == "r" && c.State == state && c.Weight == weight
			})
		})
	}
	for _, s := range list {
		stands(s, "closed", 100)
	}
	order := func(s *stand.Gateway, what string, in map[string]any) {
		s.Operate("POST", "/admin/v1/channels/"+what, in, nil)
	}
	list[0].Operate("PUT", "/admin/v1/channels/alpha-responses/weight", map[string]any{"public_model": "r", "weight": 7}, nil)
	order(list[0], "alpha-responses/pause", map[string]any{"reason": "maintenance"})
	stands(list[0], "paused", 7)
	stands(list[1], "paused", 7)
	if r := list[1].Post(list[1].Default, "/v1/responses", apis[0].stream("r")); r.Status != 503 {
		t.Errorf("the other node: %d %s", r.Status, r.Body)
	}
	late := nodes(t, 1, store, up)[0]
	stands(late, "paused", 7)
	order(list[1], "alpha-responses/resume", map[string]any{"reason": "done"})
	stands(list[1], "closed", 7)
	stands(list[0], "closed", 7)
	stands(late, "closed", 7)
	must(t, 5*time.Second, "the alert's end", func() bool {
		var out struct{ Alerts []admin.Alert }
		list[0].Operate("GET", "/admin/v1/alerts", nil, &out)
		begun := 0
		for _, a := range out.Alerts {
			if a.State == "firing" {
				return false
			}
			if a.Kind == "channel_paused" {
				begun++
			}
		}
		if begun != 1 {
			t.Errorf("the pause was told %d times: %+v", begun, out.Alerts)
		}
		return true
	})
}

// A node that lives keeps its requests, however long they take.
func TestALivingNodeKeepsItsRequests(t *testing.T) {
	up, open := gated(t)
	list := nodes(t, 2, pgtest.Database(t), up)
	done := make(chan stand.Reply, 1)
	go func() { done <- list[0].Post(list[0].Default, "/v1/responses", apis[0].stream("r")) }()
	must(t, 10*time.Second, "a hold", func() bool { return list[0].Balance(list[0].Default).Held > 0 })
	time.Sleep(3500 * time.Millisecond) // several leases
	if list[0].Balance(list[0].Default).Held == 0 {
		t.Error("the hold was resolved while its request runs")
	}
	open()
	r := <-done
	if !good(r) {
		t.Fatalf("%d %s", r.Status, r.Body)
	}
	rec := list[1].Record(r.ID())
	if rec.Outcome != journal.OutcomeCompleted || rec.Usage.Source != "reported" || len(rec.Notes) != 0 {
		t.Errorf("record %+v", rec)
	}
}

// A node that cannot reach the database for a lease is taken for dead, though
// it goes on: its requests are resolved, and what they turn out to cost
// replaces the estimate. Afterwards it is a node again, under a new name.
func TestAFrozenNode(t *testing.T) {
	database := pgtest.Database(t)
	proxy, through := pgtest.NewProxy(t, database, 0)
	up, open := gatedAfterOutput(t)
	url := provider(t, up)
	config := func(store string) string {
		return configOn(t, store, peersOf("", "alpha"), map[string]string{"alpha": url})
	}
	lonely, other := serve(t, config(through)), serve(t, config(database))
	c := lonely.NewCustomer("10.00")
	client := ask(t, lonely.URL, c, "/v1/responses", apis[0].stream("r"))
	client.until("Hello")
	must(t, 10*time.Second, "noted progress", func() bool { return noted(t, database) })
	var id string
	for id = range other.Records() {
	}

	proxy.Down()
	must(t, 20*time.Second, "the takeover", func() bool { return other.Balance(c).Held == 0 })
	estimate := other.Record(id)
	if estimate.Outcome != journal.OutcomePartial || estimate.Usage.Source != "estimated" || estimate.Charge.String() == "0.000350000" {
		t.Errorf("taken over as %s, %s usage, %s", estimate.Outcome, estimate.Usage.Source, estimate.Charge)
	}
	open()
	client.until("response.completed") // its client sees nothing of it
	proxy.Up()

	must(t, 20*time.Second, "the truth", func() bool {
		return other.Balance(c).Available.String() == "9.999650000"
	})
	adjusts := 0
	for _, tx := range other.Transactions(id) {
		if tx.Kind == ledger.KindAdjust {
			adjusts++
		}
	}
	if kinds := other.Kinds(id); adjusts != 1 || !slices.Contains(kinds, "settle") {
		t.Errorf("transactions %v", kinds)
	}
	other.Verify()
	must(t, 20*time.Second, "service by the node that was lost", func() bool {
		return strings.Contains(lonely.Post(c, "/v1/responses", apis[0].stream("r")).Body, "response.completed")
	})
	lonely.Verify()

	// One that hangs as a process, not only its network.
	if err := lonely.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	must(t, 20*time.Second, "the end of its row", func() bool { return rows(t, database, "nodes") == 1 })
	if err := lonely.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	must(t, 20*time.Second, "its new row", func() bool { return rows(t, database, "nodes") == 2 })
	for _, p := range []*process{lonely, other} {
		if code := p.terminate(t); code != 0 {
			t.Errorf("exit code %d:\n%s", code, p.tail())
		}
	}
	if n := rows(t, database, "nodes"); n != 0 {
		t.Errorf("%d nodes are left", n)
	}
}

// gatedAfterOutput says something, and the rest once it is told to.
func gatedAfterOutput(t *testing.T) (up *stand.Raw, open func()) {
	gate := make(chan struct{})
	open = sync.OnceFunc(func() { close(gate) })
	t.Cleanup(open)
	return &stand.Raw{Handle: func(c *stand.Exchange) bool {
		c.Stream()
		_ = c.Chunk(events["responses"].opening + events["responses"].output)
		select {
		case <-gate:
		case <-time.After(60 * time.Second):
		}
		_ = c.Chunk(events["responses"].ending)
		return false
	}}, open
}

func rows(t *testing.T, store, table string) (n int) {
	t.Helper()
	scanRow(t, store, "SELECT COUNT(*) FROM "+table, &n)
	return n
}

// Two processes on one SQLite file would resolve each other's requests.
func TestOneProcessPerFile(t *testing.T) {
	config := configFile(t, peersOf("", "alpha"), map[string]string{"alpha": "http://127.0.0.1:1/v1"})
	p := serve(t, config)
	out, err := exec.Command(binary(t), "serve", "-c", config).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "another rubicon serves this database") {
		t.Errorf("%v: %s", err, out)
	}
	if code := p.terminate(t); code != 0 {
		t.Errorf("exit code %d:\n%s", code, p.tail())
	}
}
