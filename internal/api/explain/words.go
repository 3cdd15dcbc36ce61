package explain

// words says in words what the record says in one: reasons of verdicts, why a
// channel was no candidate, why it was chosen, classes of failure. Text that
// may stand behind a colon or in brackets: lower case, no full stop.
func words() map[string]string {
	return map[string]string{
		// Verdicts: what was done.
		"answered":                    "the answer ended well",
		"replay_failed_event":         "a retryable failure event came before any output, so it may run again",
		"replay_read_error":           "the stream broke before any event, so it may run again",
		"replay_upstream_5xx":         "the provider failed instead of answering, so it may run again",
		"replay_bad_answer":           "what came was no answer of the protocol, so it may run again",
		"replay_atomic":               "nothing of the answer was released yet, so it may run again",
		"switch_connect":              "the provider was not reached, so nothing had run",
		"switch_rate_limited":         "the provider's rate limit rejected it, so nothing had run",
		"switch_overloaded":           "the provider was overloaded and rejected it, so nothing had run",
		"switch_upstream_balance":     "the provider account is out of balance, so nothing had run",
		"switch_channel_unfit":        "the channel does not serve this model, so nothing had run",
		"switch_header_timeout":       "no answer began in time, and one more try is allowed",
		"switch_answer_timeout":       "no whole answer came in time, and one more try is allowed",
		"switch_first_event_timeout":  "no event came in time, and one more try is allowed",
		"switch_first_output_timeout": "no output came in time, and one more try is allowed",

		// Verdicts: why not again.
		"client_disconnected":        "the client had left",
		"output_delivered":           "output had been delivered to the client",
		"lifecycle_delivered":        "events had been delivered to the client",
		"usage_observed":             "the provider reported usage or a result: it had run",
		"upstream_auth":              "the provider refused the gateway's credential",
		"gateway_fault":              "the gateway itself failed",
		"connection_limit":           "the client's connection had reached its maximum age",
		"deterministic":              "it would fail the same way again",
		"unknown_failure":            "the failure is of an unknown kind",
		"stateful_continuation":      "it continues state that the provider keeps",
		"origin_bound":               "it names things that only one provider account has",
		"stateful_store":             "the provider was to store the answer",
		"hosted_tool":                "tools with effects may have run at the provider",
		"answer_timeout":             "no whole answer came in time",
		"header_timeout":             "no answer began in time",
		"first_event_timeout":        "no event came in time",
		"first_output_timeout":       "no output came in time",
		"stream_idle_timeout":        "the stream fell silent",
		"request_timeout":            "the total time was up",
		"buffer_limit":               "more was held back than the limit allows",
		"read_error_after_lifecycle": "the provider had begun to work on it",
		"attempts_spent":             "the number of attempts was used up",
		"switch_budget_spent":        "the number of switches was used up",
		"replay_budget_spent":        "the one replay was used up",
		"no_channel_left":            "no other channel was left",

		// Classes of failure.
		"connect":       "could not be reached",
		"rate_limited":  "rate limit",
		"overloaded":    "overloaded",
		"balance":       "provider account out of balance",
		"auth":          "credential refused",
		"unfit":         "does not serve this model",
		"upstream_5xx":  "server error",
		"bad_answer":    "no answer of the protocol",
		"idle_timeout":  "fell silent",
		"total_timeout": "total time was up",
		"read_error":    "stream broke off",
		"failed_event":  "failure event",
		"unknown":       "unknown failure",
		"client_gone":   "client left",

		// Why a candidate was out.
		"surface":       "speaks another API",
		"weight_zero":   "has no weight",
		"origin":        "the request's state lives elsewhere",
		"tried":         "tried already",
		"same_route":    "has the host and the key of a route that was tried",
		"probe_busy":    "half open, another request is probing",
		"open":          "breaker open after failures",
		"half_open":     "breaker half open, another request is probing",
		"cooling":       "cooling down after a rate limit",
		"paused":        "paused",
		"no_credential": "no credential is usable",
		"disabled":      "credential disabled",

		// Why the chosen one.
		"only_route": "the only one left",
		"first_back": "every route is cooling down, and this one is back first",
		// Both: out, and why the chosen one.
		"failed_recently": "a request of this conversation or with this body failed there in the last minute; another host goes first",

		"other_host": "another host goes first after such a failure",
		"priority":   "first by priority",
		"affinity":   "keeps this customer's provider cache warm",
		"weight":     "drawn by weight",
	}
}

// Reason says a verdict's reason, a candidate's exclusion or a failure class
// in words; a word it does not know comes back as it is.
func Reason(word string) string {
	if text, ok := words()[word]; ok {
		return text
	}
	return word
}
