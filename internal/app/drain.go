package app

import (
	"context"
	"net/http"
	"sync"
)

// running counts the requests of the client listener, so that a shutdown can
// wait for them with the listener still open: whoever connects meanwhile is told
// that the gateway goes (503 and `/readyz`), which a closed port cannot say.
type runningCount struct {
	mu    sync.Mutex
	n     int
	empty chan struct{} // closed when n falls to 0; nil while nobody waits
}

// count is around the whole client API.
func (u *runningCount) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.add(1)
		defer u.add(-1)
		next.ServeHTTP(w, r)
	})
}

func (u *runningCount) add(d int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.n += d
	if u.n == 0 && u.empty != nil {
		close(u.empty)
		u.empty = nil
	}
}

// wait returns when nothing is under way, or when ctx ends.
func (u *runningCount) wait(ctx context.Context) {
	u.mu.Lock()
	if u.n == 0 {
		u.mu.Unlock()
		return
	}
	if u.empty == nil {
		u.empty = make(chan struct{})
	}
	empty := u.empty
	u.mu.Unlock()
	select {
	case <-empty:
	case <-ctx.Done():
	}
}

// finishRunning waits for running requests and connections. What comes meanwhile is
// refused, so nothing keeps it longer than what ran when it began.
func (a *App) finishRunning(ctx context.Context, socketsEnd func()) {
	over := make(chan struct{})
	go func() { // ends with the connections, which shutdown waits for too
		defer close(over)
		socketsEnd()
	}()
	a.running.wait(ctx)
	select {
	case <-over:
	case <-ctx.Done():
	}
}
