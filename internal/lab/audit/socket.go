package audit

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"
)

// linger is how long the client listens behind an ending for what must not come.
const linger = 200 * time.Millisecond

// overSocket sends one response.create on a connection of its own.
func (c *client) overSocket(ctx context.Context, n *notes, body []byte) {
	h := c.o.header()
	h.Del("Content-Type")
	url := "ws" + strings.TrimPrefix(c.o.base(), "http") + paths[Socket]
	conn, resp, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPClient: &http.Client{Transport: c.http}, HTTPHeader: h})
	if resp != nil {
		n.status, n.header = resp.StatusCode, resp.Header
	}
	if err != nil {
		n.end, n.problem = endRefused, err.Error()
		return
	}
	n.status, n.socket = http.StatusOK, true
	conn.SetReadLimit(maxRecord)
	defer conn.CloseNow()
	if err := conn.Write(ctx, websocket.MessageText, body); err != nil {
		n.end, n.problem = endBroken, err.Error()
		return
	}
	n.frames(ctx, conn)
}

// frames reads until the ending, and a little longer.
func (n *notes) frames(ctx context.Context, conn *websocket.Conn) {
	for {
		_, data, err := conn.Read(ctx)
		if err != nil {
			if n.ended() && context.Cause(ctx) == errLinger {
				n.end = endClean
				return
			}
			n.end, n.problem = endBroken, err.Error()
			return
		}
		n.keep(data)
		n.event("", data)
		if n.endings() == 1 && n.after == 0 {
			n.frameStatus(data)
			n.total = time.Since(n.began)
			more, cancel := context.WithCancelCause(ctx)
			t := time.AfterFunc(linger, func() { cancel(errLinger) })
			defer t.Stop()
			defer cancel(nil)
			ctx = more
		}
	}
}

// frameStatus takes the status of an error frame for that of the answer, when
// nothing but it came.
func (n *notes) frameStatus(data []byte) {
	var e struct {
		Type   string
		Status int
		Header map[string]string `json:"headers"`
	}
	if json.Unmarshal(data, &e) != nil || e.Type != "error" || n.events > 1 || e.Status == 0 {
		return
	}
	n.status = e.Status
	for k, v := range e.Header {
		n.header.Set(k, v)
	}
}
