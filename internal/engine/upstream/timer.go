package upstream

import (
	"sync"
	"time"
)

// deadlineTimer is one deadline at a time. Once stopped it stays so, also for
// a caller that arms it late.
type deadlineTimer struct {
	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
}

// arm replaces the running deadline; d <= 0 is none.
func (t *deadlineTimer) arm(d time.Duration, fire func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
	if !t.stopped && d > 0 {
		t.timer = time.AfterFunc(d, fire)
	}
}

func (t *deadlineTimer) stop() {
	t.arm(0, nil)
	t.mu.Lock()
	t.stopped = true
	t.mu.Unlock()
}
