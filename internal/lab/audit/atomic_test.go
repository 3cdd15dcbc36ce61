package audit

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/books/journal"
	"rubicon/internal/lab/sim"
)

// Atomic delivery (docs/contract.md#s4-atomic, docs/contract.md#s3-row-11a) on all surfaces: what the
// client sees, what is on record, who pays. These are the gateway's own rules;
// they stand here because this package has the gateway, both its sides and
// virtual time at hand.

// outcome is what came of one request.
type outcome struct {
	Outcome     journal.Outcome
	Words       int    // that the client saw
	Whole       bool   // and they were the whole answer
	Reasons     string // of the attempts
	Charge      string // "0", "reported" or "estimated"
	AfterOutput bool
	Delivered   int64 // output events, as recorded: "0" or more
}

// atomicCase is one request with atomic delivery.
type atomicCase struct {
	primary, fallback providerPart
	ask               clientRequest
	more              string // configuration
	on                []Surface
	// want is on Responses, where held events are shown before a failure; status
	// is on Chat and Messages, where a failure is a status and drops them.
	want, status outcome
}

var (
	answers  = again(answer(contractWords, fallbackInput))
	cutLate  = again(append(openingSteps(5), sim.Wait(50*time.Millisecond), sim.Reset())...)
	replayed = outcome{Outcome: journal.OutcomeCompleted, Words: contractWords, Whole: true, Reasons: "replay_atomic answered", Charge: "reported",
		AfterOutput: true, Delivered: 1}
)

// refusedWith is a request that is not replayed: what is held is shown on
// Responses and dropped elsewhere.
func refusedWith(reasons string) (want, status outcome) {
	return outcome{Outcome: journal.OutcomePartial, Words: 5, Reasons: reasons, Charge: "estimated", AfterOutput: true, Delivered: 1},
		outcome{Outcome: journal.OutcomeFailed, Reasons: reasons, Charge: "0"}
}

func atomicCases() map[string]atomicCase {
	usual := func(primary providerPart) atomicCase {
		return atomicCase{primary: primary, fallback: answers, want: replayed, status: replayed}
	}
	refusal := func(reasons string, c atomicCase) atomicCase {
		c.want, c.status = refusedWith(reasons)
		return c
	}
	usage := sim.Failed("server_error")
	usage.Usage = sim.Tokens(primaryInput, 0, 3)
	large := make([]sim.Step, 0, 40)
	for range 8 {
		large = append(large, sim.Huge(1024))
	}
	spilled := outcome{Outcome: journal.OutcomePartial, Reasons: "output_delivered", Charge: "estimated", AfterOutput: true, Delivered: 1, Words: 1}
	gone := outcome{Outcome: journal.OutcomeCancelled, Reasons: "client_disconnected", Charge: "0"}
	good := outcome{Outcome: journal.OutcomeCompleted, Words: contractWords, Whole: true, Reasons: "answered", Charge: "reported", AfterOutput: true, Delivered: 1}
	return map[string]atomicCase{
		"answer":        {primary: answers, fallback: answers, want: good, status: good},
		"cut":           usual(cutLate),
		"cut clean":     usual(again(append(openingSteps(5), sim.End())...)),
		"cut in a tool": usual(again(sim.Created(), sim.InProgress(), sim.Tool(toolName), sim.Args(toolArgs[:6]), sim.Wait(50*time.Millisecond), sim.Reset())),
		"silence":       usual(again(append(openingSteps(5), sim.Hang())...)),
		"failure event": usual(again(append(openingSteps(5), sim.Failed("server_is_overloaded"))...)),
		"no JSON":       usual(again(append(openingSteps(5), sim.Event("", "{oops"), sim.Hang())...)),
		"cut twice":     refusal("replay_atomic replay_budget_spent", atomicCase{primary: cutLate, fallback: cutLate}),
		"deterministic": refusal("deterministic", atomicCase{primary: again(append(openingSteps(5), sim.Failed("content_policy_violation"))...), fallback: answers}),
		"usage":         reportedBy(refusal("usage_observed", atomicCase{primary: again(append(openingSteps(5), usage)...), fallback: answers})),
		"stored":        refusal("stateful_store", atomicCase{primary: cutLate, fallback: answers, ask: clientRequest{stored: true}, on: withStore}),
		"hosted":        refusal("hosted_tool", atomicCase{primary: cutLate, fallback: answers, ask: clientRequest{hosted: true}, on: withHosted}),
		"over the bound": {primary: again(append(append(openingSteps(0), large...), sim.Wait(time.Second), sim.Reset())...), fallback: answers,
			more: small, want: spilled, status: spilled},
		"client leaves": {primary: again(append(append(openingSteps(5), sim.Wait(20*time.Second)), closingSteps(done(primaryInput))...)...), fallback: answers,
			want: gone, status: gone},
	}
}

