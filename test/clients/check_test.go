package clients

import (
	"strings"
	"testing"

	"rubicon/internal/books/journal"
	"rubicon/test/stand"
)

// cutCode is how a broken stream is called.
var cutCode = map[string]string{"responses": "stream_read_error", "chat": "upstream_stream_error", "messages": "upstream_stream_error"}

// check compares what the client saw, and what the operator sees, with what
// must come of the scenario.
func check(t *testing.T, s *stand.Gateway, j job, got seen) {
	want := j.scenario.want
	if got.Name == "" {
		t.Fatal("the client told nothing")
	}
	records := recordsOf(s, j.customer)
	if want.good {
		checkGood(t, got)
	} else {
		checkRaised(t, j, got)
	}
	if n := max(want.retried, 1); len(records) != n {
		t.Errorf("the gateway saw %d requests, want %d", len(records), n)
	}
	for _, r := range records {
		if want.attempts > 0 && len(r.Attempts) != want.attempts {
			t.Errorf("%d attempts, want %d", len(r.Attempts), want.attempts)
		}
		if good := r.Outcome == journal.OutcomeCompleted; good != want.good || good && r.Charge.String() != charge {
			t.Errorf("outcome %s, charge %v", r.Outcome, r.Charge)
		}
	}
}

// checkGood: one answer, whatever happened behind the gateway.
func checkGood(t *testing.T, got seen) {
	t.Helper()
	if got.Error != nil {
		t.Fatalf("raised %+v", *got.Error)
	}
	if got.Text != text || got.Finish == nil {
		t.Errorf("text %q, finish %v", got.Text, got.Finish)
	}
}

// checkRaised: the failure comes as an exception that names it.
func checkRaised(t *testing.T, j job, got seen) {
	t.Helper()
	want := j.scenario.want
	if got.Error == nil {
		t.Fatalf("the client returned %q (%v) instead of raising", got.Text, got.Finish)
	}
	e, code := got.Error, want.code
	if code == "CUT" {
		code = cutCode[j.client.protocol]
		if !strings.HasPrefix(got.Text, "The die") && j.client.name != "anthropic" {
			t.Errorf("the text before the cut is lost: %q", got.Text)
		}
	}
	if want.status > 0 && e.Status != want.status {
		t.Errorf("status %d, want %d", e.Status, want.status)
	}
	kind := want.kind
	if kind == "" || j.client.protocol != "messages" {
		kind = code
	}
	// Some SDKs keep the message alone.
	if !strings.Contains(e.Code+" "+e.Type+" "+e.Message, kind) {
		t.Errorf("raised %+v, want %s", *e, kind)
	}
	if want.retryAfter != "" && e.RetryAfterHeader != want.retryAfter {
		t.Errorf("retry-after %q, want %q", e.RetryAfterHeader, want.retryAfter)
	}
	if n := want.retried; n == 1 && e.ShouldRetry != "false" {
		t.Errorf("x-should-retry %q", e.ShouldRetry)
	}
}

func recordsOf(s *stand.Gateway, c stand.Customer) (list []journal.Record) {
	for _, r := range s.Records() {
		if r.Customer == c.ID {
			list = append(list, r)
		}
	}
	return list
}
