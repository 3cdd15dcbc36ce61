package sim

// failureKind is how the providers name one failure.
type failureKind struct {
	openai  string // type on the OpenAI surfaces
	claude  string // type on Messages, which has no code
	status  int
	message string
}

// failures holds what is known of the codes that scripts use most. Unknown codes are passed as they are.
var failures = map[string]failureKind{
	"server_error":            {"server_error", "api_error", 500, "The server had an error while processing your request."},
	"internal_server_error":   {"server_error", "api_error", 500, "Internal server error."},
	"api_error":               {"server_error", "api_error", 500, "Internal server error."},
	"server_is_overloaded":    {"service_unavailable_error", "overloaded_error", 503, "Our servers are currently overloaded. Please try again later."},
	"overloaded_error":        {"service_unavailable_error", "overloaded_error", 529, "Overloaded"},
	"service_unavailable":     {"service_unavailable_error", "overloaded_error", 503, "The service is temporarily unavailable."},
	"slow_down":               {"service_unavailable_error", "overloaded_error", 503, "Please slow down."},
	"timeout":                 {"server_error", "timeout_error", 504, "The request timed out."},
	"vector_store_timeout":    {"server_error", "api_error", 500, "The vector store timed out."},
	"rate_limit_exceeded":     {"requests", "rate_limit_error", 429, "Rate limit reached for $MODEL. Please try again in 1s."},
	"rate_limit_error":        {"requests", "rate_limit_error", 429, "This request would exceed your rate limit."},
	"insufficient_quota":      {"insufficient_quota", "billing_error", 429, "You exceeded your current quota, please check your plan and billing details."},
	"billing_error":           {"insufficient_quota", "billing_error", 402, "Your credit balance is too low to access the API."},
	"invalid_api_key":         {"invalid_request_error", "authentication_error", 401, "Incorrect API key provided: $KEY."},
	"authentication_error":    {"invalid_request_error", "authentication_error", 401, "invalid x-api-key"},
	"permission_error":        {"invalid_request_error", "permission_error", 403, "Your API key does not have permission to use the specified resource."},
	"account_deactivated":     {"invalid_request_error", "permission_error", 403, "The account associated with this API key has been deactivated."},
	"model_not_found":         {"invalid_request_error", "not_found_error", 404, "The model `$MODEL` does not exist or you do not have access to it."},
	"not_found_error":         {"invalid_request_error", "not_found_error", 404, "model: $MODEL"},
	"context_length_exceeded": {"invalid_request_error", "invalid_request_error", 400, "This model's maximum context length is 128000 tokens. However, your messages resulted in 200000 tokens."},
	"invalid_request_error":   {"invalid_request_error", "invalid_request_error", 400, "The request is invalid."},
	"invalid_prompt":          {"invalid_request_error", "invalid_request_error", 400, "Invalid prompt: it was flagged as potentially violating our usage policy."},
	"content_policy_violation": {"invalid_request_error", "invalid_request_error", 400,
		"The request was rejected because it violates our content policy."},
	"request_too_large": {"invalid_request_error", "request_too_large", 413, "The request exceeds the maximum size."},
}

// failureOf gives code, type, message and status of a step's failure in the words of one protocol.
func failureOf(s Step, claude bool) (code, kind, message string, status int) {
	f, known := failures[s.Code]
	code, kind, message, status = s.Code, f.openai, f.message, f.status
	if !known {
		kind, message, status = "server_error", "The request failed: "+s.Code, 500
	}
	if claude {
		if kind = f.claude; !known {
			kind = s.Code
		}
	}
	if code == "" {
		kind, message = "server_error", "The request failed."
		if claude {
			kind = "api_error"
		}
	}
	if s.ErrorType != "" {
		kind = s.ErrorType
	}
	if s.Message != "" {
		message = s.Message
	}
	if s.Status != 0 {
		status = s.Status
	}
	return code, kind, message, status
}

// openaiError is the error object of the OpenAI surfaces.
func (c callContext) openaiError(s Step) (object, int) {
	code, kind, message, status := failureOf(s, false)
	e := obj("message", c.q.fill(message), "type", kind, "param", nil, "code", orNull(code))
	return retryable(s, e), status
}

// claudeError is the error object of Messages.
func (c callContext) claudeError(s Step) (object, int) {
	_, kind, message, status := failureOf(s, true)
	return retryable(s, obj("type", kind, "message", c.q.fill(message))), status
}

func retryable(s Step, e object) object {
	if s.Retryable != nil {
		e = e.with("retryable", *s.Retryable)
	}
	return e
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
