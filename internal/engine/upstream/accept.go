package upstream

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"rubicon/internal/wire/classify"
	"rubicon/internal/wire/jsonscan"
	"rubicon/internal/wire/protocol"
)

// maxErrorBody is how much of an error body is read.
const maxErrorBody = 64 << 10

// accept takes a 2xx answer of the right type; anything else is a failure with
// what its body says.
func (x *exchange) accept(call *Call) *Failure {
	status := x.resp.StatusCode
	if status == http.StatusSwitchingProtocols {
		// What follows is of another protocol, which the gateway did not ask for. The body is
		// the bare connection: no deadline ends a read of it, so none is made.
		return x.refusal(call, nil)
	}
	var err error
	if good := status/100 == 2 && status != http.StatusNoContent; good {
		var mine bool
		if mine, err = x.rightKind(call); mine {
			return nil
		}
	}
	var body []byte
	if err == nil {
		body, err = x.errorBody()
	}
	if failure, cause, cancelled := fromCause(x.ctx); err != nil && cancelled && decides(failure, cause) {
		return &Failure{Failure: failure, Status: status, Executed: true, cause: cause, RequestID: requestID(x.resp.Header)}
	}
	return x.refusal(call, body)
}

// decides: of what cancels the reading of a body that is no answer, these
// causes say more than its status does.
func decides(failure classify.Failure, cause error) bool {
	return cause == errFirstEvent || cause == errFirstOutput || cause != errSlowBody && (failure == classify.ClientGone || failure == classify.TotalTimeout)
}

// rightKind reports whether a 2xx answer is of the kind that was asked for. What
// is labelled as something else may be a stream all the same.
func (x *exchange) rightKind(call *Call) (bool, error) {
	contentType := x.resp.Header.Get("Content-Type")
	if !call.Stream {
		return isJSON(contentType), nil
	}
	if isEventStream(contentType) && x.resp.StatusCode == http.StatusOK {
		return true, nil
	}
	body, err := x.content()
	if err != nil {
		return false, err
	}
	x.body, x.sniffed, err = sniffed(body)
	return x.sniffed, err
}

// content is the body without its content encoding.
func (x *exchange) content() (_ io.Reader, err error) {
	if x.body == nil {
		x.body, err = decompressed(x.resp)
	}
	return x.body, err
}

// errorBody reads an error body, bounded in bytes and in time: the status line
// alone decides when the rest does not come.
func (x *exchange) errorBody() ([]byte, error) {
	t := time.AfterFunc(errorBodyTime, func() { x.cancel(errSlowBody) })
	defer t.Stop()
	r, err := x.content()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, maxErrorBody))
}

const errorBodyTime = 5 * time.Second

// refusal classifies a status with its body.
func (x *exchange) refusal(call *Call, body []byte) *Failure {
	status := x.resp.StatusCode
	f := &Failure{Status: status, RequestID: requestID(x.resp.Header), RetryAfter: retryAfter(x.resp.Header)}
	body = bytes.TrimSpace(body)
	if jsonscan.Valid(body) {
		f.read(body)
	}
	found := classify.Status(call.Channel.Protocol, status, f.Info, call.Rules)
	f.Failure, f.RateLimit, f.Rule = found.Failure, found.RateLimit, found.Rule
	f.Executed = f.Failure == classify.Upstream5xx || f.Failure == classify.BadAnswer || f.Failure == classify.Unknown
	f.cause = errors.New("status " + x.resp.Status)
	return f
}

// Do makes a call whose answer is not streamed and reads it whole.
func (c *Client) Do(ctx context.Context, call *Call) (*Answer, *Failure) {
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
	if failed := x.accept(call); failed != nil {
		return nil, failed
	}
	return x.readAnswer(call)
}

// readAnswer reads the answer's body. One that breaks off is a read error, one that
// is no JSON object is no answer.
func (x *exchange) readAnswer(call *Call) (*Answer, *Failure) {
	a := &Answer{Status: x.resp.StatusCode, ContentType: x.resp.Header.Get("Content-Type"), RequestID: requestID(x.resp.Header)}
	bad := func(f classify.Failure, err error) (*Answer, *Failure) {
		return nil, &Failure{Failure: f, Status: a.Status, Executed: true, RequestID: a.RequestID, cause: err}
	}
	r, err := x.content()
	if err == nil {
		a.Body, err = io.ReadAll(io.LimitReader(r, call.MaxEvent+1))
	}
	switch {
	case err != nil:
		return bad(x.bodyFailure(err))
	case int64(len(a.Body)) > call.MaxEvent:
		return bad(classify.BufferLimit, errors.New("answer over limits.event"))
	case jsonscan.Valid(a.Body) && jsonscan.KindOf(a.Body) == jsonscan.KindObject:
		return a, nil
	case x.cutOff(a.Body):
		return bad(classify.ReadError, io.ErrUnexpectedEOF)
	}
	return bad(classify.BadAnswer, errors.New("not a JSON object"))
}

// bodyFailure gives the class of an error while a 2xx body was read.
func (x *exchange) bodyFailure(err error) (classify.Failure, error) {
	if failure, cause, cancelled := fromCause(x.ctx); cancelled {
		return failure, cause
	}
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, errEncoding) {
		return classify.BadAnswer, err
	}
	return classify.ReadError, err
}

// cutOff reports whether an object that is not whole broke off: where nothing but
// the end of the connection marks the body's end, a cut looks like one.
func (x *exchange) cutOff(body []byte) bool {
	body = bytes.TrimSpace(body)
	untold := x.resp.ProtoMajor == 1 && x.resp.ContentLength < 0 && len(x.resp.TransferEncoding) == 0
	return untold && len(body) > 0 && body[0] == '{' && body[len(body)-1] != '}'
}

// read learns what a JSON body says about the failure. One that says nothing of
// an error, like an answer that was not asked for, is no error body.
func (f *Failure) read(body []byte) {
	if f.Info, f.JSON = protocol.ReadFailure(body); f.JSON {
		f.Body = body
	}
}

// NoAnswer classifies a whole answer whose content turned out to be no answer of
// the protocol: an error body with a good status, or something else.
func NoAnswer(call *Call, a *Answer) *Failure {
	f := &Failure{Status: a.Status, RequestID: a.RequestID, Executed: true}
	f.read(a.Body)
	found := classify.Status(call.Channel.Protocol, a.Status, f.Info, call.Rules)
	f.Failure, f.RateLimit, f.Rule = found.Failure, found.RateLimit, found.Rule
	f.cause = errors.New("no answer of the protocol")
	return f
}
