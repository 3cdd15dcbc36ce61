package breaker

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"rubicon/internal/config"
)

// model is what can be known of the breaker from outside: every ticket and
// result. The invariants are stated on it, not on the breaker's own fields.
type model struct {
	cfg config.Breaker
	s   State
	now time.Time

	openPermits []openPermit // permits that were not given back
	spent       []openPermit // permits that were
	log         []outcome    // failures of this closed generation since its last success
	all         []verdict    // every result that counted
	row         int          // failures since the last success, wherever it stood
	uses        map[string]time.Time
}

type openPermit struct {
	ticket   Ticket
	customer string
	deadline time.Time
}

type outcome struct {
	at       time.Time
	customer string
}

type verdict struct {
	at     time.Time
	failed bool
}

func drawConfig(t *rapid.T) config.Breaker {
	open := rapid.IntRange(1, 60).Draw(t, "open")
	return config.Breaker{
		Failures:  rapid.IntRange(1, 8).Draw(t, "failures"),
		Window:    time.Duration(rapid.IntRange(1, 120).Draw(t, "window")) * time.Second,
		Rate:      rapid.SampledFrom([]float64{0.2, 0.5, 1}).Draw(t, "rate"),
		Samples:   rapid.IntRange(1, 20).Draw(t, "samples"),
		Open:      time.Duration(open) * time.Second,
		OpenMax:   time.Duration(rapid.IntRange(open, 600).Draw(t, "open_max")) * time.Second,
		Probes:    rapid.IntRange(1, 3).Draw(t, "probes"),
		Successes: rapid.IntRange(1, 4).Draw(t, "successes"),
	}
}

// step applies an event and checks what must hold after every event.
func (m *model) step(t *rapid.T, e Event) Effect {
	before, copied := m.s, clone(m.s)
	where, free := before.PositionAt(m.now), before.WouldAllow(m.now, m.cfg)
	next, eff := Step(before, e, m.now, m.cfg)
	if diff := cmp.Diff(copied, before); diff != "" {
		t.Fatalf("Step changed the state it was given:\n%s", diff)
	}
	if e.Kind == Acquire && eff.Allowed != free {
		t.Fatalf("Free said %v, Acquire %v", free, eff.Allowed)
	}
	if e.Kind == Acquire && where == Open && eff.Allowed {
		t.Fatal("open means no traffic")
	}
	changes := uint64(0)
	for _, c := range eff.Changes {
		if c != "" {
			changes++
		}
	}
	if next.Generation != before.Generation+changes {
		t.Fatalf("generation %d after %d and %d changes", next.Generation, before.Generation, changes)
	}
	if next.Position == Open && (next.OpenFor < m.cfg.Open || next.OpenFor > m.cfg.OpenMax) {
		t.Fatalf("open for %s, configured %s to %s", next.OpenFor, m.cfg.Open, m.cfg.OpenMax)
	}
	if len(next.Failures) > m.cfg.Failures*m.cfg.Failures {
		t.Fatalf("%d failures remembered", len(next.Failures))
	}
	m.s = next
	return eff
}

func (m *model) acquire(t *rapid.T) {
	customer := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "customer")
	deadline := m.now.Add(time.Duration(rapid.IntRange(1, 90).Draw(t, "patience")) * time.Second)
	eff := m.step(t, Event{Kind: Acquire, Customer: customer, Deadline: deadline})
	if !eff.Allowed {
		return
	}
	m.uses[customer] = m.now
	m.openPermits = append(m.openPermits, openPermit{eff.Ticket, customer, deadline})
	if m.s.Position != HalfOpen {
		return
	}
	probes := 0
	for _, f := range m.openPermits {
		if f.ticket.Generation == m.s.Generation && m.now.Before(f.deadline) {
			probes++
		}
	}
	if probes > m.cfg.Probes {
		t.Fatalf("%d probes in flight, %d configured", probes, m.cfg.Probes)
	}
}

// finish gives a permit back and checks the result against the history.
func (m *model) finish(t *rapid.T, k Kind, f openPermit, again bool) {
	ticked, _ := Step(m.s, Event{Kind: Tick}, m.now, m.cfg)
	late := f.ticket.Generation != ticked.Generation || ticked.Position == HalfOpen && (again || !m.now.Before(f.deadline))
	eff := m.step(t, Event{Kind: k, Customer: f.customer, Ticket: f.ticket, Cause: "connect"})
	m.uses[f.customer] = m.now
	if late || k == Abandoned {
		m.undecided(t, ticked, f)
		return
	}
	if !eff.Counted {
		t.Fatal("a result in time did not count")
	}
	m.all = append(m.all, verdict{m.now, k == Failed})
	if m.row++; k == Success {
		m.row = 0
	}
	switch {
	case ticked.Position == HalfOpen && k == Failed:
		m.want(t, Open)
	case ticked.Position == HalfOpen && ticked.Successes+1 >= m.cfg.Successes:
		m.want(t, Closed)
		m.log = nil
	case ticked.Position == HalfOpen:
		m.want(t, HalfOpen)
	case k == Success:
		m.want(t, Closed)
		m.log = nil
	default:
		m.failed(t, f.customer)
	}
}

