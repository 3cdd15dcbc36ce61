package classify

import (
	"slices"
	"strings"

	"rubicon/internal/protocol"
)

// SaysOverload tells whether a failure's own words are those of overload.
func SaysOverload(info protocol.FailureInfo) bool { return says(overloadWords, info) }

// SaysTimeout tells whether a failure's own words are those of a timeout.
func SaysTimeout(info protocol.FailureInfo) bool { return says(timeoutWords, info) }

var timeoutWords = []string{"timeout", "timeout_error", "vector_store_timeout", "deadline_exceeded", "gateway_timeout"}

func says(words []string, info protocol.FailureInfo) bool {
	return slices.Contains(words, strings.ToLower(info.Code)) || slices.Contains(words, strings.ToLower(info.Type))
}
