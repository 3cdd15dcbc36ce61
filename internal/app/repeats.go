package app

import (
	"time"

	"rubicon/internal/api/idempotency"
	"rubicon/internal/config"
	"rubicon/internal/engine/turn"
)

// newIdempotency makes the keeper of repeated requests.
func (a *App) newIdempotency() *idempotency.Keys {
	return idempotency.New(idempotency.Options{DB: a.db, Node: func() string { return a.node.ID() }, Now: time.Now, Log: a.log,
		WriteLimit:         func() time.Duration { return a.Config().Timers.Write },
		TimeWithoutClients: a.timeWithoutClients})
}

// timeWithoutClients is how long a request goes on whose clients have all left.
func (a *App) timeWithoutClients() time.Duration {
	if a.Config().OnDisconnect == config.DisconnectDrain {
		return turn.DrainTime
	}
	return 0
}

// endTurns ends the turns that outlived the grace time, those that run for
// nobody included.
func (a *App) endTurns() {
	a.connections(turn.ErrShutdown)
	a.idempotency.Stop(turn.ErrShutdown)
	a.engine.StopDraining()
}
