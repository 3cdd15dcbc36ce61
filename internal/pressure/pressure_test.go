package pressure

import (
	"context"
	"net"
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
		m := &Memory{used: now.Load}
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

// The connection over the bound is marked, the place comes back with Close,
// and closing twice gives back one.
func TestConnections(t *testing.T) {
	c := NewConnections(func() int { return 1 })
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := c.Listen(inner)
	defer l.Close()
	accept := func() net.Conn {
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { client.Close() })
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	first, second := accept(), accept()
	for conn, want := range map[net.Conn]bool{first: false, second: true} {
		if got := TooMany(c.Mark(t.Context(), conn)); got != want {
			t.Errorf("too many = %t, want %t", got, want)
		}
	}
	second.Close()
	second.Close()
	first.Close()
	if c.Open() != 0 {
		t.Errorf("%d open", c.Open())
	}
	if third := accept(); TooMany(c.Mark(t.Context(), third)) {
		t.Error("the place did not come back")
	}
}
