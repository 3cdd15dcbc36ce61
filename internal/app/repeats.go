package app

import (
	"context"
	"time"

	"rubicon/internal/config"
	"rubicon/internal/idempotency"
	"rubicon/internal/turn"
)

// openRepeats makes the keeper of repeated requests, and frees what the last
// run left. It comes after the money was resolved.
func (a *App) openRepeats(ctx context.Context) error {
	a.repeats = idempotency.New(idempotency.Options{DB: a.db, Node: node, Now: time.Now, Log: a.log,
		WriteLimit: func() time.Duration { return a.Config().Timers.Write },
		Linger:     a.linger})
	return a.repeats.Free(ctx, node)
}

// linger is how long a request goes on whose clients have all left.
func (a *App) linger() time.Duration {
	if a.Config().OnDisconnect == config.DisconnectDrain {
		return turn.DrainTime
	}
	return 0
}

// endTurns ends the turns that outlived the grace time, those that run for
// nobody included.
func (a *App) endTurns() {
	a.connections(turn.ErrShutdown)
	a.repeats.Stop(turn.ErrShutdown)
	a.engine.StopDraining()
}
