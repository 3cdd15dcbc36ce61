// Package journal is the record of every request: attempts, decisions, usage,
// times and outcome, as the admin API and the customer read it.
//
// It is for writing and finding records, and for what recovery needs after a
// crash. It is not for money (package ledger) and never for prompts or answers.
//
// Invariant: a record is written with the money of the same request in one
// transaction; once finished it does not change. What was given back later is
// read out of the ledger together with it.
package journal

import (
	"encoding/json"
	"time"

	"rubicon/internal/books/ledger"
	"rubicon/internal/money"
)

// Surface says through which API a request came.
type Surface string

// The surfaces.
const (
	SurfaceResponsesHTTP Surface = "responses.http"
	SurfaceResponsesWS   Surface = "responses.ws"
	SurfaceChat          Surface = "chat"
	SurfaceMessages      Surface = "messages"
	SurfaceEmbeddings    Surface = "embeddings"
	SurfaceCountTokens   Surface = "count_tokens"
)

// Outcome says how a request ended.
type Outcome string

// The outcomes.
const (
	OutcomeRunning    Outcome = "running"
	OutcomeCompleted  Outcome = "completed"
	OutcomeIncomplete Outcome = "incomplete"
	OutcomeFailed     Outcome = "failed"    // no output delivered
	OutcomePartial    Outcome = "partial"   // output delivered, then a failure
	OutcomeCancelled  Outcome = "cancelled" // the client left
	OutcomeRejected   Outcome = "rejected"  // refused before the first attempt
)

// Where the usage of a request comes from.
const (
	SourceReported  = "reported"
	SourceEstimated = "estimated"
	SourceNone      = "none"
)

// Record is everything about one request.
type Record struct {
	RequestID       string     `json:"request_id"`
	Customer        string     `json:"customer"`
	Key             string     `json:"key"`
	ClientRequestID string     `json:"client_request_id,omitempty"`
	Surface         Surface    `json:"surface"`
	Stream          bool       `json:"stream"`
	PublicModel     string     `json:"public_model"`
	UpstreamModel   string     `json:"upstream_model"`
	ResponseID      string     `json:"response_id"`
	Outcome         Outcome    `json:"outcome"`
	Error           *Error     `json:"error"`
	AfterOutput     bool       `json:"after_output"`
	Usage           Usage      `json:"usage"`
	Charge          money.Nano `json:"charge"`
	Lines           []Line     `json:"lines,omitempty"`
	PriceVersion    string     `json:"price_version"`
	StartedAt       time.Time  `json:"started_at"`
	FinishedAt      time.Time  `json:"finished_at,omitzero"`
	Times           Times      `json:"times_ms"`
	Delivered       Delivered  `json:"delivered"`
	Attempts        []Attempt  `json:"attempts"`
	Decisions       []Decision `json:"decisions"`
	Notes           []string   `json:"notes,omitempty"`

	// Refunded is what the ledger says of the charge afterwards; nil: nothing was
	// given back.
	Refunded *ledger.Refund `json:"refunded,omitempty"`

	// Node is which gateway process runs it.
	Node string `json:"-"`
	// Billing is what recovery needs to bill the request after a crash (input
	// estimate, price version, bytes per token), as Begin stored it.
	Billing json.RawMessage `json:"-"`
}

// Error is the error that the client received.
type Error struct {
	Code string `json:"code"`
	Type string `json:"type"`
}

// Usage is the tokens by class; the first three sum to the provider's input.
type Usage struct {
	Input       int64            `json:"input"`
	CachedInput int64            `json:"cached_input"`
	CacheWrite  int64            `json:"cache_write"`
	Output      int64            `json:"output"`
	Tools       map[string]int64 `json:"tools"`
	Source      string           `json:"source"` // one of the Source constants
	Flags       []string         `json:"flags"`
}

// Line is one line of the charge.
type Line struct {
	Class  string     `json:"class"` // input, cached_input, cache_write, output, request, tool:<name>
	Units  int64      `json:"units"`
	Price  string     `json:"price"`
	Amount money.Nano `json:"amount"`
}

// Times are how long the phases took, in milliseconds.
type Times struct {
	Queue       int64 `json:"queue"`
	ChargeHold  int64 `json:"charge_hold"`
	EventHold   int64 `json:"event_hold"`
	FirstEvent  int64 `json:"first_event"`
	FirstOutput int64 `json:"first_output"`
	Total       int64 `json:"total"`
}

// Delivered is what the client was handed.
type Delivered struct {
	Events int64 `json:"events"`
	Bytes  int64 `json:"bytes"`
}

// Attempt is one upstream call.
type Attempt struct {
	N                 int        `json:"n"`
	Channel           string     `json:"channel"`
	Credential        string     `json:"credential"`
	UpstreamModel     string     `json:"upstream_model"`
	Status            int        `json:"status"`
	Outcome           string     `json:"outcome"`
	Failure           string     `json:"failure"`
	Code              string     `json:"code"`
	MayHaveExecuted   bool       `json:"may_have_executed"`
	Verdict           string     `json:"verdict"` // deliver, switch or replay
	Reason            string     `json:"reason"`
	Events            int64      `json:"events"`
	Bytes             int64      `json:"bytes"`
	Cost              money.Nano `json:"cost"`
	UpstreamRequestID string     `json:"upstream_request_id"`
	StartedAt         time.Time  `json:"started_at"`
	FirstEventMS      int64      `json:"first_event_ms"`
	MS                int64      `json:"ms"`

	// ForCustomer makes the JSON leave out what is the operator's.
	ForCustomer bool `json:"-"`
}

// Outcomes of an attempt.
const (
	AttemptCompleted = "completed"
	AttemptFailed    = "failed"
)

// Decision is one choice of a route.
type Decision struct {
	N          int         `json:"n"`
	Chosen     string      `json:"chosen"` // a channel, or "" when none was left
	Reason     string      `json:"reason,omitempty"`
	WaitedMS   int64       `json:"waited_ms,omitempty"` // for a route that cooled
	Candidates []Candidate `json:"candidates"`
}

// Candidate is a channel as it stood at a decision.
type Candidate struct {
	Channel         string  `json:"channel"`
	State           string  `json:"state"`
	Priority        int     `json:"priority"`
	Weight          float64 `json:"weight"`
	EffectiveWeight float64 `json:"effective_weight"`
	Excluded        string  `json:"excluded"`
}
