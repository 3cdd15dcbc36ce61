package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"rubicon/internal/wire/sse"
)

// Causes with which the client itself ends a request.
var (
	errHung       = errors.New("no end within the case's limit")
	errClientLeft = errors.New("the client leaves")
	// errLinger ends the listening behind an ending; it is no fault.
	errLinger = errors.New("long enough")
)

// Bounds of what the client keeps and reads.
const (
	keptBytes = 1 << 20
	maxRecord = 16 << 20
)

// client sends requests and notes what comes back.
type client struct {
	o    Options
	http *http.Transport
}

func newClient(o Options) *client {
	// A connection for each request: what the gateway does to one says nothing
	// about the next.
	return &client{o: o, http: &http.Transport{DialContext: o.Dial, DisableKeepAlives: true, DisableCompression: true}}
}

// clientRequest sends one request and waits for its end.
func (c *client) ask(ctx context.Context, a clientRequest, body []byte, limit time.Duration) *clientView {
	s := &clientView{header: http.Header{}}
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	timer := time.AfterFunc(limit, func() { leave(errHung) })
	defer timer.Stop()
	began := time.Now()
	note := &notes{clientView: s, began: began, read: eventReaders[c.o.Surface], leave: func() {
		if a.leaves {
			leave(errClientLeft)
		}
	}}
	if c.o.Surface == Socket {
		c.overSocket(ctx, note, body)
	} else {
		c.overHTTP(ctx, note, body)
	}
	switch context.Cause(ctx) {
	case errHung:
		s.end = endHung
	case errClientLeft:
		s.end = endClientLeft
	}
	if s.total == 0 {
		s.total = time.Since(began)
	}
	return s
}

// notes turns events into what was seen, with their times.
type notes struct {
	*clientView
	began time.Time
	read  eventReader
	leave func() // called at the first output
}

// event takes in one event.
func (n *notes) event(name string, data []byte) {
	at := max(time.Since(n.began), 1)
	if n.first == 0 {
		n.first = at
	}
	n.events++
	was, failed := n.ended(), len(n.failures)
	n.read(n.clientView, name, data)
	// response.failed behind error is one ending with it.
	if was && (len(n.failures) != failed || failed == 0 || n.failures[failed-1].kind != failedKind) {
		n.after++
	}
	if n.firstOutput == 0 && (n.text.Len() > 0 || len(n.tools) > 0) {
		n.firstOutput = at
		n.leave()
	}
}

// keep remembers bytes for the search for leaks.
func (n *notes) keep(raw []byte) {
	if room := keptBytes - len(n.raw); room > 0 {
		n.raw = append(n.raw, raw[:min(room, len(raw))]...)
	}
}

func (c *client) overHTTP(ctx context.Context, n *notes, body []byte) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.o.base()+paths[c.o.Surface], bytes.NewReader(body))
	if err != nil {
		n.end, n.problem = endRefused, err.Error()
		return
	}
	req.Header = c.o.header()
	resp, err := c.http.RoundTrip(req)
	if err != nil {
		n.end, n.problem = endRefused, err.Error()
		return
	}
	defer resp.Body.Close()
	n.status, n.header = resp.StatusCode, resp.Header
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") && resp.StatusCode == http.StatusOK {
		err = n.stream(resp.Body)
	} else {
		err = n.body(resp.Body, c.o.Surface)
	}
	n.end = endClean
	if err != nil {
		n.end, n.problem = endBroken, err.Error()
	}
}

// stream reads events until the body ends.
func (n *notes) stream(body io.Reader) error {
	d := sse.NewDecoder(body, maxRecord)
	defer d.Release()
	for {
		f, err := d.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		n.keep(f.Raw)
		if f.HasData && !f.Tail {
			n.event(string(f.Name), f.Data)
		}
	}
}

// body reads an answer that is no stream.
func (n *notes) body(r io.Reader, surface Surface) error {
	raw, err := io.ReadAll(io.LimitReader(r, maxRecord))
	n.keep(raw)
	if err != nil {
		return err
	}
	n.first = max(time.Since(n.began), 1)
	n.readWhole(surface, raw)
	if n.text.Len() > 0 || len(n.tools) > 0 {
		n.firstOutput = n.first
		n.leave()
	}
	return nil
}

// recordedUsage asks a gateway that keeps records for customers, as Rubicon does, what
// it wrote down; nil: it has none.
func (c *client) recordedUsage(ctx context.Context, id string) *usageSeen {
	if id == "" {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.o.base()+"/v1/requests/"+id, nil)
	if err != nil {
		return nil
	}
	req.Header = c.o.header()
	resp, err := c.http.RoundTrip(req)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	var record struct {
		RequestID string `json:"request_id"`
		Usage     struct {
			Input      int64
			Cached     int64 `json:"cached_input"`
			CacheWrite int64 `json:"cache_write"`
			Output     int64
		}
	}
	if resp.StatusCode != http.StatusOK || json.NewDecoder(io.LimitReader(resp.Body, keptBytes)).Decode(&record) != nil || record.RequestID != id {
		return nil
	}
	return &usageSeen{record.Usage.Input + record.Usage.Cached + record.Usage.CacheWrite, record.Usage.Output}
}
