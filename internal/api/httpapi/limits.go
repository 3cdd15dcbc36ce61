package httpapi

import (
	"net/http"
	"strconv"
	"time"

	"rubicon/internal/books/limit"
)

// limitHeaders writes how the key stands under its rate limits. They go out
// with whatever the answer turns out to be.
func limitHeaders(h http.Header) func(limit.State) {
	return func(s limit.State) {
		window(h, "Requests", s.Requests)
		window(h, "Tokens", s.Tokens)
	}
}

func window(h http.Header, what string, w limit.Window) {
	if w.Limit <= 0 {
		return
	}
	h.Set("X-Ratelimit-Limit-"+what, strconv.FormatInt(w.Limit, 10))
	h.Set("X-Ratelimit-Remaining-"+what, strconv.FormatInt(w.Remaining, 10))
	// As SDKs know it: 1s, 6m0s, 12ms.
	reset := (w.Reset + time.Millisecond - 1).Truncate(time.Millisecond)
	h.Set("X-Ratelimit-Reset-"+what, reset.String())
}
