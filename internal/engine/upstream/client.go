package upstream

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"rubicon/internal/config"
	"rubicon/internal/wire/classify"
)

// Client holds the connections to all upstreams, a pool per channel.
type Client struct {
	dial  Dial
	agent string

	mu    sync.Mutex
	pools map[poolKey]*http.Transport
}

type poolKey struct {
	channel      string
	allowPrivate bool
}

// New makes a Client. dial may be nil for the real network.
func New(dial Dial, userAgent string) *Client {
	return &Client{dial: dial, agent: userAgent, pools: map[poolKey]*http.Transport{}}
}

// Close drops idle connections.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, t := range c.pools {
		t.CloseIdleConnections()
		delete(c.pools, k)
	}
}

// Retain drops the connections of channels that the configuration does not have
// any more. What runs on one of them ends as it would have.
func (c *Client) Retain(cfg *config.Config) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, t := range c.pools {
		if ch := cfg.Channel(k.channel); ch == nil || ch.AllowPrivate != k.allowPrivate {
			t.CloseIdleConnections()
			delete(c.pools, k)
		}
	}
}

func (c *Client) pool(ch *config.Channel) *http.Transport {
	key := poolKey{ch.Name, ch.AllowPrivate}
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.pools[key]
	if t == nil {
		t = &http.Transport{
			DialContext:            c.dialer(ch.AllowPrivate),
			DisableCompression:     true, // a compressed stream arrives in large pieces; what is compressed all the same is decoded
			ForceAttemptHTTP2:      true,
			MaxIdleConns:           0,
			MaxIdleConnsPerHost:    1024,
			WriteBufferSize:        2 << 10, // a head; a body of some size is written past it
			IdleConnTimeout:        90 * time.Second,
			TLSHandshakeTimeout:    abandonedDialTime,
			HTTP2:                  &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second}, // a broken connection carries many streams
			MaxResponseHeaderBytes: 256 << 10,
		}
		c.pools[key] = t
	}
	return t
}

// request builds the HTTP request. Its body cannot be rewound (GetBody nil), so
// the transport cannot resend it; one without a body gets one that is empty,
// because the transport resends a GET on its own.
func (c *Client) request(ctx context.Context, call *Call) (*http.Request, error) {
	method := cmp.Or(call.Method, http.MethodPost)
	target := call.Channel.BaseURL + call.Path
	if q := query(call); q != "" {
		target += "?" + q
	}
	req, err := http.NewRequestWithContext(ctx, method, target, newPayload(call.Body))
	if err != nil {
		return nil, withoutURL(err)
	}
	req.ContentLength = int64(len(call.Body))
	for k, v := range call.Header {
		if !slices.Contains(credentialHeaders[:], k) {
			req.Header[k] = v
		}
	}
	if call.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if call.Stream {
		req.Header.Set("Accept", "text/event-stream")
	} else if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", "application/json")
	}
	req.Header.Set("User-Agent", c.agent)
	authorize(req.Header, call)
	for k, v := range call.Channel.Headers {
		req.Header.Set(k, v)
	}
	return req, nil
}

// credentialHeaders are never sent upstream, whatever forwards headers: a client's
// credential is for the gateway only, and an upstream's is set below.
var credentialHeaders = [...]string{"Authorization", "Proxy-Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Cookie", "Idempotency-Key"}

// query is the channel's parameters, then the call's; the channel's win.
func query(call *Call) string {
	if len(call.Channel.Query) == 0 {
		return call.Query
	}
	own := url.Values{}
	for k, v := range call.Channel.Query {
		own.Set(k, v)
	}
	out := own.Encode()
	for pair := range strings.SplitSeq(call.Query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err == nil && pair != "" && !own.Has(plain) {
			out += "&" + pair
		}
	}
	return out
}

func authorize(h http.Header, call *Call) {
	if call.Channel.Protocol == config.ProtocolMessages && h.Get("Anthropic-Version") == "" {
		h.Set("Anthropic-Version", "2023-06-01")
	}
	if call.Credential == nil {
		return
	}
	key := call.Credential.Key.Reveal()
	switch call.Channel.Auth {
	case config.AuthBearer:
		h.Set("Authorization", "Bearer "+key)
	case config.AuthXAPIKey:
		h.Set("X-Api-Key", key)
	case config.AuthAPIKey:
		h.Set("Api-Key", key)
	}
}

// exchange is one HTTP exchange up to the status line.
type exchange struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	resp   *http.Response
	trace  trace

	body    io.Reader // resp's, decoded; nil: not looked at yet
	sniffed bool      // a stream, whatever its content type says
}

// open sends the call and waits for the status line.
func (c *Client) open(parent context.Context, call *Call) (*exchange, *Failure) {
	ctx, cancel := context.WithCancelCause(limitDial(parent, call.Timers.Connect))
	x := &exchange{ctx: ctx, cancel: cancel}
	x.trace.start(call.Timers, call.Stream, cancel)
	req, err := c.request(httptrace.WithClientTrace(ctx, x.trace.hooks()), call)
	if err != nil {
		x.trace.stop()
		cancel(errClosed)
		return nil, &Failure{Failure: classify.GatewayFault, cause: err}
	}
	resp, err := c.pool(call.Channel).RoundTrip(req)
	x.trace.stop()
	if err != nil {
		f := x.failed(err)
		cancel(errClosed)
		return nil, f
	}
	x.resp = resp
	return x, nil
}

// failed classifies an exchange without a status line. What was certainly not
// sent, or certainly not taken, was not executed.
func (x *exchange) failed(err error) *Failure {
	if failure, cause, cancelled := fromCause(x.ctx); cancelled {
		executed := x.trace.wrote() && failure != classify.Connect
		return &Failure{Failure: failure, Executed: executed, cause: cause}
	}
	if !x.trace.wrote() || refusedUnprocessed(err) {
		return &Failure{Failure: classify.Connect, cause: withoutURL(err)}
	}
	return &Failure{Failure: classify.ReadError, Executed: true, cause: withoutURL(err)}
}

// unprocessed are HTTP/2's statements that a request was not processed. The
// transport exports no types for them.
var unprocessed = [...]string{
	"REFUSED_STREAM",
	"Transport received Server's graceful shutdown GOAWAY",            // a stream above the last one taken
	"Transport received GOAWAY from server ErrCode:",                  // the first stream, and none was taken
	"server sent GOAWAY and closed the connection; LastStreamID=0, E", // none was taken
}

func refusedUnprocessed(err error) bool {
	return slices.ContainsFunc(unprocessed[:], func(s string) bool { return strings.Contains(err.Error(), s) })
}

// withoutURL unwraps *url.Error, which prints whole URLs, keys in their query
// included.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

func requestID(h http.Header) string {
	for _, name := range [...]string{"X-Request-Id", "Request-Id", "Apim-Request-Id", "X-Amzn-Requestid", "Cf-Ray"} {
		if v := h.Get(name); v != "" && len(v) <= 200 {
			return v
		}
	}
	return ""
}
