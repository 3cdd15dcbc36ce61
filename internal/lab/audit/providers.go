package audit

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"rubicon/internal/lab/sim"
)

// providers is the two providers: it tells each call which request it belongs to, by
// the mark in the client's words, and plays that request's case. A call that
// comes late, or through a gateway with models of its own, still finds its case.
type providers struct {
	o    Options
	sims [2]*sim.Provider
	wg   sync.WaitGroup

	mu       sync.Mutex
	assigned map[string]assignment // by mark
	loaded   [2]map[string]bool    // scripts that a provider has
}

type assignment struct {
	scene *auditCase
	began time.Time
}

// The providers.
const (
	primary = iota
	fallback
)

var providerNames = [...]string{"primary", "fallback"}

// startProviders starts the providers; they serve until ctx ends.
func startProviders(ctx context.Context, o Options) (*providers, error) {
	d := &providers{o: o, assigned: map[string]assignment{}}
	for i := range d.sims {
		l, err := o.OpenAddress("tcp", o.Listen[i])
		if err != nil {
			return d, fmt.Errorf("listening for the %s provider; choose other addresses with --upstream-listen: %w", providerNames[i], err)
		}
		d.loaded[i] = map[string]bool{}
		d.sims[i] = sim.New(sim.Options{Seed: providerNames[i][:1], Pick: d.pick(i),
			Scripts: map[string]sim.Script{"*": sim.Play(sim.Answer("ok", nil))}})
		d.wg.Go(func() { _ = d.sims[i].Serve(ctx, l) })
	}
	return d, nil
}

// marks stand in the client's words as [audit MARK].
const (
	markBegin = "[audit "
	markEnd   = "]"
)

// markIn finds the mark in a request's body, whatever protocol it is in.
func markIn(body []byte) string {
	_, rest, ok := bytes.Cut(body, []byte(markBegin))
	mark, _, ended := bytes.Cut(rest, []byte(markEnd))
	if !ok || !ended || len(mark) > 200 {
		return ""
	}
	return string(mark)
}

// assign makes the providers ready for a request.
func (d *providers) assign(mark string, s *auditCase, began time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.assigned[mark] = assignment{s, began}
}

// pick is sim's choice of a script for one of the providers.
func (d *providers) pick(which int) func([]byte) string {
	return func(body []byte) string {
		mark := markIn(body)
		d.mu.Lock()
		defer d.mu.Unlock()
		p, ok := d.assigned[mark]
		if !ok {
			return ""
		}
		part := p.scene.primary
		if which == fallback {
			part = p.scene.fallback
		}
		key, calls := mark, part.calls
		if part.choose != nil {
			now := time.Since(p.began)
			if d.o.Fast {
				now *= fastFactor
			}
			if name := part.choose(callInfo{body, now}); name != "" {
				key, calls = mark+"/"+name, [][]sim.Step{part.other(name)}
			}
		}
		d.script(which, key, calls)
		return key
	}
}

// script gives a provider a script that it does not have yet.
func (d *providers) script(which int, key string, calls [][]sim.Step) {
	if d.loaded[which][key] {
		return
	}
	d.loaded[which][key] = true
	var s sim.Script
	for _, c := range calls {
		s.Calls = append(s.Calls, scaled(c, d.o.scale))
	}
	if err := d.sims[which].Script(key, s); err != nil {
		panic(err.Error()) // the cases are constants, and a test loads every one
	}
}

// calls gives what a provider got for a request.
func (d *providers) calls(which int, mark string) []sim.Call {
	var out []sim.Call
	for _, c := range d.sims[which].Calls("") {
		if c.Key == mark || strings.HasPrefix(c.Key, mark+"/") {
			out = append(out, c)
		}
	}
	return out
}

// running is how many of a request's calls are still being answered.
func (d *providers) running(mark string) int {
	n := 0
	for i := range d.sims {
		for _, c := range d.calls(i, mark) {
			if c.Done.IsZero() {
				n++
			}
		}
	}
	return n
}
