package explain

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
	"rubicon/internal/money"
	"rubicon/internal/wire/classify"
)

var update = flag.Bool("update", false, "write the golden files anew")

func at(ms int) time.Time {
	return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(ms) * time.Millisecond)
}

// replayed is the request that the product exists for.
func replayed() journal.Record {
	return journal.Record{
		RequestID: "req_1", Customer: "cus_1", Key: "key_1", Surface: journal.SurfaceResponsesHTTP, Stream: true,
		PublicModel: "openai/gpt-5.6-terra", UpstreamModel: "terra-b", ResponseID: "resp_9", Outcome: journal.OutcomeCompleted,
		AfterOutput: true, Charge: 350_000, StartedAt: at(0), FinishedAt: at(80),
		Usage: journal.Usage{Input: 10, Output: 5, Source: "reported"},
		Lines: []journal.Line{
			{Class: "input", Units: 10, Price: "10.000000000", Amount: 100_000},
			{Class: "output", Units: 5, Price: "50.000000000", Amount: 250_000},
		},
		Times:     journal.Times{ChargeHold: 1, EventHold: 30, FirstEvent: 40, FirstOutput: 41, Total: 80},
		Delivered: journal.Delivered{Events: 7, Bytes: 1024},
		Attempts: []journal.Attempt{
			{N: 1, Channel: "a", Credential: "k1", UpstreamModel: "terra-a", Status: 200, Outcome: "failed", Failure: "failed_event",
				Code: "server_is_overloaded", MayHaveExecuted: true, Verdict: "replay", Reason: "replay_failed_event",
				Events: 2, Bytes: 512, Cost: 75_000, UpstreamRequestID: "up_1", StartedAt: at(1), FirstEventMS: 12, MS: 40},
			{N: 2, Channel: "b", Credential: "k1", UpstreamModel: "terra-b", Status: 200, Outcome: "completed",
				Verdict: "deliver", Reason: "answered", MayHaveExecuted: true, Events: 7, Bytes: 1024, Cost: 280_000, StartedAt: at(41), FirstEventMS: 9, MS: 38},
		},
		Decisions: []journal.Decision{
			{N: 1, Chosen: "a", Reason: "weight", Candidates: []journal.Candidate{
				{Channel: "a", State: "closed", Weight: 100, EffectiveWeight: 100},
				{Channel: "b", State: "closed", Weight: 50, EffectiveWeight: 12.5},
				{Channel: "c", State: "open", Priority: 1, Weight: 100, EffectiveWeight: 100, Excluded: "open"}}},
			{N: 2, Chosen: "b", Reason: "only_route", Candidates: []journal.Candidate{
				{Channel: "a", State: "closed", Weight: 100, EffectiveWeight: 100, Excluded: "tried"},
				{Channel: "b", State: "closed", Weight: 50, EffectiveWeight: 12.5},
				{Channel: "c", State: "open", Priority: 1, Weight: 100, EffectiveWeight: 100, Excluded: "open"}}},
		},
	}
}

func cut() journal.Record {
	return journal.Record{
		RequestID: "req_2", Customer: "cus_1", Key: "key_1", Surface: journal.SurfaceChat, Stream: true,
		PublicModel: "m", UpstreamModel: "up", Outcome: journal.OutcomePartial, AfterOutput: true, Charge: 120,
		Error: &journal.Error{Code: "upstream_stream_error", Type: "server_error"}, StartedAt: at(0),
		Usage: journal.Usage{Source: "estimated", Flags: []string{"overrun"}}, ClientRequestID: "mine-7", Notes: []string{"charge capped at the hold"},
		Attempts: []journal.Attempt{{N: 1, Channel: "a", UpstreamModel: "up", Status: 200, Outcome: "failed", Failure: "read_error",
			MayHaveExecuted: true, Verdict: "deliver", Reason: "output_delivered", Events: 3, Bytes: 99, MS: 12}},
		Decisions: []journal.Decision{{N: 1, Chosen: "a", Candidates: []journal.Candidate{{Channel: "a", State: "closed", Weight: 1, EffectiveWeight: 1}}}},
	}
}

func postings() []ledger.Transaction {
	return []ledger.Transaction{
		{ID: "tx_1", Kind: ledger.KindHold, Postings: []ledger.Posting{
			{Account: "customer:cus_1:available", Amount: -500_000}, {Account: "customer:cus_1:held", Amount: 500_000}}},
		{ID: "tx_2", Kind: ledger.KindSettle, Postings: []ledger.Posting{
			{Account: "customer:cus_1:held", Amount: -500_000}, {Account: "revenue:openai/gpt-5.6-terra", Amount: 350_000}, {Account: "customer:cus_1:available", Amount: 150_000}}},
		{ID: "tx_3", Kind: ledger.KindCost, Reason: "replay_failed_event", Postings: []ledger.Posting{
			{Account: "upstream:a", Amount: -75_000}, {Account: "absorbed:a", Amount: 75_000}}},
	}
}

