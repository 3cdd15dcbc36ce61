package sim

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// ServeHTTP serves one request on a server that can be hijacked (HTTP/1), and the connection's further ones.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client left while sending
	}
	conn, buf, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "sim: needs HTTP/1: "+err.Error(), http.StatusInternalServerError)
		return
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Time{}) // the server's own timeouts are over
	s := p.session(conn, buf.Reader)
	if s.answer(r, body) {
		s.serve()
	}
}

// Serve accepts connections until ctx ends, then closes them all and returns when every one is done.
func (p *Provider) Serve(ctx context.Context, l net.Listener) error {
	return acceptAll(ctx, l, func(conn net.Conn) {
		p.session(conn, bufio.NewReader(conn)).serve()
		conn.Close()
	})
}

// ServeRefusing accepts connections and resets each at once, until ctx ends.
func ServeRefusing(ctx context.Context, l net.Listener) error {
	return acceptAll(ctx, l, resetConn)
}

// UnreachableAddr gives a loopback address where nobody listens, for dial failures.
func UnreachableAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// acceptAll serves each connection in its own goroutine and waits for all of them.
func acceptAll(ctx context.Context, l net.Listener, serve func(net.Conn)) error {
	var wg sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	stop := context.AfterFunc(ctx, func() {
		l.Close()
		mu.Lock()
		defer mu.Unlock()
		for c := range open {
			c.Close()
		}
	})
	defer wg.Wait()
	defer stop()
	for {
		conn, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return nil
			}
			return fmt.Errorf("sim: accept: %w", err)
		}
		mu.Lock()
		open[conn] = true
		mu.Unlock()
		if ctx.Err() != nil {
			conn.Close() // the closing above may have run before this one was in the map
		}
		wg.Go(func() {
			serve(conn)
			mu.Lock()
			defer mu.Unlock()
			delete(open, conn)
		})
	}
}

// session is one connection.
type session struct {
	p    *Provider
	conn net.Conn
	in   *bufio.Reader
	n    int
}

func (p *Provider) session(conn net.Conn, in *bufio.Reader) *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns++
	return &session{p: p, conn: conn, in: in, n: p.conns}
}

// serve answers requests until the connection ends.
func (s *session) serve() {
	for {
		r, err := http.ReadRequest(s.in)
		if err != nil {
			return
		}
		if strings.EqualFold(r.Header.Get("Expect"), "100-continue") {
			if _, err := io.WriteString(s.conn, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
				return
			}
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || !s.answer(r, body) {
			return
		}
	}
}

// answer plays the answer to one request; true: the connection can take another.
func (s *session) answer(r *http.Request, body []byte) bool {
	q := parseRequest(r, body)
	w := &wire{conn: s.conn, peer: watch(s.conn, s.in), noBody: r.Method == http.MethodHead, closing: wantsClose(r)}
	defer w.peer.stop()
	if answer, ok := s.p.control(q); ok {
		player := &player{q: q, w: w, steps: []Step{answer}, verbatim: true}
		again, _ := player.play()
		return again
	}
	call, steps, total := s.p.begin(q, s.n)
	if steps == nil {
		steps = defaultSteps(q)
	}
	if no := s.p.acct.refusal(q, steps); no != nil {
		steps = no
	}
	player := s.player(q, w, steps, total)
	again, err := player.play()
	problem := strings.Join(player.problems, "; ")
	if err != nil && !errors.Is(err, errCallerLeft) && !errors.Is(err, errEnded) && !errors.Is(err, errClean) {
		problem = err.Error()
	}
	s.p.finish(call, w.sent, errors.Is(err, errCallerLeft), problem)
	return again
}

func (s *session) player(q request, w *wire, steps []Step, total int) *player {
	p := &player{q: q, w: w, steps: steps, requestID: fmt.Sprintf("req_%s%06d", s.p.seed, total)}
	p.collapse = !q.stream && canCollapse(steps)
	p.writer = s.p.writerFor(callContext{
		q: q, ids: &ids{seed: s.p.seed, call: total}, style: &p.style, now: time.Now(), usage: firstUsage(steps),
	})
	return p
}

func (p *Provider) writerFor(c callContext) protocolWriter {
	switch c.q.surface {
	case surfaceResponses:
		return &responsesWriter{callContext: c, acct: p.acct}
	case surfaceChat:
		return &chatWriter{callContext: c}
	case surfaceMessages:
		return &messagesWriter{callContext: c}
	}
	return &otherWriter{callContext: c, acct: p.acct, models: p.modelNames()}
}

// defaultSteps is what happens without a script: the calls beside the protocols are answered, an unknown model is
// refused as a provider does, and probes of the root are answered quietly.
func defaultSteps(q request) []Step {
	switch q.surface {
	case surfaceResponses, surfaceChat, surfaceMessages:
		return []Step{ReplyError(http.StatusNotFound, "model_not_found")}
	case surfaceUnknown:
		if q.tail == "/" {
			return []Step{ReplyBody(http.StatusOK, "", "ok\n")}
		}
		return []Step{ReplyError(http.StatusNotFound, "not_found")}
	}
	return []Step{Answer("", nil)}
}

// firstUsage is the first usage that the steps report.
func firstUsage(steps []Step) *Usage {
	for _, s := range steps {
		if s.Usage != nil {
			return s.Usage
		}
	}
	return nil
}

// wantsClose says whether the peer wants no further request on the connection.
func wantsClose(r *http.Request) bool {
	return r.Close || bytes.EqualFold([]byte(r.Header.Get("Connection")), []byte("close"))
}
