package sim

import "time"

// tick is the pause between the events of the slow entries.
const tick = 10 * time.Second

// catalogRows is the catalogue as data. steps is one call in the language of script files; on is empty for all
// protocols.
var catalogRows = []struct{ name, row, on, about, steps string }{
	// good answers
	{"ok", "", "", "a short answer", `[{answer: {text: "Hello", usage: [10, 0, 5]}}]`},
	{"ok-cached", "", "", "an answer with cached and cache-written input",
		`[{answer: {text: "Hello", usage: {input: 100, cached: 60, cache_write: 20, output: 5}}}]`},
	{"ok-reasoning", "", "", "reasoning, then text",
		`[{answer: {reasoning: "Let me think.", text: "Hello", usage: {input: 10, output: 15, reasoning: 10}}}]`},
	{"ok-tool", "", "", "a function call",
		`[{answer: {tools: [{name: get_weather, args: {city: Paris}}], usage: [10, 0, 5]}}]`},
	{"ok-hosted", "", "responses messages", "a hosted web search, then text",
		`[{answer: {tools: [{kind: web_search_call, args: {query: weather in Paris}}], text: "Sunny.", usage: [10, 0, 5]}}]`},
	{"ok-refusal", "", "responses chat", "a refusal", `[{answer: {refusal: "I cannot help with that.", usage: [10, 0, 5]}}]`},
	{"ok-slow", "", "", "first output after 5 s, then a delta a second",
		`[created, in_progress, {wait: 5s}, {item: message}, part, {text: "Hel"}, {wait: 1s}, {text: "lo"}, text_done, part_done, item_done, {completed: [10, 0, 5]}]`},
	{"ok-drip", "", "", "an answer byte by byte", `[{drip: 1ms}, {answer: {text: "Hello"}}]`},
	{"ok-crlf", "", "", "an answer with CRLF line ends", `[crlf, {answer: {text: "Hello"}}]`},
	{"ok-unnamed", "", "responses chat", "an answer without event names", `[unnamed, {answer: {text: "Hello"}}]`},
	{"ok-gzip", "", "", "a compressed answer", `[gzip, {answer: {text: "Hello"}}]`},
	{"ok-heartbeats", "", "", "heartbeats of all kinds around the events; strict parsers refuse the typed ones",
		`[{comment: hi}, created, ping, keepalive, {item: message}, part, {comment: still here}, {text: Hello}, ping, text_done, part_done, item_done, {completed: [10, 0, 5]}]`},
	{"ok-huge", "", "", "one event of 4 MiB", `[created, {item: message}, part, {huge: 4194304}, text_done, item_done, {completed: [10, 0, 5]}]`},
	{"ok-no-usage", "", "responses chat", "an answer that reports no usage",
		`[created, {item: message}, part, {text: Hello}, text_done, part_done, item_done, completed]`},
	{"ok-incomplete", "", "", "an answer cut short by its maximum", `[{answer: {text: "Hello", finish: max_output_tokens}}]`},
	{"ok-close", "", "", "an answer that closes its connection", `[close, {answer: {text: "Hello"}}]`},

	// 1: failure events before output
	{"row-1", "1", "", "lifecycle, then a retryable failure", `[created, in_progress, {failed: server_is_overloaded}]`},
	{"row-1-first", "1", "", "a retryable failure as the first event", `[{failed: server_error}]`},
	{"row-1-error", "1", "", "lifecycle, then an error event, nested", `[created, {error: server_error}]`},
	{"row-1-flat", "1", "responses", "an error event with flat fields", `[created, {error: server_error, flat: true}]`},
	{"row-1-error-failed", "1", "responses", "error and response.failed are one failure",
		`[created, {error: server_error}, {wait: 200ms}, {failed: server_is_overloaded}]`},
	{"row-1-retryable", "1", "", "an unknown code that says it may be tried again", `[created, {failed: strange, retryable: true}]`},
	{"row-1-rate-limit", "1", "", "a rate limit as an event", `[created, {failed: rate_limit_exceeded}]`},
	{"row-1-balance", "1", "", "the empty account as an event", `[created, {failed: insufficient_quota}]`},

	// 2: read errors before any event
	{"row-2", "2", "", "reset after the status, before any event", `[{status: 200}, reset]`},
	{"row-2-fin", "2", "", "end of the connection after the status", `[{status: 200}, fin]`},
	{"row-2-empty", "2", "", "an empty event stream", `[end]`},
	{"row-2-no-status", "2", "", "reset before the status", `[reset]`},
	{"row-2-refuse", "2", "", "closed before any byte", `[{refuse: fin}]`},
	{"row-2-heartbeats", "2", "", "heartbeats only, then reset", `[{comment: hi}, {wait: 100ms}, {comment: hi}, reset]`},
	{"row-2-half-event", "2", "", "half of the first event, then reset", `[{cut: 40, how: reset}, created, {completed: [10, 0, 5]}]`},
	{"row-2-no-json", "2", "", "an event whose data is no JSON", `[{event: message, data: "oops"}, end]`},
	{"row-2-broken-body", "2", "", "a JSON body that breaks off",
		`[{cut: 10, how: reset}, {json: {id: resp_1, object: response, status: completed}}]`},

	// 3, 3a: bad answers
	{"row-3", "3", "", "500", `[{fail: 500, code: server_error}]`},
	{"row-3-502-html", "3", "", "502 of a proxy, HTML", `[{html: 502}]`},
	{"row-3-503", "3", "", "503 without an overload code", `[{status: 503, body: "no healthy upstream"}]`},
	{"row-3-504", "3", "", "504, empty", `[{status: 504}]`},
	{"row-3a-html", "3a", "", "200 and HTML", `[{html: 200}]`},
	{"row-3a-empty-json", "3a", "", "200 and an empty JSON object", `[{json: {}}]`},
	{"row-3a-empty", "3a", "", "200 and nothing", `[{status: 200, type: application/json, body: ""}]`},
	{"row-3a-wrong-type", "3a", "", "200 and plain text", `[{status: 200, body: "OK"}]`},
	{"row-3a-error-body", "3a", "", "200 whose body is an error",
		`[{status: 200, json: {error: {message: "Something went wrong", type: server_error, code: null}}}]`},
	{"row-3a-redirect", "3a", "", "a redirect", `[{status: 307, headers: {location: "http://$HOST/elsewhere"}}]`},
	{"row-3a-408", "3a", "", "408", `[{fail: 408, code: timeout}]`},
	{"row-3a-425", "3a", "", "425", `[{status: 425}]`},

	// 4: no connection
	{"row-4", "4", "", "nobody listens", ``},

	// 5, 5a: rejected, not executed
	{"row-5", "5", "", "429 with Retry-After", `[{fail: 429, code: rate_limit_exceeded, retry_after: 1}]`},
	{"row-5-none", "5", "", "429 without Retry-After", `[{fail: 429, code: rate_limit_exceeded}]`},
	{"row-5-ms", "5", "", "429 with retry-after-ms", `[{fail: 429, code: rate_limit_exceeded, headers: {retry-after-ms: 1500}}]`},
	{"row-5-date", "5", "", "429 with a date that has passed",
		`[{fail: 429, code: rate_limit_exceeded, retry_after: "Wed, 21 Oct 1998 07:28:00 GMT"}]`},
	{"row-5-absurd", "5", "", "429 with a delay of a day", `[{fail: 429, code: rate_limit_exceeded, retry_after: 86400}]`},
	{"row-5-negative", "5", "", "429 with a negative delay", `[{fail: 429, code: rate_limit_exceeded, retry_after: -1}]`},
	{"row-5-html", "5", "", "429 of a proxy, HTML", `[{html: 429, retry_after: 1}]`},
	{"row-5a", "5a", "", "503 with an overload code", `[{fail: 503, code: server_is_overloaded}]`},
	{"row-5a-529", "5a", "", "529", `[{fail: 529, code: overloaded_error}]`},
	{"row-5a-slow-down", "5a", "", "503 slow_down", `[{fail: 503, code: slow_down}]`},

	// 6, 7, 7a: the account, the credential, the channel
	{"row-6", "6", "", "402", `[{fail: 402, code: billing_error}]`},
	{"row-6-429", "6", "", "429 that means the empty account", `[{fail: 429, code: insufficient_quota}]`},
	{"row-6-403", "6", "", "403 that means the empty account",
		`[{fail: 403, code: insufficient_quota, message: "Your account has insufficient balance."}]`},
	{"row-6-400", "6", "", "400 that means the empty account",
		`[{fail: 400, code: invalid_request_error, message: "Your credit balance is too low to access the API. Please go to Plans & Billing."}]`},
	{"row-7", "7", "", "401 that quotes the key", `[{fail: 401, code: invalid_api_key}]`},
	{"row-7-403", "7", "", "403 that names the permission", `[{fail: 403, code: permission_error}]`},
	{"row-7-403-account", "7", "", "403 that names the account", `[{fail: 403, code: account_deactivated}]`},
	{"row-7a", "7a", "", "404 for the model", `[{fail: 404, code: model_not_found}]`},
	{"row-7a-405", "7a", "", "405", `[{status: 405}]`},
	{"row-7a-426", "7a", "", "426", `[{status: 426, headers: {upgrade: websocket}}]`},

	// 8, 9: silence
	{"row-8", "8", "", "no status line", `[hang]`},
	{"row-8-slow", "8", "", "the status line after 90 s", `[{wait: 90s}, {answer: {text: "late"}}]`},
	{"row-9", "9", "", "the status, then silence", `[{status: 200}, hang]`},
	{"row-9-heartbeats", "9", "", "the status, then only heartbeats",
		`[{comment: a}, {wait: 20s}, {comment: b}, {wait: 20s}, {comment: c}, {wait: 20s}, {comment: d}, hang]`},
	{"row-9-slow-output", "9", "", "first output after 30 s",
		`[created, in_progress, {wait: 30s}, {item: message}, part, {text: late}, text_done, part_done, item_done, {completed: [10, 0, 5]}]`},

	// 11: after output
	{"row-11", "11", "", "reset after output", `[created, in_progress, {item: message}, part, {text: "Hel"}, {text: "lo"}, {wait: 50ms}, reset]`},
	{"row-11-fin", "11", "", "end of the connection after output", `[created, {item: message}, part, {text: "Hel"}, fin]`},
	{"row-11-clean", "11", "", "clean end after output, without a terminal event", `[created, {item: message}, part, {text: "Hel"}, end]`},
	{"row-11-half-event", "11", "", "half an event after output", `[created, {item: message}, part, {text: "Hel"}, {raw: "data: {\"type\":\"resp"}, fin]`},
	{"row-11-failed", "11", "", "a failure after output", `[created, {item: message}, part, {text: "Hel"}, {failed: server_error}]`},
	{"row-11-error", "11", "", "an error event after output", `[created, {item: message}, part, {text: "Hel"}, {error: server_error}]`},
	{"row-11-idle", "11", "", "silence after output", `[created, {item: message}, part, {text: "Hel"}, hang]`},
	{"row-11-tool", "11", "", "reset in the middle of a tool call", `[created, {tool: get_weather}, {args: "{\"ci"}, {wait: 50ms}, reset]`},

	// 13: hosted tools
	{"row-13", "13", "responses messages", "reset while a hosted tool runs", `[created, {item: mcp_call, name: lookup}, {progress: in_progress}, {wait: 50ms}, reset]`},
	{"row-13-interpreter", "13", "responses messages", "failure while code runs", `[created, {item: code_interpreter_call}, {args: "print(1)"}, {failed: server_error}]`},

	// 14: too big
	{"row-14", "14", "", "one event of 40 MiB", `[created, {huge: 41943040}, {completed: [10, 0, 5]}]`},

	// 16, 16a: deterministic and unknown
	{"row-16", "16", "", "400", `[{fail: 400, code: invalid_request_error}]`},
	{"row-16-context", "16", "", "400, context length", `[{fail: 400, code: context_length_exceeded}]`},
	{"row-16-policy", "16", "", "400, policy", `[{fail: 400, code: content_policy_violation}]`},
	{"row-16-403", "16", "", "403 that names neither key nor account", `[{fail: 403, code: forbidden, error_type: forbidden, message: "Request blocked."}]`},
	{"row-16-404", "16", "", "404 for something else than the model", `[{fail: 404, code: item_not_found, error_type: invalid_request_error, message: "Item not found."}]`},
	{"row-16-409", "16", "", "409", `[{fail: 409, code: conflict, error_type: invalid_request_error}]`},
	{"row-16-413", "16", "", "413", `[{fail: 413, code: request_too_large}]`},
	{"row-16-415", "16", "", "415", `[{fail: 415, code: unsupported_media_type, error_type: invalid_request_error}]`},
	{"row-16-422", "16", "", "422", `[{fail: 422, code: invalid_request_error}]`},
	{"row-16-429", "16", "", "429 that says the request alone is too large",
		`[{fail: 429, code: rate_limit_exceeded, error_type: tokens, message: "Request too large for $MODEL on tokens per min (TPM): Limit 30000, Requested 90000. The input or output tokens must be reduced in order to run successfully."}]`},
	{"row-16-event", "16", "", "context length as an event", `[created, {failed: context_length_exceeded}]`},
	{"row-16-event-policy", "16", "", "policy as an event", `[created, {failed: content_policy_violation}]`},
	{"row-16-event-invalid", "16", "", "invalid input as an event", `[created, {failed: invalid_prompt}]`},
	{"row-16a", "16a", "", "a failure event with an unknown code", `[created, {failed: quantum_flux}]`},

	// 17: failures that cost something
	{"row-17", "17", "", "a failure that carries usage", `[created, {failed: server_error, usage: [10, 0, 3]}]`},
	{"row-17-output", "17", "responses", "a failure whose payload holds output",
		`[created, {failed: server_error, output: [{id: msg_1, type: message, status: incomplete, role: assistant, content: [{type: output_text, text: Hel, annotations: []}]}]}]`},
	{"row-17-earlier", "17", "chat messages", "usage, then a failure", `[created, {usage: [10, 0, 3], force: true}, {failed: server_error}]`},

	// 18, 18a: after lifecycle
	{"row-18", "18", "", "reset after lifecycle", `[created, in_progress, {wait: 50ms}, reset]`},
	{"row-18-fin", "18", "", "end of the connection after lifecycle", `[created, in_progress, fin]`},
	{"row-18-clean", "18", "", "clean end after lifecycle", `[created, in_progress, end]`},
	{"row-18a", "18a", "", "silence after lifecycle", `[created, in_progress, hang]`},
	{"row-18a-heartbeats", "18a", "", "heartbeats after lifecycle, no output", `[created, in_progress, keepalive, {wait: 10s}, keepalive, {wait: 10s}, keepalive, hang]`},
}
