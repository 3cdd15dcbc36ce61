package health

import (
	"maps"

	"rubicon/internal/wire/classify"
)

// Effect is what one class of failure does to the route that had it.
type Effect struct {
	Row     string // of docs/contract.md#s3
	Breaker bool   // counts for the breaker of channel and upstream model
	Cool    bool   // cools credential and upstream model, halves the weight
	Balance bool   // pauses the credential
	Disable bool   // disables the credential
	Unfit   bool   // alert: the channel does not serve this
}

// effects is docs/contract.md#s6-counts and docs/contract.md#s6-never-counts, whole. A class without
// an effect never touches a route: it is the caller's mistake or absence, or
// the gateway's own limit or fault.
var effects = map[classify.Failure]Effect{
	classify.FailedEvent:        {Row: "1", Breaker: true},
	classify.ReadError:          {Row: "2, 11, 18", Breaker: true}, // before and after output
	classify.Upstream5xx:        {Row: "3", Breaker: true},
	classify.BadAnswer:          {Row: "3a", Breaker: true},
	classify.Connect:            {Row: "4", Breaker: true},
	classify.RateLimited:        {Row: "5", Cool: true},
	classify.Overloaded:         {Row: "5a", Breaker: true},
	classify.Balance:            {Row: "6", Balance: true},
	classify.Auth:               {Row: "7", Disable: true},
	classify.Unfit:              {Row: "7a", Unfit: true},
	classify.HeaderTimeout:      {Row: "8", Breaker: true},
	classify.AnswerTimeout:      {Row: "8", Breaker: true},
	classify.FirstEventTimeout:  {Row: "9", Breaker: true},
	classify.FirstOutputTimeout: {Row: "9", Breaker: true},
	classify.BufferLimit:        {Row: "14"},
	classify.ClientGone:         {Row: "15"},
	classify.Deterministic:      {Row: "16"},
	classify.Unknown:            {Row: "16a", Breaker: true},
	classify.IdleTimeout:        {Row: "18a", Breaker: true},
	classify.TotalTimeout:       {Row: "18a"}, // how long an answer may take is the request's matter
	classify.GatewayFault:       {Row: "18b"},
	classify.ConnectionLimit:    {Row: "18c"}, // the turn would have gone on
}

// EffectOf is the effect of a class, or of a failure that is a rate limit
// whatever its class (as an event): that cools and never counts.
func EffectOf(f classify.Failure, rateLimit bool) Effect {
	e := effects[f]
	if rateLimit {
		e.Breaker, e.Cool = false, true
	}
	return e
}

// Touches reports whether the failure says anything of the route.
func (e Effect) Touches() bool { return e.Breaker || e.Cool || e.Balance || e.Disable || e.Unfit }

// Effects gives the whole table, for documentation.
func Effects() map[classify.Failure]Effect { return maps.Clone(effects) }
