package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"rubicon/internal/money"
)

// Kind says what a transaction is for.
type Kind string

// The kinds of transactions.
const (
	KindTopUp   Kind = "topup"
	KindHold    Kind = "hold"
	KindSettle  Kind = "settle"
	KindRelease Kind = "release"
	KindCost    Kind = "cost"
	KindAdjust  Kind = "adjust"
	KindReverse Kind = "reverse"
)

// Posting moves an amount into an account (or out of it, if negative).
type Posting struct {
	Account string     `json:"account"`
	Amount  money.Nano `json:"amount"`
}

// Transaction is one entry of the ledger with its postings, which sum to zero.
type Transaction struct {
	ID        string          `json:"id"`
	Kind      Kind            `json:"kind"`
	RequestID string          `json:"request_id"`
	Customer  string          `json:"customer,omitempty"`
	At        time.Time       `json:"at"`
	Postings  []Posting       `json:"postings"`
	Meta      json.RawMessage `json:"meta"`
	Reason    string          `json:"reason,omitempty"`
	Actor     string          `json:"actor,omitempty"`
	Reverses  string          `json:"reverses,omitempty"`
	Attempt   int             `json:"attempt,omitempty"`
}

// Insufficient refuses a hold: the customer does not have that much, or is
// below zero already.
type Insufficient struct {
	Available money.Nano
	Required  money.Nano
}

func (e *Insufficient) Error() string {
	return fmt.Sprintf("insufficient balance: available %s, required %s", e.Available, e.Required)
}

// What the ledger refuses. All of them are refusals before anything is written.
var (
	ErrInvalid             = errors.New("invalid ledger entry")
	ErrCursor              = fmt.Errorf("%w: not a cursor of this list", ErrInvalid)
	ErrNoHold              = errors.New("the request has no charge hold")
	ErrResolved            = errors.New("the charge hold is settled or released already")
	ErrNotFound            = errors.New("no such transaction")
	ErrNotReversible       = errors.New("only topup, settle and adjust can be reversed")
	ErrReversed            = errors.New("the transaction is reversed already")
	ErrIdempotencyConflict = errors.New("the idempotency key was used with another body")
)

// OverBudget refuses a hold: with it the key could spend more than its budget.
type OverBudget struct {
	Budget   money.Nano
	Spent    money.Nano // settled in the period
	Held     money.Nano // by the key's open holds
	Required money.Nano
}

func (e *OverBudget) Error() string {
	return fmt.Sprintf("over budget: %s of %s spent, %s held, required %s", e.Spent, e.Budget, e.Held, e.Required)
}

// Budget caps what a key may spend in a period.
type Budget struct {
	Amount money.Nano
	Since  time.Time // start of the period, midnight UTC; zero: all of the past
}

// HoldArgs reserves Amount of a customer's balance for a request.
type HoldArgs struct {
	Request, Customer string
	Model             string // the public model
	Amount            money.Nano
	Meta              json.RawMessage // a JSON object or nil
	Key               string          // the API key; with a Budget required
	Budget            *Budget         // nil: none
}

// SettleArgs charges a request that has a hold. Charge may be above the hold.
type SettleArgs struct {
	Request, Customer string
	Model             string // the public model, whose revenue it is
	Charge            money.Nano
	Meta              json.RawMessage
	Key               string // the API key whose spending it is; "" none
}

// CostArgs books what an attempt costs upstream: as cost, or as absorbed when
// the customer does not pay for that attempt. Each attempt is booked once.
type CostArgs struct {
	Request, Customer string // Customer only for finding it again
	Channel           string
	Amount            money.Nano
	Absorbed          bool
	Reason            string // why it is absorbed
	Attempt           int
}

// TopUpArgs gives a customer credit. With an IdempotencyKey the same key and
// body give the same transaction again.
type TopUpArgs struct {
	Customer       string
	Amount         money.Nano // positive
	Reason, Actor  string
	IdempotencyKey string
}

// AdjustArgs corrects a balance up or down, against the revenue of Model, or
// against the world if Model is empty.
type AdjustArgs struct {
	Customer      string
	Amount        money.Nano
	Reason, Actor string
	Model         string
	Request       string // what was learned of a request too late; else empty
	// IdempotencyKey: the same key gives the same transaction again.
	IdempotencyKey string
}

// Balance is what a customer can spend and what is reserved.
type Balance struct {
	Available money.Nano `json:"available"`
	Held      money.Nano `json:"held"`
}

// OpenHold is a charge hold that is neither settled nor released.
type OpenHold struct {
	Request, Customer, Model string
	Amount                   money.Nano
	At                       time.Time
}

// Filter selects transactions; empty fields select all.
type Filter struct {
	RequestID, Customer string
	Kind                Kind
	Cursor              string
	Limit               int // default 100, at most 1000
}

// Report is the result of Verify. Differences is never nil.
type Report struct {
	OK           bool     `json:"ok"`
	Transactions int      `json:"transactions"`
	Differences  []string `json:"differences"`
}
