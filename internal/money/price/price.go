// Package price turns usage into money: a price list and what was used give a
// quote; a price list and what may be used at most give the amount to hold.
//
// It is for arithmetic on one list. It is not for choosing a list, for reading
// usage out of an answer, or for moving money.
//
// Invariant: the lines of a quote sum to its total, exactly.
package price

import (
	"errors"

	"rubicon/internal/money"
)

// Flags of a quote or of a recorded usage.
const (
	// FlagUnpriced: something was used that the list has no price for; it
	// counted as free (a hosted call) or as factor 1 (a tier).
	FlagUnpriced = "unpriced"
	// FlagAnomaly: the reported usage cannot be true; the charge is by estimate.
	FlagAnomaly = "usage_anomaly"
)

// Classes of lines. Hosted calls are "tool:NAME", a tier's surcharge or
// discount is "tier:NAME".
const (
	ClassRequest     = "request"
	ClassInput       = "input"
	ClassCachedInput = "cached_input"
	ClassCacheWrite  = "cache_write"
	ClassOutput      = "output"
	ToolPrefix       = "tool:"
	TierPrefix       = "tier:"
)

var (
	// ErrOverflow: the amount does not fit; for a hold that means more than any balance.
	ErrOverflow = money.ErrOverflow
	// ErrUnknownTier: a requested tier that the list has no factor for.
	ErrUnknownTier = errors.New("no price for this service tier")
	// ErrUsage: usage that Normalize would have called an anomaly, or a negative bound.
	ErrUsage = errors.New("usage is out of range")
)

// List is the prices of one public model, or the costs of one channel. The
// zero value is free of charge. Never changed after the configuration is read.
type List struct {
	// Input and Output are USD per million tokens.
	Input  money.Nano `json:"input"`
	Output money.Nano `json:"output"`
	// CachedInput and CacheWrite are USD per million tokens; nil costs as Input.
	CachedInput *money.Nano `json:"cached_input,omitempty"`
	CacheWrite  *money.Nano `json:"cache_write,omitempty"`
	// Request is USD per request.
	Request money.Nano `json:"request"`
	// Tools is USD per hosted call, by tool.
	Tools map[string]money.Nano `json:"tools,omitempty"`
	// Tiers multiplies everything, the request price too, by service tier.
	Tiers map[string]money.Factor `json:"tiers,omitempty"`
}

// Line is one row of a quote.
type Line struct {
	Class string `json:"class"`
	Units int64  `json:"units"`
	// Price is per million tokens for token classes, else per unit.
	Price money.Nano `json:"price"`
	// Amount is what the row comes to; negative only for a tier's discount.
	Amount money.Nano `json:"amount"`
}

// Quote is what a usage costs.
type Quote struct {
	Total money.Nano `json:"total"`
	Lines []Line     `json:"lines"`
	Flags []string   `json:"flags"`
}

// HoldInput is the most that a request may use, as far as one can tell before.
type HoldInput struct {
	// InputTokens is the estimate of the input, a stored parent included.
	InputTokens int64
	// Choices is how many answers are asked for (n); 0 counts as 1.
	Choices int64
	// OutputBound is the most output tokens per choice; 0 for embeddings.
	OutputBound int64
	// Tier is the requested service tier, "" when none was named.
	Tier string
}