// reportedBy: the failure carries usage, which is what is charged.
func reportedBy(c atomicCase) atomicCase {
	c.want.Charge = "reported"
	return c
}

func TestAtomicDelivery(t *testing.T) {
	for _, surface := range surfaces {
		t.Run(string(surface), func(t *testing.T) {
			for _, more := range []string{"", small} {
				inBubble(t, func(r *auditTest) {
					o := r.options(Contract, surface)
					o.Header = http.Header{"Rubicon-Delivery": {"atomic"}}
					g := r.rubicon(o, more)
					o.Key = g.key
					x := r.player(o)
					models := slices.DeleteFunc(contractCases(), func(s auditCase) bool { return !s.applies(surface) })
					for i, name := range slices.Sorted(maps.Keys(atomicCases())) {
						c := atomicCases()[name]
						if c.on != nil && !slices.Contains(c.on, surface) || c.more != more {
							continue
						}
						// Each case has a model of its own, whatever that is called.
						s := &auditCase{name: models[i].name, words: contractWords, primary: c.primary, fallback: c.fallback}
						if name == "client leaves" {
							s.limit = 10 * time.Second // no output comes before: the limit is what ends it
						}
						want := c.want
						if surface == Chat || surface == Messages {
							want = c.status
						}
						if diff := cmp.Diff(want, g.outcome(x, s, c.ask)); diff != "" {
							r.Errorf("%s: %s", name, diff)
						}
					}
				})
			}
		})
	}
}

// small is a configuration with little room for whole answers.
const small = "limits: {atomic_bytes: 4KiB}\n"

// outcome asks once and gathers what came of it.
func (g *gateway) outcome(x *run, s *auditCase, a clientRequest) outcome {
	g.r.Helper()
	t := x.nextNumber(g.r.ctx, s, a, "", time.Now())
	time.Sleep(2 * time.Second) // a record is final within a second of the end
	rec := g.last()
	out := outcome{Outcome: rec.Outcome, Words: t.client.words(), Whole: t.client.whole(answerText(s.words)), AfterOutput: rec.AfterOutput,
		Delivered: min(rec.Delivered.Events, 1)}
	for i, x := range rec.Attempts {
		if i > 0 {
			out.Reasons += " "
		}
		out.Reasons += x.Reason
	}
	switch {
	case rec.Charge == 0:
		out.Charge = "0"
	default:
		out.Charge = rec.Usage.Source
	}
	for _, f := range t.client.failures {
		if f.afterOutput != nil && *f.afterOutput != rec.AfterOutput { // upstream's own events do not say
			g.r.Errorf("the client was told after_output %t, the record has %t", *f.afterOutput, rec.AfterOutput)
		}
	}
	g.spent += int64(rec.Charge)
	g.balanced()
	return out
}

// balanced: the customer has paid the charges, nothing is held.
func (g *gateway) balanced() {
	g.r.Helper()
	var b struct{ Available, Held string }
	g.admin("GET", "/admin/v1/customers/"+g.customer+"/balance", "", &b)
	if want := fmt.Sprint(10_000_000_000 - g.spent); digits(b.Available) != want || digits(b.Held) != "0" {
		g.r.Errorf("available %s, held %s after charges of %d", b.Available, b.Held, g.spent)
	}
	var v struct{ OK bool }
	if g.admin("GET", "/admin/v1/ledger/verify", "", &v); !v.OK {
		g.r.Error("the ledger does not add up")
	}
}

