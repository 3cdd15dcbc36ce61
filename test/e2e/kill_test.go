package e2e

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rubicon/internal/books/journal"
	"rubicon/internal/lab/sim"
	"rubicon/test/stand"
)

// kinds of load: a mixture of streams that end at once, slowly, after a replay,
// broken, and of answers that are not streamed. Every good one costs the same.
var load = map[string]struct {
	alpha sim.Script
	good  bool
}{
	"quick":    {sim.Play(sim.Answer("The die is cast.", sim.Tokens(10, 0, 5))), true},
	"slow":     {sim.Play(sim.Created(), sim.Text("The "), sim.Wait(100*time.Millisecond), sim.Text("die "), sim.Wait(150*time.Millisecond), sim.Text("is cast."), sim.Completed(sim.Tokens(10, 0, 5))), true},
	"thinking": {sim.Play(sim.Created(), sim.Wait(200*time.Millisecond), sim.Text("Cast."), sim.Completed(sim.Tokens(10, 0, 5))), true},
	"replayed": {sim.Play(sim.Created(), sim.Failed("server_is_overloaded")), true},
	"cut":      {sim.Play(sim.Created(), sim.Text("The die "), sim.Wait(20*time.Millisecond), sim.Reset()), false},
	"refused":  {sim.Play(sim.ReplyError(400, "context_length_exceeded")), false},
}

// seenEnd is what a client saw of a request.
type seenEnd struct {
	id   string
	good bool // a terminal event or a whole answer
	bad  bool // a failure that ends it
	kind string
}

// The gateway is killed at random moments under load and started again: the
// ledger adds up, no hold stays open, and every ending that a client saw has its
// money.
func TestKill9(t *testing.T) { onEach(t, kill9) }

func kill9(t *testing.T, store string) {
	rounds := 10
	if allCuts {
		rounds = 200
	}
	config := killConfig(t, store)
	var ends []seenEnd
	var customer stand.Customer
	for round := range rounds {
		p := serve(t, config)
		if round == 0 {
			customer = p.NewCustomer("100000.00")
		}
		checkRecovered(t, p, customer)
		ends = append(ends, p.underLoad(customer, time.Duration(30+rand.IntN(500))*time.Millisecond)...)
	}
	p := serve(t, config)
	checkRecovered(t, p, customer)
	checkEnds(t, p, ends)
	if code := p.terminate(t); code != 0 {
		t.Errorf("exit code %d:\n%s", code, p.tail())
	}
	out, err := exec.Command(binary(t), "verify", "--offline", "-c", config).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "adds up") {
		t.Errorf("rubicon verify: %v: %s", err, out)
	}
}

func killConfig(t *testing.T, store string) string {
	alpha, beta := map[string]sim.Script{}, map[string]sim.Script{"*": sim.Play(sim.Answer("The die is cast.", sim.Tokens(10, 0, 5)))}
	var yaml strings.Builder
	yaml.WriteString("channels:\n")
	for _, a := range apis {
		for _, p := range []string{"alpha", "beta"} {
			fmt.Fprintf(&yaml, "  - {name: %[1]s-%[2]s, protocol: %[2]s, base_url: \"{%[1]s}\", allow_private: true, credentials: [{name: k, key: \"{key}\"}]}\n", p, a.protocol)
		}
	}
	yaml.WriteString("models:\n")
	for kind, l := range load {
		alpha[kind] = l.alpha
		for _, a := range apis {
			fmt.Fprintf(&yaml, "  - name: %[1]s/%[2]s\n    price: {input: \"10\", output: \"50\"}\n    channels:\n"+
				"      - {channel: alpha-%[1]s, upstream_model: %[2]s, priority: 0, cost: {input: \"1\", output: \"5\"}}\n"+
				"      - {channel: beta-%[1]s, upstream_model: %[2]s, priority: 1, cost: {input: \"1\", output: \"5\"}}\n", a.protocol, kind)
		}
	}
	return configOn(t, store, yaml.String(), map[string]string{
		"alpha": provider(t, sim.New(sim.Options{Scripts: alpha, Seed: "a"})), "beta": provider(t, sim.New(sim.Options{Scripts: beta, Seed: "b"}))})
}

