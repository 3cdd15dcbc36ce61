package wsapi

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/coder/websocket"

	"rubicon/internal/wire/protocol"
)

// pair gives a connection without a handler behind it, and its client's socket.
func pair(t *testing.T) (*conn, net.Conn) {
	t.Helper()
	made := make(chan *conn, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		taken := &hijacker{ResponseWriter: w}
		ws, err := websocket.Accept(taken, r, nil)
		if err != nil {
			t.Error(err)
		}
		taken.wire.limit = 30 * time.Second
		made <- &conn{ws: ws, wire: taken.wire, stop: func(err error) { t.Log(err) }}
	}))
	t.Cleanup(s.Close)
	client, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(client, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	c := <-made
	t.Cleanup(func() { _ = c.ws.CloseNow(); _ = client.Close() })
	return c, client
}

func TestAnEventAllocatesNothing(t *testing.T) {
	c, client := pair(t)
	go func() { _, _ = io.Copy(io.Discard, client) }()
	s := &sink{c: c, keep: true, limit: 1 << 20}
	ev := protocol.Event{Class: protocol.Output, Type: "response.output_text.delta", Data: []byte(`{"type":"response.output_text.delta","delta":"word "}`)}
	_ = s.Event(ev)
	if n := testing.AllocsPerRun(1000, func() {
		if err := s.Event(ev); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations per event", n)
	}
}
