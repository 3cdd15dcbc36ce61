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

	"rubicon/internal/wire/classify"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/sse"
)

// Stream is an opened event stream. It is read by one goroutine.
type Stream struct {
	x      *exchange
	call   *Call
	reader protocol.Reader
	dec    *sse.Decoder
	bytes  countingReader

	dispatchedAt time.Time
	waiting      atomic.Int64 // since when upstream has been silent, from began; below 0 while no reader waits: see pause
	opened       atomic.Bool  // an event was read
	progress     protocol.Progress
	idleTimer    deadlineTimer
	firstOutput  *time.Timer
	finishTimer  *time.Timer
	output       bool
	done         bool
}

// Open makes the call and waits for an event stream. timers.first_output runs
// from here.
func (c *Client) Open(ctx context.Context, call *Call, reader protocol.Reader) (*Stream, *Failure) {
	s := &Stream{call: call, reader: reader, dispatchedAt: time.Now()}
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
	if failed := x.accept(call); failed != nil {
		s.Close()
		return nil, failed
	}
	body, err := x.content()
	if err != nil {
		failure, cause := x.bodyFailure(err)
		s.Close()
		return nil, &Failure{Failure: failure, Status: x.resp.StatusCode, Executed: true, RequestID: s.RequestID(), cause: cause}
	}
	s.bytes.r = body
	s.dec = sse.NewDecoder(&s.bytes, int(call.MaxEvent))
	return s, nil
}

// watch runs the deadline for the first event, then for silence between
// events. It is not re-armed for every event: when it fires it looks how long
// the stream has been waited for.
func (s *Stream) watch() {
	s.waiting.Store(int64(time.Since(s.dispatchedAt)))
	if d := s.call.Timers.FirstEvent; d > 0 {
		s.idleTimer.arm(d, s.checkIdle)
	}
}

// pause stops the measurement of upstream's silence while an event is handed on,
// because a slow client must not count as silence. Without progress it goes on
// afterwards from its last value, which is kept as -1 - the silence so far.
func (s *Stream) pause(progress bool) {
	silent := int64(0)
	if at := s.waiting.Load(); !progress && at >= 0 {
		silent = int64(time.Since(s.dispatchedAt)) - at
	} else if !progress {
		return // paused already
	}
	s.waiting.Store(-1 - silent)
}

// resume waits for upstream again.
func (s *Stream) resume() {
	if at := s.waiting.Load(); at < 0 {
		s.waiting.Store(int64(time.Since(s.dispatchedAt)) - (-1 - at))
	}
}

// checkIdle is the silence timer's function.
func (s *Stream) checkIdle() {
	limit, cause := s.call.Timers.FirstEvent, errFirstEvent
	if s.opened.Load() {
		limit, cause = s.call.Timers.Idle, errIdle
	}
	if limit <= 0 {
		return
	}
	at := s.waiting.Load()
	left := limit - (time.Since(s.dispatchedAt) - time.Duration(at))
	if at < 0 { // no reader waits: look again, and not at every moment
		left = max(limit-time.Duration(-1-at), limit/16)
	}
	if left > 0 {
		s.idleTimer.arm(left, s.checkIdle)
		return
	}
	s.x.cancel(cause)
}

// Next reads the next event; its bytes are valid until the following call.
// io.EOF means that the stream was complete. Anything else is *Failed.
func (s *Stream) Next() (protocol.Event, error) {
	if s.done || s.reader.Stage() == protocol.Closed {
		s.done = true
		return protocol.Event{}, io.EOF
	}
	if !s.dec.Ready() {
		s.resume()
	}
	frame, err := s.dec.Next()
	if err != nil {
		return protocol.Event{}, s.ended(err)
	}
	if frame.Tail && s.clientLeft() {
		return protocol.Event{}, s.cutOff()
	}
	ev, err := s.reader.Read(frame)
	if err != nil && frame.Tail {
		return protocol.Event{}, s.cutOff()
	}
	if err != nil && s.reader.Stage() == protocol.Finishing {
		return protocol.Event{}, s.ended(err) // whole already: what is no event changes nothing
	}
	if err != nil {
		return protocol.Event{}, s.fail(&Failure{Failure: classify.ReadError, NotEvent: true, cause: err})
	}
	s.note(ev)
	return ev, nil
}

// cutOff is the end of a stream that broke off inside a record which is not
// whole, or whose reader has ended.
func (s *Stream) cutOff() error {
	_, err := s.dec.Next()
	return s.ended(err)
}

