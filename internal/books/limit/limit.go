// Package limit bounds the use of an API key: requests per minute, tokens per
// minute, and requests at the same time.
//
// It is not for who may call or for the periods of budgets (account), nor for
// what a budget has left: the transaction that reserves money checks that
// (ledger).
//
// Invariant: what a refused request took is given back, and of several limits
// either all are taken or none.
package limit

import (
	"sync"
	"time"
)

// Limits is this node's view of all keys in use. It keeps what a key has used
// in memory only: a restart forgives at most one minute.
type Limits struct {
	nodes func() int

	mu    sync.Mutex
	keys  map[string]*used
	sweep int // the number of keys at which idle ones are looked for
}

// Options are what a cluster adds.
type Options struct {
	// Nodes is how many gateways share the limits; each grants its part. nil
	// is one.
	Nodes func() int
}

// New makes Limits under which nothing was used yet.
func New(o Options) *Limits {
	nodes := o.Nodes
	if nodes == nil {
		nodes = func() int { return 1 }
	}
	return &Limits{nodes: nodes, keys: map[string]*used{}, sweep: firstSweep}
}

// Demand is one request of a key. Limits of 0 are none.
type Demand struct {
	Key                   string
	RPM, TPM, Concurrency int64
	Tokens                int64 // the most that the request may use, estimated
}

// Reason names the limit that refused.
type Reason string

// The reasons.
const (
	Requests    Reason = "requests"
	Tokens      Reason = "tokens"
	Concurrency Reason = "concurrency"
)

// Refusal is why a request must not run now.
type Refusal struct {
	Reason     Reason
	Limit      int64
	After      time.Duration // when it may be tried again; 0 unknown
	Impossible bool          // the request alone is above the limit
	State      State
}

// State is what a key has left, for the headers of an answer.
type State struct{ Requests, Tokens Window }

// Window is one rate limit; a Limit of 0 is none.
type Window struct {
	Limit, Remaining int64
	Reset            time.Duration // until all of it is there again
}

// Grant is what a request took. It is given back by Done or Cancel, once; a
// later call does nothing. nil is the grant of a key without limits.
type Grant struct {
	limits           *Limits
	key              *used
	asked            int64  // tokens
	requests, tokens bucket // as the request left them
	state            State
	released         bool
}
