package agents

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
	"rubicon/test/stand"
)

// checkMoney: a request is held and then settled or released exactly once, and
// one that was refused never touched money.
func checkMoney(t *testing.T, g *stand.Gateway, r journal.Record) {
	t.Helper()
	kinds := map[ledger.Kind]int{}
	for _, x := range g.Transactions(r.RequestID) {
		kinds[x.Kind]++
	}
	held, ended := kinds[ledger.KindHold], kinds[ledger.KindSettle]+kinds[ledger.KindRelease]
	want := 1
	if len(r.Attempts) == 0 {
		want = 0
	}
	if held != want || ended != want {
		t.Errorf("%d holds, %d endings of %s, %d attempts (%s)", held, ended, r.RequestID, len(r.Attempts), r.Outcome)
	}
	paid := r.Outcome == journal.OutcomeCompleted || r.Outcome == journal.OutcomePartial
	if len(r.Attempts) > 0 && paid != (r.Charge > 0) || paid && len(r.Attempts) > 0 && kinds[ledger.KindSettle] != 1 {
		t.Errorf("%s is %s and charged %v", r.RequestID, r.Outcome, r.Charge)
	}
}

// checkOwn: the customer finds the turn by its response, failed ones too.
func checkOwn(t *testing.T, g *stand.Gateway, who stand.Customer, r journal.Record) {
	t.Helper()
	if r.ResponseID == "" {
		return
	}
	if got := g.Get(who, "/v1/requests?response_id="+r.ResponseID); got.Status != 200 || !strings.Contains(got.Body, r.RequestID) {
		t.Errorf("the customer does not find %s by %s: %d %s", r.RequestID, r.ResponseID, got.Status, got.Body)
	}
}

// checkBooks: what the agent asked, what is on record and what the providers
// got are the same.
func (o outcome) checkBooks(t *testing.T, a agent, lasting bool) {
	t.Helper()
	attempts := 0
	for _, r := range o.records {
		attempts += len(r.Attempts)
		answers := 0
		for _, x := range r.Attempts {
			if x.Reason == "answered" {
				answers++
			}
		}
		if answered := r.Outcome == journal.OutcomeCompleted; answered != (answers == 1) || answers > 1 {
			t.Errorf("%s is %s with %d good attempts", r.RequestID, r.Outcome, answers)
		}
	}
	if attempts != len(o.calls) {
		t.Errorf("%d attempts on record, %d calls upstream", attempts, len(o.calls))
	}
	if o.posts() != len(o.records) {
		t.Errorf("%d requests, %d on record", o.posts(), len(o.records))
	}
	for _, x := range o.asked {
		if a.socket && x.Method == "POST" && !lasting {
			t.Errorf("a POST beside the socket: %+v", x)
		}
	}
}

// ends: the agent is content and says this last, once.
func (o outcome) ends(t *testing.T, text string) {
	t.Helper()
	for _, r := range o.runs {
		if r.exit != 0 {
			t.Errorf("exit code %d", r.exit)
		}
	}
	texts := o.last().texts
	if len(texts) == 0 || texts[len(texts)-1] != text || strings.Count(strings.Join(texts, "\n"), text) != 1 {
		t.Errorf("said %q, want %q at the end, once", texts, text)
	}
}

// recovers: an agent that asks again ends well; one that does not tells of the
// failure, once. Which of them it is, is the agent's own.
func (o outcome) recovers(t *testing.T, text string) {
	t.Helper()
	n := len(o.last().failures)
	if o.posts() > 1 {
		o.ends(t, text)
	} else if n != 1 {
		t.Errorf("the agent gave up, and told of %d failures", n)
	}
	if n > 1 {
		t.Errorf("one cut, %d failures: %q", n, o.last().failures)
	}
}

// fails: the agent tells of a failure, of one for each request at most.
func (o outcome) fails(t *testing.T) {
	t.Helper()
	if n := len(o.last().failures); n == 0 || n > o.posts() {
		t.Errorf("told of %d failures for %d requests: %q", n, o.posts(), o.last().failures)
	}
}

// turns: these outcomes and no other.
func (o outcome) turns(t *testing.T, want ...journal.Outcome) {
	t.Helper()
	var got []journal.Outcome
	for _, r := range o.records {
		got = append(got, r.Outcome)
	}
	if !slices.Equal(got, want) {
		t.Errorf("turns %q, want %q", got, want)
	}
}

func (o outcome) upstream(t *testing.T, a, b int) {
	t.Helper()
	o.upstreamOf(t, "a", a)
	o.upstreamOf(t, "b", b)
}

func (o outcome) upstreamOf(t *testing.T, name string, want int) {
	t.Helper()
	got := 0
	for _, c := range o.calls {
		if c.by == name {
			got++
		}
	}
	if got != want {
		t.Errorf("%d calls at provider %s, want %d", got, name, want)
	}
}

// callsOf counts the calls that played a script.
func (o outcome) callsOf(script string) (n int) {
	for _, c := range o.calls {
		if c.Key == script {
			n++
		}
	}
	return n
}

// neverStopped: the command ran once, and its output reached the model.
func (o outcome) neverStopped(t *testing.T) {
	t.Helper()
	if o.ran != 1 {
		t.Errorf("the command ran %d times", o.ran)
	}
	if last := o.calls[len(o.calls)-1].Body; !strings.Contains(last, output) {
		t.Errorf("the command's output is not in what the model got: %s", last)
	}
}

// continued: on a socket so many turns named a response of before, and upstream
// got them whole.
func (o outcome) continued(t *testing.T, a agent, want int) {
	t.Helper()
	if !a.socket {
		return
	}
	got := 0
	for _, x := range o.asked {
		if x.Continued && !x.Warmup {
			got++
		}
	}
	// The first turn after a warm-up continues that.
	if got != want+o.warm {
		t.Errorf("%d continued turns, want %d and those of %d warm-ups", got, want, o.warm)
	}
	for _, c := range o.calls {
		if strings.Contains(c.Body, `"previous_response_id"`) || !strings.Contains(c.Body, "Say hello.") {
			t.Errorf("upstream did not get the whole input: %s", c.Body)
		}
	}
}

// streams counts the streamed turns. Claude Code asks again without a stream,
// where nothing is delivered before the whole answer is there.
func (o outcome) streams() (n int) {
	for _, r := range o.records {
		if r.Stream {
			n++
		}
	}
	return n
}

// cut: n turns broke after output. Each was one attempt, is paid for what was
// delivered, and was never repeated by the gateway.
func (o outcome) cut(t *testing.T, n int) {
	t.Helper()
	got := 0
	for _, r := range o.records {
		if r.Outcome == journal.OutcomePartial {
			got++
		}
		if r.Stream && len(r.Attempts) != 1 {
			t.Errorf("%d attempts: %+v", len(r.Attempts), r)
		}
	}
	if got != n || n == 0 {
		t.Errorf("%d turns were cut, want %d", got, n)
	}
}

// noMoreTries: the gateway's way to say a failure does not make the agent try
// more often than the provider's own.
func (o outcome) noMoreTries(t *testing.T) {
	t.Helper()
	if o.direct != nil && o.posts() > o.direct.posts() {
		t.Errorf("%d tries, without the gateway %d", o.posts(), o.direct.posts())
	}
}

// gap is the time between the first two requests.
func (o outcome) gap() time.Duration {
	var at []time.Time
	for _, x := range o.asked {
		if x.Create && !x.Warmup || x.Method == "POST" {
			at = append(at, x.At)
		}
	}
	if len(at) < 2 {
		return 0
	}
	return at[1].Sub(at[0])
}
