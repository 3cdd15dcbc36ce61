package scenario

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// surface is a path of the client API with the body that its requests have
// unless they say otherwise.
type surface struct {
	path string
	body object
}

const (
	surfaceResponses = "responses"
	surfaceSocket    = "responses.ws"
)

var surfaces = map[string]surface{
	// pad, a field that nobody knows, makes a request and its WebSocket twin
	// equally long, so that what is estimated from their length is the same.
	surfaceResponses: {"/v1/responses", object{{"model", publicName}, {"input", "Hi"}, {"stream", true}, {"store", false}, {"pad", "-----------"}}},
	surfaceSocket:    {"/v1/responses", object{{"model", publicName}, {"input", "Hi"}, {"store", false}, {"pad", ""}}},
	"compact":        {"/v1/responses/compact", object{{"model", publicName}, {"input", "Hi"}}},
	"input_tokens":   {"/v1/responses/input_tokens", object{{"model", publicName}, {"input", "Hi"}}},
	"chat":           {"/v1/chat/completions", object{{"model", publicName}, {"messages", hi}, {"stream", true}}},
	"embeddings":     {"/v1/embeddings", object{{"model", publicName}, {"input", "Hi"}}},
	"messages":       {"/v1/messages", object{{"model", publicName}, {"max_tokens", 100}, {"messages", hi}, {"stream", true}}},
	"count_tokens":   {"/v1/messages/count_tokens", object{{"model", publicName}, {"messages", hi}}},
}

var hi = []any{object{{"role", "user"}, {"content", "Hi"}}}

// exchange is one client's call and what came back.
type exchange struct {
	req  *Request
	path string
	body []byte
	done chan struct{}

	sent    time.Time
	status  int
	header  http.Header
	events  []event
	whole   []byte // the body of an answer that is no stream
	ended   string // whole, broken, left, refused
	endedAt time.Time
	closed  string // WebSocket: the code with which the connection was closed
	id      string // the gateway's
}

// How an exchange ended, as the client saw it.
const (
	endedWhole  = "whole"  // the answer came to its end
	endedBroken = "broken" // it broke off
	endedLeft   = "left"   // the client hung up
	endedNone   = "none"   // no answer at all
)

var errClientLeft = errors.New("the client hangs up")

// start sends the request; its end is told by done.
func (st *installation) start(r *Request) (*exchange, error) {
	x := &exchange{req: r, done: make(chan struct{}), sent: time.Now(), header: http.Header{}}
	body, err := st.bodyOf(r)
	if err != nil {
		return nil, err
	}
	x.body = body
	st.calls = append(st.calls, x)
	run := st.overHTTP
	if r.Surface == surfaceSocket {
		run = st.overSocket
	}
	ctx, leave := context.WithCancelCause(st.ctx)
	var timer *time.Timer
	if r.Leave != nil && r.Leave.After > 0 {
		timer = time.AfterFunc(time.Duration(r.Leave.After), func() { leave(errClientLeft) })
	}
	go func() {
		defer close(x.done)
		defer leave(nil)
		run(ctx, x, func() { leave(errClientLeft) })
		if timer != nil {
			timer.Stop()
		}
		if context.Cause(ctx) == errClientLeft {
			x.ended, x.closed = endedLeft, ""
		}
		x.endedAt = time.Now()
	}()
	return x, nil
}

// bodyOf is what the client sends.
func (st *installation) bodyOf(r *Request) ([]byte, error) {
	if r.Raw != nil {
		return []byte(st.resolveReferences(*r.Raw)), nil
	}
	body := surfaces[r.Surface].body
	if r.Pad > 0 {
		body = body.set("input", strings.Repeat("x", r.Pad))
	}
	body = body.over(r.Body)
	if r.Surface == surfaceSocket {
		body = append(object{{"type", "response.create"}}, body.without("stream")...)
	}
	if body == nil {
		return nil, nil
	}
	text, err := plainJSON(body)
	return []byte(strings.ReplaceAll(st.resolveReferences(string(text)), `"$null"`, "null")), err
}

// overHTTP makes the call on a connection of its own.
func (st *installation) overHTTP(ctx context.Context, x *exchange, leave func()) {
	x.ended = endedNone
	method, path := http.MethodPost, surfaces[x.req.Surface].path
	if x.req.Call != "" {
		method, path, _ = strings.Cut(st.resolveReferences(x.req.Call), " ")
	}
	x.path = method + " " + path
	req, err := http.NewRequestWithContext(ctx, method, "http://"+clientAddr+path, bytes.NewReader(x.body))
	if err != nil {
		st.t.Errorf("request %s: %v", x.req.Name, err)
		return
	}
	for k, v := range st.headers(x.req) {
		req.Header[k] = v
	}
	if x.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	tr := &http.Transport{DialContext: st.net.Dial, DisableKeepAlives: true, DisableCompression: true}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	x.status, x.header, x.ended = resp.StatusCode, resp.Header, endedBroken
	x.id = resp.Header.Get("X-Request-Id")
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		err = x.readEvents(resp.Body, leave)
	} else {
		x.whole, err = io.ReadAll(resp.Body)
	}
	if err == nil || err == io.EOF {
		x.ended = endedWhole
	}
}

func (x *exchange) readEvents(body io.Reader, leave func()) error {
	d := newDecoder(body)
	for {
		e, err := d.next()
		if e != nil {
			x.events = append(x.events, *e)
			if l := x.req.Leave; l != nil && l.Events > 0 && len(x.events) == l.Events {
				leave()
				return errClientLeft
			}
		}
		if err != nil {
			return err
		}
	}
}

// headers are a client's: its key and what the request says.
func (st *installation) headers(r *Request) http.Header {
	h := http.Header{}
	key := ""
	if c := st.customers[r.Customer]; c != nil {
		key = c.secret
	}
	if r.Key != nil {
		key = st.resolveReferences(*r.Key)
	}
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
	for k, v := range r.Headers {
		h.Set(k, st.resolveReferences(v))
	}
	return h
}

var reference = regexp.MustCompile(`\$(resp|req|cus|key|secret|tx)\.([A-Za-z0-9_-]+)(?:\.([a-z]+))?`)

// resolveReferences fills in ids that exist only once the scenario runs: $resp.1 (the
// response's), $req.1, $cus.main, $key.main, $secret.main, $tx.1.settle.
func (st *installation) resolveReferences(text string) string {
	return reference.ReplaceAllStringFunc(text, func(ref string) string {
		m := reference.FindStringSubmatch(ref)
		id, err := st.idOf(m[1], m[2], m[3])
		if err != nil {
			st.t.Errorf("%s: %v", ref, err)
		}
		return id
	})
}

func (st *installation) idOf(kind, name, part string) (string, error) {
	if c := st.customers[name]; c != nil {
		switch kind {
		case "cus":
			return c.id, nil
		case "key":
			return c.key, nil
		case "secret":
			return c.secret, nil
		}
	}
	for _, x := range st.calls {
		if x.req.Name != name {
			continue
		}
		if !x.over() {
			return "", fmt.Errorf("request %s has not ended", name)
		}
		if err := st.nameSoFar(); err != nil {
			return "", err
		}
		switch kind {
		case "req":
			return x.id, nil
		case "resp":
			return x.responseID(), nil
		case "tx":
			return st.transactionOf(x.id, part)
		}
	}
	return "", fmt.Errorf("nothing of that name")
}
