package pressure

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// minHeap is the heap's size below which collecting garbage is not worth its
// time: a gateway's live heap is a few megabytes, and doubling that takes some
// dozens of requests.
const minHeap = 24 << 20

// defaultPercent is Go's default: a collection when the heap has doubled. A gateway's
// heap beyond the room is streams that run, which make no garbage: less will do.
const (
	defaultPercent = 100
	minPercent     = 50
)

// RareCollections lets the heap grow to 24 MiB before garbage is collected,
// and above that by half of what lives. It is of the whole process, and ends
// with stop. An operator's GOGC has the last word.
func RareCollections() (stop func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	c := &collector{}
	c.percent.Store(defaultPercent)
	c.collected()
	return func() {
		c.stopped.Store(true)
		debug.SetGCPercent(defaultPercent)
	}
}

// collector adjusts the share of garbage after each collection.
type collector struct {
	percent atomic.Int64
	stopped atomic.Bool
}

// collectionSignal is garbage from its birth: its cleanup tells of a collection.
type collectionSignal struct{ _ *collectionSignal }

// collected is called after each collection.
func (c *collector) collected() {
	if c.stopped.Load() {
		return
	}
	want := percentFor(live())
	// Setting it stops the world for a moment.
	if have := c.percent.Load(); want > have+have/4 || want < have-have/4 {
		c.percent.Store(want)
		debug.SetGCPercent(int(want))
	}
	runtime.AddCleanup(&collectionSignal{}, func(c *collector) { c.collected() }, c)
}

// percentFor gives how much garbage, in percent of what lives, fills the room.
func percentFor(live int64) int64 {
	live = max(live, 1<<20)
	return max(minPercent, 100*(minHeap-live)/live)
}

// live is what the last collection left, in bytes.
func live() int64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}
