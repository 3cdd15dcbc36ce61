package stand

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Raw is an upstream that answers byte for byte what its handler writes.
type Raw struct {
	// Handle answers one request. It returns true when the connection can take
	// another one.
	Handle func(c *Exchange) bool
	Calls  atomic.Int64
}

// Exchange is one request at a Raw upstream.
type Exchange struct {
	net.Conn
	Request *http.Request
	Body    []byte
	N       int64 // number of the call, from 1
}

// Serve serves until ctx ends.
func (r *Raw) Serve(ctx context.Context, l net.Listener) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	defer context.AfterFunc(ctx, func() { l.Close() })()
	for {
		conn, err := l.Accept()
		if err != nil {
			return nil
		}
		wg.Go(func() {
			defer conn.Close()
			defer context.AfterFunc(ctx, func() { conn.Close() })()
			r.serve(conn)
		})
	}
}

func (r *Raw) serve(conn net.Conn) {
	in := bufio.NewReader(conn)
	for {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		if !r.Handle(&Exchange{Conn: conn, Request: req, Body: body, N: r.Calls.Add(1)}) {
			return
		}
	}
}

// Head writes a chunked answer's head. Writing fails only when the peer left,
// which the test learns from Gone.
func (c *Exchange) Head(status int, contentType string) {
	fmt.Fprintf(c.Conn, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nX-Request-Id: up_%d\r\nTransfer-Encoding: chunked\r\n\r\n",
		status, http.StatusText(status), contentType, c.N)
}

// Stream writes the head of an event stream.
func (c *Exchange) Stream() { c.Head(200, "text/event-stream") }

// Chunk writes one chunk.
func (c *Exchange) Chunk(s string) error {
	if s == "" {
		return nil
	}
	b := append(fmt.Appendf(nil, "%x\r\n", len(s)), s...)
	_, err := c.Conn.Write(append(b, "\r\n"...))
	return err
}

// End writes the last chunk; the connection stays usable.
func (c *Exchange) End() bool {
	_, err := io.WriteString(c.Conn, "0\r\n\r\n")
	return err == nil
}

// Cut ends the connection in the middle of the answer: with a reset, or with a
// FIN.
func (c *Exchange) Cut(reset bool) bool {
	if tcp, ok := c.Conn.(*net.TCPConn); ok && reset {
		_ = tcp.SetLinger(0)
	}
	return false
}

// Whole writes an answer with its length.
func (c *Exchange) Whole(status int, contentType, body string) bool {
	_, err := fmt.Fprintf(c.Conn, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
		status, http.StatusText(status), contentType, len(body), body)
	return err == nil
}

// Gone waits until the peer has left; false if it did not in time.
func (c *Exchange) Gone(d time.Duration) bool {
	_ = c.SetReadDeadline(time.Now().Add(d))
	var b [1]byte
	_, err := c.Conn.Read(b[:])
	timeout, ok := err.(net.Error)
	return err != nil && (!ok || !timeout.Timeout())
}
