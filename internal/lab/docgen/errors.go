package main

import (
	"strconv"

	"rubicon/internal/wire/fault"
)

func errorsPage() string {
	return generated + `# Errors

Every failure has one envelope: ` + "`message`, `type`, `code`, `param`, `request_id`, `retryable`, `retry_after`, `after_output`" + ` inside ` + "`error`" + `. Messages has ` + "`request_id`" + ` beside it too, and types of its own (last table).

- **retryable**: a repeat is harmless (nothing may have executed, or stateless, without output and hosted tools) and could succeed. A code that says "yes" here is not retryable in a request where that does not hold; header, first-event and first-output timeouts of Responses streams never are, whatever ` + "`switch.on_timeout`" + ` allows the gateway itself. The header ` + "`x-should-retry`" + ` says the same, but false once the gateway used its replay.
- **charged**: "delivered" means that output which reached the client is charged; without output, or without a byte of content in it, nothing is.
- 429 and 503 always carry ` + "`retry-after`" + `.
- A provider's own errors keep their status, code, type, param and message; hosts, URLs, keys and account ids in any string of the failure are replaced by ` + "`…`" + `.

## The gateway's own codes

` + ownCodes() + `## Types on Messages

` + messagesTypes()
}

func ownCodes() string {
	var rows [][]string
	for _, r := range fault.Table() {
		rows = append(rows, []string{code(r.Code), strconv.Itoa(r.Status), code(r.Type), yes(r.Retryable), r.Happened, r.Advice, r.AtFault, r.Charged})
	}
	return table([]string{"code", "status", "type", "retryable", "what happened", "what to do", "at fault", "charged"}, rows)
}

func messagesTypes() string {
	var rows [][]string
	for _, status := range [...]int{400, 401, 402, 403, 404, 409, 413, 429, 500, 502, 503, 504, 529} {
		rows = append(rows, []string{strconv.Itoa(status), code(fault.MessagesTypeFor(status))})
	}
	return table([]string{"status", "type"}, rows)
}
