package upstream

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// LongestWait is more than any provider's window lasts. An upstream that asks
// for more is taken to ask for this much: cooldowns are capped far lower, and the
// value is never sent to a client.
const LongestWait = 31 * 24 * time.Hour

const (
	resetPrefix     = "x-ratelimit-reset"
	remainingPrefix = "x-ratelimit-remaining"

	// Numbers of at least this size are moments since 1970, in seconds or
	// milliseconds: they are too large to be durations.
	epochSeconds = 1e9
	epochMillis  = 1e12
)

// retryAfter is how long an answer asks to wait; 0: it does not ask.
func retryAfter(h http.Header) time.Duration {
	d, ok := parseRetryAfter(h, time.Now())
	if !ok {
		return 0
	}
	return d
}

// parseRetryAfter reads how long upstream asks to wait: retry-after-ms, else
// Retry-After (seconds, decimals too, or an HTTP date), else, only where
// neither is present, the x-ratelimit-reset family (durations such as "6m0s",
// seconds, moments). Zero, negative and past values are ignored. More than
// LongestWait is cut to it where upstream asks to wait. As the reset of a limit
// it is ignored, because its unit is unknown.
func parseRetryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	ms, after := first(h, "Retry-After-Ms"), first(h, "Retry-After")
	if n, ok := number(ms); ok && n > 0 {
		return wish(n / 1000), true
	}
	if ms != "" || after != "" {
		return waitOf(after, now)
	}
	return reset(h, now)
}

func waitOf(value string, now time.Time) (time.Duration, bool) {
	if n, ok := number(value); ok && n > 0 {
		return wish(n), true
	}
	if at, err := http.ParseTime(value); err == nil && at.After(now) {
		return min(at.Sub(now), LongestWait), true
	}
	return 0, false
}

// wish makes a duration of the seconds that upstream asks to wait.
func wish(seconds float64) time.Duration {
	return max(time.Duration(min(seconds, LongestWait.Seconds())*float64(time.Second)), 1)
}

// reset reads the x-ratelimit-reset family. An answer may name several limits.
// Those with nothing remaining were reached, and the longest of them counts.
// Where the answer does not say what remains, the shortest is used: a cooldown
// that is too short costs one more 429, one that is too long costs a channel.
func reset(h http.Header, now time.Time) (time.Duration, bool) {
	var hit, least time.Duration
	for name, values := range h {
		suffix, ok := strings.CutPrefix(strings.ToLower(name), resetPrefix)
		if !ok || len(values) == 0 {
			continue
		}
		d, ok := resetValue(strings.TrimSpace(values[0]), now)
		if !ok {
			continue
		}
		if least == 0 || d < least {
			least = d
		}
		if left, told := number(first(h, remainingPrefix+suffix)); told && left == 0 {
			hit = max(hit, d)
		}
	}
	if hit > 0 {
		return hit, true
	}
	return least, least > 0
}

func resetValue(value string, now time.Time) (time.Duration, bool) {
	n, ok := number(value)
	switch {
	case ok && n >= epochMillis:
		return until(time.UnixMilli(int64(min(n, 1e15))), now)
	case ok && n >= epochSeconds:
		return until(time.Unix(int64(n), 0), now)
	case ok:
		return secondsDuration(n)
	}
	if d, err := time.ParseDuration(value); err == nil && d > 0 && d <= LongestWait {
		return d, true
	}
	if at, err := time.Parse(time.RFC3339, value); err == nil {
		return until(at, now)
	}
	return 0, false
}

func until(at, now time.Time) (time.Duration, bool) {
	if d := at.Sub(now); d > 0 && d <= LongestWait {
		return d, true
	}
	return 0, false
}

// secondsDuration makes a duration of seconds, if it is one.
func secondsDuration(seconds float64) (time.Duration, bool) {
	if seconds <= 0 || seconds > LongestWait.Seconds() {
		return 0, false
	}
	d := time.Duration(seconds * float64(time.Second))
	return d, d > 0
}

// number reads digits with at most one point: no sign, exponent, NaN or
// infinity.
func number(s string) (float64, bool) {
	if s == "" || strings.Trim(s, "0123456789.") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil || errors.Is(err, strconv.ErrRange) // out of range is infinite
}

func first(h http.Header, name string) string { return strings.TrimSpace(h.Get(name)) }
