package classify

import (
	"strconv"
	"strings"
	"testing"
)

// TestNumbers is docs/contract.md#s3-status-code, for all codes that are HTTP
// statuses: as a code, a type, a textual and a numeric status.
func TestNumbers(t *testing.T) {
	want := map[int]Failure{400: Deterministic, 409: Deterministic, 413: Deterministic, 415: Deterministic, 422: Deterministic, 402: Balance}
	for n := range 1000 {
		failure, word := want[n], strconv.Itoa(n)
		switch {
		case failure != "":
		case n >= 401 && n <= 599:
			failure = FailedEvent
		default:
			failure = Unknown
		}
		for _, info := range []FailureInfo{{Code: word}, {Code: "odd", Type: word}, {Code: "odd", State: word}, {Code: "odd", Status: n}} {
			if got := Event(chat, info, nil); got.Failure != failure || got.RateLimit != (n == 429) {
				t.Errorf("%+v is %s (rate limit %v) by %q, want %s", info, got.Failure, got.RateLimit, got.Rule, failure)
			}
		}
	}
}

// TestRetryableWords is the list of docs/contract.md#s3-retryable, in any case and as
// code, type or status.
func TestRetryableWords(t *testing.T) {
	const list = `server_error internal_server_error api_error server_is_overloaded overloaded_error service_unavailable service_unavailable_error
		slow_down rate_limit_exceeded rate_limit_error timeout vector_store_timeout timeout_error internal_error internalservererror overloaded
		upstream_error bad_gateway gateway_timeout rate_limit unavailable new_api_error`
	for _, word := range strings.Fields(list) {
		limit := strings.HasPrefix(word, "rate_limit")
		for _, info := range []FailureInfo{{Code: word}, {Code: strings.ToUpper(word)}, {Type: word}, {Type: strings.ToUpper(word)}, {Type: "odd", State: word}} {
			if got := Event(chat, info, nil); got.Failure != FailedEvent || got.RateLimit != limit {
				t.Errorf("%+v is %s (rate limit %v) by %q", info, got.Failure, got.RateLimit, got.Rule)
			}
		}
	}
}

// A number says overload and timeout as words do.
func TestSaysByNumber(t *testing.T) {
	for n, want := range map[int][2]bool{503: {true, false}, 529: {true, false}, 504: {false, true}, 408: {false, true}, 500: {}, 0: {}} {
		for _, info := range []FailureInfo{{Code: strconv.Itoa(n)}, {Status: n}} {
			if got := [2]bool{SaysOverload(info), SaysTimeout(info)}; got != want {
				t.Errorf("%+v: overload, timeout %v", info, got)
			}
		}
	}
}
