package upstream_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rubicon/internal/config"
	"rubicon/internal/engine/upstream"
	"rubicon/internal/lab/memnet"
	"rubicon/internal/wire/classify"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/protocol/chat"
	"rubicon/internal/wire/protocol/messages"
	"rubicon/internal/wire/protocol/responses"
)

// peer is a hand-written upstream: it reads whole requests and gives each to
// its script, which has the bare connection.
type peer struct {
	listener net.Listener
	script   func(c net.Conn, n int)
	conns    atomic.Int32
	running  sync.WaitGroup

	mu       sync.Mutex
	requests []*http.Request
	bodies   [][]byte
	open     []net.Conn
}

// serve runs a peer on a listener; the script is given the connection and the
// number of the request, from 1. A connection whose script returns is read on.
func serve(t testing.TB, l net.Listener, script func(c net.Conn, n int)) *peer {
	t.Helper()
	p := &peer{listener: l, script: script}
	p.running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.conns.Add(1)
			p.mu.Lock()
			p.open = append(p.open, c)
			p.mu.Unlock()
			p.running.Go(func() { p.read(c) })
		}
	})
	t.Cleanup(p.stop)
	return p
}

// overTCP runs a peer on a real socket.
func overTCP(t testing.TB, script func(c net.Conn, n int)) *peer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, l, script)
}

func (p *peer) stop() {
	_ = p.listener.Close()
	p.mu.Lock()
	open := p.open
	p.mu.Unlock()
	for _, c := range open {
		_ = c.Close()
	}
	p.running.Wait()
}

func (p *peer) read(c net.Conn) {
	defer func() { _ = c.Close() }()
	in := bufio.NewReader(c)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		p.mu.Lock()
		p.requests, p.bodies = append(p.requests, r), append(p.bodies, body)
		n := len(p.requests)
		p.mu.Unlock()
		p.script(c, n)
	}
}

func (p *peer) got() (requests []*http.Request, bodies [][]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests, p.bodies
}

// says writes the same bytes to every request.
func says(raw string) func(net.Conn, int) {
	return func(c net.Conn, _ int) { write(c, raw) }
}

// cuts writes and closes.
func cuts(raw string) func(net.Conn, int) {
	return func(c net.Conn, _ int) { write(c, raw); _ = c.Close() }
}

func write(c net.Conn, raw string) { _, _ = io.WriteString(c, raw) }

// resets closes with a TCP reset.
func resets(c net.Conn) {
	if l, ok := c.(interface{ SetLinger(int) error }); ok {
		_ = l.SetLinger(0)
	}
	_ = c.Close()
}

const (
	streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nX-Request-Id: up-1\r\n\r\n"
	created    = "data: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\"}}\n\n"
	working    = "data: {\"type\":\"response.in_progress\"}\n\n"
	delta      = "data: {\"type\":\"response.output_text.delta\",\"delta\":\"hi\"}\n\n"
	completed  = "data: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\"status\":\"completed\",\"output\":[]}}\n\n"
	lastChunk  = "0\r\n\r\n"
)

// chunk frames a piece of a chunked body.
func chunk(s string) string {
	const hex = "0123456789abcdef"
	size := ""
	for n := len(s); n > 0; n >>= 4 {
		size = string(hex[n&15]) + size
	}
	return size + "\r\n" + s + "\r\n"
}

// jsonAnswer is an answer with its length.
func jsonAnswer(status, body string, headers ...string) string {
	out := "HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\n"
	for _, h := range headers {
		out += h + "\r\n"
	}
	n := ""
	for v := len(body); v > 0; v /= 10 {
		n = string(rune('0'+v%10)) + n
	}
	if n == "" {
		n = "0"
	}
	return out + "Content-Length: " + n + "\r\n\r\n" + body
}

// timers are the defaults.
func timers() config.Timers {
	usual := config.Default()
	return usual.Timers
}

// to is a streamed call to an address.
func to(address string) *upstream.Call {
	return &upstream.Call{
		Channel: &config.Channel{Name: "ch", Protocol: config.ProtocolResponses, BaseURL: "http://" + address + "/v1", Auth: config.AuthNone, AllowPrivate: true},
		Path:    "/responses", Body: []byte(`{"model":"m"}`), Stream: true, Timers: timers(), MaxEvent: 1 << 20,
	}
}

func whole(address string) *upstream.Call {
	c := to(address)
	c.Stream = false
	return c
}

func newReader(name string) protocol.Reader {
	switch name {
	case config.ProtocolChat:
		return chat.NewReader(protocol.ReaderOptions{Choices: 1})
	case config.ProtocolMessages:
		return messages.NewReader(protocol.ReaderOptions{})
	}
	return responses.NewReader(protocol.ReaderOptions{Model: "m"})
}

// client makes a client that is closed at the end.
func client(t testing.TB, dial upstream.Dial) *upstream.Client {
	t.Helper()
	c := upstream.New(dial, "rubicon/test")
	t.Cleanup(c.Close)
	return c
}

// outcome is how a call went.
type outcome struct {
	types  string // of the events, by their class
	failed *upstream.Failure
	took   time.Duration
}

// run makes a streamed call and reads to its end.
func run(ctx context.Context, c *upstream.Client, call *upstream.Call) (out outcome) {
	start := time.Now()
	defer func() { out.took = time.Since(start) }()
	s, failed := c.Open(ctx, call, newReader(call.Channel.Protocol))
	if failed != nil {
		out.failed = failed
		return out
	}
	defer s.Close()
	for {
		ev, err := s.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			if !errors.As(err, &out.failed) {
				panic(err)
			}
			return out
		}
		out.types += ev.Class.String()[:1]
	}
}

// expect checks a failure.
func expect(t testing.TB, f *upstream.Failure, want classify.Failure, executed bool) {
	t.Helper()
	switch {
	case f == nil:
		t.Errorf("it went well, want %s", want)
	case f.Failure != want || f.Executed != executed:
		t.Errorf("%s, may have executed %v (%v), want %s, %v", f.Failure, f.Executed, f, want, executed)
	}
}

// bubble is a peer and a client in memory, for virtual time.
func bubble(t testing.TB, script func(c net.Conn, n int)) (*upstream.Client, *peer, string) {
	t.Helper()
	network := memnet.New()
	l, err := network.Listen("up.example:80")
	if err != nil {
		t.Fatal(err)
	}
	p := serve(t, l, script)
	return client(t, network.Dial), p, "up.example"
}
