package pressure

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestPercentFor(t *testing.T) {
	for _, c := range []struct{ live, want int64 }{
		{0, 2300}, {1 << 20, 2300}, {4 << 20, 500}, {8 << 20, 200}, {12 << 20, 100}, {16 << 20, 50}, {20 << 20, 50}, {1 << 40, 50},
	} {
		if got := percentFor(c.live); got != c.want {
			t.Errorf("%d bytes live: %d %%, want %d %%", c.live, got, c.want)
		}
	}
}

// What lives is followed up and down, and the end restores the usual.
func TestCollectionsFollowWhatLives(t *testing.T) {
	before := debug.SetGCPercent(defaultPercent)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	percent := func() int {
		p := debug.SetGCPercent(defaultPercent)
		debug.SetGCPercent(p)
		return p
	}
	// A cleanup runs some time after the collection that found it due.
	until := func(what string, ok func(int) bool) {
		t.Helper()
		for range 1000 {
			runtime.GC()
			if ok(percent()) {
				return
			}
		}
		t.Fatalf("%s: %d %%", what, percent())
	}
	stop := RareCollections()
	until("a small heap", func(p int) bool { return p > 2*defaultPercent })
	big := make([]byte, 4*minHeap)
	until("a big heap", func(p int) bool { return p == minPercent })
	runtime.KeepAlive(big)
	until("a small heap again", func(p int) bool { return p > 2*defaultPercent })
	stop()
	if p := percent(); p != defaultPercent {
		t.Errorf("afterwards: %d %%", p)
	}
}
