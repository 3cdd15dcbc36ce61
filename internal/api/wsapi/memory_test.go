package wsapi

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestMemoryAgainstAModel: bounded, the least recently used goes first, and the
// bytes are counted right.
func TestMemoryAgainstAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const limit = 4 * (entryOverhead + 100)
		m := newMemory()
		var model []*remembered // least recently used first
		find := func(id string) int {
			for i, p := range model {
				if p.id == id {
					return i
				}
			}
			return -1
		}
		remove := func(i int) { model = append(model[:i:i], model[i+1:]...) }
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			id := fmt.Sprint("r", rapid.IntRange(0, 9).Draw(t, "id"))
			i := find(id)
			switch rapid.IntRange(0, 2).Draw(t, "op") {
			case 0:
				p := &remembered{id: id, items: []byte(strings.Repeat("x", rapid.IntRange(0, 1500).Draw(t, "size")))}
				m.put(p, limit)
				if i >= 0 {
					remove(i)
				}
				if p.cost() > limit {
					break
				}
				model = append(model, p)
				for total := sum(model); total > limit; total = sum(model) {
					remove(0)
				}
			case 1:
				m.forget(id)
				if i >= 0 {
					remove(i)
				}
			case 2:
				p := m.get(id)
				if (p == nil) != (i < 0) || p != nil && p != model[i] {
					t.Fatalf("get(%s) = %v", id, p)
				}
				if i >= 0 {
					remove(i)
					model = append(model, p)
				}
			}
			if m.bytes != sum(model) || m.bytes > limit || len(m.byID) != len(model) || m.order.Len() != len(model) {
				t.Fatalf("%d bytes in %d entries, want %d in %d", m.bytes, len(m.byID), sum(model), len(model))
			}
		}
	})
}

func sum(all []*remembered) (n int64) {
	for _, p := range all {
		n += p.cost()
	}
	return n
}

func TestMemoryKeepsNothingWithoutAnID(t *testing.T) {
	m := newMemory()
	m.put(&remembered{items: []byte("{}")}, 1<<20)
	if m.bytes != 0 || m.get("") != nil {
		t.Error("an answer without an id was kept")
	}
}
