package translate_test

import (
	"testing"

	"rubicon/internal/wire/translate"
)

func TestFailureInOpenAIsWords(t *testing.T) {
	for _, c := range []struct {
		in        translate.Failure
		typ, code string
	}{
		{translate.Failure{Type: "overloaded_error", Message: "Overloaded"}, "server_error", "server_is_overloaded"},
		{translate.Failure{Type: "rate_limit_error"}, "rate_limit_error", "rate_limit_exceeded"},
		{translate.Failure{Type: "api_error", Code: "upstream_malformed"}, "server_error", "upstream_malformed"},
		{translate.Failure{Type: "invalid_request_error", Message: "prompt is too long: 210000 tokens > 200000 maximum"}, "invalid_request_error", "context_length_exceeded"},
		{translate.Failure{Type: "invalid_request_error", Message: "input length and `max_tokens` exceed context limit: 1 + 2 > 3"}, "invalid_request_error", "context_length_exceeded"},
		{translate.Failure{Message: "This model's maximum context length is 8192 tokens"}, "invalid_request_error", "context_length_exceeded"},
		{translate.Failure{Type: "exceed_context_size_error", Message: "the request exceeds the available context size"}, "invalid_request_error", "context_length_exceeded"},
		{translate.Failure{Code: "context_length_exceeded"}, "invalid_request_error", "context_length_exceeded"},
		{translate.Failure{Type: "api_error", Message: "cannot read the context window"}, "server_error", ""},
		{translate.Failure{Type: "invalid_request_error", Code: "invalid_value", Message: "no"}, "invalid_request_error", "invalid_value"},
		{translate.Failure{}, "server_error", ""},
	} {
		if typ, code := c.in.OpenAI(); typ != c.typ || code != c.code {
			t.Errorf("%+v: %s %s, want %s %s", c.in, typ, code, c.typ, c.code)
		}
	}
}

// TestFault44 : a conversation that is too long is told in the words that make
// clients shorten it.
func TestFault44FailureInMessagesWords(t *testing.T) {
	for _, c := range []struct {
		in           translate.Failure
		typ, message string
	}{
		{translate.Failure{Type: "invalid_request_error", Message: "prompt is too long: 210000 tokens > 200000 maximum"}, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"},
		{translate.Failure{Type: "invalid_request_error", Message: "input length and `max_tokens` exceed context limit: 1 + 2 > 3"}, "invalid_request_error", "input length and `max_tokens` exceed context limit: 1 + 2 > 3"},
		{translate.Failure{Code: "context_length_exceeded", Message: "The maximum context length is 8192 tokens. However, you requested 9000."}, "invalid_request_error",
			"prompt is too long: 9000 tokens > 8192 maximum (capability_rejected: prompt_too_long): The maximum context length is 8192 tokens. However, you requested 9000."},
		{translate.Failure{Code: "context_length_exceeded"}, "invalid_request_error", "prompt is too long (capability_rejected: prompt_too_long)"},
		{translate.Failure{Type: "server_error", Code: "server_is_overloaded", Message: "m"}, "overloaded_error", "m"},
		{translate.Failure{Type: "rate_limit_error", Message: "m"}, "rate_limit_error", "m"},
		{translate.Failure{Code: "rate_limit_exceeded", Message: "m"}, "rate_limit_error", "m"},
		{translate.Failure{Code: "whatever", Message: "m"}, "api_error", "m"},
	} {
		if typ, message := c.in.Messages(); typ != c.typ || message != c.message {
			t.Errorf("%+v: %s %q, want %s %q", c.in, typ, message, c.typ, c.message)
		}
	}
}
