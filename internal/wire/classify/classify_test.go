package classify

import (
	"testing"
)

// The protocols' names; the rules that are built in do not depend on them.
const (
	chat      = "chat"
	messages  = "messages"
	responses = "responses"
)

// TestStatusAlone is what a status means without a body that can be read.
func TestStatusAlone(t *testing.T) {
	want := map[int]Failure{
		200: BadAnswer, 204: BadAnswer, 301: BadAnswer, 307: BadAnswer, 400: Deterministic, 401: Auth, 402: Balance, 403: Deterministic,
		404: Deterministic, 405: Unfit, 408: BadAnswer, 409: Deterministic, 413: Deterministic, 415: Deterministic, 418: Deterministic,
		422: Deterministic, 424: Deterministic, 425: BadAnswer, 426: Unfit, 429: RateLimited, 499: Deterministic, 500: Upstream5xx,
		502: Upstream5xx, 503: Upstream5xx, 504: Upstream5xx, 529: Upstream5xx, 599: Upstream5xx, 600: BadAnswer, 999: BadAnswer,
	}
	for status, f := range want {
		if got := Status(chat, status, FailureInfo{}, nil); got.Failure != f {
			t.Errorf("%d is %s by %q, want %s", status, got.Failure, got.Rule, f)
		}
	}
	for status := 100; status < 1000; status++ {
		if got := Status(chat, status, FailureInfo{Code: "x", Type: "y", Message: "z"}, nil); got.Failure == Unknown || got.Failure == None {
			t.Errorf("no rule for %d", status)
		}
	}
}

func TestErrorsWithAGoodStatus(t *testing.T) {
	cases := []struct {
		info FailureInfo
		want Failure
		rate bool
	}{
		{FailureInfo{Type: "server_error", Message: "Something went wrong"}, BadAnswer, false},
		{FailureInfo{Code: "rate_limit_exceeded"}, BadAnswer, true},
		{FailureInfo{Code: "insufficient_quota"}, BadAnswer, false},
		{FailureInfo{Code: "context_length_exceeded"}, Deterministic, false},
		{FailureInfo{Code: "400"}, Deterministic, false},
		{FailureInfo{Type: "invalid_request_error"}, Deterministic, false},
	}
	for _, c := range cases {
		if got := Status(chat, 200, c.info, nil); got.Failure != c.want || got.RateLimit != c.rate {
			t.Errorf("%+v with 200 is %s (rate limit %v) by %q, want %s (%v)", c.info, got.Failure, got.RateLimit, got.Rule, c.want, c.rate)
		}
	}
}

// Test403 states docs/contract.md#s3-row-7 against docs/contract.md#s3-row-16: what a 403 names.
func Test403(t *testing.T) {
	cases := map[string]Failure{
		"Your account does not have access to this feature.":       Auth,
		"This account has been suspended.":                         Auth,
		"You do not have permission to do this.":                   Auth,
		"The key is not valid.":                                    Auth,
		"Invalid API key.":                                         Auth,
		"Your account has been suspended for violating our terms.": Auth,
		"Your account has insufficient balance.":                   Balance,
		"Request blocked.":                                         Deterministic,
		"Forbidden":                                                Deterministic,
		"":                                                         Deterministic,
		"Your request was blocked. Accounting questions: https://x.example/account":   Deterministic,
		"See https://platform.example/account/api-keys for details.":                  Deterministic,
		"Your prompt was flagged as harmful. Your account is not affected.":           Deterministic,
		"The content violates our policies on account theft.":                         Deterministic,
		"The model monkey is shut.":                                                   Deterministic,
		"This keyboard is not supported.":                                             Deterministic,
		"You do not have access to model x.":                                          Unfit,
		"Your organization must be verified to use the model x, see your permissions": Unfit,
	}
	for message, want := range cases {
		if got := Status(chat, 403, FailureInfo{Message: message}, nil); got.Failure != want {
			t.Errorf("%q is %s by %q, want %s", message, got.Failure, got.Rule, want)
		}
	}
}

