package pressure

import (
	"context"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Refusing starts above 97 % of the limit and stops below 90 %.
func TestMemoryHasHysteresis(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	synctest.Test(t, func(t *testing.T) {
		var now atomic.Int64
		m := &Memory{used: now.Load, collect: func() {}}
		if got := m.Set(10 << 30); got != 10<<30 {
			t.Fatalf("limit %d", got)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- m.Run(ctx) }()
		for _, step := range []struct {
			percent int64
			over    bool
		}{{50, false}, {96, false}, {98, true}, {92, true}, {89, false}, {96, false}} {
			now.Store((10 << 30) / 100 * step.percent)
			time.Sleep(1100 * time.Millisecond) // virtual
			if m.Over() != step.over {
				t.Errorf("at %d %%: over = %t, want %t", step.percent, m.Over(), step.over)
			}
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestDefaultLimitIsAShareOfTheMachine(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	m := NewMemory()
	limit := m.Set(0)
	if got := debug.SetMemoryLimit(-1); limit <= 0 || got != limit {
		t.Errorf("limit %d, the collector's %d", limit, got)
	}
	if used() <= 0 {
		t.Error("the process uses nothing")
	}
}

func TestMeminfo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "meminfo")
	if err := os.WriteFile(file, []byte("MemFree: 1 kB\nMemTotal:       2048 kB\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := meminfo(file); got != 2<<20 {
		t.Errorf("got %d", got)
	}
	if got := meminfo(file + ".missing"); got != 0 {
		t.Errorf("missing file: %d", got)
	}
}

// What is garbage is collected before anything is refused because of it, and
// not more often than a second allows.
func TestGarbageIsNoUse(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	synctest.Test(t, func(t *testing.T) {
		const limit = 1000
		living, garbage, collections := int64(500), int64(490), 0
		m := &Memory{used: func() int64 { return living + garbage }, collect: func() { garbage, collections = 0, collections+1 }}
		m.Set(limit)
		m.look()
		if m.Over() || collections != 1 {
			t.Errorf("garbage: over = %t after %d collections", m.Over(), collections)
		}
		garbage = 490
		m.look()
		if !m.Over() || collections != 1 {
			t.Errorf("at once again: over = %t after %d collections", m.Over(), collections)
		}
		time.Sleep(leastRest) // virtual
		m.look()
		if m.Over() || collections != 2 {
			t.Errorf("a second later: over = %t after %d collections", m.Over(), collections)
		}
		living = 980
		time.Sleep(leastRest)
		m.look()
		if !m.Over() {
			t.Error("what lives is not refused")
		}
	})
}
