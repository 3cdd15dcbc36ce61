package limit

import "time"

// firstSweep is how many keys are kept before idle ones are looked for.
const firstSweep = 1024

// used is what one key has used on this node.
type used struct {
	requests, tokens bucket
	running          int64
}

// idle reports whether forgetting the key changes nothing.
func (u *used) idle(now time.Time) bool {
	return u.running == 0 && !u.requests.until.After(now) && !u.tokens.until.After(now)
}

// nodeShare is this node's share of a key's limits.
type nodeShare struct{ rpm, tpm, concurrency int64 }

// of is the part of one of several nodes, rounded up: a limit must not become
// none.
func (a Demand) of(nodes int64) nodeShare {
	share := func(limit int64) int64 { return (max(limit, 0) + nodes - 1) / nodes }
	return nodeShare{share(a.RPM), share(a.TPM), share(a.Concurrency)}
}

// spend takes all that the request asks for, or nothing.
func (u *used) spend(now time.Time, a Demand, p nodeShare) *Refusal {
	u.scale(now, p)
	if p.concurrency > 0 && u.running >= p.concurrency {
		return u.refuse(now, p, Refusal{Reason: Concurrency, Limit: a.Concurrency})
	}
	requests, tokens := decision{ok: true}, decision{ok: true}
	if p.rpm > 0 {
		requests = u.requests.spend(now, 1, a.RPM)
	}
	if p.tpm > 0 {
		tokens = u.tokens.spend(now, a.Tokens, a.TPM)
	}
	switch {
	case !requests.ok:
		return u.refuse(now, p, Refusal{Reason: Requests, Limit: a.RPM, After: requests.after})
	case !tokens.ok:
		return u.refuse(now, p, Refusal{Reason: Tokens, Limit: a.TPM, After: tokens.after, Impossible: tokens.impossible})
	}
	if p.rpm > 0 {
		u.requests = requests.next
	}
	if p.tpm > 0 {
		u.tokens = tokens.next
	}
	u.running++
	return nil
}

// spendTokens takes the tokens of a request that has its place already.
func (u *used) spendTokens(now time.Time, a Demand, p nodeShare) *Refusal {
	u.scale(now, p)
	d := u.tokens.spend(now, a.Tokens, a.TPM)
	if !d.ok {
		return u.refuse(now, p, Refusal{Reason: Tokens, Limit: a.TPM, After: d.after, Impossible: d.impossible})
	}
	u.tokens = d.next
	return nil
}

// scale brings the buckets under limits that may have changed.
func (u *used) scale(now time.Time, p nodeShare) {
	if p.rpm > 0 {
		u.requests = u.requests.withLimit(p.rpm, now)
	}
	if p.tpm > 0 {
		u.tokens = u.tokens.withLimit(p.tpm, now)
	}
}

func (u *used) refuse(now time.Time, p nodeShare, r Refusal) *Refusal {
	r.State = u.state(now, p)
	return &r
}

// state shows the rate limits that the key has.
func (u *used) state(now time.Time, p nodeShare) (s State) {
	if p.rpm > 0 {
		s.Requests = u.requests.window(now)
	}
	if p.tpm > 0 {
		s.Tokens = u.tokens.window(now)
	}
	return s
}
