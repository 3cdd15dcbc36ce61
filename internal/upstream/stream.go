package upstream

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"rubicon/internal/classify"
	"rubicon/internal/health"
	"rubicon/internal/protocol"
	"rubicon/internal/sse"
)

// Stream is an opened event stream. It is read by one goroutine.
type Stream struct {
	x      *exchange
	call   *Call
	reader protocol.Reader
	dec    *sse.Decoder
	bytes  countingReader

	began       time.Time
	waiting     atomic.Int64 // since when upstream is waited for, from began; or notWaiting
	opened      atomic.Bool  // an event was read
	silence     deadlineTimer
	firstOutput *time.Timer
	settle      *time.Timer
	output      bool
	done        bool
}

// Open makes the call and waits for an event stream. timers.first_output runs
// from here.
func (c *Client) Open(ctx context.Context, call *Call, reader protocol.Reader) (*Stream, *Failed) {
	s := &Stream{call: call, reader: reader, began: time.Now()}
	ctx, cancel := context.WithCancelCause(ctx)
	if d := call.Timers.FirstOutput; d > 0 {
		s.firstOutput = time.AfterFunc(d, func() { cancel(errFirstOutput) })
	}
	x, failed := c.open(ctx, call)
	if failed != nil {
		s.stopTimers()
		cancel(errClosed)
		return nil, failed
	}
	inner := x.cancel
	x.cancel = func(cause error) { inner(cause); cancel(cause) }
	s.x = x
	s.watch()
	if failed := x.accept(call, isEventStream); failed != nil {
		s.Close()
		return nil, failed
	}
	body, err := decoded(x.resp)
	if err != nil {
		failure, cause := x.bodyFailure(err)
		s.Close()
		return nil, &Failed{Failure: failure, Status: x.resp.StatusCode, Executed: true, RequestID: s.RequestID(), cause: cause}
	}
	s.bytes.r = body
	s.dec = sse.NewDecoder(&s.bytes, int(call.MaxEvent))
	return s, nil
}

// watch runs the deadline for the first event, then for silence between
// events. It is not re-armed for every event: when it fires it looks how long
// the stream has been waited for.
func (s *Stream) watch() {
	s.wait()
	if d := s.call.Timers.FirstEvent; d > 0 {
		s.silence.arm(d, s.checkSilence)
	}
}

// While nobody waits for upstream: an event is being handed on, and a slow
// client is no silence of upstream's.
const notWaiting = -1

// wait notes that upstream is waited for from now.
func (s *Stream) wait() { s.waiting.Store(int64(time.Since(s.began))) }

// checkSilence is the silence timer's function.
func (s *Stream) checkSilence() {
	limit, cause := s.call.Timers.FirstEvent, errFirstEvent
	if s.opened.Load() {
		limit, cause = s.call.Timers.Idle, errIdle
	}
	if limit <= 0 {
		return
	}
	left := limit
	if at := s.waiting.Load(); at != notWaiting {
		left = limit - (time.Since(s.began) - time.Duration(at))
	}
	if left > 0 {
		s.silence.arm(left, s.checkSilence)
		return
	}
	s.x.cancel(cause)
}

// Next reads the next event; its bytes are valid until the following call.
// io.EOF is the good end: the stream was complete. Anything else is *Failed.
func (s *Stream) Next() (protocol.Event, error) {
	if s.done || s.reader.Stage() == protocol.Closed {
		s.done = true
		return protocol.Event{}, io.EOF
	}
	if s.waiting.Load() == notWaiting && !s.dec.Ready() {
		s.wait()
	}
	frame, err := s.dec.Next()
	if err != nil {
		return protocol.Event{}, s.ended(err)
	}
	ev, err := s.reader.Read(frame)
	if err != nil && frame.Tail {
		return protocol.Event{}, s.ended(io.EOF) // the stream broke off inside a record
	}
	if err != nil && s.reader.Stage() == protocol.Settling {
		return protocol.Event{}, s.ended(err) // whole already: what is no event changes nothing
	}
	if err != nil {
		return protocol.Event{}, s.fail(&Failed{Failure: classify.ReadError, NotEvent: true, cause: err})
	}
	if ev.Class != protocol.Heartbeat {
		s.note(ev.Class)
	}
	return ev, nil
}