// digits is an amount in nano-USD.
func digits(amount string) string {
	var dollars, nanos int64
	_, _ = fmt.Sscanf(amount, "%d.%d", &dollars, &nanos)
	return fmt.Sprint(dollars*1_000_000_000 + nanos)
}

// last is the newest request's record.
func (g *gateway) last() journal.Record {
	g.r.Helper()
	var list struct{ Requests []journal.Record }
	g.admin("GET", "/admin/v1/requests?limit=1", "", &list)
	if len(list.Requests) != 1 {
		g.r.Fatal("no request is on record")
	}
	var rec journal.Record
	g.admin("GET", "/admin/v1/requests/"+list.Requests[0].RequestID, "", &rec)
	return rec
}

// player is a run that plays what a test gives it.
func (r *auditTest) player(o Options) *run {
	r.Helper()
	o, err := o.withDefaults()
	if err != nil {
		r.Fatal(err)
	}
	d, err := startProviders(r.ctx, o)
	if err != nil {
		r.Fatal(err)
	}
	r.wg.Go(d.wg.Wait)
	return &run{o: o, desk: d, client: newClient(o)}
}

// Nothing goes out before the end, however long that takes; then all at once,
// and the record says how long it was held.
func TestAtomicHold(t *testing.T) {
	for _, surface := range surfaces {
		t.Run(string(surface), func(t *testing.T) {
			inBubble(t, func(r *auditTest) {
				o := r.options(Contract, surface)
				slow := again(steps(openingSteps(1), []sim.Step{sim.Wait(35 * time.Second)}, wordSteps(2, contractWords), closingSteps(done(primaryInput)))...)
				s := &auditCase{name: "answer", words: contractWords, primary: slow, fallback: answers}
				g := r.rubicon(o, "delivery: atomic\n")
				o.Key = g.key
				c := r.player(o).nextNumber(r.ctx, s, clientRequest{}, "", time.Now()).client
				if !c.whole(answerText(contractWords)) || c.first < 35*time.Second || c.total-c.first > time.Second {
					r.Errorf("%s, first event after %s, end after %s", c, c.first, c.total)
				}
				if rec := g.last(); rec.Times.EventHold < 35_000 || rec.Times.FirstOutput > 1000 {
					r.Errorf("times %+v", rec.Times)
				}
			})
		})
	}
}

// Who decides: the request's header, else the key, else the model, else the
// whole configuration.
func TestAtomicSource(t *testing.T) {
	tests := map[string]struct {
		more, key, header string
		atomic            bool
	}{
		"nobody":                 {},
		"configuration":          {more: "delivery: atomic\n", atomic: true},
		"key":                    {key: "atomic", atomic: true},
		"key over config":        {more: "delivery: atomic\n", key: "stream"},
		"header":                 {header: "atomic", atomic: true},
		"header over key":        {key: "stream", header: "atomic", atomic: true},
		"stream header over key": {key: "atomic", header: "stream"},
	}
	for name, tt := range tests {
		for _, surface := range []Surface{Chat, Socket} {
			t.Run(name+"/"+string(surface), func(t *testing.T) {
				inBubble(t, func(r *auditTest) {
					o := r.options(Contract, surface)
					if tt.header != "" {
						o.Header = http.Header{"Rubicon-Delivery": {tt.header}}
					}
					g := r.rubicon(o, tt.more)
					o.Key = g.key
					if tt.key != "" {
						var made struct{ Key string }
						g.admin("POST", "/admin/v1/customers/"+g.customer+"/keys", `{"name":"k","delivery":"`+tt.key+`"}`, &made)
						o.Key = made.Key
					}
					s := &auditCase{name: "answer", words: contractWords, primary: answers, fallback: answers}
					c := r.player(o).nextNumber(r.ctx, s, clientRequest{}, "", time.Now()).client
					if atomic := c.first > contractWords*gap/2; atomic != tt.atomic || !c.whole(answerText(contractWords)) {
						r.Errorf("%s: first event after %s", c, c.first)
					}
				})
			})
		}
	}
}
