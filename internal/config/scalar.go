package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"rubicon/internal/money"
)

// scalarText is the expanded text of a scalar; ok is false after a report.
func (d *decoder) scalarText(n *node, path string) (text string, ok bool) {
	if n.kind != scalar {
		d.report(path, "must be a single value")
		return "", false
	}
	if !n.isString {
		return n.text, true
	}
	text, values, err := d.expand(n.text)
	d.secrets = append(d.secrets, values...)
	if err != nil {
		d.report(path, "%v", err)
		return "", false
	}
	return text, true
}

// value makes a reader of a parser; what the parser refuses is reported as
// "must be …", without the value.
func value[T any](d *decoder, into *T, mustBe string, parse func(string) (T, bool)) reader {
	return func(n *node, path string) {
		if d.visit != nil {
			d.visit(path, mustBe, written(*into))
			return
		}
		text, ok := d.scalarText(n, path)
		if !ok {
			return
		}
		parsed, ok := parse(text)
		if !ok {
			d.report(path, "must be %s", mustBe)
			return
		}
		*into = parsed
	}
}

// text reads a string. A number is taken as it is written; a boolean is more
// likely a mistake.
func (d *decoder) text(into *string) reader {
	return func(n *node, path string) {
		if d.visit != nil {
			d.visit(path, "text", *into)
			return
		}
		if n.kind == scalar && !n.isString && (strings.EqualFold(n.text, "true") || strings.EqualFold(n.text, "false")) {
			d.report(path, "must be text (put true and false in quotes)")
			return
		}
		if s, ok := d.scalarText(n, path); ok {
			*into = s
		}
	}
}

func (d *decoder) secret(into *Secret) reader {
	return func(n *node, path string) {
		s := into.Reveal()
		d.text(&s)(n, path)
		*into = NewSecret(s)
		d.secrets = append(d.secrets, s)
	}
}

// oneOf reads one of a few words.
func (d *decoder) oneOf(into *string, words ...string) reader {
	return value(d, into, "one of "+strings.Join(words, ", "), func(s string) (string, bool) {
		return s, slices.Contains(words, s)
	})
}

func (d *decoder) boolean(into *bool) reader {
	return value(d, into, "true or false", func(s string) (bool, bool) {
		return s == "true", s == "true" || s == "false"
	})
}

func (d *decoder) integer(into *int, low, high int) reader {
	return value(d, into, fmt.Sprintf("a whole number from %d to %d", low, high), func(s string) (int, bool) {
		v, err := strconv.Atoi(s)
		return v, err == nil && v >= low && v <= high
	})
}

func (d *decoder) share(into *float64) reader {
	return value(d, into, "a number above 0 and at most 1", func(s string) (float64, bool) {
		v, err := strconv.ParseFloat(s, 64)
		return v, err == nil && v > 0 && v <= 1
	})
}

// size reads bytes: "32MiB", "16MB", a plain number. low is the least allowed.
func (d *decoder) size(into *int64, low int64) reader {
	mustBe := "a size like 32MiB, 16MB or a number of bytes"
	if low > 0 {
		mustBe += ", above 0"
	}
	return value(d, into, mustBe, func(s string) (int64, bool) {
		v, ok := parseSize(s)
		return v, ok && v >= low
	})
}

// duration reads "60s", "10m", "90d"; it must be above zero.
func (d *decoder) duration(into *time.Duration) reader {
	return value(d, into, "a duration above 0 like 500ms, 60s, 10m or 90d", func(s string) (time.Duration, bool) {
		v, ok := parseDuration(s)
		return v, ok && v > 0
	})
}

// durationOrOff is a duration that may be 0.
func (d *decoder) durationOrOff(into *time.Duration) reader {
	return value(d, into, "a duration like 500ms, 60s, 10m or 90d, or 0s", func(s string) (time.Duration, bool) {
		v, ok := parseDuration(s)
		return v, ok && v >= 0
	})
}

// date reads a day or a moment.
func (d *decoder) date(into *time.Time) reader {
	return value(d, into, "a date like 2026-05-31 or 2026-05-31T12:00:00Z, after 1970", func(s string) (time.Time, bool) {
		at, err := time.Parse(time.DateOnly, s)
		if err != nil {
			at, err = time.Parse(time.RFC3339, s)
		}
		return at.UTC(), err == nil && at.Unix() > 0
	})
}

func (d *decoder) amount(into *money.Nano) reader {
	return value(d, into, `an amount in USD like "1.25", not negative, with at most 9 places`, func(s string) (money.Nano, bool) {
		v, err := money.Parse(s)
		return v, err == nil && v >= 0
	})
}

func (d *decoder) factor(into *money.Factor) reader {
	return value(d, into, `a factor like "0.5" or "2", not negative, with at most 9 places`, func(s string) (money.Factor, bool) {
		v, err := money.ParseFactor(s)
		return v, err == nil
	})
}

// parseSize never returns a negative size.
func parseSize(s string) (int64, bool) {
	digits := strings.TrimRight(s, "KMGTiB")
	unit, known := map[string]int64{
		"": 1, "B": 1,
		"KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
		"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
	}[s[len(digits):]]
	count, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || !known || int64(count) > math.MaxInt64/unit {
		return 0, false
	}
	return int64(count) * unit, true
}

const day = 24 * time.Hour

// parseDuration reads Go durations, and whole days before them: "90d", "1d12h".
func parseDuration(s string) (time.Duration, bool) {
	count, rest, hasDays := strings.Cut(s, "d")
	if !hasDays {
		v, err := time.ParseDuration(s)
		return v, err == nil
	}
	days, err := strconv.ParseUint(count, 10, 16)
	if err != nil {
		return 0, false
	}
	total := time.Duration(days) * day // at most 65,535 days: fits
	if rest == "" {
		return total, true
	}
	v, err := time.ParseDuration(rest)
	if err != nil || v < 0 || v >= day {
		return 0, false
	}
	return total + v, true
}
