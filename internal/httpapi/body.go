package httpapi

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"rubicon/internal/fault"
)

// readBody reads the whole body, bounded in bytes and in time. Of one that is
// too large the rest is read away up to a second bound, so that the client
// reads the answer instead of a reset connection.
func (a *api) readBody(w http.ResponseWriter, r *http.Request) ([]byte, *fault.Error) {
	if enc := r.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return nil, fault.Newf(fault.InvalidRequest, "Content-Encoding %q is not supported; send the body as it is.", fault.Clip(enc))
	}
	most := a.Config().Limits.RequestBody
	if r.ContentLength > most {
		return nil, a.tooLarge(w, r, most)
	}
	p := a.newPatience(w)
	body := make([]byte, 0, max(r.ContentLength, 512)+1)
	for {
		p.arm()
		n, err := r.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case int64(len(body)) > most:
			return nil, a.tooLarge(w, r, most)
		case errors.Is(err, io.EOF):
			p.end()
			return body, nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			w.Header().Set("Connection", "close")
			f := fault.New(fault.InvalidRequest, "The request body did not come in time.").WithCause(err)
			f.Status = http.StatusRequestTimeout
			return nil, f
		case err != nil:
			return nil, fault.New(fault.InvalidRequest, "The request body broke off.").WithCause(err)
		}
		if len(body) == cap(body) {
			body = append(body, 0)[:len(body)]
		}
	}
}

func (a *api) tooLarge(w http.ResponseWriter, r *http.Request, most int64) *fault.Error {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(10 * time.Second))
	_, _ = io.CopyN(io.Discard, r.Body, 2*most)
	w.Header().Set("Connection", "close")
	return fault.Newf(fault.PayloadTooLarge, "The request body is larger than %d bytes.", most)
}

// Of a body that nobody reads (its sender's key is not valid) so much is read
// away, in so long, for a client that sends everything before it looks at the
// answer: it would find a reset connection and come again. The server itself
// does that for small ones.
const (
	unread     = 32 << 20
	unreadTime = 10 * time.Second
	smallBody  = 256 << 10
)

// readAway reads away what is left of the body of a request that is refused.
func readAway(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.ContentLength >= 0 && r.ContentLength <= smallBody:
		return
	case w.Header().Get("Connection") == "close":
		return // it was, or there is no room for it
	}
	takeRest(w, r)
}

// takeRest reads away what is left of a body. Where the connection is to be
// closed it comes before that is said, because of such a connection the server
// reads not even a small one.
func takeRest(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Expect") != "" {
		return // it waits for a word to send, and gets the answer instead
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(unreadTime))
	if _, err := io.CopyN(io.Discard, r.Body, unread); !errors.Is(err, io.EOF) {
		w.Header().Set("Connection", "close")
		return
	}
	_ = rc.SetReadDeadline(time.Time{})
}

// patience bounds how long a body may take: so long without a byte as a client
// may take nothing (timers.write), and never longer than a request may run
// (timers.total), which a byte now and then would otherwise get around.
type patience struct {
	rc         *http.ResponseController
	limit      time.Duration
	last, next time.Time // of all; when to move the deadline on
}

func (a *api) newPatience(w http.ResponseWriter) *patience {
	timers := a.Config().Timers
	p := &patience{rc: http.NewResponseController(w), limit: timers.Write}
	if timers.Total > 0 {
		p.last = time.Now().Add(timers.Total)
	}
	return p
}

// arm moves the deadline on, every now and then only: it costs more than
// reading from a buffer.
func (p *patience) arm() {
	now := time.Now()
	if p.limit <= 0 || now.Before(p.next) {
		return
	}
	p.next = now.Add(p.limit / 8)
	deadline := now.Add(p.limit + p.limit/8)
	if !p.last.IsZero() && deadline.After(p.last) {
		deadline = p.last
	}
	_ = p.rc.SetReadDeadline(deadline)
}

// end takes the deadline back: from here on the connection is read only to
// learn that the client left, and that must not look so. A body that did not
// come keeps it, because the server reads on before it answers.
func (p *patience) end() { _ = p.rc.SetReadDeadline(time.Time{}) }
