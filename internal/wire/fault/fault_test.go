package fault_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/wire/fault"
)

// codes is the list docs/contract.md#s5-codes, written once more.
var codes = map[int]string{
	400: "invalid_json invalid_request unsupported_parameter unsupported_surface unsupported_event invalid_stream_id previous_response_not_found websocket_connection_limit_reached",
	401: "invalid_api_key expired_api_key",
	402: "insufficient_balance key_budget_exceeded",
	403: "model_not_allowed",
	404: "model_not_found not_found",
	409: "idempotency_key_conflict idempotency_in_progress",
	413: "payload_too_large",
	415: "unsupported_encoding",
	429: "rate_limit_exceeded concurrency_limit response_already_active",
	500: "internal_error response_failed websocket_response_failed",
	502: "upstream_error upstream_auth connect_failed stream_read_error upstream_stream_error upstream_stream_buffer_limit",
	503: "all_channels_failed upstream_balance store_unavailable overloaded shutting_down",
	504: "header_timeout answer_timeout first_event_timeout first_output_timeout stream_idle_timeout request_timeout",
}

func TestTableIsTheContracts(t *testing.T) {
	want := map[string]int{}
	for status, list := range codes {
		for _, code := range strings.Fields(list) {
			want[code] = status
		}
	}
	got := map[string]int{}
	for _, row := range fault.Table() {
		if _, twice := got[row.Code]; twice {
			t.Errorf("%s stands there twice", row.Code)
		}
		got[row.Code] = row.Status
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRowsAreWhole(t *testing.T) {
	types := []string{"invalid_request_error", "authentication_error", "permission_error", "not_found_error", "rate_limit_error", "insufficient_quota", "server_error"}
	blame := []string{"client", "operator", "upstream", "gateway"}
	one := func(list []string, s string) bool {
		return strings.Contains(" "+strings.Join(list, " ")+" ", " "+s+" ")
	}
	for _, r := range fault.Table() {
		switch {
		case !one(types, r.Type):
			t.Errorf("%s: type %q", r.Code, r.Type)
		case r.Type != fault.TypeFor(r.Status):
			t.Errorf("%s: type %q, but %q for its status", r.Code, r.Type, fault.TypeFor(r.Status))
		case !one(blame, r.AtFault):
			t.Errorf("%s: at fault is %q", r.Code, r.AtFault)
		case r.Charged != "no" && r.Charged != "delivered":
			t.Errorf("%s: charged %q", r.Code, r.Charged)
		case !strings.HasSuffix(r.Happened, ".") || !strings.HasSuffix(r.Advice, ".") && !strings.HasSuffix(r.Advice, "…"):
			t.Errorf("%s: its words are no sentences", r.Code)
		case r.Status == 503 && !r.Retryable, r.Status == 429 && !r.Retryable:
			t.Errorf("%s: %d names a time to come back, but is not retryable", r.Code, r.Status)
		case r.Status < 429 && r.Retryable && r.Status != 409:
			t.Errorf("%s: the caller's own mistake, yet retryable", r.Code)
		}
	}
}

func TestTableIsACopy(t *testing.T) {
	fault.Table()[0].Code = "changed"
	if got := fault.Table()[0].Code; got != fault.InvalidJSON {
		t.Errorf("the table can be changed from outside: %s", got)
	}
}

func TestNew(t *testing.T) {
	e := fault.New(fault.ConnectFailed, "")
	if e.Status != 502 || e.Type != "server_error" || !e.Retryable || e.Message == "" {
		t.Errorf("%+v", e)
	}
	if e := fault.New("no such code", "words"); e.Code != fault.InternalError || e.Status != 500 || e.Message != "words" {
		t.Errorf("an unknown code came out as %+v", e)
	}
	cause := errors.New("the disk is full")
	e = fault.Newf(fault.NotFound, "no %s", "model").WithParam("model").WithCause(cause)
	if !errors.Is(e, cause) || e.Error() != "not_found: no model: the disk is full" || e.Param != "model" {
		t.Errorf("%v", e)
	}
	for _, body := range [][]byte{fault.OpenAIBody(e), fault.MessagesBody(e), fault.Frame(e)} {
		if strings.Contains(string(body), "disk") {
			t.Errorf("the cause is shown: %s", body)
		}
	}
}

func TestEnvelopes(t *testing.T) {
	full := fault.New(fault.RateLimitExceeded, "Slow \"down\"\n")
	full.RequestID, full.Param, full.RetryAfter, full.AfterOutput = "req_1", "model", 1500*time.Millisecond, true
	full.Extra = []fault.Field{{Name: "balance", Value: `"1.000000000"`}}
	bare := &fault.Error{Status: 502, Type: "server_error", Message: "x"}
	told := &fault.Error{Code: "weird", Type: "their_own_type", Status: 500, Message: "x", Upstream: true}
	for _, c := range []struct {
		name string
		got  []byte
		want string
	}{
		{"OpenAI", fault.OpenAIBody(full),
			`{"error":{"message":"Slow \"down\"\n","type":"rate_limit_error","code":"rate_limit_exceeded","param":"model","request_id":"req_1","retryable":true,"retry_after":2,"after_output":true,"balance":"1.000000000"}}`},
		{"OpenAI, bare", fault.OpenAIBody(bare),
			`{"error":{"message":"x","type":"server_error","code":null,"param":null,"request_id":null,"retryable":false,"retry_after":null,"after_output":false}}`},
		{"Messages", fault.MessagesBody(full),
			`{"type":"error","error":{"message":"Slow \"down\"\n","type":"rate_limit_error","code":"rate_limit_exceeded","param":"model","request_id":"req_1","retryable":true,"retry_after":2,"after_output":true,"balance":"1.000000000"},"request_id":"req_1"}`},
		{"Messages, bare", fault.MessagesBody(bare),
			`{"type":"error","error":{"message":"x","type":"api_error","code":null,"param":null,"request_id":null,"retryable":false,"retry_after":null,"after_output":false},"request_id":null}`},
		{"Messages, the provider's own words", fault.MessagesBody(told),
			`{"type":"error","error":{"message":"x","type":"their_own_type","code":"weird","param":null,"request_id":null,"retryable":false,"retry_after":null,"after_output":false},"request_id":null}`},
		{"frame", fault.Frame(full),
			`{"type":"error","status":429,"error":{"message":"Slow \"down\"\n","type":"rate_limit_error","code":"rate_limit_exceeded","param":"model","request_id":"req_1","retryable":true,"retry_after":2,"after_output":true,"balance":"1.000000000"},"headers":{"retry-after":"2"}}`},
		{"frame, bare", fault.Frame(bare),
			`{"type":"error","status":502,"error":{"message":"x","type":"server_error","code":null,"param":null,"request_id":null,"retryable":false,"retry_after":null,"after_output":false}}`},
	} {
		if diff := cmp.Diff(c.want, string(c.got)); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
		if !json.Valid(c.got) {
			t.Errorf("%s is no JSON", c.name)
		}
	}
}

func TestMessagesTypes(t *testing.T) {
	want := map[int]string{400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
		404: "not_found_error", 409: "invalid_request_error", 413: "request_too_large", 429: "rate_limit_error",
		500: "api_error", 502: "api_error", 503: "overloaded_error", 504: "timeout_error", 529: "overloaded_error"}
	for status, typ := range want {
		if got := fault.MessagesTypeFor(status); got != typ {
			t.Errorf("%d: %s, want %s", status, got, typ)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	for _, c := range []struct {
		status int
		after  time.Duration
		want   int64
	}{
		{429, 0, 1}, {503, 0, 1}, {529, 0, 1}, {502, 0, 0}, {504, -time.Second, 0}, {429, -time.Second, 1},
		{429, time.Nanosecond, 1}, {429, time.Second, 1}, {503, time.Second + 1, 2}, {502, 90 * time.Second, 90},
		{503, math.MaxInt64, 9223372037},
	} {
		e := &fault.Error{Status: c.status, RetryAfter: c.after}
		if got := e.RetryAfterSeconds(); got != c.want {
			t.Errorf("%d after %v: %d, want %d", c.status, c.after, got, c.want)
		}
	}
	for code, want := range map[string]int64{fault.IdempotencyInProgress: 1, fault.IdempotencyConflict: 0} {
		if got := fault.New(code, "").RetryAfterSeconds(); got != want {
			t.Errorf("%s: %d, want %d", code, got, want)
		}
	}
}

func TestShouldRetry(t *testing.T) {
	e := fault.New(fault.ConnectFailed, "")
	if !e.ShouldRetry() {
		t.Error("a harmless repeat should be made")
	}
	if e.NoRetry = true; e.ShouldRetry() || !e.Retryable {
		t.Error("after a replay x-should-retry is false, retryable stays")
	}
	if fault.New(fault.UpstreamAuth, "").ShouldRetry() {
		t.Error("a refused credential is not retried")
	}
}

// FuzzEnvelope: whatever the words are, the body is JSON and says them.
func FuzzEnvelope(f *testing.F) {
	f.Add("words", "code", "param")
	f.Add("\xff\x00\u2028</script>", "\"", "\\")
	f.Fuzz(func(t *testing.T, message, code, param string) {
		e := &fault.Error{Status: 500, Type: "t", Message: message, Code: code, Param: param}
		for _, body := range [][]byte{fault.OpenAIBody(e), fault.MessagesBody(e), fault.Frame(e)} {
			var got struct {
				Error struct{ Message, Code, Param string }
			}
			if err := json.Unmarshal(body, &got); err != nil {
				t.Fatalf("%v: %s", err, body)
			}
			clean := func(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
			if strings.ToValidUTF8(message, "") == message && got.Error.Message != clean(message) {
				t.Errorf("message %q became %q", message, got.Error.Message)
			}
		}
	})
}

// A client's own words are cut between characters, and it shows that they were.
func TestClip(t *testing.T) {
	whole := strings.Repeat("ö", 100)
	for words, want := range map[string]string{"": "", whole: whole, "x" + whole: "x" + strings.Repeat("ö", 99) + "…"} {
		if got := fault.Clip(words); got != want {
			t.Errorf("%q: %q", words, got)
		}
	}
}
