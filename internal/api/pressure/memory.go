// Package pressure minds what the whole process takes: memory, client
// connections and what is being uploaded are bounded, and garbage is collected
// when that is worth its time. What is over a bound is refused by name, so that
// what runs can end well.
//
// It is not for the bounds of one request (config.Limits' other members, where
// they apply) nor for customers' rates (package limit).
//
// Invariant: it refuses new work, and closes connections that wait for some;
// nothing that runs is touched.
package pressure

import (
	"bufio"
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// share of the machine's or container's memory that is used unless configured.
const share = 0.70

// refuseAbove is the share of the limit above which new requests are refused, low the
// share below which they are taken again.
const (
	refuseAbove = 0.97
	acceptBelow = 0.90
)

// Memory watches the process's memory against a limit.
type Memory struct {
	limit   atomic.Int64
	over    atomic.Bool
	used    func() int64
	collect func()
	next    time.Time // no collection is forced before; of the goroutine that looks
}

// NewMemory makes a Memory; Set tells it the limit.
func NewMemory() *Memory { return &Memory{used: used, collect: runtime.GC} }

// Limit is the limit in force, 0 for none known.
func (m *Memory) Limit() int64 { return m.limit.Load() }

// Set applies limits.memory (0: 70 % of what there is), also as the garbage
// collector's soft limit. It returns the limit in bytes, 0 for none known.
func (m *Memory) Set(configured int64) int64 {
	limit := configured
	if limit == 0 {
		limit = int64(share * float64(available()))
	}
	m.limit.Store(limit)
	if limit > 0 {
		debug.SetMemoryLimit(limit)
	}
	return limit
}

// Over tells whether new requests should be refused.
func (m *Memory) Over() bool { return m.over.Load() }

// Run looks once a second until ctx ends.
func (m *Memory) Run(ctx context.Context) error {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			m.look()
		}
	}
}

// A collection is forced once a second at most, and of all time it takes at most
// one part in rest.
const (
	leastRest = time.Second
	rest      = 10
)

// look judges what is in use. Garbage is nobody's use: where it seems to be too
// much, it is collected before anything is refused because of it.
func (m *Memory) look() {
	limit := m.limit.Load()
	over := judge(m.over.Load(), m.used(), limit)
	if began := time.Now(); over && !began.Before(m.next) {
		m.collect()
		m.next = time.Now().Add(max(rest*time.Since(began), leastRest))
		over = judge(m.over.Load(), m.used(), limit)
	}
	m.over.Store(over)
}

// judge tells whether new requests are refused, given whether they were so far.
func judge(over bool, used, limit int64) bool {
	switch share := float64(used) / float64(max(limit, 1)); {
	case limit <= 0:
		return false
	case over:
		return share >= acceptBelow
	default:
		return share > refuseAbove
	}
}

// used is what the Go runtime has in use. Memory that holds nothing and was not
// given back to the system yet is left out: the runtime takes it before it asks
// for more, and gives it back when its soft limit comes near. SQLite's page
// caches are beside it, and bounded by their size.
func used() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64()) - int64(samples[1].Value.Uint64()) - int64(samples[2].Value.Uint64())
}

// available is the memory of the container, else of the machine; 0 if unknown.
func available() int64 {
	machine := meminfo("/proc/meminfo")
	for _, path := range [...]string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
		// Without a limit it says "max", or a number far above the machine.
		if err == nil && n > 0 && (machine == 0 || n < machine) {
			return n
		}
	}
	return machine
}

func meminfo(path string) int64 {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		name, rest, _ := strings.Cut(lines.Text(), ":")
		if fields := strings.Fields(rest); name == "MemTotal" && len(fields) > 0 {
			kib, _ := strconv.ParseInt(fields[0], 10, 64)
			return kib << 10
		}
	}
	return 0
}
