package turn

import (
	"context"
	"errors"

	"rubicon/internal/books/journal"
	"rubicon/internal/engine/meter"
	"rubicon/internal/wire/classify"
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/jsonscan"
)

// EndedByGateway is the cause with which a transport ends turns on purpose: the client is
// still connected and receives the reason, and what was delivered is settled.
type EndedByGateway struct{ Code string } // one of the gateway's own codes

// Error is for logs.
func (s *EndedByGateway) Error() string {
	row, _ := fault.Lookup(s.Code)
	return row.Happened
}

// failure is the class of a turn that ended for it.
func (s *EndedByGateway) failure() classify.Failure {
	if s.Code == fault.ConnectionLimitReached {
		return classify.ConnectionLimit
	}
	return classify.GatewayFault
}

// The causes of transports.
var (
	// ErrShutdown ends turns that outlived the grace time.
	ErrShutdown error = &EndedByGateway{fault.ShuttingDown}
	// ErrLifetime ends the turn that runs when its connection is too old.
	ErrLifetime error = &EndedByGateway{fault.ConnectionLimitReached}
)

// stopped tells whether a transport ended the turn on purpose.
func stopped(ctx context.Context) (*EndedByGateway, bool) {
	var s *EndedByGateway
	ok := ctx.Err() != nil && errors.As(context.Cause(ctx), &s)
	return s, ok
}

// Refused records a request that its transport refused before the engine saw
// it; the transport sends the error to the client. Of req, Parsed may be empty: the model is
// then what the body calls so, if anything.
func (e *Engine) Refused(ctx context.Context, req *Request, f *fault.Error) {
	t := e.begin(ctx, req, nil)
	defer t.end()
	if t.rec.PublicModel == "" {
		name, _ := jsonscan.Text(jsonscan.Get(req.Body, "model"))
		t.rec.PublicModel = fault.Clip(name)
	}
	t.reject(f)
}

// Local records a request that its transport answers by itself, before it does
// so: no attempt, no hold, no charge. It is refused where Run would refuse its
// model; the transport sends the error to the client.
func (e *Engine) Local(ctx context.Context, req *Request, responseID, note string) *fault.Error {
	t := e.begin(ctx, req, nil)
	defer t.end()
	f := t.findModel()
	if f == nil {
		f = t.findState()
	}
	if f == nil {
		f = t.takeLimits(expected{})
	}
	if f != nil {
		t.reject(f)
		return f
	}
	t.opened = true
	t.rec.Outcome, t.rec.ResponseID, t.rec.Notes = journal.OutcomeCompleted, responseID, []string{note}
	t.setTimes()
	detached, done := t.detached()
	defer done()
	if err := t.engine.Bookkeeper.Close(detached, meter.RequestEnd{Record: t.rec, Uncharged: true}); err != nil {
		t.engine.Log.Error("recording a local answer", "request_id", req.ID, "error", err)
		f := fault.New(fault.StoreUnavailable, "").WithCause(err)
		f.RequestID = req.ID
		return f
	}
	t.observe()
	return nil
}
