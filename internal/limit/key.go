package limit

import "time"

// firstSweep is how many keys are kept before idle ones are looked for.
const firstSweep = 1024

// used is what one key has used on this node.
type used struct {
	requests, tokens bucket
	running          int64
}

// idle tells whether forgetting the key changes nothing.
func (u *used) idle(now time.Time) bool {
	return u.running == 0 && !u.requests.until.After(now) && !u.tokens.until.After(now)
}

// spend takes all that the request asks for, or nothing.
func (u *used) spend(now time.Time, a Ask) *Refusal {
	requests, tokens := u.requests.under(a.RPM, now), u.tokens.under(a.TPM, now)
	refuse := func(why Reason, limit int64, d decision) *Refusal {
		return &Refusal{Reason: why, Limit: limit, After: d.after, Never: d.never, State: stateOf(requests, tokens, now)}
	}
	if a.Concurrency > 0 && u.running >= a.Concurrency {
		return refuse(Concurrency, a.Concurrency, decision{})
	}
	if a.RPM > 0 {
		d := requests.spend(now, 1)
		if !d.ok {
			return refuse(Requests, a.RPM, d)
		}
		requests = d.next
	}
	if a.TPM > 0 {
		d := tokens.spend(now, a.Tokens)
		if !d.ok {
			requests = u.requests.under(a.RPM, now)
			return refuse(Tokens, a.TPM, d)
		}
		tokens = d.next
	}
	u.requests, u.tokens = requests, tokens
	u.running++
	return nil
}

func stateOf(requests, tokens bucket, now time.Time) (s State) {
	if requests.limit > 0 {
		s.Requests = requests.window(now)
	}
	if tokens.limit > 0 {
		s.Tokens = tokens.window(now)
	}
	return s
}
