package upstream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"rubicon/internal/classify"
	"rubicon/internal/jsonscan"
)

// maxErrorBody is how much of an error body is read.
const maxErrorBody = 64 << 10

// accept takes a 2xx answer of the right type; anything else is a failure with
// what its body says.
func (x *exchange) accept(call *Call, rightType func(string) bool) *Failed {
	contentType := x.resp.Header.Get("Content-Type")
	if x.resp.StatusCode == 200 && rightType(contentType) {
		return nil
	}
	if !call.Stream && x.resp.StatusCode/100 == 2 && rightType(contentType) && x.resp.StatusCode != 204 {
		return nil
	}
	body, err := x.errorBody()
	if err != nil {
		if failure, cause, cancelled := fromCause(x.ctx); cancelled && (failure == classify.ClientGone || failure == classify.TotalTimeout) {
			return &Failed{Failure: failure, Status: x.resp.StatusCode, Executed: true, cause: cause, RequestID: requestID(x.resp.Header)}
		}
	}
	return x.refusal(call, body)
}

// errorBody reads an error body, bounded in bytes and in time: the status line
// alone decides when the rest does not come.
func (x *exchange) errorBody() ([]byte, error) {
	r, err := decoded(x.resp)
	if err != nil {
		return nil, err
	}
	t := time.AfterFunc(errorBodyTime, func() { x.cancel(errClosed) })
	defer t.Stop()
	return io.ReadAll(io.LimitReader(r, maxErrorBody))
}

const errorBodyTime = 5 * time.Second

// refusal classifies a status with its body.
func (x *exchange) refusal(call *Call, body []byte) *Failed {
	status := x.resp.StatusCode
	f := &Failed{Status: status, RequestID: requestID(x.resp.Header), After: retryAfter(x.resp.Header)}
	body = bytes.TrimSpace(body)
	if jsonscan.Valid(body) {
		f.Info, f.JSON = classify.Body(body)
	}
	found := classify.Status(call.Channel.Protocol, status, f.Info, call.Rules)
	f.Failure, f.RateLimit, f.Rule = found.Failure, found.RateLimit, found.Rule
	f.Executed = f.Failure == classify.Upstream5xx || f.Failure == classify.BadAnswer
	f.cause = errors.New("status " + x.resp.Status)
	return f
}

// Do makes a call whose answer is not streamed and reads it whole.
func (c *Client) Do(ctx context.Context, call *Call) (*Answer, *Failed) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(errClosed)
	if d := call.Timers.Answer; d > 0 {
		t := time.AfterFunc(d, func() { cancel(errAnswer) })
		defer t.Stop()
	}
	x, failed := c.open(ctx, call)
	if failed != nil {
		return nil, failed
	}
	defer x.cancel(errClosed)
	defer x.resp.Body.Close()
	if failed := x.accept(call, isJSON); failed != nil {
		return nil, failed
	}
	return x.whole(call)
}

// whole reads the answer's body. One that breaks off is a read error, one that
// is no JSON object is no answer.
func (x *exchange) whole(call *Call) (*Answer, *Failed) {
	a := &Answer{Status: x.resp.StatusCode, ContentType: x.resp.Header.Get("Content-Type"), RequestID: requestID(x.resp.Header)}
	bad := func(f classify.Failure, err error) (*Answer, *Failed) {
		return nil, &Failed{Failure: f, Status: a.Status, Executed: true, RequestID: a.RequestID, cause: err}
	}
	r, err := decoded(x.resp)
	if err != nil {
		return bad(classify.BadAnswer, err)
	}
	a.Body, err = io.ReadAll(io.LimitReader(r, call.MaxEvent+1))
	if failure, cause, cancelled := fromCause(x.ctx); err != nil && cancelled {
		return bad(failure, cause)
	}
	if err != nil {
		return bad(classify.ReadError, err)
	}
	if int64(len(a.Body)) > call.MaxEvent {
		return bad(classify.BufferLimit, errors.New("answer over limits.event"))
	}
	if !jsonscan.Valid(a.Body) || jsonscan.KindOf(a.Body) != jsonscan.KindObject {
		return bad(classify.BadAnswer, errors.New("not a JSON object"))
	}
	return a, nil
}

// Refuse classifies a whole answer whose content turned out to be no answer of
// the protocol: an error body with a good status, or something else.
func Refuse(call *Call, a *Answer) *Failed {
	f := &Failed{Status: a.Status, RequestID: a.RequestID, Executed: true}
	f.Info, f.JSON = classify.Body(a.Body)
	found := classify.Status(call.Channel.Protocol, a.Status, f.Info, call.Rules)
	f.Failure, f.RateLimit, f.Rule = found.Failure, found.RateLimit, found.Rule
	f.cause = errors.New("no answer of the protocol")
	return f
}