// note is what every event does to the deadlines.
func (s *Stream) note(class protocol.Class) {
	s.waiting.Store(notWaiting)
	if !s.opened.Swap(true) {
		s.silence.arm(s.call.Timers.Idle, s.checkSilence)
	}
	if class != protocol.Lifecycle && !s.output {
		s.output = true
		if s.firstOutput != nil {
			s.firstOutput.Stop()
		}
	}
	s.settles()
}

// settles waits a second for the rest of a stream that is decided. One that
// goes on after all, with a choice that had not shown yet, is open again.
func (s *Stream) settles() {
	switch stage := s.reader.Stage(); {
	case stage == protocol.Settling && s.settle == nil:
		s.settle = time.AfterFunc(protocol.SettleTime, func() { s.x.cancel(errSettled) })
	case stage == protocol.Open && s.settle != nil:
		s.settle.Stop()
		s.settle = nil
	}
}

// ended gives the meaning of the end of the body. A stream that is decided
// ends well however its rest fails to come: only its client can spoil that.
func (s *Stream) ended(err error) error {
	s.done = true
	failure, cause, cancelled := fromCause(s.x.ctx)
	if s.reader.Stage() == protocol.Settling && (errors.Is(err, io.EOF) || cause == errSettled || failure != classify.ClientGone) {
		return io.EOF
	}
	if errors.Is(err, sse.ErrTooLarge) {
		return s.fail(&Failed{Failure: classify.BufferLimit, cause: err})
	}
	if cancelled && cause != errSettled {
		return s.fail(&Failed{Failure: failure, cause: cause})
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return s.fail(&Failed{Failure: classify.ReadError, cause: err})
}

func (s *Stream) fail(f *Failed) error {
	s.done = true
	f.Status, f.RequestID, f.Executed = s.x.resp.StatusCode, s.RequestID(), true
	return f
}

// Ready tells that another whole event has arrived already.
func (s *Stream) Ready() bool { return !s.done && s.reader.Stage() != protocol.Closed && s.dec.Ready() }

// Status is the status line's.
func (s *Stream) Status() int { return s.x.resp.StatusCode }

// ContentType is the answer's content type.
func (s *Stream) ContentType() string { return s.x.resp.Header.Get("Content-Type") }

// RequestID is upstream's own id of the call.
func (s *Stream) RequestID() string { return requestID(s.x.resp.Header) }

// Bytes is how many bytes of the body were read.
func (s *Stream) Bytes() int64 { return s.bytes.n }

// Cancel ends the attempt early with a cause, as when the client left.
func (s *Stream) Cancel(cause error) { s.x.cancel(cause) }

func (s *Stream) stopTimers() {
	s.silence.stop()
	for _, t := range [...]*time.Timer{s.firstOutput, s.settle} {
		if t != nil {
			t.Stop()
		}
	}
}

// lingering is how long Close waits for the end of a complete stream, so that
// the connection can be used again: the final chunk usually came with the last
// event.
const lingering = 5 * time.Millisecond

// Close ends the attempt and gives back what it holds. A complete stream whose
// body ends right behind leaves its connection usable.
func (s *Stream) Close() {
	s.stopTimers()
	if s.dec != nil && s.reader.Stage() == protocol.Closed && s.x.ctx.Err() == nil {
		t := time.AfterFunc(lingering, func() { s.x.cancel(errClosed) })
		_, _ = io.CopyN(io.Discard, s.bytes.r, 4<<10)
		t.Stop()
	}
	_ = s.x.resp.Body.Close()
	s.x.cancel(errClosed)
	if s.dec != nil {
		s.dec.Release()
		s.dec = nil
	}
	s.done = true
}

type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

var errEncoding = errors.New("unknown content encoding")

// decoded undoes a content encoding that nobody asked for.
func decoded(resp *http.Response) (io.Reader, error) {
	switch strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))) {
	case "", "identity":
		return resp.Body, nil
	case "gzip", "x-gzip":
		return gzip.NewReader(resp.Body)
	}
	return nil, errEncoding
}

func isEventStream(contentType string) bool {
	if contentType == "" {
		return true // some small servers send none
	}
	t, _, err := mime.ParseMediaType(contentType)
	return err == nil && t == "text/event-stream"
}

func isJSON(contentType string) bool {
	t, _, err := mime.ParseMediaType(contentType)
	return contentType == "" || err == nil && (t == "application/json" || strings.HasSuffix(t, "+json"))
}

// retryAfter reads the delay that an answer names.
func retryAfter(h http.Header) time.Duration {
	d, ok := health.ParseRetryAfter(h, time.Now())
	if !ok {
		return 0
	}
	return d
}
