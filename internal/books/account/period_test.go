package account_test

import (
	"testing"
	"time"

	"rubicon/internal/books/account"
)

func TestPeriods(t *testing.T) {
	day := func(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }
	noon := time.Date(2026, 7, 30, 12, 0, 0, 0, time.UTC)
	east := time.FixedZone("east", 5*60*60)
	for _, c := range []struct {
		name       string
		now        time.Time
		start, end time.Time
	}{
		{account.PeriodDay, noon, day(2026, 7, 30), day(2026, 7, 31)},
		{account.PeriodDay, day(2026, 7, 30), day(2026, 7, 30), day(2026, 7, 31)},
		{account.PeriodDay, time.Date(2026, 7, 31, 4, 0, 0, 0, east), day(2026, 7, 30), day(2026, 7, 31)},
		{account.PeriodWeek, noon, day(2026, 7, 27), day(2026, 8, 3)},             // a Thursday
		{account.PeriodWeek, day(2026, 7, 27), day(2026, 7, 27), day(2026, 8, 3)}, // Monday
		{account.PeriodWeek, day(2027, 1, 3), day(2026, 12, 28), day(2027, 1, 4)}, // Sunday
		{account.PeriodMonth, noon, day(2026, 7, 1), day(2026, 8, 1)},
		{account.PeriodMonth, day(2026, 12, 31), day(2026, 12, 1), day(2027, 1, 1)},
		{account.PeriodMonth, day(2028, 2, 29), day(2028, 2, 1), day(2028, 3, 1)},
		{account.PeriodTotal, noon, time.Time{}, time.Time{}},
	} {
		start, end := account.PeriodAt(c.name, c.now)
		if !start.Equal(c.start) || !end.Equal(c.end) {
			t.Errorf("%s at %s: %s to %s, want %s to %s", c.name, c.now, start, end, c.start, c.end)
		}
	}
}
