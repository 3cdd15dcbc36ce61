package account

import "time"

// PeriodAt is the period, in UTC, that a budget with a period of this name counts
// at a moment. A zero start includes all of the past; a zero end means that the
// period has no end. Weeks begin on Monday.
func PeriodAt(name string, now time.Time) (start, end time.Time) {
	now = now.UTC()
	year, month, day := now.Date()
	today := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	switch name {
	case PeriodDay:
		return today, today.AddDate(0, 0, 1)
	case PeriodWeek:
		start = today.AddDate(0, 0, -(int(now.Weekday())+6)%7)
		return start, start.AddDate(0, 0, 7)
	case PeriodMonth:
		start = time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
		return start, start.AddDate(0, 1, 0)
	}
	return time.Time{}, time.Time{}
}
