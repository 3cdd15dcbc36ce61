package limit

import (
	"time"

	"rubicon/internal/books/account"
)

// Period is the stretch of time, in UTC, that a budget counts at a moment. A
// zero start is all of the past; a zero end never comes. Weeks begin on Monday.
func Period(name string, now time.Time) (start, end time.Time) {
	now = now.UTC()
	year, month, day := now.Date()
	today := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	switch name {
	case account.PeriodDay:
		return today, today.AddDate(0, 0, 1)
	case account.PeriodWeek:
		start = today.AddDate(0, 0, -(int(now.Weekday())+6)%7)
		return start, start.AddDate(0, 0, 7)
	case account.PeriodMonth:
		start = time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
		return start, start.AddDate(0, 1, 0)
	}
	return time.Time{}, time.Time{}
}
