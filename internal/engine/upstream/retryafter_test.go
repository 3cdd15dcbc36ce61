package upstream

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestParseRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	date := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	type headers = map[string]string
	cases := []struct {
		name string
		h    headers
		want time.Duration // 0: not ok
	}{
		{"none", nil, 0},
		{"seconds", headers{"Retry-After": "7"}, 7 * time.Second},
		{"spaces", headers{"Retry-After": " 7 "}, 7 * time.Second},
		{"decimals", headers{"Retry-After": "1.5"}, 1500 * time.Millisecond},
		{"date", headers{"Retry-After": date(20 * time.Second)}, 20 * time.Second},
		{"old date format", headers{"Retry-After": now.Add(20 * time.Second).Format("Monday, 02-Jan-06 15:04:05 GMT")}, 20 * time.Second},
		{"past date", headers{"Retry-After": date(-time.Second)}, 0},
		{"far date", headers{"Retry-After": date(1000 * 24 * time.Hour)}, LongestWait},
		{"zero", headers{"Retry-After": "0"}, 0},
		{"negative", headers{"Retry-After": "-5"}, 0},
		{"plus", headers{"Retry-After": "+5"}, 0},
		{"NaN", headers{"Retry-After": "NaN"}, 0},
		{"Inf", headers{"Retry-After": "Inf"}, 0},
		{"exponent", headers{"Retry-After": "1e3"}, 0},
		{"hex", headers{"Retry-After": "0x10"}, 0},
		{"huge", headers{"Retry-After": "99999999999999999999"}, LongestWait},
		{"the end of time", headers{"Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT"}, LongestWait},
		{"out of range", headers{"Retry-After": strings.Repeat("9", 400)}, LongestWait},
		{"a year", headers{"Retry-After": "31536000"}, LongestWait},
		{"a year of milliseconds", headers{"Retry-After-Ms": "31536000000"}, LongestWait},
		{"next to nothing", headers{"Retry-After": "0.00000000001"}, 1},
		{"absurd", headers{"Retry-After": "999999999"}, LongestWait},
		{"two points", headers{"Retry-After": "1.2.3"}, 0},
		{"words", headers{"Retry-After": "soon"}, 0},
		{"a list", headers{"Retry-After": "1, 2"}, 0},
		{"milliseconds", headers{"Retry-After-Ms": "1500"}, 1500 * time.Millisecond},
		{"milliseconds before seconds", headers{"Retry-After-Ms": "250", "Retry-After": "1"}, 250 * time.Millisecond},
		{"nonsense milliseconds", headers{"Retry-After-Ms": "-1", "Retry-After": "3"}, 3 * time.Second},
		{"reset duration", headers{"X-Ratelimit-Reset-Requests": "6m0s"}, 6 * time.Minute},
		{"reset milliseconds", headers{"X-Ratelimit-Reset-Tokens": "20ms"}, 20 * time.Millisecond},
		{"reset seconds", headers{"X-Ratelimit-Reset": "12"}, 12 * time.Second},
		{"reset decimals", headers{"X-Ratelimit-Reset-Tokens": "7.66"}, 7660 * time.Millisecond},
		{"reset epoch", headers{"X-Ratelimit-Reset": "1772366430"}, 30 * time.Second},
		{"reset epoch in milliseconds", headers{"X-Ratelimit-Reset": "1772366430000"}, 30 * time.Second},
		{"reset past epoch", headers{"X-Ratelimit-Reset": "1500000000"}, 0},
		{"reset far epoch", headers{"X-Ratelimit-Reset": "99999999999999999999"}, 0},
		{"reset moment", headers{"X-Ratelimit-Reset-Requests": "2026-03-01T12:00:09Z"}, 9 * time.Second},
		{"reset negative", headers{"X-Ratelimit-Reset-Requests": "-1s"}, 0},
		{"reset absurd", headers{"X-Ratelimit-Reset-Requests": "9999h"}, 0},
		{"reset is second choice", headers{"Retry-After": "2", "X-Ratelimit-Reset": "12"}, 2 * time.Second},
		{"reset does not mend a nonsense retry-after", headers{"Retry-After": "soon", "X-Ratelimit-Reset": "12"}, 0},
		{"the limit that was hit", headers{
			"X-Ratelimit-Reset-Requests": "1s", "X-Ratelimit-Remaining-Requests": "59",
			"X-Ratelimit-Reset-Tokens": "40s", "X-Ratelimit-Remaining-Tokens": "0"}, 40 * time.Second},
		{"no limit known to be hit", headers{"X-Ratelimit-Reset-Requests": "8s", "X-Ratelimit-Reset-Tokens": "40s"}, 8 * time.Second},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := http.Header{}
			for k, v := range c.h {
				h.Set(k, v)
			}
			d, ok := parseRetryAfter(h, now)
			if ok != (c.want > 0) || ok && (d-c.want).Abs() > time.Microsecond {
				t.Errorf("%s %v, want %s", d, ok, c.want)
			}
		})
	}
}

func FuzzParseRetryAfter(f *testing.F) {
	for _, s := range []string{"7", "1.5", "-1", "NaN", "6m0s", "1772366430", "Sun, 01 Mar 2026 12:00:20 GMT", "9223372036854775807"} {
		f.Add(s)
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		for _, name := range []string{"Retry-After", "Retry-After-Ms", "X-Ratelimit-Reset-Tokens"} {
			d, ok := parseRetryAfter(http.Header{name: {s}}, now)
			if ok && (d <= 0 || d > LongestWait) || !ok && d != 0 {
				t.Errorf("%s: %q gives %s %v", name, s, d, ok)
			}
		}
	})
}