// underLoad sends requests from several clients, kills the gateway after a
// while and gives what the clients saw.
func (p *process) underLoad(c stand.Customer, d time.Duration) []seenEnd {
	var mu sync.Mutex
	var ends []seenEnd
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for n := range 12 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(n), uint64(d)))
			for {
				select {
				case <-stop:
					return
				default:
				}
				end, alive := p.one(c, random)
				mu.Lock()
				ends = append(ends, end)
				mu.Unlock()
				if !alive {
					return
				}
			}
		})
	}
	time.Sleep(d) // the random moment
	p.kill()
	close(stop)
	wg.Wait()
	return ends
}

var loadKinds = func() (kinds []string) {
	for k := range load {
		kinds = append(kinds, k)
	}
	slices.Sort(kinds)
	return kinds
}()

// one sends one request; alive is false once the gateway is gone.
func (p *process) one(c stand.Customer, random *rand.Rand) (end seenEnd, alive bool) {
	a := apis[random.IntN(len(apis))]
	kind := loadKinds[random.IntN(len(loadKinds))]
	model := a.protocol + "/" + kind
	body := a.stream(model)
	if random.IntN(4) == 0 {
		body = a.unstreamed(model)
	}
	got := p.Post(c, a.path, body)
	end = seenEnd{id: got.ID(), kind: model}
	switch {
	case got.Status == 0:
	case got.Status != 200:
		end.bad = got.Err == nil
	case strings.HasPrefix(got.Body, "{"):
		end.good = got.Err == nil
	default:
		last := strings.TrimRight(got.Body, "\n")
		last = last[strings.LastIndex(last, "\n")+1:]
		end.good = strings.Contains(last, `"response.completed"`) || last == "data: [DONE]" || strings.Contains(last, `"message_stop"`)
		end.bad = !end.good && strings.Contains(last, `"error":{`)
	}
	return end, got.Status != 0 && got.Err == nil
}

// checkRecovered: nothing runs, nothing is held, everything adds up.
func checkRecovered(t *testing.T, p *process, c stand.Customer) {
	t.Helper()
	if b := p.Balance(c); b.Held != 0 {
		t.Errorf("%v is held after a start", b.Held)
	}
	p.Verify()
	for id, r := range p.Records() {
		if r.Outcome == journal.OutcomeRunning {
			t.Errorf("%s is running after a start", id)
		}
	}
}

func checkEnds(t *testing.T, p *process, ends []seenEnd) {
	t.Helper()
	records, good, bad, cut := p.Records(), 0, 0, 0
	for _, e := range ends {
		if e.id == "" {
			continue
		}
		r, ok := records[e.id]
		switch {
		case e.good:
			good++
			if !ok || r.Outcome != journal.OutcomeCompleted || r.Charge.String() != "0.000350000" || r.Usage.Source != "reported" {
				t.Errorf("a client saw the good end of %s (%s), its record is %s, %v", e.id, e.kind, r.Outcome, r.Charge)
			}
			if kinds := p.Kinds(e.id); kinds[0] != "hold" || !slices.Contains(kinds, "settle") {
				t.Errorf("a client saw the good end of %s, its transactions are %v", e.id, kinds)
			}
		case e.bad:
			bad++
			if !ok || r.Outcome != journal.OutcomeFailed && r.Outcome != journal.OutcomePartial {
				t.Errorf("a client saw the failure of %s (%s), its record is %q with %+v", e.id, e.kind, r.Outcome, r.Error)
			}
		default:
			cut++
		}
	}
	t.Logf("%d good ends, %d failures, %d without an end; %d records", good, bad, cut, len(records))
	if good == 0 || bad == 0 || cut == 0 {
		t.Errorf("the load did not see all of it: %d good ends, %d failures, %d without an end", good, bad, cut)
	}
}
