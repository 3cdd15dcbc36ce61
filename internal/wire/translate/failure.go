package translate

import (
	"strconv"
	"strings"
)

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

// Messages is a failure's type and message as Messages names them. A
// conversation that is too long is told in the words that make its clients
// shorten it.
func (f Failure) Messages() (typ, message string) {
	if f.Overflow() {
		return "invalid_request_error", f.tooLong()
	}
	for _, word := range [...]string{f.Type, f.Code} {
		for _, t := range messagesTypes {
			if t.is == word {
				return t.typ, f.Message
			}
		}
	}
	return "api_error", f.Message
}

// messagesTypes are types and codes of failures in Messages' words.
var messagesTypes = [...]struct{ is, typ string }{
	{"invalid_request_error", "invalid_request_error"},
	{"authentication_error", "authentication_error"},
	{"invalid_api_key", "authentication_error"},
	{"billing_error", "billing_error"},
	{"insufficient_quota", "billing_error"},
	{"permission_error", "permission_error"},
	{"not_found_error", "not_found_error"},
	{"model_not_found", "not_found_error"},
	{"request_too_large", "request_too_large"},
	{"rate_limit_error", "rate_limit_error"},
	{"rate_limit_exceeded", "rate_limit_error"},
	{"overloaded_error", "overloaded_error"},
	{"server_is_overloaded", "overloaded_error"},
	{"timeout", "timeout_error"},
	{"timeout_error", "timeout_error"},
}

// tooLong words an overflow as Messages does. Wordings of its own stay: one of
// them makes a client ask for a shorter answer instead.
func (f Failure) tooLong() string {
	const words, token = "prompt is too long", "capability_rejected: prompt_too_long"
	if strings.HasPrefix(f.Message, words) || strings.Contains(f.Message, "exceed context limit") {
		return f.Message
	}
	first, rest := firstNumber(f.Message)
	second, _ := firstNumber(rest)
	told := words
	if first > 0 && second > 0 && first != second {
		told += ": " + strconv.FormatInt(max(first, second), 10) + " tokens > " + strconv.FormatInt(min(first, second), 10) + " maximum"
	}
	told += " (" + token + ")"
	if f.Message != "" {
		told += ": " + f.Message
	}
	return told
}

// firstNumber finds the first number in a text that can be one of tokens, and
// what stands behind it.
func firstNumber(s string) (n int64, rest string) {
	for {
		at := strings.IndexAny(s, "0123456789")
		if at < 0 {
			return 0, ""
		}
		s = s[at:]
		end := len(s) - len(strings.TrimLeft(s, "0123456789"))
		n, err := strconv.ParseInt(s[:end], 10, 64)
		if s = s[end:]; err == nil && n >= 100 {
			return n, s
		}
	}
}
