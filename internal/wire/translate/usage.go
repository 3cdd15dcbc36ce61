package translate

// Sound gives a usage that can be: nothing below zero, and not more thinking
// than output. It is false where the upstream's numbers were not so.
func (u Usage) Sound() (Usage, bool) {
	ok := true
	for _, n := range [...]*int64{&u.Fresh, &u.Cached, &u.Write, &u.Write5m, &u.Write1h, &u.Write30m, &u.Write12h, &u.Output, &u.Thinking, &u.WebSearches} {
		if *n < 0 {
			*n, ok = 0, false
		}
	}
	if u.Thinking > u.Output {
		u.Thinking, ok = u.Output, false
	}
	return u, ok
}
