package classify

import (
	"strconv"
)

// Span is a range of HTTP statuses, inclusive.
type Span struct{ From, To int }

// What a code means that is an HTTP status (docs/contract.md#s3-status-code). In
// an answer that began with 200 a 401 says nothing about our credential.
var (
	balanceNumbers       = []Span{{402, 402}}
	deterministicNumbers = []Span{{400, 400}, {409, 409}, {413, 413}, {415, 415}, {422, 422}}
	rateNumbers          = []Span{{429, 429}}
	retryableNumbers     = []Span{{401, 599}} // but for those above, which come first
	overloadNumbers      = []Span{{503, 503}, {529, 529}}
	timeoutNumbers       = []Span{{408, 408}, {504, 504}}
)

func within(spans []Span, n int) bool {
	for _, s := range spans {
		if s.From <= n && n <= s.To {
			return true
		}
	}
	return false
}

// numberOf is the HTTP status that a failure names: as its code, as its type, or
// as its status; 0: none.
func numberOf(info FailureInfo) int {
	for _, word := range [...]string{info.Code, info.Type, info.State} {
		if n := number(word); n != 0 {
			return n
		}
	}
	return info.Status
}

// number reads a word that is an HTTP status; 0 for others ("1210" is one of a
// provider's own numbers).
func number(word string) int {
	n, err := strconv.Atoi(word)
	if err != nil || n < 100 || n > 599 {
		return 0
	}
	return n
}
