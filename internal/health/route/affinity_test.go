package route_test

import (
	"fmt"
	"math"
	"testing"
)

const conversations = 4000

// homes is where each conversation goes.
func (b *bench) homes(t *testing.T) []string {
	t.Helper()
	out := make([]string, conversations)
	for i := range out {
		q := query(0.5)
		q.Affinity = fmt.Sprintf("cus_1\x00conversation-%d", i)
		q.Random = func() float64 { t.Fatal("affinity is not drawn"); return 0 }
		out[i], _ = b.choose(q)
	}
	return out
}

func shares(homes []string) map[string]float64 {
	out := map[string]float64{}
	for _, h := range homes {
		out[h] += 1.0 / conversations
	}
	return out
}

func near(t *testing.T, got map[string]float64, name string, want float64) {
	t.Helper()
	if math.Abs(got[name]-want) > 0.03 {
		t.Errorf("%s has %.3f of the conversations, want about %.3f", name, got[name], want)
	}
}

func TestAffinityFollowsWeights(t *testing.T) {
	b := &bench{}
	b.add("a", "a", 0, 100)
	b.add("b", "b", 0, 200)
	b.add("c", "c", 0, 100, "k1", "k2")
	b.add("later", "d", 1, 1000)
	got := shares(b.homes(t))
	near(t, got, "a", 0.25)
	near(t, got, "b", 0.5)
	near(t, got, "c/k1", 0.125)
	near(t, got, "c/k2", 0.125)
	near(t, got, "later", 0)
}

func TestAffinityIsStable(t *testing.T) {
	b := &bench{}
	for _, name := range []string{"a", "b", "c", "d"} {
		b.add(name, name, 0, 100)
	}
	before := b.homes(t)
	again := b.homes(t)
	for i := range before {
		if before[i] != again[i] {
			t.Fatalf("conversation %d moved from %s to %s for no reason", i, before[i], again[i])
		}
	}
	b.views[2].Usable = false
	without := b.homes(t)
	for i := range before {
		if before[i] != "c" && without[i] != before[i] {
			t.Fatalf("c went, and conversation %d moved from %s to %s", i, before[i], without[i])
		}
	}
	near(t, shares(without), "a", 1.0/3)
	b.views[2].Usable = true
	for i, home := range b.homes(t) {
		if home != before[i] {
			t.Fatalf("c came back, and conversation %d is at %s, not at %s", i, home, before[i])
		}
	}
}

// TestAffinityMovesOnlyTheShare: a lowered weight takes conversations away
// from that channel and moves no other.
func TestAffinityMovesOnlyTheShare(t *testing.T) {
	b := &bench{}
	for _, name := range []string{"a", "b", "c"} {
		b.add(name, name, 0, 100)
	}
	before := b.homes(t)
	b.views[0].Factor = 0.5
	for i, home := range b.homes(t) {
		if home != before[i] && before[i] != "a" {
			t.Fatalf("conversation %d moved from %s to %s", i, before[i], home)
		}
	}
	near(t, shares(b.homes(t)), "a", 0.2)
}

func TestAffinityReason(t *testing.T) {
	b := &bench{}
	b.add("a", "a", 0, 100)
	b.add("b", "b", 0, 100)
	q := query(0)
	q.Affinity = "x"
	if _, d := b.choose(q); d.Reason != "affinity" {
		t.Error(d.Reason)
	}
}