func Test404(t *testing.T) {
	cases := map[string]Failure{
		"The model x does not exist.":                           Unfit,
		"Unknown model: x":                                      Unfit,
		"Deployment 'd' not found":                              Unfit,
		"No endpoints found that support tool use.":             Unfit,
		"File 'file-1' for the model not found":                 Deterministic,
		"Container 'c' not found":                               Deterministic,
		"Not Found":                                             Deterministic,
		"There is no tool 'the model x does not exist'.":        Deterministic,
		"No batch found. " + "The model has nothing to do with": Deterministic,
	}
	for message, want := range cases {
		if got := Status(chat, 404, FailureInfo{Message: message}, nil); got.Failure != want {
			t.Errorf("%q is %s by %q, want %s", message, got.Failure, got.Rule, want)
		}
	}
}

func TestAChannelsOwnRules(t *testing.T) {
	extra := []Rule{
		{Name: "our proxy's drain", From: 503, Message: []string{"draining"}, Failure: Overloaded},
		{Name: "chat only", Protocol: chat, From: 400, To: 499, Words: []string{"quantum_flux"}, Failure: Unfit},
	}
	if got := Status(chat, 503, FailureInfo{Message: "node is Draining"}, extra); got.Failure != Overloaded || got.Rule != "our proxy's drain" {
		t.Errorf("%+v", got)
	}
	if got := Status(chat, 418, FailureInfo{Code: "Quantum_Flux"}, extra); got.Failure != Unfit {
		t.Errorf("%+v", got)
	}
	if got := Status(messages, 418, FailureInfo{Code: "quantum_flux"}, extra); got.Failure != Deterministic {
		t.Errorf("%+v", got)
	}
	if got := Event(chat, FailureInfo{Code: "server_error"}, []Rule{{Name: "never", Words: []string{"server_error"}, Failure: Deterministic}}); got.Failure != Deterministic {
		t.Errorf("%+v", got)
	}
}

func TestPlain(t *testing.T) {
	cases := []struct {
		in       string
		unquoted bool
		want     string
	}{
		{"Your  Key\nis bad", false, "your key is bad"},
		{"see https://x.example/account now (http://y)", false, "see now"},
		{"model 'x' not found", true, "model not found"},
		{"The model `x` does not exist", true, "the model does not exist"},
		{`model "x" not found`, true, "model not found"},
		{"You don't and 'quoted don't' can't", true, "you don't and can't"},
		{"the customers' model", true, "the customers' model"},
		{"an open 'quote", true, "an open 'quote"},
		{"Invalid: ('low').", true, "invalid: ( )."},
	}
	for _, c := range cases {
		if got := normalized(c.in, c.unquoted); got != c.want {
			t.Errorf("plain(%q, %v) = %q, want %q", c.in, c.unquoted, got, c.want)
		}
	}
}

func TestFits(t *testing.T) {
	far := "the model" + string(make([]byte, 100)) + "not found"
	cases := []struct {
		text, pattern string
		want          bool
	}{
		{"a b c", "b", true}, {"a b c", "d", false}, {"a b c", "^a", true}, {"a b c", "^b", false}, {"", "a", false}, {"a", "", false},
		{"the model x is not found", "model*not found", true}, {"not found: the model", "model*not found", false}, {far, "model*not found", false},
		{far + " model y not found", "model*not found", true}, {"model", "^model*x", false},
		{"this keyboard", "this key|", false}, {"this keyboard, this key.", "this key|", true}, {"monkey is", "|key is|", false}, {"a key is", "|key is|", true},
		{"a key isolated", "|key is|", false},
	}
	for _, c := range cases {
		if got := matchesPattern(c.text, c.pattern); got != c.want {
			t.Errorf("fits(%q, %q) = %v", c.text, c.pattern, got)
		}
	}
}
