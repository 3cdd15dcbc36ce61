package stand

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"rubicon/internal/wire/sse"
)

// Reply is a whole answer as a client got it.
type Reply struct {
	Status int
	Header http.Header
	Body   string
	Err    error // the answer broke off
}

// ID is the request's id.
func (r Reply) ID() string { return r.Header.Get("X-Request-Id") }

// Fault is the error object of a JSON failure.
func (r Reply) Fault() Fault {
	var e struct{ Error Fault }
	_ = json.Unmarshal([]byte(r.Body), &e)
	return e.Error
}

// Fault is the envelope's error object.
type Fault struct {
	Message, Type, Code, Param string
	RequestID                  string `json:"request_id"`
	Retryable                  *bool
	RetryAfter                 *float64 `json:"retry_after"`
	AfterOutput                *bool    `json:"after_output"`
}

// Event is one event of a stream.
type Event struct {
	Name, Type, Data string
	Fault            *Fault // of an error event or a failed response
}

// Events reads the body as an event stream; comments are left out.
func (r Reply) Events() ([]Event, error) {
	d := sse.NewDecoder(strings.NewReader(r.Body), 64<<20)
	defer d.Release()
	var all []Event
	for {
		f, err := d.Next()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		if !f.HasData {
			continue
		}
		ev := Event{Name: string(f.Name), Data: string(f.Data)}
		var v struct {
			Type     string
			Error    *Fault
			Response struct{ Error *Fault }
		}
		if ev.Data != "[DONE]" {
			if err := json.Unmarshal(f.Data, &v); err != nil {
				return all, fmt.Errorf("event %q: %w", ev.Data, err)
			}
		}
		ev.Type, ev.Fault = v.Type, v.Error
		if ev.Fault == nil {
			ev.Fault = v.Response.Error
		}
		all = append(all, ev)
	}
}

// Types of the events, in order.
func (r Reply) Types() []string {
	events, err := r.Events()
	var types []string
	for _, ev := range events {
		types = append(types, ev.Type)
	}
	if err != nil {
		types = append(types, "UNREADABLE: "+err.Error())
	}
	return types
}

// Post sends a JSON body and reads the whole answer.
func (s *Gateway) Post(c Customer, path, body string) Reply {
	return s.Do(c, "POST", path, strings.NewReader(body), nil)
}

// Get reads.
func (s *Gateway) Get(c Customer, path string) Reply { return s.Do(c, "GET", path, nil, nil) }

// Do makes any call and reads the whole answer. An answer that never began has
// status 0.
func (s *Gateway) Do(c Customer, method, path string, body io.Reader, header http.Header) Reply {
	req, err := http.NewRequest(method, s.URL+path, body)
	if err != nil {
		return Reply{Err: err}
	}
	if c.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.Key)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for k, v := range header {
		req.Header[k] = v
	}
	resp, err := s.HTTP.Do(req)
	if err != nil {
		return Reply{Err: err}
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return Reply{Status: resp.StatusCode, Header: resp.Header, Body: string(raw), Err: err}
}
