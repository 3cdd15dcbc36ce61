package httpapi

import (
	"context"
	"net/http"

	"rubicon/internal/api/idempotency"
	"rubicon/internal/engine/turn"
	"rubicon/internal/wire/fault"
)

// answer runs the request, or gives the answer of the one whose repeat it is.
func (a *api) answer(w http.ResponseWriter, r *http.Request, req *turn.Request) *fault.Error {
	run := func(ctx context.Context, w http.ResponseWriter) bool {
		sink := newSink(w, r, req.Protocol, a.Config().TimersOf(req.Parsed.Model, req.Protocol.Channel()).Write)
		result := a.Engine.Run(ctx, req, sink)
		sink.close()
		return result.Delivered
	}
	if a.Idempotency == nil {
		run(r.Context(), w)
		return nil
	}
	key, f := idempotency.Key(r.Header)
	if f != nil {
		return f
	}
	if key == "" {
		run(r.Context(), w)
		return nil
	}
	req.TransportOutlivesClient = true // the keeper knows who still listens
	req.Leave()                        // a repeat needs no place; what runs takes one again
	return a.Idempotency.Serve(w, r, idempotency.Call{Customer: req.Principal.Customer.ID, Key: key, RequestID: req.ID,
		Digest: idempotency.Digest(r.URL.Path, req.Body)}, run)
}
