package route_test

import (
	"testing"
	"time"

	"rubicon/internal/health"
	"rubicon/internal/health/route"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// cool lets a channel's credential cool for so long from noon on.
func (b *bench) cool(channel, credential int, long time.Duration, stated bool) {
	v := &b.views[channel]
	c := &v.Credentials[credential]
	c.State, c.Usable, c.Until, c.Stated = health.StateCooling, false, noon.Add(long), stated
	v.Ready, v.Usable = true, false
	for _, k := range v.Credentials {
		v.Usable = v.Usable || k.Usable
	}
	if !v.Usable {
		v.State = health.StateCooling
	}
}

func TestFirstBack(t *testing.T) {
	b := &bench{}
	b.add("a", "one.example", 1, 100, "k1", "k2")
	b.add("b", "two.example", 0, 100)
	b.add("open", "three.example", 0, 100)
	back := func(want string, in time.Duration, stated bool) {
		t.Helper()
		got, ok := route.FirstBack(&b.model, b.views, query(0))
		name := ""
		if ok {
			name = got.Route.Candidate.Channel.Name + "/" + got.Route.CredentialName()
		}
		if name != want || ok && (got.At.Sub(noon) != in || got.Stated != stated) {
			t.Errorf("first back is %q in %s, stated %t; want %q in %s, %t", name, got.At.Sub(noon), got.Stated, want, in, stated)
		}
	}
	b.views[0].Usable, b.views[1].Usable, b.views[2].Usable = false, false, false
	b.views[2].State = health.StateOpen
	back("", 0, false) // nothing cools
	b.cool(0, 0, 3*time.Second, false)
	b.cool(0, 1, 2*time.Second, false)
	back("a/k2", 2*time.Second, false)
	b.cool(1, 0, 2*time.Second, false)
	back("b/", 2*time.Second, false) // of two that are back together the one of the first priority
	b.cool(1, 0, 9*time.Second, true)
	back("a/k2", 2*time.Second, true) // upstream named one of the times
	b.views[0].Ready = false          // its breaker is open, or an operator paused it
	back("b/", 9*time.Second, true)
}

func TestWait(t *testing.T) {
	for _, tt := range []struct {
		in, left time.Duration
		stated   bool
		wait     time.Duration
		ok       bool
	}{
		{time.Second, 2 * time.Second, false, time.Second, true},
		{time.Second, 2 * time.Second, true, time.Second, true},
		{2 * time.Second, 2 * time.Second, true, 2 * time.Second, true},
		{3 * time.Second, 2 * time.Second, false, 2 * time.Second, true}, // and then it goes
		{3 * time.Second, 2 * time.Second, true, 0, false},
		{3 * time.Second, 0, false, 0, true}, // it goes now
		{3 * time.Second, 0, true, 0, false},
		{-time.Second, 2 * time.Second, true, 0, true},
	} {
		c := route.Comeback{At: noon.Add(tt.in), Stated: tt.stated}
		if wait, ok := c.Wait(noon, tt.left); wait != tt.wait || ok != tt.ok {
			t.Errorf("back in %s (stated %t), %s left: waits %s %t, want %s %t", tt.in, tt.stated, tt.left, wait, ok, tt.wait, tt.ok)
		}
	}
}
