// Package fault holds every error a client can get from the gateway: its code,
// status, type, whether a repeat is harmless, and the words to say it. Causes
// stay inside; only what stands here reaches a client.
//
// It decides nothing about routing or replay and knows no transport. The two
// wire shapes (OpenAI's and Anthropic's envelope) are the only JSON it writes.
//
// Invariant: a code has one row, which is its status, type and words wherever it
// is told; a cause is in nothing that is written for a client.
package fault

import (
	"fmt"
	"strings"
	"time"
)

// Error is one failure as a client sees it. A zero RetryAfter means none.
type Error struct {
	Code        string // "" is shown as null (an upstream error without one)
	Status      int    // HTTP status
	Type        string // OpenAI surfaces; Messages derives its own from Status unless UpstreamType is set
	Message     string
	Param       string // "" is null
	Retryable   bool   // a repeat is harmless and could succeed
	NoRetry     bool   // x-should-retry: false although Retryable (a replay was used)
	RetryAfter  time.Duration
	AfterOutput bool
	RequestID   string
	Upstream    bool    // code and type are the provider's own words
	Extra       []Field // further members of the envelope, in order

	cause error
}

// Field is a further member of an error's envelope; Value is raw JSON.
type Field struct {
	Name  string
	Value string
}

// New makes an Error of one of the gateway's own codes, with the table's
// status, type and retryability. The message may be "" for the table's words.
func New(code, message string) *Error {
	row, ok := Lookup(code)
	if !ok {
		row, _ = Lookup(InternalError)
	}
	if message == "" {
		message = row.Happened
	}
	return &Error{Code: row.Code, Status: row.Status, Type: row.Type, Message: message, Retryable: row.Retryable}
}

// Newf is New with a format.
func Newf(code, format string, args ...any) *Error { return New(code, fmt.Sprintf(format, args...)) }

// Clip bounds what of a client's own words is sent back to it or kept.
func Clip(s string) string {
	const most = 200
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// WithParam names the part of the request that is at fault.
func (e *Error) WithParam(p string) *Error { e.Param = p; return e }

// WithCause keeps the cause for logs; no client sees it.
func (e *Error) WithCause(err error) *Error { e.cause = err; return e }

// Error is for logs.
func (e *Error) Error() string {
	if e.cause != nil {
		return e.Code + ": " + e.Message + ": " + e.cause.Error()
	}
	return e.Code + ": " + e.Message
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.cause }

// ShouldRetry is the x-should-retry header's value.
func (e *Error) ShouldRetry() bool { return e.Retryable && !e.NoRetry }

// RetryAfterSeconds is what retry-after says: whole seconds, rounded up; 0 for
// none. 429 and 503 always have one, and so has a request that another node runs.
func (e *Error) RetryAfterSeconds() int64 {
	s := int64(e.RetryAfter / time.Second)
	if e.RetryAfter%time.Second > 0 {
		s++
	}
	if s <= 0 && (e.Status == 429 || e.Status == 503 || e.Status == 529 || e.Code == IdempotencyInProgress) {
		s = 1
	}
	return max(s, 0)
}
