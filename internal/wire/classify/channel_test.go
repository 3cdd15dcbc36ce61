package classify

import (
	"testing"
)

// A channel's own rules come first, for statuses and for events, and also
// before an event's own word.
func TestChannelRules(t *testing.T) {
	retryable := true
	own := []Rule{
		{Name: "both", From: 500, Words: []string{"e42"}, CodeOnly: true, Message: []string{"queue full"}, NeedsBoth: true, Failure: Overloaded},
		{Name: "type", Types: []string{"throttled"}, Failure: RateLimited, RateLimit: true},
		{Name: "code", Words: []string{"burst"}, CodeOnly: true, Failure: RateLimited, RateLimit: true},
		{Name: "never again", Words: []string{"poisoned"}, CodeOnly: true, Failure: Deterministic},
	}
	for _, c := range []struct {
		name   string
		status int // 0: an event
		info   FailureInfo
		want   Failure
		rule   string
	}{
		{"code and message", 500, FailureInfo{Code: "E42", Message: "The queue full."}, Overloaded, "both"},
		{"code without message", 500, FailureInfo{Code: "e42"}, Upstream5xx, "5xx"},
		{"another status", 502, FailureInfo{Code: "e42", Message: "queue full"}, Upstream5xx, "5xx"},
		{"type", 400, FailureInfo{Type: "Throttled"}, RateLimited, "type"},
		{"a code is no type", 400, FailureInfo{Code: "throttled"}, Deterministic, "other 4xx"},
		{"a type is no code", 400, FailureInfo{Type: "burst"}, Deterministic, "other 4xx"},
		{"an event", 0, FailureInfo{Type: "throttled"}, RateLimited, "type"},
		{"a rule with a status is not for events", 0, FailureInfo{Code: "e42", Message: "queue full"}, Unknown, "unknown event"},
		{"before the event's own word", 0, FailureInfo{Code: "poisoned", Retryable: &retryable}, Deterministic, "never again"},
		{"other events keep their word", 0, FailureInfo{Code: "x", Retryable: &retryable}, FailedEvent, "event says retryable"},
	} {
		got := Event("chat", c.info, own)
		if c.status != 0 {
			got = Status("chat", c.status, c.info, own)
		}
		if got.Failure != c.want || got.Rule != c.rule || got.RateLimit != (c.want == RateLimited) {
			t.Errorf("%s: %+v, want %s by %q", c.name, got, c.want, c.rule)
		}
	}
}