// clientLeft reports that the attempt ended because its client did.
func (s *Stream) clientLeft() bool {
	failure, _, cancelled := fromCause(s.x.ctx)
	return cancelled && failure == classify.ClientGone
}

// note is what every event does to the deadlines. Heartbeats do nothing to them.
func (s *Stream) note(ev protocol.Event) {
	progress := s.progress.Made(ev)
	if ev.Class == protocol.Heartbeat {
		s.pause(false)
		return
	}
	first := !s.opened.Swap(true)
	s.pause(progress || first)
	if first {
		s.idleTimer.arm(s.call.Timers.Idle, s.checkIdle)
	}
	if ev.Class != protocol.Lifecycle && !s.output {
		s.output = true
		if s.firstOutput != nil {
			s.firstOutput.Stop()
		}
	}
	s.startFinishing()
}

// startFinishing waits a second for the rest of a stream whose result is decided.
// A stream that goes on after all, with another choice, is open again.
func (s *Stream) startFinishing() {
	switch stage := s.reader.Stage(); {
	case stage == protocol.Finishing && s.finishTimer == nil:
		s.finishTimer = time.AfterFunc(protocol.FinishTime, func() { s.x.cancel(errFinished) })
	case stage == protocol.Open && s.finishTimer != nil:
		s.finishTimer.Stop()
		s.finishTimer = nil
	}
}

// ended returns what the end of the body means. A stream whose result is decided
// succeeds however its rest fails, unless its client left.
func (s *Stream) ended(err error) error {
	s.done = true
	failure, cause, cancelled := fromCause(s.x.ctx)
	if s.reader.Stage() == protocol.Finishing && (errors.Is(err, io.EOF) || cause == errFinished || failure != classify.ClientGone) {
		return io.EOF
	}
	if errors.Is(err, sse.ErrTooLarge) {
		return s.fail(&Failure{Failure: classify.BufferLimit, cause: err})
	}
	if cancelled && cause != errFinished {
		return s.fail(&Failure{Failure: failure, cause: cause})
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return s.fail(&Failure{Failure: classify.ReadError, cause: err})
}

func (s *Stream) fail(f *Failure) error {
	s.done = true
	f.Status, f.RequestID, f.Executed = s.x.resp.StatusCode, s.RequestID(), true
	return f
}

// Ready reports that another whole event has arrived already.
func (s *Stream) Ready() bool { return !s.done && s.reader.Stage() != protocol.Closed && s.dec.Ready() }

// Status is the status line's.
func (s *Stream) Status() int { return s.x.resp.StatusCode }

// ContentType is the answer's content type: what it is where it was mislabelled.
func (s *Stream) ContentType() string {
	if s.x.sniffed {
		return eventStream
	}
	return s.x.resp.Header.Get("Content-Type")
}

// RequestID is upstream's own id of the call.
func (s *Stream) RequestID() string { return requestID(s.x.resp.Header) }

// Bytes is how many bytes of the body were read.
func (s *Stream) Bytes() int64 { return s.bytes.n }

// Cancel ends the attempt early with a cause, as when the client left.
func (s *Stream) Cancel(cause error) { s.x.cancel(cause) }

func (s *Stream) stopTimers() {
	s.idleTimer.stop()
	for _, t := range [...]*time.Timer{s.firstOutput, s.finishTimer} {
		if t != nil {
			t.Stop()
		}
	}
}

// reuseWait is how long Close waits for the end of a complete stream, so that
// the connection can be used again: the final chunk usually came with the last
// event.
const reuseWait = 5 * time.Millisecond

// Close ends the attempt and gives back what it holds. A complete stream whose
// body ends right behind leaves its connection usable.
func (s *Stream) Close() {
	s.stopTimers()
	if s.dec != nil && s.reader.Stage() == protocol.Closed && s.x.ctx.Err() == nil {
		t := time.AfterFunc(reuseWait, func() { s.x.cancel(errClosed) })
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

// decompressed undoes a content encoding that was not asked for.
func decompressed(resp *http.Response) (io.Reader, error) {
	switch strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))) {
	case "", "identity":
		return resp.Body, nil
	case "gzip", "x-gzip":
		return gzip.NewReader(resp.Body)
	}
	return nil, errEncoding
}

const eventStream = "text/event-stream"

func isEventStream(contentType string) bool {
	if contentType == "" {
		return true // some small servers send none
	}
	t, _, err := mime.ParseMediaType(contentType)
	return err == nil && t == eventStream
}

func isJSON(contentType string) bool {
	t, _, err := mime.ParseMediaType(contentType)
	return contentType == "" || err == nil && (t == "application/json" || strings.HasSuffix(t, "+json"))
}
