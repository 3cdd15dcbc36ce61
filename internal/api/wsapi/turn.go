package wsapi

import (
	"context"
	"time"

	"rubicon/internal/api/httpapi"
	"rubicon/internal/books/journal"
	"rubicon/internal/engine/turn"
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/protocol/responses"
)

// request is the request that a create makes, before anything was read of it.
func (c *conn) request(create []byte) *turn.Request {
	return &turn.Request{
		ID: c.IDs.ID("req"), Principal: c.peer.principal, Surface: journal.SurfaceResponsesWS, Protocol: &c.protocol, Body: create,
		Header: c.peer.header, ClientRequestID: c.peer.clientRequestID, Session: c.peer.session, Delivery: c.peer.delivery,
		Received: time.Now(), WebSocket: true,
	}
}

// turn is one response.create from its turn in the queue to its end. late: the
// connection ends, and the create is told so.
func (c *conn) turn(ctx context.Context, create create, late bool) {
	s := &sink{c: c, limit: c.Config().WS.Memory}
	defer s.releasePlace()
	defer create.upload.End()
	if clientLeft(ctx) {
		return // it never began, and there is nobody to tell
	}
	req := c.request(create.body)
	defer req.Leave()
	f := tooLate(ctx)
	if !late {
		s.parent, f = c.prepare(ctx, req)
	}
	create.upload.End()
	switch {
	case f != nil:
		c.Engine.Refused(ctx, req, f)
		_ = s.Fail(turn.ShownFailure{Form: turn.FormStatus, Error: f})
	case req.Parsed.Warmup:
		c.answerWarmUp(ctx, req, create.body, s)
	default:
		c.run(ctx, req, s)
	}
	c.lifetimeTold = c.lifetimeTold || s.shownCode == fault.ConnectionLimitReached
}

// clientLeft tells whether the connection ended, and not on our purpose.
func clientLeft(ctx context.Context) bool {
	_, onPurpose := context.Cause(ctx).(*turn.EndedByGateway)
	return ctx.Err() != nil && !onPurpose
}

// prepare reads the create and completes it from memory; it gives the id of the
// response there that it continues, if any.
func (c *conn) prepare(ctx context.Context, req *turn.Request) (parent string, f *fault.Error) {
	who, err := c.Accounts.Lookup(ctx, c.peer.key)
	if f := httpapi.KeyFault(err); f != nil {
		return "", f
	}
	req.Principal = who
	if f := c.Engine.Enter(req); f != nil {
		return "", f
	}
	if f := checkStream(req.Body); f != nil {
		return "", f
	}
	if req.Parsed, f = c.protocol.ParseRequest(req.Body); f != nil {
		return "", f
	}
	if p := c.memory.get(req.Parsed.PrevResponse); p != nil {
		parent, f = p.id, c.complete(req, p)
	}
	req.Parsed.Stream = true
	return parent, f
}

// complete turns a continuation of what the connection remembers into a request
// that stands by itself. It is treated as such, replay included, unless the
// operator does not want that.
func (c *conn) complete(req *turn.Request, p *remembered) (f *fault.Error) {
	body, err := p.complete(req.Body)
	if err != nil {
		return fault.New(fault.InternalError, "").WithCause(err)
	}
	if req.Parsed, f = c.protocol.ParseRequest(body); f != nil {
		return f
	}
	req.Body, req.Continued = body, p.parent == ""
	if !c.Config().Replay.LocalContinuations {
		req.Parsed.Continuation = true
	}
	return nil
}

// run lets the engine serve the turn, and remembers its response where it is
// stored nowhere else. A continuation that failed after an attempt forgets what
// it continued: nobody knows what upstream made of it, and clients resend in
// full.
func (c *conn) run(ctx context.Context, req *turn.Request, s *sink) {
	s.keep = c.unstored(req)
	body := req.Body
	if !s.keep {
		body = nil
	}
	c.wire.setWriteLimit(c.Config().TimersOf(req.Parsed.Model, req.Protocol.Channel()).Write)
	result := c.Engine.Run(ctx, req, s)
	switch result.Outcome {
	case journal.OutcomeCompleted, journal.OutcomeIncomplete:
		if s.keep && s.kept <= s.limit {
			c.remember(result.Seen.ResponseID, req.Parsed.PrevResponse, body, s.answered())
		}
	default:
		if result.Sent {
			c.memory.forget(s.parent)
		}
	}
}

// unstored tells whether the response can be continued from here alone. What
// hangs on a conversation has more behind it than its input.
func (c *conn) unstored(req *turn.Request) bool {
	s := req.Parsed.Store
	stored := s == protocol.StoreTrue || s == protocol.StoreAbsent && !c.Config().Replay.DefaultStoreFalse
	return !stored && !hasMember(req.Body, "conversation")
}

func (c *conn) remember(id, parent string, body, output []byte) {
	c.memory.put(&remembered{id: id, parent: parent, items: joined(items(body), output)}, c.Config().WS.Memory)
}

// answerWarmUp answers generate: false: what the create says is remembered under an id
// that the next one continues. Nothing goes upstream and nothing is charged.
func (c *conn) answerWarmUp(ctx context.Context, req *turn.Request, create []byte, s *sink) {
	id := c.IDs.ID("resp")
	if f := c.Engine.Local(ctx, req, id, "generate is false: answered by the gateway"); f != nil {
		_ = s.Fail(turn.ShownFailure{Form: turn.FormStatus, Error: f})
		return
	}
	c.remember(id, req.Parsed.PrevResponse, req.Body, nil)
	answer := responses.Local{ID: id, Model: req.Parsed.Model, CreatedAt: time.Now().Unix(), Request: create}
	if c.send(answer.Created()) == nil {
		s.releasePlace()
		_ = c.send(answer.Completed())
	}
}
