package limit

import "time"

// Admit takes what the request asks for, or says why not. A grant is given
// back, whatever becomes of the request.
func (l *Limits) Admit(now time.Time, a Demand) (*Grant, *Refusal) {
	if a.RPM <= 0 && a.TPM <= 0 && a.Concurrency <= 0 {
		return nil, nil // a key without limits leaves no trace
	}
	p := a.of(int64(max(l.nodes(), 1)))
	l.mu.Lock()
	defer l.mu.Unlock()
	key := l.keys[a.Key]
	if key == nil {
		l.forgetIdle(now)
		key = &used{}
		l.keys[a.Key] = key
	}
	if r := key.spend(now, a, p); r != nil {
		return nil, r
	}
	return &Grant{limits: l, key: key, asked: a.Tokens, requests: key.requests, tokens: key.tokens, state: key.state(now, p)}, nil
}

// Extend adds tokens to what was granted without any. Refused, the request keeps
// its place until it is taken back.
func (g *Grant) Extend(now time.Time, a Demand) *Refusal {
	if a.TPM <= 0 {
		return nil
	}
	p := a.of(int64(max(g.limits.nodes(), 1)))
	g.limits.mu.Lock()
	defer g.limits.mu.Unlock()
	if r := g.key.spendTokens(now, a, p); r != nil {
		return r
	}
	g.asked, g.tokens, g.state = a.Tokens, g.key.tokens, g.key.state(now, p)
	return nil
}

// forgetIdle keeps the map as large as the number of keys in use. It looks at
// all of them only once their number has doubled.
func (l *Limits) forgetIdle(now time.Time) {
	if len(l.keys) < l.sweep {
		return
	}
	for name, key := range l.keys {
		if key.idle(now) {
			delete(l.keys, name)
		}
	}
	l.sweep = max(firstSweep, 2*len(l.keys))
}

// State is how the key stood after the request was admitted.
func (g *Grant) State() State {
	if g == nil {
		return State{}
	}
	return g.state
}

// Done ends a request that ran: its place is free, and the tokens that it
// really used count instead of those that it asked for.
func (g *Grant) Done(now time.Time, tokens int64) { g.end(now, 0, tokens) }

// Cancel takes back a request that was refused after all: it costs nothing.
func (g *Grant) Cancel(now time.Time) { g.end(now, -1, 0) }

func (g *Grant) end(now time.Time, requests, tokens int64) {
	if g == nil {
		return
	}
	g.limits.mu.Lock()
	defer g.limits.mu.Unlock()
	if g.released {
		return
	}
	g.released = true
	g.key.running--
	g.key.requests = g.key.requests.correct(now, requests, g.requests)
	g.key.tokens = g.key.tokens.correct(now, tokens-g.asked, g.tokens)
}
