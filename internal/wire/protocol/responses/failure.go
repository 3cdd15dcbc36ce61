package responses

import (
	"strings"
	"time"

	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
)

// errorEvent reads an error event, whose fields are flat, nested under "error",
// or both ways; nested ones count first.
func errorEvent(data, nested []byte) protocol.FailureInfo {
	flat := protocol.FailureFields(data)
	if flat.Type == typeError {
		flat.Type = "" // that is the event's type
	}
	flat.RetryAfter = delay(data)
	if nested == nil {
		if s := str(data); s != "" {
			flat.Message = s // an event by its name alone
		}
		return flat
	}
	return fill(errorValue(nested), flat)
}

// errorValue reads the value of an "error" member: an object, a string, a list.
func errorValue(raw []byte) protocol.FailureInfo {
	info, _ := protocol.ReadFailure(raw)
	info.RetryAfter = delay(raw)
	return info
}

// fill takes from rest what info leaves open; so an error event and the
// response.failed after it become one failure (docs/contract.md#s2-one-failure: the code is
// response.failed's if it has one). A type goes with its code.
func fill(info, rest protocol.FailureInfo) protocol.FailureInfo {
	if info.Code == "" && info.Type == "" {
		info.Type = rest.Type
	}
	if info.Code == "" {
		info.Code = rest.Code
	}
	if info.Message == "" {
		info.Message = rest.Message
	}
	if info.Param == "" {
		info.Param = rest.Param
	}
	if info.Retryable == nil {
		info.Retryable = rest.Retryable
	}
	if info.Status == 0 {
		info.Status = rest.Status
	}
	if info.RetryAfter == 0 {
		info.RetryAfter = rest.RetryAfter
	}
	return info
}

// delay reads retry_after or headers.retry-after, in seconds.
func delay(obj []byte) time.Duration {
	m := jsonscan.Object(obj)
	var d time.Duration
	for m.Next() {
		switch string(m.Key()) {
		case "retry_after":
			d = max(d, protocol.Seconds(m.Value()))
		case "headers":
			h := jsonscan.Object(m.Value())
			for h.Next() {
				if strings.EqualFold(string(h.Key()), "retry-after") {
					d = max(d, protocol.Seconds(h.Value()))
				}
			}
		}
	}
	return d
}
