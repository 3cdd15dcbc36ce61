package translate

import "strings"

// overflows are what upstreams say when a conversation is longer than the model
// takes. It is one meaning, and clients act on it, so each format says it in the
// words that its clients know.
var overflows = [...]string{
	"prompt is too long", "exceed context limit", "maximum context length", "context window", "context length",
	"exceeds the maximum number of tokens", "input is too long", "reduce the length of the messages",
}

// Overflow tells whether a failure means that the conversation is too long.
func (f Failure) Overflow() bool {
	switch f.Code {
	case "context_length_exceeded", "exceed_context_size_error", "model_context_window_exceeded":
		return true
	}
	if f.Type != "invalid_request_error" && f.Type != "" && f.Type != "exceed_context_size_error" {
		return false
	}
	message := strings.ToLower(f.Message)
	for _, words := range overflows {
		if strings.Contains(message, words) {
			return true
		}
	}
	return f.Type == "exceed_context_size_error"
}

// openAITypes are the types of Messages' failures in OpenAI's words.
var openAITypes = [...]struct{ is, typ, code string }{
	{"overloaded_error", "server_error", "server_is_overloaded"},
	{"rate_limit_error", "rate_limit_error", "rate_limit_exceeded"},
	{"api_error", "server_error", ""},
	{"timeout_error", "server_error", "timeout"},
	{"not_found_error", "not_found_error", "model_not_found"},
	{"request_too_large", "invalid_request_error", "request_too_large"},
	{"billing_error", "insufficient_quota", "insufficient_quota"},
}

// OpenAI is a failure's type and code as Responses and Chat Completions name
// them. A code that upstream gave stays.
func (f Failure) OpenAI() (typ, code string) {
	if f.Overflow() {
		return "invalid_request_error", "context_length_exceeded"
	}
	typ, code = f.Type, f.Code
	for _, t := range openAITypes {
		if t.is == f.Type {
			typ = t.typ
			if code == "" {
				code = t.code
			}
		}
	}
	if typ == "" {
		typ = "server_error"
	}
	return typ, code
}
