package app

import (
	"context"
	"sync"

	"rubicon/internal/api/wsapi"
	"rubicon/internal/wire/ident"
)

// socketHandler is the WebSocket transport, on the same engine.
func (a *App) socketHandler(ids *ident.Source) *wsapi.Handler {
	return wsapi.New(wsapi.Deps{Config: a.Config, Engine: a.engine, Accounts: a.accounts, IDs: ids, Uploads: a.uploads, Log: a.log})
}

// finishSockets ends the WebSocket connections, which net/http does not know any
// more, beside its own shutdown; the returned function waits for it.
func (a *App) finishSockets(ctx context.Context) (wait func()) {
	var wg sync.WaitGroup
	wg.Go(func() { a.sockets.Shutdown(ctx) })
	return wg.Wait
}
