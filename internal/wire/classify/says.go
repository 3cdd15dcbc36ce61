package classify

// SaysOverload reports whether a failure's own words are those of overload.
func SaysOverload(info FailureInfo) bool { return says(overloadWords, overloadNumbers, info) }

// SaysTimeout reports whether a failure's own words are those of a timeout.
func SaysTimeout(info FailureInfo) bool { return says(timeoutWords, timeoutNumbers, info) }

var timeoutWords = []string{"timeout", "timeout_error", "vector_store_timeout", "deadline_exceeded", "gateway_timeout"}

func says(words []string, numbers []Span, info FailureInfo) bool {
	r := Rule{Words: words, Numbers: numbers}
	return r.matchesCode(info) || r.numbered(info)
}
