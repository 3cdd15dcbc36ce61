package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"rubicon/internal/store"
	"rubicon/internal/store/storetest"
	"rubicon/internal/wire/ident"
)

// The suite runs on every database that the store supports.
func TestMain(m *testing.M) { goleak.VerifyTestMain(storetest.Each(m)) }

// testWork is what nodes name themselves in.
type testWork struct {
	db    *store.DB
	mu    sync.Mutex
	taken []string
}

const (
	createWork = `CREATE TABLE work (node TEXT NOT NULL, name TEXT NOT NULL)`
	doWork     = `INSERT INTO work (node, name) VALUES (?, ?)`
	allWork    = `SELECT node FROM work`
	endWork    = `DELETE FROM work WHERE node = ?`
)

func newWork(t *testing.T, db *store.DB) *testWork {
	t.Helper()
	must(t, db.Write(t.Context(), func(tx *store.Tx) error { _, err := tx.Exec(createWork); return err }))
	return &testWork{db: db}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *testWork) claimants(ctx context.Context) (nodes []string, err error) {
	err = w.db.Read(ctx, func(q *store.Query) error {
		return q.Each(allWork, nil, func(row store.Rows) error {
			var node string
			err := row.Scan(&node)
			nodes = append(nodes, node)
			return err
		})
	})
	return nodes, err
}

func (w *testWork) takeOver(ctx context.Context, node string) error {
	w.mu.Lock()
	w.taken = append(w.taken, node)
	w.mu.Unlock()
	return w.db.Write(ctx, func(tx *store.Tx) error { _, err := tx.Exec(endWork, node); return err })
}

// begin is work that begins under the node's name.
func (w *testWork) begin(ctx context.Context, node, name string) error {
	return w.db.Write(ctx, func(tx *store.Tx) error {
		if err := Check(tx, node); err != nil {
			return err
		}
		_, err := tx.Exec(doWork, node, name)
		return err
	}, Expect(node))
}

func (w *testWork) join(t *testing.T, lease time.Duration) *Node {
	t.Helper()
	n, err := Join(t.Context(), Options{DB: w.db, IDs: ident.New(rand.Reader, time.Now), Log: slog.New(slog.DiscardHandler), Lease: lease,
		NodesWithWork: w.claimants, TakeOver: w.takeOver})
	must(t, err)
	return n
}

func (n *Node) names(t *testing.T) []string {
	t.Helper()
	beats, err := n.renewals(t.Context())
	must(t, err)
	var names []string
	for id := range beats {
		names = append(names, id)
	}
	slices.Sort(names)
	return names
}

func TestJoinAndLeave(t *testing.T) {
	w := newWork(t, storetest.Open(t))
	first := w.join(t, time.Minute)
	second := w.join(t, time.Minute)
	if first.ID() == second.ID() || first.Database() != second.Database() || first.Database() == "" {
		t.Errorf("nodes %s and %s of databases %q and %q", first.ID(), second.ID(), first.Database(), second.Database())
	}
	want := []string{first.ID(), second.ID()}
	if !w.db.Shared() {
		want = want[1:] // nobody else can live
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, second.names(t)); diff != "" {
		t.Error(diff)
	}
	if second.Count() != len(want) {
		t.Errorf("counted %d nodes", second.Count())
	}
	must(t, second.Leave(t.Context()))
	if names := second.names(t); slices.Contains(names, second.ID()) {
		t.Errorf("left, and is among %v", names)
	}
	other := newWork(t, storetest.Open(t)).join(t, time.Minute)
	if other.Database() == first.Database() {
		t.Error("two databases have the same name")
	}
}

func TestOnlyTheWorkOfTheDeadIsTakenOver(t *testing.T) {
	w := newWork(t, storetest.Open(t))
	dead := w.join(t, time.Minute)
	must(t, w.begin(t.Context(), dead.ID(), "left behind"))
	alive := w.join(t, time.Minute)
	must(t, w.begin(t.Context(), alive.ID(), "under way"))
	if w.db.Shared() {
		must(t, alive.TakeOverAll(t.Context()))
		if len(w.taken) != 0 {
			t.Fatalf("took over %v from the living", w.taken)
		}
		must(t, alive.RemoveDead(t.Context(), dead.ID()))
	}
	must(t, alive.TakeOverAll(t.Context()))
	must(t, alive.TakeOverAll(t.Context()))
	if diff := cmp.Diff([]string{dead.ID()}, w.taken); diff != "" {
		t.Error(diff)
	}
	if left, err := w.claimants(t.Context()); err != nil || !slices.Equal(left, []string{alive.ID()}) {
		t.Errorf("%v, %v", left, err)
	}
}

// TestABuriedNodeBeginsNothing: what it tries is refused, or seen by those who
// bury it.
func TestABuriedNodeBeginsNothing(t *testing.T) {
	w := newWork(t, storetest.Open(t))
	n := w.join(t, time.Minute)
	buried := n.ID()
	must(t, n.RemoveDead(t.Context(), buried))
	if err := w.begin(t.Context(), buried, "too late"); !errors.Is(err, ErrLeaseLost) {
		t.Errorf("got %v", err)
	}
	must(t, n.Renew(t.Context())) // it notices, and is somebody else from now on
	if n.ID() == buried {
		t.Error("it kept its name")
	}
	must(t, w.begin(t.Context(), n.ID(), "anew"))
	must(t, n.Rejoin(t.Context(), buried)) // late: it has a new name already
	if names := n.names(t); len(names) != 1 {
		t.Errorf("nodes %v", names)
	}
}

// TestBuryingUnderFire: while a node begins work as fast as it can, another
// buries it. Whatever was begun under the dead name is taken over, and nothing
// more can be.
func TestBuryingUnderFire(t *testing.T) {
	if storetest.Kind() != storetest.PostgreSQL {
		t.Log("one process at a time: nobody can bury it")
		return
	}
	url := storetest.URL(t)
	mine, theirs := storetest.OpenURL(t, url), storetest.OpenURL(t, url)
	defer mine.Close()
	defer theirs.Close()
	w := newWork(t, mine)
	n := w.join(t, time.Minute)
	other := (&testWork{db: theirs}).join(t, time.Minute)
	for range 5 {
		name := n.ID()
		var workers sync.WaitGroup
		for range 8 {
			workers.Go(func() {
				for {
					err := w.begin(t.Context(), name, "x")
					if errors.Is(err, ErrLeaseLost) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		time.Sleep(20 * time.Millisecond) // work is under way
		must(t, other.RemoveDead(t.Context(), name))
		must(t, other.TakeOverAll(t.Context()))
		workers.Wait()
		if left, err := w.claimants(t.Context()); err != nil || len(left) != 0 {
			t.Fatalf("%d pieces of work of a dead node are nobody's, %v", len(left), err)
		}
		must(t, n.Rejoin(t.Context(), name))
	}
}

// TestRunTakesOver: of three nodes one goes silent; its work is done by another.
func TestRunTakesOver(t *testing.T) {
	w := newWork(t, storetest.Open(t))
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	silent := w.join(t, time.Second)
	must(t, w.begin(t.Context(), silent.ID(), "left behind"))
	for range 2 {
		n := w.join(t, time.Second)
		running.Go(func() {
			if err := n.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	deadline := time.Now().Add(20 * time.Second)
	for w.db.Shared() {
		left, err := w.claimants(t.Context())
		must(t, err)
		if len(left) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("nobody took over")
		}
		time.Sleep(10 * time.Millisecond)
	}
	stop()
	running.Wait()
	for _, node := range w.taken {
		if node != silent.ID() {
			t.Errorf("took over from %s, which lives", node)
		}
	}
}
