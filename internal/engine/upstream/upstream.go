// Package upstream makes one attempt: one call to one route, its deadlines,
// and what class of failure came of it.
//
// It does not choose routes, decide about another attempt, hold events or know
// who pays. It never resends by itself and never follows a redirect.
//
// Invariant: every deadline cancels with its own cause, so that the class of a
// failure is known and not guessed; a closed attempt leaves no goroutine and no
// upstream call behind.
package upstream

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"rubicon/internal/config"
	"rubicon/internal/wire/classify"
	"rubicon/internal/wire/protocol"
)

// Call is one attempt's request.
type Call struct {
	Channel    *config.Channel
	Credential *config.Credential // nil: keyless
	Method     string             // "" is POST
	Path       string             // after base_url
	Query      string             // further query parameters, encoded
	Body       []byte
	Header     http.Header // allow-listed client headers
	Stream     bool
	Timers     config.Timers
	MaxEvent   int64 // bytes of one event, or of a whole answer
	Rules      []classify.Rule
}

// Failure is an attempt without a usable answer. It is an error.
type Failure struct {
	Failure    classify.Failure
	RateLimit  bool   // a rate limit, whatever the class
	ByEvent    bool   // an upstream event said so
	Status     int    // upstream's status line, 0 if there was none
	Rule       string // how it was classified
	Info       protocol.FailureInfo
	JSON       bool          // Info was read from a JSON error body
	Body       []byte        // that error body
	NotEvent   bool          // a read error because of data that is no event
	RetryAfter time.Duration // upstream's Retry-After; 0 none
	RequestID  string        // upstream's own id of the call
	Executed   bool          // may have executed upstream
	cause      error
}

func (f *Failure) Error() string {
	if f.cause != nil {
		return string(f.Failure) + ": " + f.cause.Error()
	}
	return string(f.Failure)
}

func (f *Failure) Unwrap() error { return f.cause }

// WithCause keeps the cause for logs and errors.Is.
func (f *Failure) WithCause(err error) *Failure { f.cause = err; return f }

// Answer is a whole answer that was not streamed.
type Answer struct {
	Status      int
	ContentType string
	Body        []byte
	RequestID   string
}

// The causes that deadlines cancel with.
var (
	errConnect     = &deadline{classify.Connect, "connecting took too long"}
	errHeaders     = &deadline{classify.HeaderTimeout, "no status line in time"}
	errAnswer      = &deadline{classify.AnswerTimeout, "no whole answer in time"}
	errFirstEvent  = &deadline{classify.FirstEventTimeout, "no event in time"}
	errFirstOutput = &deadline{classify.FirstOutputTimeout, "no output event in time"}
	errIdle        = &deadline{classify.IdleTimeout, "the stream fell silent"}
	errFinished    = errors.New("waited for the rest of a finished stream")
	errSlowBody    = errors.New("an error body did not come in time")
	errClosed      = errors.New("the attempt is over")
	// ErrTotal is the cause that the caller's total deadline must cancel with.
	ErrTotal error = &deadline{classify.TotalTimeout, "the request took too long"}
)

type deadline struct {
	failure classify.Failure
	text    string
}

func (d *deadline) Error() string { return d.text }

// Dial opens a connection; it exists so that tests run over memory.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// fromCause turns the cause of a cancelled attempt into its failure; ok is
// false when the attempt was not cancelled.
func fromCause(ctx context.Context) (classify.Failure, error, bool) {
	if ctx.Err() == nil {
		return "", nil, false
	}
	cause := context.Cause(ctx)
	var d *deadline
	if errors.As(cause, &d) {
		return d.failure, cause, true
	}
	return classify.ClientGone, cause, true
}
