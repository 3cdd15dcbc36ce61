package health

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Longest is more than any provider's window lasts. Who asks for more means
// "long", and is taken to ask for this: cooldowns are capped far lower, and no
// client is told it.
const Longest = 31 * 24 * time.Hour

const (
	resetPrefix     = "x-ratelimit-reset"
	remainingPrefix = "x-ratelimit-remaining"

	// Numbers from here on are moments since 1970, in seconds or milliseconds:
	// as durations they would be absurd.
	epochSeconds = 1e9
	epochMillis  = 1e12
)

// ParseRetryAfter reads how long upstream asks to wait: retry-after-ms, else
// Retry-After (seconds, decimals too, or an HTTP date), else, only where
// neither is there, the x-ratelimit-reset family (durations such as "6m0s",
// seconds, moments). Zero, negative and past values are ignored. More than
// Longest is Longest where upstream asks to wait; as the reset of a limit it
// asks for nothing and is of a unit that nobody knows, so it is ignored.
func ParseRetryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	ms, after := first(h, "Retry-After-Ms"), first(h, "Retry-After")
	if n, ok := number(ms); ok && n > 0 {
		return wish(n / 1000), true
	}
	if ms != "" || after != "" {
		return retryAfter(after, now)
	}
	return reset(h, now)
}

func retryAfter(value string, now time.Time) (time.Duration, bool) {
	if n, ok := number(value); ok && n > 0 {
		return wish(n), true
	}
	if at, err := http.ParseTime(value); err == nil && at.After(now) {
		return min(at.Sub(now), Longest), true
	}
	return 0, false
}

// wish makes a duration of the seconds that upstream asks to wait.
func wish(seconds float64) time.Duration {
	return max(time.Duration(min(seconds, Longest.Seconds())*float64(time.Second)), 1)
}

// reset reads the x-ratelimit-reset family. Several limits may be told; those
// with nothing remaining are the ones that were hit, and the longest of them
// counts. Where that is not told, the shortest is the careful guess: a cooldown
// too short costs one more 429, one too long a channel.
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
	if d, err := time.ParseDuration(value); err == nil && d > 0 && d <= Longest {
		return d, true
	}
	if at, err := time.Parse(time.RFC3339, value); err == nil {
		return until(at, now)
	}
	return 0, false
}

func until(at, now time.Time) (time.Duration, bool) {
	if d := at.Sub(now); d > 0 && d <= Longest {
		return d, true
	}
	return 0, false
}

// secondsDuration makes a duration of seconds, if it is one.
func secondsDuration(seconds float64) (time.Duration, bool) {
	if seconds <= 0 || seconds > Longest.Seconds() {
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