func TestText(t *testing.T) {
	hostile := cut()
	hostile.Attempts[0].Channel, hostile.Attempts[0].Reason = "\x1b[31mred\nline", "a_reason_of_tomorrow"
	refunded := cut()
	refunded.Refunded = &ledger.Refund{Amount: 120, At: at(60_000), Reason: "a bad answer"}
	tests := []struct{ name, got string }{
		{"replayed", Text(replayed(), postings())},
		{"replayed-customer", Text(replayed(), nil)},
		{"cut", Text(cut(), nil)},
		{"refunded", Text(refunded, nil)},
		{"hostile", Text(hostile, nil)},
		{"empty", Text(journal.Record{}, nil)},
		{"plan", Plan("openai/gpt-5.6-terra", replayed().Decisions[0])},
		{"plan-none", Plan("m", journal.Decision{Candidates: []journal.Candidate{{Channel: "a", State: "paused", Weight: 1, EffectiveWeight: 1, Excluded: "paused"}}})},
		{"plan-priority", Plan("m", journal.Decision{Chosen: "a", Candidates: []journal.Candidate{
			{Channel: "a", State: "closed", Weight: 1, EffectiveWeight: 1}, {Channel: "b", Priority: 2, State: "closed", Weight: 1, EffectiveWeight: 1}}})},
		{"plan-half-open", Plan("m", journal.Decision{Chosen: "a", Candidates: []journal.Candidate{
			{Channel: "a", State: "half_open", Weight: 1, EffectiveWeight: 1}, {Channel: "b", Priority: 2, State: "closed", Weight: 1, EffectiveWeight: 1}}})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join("testdata", tt.name+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(tt.got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), tt.got); diff != "" {
				t.Errorf("text differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSentence(t *testing.T) {
	attempt := func(channel, failure, reason string) journal.Attempt {
		return journal.Attempt{Channel: channel, Failure: failure, Reason: reason, Outcome: "failed"}
	}
	record := func(o journal.Outcome, after bool, charge money.Nano, attempts ...journal.Attempt) journal.Record {
		return journal.Record{Outcome: o, AfterOutput: after, Charge: charge, Attempts: attempts}
	}
	good := journal.Attempt{Channel: "c", Outcome: "completed", Reason: "answered"}
	tests := []struct {
		name string
		in   journal.Record
		want string
	}{
		{"plain", record("completed", true, 1, good), "Answered by c; the customer paid for one answer."},
		{"replay", replayed(), "Answered by b after a failed before output; the customer paid for one answer."},
		{"two lost", record("completed", true, 1, attempt("a", "connect", ""), attempt("b", "rate_limited", ""), good),
			"Answered by c after a and b failed before output; the customer paid for one answer."},
		{"free", record("completed", true, 0, good), "Answered by c; the customer paid nothing."},
		{"warm-up", record("completed", false, 0), "Answered by the gateway itself; the customer paid nothing."},
		{"incomplete", record("incomplete", true, 1, good), "Answered by c, incomplete; the customer paid for one answer."},
		{"cut", cut(), "Broke off after output on a (stream broke off), not repeated because output had been delivered to the client; the customer paid for what was delivered."},
		{"failed", record("failed", false, 0, attempt("a", "deterministic", "deterministic")),
			"Failed before output on a (it would fail the same way again); the customer paid nothing."},
		{"failed twice", record("failed", false, 0, attempt("a", "failed_event", ""), attempt("b", "failed_event", "replay_budget_spent")),
			"Failed before output on b (failure event) after a had failed too, not repeated because the one replay was used up; the customer paid nothing."},
		{"no channel", record("failed", false, 0), "Failed before the first attempt; the customer paid nothing."},
		{"left early", record("cancelled", false, 0, attempt("a", "client_gone", "client_disconnected")),
			"The client left before output, while a was answering; the customer paid nothing."},
		{"left late", record("cancelled", true, 1, attempt("a", "client_gone", "client_disconnected")),
			"The client left after output, while a was answering; the customer paid for what was delivered."},
		{"rejected", journal.Record{Outcome: "rejected", Error: &journal.Error{Code: "insufficient_balance"}},
			"Refused before the first attempt (insufficient_balance); the customer paid nothing."},
		{"running", record("running", false, 0, attempt("a", "", "")), "Still running, on a."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Sentence(tt.in); got != tt.want {
				t.Errorf("Sentence() =\n %s\nwant\n %s", got, tt.want)
			}
		})
	}
}

// Every reason of package replay and every class of failure has words.
func TestWordsAreComplete(t *testing.T) {
	have := words()
	for _, f := range classify.All() {
		if have[string(f)] == "" {
			t.Errorf("no words for the failure class %q", f)
		}
	}
	reasons := reasonsInSource(t)
	if len(reasons) < 30 {
		t.Fatalf("found only %d reasons in the source", len(reasons))
	}
	for _, r := range reasons {
		if have[r] == "" {
			t.Errorf("no words for the reason %q", r)
		}
	}
}

// reasonsInSource reads the constants of type Reason, because package replay
// has no need to list them.
func reasonsInSource(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "engine", "replay", "rules.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "Reason" && len(spec.Values) == 1 {
			if text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value); err == nil {
				out = append(out, strings.TrimSpace(text))
			}
		}
		return true
	})
	return out
}

func TestReasonKeepsUnknownWords(t *testing.T) {
	if got := Reason("something_new"); got != "something_new" {
		t.Errorf("Reason() = %q", got)
	}
}
