package scenario

import (
	"net/http"
	"strings"
	"testing"

	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
)

var two = []ledger.Posting{{Account: "customer:c:available", Amount: -1}, {Account: "customer:c:held", Amount: 1}}

// good is a request that keeps every invariant.
func good() *observedRequest {
	return &observedRequest{
		exchange: &exchange{req: &Request{Name: "1", Surface: surfaceResponses}, status: 200, ended: endedWhole,
			header: http.Header{"X-Request-Id": {"req_1"}},
			events: []event{{data: `{"type":"response.created"}`}, {data: `{"type":"response.output_text.delta","delta":"Hi"}`}, {data: `{"type":"response.completed"}`}}},
		record: &journal.Record{Outcome: journal.OutcomeCompleted, Surface: journal.SurfaceResponsesHTTP, Attempts: []journal.Attempt{{MayHaveExecuted: true}}},
		money: []ledger.Transaction{{Kind: ledger.KindHold, Postings: two}, {Kind: ledger.KindSettle, Postings: two},
			{Kind: ledger.KindCost, Postings: two}},
	}
}

// TestInvariants: each promise, broken once, is found; so that no recording can
// be taken that breaks one.
func TestInvariants(t *testing.T) {
	for _, c := range []struct {
		name, want string
		spoil      func(*observedRequest)
	}{
		{"nothing", "", func(*observedRequest) {}},
		{"no id", "no x-request-id", func(r *observedRequest) { r.header = http.Header{} }},
		{"no word about retrying", "x-should-retry", func(r *observedRequest) { r.status = 500 }},
		{"no delay", "without retry-after", func(r *observedRequest) { r.status = 503 }},
		{"no envelope", "the error has no retry_after", func(r *observedRequest) { r.status, r.whole = 400, []byte(`{"error":{"message":"x"}}`) }},
		{"two endings", "ends [response.completed response.completed]", func(r *observedRequest) { r.events = append(r.events, r.events[2]) }},
		{"something behind the ending", "ends [response.completed] among", func(r *observedRequest) { r.events = append(r.events, r.events[1]) }},
		{"no ending", "no ending", func(r *observedRequest) { r.events = r.events[:2] }},
		{"a cut that looks finished", "outcome partial, and the client saw response.completed", func(r *observedRequest) { r.record.Outcome = journal.OutcomePartial }},
		{"a good answer that looks cut", "outcome completed, and the client saw response.failed", func(r *observedRequest) { r.events[2].data = `{"type":"response.failed"}` }},
		{"two beginnings", "2 beginnings", func(r *observedRequest) { r.events[1] = r.events[0] }},
		{"a broken connection", "broke off instead of ending", func(r *observedRequest) { r.ended = endedBroken }},
		{"settled twice", "2 settlements", func(r *observedRequest) { r.money = append(r.money, r.money[1]) }},
		{"settled and released", "1 settlements, 1 releases", func(r *observedRequest) { r.money = append(r.money, ledger.Transaction{Kind: ledger.KindRelease}) }},
		{"left open", "1 holds, 0 settlements", func(r *observedRequest) { r.money = r.money[:1] }},
		{"without a hold", "ran without a hold", func(r *observedRequest) { r.money = nil }},
		{"refused and held", "was refused and has", func(r *observedRequest) { r.record.Outcome = journal.OutcomeRejected }},
		{"three executions", "3 executions", func(r *observedRequest) {
			r.record.Attempts = append(r.record.Attempts, r.record.Attempts[0], r.record.Attempts[0])
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, k := good(), &checks{}
			c.spoil(r)
			k.envelope(r)
			k.oneEnding(r)
			k.resolvedOnce(r)
			k.executions(r)
			got := strings.Join(k.wrong, "; ")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestLeaksAreFound(t *testing.T) {
	v := &observed{s: &Scenario{}, requests: []observedRequest{*good()}, secrets: []string{"key-of-a"}}
	v.verify.OK = true
	if wrong := v.broken(); wrong != nil {
		t.Fatal(wrong)
	}
	v.requests[0].events[1].data = `{"type":"x","message":"Bearer key-of-a is wrong"}`
	if got := strings.Join(v.broken(), "; "); !strings.Contains(got, `the client read "key-of-a"`) {
		t.Errorf("got %q", got)
	}
}

func TestExpectationsAreHeld(t *testing.T) {
	text := "Hi"
	for _, c := range []struct {
		name, want string
		expect     Expect
	}{
		{"all good", "", Expect{Status: 200, Ends: "response.completed", Text: &text, Outcome: "completed", Calls: map[string]int{"a": 0}}},
		{"status", "status is 200, expected 500", Expect{Status: 500}},
		{"ends", "do not end with response.failed", Expect{Ends: "response.failed"}},
		{"outcome", "outcome is completed, expected failed", Expect{Outcome: "failed"}},
		{"attempts", "attempts is [ -  ], expected [a connect switch x]", Expect{Attempts: []string{"a connect switch x"}}},
		{"header", "header X is absent, expected 1", Expect{Headers: map[string]string{"X": "1"}}},
		{"error", "error is no object", Expect{Error: object{{"code", "x"}}}},
		{"calls", "calls is map[a:0], expected map[a:1]", Expect{Calls: map[string]int{"a": 1}}},
		{"ended", "the end is whole, expected broken", Expect{Ended: endedBroken}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := &observed{s: &Scenario{Expect: c.expect}, requests: []observedRequest{*good()}}
			if v.s.Expect.Calls == nil {
				v.s.Expect.Calls = map[string]int{}
			}
			got := strings.Join(v.unexpected(), "; ")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
