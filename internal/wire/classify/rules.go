package classify

// Rule is one line of knowledge about how providers say a failure. All its
// conditions must hold; the first rule that matches wins.
type Rule struct {
	Name          string
	Protocol      string   // "" any
	From, To      int      // status range, inclusive; 0 any
	Words         []string // lower case; equal to the code or the type
	CodeOnly      bool     // Words are compared with the code alone
	Numbers       []Span   // one of code, type and status is an HTTP status in one of them; with CodeOnly the code
	Types         []string // lower case; the type must be one of them too; empty: any
	Message       []string // lower case patterns that fit the message (an alternative to Words)
	NeedsBoth     bool     // Words and Message must match, not one of them
	WithoutQuotes bool     // what the message quotes does not count
	Param         Param    // condition on the parameter that is named
	Failure       Failure
	RateLimit     bool
}

// statusRules: an answer with a status, docs/contract.md#s3-row-3 to docs/contract.md#s3-row-7a and docs/contract.md#s3-row-16.
var statusRules = [...]Rule{
	{Name: "402 payment required", From: 402, Failure: Balance},

	{Name: "429 whose code says the account is empty", From: 429, Words: balanceWords, Failure: Balance},
	{Name: "429 for this request alone", From: 429, Words: []string{"request_too_large", "context_length_exceeded"}, Message: requestTooLargeMessages, Failure: Deterministic},
	{Name: "429 over a limit that is called a quota", From: 429, Message: meteredMessages, Failure: RateLimited, RateLimit: true},
	{Name: "429 whose message says the account is empty", From: 429, Message: balanceMessages, Failure: Balance},
	{Name: "429", From: 429, Failure: RateLimited, RateLimit: true},

	{Name: "401", From: 401, Failure: Auth},

	{Name: "403 that says the account is empty", From: 403, Words: balanceWords, Message: balanceMessages, Failure: Balance},
	{Name: "403 for a dead account or key", From: 403, Words: revokedWords, Message: revokedMessages, Failure: Auth},
	{Name: "403 for policy", From: 403, Words: policyWords, Message: policyMessages, Failure: Deterministic},
	{Name: "403 for the model", From: 403, Words: unknownModelWords, Message: closedModelMessages, Failure: Unfit},
	{Name: "403 for a part of the request", From: 403, Param: OtherParam, Failure: Deterministic},
	{Name: "403 that names key, account or permission", From: 403, Words: authWords, Message: authMessages, Failure: Auth},

	{Name: "404 for a part of the request", From: 404, Message: notModelMessages, Failure: Deterministic},
	{Name: "404 about a parameter", From: 404, Param: OtherParam, Failure: Deterministic},
	{Name: "404 for the model", From: 404, Words: unknownModelWords, Message: missingMessages, WithoutQuotes: true, Failure: Unfit},
	{Name: "404 about the parameter model", From: 404, Param: ModelParam, Failure: Unfit},
	{Name: "405", From: 405, Failure: Unfit},
	{Name: "426", From: 426, Failure: Unfit},

	{Name: "400 that says the account is empty", From: 400, Words: balanceWords, Message: balanceMessages, WithoutQuotes: true, Param: NoParam, Failure: Balance},
	{Name: "400 that means 401", From: 400, Words: revokedWords, Message: refusedKeyMessages, WithoutQuotes: true, Param: NoParam, Failure: Auth},
	{Name: "400 that means 404 for the model", From: 400, Words: unknownModelWords, CodeOnly: true, Message: []string{"^model not exist"}, Failure: Unfit},

	{Name: "408", From: 408, Failure: BadAnswer},
	{Name: "425", From: 425, Failure: BadAnswer},
	{Name: "redirect", From: 300, To: 399, Failure: BadAnswer},
	{Name: "503 with an overload code", From: 503, Words: overloadWords, Failure: Overloaded},
	{Name: "529 with an overload code", From: 529, Words: overloadWords, Failure: Overloaded},
	{Name: "498 over capacity", From: 498, Words: overloadWords, Failure: Overloaded}, // Groq's flex tier
	{Name: "503 that says it turned the request away", From: 503, Words: ambiguousWords, Message: notExecutedMessages, NeedsBoth: true, Failure: Overloaded},
	{Name: "5xx", From: 500, To: 599, Failure: Upstream5xx},
	{Name: "other 4xx", From: 400, To: 499, Failure: Deterministic},
	{Name: "2xx with a deterministic error", From: 200, To: 299, Words: deterministicWords, Failure: Deterministic},
	{Name: "2xx with a deterministic number", From: 200, To: 299, Numbers: deterministicNumbers, Failure: Deterministic},
	{Name: "2xx with a rate limit", From: 200, To: 299, Words: rateWords, Failure: BadAnswer, RateLimit: true},
	{Name: "2xx with the number of a rate limit", From: 200, To: 299, Numbers: rateNumbers, Failure: BadAnswer, RateLimit: true},
	{Name: "2xx that is no answer", From: 100, To: 299, Failure: BadAnswer},
	{Name: "status out of range", From: 600, To: 999, Failure: BadAnswer},
}

// eventRules: a failure event, docs/contract.md#s3-row-1, docs/contract.md#s3-balance-event,
// docs/contract.md#s3-row-16 and docs/contract.md#s3-row-16a. A code says more than a
// type, so deterministic codes come before retryable types; words say more than
// a number that stands elsewhere than in the code.
var eventRules = [...]Rule{
	{Name: "balance event", Words: balanceWords, Failure: Balance},
	{Name: "balance event by number", Numbers: balanceNumbers, CodeOnly: true, Failure: Balance},
	{Name: "deterministic code", Words: deterministicWords, CodeOnly: true, Failure: Deterministic},
	{Name: "deterministic code by number", Numbers: deterministicNumbers, CodeOnly: true, Failure: Deterministic},
	{Name: "rate limit event for this request alone", Words: rateWords, Message: requestTooLargeMessages, NeedsBoth: true, Failure: Deterministic},
	{Name: "429 event for this request alone", Numbers: rateNumbers, Message: requestTooLargeMessages, Failure: Deterministic},
	{Name: "rate limit event", Words: rateWords, Failure: FailedEvent, RateLimit: true},
	{Name: "rate limit event by number", Numbers: rateNumbers, CodeOnly: true, Failure: FailedEvent, RateLimit: true},
	{Name: "retryable event", Words: retryableWords, Failure: FailedEvent},
	{Name: "retryable event by number", Numbers: retryableNumbers, CodeOnly: true, Failure: FailedEvent},
	{Name: "deterministic type", Words: deterministicWords, Failure: Deterministic},
	{Name: "event whose status is that of an empty balance", Numbers: balanceNumbers, Failure: Balance},
	{Name: "event whose status is deterministic", Numbers: deterministicNumbers, Failure: Deterministic},
	{Name: "event whose status is a rate limit", Numbers: rateNumbers, Failure: FailedEvent, RateLimit: true},
	{Name: "event whose status is retryable", Numbers: retryableNumbers, Failure: FailedEvent},
	{Name: "rate limit event in other words", Words: moreRateWords, Failure: Unknown, RateLimit: true},
	{Name: "unknown event", Failure: Unknown},
}
