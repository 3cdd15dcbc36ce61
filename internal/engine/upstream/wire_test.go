package upstream_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"rubicon/internal/config"
	"rubicon/internal/engine/upstream"
	"rubicon/internal/wire/classify"
)

func TestRequestOnTheWire(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*upstream.Call)
		line   string // method and path
		want   map[string]string
		absent []string
	}{
		{name: "bearer", change: func(c *upstream.Call) { c.Channel.Auth = config.AuthBearer }, line: "POST /v1/responses",
			want:   map[string]string{"Authorization": "Bearer up-key", "Content-Type": "application/json", "Accept": "text/event-stream", "User-Agent": "rubicon/test"},
			absent: []string{"X-Api-Key", "Api-Key", "Accept-Encoding", "Anthropic-Version", "Transfer-Encoding"}},
		{name: "x-api-key", change: func(c *upstream.Call) { c.Channel.Auth = config.AuthXAPIKey }, line: "POST /v1/responses",
			want: map[string]string{"X-Api-Key": "up-key"}, absent: []string{"Authorization", "Api-Key"}},
		{name: "api-key", change: func(c *upstream.Call) { c.Channel.Auth = config.AuthAPIKey }, line: "POST /v1/responses",
			want: map[string]string{"Api-Key": "up-key"}, absent: []string{"Authorization", "X-Api-Key"}},
		{name: "none", change: func(c *upstream.Call) { c.Channel.Auth = config.AuthNone }, line: "POST /v1/responses",
			absent: []string{"Authorization", "X-Api-Key", "Api-Key"}},
		{name: "keyless", change: func(c *upstream.Call) { c.Channel.Auth, c.Credential = config.AuthBearer, nil }, line: "POST /v1/responses",
			absent: []string{"Authorization"}},
		{name: "a client's credentials never travel", change: func(c *upstream.Call) {
			c.Channel.Auth, c.Credential = config.AuthNone, nil
			c.Header = http.Header{"Authorization": {"Bearer rk-client"}, "X-Api-Key": {"rk-client"}, "Api-Key": {"rk-client"}, "Cookie": {"a=b"},
				"Idempotency-Key": {"i"}, "Openai-Beta": {"x=1"}, "Traceparent": {"00-1"}}
		}, line: "POST /v1/responses", want: map[string]string{"Openai-Beta": "x=1", "Traceparent": "00-1"},
			absent: []string{"Authorization", "X-Api-Key", "Api-Key", "Cookie", "Idempotency-Key"}},
		{name: "the channel's headers and query win", change: func(c *upstream.Call) {
			c.Channel.Headers = config.SecretMap{"Openai-Project": "proj", "Openai-Beta": "ours"}
			c.Channel.Query = config.SecretMap{"api-version": "2026-01-01"}
			c.Header = http.Header{"Openai-Beta": {"theirs"}}
			c.Query = "include[]=a&api-version=evil&api%2Dversion=worse&b=c"
		}, line: "POST /v1/responses?api-version=2026-01-01&include[]=a&b=c", want: map[string]string{"Openai-Project": "proj", "Openai-Beta": "ours"}},
		{name: "a query of the call alone", change: func(c *upstream.Call) { c.Query = "beta=true" }, line: "POST /v1/responses?beta=true"},
		{name: "Anthropic's version", change: func(c *upstream.Call) { c.Channel.Protocol, c.Path = config.ProtocolMessages, "/messages" }, line: "POST /v1/messages",
			want: map[string]string{"Anthropic-Version": "2023-06-01"}},
		{name: "the client's version stays", change: func(c *upstream.Call) {
			c.Channel.Protocol, c.Header = config.ProtocolMessages, http.Header{"Anthropic-Version": {"2026-10-21"}}
		}, line: "POST /v1/responses", want: map[string]string{"Anthropic-Version": "2026-10-21"}},
		{name: "not streaming", change: func(c *upstream.Call) { c.Stream = false }, line: "POST /v1/responses", want: map[string]string{"Accept": "application/json"}},
		{name: "reading", change: func(c *upstream.Call) { c.Stream, c.Method, c.Body = false, http.MethodGet, nil }, line: "GET /v1/responses",
			absent: []string{"Content-Type", "Content-Length", "Transfer-Encoding"}},
		{name: "deleting", change: func(c *upstream.Call) { c.Stream, c.Method, c.Body = false, http.MethodDelete, nil }, line: "DELETE /v1/responses",
			absent: []string{"Content-Type", "Transfer-Encoding"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := overTCP(t, cuts(jsonAnswer("400 Enough", "{}")))
			call := to(p.listener.Addr().String())
			call.Credential = &config.Credential{Name: "k1", Key: config.NewSecret("up-key")}
			c.change(call)
			cl := client(t, nil)
			if call.Stream {
				_, _ = cl.Open(t.Context(), call, newReader(call.Channel.Protocol))
			} else {
				_, _ = cl.Do(t.Context(), call)
			}
			requests, bodies := p.got()
			if len(requests) != 1 {
				t.Fatalf("the peer saw %d requests", len(requests))
			}
			r := requests[0]
			if got := r.Method + " " + r.RequestURI; got != c.line {
				t.Errorf("%s, want %s", got, c.line)
			}
			for name, want := range c.want {
				if got := r.Header.Values(name); !slices.Equal(got, []string{want}) {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
			for _, name := range c.absent {
				if got := r.Header.Values(name); len(got) > 0 {
					t.Errorf("%s: %q", name, got)
				}
			}
			if string(bodies[0]) != string(call.Body) || call.Body != nil && r.ContentLength != int64(len(call.Body)) {
				t.Errorf("body %q of length %d", bodies[0], r.ContentLength)
			}
		})
	}
}

// TestConnectionIsUsedAgain: after a complete stream, after a whole answer and
// after an error body.
func TestConnectionIsUsedAgain(t *testing.T) {
	answers := []string{
		streamHead + chunk(created+delta+completed) + lastChunk,
		streamHead + chunk(completed) + lastChunk,
		jsonAnswer("429 Slow", `{"error":{"message":"slow"}}`),
		jsonAnswer("200 OK", `{"id":"resp_1"}`),
		streamHead + chunk(completed) + lastChunk,
	}
	p := overTCP(t, func(c net.Conn, n int) { write(c, answers[n-1]) })
	cl := client(t, nil)
	for n := range answers {
		call := to(p.listener.Addr().String())
		if n == 3 {
			call.Stream = false
			if _, failed := cl.Do(t.Context(), call); failed != nil {
				t.Fatal(failed)
			}
			continue
		}
		if got := run(t.Context(), cl, call); (got.failed != nil) != (n == 2) {
			t.Fatalf("request %d: %v", n+1, got.failed)
		}
	}
	if n := p.conns.Load(); n != 1 {
		t.Errorf("%d connections were made", n)
	}
}

// TestIncompleteStreamIsNotReused: what the peer still sends must not become
// the next answer.
func TestIncompleteStreamIsNotReused(t *testing.T) {
	p := overTCP(t, func(c net.Conn, n int) {
		write(c, streamHead+chunk(created))
		if n > 1 {
			write(c, chunk(completed)+lastChunk)
		}
	})
	cl := client(t, nil)
	s, failed := cl.Open(t.Context(), to(p.listener.Addr().String()), newReader(""))
	if failed != nil {
		t.Fatal(failed)
	}
	if _, err := s.Next(); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if got := run(t.Context(), cl, to(p.listener.Addr().String())); got.failed != nil || got.types != "lt" {
		t.Errorf("%q, %v", got.types, got.failed)
	}
	if n := p.conns.Load(); n != 2 {
		t.Errorf("%d connections were made", n)
	}
}

// closingConn fails its writes once told to.
type closingConn struct {
	net.Conn
	dead *atomic.Bool
}

func (c closingConn) Write(b []byte) (int, error) {
	if c.dead.Load() {
		return 0, &net.OpError{Op: "write", Net: "tcp", Err: syscall.EPIPE}
	}
	return c.Conn.Write(b)
}

// TestDeadReusedConnection: it died before a byte was written, so nothing ran.
func TestDeadReusedConnection(t *testing.T) {
	var dead atomic.Bool
	cl := client(t, func(ctx context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		c, err := d.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return closingConn{c, &dead}, nil
	})
	p := overTCP(t, says(streamHead+chunk(completed)+lastChunk))
	if got := run(t.Context(), cl, to(p.listener.Addr().String())); got.failed != nil {
		t.Fatal(got.failed)
	}
	dead.Store(true)
	got := run(t.Context(), cl, to(p.listener.Addr().String()))
	expect(t, got.failed, classify.Connect, false)
	if requests, _ := p.got(); len(requests) != 1 {
		t.Errorf("the peer saw %d requests", len(requests))
	}
}

// TestNoResend: a reused connection that ends after the request was written is
// a possible execution, and the transport must not send it once more, not even
// a GET.
func TestNoResend(t *testing.T) {
	for _, method := range []string{http.MethodPost, http.MethodGet} {
		t.Run(method, func(t *testing.T) {
			p := overTCP(t, func(c net.Conn, n int) {
				if n == 1 {
					write(c, jsonAnswer("200 OK", `{"id":"x"}`))
				} else {
					_ = c.Close()
				}
			})
			cl := client(t, nil)
			call := whole(p.listener.Addr().String())
			if call.Method = method; method == http.MethodGet {
				call.Body = nil
			}
			if _, failed := cl.Do(t.Context(), call); failed != nil {
				t.Fatal(failed)
			}
			_, failed := cl.Do(t.Context(), call)
			expect(t, failed, classify.ReadError, true)
			p.stop()
			if requests, _ := p.got(); len(requests) != 2 {
				t.Errorf("the peer saw %d requests, want 2", len(requests))
			}
			if n := p.conns.Load(); n != 1 {
				t.Errorf("%d connections were made", n)
			}
		})
	}
}

func TestPrivateAddresses(t *testing.T) {
	p := overTCP(t, says(streamHead+chunk(completed)+lastChunk))
	address := p.listener.Addr().String()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{address, "localhost:" + port} {
		call := to(host)
		call.Channel.AllowPrivate = false
		got := run(t.Context(), client(t, nil), call)
		expect(t, got.failed, classify.Connect, false)
		if got.failed != nil && !strings.Contains(got.failed.Error(), "allow_private") {
			t.Errorf("the log does not say what to do: %v", got.failed)
		}
	}
	if n := p.conns.Load(); n != 0 {
		t.Errorf("%d connections were made", n)
	}
	// The same channel, allowed after a reload.
	if got := run(t.Context(), client(t, nil), to(address)); got.failed != nil {
		t.Error(got.failed)
	}
}

func TestCheckPublic(t *testing.T) {
	public := []string{"8.8.8.8:443", "172.15.0.1:1", "172.32.0.1:1", "100.63.0.1:1", "100.128.0.1:1", "[2606:4700::1]:443", "[::ffff:8.8.8.8]:443"}
	private := []string{"127.0.0.1:1", "127.9.9.9:1", "10.0.0.1:1", "172.16.0.1:1", "192.168.1.1:1", "169.254.169.254:80", "100.64.0.1:1", "0.0.0.0:1", "0.1.2.3:1",
		"224.0.0.1:1", "255.255.255.255:1", "192.0.0.1:1", "[::1]:1", "[::]:1", "[fe80::1]:1", "[fe80::1%eth0]:1", "[fd00::1]:1", "[fc00::1]:1", "[::ffff:127.0.0.1]:1",
		"[::ffff:10.0.0.1]:1", "[64:ff9b::7f00:1]:1", "[ff02::1]:1", "name:80", "", "10.0.0.1"}
	for _, a := range public {
		if err := upstream.CheckPublic(a); err != nil {
			t.Errorf("%s is refused", a)
		}
	}
	for _, a := range private {
		if upstream.CheckPublic(a) == nil {
			t.Errorf("%s is let through", a)
		}
	}
}

// TestNothingStaysBehind: a closed attempt, good, cut, refused or cancelled,
// leaves no goroutine.
func TestNothingStaysBehind(t *testing.T) {
	before := goleak.IgnoreCurrent()
	p := overTCP(t, func(c net.Conn, n int) {
		switch n % 5 {
		case 0:
			write(c, streamHead+chunk(created+delta+completed)+lastChunk)
		case 1:
			write(c, streamHead+chunk(created))
			resets(c)
		case 2:
			write(c, jsonAnswer("500 Oh", "{}"))
		case 3:
			write(c, streamHead+chunk(delta)) // then silence: the caller gives up
		case 4:
			write(c, jsonAnswer("200 OK", `{"id":"x"}`))
		}
	})
	cl := upstream.New(nil, "rubicon/test")
	for n := range 10 {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		call := to(p.listener.Addr().String())
		switch n % 5 {
		case 2:
			call.Timers.Idle = 20 * time.Millisecond
		case 3:
			call.Stream = false
		}
		if call.Stream {
			run(ctx, cl, call)
		} else {
			_, _ = cl.Do(ctx, call)
		}
		cancel()
	}
	cl.Close()
	p.stop()
	goleak.VerifyNone(t, before)
}

func TestCausesAreKept(t *testing.T) {
	f := (&upstream.Failure{Failure: classify.GatewayFault}).WithCause(io.ErrClosedPipe)
	if !errors.Is(f, io.ErrClosedPipe) || f.Error() != "gateway_fault: "+io.ErrClosedPipe.Error() {
		t.Error(f)
	}
	if got := (&upstream.Failure{Failure: classify.Connect}).Error(); got != "connect" {
		t.Error(got)
	}
}

func TestRefuse(t *testing.T) {
	for body, want := range map[string]classify.Failure{
		`{}`: classify.BadAnswer,
		`{"error":{"message":"x","code":"server_error"}}`:            classify.BadAnswer,
		`{"error":{"message":"x","code":"context_length_exceeded"}}`: classify.Deterministic,
	} {
		got := upstream.NoAnswer(whole("x"), &upstream.Answer{Status: 200, Body: []byte(body), RequestID: "up-1"})
		if diff := cmp.Diff(want, got.Failure); diff != "" || !got.Executed || got.RequestID != "up-1" {
			t.Errorf("%s: %+v", body, got)
		}
	}
}
