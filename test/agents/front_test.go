package agents

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// countingProxy stands before a server and notes what agents ask of it and get; every
// byte passes as it is.
type countingProxy struct {
	to string
	l  net.Listener
	wg sync.WaitGroup

	mu       sync.Mutex
	requests []*asked
}

// requests is one request, or one response.create on a socket.
type asked struct {
	Method, Path string
	Status       int // 0: none came; of a create always
	At           time.Time
	Create       bool // a frame on a socket
	Continued    bool // with previous_response_id
	Warmup       bool
}

func startFront(t *testing.T, to string) *countingProxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &countingProxy{to: to, l: l}
	f.wg.Go(f.serve)
	t.Cleanup(func() { l.Close(); f.wg.Wait() })
	return f
}

func (f *countingProxy) url() string { return "http://" + f.l.Addr().String() }

// seen gives what was asked so far.
func (f *countingProxy) seen() []asked {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []asked
	for _, a := range f.requests {
		out = append(out, *a)
	}
	return out
}

func (f *countingProxy) add(a asked) *asked {
	f.mu.Lock()
	defer f.mu.Unlock()
	a.At = time.Now()
	f.requests = append(f.requests, &a)
	return &a
}

func (f *countingProxy) serve() {
	for {
		in, err := f.l.Accept()
		if err != nil {
			return
		}
		f.wg.Go(func() { f.relay(in) })
	}
}

// relay passes both directions on and lets readers look at copies of them.
func (f *countingProxy) relay(in net.Conn) {
	defer in.Close()
	out, err := net.Dial("tcp", f.to)
	if err != nil {
		return
	}
	defer out.Close()
	up, upCopy := io.Pipe()
	down, downCopy := io.Pipe()
	open := make(chan *asked, 1024) // requests that wait for their status, more than any agent sends
	var wg sync.WaitGroup
	wg.Go(func() { f.readUp(up, open) })
	wg.Go(func() { f.readDown(down, open) })
	wg.Go(func() { transport(out, in, upCopy) })
	transport(in, out, downCopy)
	in.Close() // whatever way it ended, the agent sees the end too
	wg.Wait()
}

// transport copies until either side ends. A reset stays a reset.
func transport(to, from net.Conn, tee *io.PipeWriter) {
	_, err := io.Copy(to, io.TeeReader(from, tee))
	tee.Close()
	if tcp, ok := to.(*net.TCPConn); ok && err != nil {
		_ = tcp.SetLinger(0)
		_ = tcp.Close()
		return
	}
	_ = to.(*net.TCPConn).CloseWrite()
}

func (f *countingProxy) readUp(r *io.PipeReader, open chan<- *asked) {
	defer drain(r)
	defer close(open)
	b := bufio.NewReader(r)
	for {
		req, err := http.ReadRequest(b)
		if err != nil {
			return
		}
		open <- f.add(asked{Method: req.Method, Path: req.URL.RequestURI()})
		_, _ = io.Copy(io.Discard, req.Body)
		if strings.EqualFold(req.Header.Get("Upgrade"), "websocket") {
			f.readFrames(b)
			return
		}
	}
}

func (f *countingProxy) readDown(r *io.PipeReader, open <-chan *asked) {
	defer drain(r)
	b := bufio.NewReader(r)
	for a := range open {
		resp, err := http.ReadResponse(b, &http.Request{Method: a.Method})
		if err != nil {
			break
		}
		f.mu.Lock()
		a.Status = resp.StatusCode
		f.mu.Unlock()
		if resp.StatusCode == http.StatusSwitchingProtocols {
			break
		}
		_, _ = io.Copy(io.Discard, resp.Body)
	}
}

// readFrames notes the creates of a socket (RFC 6455, frames of a client,
// nothing compressed).
func (f *countingProxy) readFrames(b *bufio.Reader) {
	var message []byte
	for {
		head := make([]byte, 2)
		if _, err := io.ReadFull(b, head); err != nil {
			return
		}
		payload, err := framePayload(b, head[1])
		if err != nil {
			return
		}
		if head[0]&0x0f > 2 {
			continue // control
		}
		if message = append(message, payload...); head[0]&0x80 != 0 {
			f.create(message)
			message = nil
		}
	}
}

func framePayload(b *bufio.Reader, second byte) ([]byte, error) {
	n := uint64(second & 0x7f)
	if extra := map[uint64]int{126: 2, 127: 8}[n]; extra > 0 {
		size := make([]byte, 8)
		if _, err := io.ReadFull(b, size[8-extra:]); err != nil {
			return nil, err
		}
		n = binary.BigEndian.Uint64(size)
	}
	mask := make([]byte, 4)
	if _, err := io.ReadFull(b, mask); err != nil {
		return nil, err
	}
	var payload bytes.Buffer
	if _, err := io.CopyN(&payload, b, int64(n)); err != nil {
		return nil, err
	}
	for i := range payload.Bytes() {
		payload.Bytes()[i] ^= mask[i%4]
	}
	return payload.Bytes(), nil
}

func (f *countingProxy) create(message []byte) {
	var m struct {
		Type     string
		Previous string `json:"previous_response_id"`
		Generate *bool
	}
	if json.Unmarshal(message, &m) == nil && m.Type == "response.create" {
		f.add(asked{Method: "create", Path: "/v1/responses", Create: true, Continued: m.Previous != "", Warmup: m.Generate != nil && !*m.Generate})
	}
}

func drain(r *io.PipeReader) { _, _ = io.Copy(io.Discard, r) }
