package audit

import (
	"fmt"
	"strings"
	"time"
)

// want is what must come of a case.
type want struct {
	answer  need
	status  []int    // where the failure is a status
	codes   []string // of the failure, code or type
	calls   int      // most calls of both providers together; 0: usualCalls
	fewest  int      // -1: none at all
	replay  Check    // what more calls than that are; "": UpstreamCalls
	first   time.Duration
	advice  bool // a repeat by the client's SDK could do something twice
	delayed bool // the failure names a delay
}

// need says whether the answer must come.
type need uint8

const (
	mustAnswer need = iota // it can be had
	mayAnswer              // answer and error are both right
	mustFail               // there is none, or it must not be asked for again
)

// Bounds of docs/contract.md#s3-budgets and docs/contract.md#s4-deadline.
const (
	maxCalls     = 3 // attempts of one request
	hammerWindow = 3 * time.Second
	hammerCalls  = 4
)

// String tells what is right, for documentation.
func (w want) String() string {
	parts := []string{[...]string{"the answer", "the answer or a failure", "a failure"}[w.answer]}
	if len(w.status) > 0 {
		parts = append(parts, "status "+oneOf(w.status))
	}
	if len(w.codes) > 0 {
		parts = append(parts, "its code")
	}
	switch {
	case w.fewest < 0:
		parts = append(parts, "no call")
	case w.calls == 1:
		parts = append(parts, "one call")
	case w.calls == 0:
		parts = append(parts, fmt.Sprintf("at most %d calls", maxCalls))
	default:
		parts = append(parts, fmt.Sprintf("at most %d calls", w.calls))
	}
	if w.first > 0 {
		parts = append(parts, "first output within "+w.first.String())
	}
	if w.delayed {
		parts = append(parts, "`retry-after`")
	}
	if w.advice {
		parts = append(parts, "`x-should-retry: false` with a status")
	}
	return strings.Join(parts, ", ")
}
