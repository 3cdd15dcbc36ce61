package scenario

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// socket is one client's WebSocket. Its reader takes whatever comes, whether a
// turn is waited for or not, so that a frame too many shows.
type socket struct {
	conn *websocket.Conn
	done chan struct{} // the reader ended

	mu     sync.Mutex
	turns  []*turnOf // that wait for their end, in order
	last   *turnOf
	closed string // code and reason, once it is closed
}

// turnOf is a create and where its frames go.
type turnOf struct {
	x     *exchange
	ended chan string // how
	leave func()
}

// overSocket makes the call as a turn on a WebSocket.
func (st *installation) overSocket(ctx context.Context, x *exchange, leave func()) {
	x.path, x.ended = "GET /v1/responses (WebSocket)", endedNone
	s := st.connect(ctx, x)
	if s == nil {
		return
	}
	t := &turnOf{x: x, ended: make(chan string, 1), leave: leave}
	s.await(t)
	kind := websocket.MessageText
	if x.req.Binary {
		kind = websocket.MessageBinary
	}
	if err := s.conn.Write(ctx, kind, x.body); err != nil {
		x.ended = endedBroken
		return
	}
	select {
	case x.ended = <-t.ended:
	case <-ctx.Done():
		_ = s.conn.CloseNow()
		<-s.done
	}
}

// connect opens the request's connection, or takes the one that it shares. A
// refused upgrade is the exchange's answer.
func (st *installation) connect(ctx context.Context, x *exchange) *socket {
	name := x.req.Socket
	if name == "" {
		name = "of request " + x.req.Name
	}
	if s := st.sockets[name]; s != nil {
		return s
	}
	client := &http.Client{Transport: &http.Transport{DialContext: st.net.Dial}}
	conn, resp, err := websocket.Dial(ctx, "ws://"+clientAddr+"/v1/responses", &websocket.DialOptions{HTTPClient: client, HTTPHeader: st.headers(x.req)})
	if err != nil {
		if resp != nil {
			x.status, x.header, x.id, x.ended = resp.StatusCode, resp.Header, resp.Header.Get("X-Request-Id"), endedWhole
			x.whole, _ = io.ReadAll(resp.Body)
		}
		return nil
	}
	conn.SetReadLimit(-1)
	s := &socket{conn: conn, done: make(chan struct{})}
	if st.sockets == nil {
		st.sockets = map[string]*socket{}
	}
	st.sockets[name] = s
	go s.read(st.ctx)
	return s
}

func (s *socket) await(t *turnOf) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns, s.last = append(s.turns, t), t
}

func (s *socket) read(ctx context.Context) {
	defer close(s.done)
	for {
		_, data, err := s.conn.Read(ctx)
		if err != nil {
			s.over(err)
			return
		}
		s.frame(string(data))
	}
}

// frame gives a frame to the turn that it belongs to: the first that waits,
// but refusals of a full queue to the last.
func (s *socket) frame(data string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := event{at: time.Now(), data: data}
	t := s.last
	if len(s.turns) > 0 {
		t = s.turns[0]
	}
	kind := e.kind()
	if kind == "error" && codeOf(data) == "response_already_active" {
		t = s.last
	}
	t.x.events = append(t.x.events, e)
	if l := t.x.req.Leave; l != nil && l.Events > 0 && len(t.x.events) == l.Events {
		t.leave()
		return
	}
	if _, ends := endings[kind]; ends || kind == "error" {
		s.turns = slices.DeleteFunc(s.turns, func(x *turnOf) bool { return x == t })
		t.ended <- endedWhole
	}
}

func codeOf(data string) string {
	var v struct{ Error struct{ Code string } }
	_ = json.Unmarshal([]byte(data), &v)
	return v.Error.Code
}

// over is the end of the connection; turns that wait for theirs never get it.
func (s *socket) over(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = "cut"
	if code := websocket.CloseStatus(err); code >= 0 {
		s.closed = strconv.Itoa(int(code))
	}
	for _, t := range s.turns {
		t.x.closed = s.closed
		t.ended <- endedBroken
	}
	s.turns = nil
	if s.last != nil && s.last.x.req.Socket != "" {
		s.last.x.closed = s.closed
	}
}

// closeSockets hangs up what is still open.
func (st *installation) closeSockets() {
	for _, s := range st.sockets {
		_ = s.conn.CloseNow()
		<-s.done
	}
}
