package sim

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sort"
	"sync"
	"time"
)

// keptCalls bounds what a provider remembers: the oldest go first.
const keptCalls = 10_000

// Options of a provider; the zero value is good.
type Options struct {
	// Scripts by upstream model name, or by "METHOD /path" or "METHOD /path model" for other calls (paths
	// without base, ids as {id}: "GET /models", "GET /responses/{id}"). "*" is every other model.
	Scripts map[string]Script
	// Seed goes into every id that the provider makes up, so that two providers never make the same.
	Seed string
	// Pick may name the script of a request by its body, before any other name is tried; "" leaves it to those.
	// It is called for every request, at the same time for several.
	Pick func(body []byte) string
	// Account is what the provider shares with others; nil: an account of its own.
	Account *Account
}

// Call is one request as it came in, and what became of it.
type Call struct {
	N          int         `json:"n"`             // number of the call of its script, from 1
	Key        string      `json:"key,omitempty"` // name of the script that played; empty: a default answer
	Model      string      `json:"model,omitempty"`
	Method     string      `json:"method"`
	Path       string      `json:"path"`
	Query      string      `json:"query,omitempty"`
	Host       string      `json:"host"`
	Conn       int         `json:"conn"` // number of the connection, from 1: shows reuse
	Header     http.Header `json:"header"`
	Body       string      `json:"body"`
	At         time.Time   `json:"at"`             // request read
	CallerLeft time.Time   `json:"gone,omitzero"`  // the peer left while the script was still playing
	Done       time.Time   `json:"done,omitzero"`  // the script had ended, for whatever reason
	Sent       int64       `json:"sent,omitempty"` // bytes of the answer's body that were written
	Err        string      `json:"err,omitempty"`  // what could not be played as written
}

// Provider plays scripts. It is safe for concurrent use.
type Provider struct {
	seed string
	pick func(body []byte) string // nil: none
	acct *Account

	mu      sync.Mutex
	tracks  map[string]*track
	calls   []*Call
	total   int           // calls since Reset, forgotten ones included
	conns   int           // connections so far
	changed chan struct{} // closed and replaced whenever calls change
}

// track is a script and how often it played.
type track struct {
	script Script
	n      int
}

// New makes a provider. Scripts that do not pass Check panic: they are constants of a test or were loaded.
func New(opts Options) *Provider {
	p := &Provider{seed: opts.Seed, pick: opts.Pick, acct: opts.Account, tracks: map[string]*track{}, changed: make(chan struct{})}
	if p.acct == nil {
		p.acct = &Account{}
	}
	for key, s := range opts.Scripts {
		if err := p.Script(key, s); err != nil {
			panic(err.Error())
		}
	}
	return p
}

// Script sets what a model does from its next call on; its call count starts again.
func (p *Provider) Script(key string, s Script) error {
	if err := s.Check(); err != nil {
		return fmt.Errorf("sim: script %q: %w", key, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tracks[key] = &track{script: s}
	return nil
}

// Scripts gives the scripts that are set.
func (p *Provider) Scripts() map[string]Script {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make(map[string]Script, len(p.tracks))
	for key, t := range p.tracks {
		out[key] = t.script
	}
	return out
}

// Calls gives the calls so far of a model or script name, in order; "" gives all.
func (p *Provider) Calls(model string) []Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := []Call{}
	for _, c := range p.calls {
		if model == "" || c.Model == model || c.Key == model {
			out = append(out, *c)
		}
	}
	return out
}

// Reset forgets calls and stored responses and starts all counts again; scripts stay.
func (p *Provider) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls, p.total = nil, 0
	p.acct.reset()
	for _, t := range p.tracks {
		t.n = 0
	}
	p.notify()
}

// WaitCalls waits until n calls for the model ("" = any) came in and gives them.
func (p *Provider) WaitCalls(ctx context.Context, model string, n int) ([]Call, error) {
	return p.wait(ctx, model, n, func(Call) bool { return true })
}

// WaitDone waits until n calls for the model ("" = any) came in and have ended, and gives them.
func (p *Provider) WaitDone(ctx context.Context, model string, n int) ([]Call, error) {
	return p.wait(ctx, model, n, func(c Call) bool { return !c.Done.IsZero() })
}

func (p *Provider) wait(ctx context.Context, model string, n int, counts func(Call) bool) ([]Call, error) {
	for {
		p.mu.Lock()
		changed := p.changed
		p.mu.Unlock()
		calls := p.Calls(model)
		calls = slices.DeleteFunc(calls, func(c Call) bool { return !counts(c) })
		if len(calls) >= n {
			return calls, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return calls, fmt.Errorf("sim: %d of %d calls for %q: %w", len(calls), n, model, context.Cause(ctx))
		}
	}
}

// notify wakes those who wait. The caller holds p.mu.
func (p *Provider) notify() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// begin records a call and gives the steps that it plays; none: no script is for it. total is its number of all.
func (p *Provider) begin(q request, conn int) (c *Call, steps []Step, total int) {
	keys := q.scriptKeys()
	if p.pick != nil {
		if key := p.pick(q.body); key != "" {
			keys = append([]string{key}, keys...)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	u := q.http.URL
	c = &Call{Model: q.model, Method: q.http.Method, Path: u.Path, Query: u.RawQuery, Host: q.http.Host, Conn: conn,
		Header: q.http.Header, Body: string(q.body), At: time.Now()}
	for _, key := range keys {
		if t := p.tracks[key]; t != nil {
			t.n++
			c.Key, c.N = key, t.n
			steps = t.script.Calls[min(t.n, len(t.script.Calls))-1]
			break
		}
	}
	p.total++
	p.calls = append(p.calls, c)
	if len(p.calls) > keptCalls {
		p.calls = slices.Delete(p.calls, 0, len(p.calls)-keptCalls)
	}
	p.notify()
	return c, steps, p.total
}

// finish records how a call ended.
func (p *Provider) finish(c *Call, sent int64, gone bool, problem string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.Done, c.Sent, c.Err = time.Now(), sent, problem
	if gone {
		c.CallerLeft = c.Done
	}
	p.notify()
}

// modelNames lists the models that have a script.
func (p *Provider) modelNames() []string {
	names := []string{}
	for key := range p.Scripts() {
		if key != "*" && !isCallKey(key) {
			names = append(names, key)
		}
	}
	sort.Strings(names)
	return names
}
