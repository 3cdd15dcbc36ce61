package httpapi

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"rubicon/internal/api/pressure"
	"rubicon/internal/wire/fault"
)

// firstRead is the first room for a body, whatever it claims to be.
const firstRead = 4 << 10

// readBody reads the whole body, bounded in bytes and in time. Of one that is
// too large the rest is read away up to a second bound, so that the client
// reads the answer instead of a reset connection. What is held counts as the
// customer's upload.
func (a *api) readBody(w http.ResponseWriter, r *http.Request, upload *pressure.Upload) ([]byte, *fault.Error) {
	limits, timers := a.Config().Limits, a.Config().Timers
	most := limits.RequestBody
	if r.ContentLength > most {
		return nil, a.tooLarge(w, r, most)
	}
	raw := &incoming{from: r.Body, most: most, pace: pressure.NewPace(http.NewResponseController(w), timers.Write, timers.Total)}
	in, f := decode(r.Header, raw)
	if f != nil {
		return nil, f
	}
	defer in.Close()
	b := buffer{most: most, extra: in.memory, upload: upload}
	if !in.coded {
		b.expected = r.ContentLength
	}
	body, err := b.fill(in)
	switch share := (*shareUsedUp)(nil); {
	case err == nil:
		raw.pace.End()
		return body, nil
	case errors.As(err, &share):
		return nil, share.fault()
	case errors.Is(err, errTooLarge), errors.Is(raw.err, errTooLarge):
		return nil, a.tooLarge(w, r, most)
	case errors.Is(raw.err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		f := fault.New(fault.InvalidRequest, "The request body did not come in time.").WithCause(err)
		f.Status = http.StatusRequestTimeout
		return nil, f
	case raw.err == nil || errors.Is(raw.err, io.EOF):
		return nil, fault.Newf(fault.InvalidRequest, "The request body is not valid %s.", in.name).WithCause(err)
	}
	return nil, fault.New(fault.InvalidRequest, "The request body broke off.").WithCause(err)
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
	maxDiscarded = 32 << 20
	discardTime  = 10 * time.Second
	smallBody    = 256 << 10
)

// discardBody reads away what is left of the body of a request that is refused.
func discardBody(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.ContentLength >= 0 && r.ContentLength <= smallBody:
		return
	case w.Header().Get("Connection") == "close":
		return // it was, or there is no room for it
	}
	discardRest(w, r)
}

// discardRest reads away what is left of a body. Where the connection is to be
// closed it comes before that is said, because of such a connection the server
// reads not even a small one.
func discardRest(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Expect") != "" {
		return // it waits for a word to send, and gets the answer instead
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(discardTime))
	if _, err := io.CopyN(io.Discard, r.Body, maxDiscarded); !errors.Is(err, io.EOF) {
		w.Header().Set("Connection", "close")
		return
	}
	_ = rc.SetReadDeadline(time.Time{})
}
