package httpapi

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"rubicon/internal/api/pressure"
	"rubicon/internal/engine/turn"
	"rubicon/internal/engine/upstream"
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/sse"
)

// sink writes one request's answer: an event stream, a whole answer or a
// failure. Events are gathered until Flush, so that what arrived together
// leaves together; every write holds whole events.
type sink struct {
	w         http.ResponseWriter
	rc        *http.ResponseController
	protocol  *protocol.Protocol
	buf       *[]byte       // nil while nothing is gathered: most streams wait most of the time
	limit     time.Duration // for a client that takes nothing
	maxBuffer int           // of one write; 0: whole events, whatever their size
	deadline  time.Time
	begun     bool
	ids       bool  // an event with an id was written: no blank line may follow that ends no event
	err       error // the writer failed
}

const (
	maxWrite  = 32 << 10 // what is gathered before it is written without waiting for Flush
	maxPooled = 64 << 10 // larger buffers are not kept
)

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

func newSink(w http.ResponseWriter, r *http.Request, p *protocol.Protocol, limit time.Duration) *sink {
	s := &sink{w: w, rc: http.NewResponseController(w), protocol: p, limit: limit}
	if r.ProtoMajor > 1 {
		s.maxBuffer = pressure.WriteStep // deadlines are of streams there, and writes are not seen by the client
	}
	return s
}

// buffer is the buffer, from the pool if there is none yet.
func (s *sink) buffer() *[]byte {
	if s.buf == nil {
		s.buf = buffers.Get().(*[]byte)
	}
	return s.buf
}

// returnBuffer empties the buffer and gives it to other streams.
func (s *sink) returnBuffer() {
	if s.buf == nil {
		return
	}
	if cap(*s.buf) <= maxPooled {
		*s.buf = (*s.buf)[:0]
		buffers.Put(s.buf)
	}
	s.buf = nil
}

// close gives the buffer back. A stream whose client could not be told its end
// is aborted: returning from the handler would write a clean end.
func (s *sink) close() {
	s.returnBuffer()
	if s.err != nil {
		panic(http.ErrAbortHandler)
	}
}

func (s *sink) Begin(contentType string, failed *fault.Error) {
	if failed != nil {
		shouldRetry(s.w.Header(), failed)
	}
	if contentType == "" {
		contentType = "text/event-stream"
	}
	h := s.w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	s.begun = true
	s.w.WriteHeader(http.StatusOK)
}

func (s *sink) Event(ev protocol.Event) error {
	raw := ev.Raw
	if s.ids {
		raw = sse.Quiet(raw, ev.Data == nil)
	}
	s.ids = s.ids || ev.ID
	if len(raw) >= maxWrite {
		if s.buf != nil {
			_ = s.Flush() // else the two would be cut where the server's buffer ends
		}
		s.send(raw)
		return s.err
	}
	buf := s.buffer()
	*buf = append(*buf, raw...)
	if len(*buf) >= maxWrite {
		s.write()
	}
	return s.err
}

func (s *sink) Flush() error {
	s.write()
	if s.err == nil {
		s.err = s.rc.Flush()
	}
	return s.err
}

// KeepAlive writes a comment. It stands between two events: the gate writes
// nothing else meanwhile, and events only whole.
func (s *sink) KeepAlive() error {
	comment := []byte(": keepalive\n\n")
	if s.ids {
		comment = sse.Quiet(comment, true)
	}
	buf := s.buffer()
	*buf = append(*buf, comment...)
	return s.Flush()
}

// write sends what was gathered.
func (s *sink) write() {
	if s.buf != nil {
		s.send(*s.buf)
		s.returnBuffer()
	}
}

// send writes under the write deadline, which is moved on only every now and
// then: setting it costs more than the write. During a write the connection
// moves it on (pressure.Connections).
func (s *sink) send(b []byte) {
	for rest := b; s.err == nil; {
		n := len(rest)
		if s.maxBuffer > 0 {
			n = min(n, s.maxBuffer)
		}
		s.moveDeadline()
		_, s.err = s.w.Write(rest[:n])
		if rest = rest[n:]; len(rest) == 0 {
			return
		}
	}
}

// moveDeadline keeps the write deadline at least the limit ahead.
func (s *sink) moveDeadline() {
	if now := time.Now(); s.limit > 0 && s.deadline.Sub(now) < s.limit {
		s.deadline = now.Add(s.limit + s.limit/8)
		_ = s.rc.SetWriteDeadline(s.deadline)
	}
}

func (s *sink) Answer(a *upstream.Answer) error {
	contentType := a.ContentType
	if contentType == "" {
		contentType = "application/json"
	}
	s.w.Header().Set("Content-Type", contentType)
	s.w.Header().Set("Content-Length", strconv.Itoa(len(a.Body)))
	s.w.WriteHeader(a.Status)
	s.send(a.Body)
	return s.err
}

// Fail shows the failure in its form (docs/contract.md#s5).
func (s *sink) Fail(e turn.ShownFailure) error {
	switch {
	case e.Answer != nil:
		shouldRetry(s.w.Header(), e.Error)
		return s.Answer(e.Answer)
	case e.Form == turn.FormStatus && !s.begun:
		s.moveDeadline()
		writeFault(s.w, e.Error, s.protocol.ErrorBody(e.Error))
		return nil
	}
	buf := s.buffer()
	for _, ev := range e.Events {
		*buf = append(*buf, ev.Raw...)
	}
	if e.Form == turn.FormOurs || e.NeedsFailedEvent {
		said := e.ErrorSent || len(e.Events) > 0
		*buf = s.protocol.Ending(*buf, e.Reader, e.Error, said)
	}
	return s.Flush()
}

// ErrorAtOnce: over HTTP an error event after output is passed on at once.
func (s *sink) ErrorAtOnce() bool { return true }

// writeFault writes a failure with its status and headers.
func writeFault(w http.ResponseWriter, f *fault.Error, body []byte) {
	h := w.Header()
	shouldRetry(h, f)
	if n := f.RetryAfterSeconds(); n > 0 {
		h.Set("Retry-After", strconv.FormatInt(n, 10))
	}
	writeJSON(w, f.Status, body)
}

// shouldRetry is the header of every failure, also of one that is told with
// status 200.
func shouldRetry(h http.Header, f *fault.Error) {
	h.Set("X-Should-Retry", strconv.FormatBool(f.ShouldRetry()))
}

// shortWrite is the deadline of an answer that is written at once, from its
// beginning: the request may have run for longer than that.
const shortWrite = 30 * time.Second

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(shortWrite))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
