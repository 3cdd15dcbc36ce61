package orders

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/store"
	"rubicon/internal/store/storetest"
)

// The suite runs on every database that the store supports.
func TestMain(m *testing.M) { storetest.Main(m) }

// node is a Log with what it applied.
type node struct {
	*Log
	mu      sync.Mutex
	applied []string
}

func (n *node) orders() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string(nil), n.applied...)
}

func start(t *testing.T, db *store.DB, seen int64) *node {
	t.Helper()
	n := &node{}
	n.Log = New(db, func(o Order, given bool) {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.applied = append(n.applied, fmt.Sprint(o.Action, " ", o.Channel, " ", given))
	})
	if err := n.Begin(t.Context(), seen); err != nil {
		t.Fatal(err)
	}
	return n
}

func (n *node) give(t *testing.T, action, channel string) {
	t.Helper()
	if err := n.Add(t.Context(), Order{Action: action, Channel: channel, Actor: "anna"}); err != nil {
		t.Fatal(err)
	}
}

func (n *node) follow(t *testing.T) {
	t.Helper()
	if err := n.Follow(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// What one node is told the others apply, once and in order; so does the next
// start, from where its snapshot ends.
func TestOrdersReachEveryNode(t *testing.T) {
	db := storetest.Open(t)
	a, b := start(t, db, 0), start(t, db, 0)
	a.give(t, "pause", "x")
	b.give(t, "weight", "y") // comes behind a's, on b too
	a.follow(t)
	a.follow(t)
	if diff := cmp.Diff([]string{"pause x true", "weight y false"}, a.orders()); diff != "" {
		t.Errorf("a: -want +got\n%s", diff)
	}
	if diff := cmp.Diff([]string{"pause x false", "weight y true"}, b.orders()); diff != "" {
		t.Errorf("b: -want +got\n%s", diff)
	}
	if a.Seen() != 2 || b.Seen() != 2 {
		t.Errorf("seen %d and %d", a.Seen(), b.Seen())
	}
	again := start(t, db, 1)
	if diff := cmp.Diff([]string{"weight y false"}, again.orders()); diff != "" {
		t.Errorf("the next start: -want +got\n%s", diff)
	}
}

// Whoever orders at the same time, all nodes apply the same sequence.
func TestOneSequence(t *testing.T) {
	db := storetest.Open(t)
	const each = 20
	nodes := []*node{start(t, db, 0), start(t, db, 0), start(t, db, 0)}
	var wg sync.WaitGroup
	for i, n := range nodes {
		wg.Go(func() {
			for k := range each {
				if err := n.Add(t.Context(), Order{Action: fmt.Sprint(i), Channel: fmt.Sprint(k), Actor: "anna"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	strip := func(n *node) (list []string) {
		n.follow(t)
		for _, o := range n.orders() {
			var node, k int
			if _, err := fmt.Sscan(o, &node, &k); err != nil {
				t.Fatal(err)
			}
			list = append(list, fmt.Sprint(node, " ", k))
		}
		return list
	}
	first := strip(nodes[0])
	if len(first) != each*len(nodes) {
		t.Errorf("%d orders applied", len(first))
	}
	for _, n := range nodes[1:] {
		if diff := cmp.Diff(first, strip(n)); diff != "" {
			t.Errorf("another sequence: %s", diff)
		}
	}
}

// An order that a later version wrote is passed over, and not again and again.
func TestAForeignOrder(t *testing.T) {
	db := storetest.Open(t)
	a := start(t, db, 0)
	err := db.Write(t.Context(), func(tx *store.Tx) error {
		if _, err := tx.Exec(nextNumber); err != nil {
			return err
		}
		_, err := tx.Exec(insert, 1, 0, "newer", `{"action": 7}`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	a.give(t, "pause", "x")
	if diff := cmp.Diff([]string{"pause x true"}, a.orders()); diff != "" || a.Seen() != 2 {
		t.Errorf("seen %d, -want +got\n%s", a.Seen(), diff)
	}
}