// failed restates "5 inside the window, of one customer at most its share
// while others use the channel" over the whole history.
func (m *model) failed(t *rapid.T, customer string) {
	m.log = append(m.log, outcome{m.now, customer})
	per := map[string]int{}
	for _, o := range m.log {
		if m.now.Sub(o.at) < m.cfg.Window {
			per[o.customer]++
		}
	}
	share := 3
	for share*5 < m.cfg.Failures*3 {
		share++
	}
	total := 0
	for c, n := range per {
		others := false
		for other, at := range m.uses {
			others = others || other != c && m.now.Sub(at) < m.cfg.Window
		}
		if others {
			n = min(n, share)
		}
		total += n
	}
	some, every := m.bad()
	switch {
	case total < m.cfg.Failures || !some:
		m.want(t, Closed)
	case every:
		m.want(t, Open)
	}
	if m.s.Position == Open {
		m.log = nil
	}
}

// bad restates "once the window holds so many results only if so much of them
// failed". Results leave the window by slices, so that it may be shorter by up to
// one: some of these windows, or every one, says that the channel is bad.
func (m *model) bad() (some, every bool) {
	every = true
	for _, first := range m.all {
		window := m.now.Sub(first.at)
		if window >= m.cfg.Window {
			continue
		}
		if window < m.cfg.Window-m.cfg.Window/parts {
			window = m.cfg.Window - m.cfg.Window/parts
		}
		n, failed := 0, 0.0
		for _, r := range m.all {
			if m.now.Sub(r.at) <= window {
				n++
				if r.failed {
					failed++
				}
			}
		}
		is := n < m.cfg.Samples || m.row >= m.cfg.Samples || failed >= m.cfg.Rate*float64(n)
		some, every = some || is, every && is
	}
	return some, every
}

func (m *model) want(t *rapid.T, p Position) {
	if got := m.s.PositionAt(m.now); got != p {
		t.Fatalf("breaker is %s, want %s: %+v", got, p, m.s)
	}
}

// undecided: nothing but the probe's place may have changed.
func (m *model) undecided(t *rapid.T, ticked State, f openPermit) {
	got, want := clone(m.s), clone(ticked)
	got.Last, got.LastOther, want.Last, want.LastOther = Use{}, Use{}, Use{}, Use{}
	want.Probes = slices.DeleteFunc(want.Probes, func(p Probe) bool {
		return f.ticket.Generation == want.Generation && p.Number == f.ticket.Probe
	})
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("a result that decides nothing changed the breaker:\n%s", diff)
	}
}

// recovers: from wherever it stands, a healthy upstream closes it, without any
// of the permits in flight ever coming back.
func (m *model) recovers(t *rapid.T) {
	s, now := m.s, m.now.Add(m.cfg.OpenMax+2*time.Minute)
	for range m.cfg.Successes {
		var eff Effect
		if s, eff = Step(s, Event{Kind: Acquire, Customer: "r", Deadline: now.Add(time.Minute)}, now, m.cfg); !eff.Allowed {
			t.Fatalf("the upstream is well, but nothing gets through: %+v", s)
		}
		s, _ = Step(s, Event{Kind: Success, Customer: "r", Ticket: eff.Ticket}, now, m.cfg)
	}
	if s.PositionAt(now) != Closed {
		t.Fatalf("still %s after %d successes", s.PositionAt(now), m.cfg.Successes)
	}
}

// stored: what JSON keeps is enough to go on.
func (m *model) stored(t *rapid.T) {
	b, err := json.Marshal(m.s)
	if err != nil {
		t.Fatal(err)
	}
	var back State
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if back.PositionAt(m.now) != m.s.PositionAt(m.now) || !back.Until.Equal(m.s.Until) || back.OpenFor != m.s.OpenFor || len(back.Failures) != len(m.s.Failures) {
		t.Fatalf("stored %+v, read %+v", m.s, back)
	}
}

func clone(s State) State {
	s.Failures, s.Probes = slices.Clone(s.Failures), slices.Clone(s.Probes)
	return s
}

func TestInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{cfg: drawConfig(t), now: time.Unix(1_780_000_000, 0).UTC(), uses: map[string]time.Time{}}
		take := func(t *rapid.T, from *[]openPermit) openPermit {
			i := rapid.IntRange(0, len(*from)-1).Draw(t, "which")
			f := (*from)[i]
			*from = slices.Delete(*from, i, i+1)
			return f
		}
		kinds := []Kind{Success, Failed, Failed, Failed, Abandoned}
		t.Repeat(map[string]func(*rapid.T){
			"acquire": m.acquire,
			"finish": func(t *rapid.T) {
				if len(m.openPermits) == 0 {
					t.Skip()
				}
				f := take(t, &m.openPermits)
				m.spent = append(m.spent, f)
				m.finish(t, rapid.SampledFrom(kinds).Draw(t, "kind"), f, false)
			},
			"fail at once": func(t *rapid.T) {
				n := len(m.openPermits)
				if m.acquire(t); len(m.openPermits) > n {
					f := m.openPermits[n]
					m.openPermits = m.openPermits[:n]
					m.finish(t, Failed, f, false)
				}
			},
			// A probe's permit that comes back a second time decides nothing.
			// (Package health makes Done idempotent for the others.)
			"finish again": func(t *rapid.T) {
				if len(m.spent) == 0 || m.s.PositionAt(m.now) != HalfOpen {
					t.Skip()
				}
				m.finish(t, rapid.SampledFrom(kinds).Draw(t, "kind"), take(t, &m.spent), true)
			},
			"wait": func(t *rapid.T) {
				m.now = m.now.Add(time.Duration(rapid.IntRange(0, 120).Draw(t, "seconds")) * time.Second)
				m.step(t, Event{Kind: Tick})
			},
			"": func(t *rapid.T) {
				m.recovers(t)
				m.stored(t)
			},
		})
	})
}
