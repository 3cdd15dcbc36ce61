package wsapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"rubicon/internal/books/journal"
	"rubicon/internal/lab/sim"
	"rubicon/test/stand"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// gateway is YAML: one model on two channels of different hosts.
const gateway = `
channels:
  - {name: ch-a, protocol: responses, base_url: "{a}", allow_private: true, credentials: [{name: k, key: "{key}"}]}
  - {name: ch-b, protocol: responses, base_url: "{b}", allow_private: true, credentials: [{name: k, key: "{key}"}]}
models:
  - name: m
    price: {input: "10", output: "50"}
    hold_output_tokens: 100
    channels:
      - {channel: ch-a, upstream_model: up-a, priority: 0, cost: {input: "5", output: "25"}}
      - {channel: ch-b, upstream_model: up-b, priority: 1, cost: {input: "5", output: "25"}}
`

const paid = "0.000350000" // 10 in, 5 out

// hello is a good answer.
func hello() sim.Script { return sim.Play(sim.Answer("Hello", sim.Tokens(10, 0, 5))) }

// installation is a gateway with its two providers.
type installation struct {
	*stand.Gateway
	t    *testing.T
	a, b *sim.Provider
}

// start runs a gateway whose first channel plays a, the second b.
func start(t *testing.T, extra string, a, b sim.Script) *installation {
	t.Helper()
	w := &installation{t: t,
		a: sim.New(sim.Options{Seed: "a", Scripts: map[string]sim.Script{"up-a": a}}),
		b: sim.New(sim.Options{Seed: "b", Scripts: map[string]sim.Script{"up-b": b}})}
	if !strings.Contains(extra, "replay:") {
		extra += "\nreplay: {default_store: false}"
	}
	w.Gateway = stand.Start(t, stand.Options{Config: gateway + extra, Peers: map[string]stand.Peer{"a": w.a, "b": w.b}})
	return w
}

// frame is what a client reads.
type frame struct {
	Type    string
	Status  int
	Headers map[string]string
	Code    string // flat
	Error   struct {
		Message, Type, Code, Param string
		RequestID                  string `json:"request_id"`
		Retryable, AfterOutput     *bool
		RetryAfter                 *float64 `json:"retry_after"`
	}
	Response struct {
		ID, Status, Model string
		Output            []json.RawMessage
		Error             struct{ Code string }
		Usage             json.RawMessage
	}
	Delta string
	raw   string
}

// client is a WebSocket client of the gateway.
type client struct {
	t    *testing.T
	ws   *websocket.Conn
	resp *http.Response
}

func (w *installation) dial(header ...string) *client {
	w.t.Helper()
	return dialAs(w.t, w.Gateway, w.Default, header...)
}

func dialAs(t *testing.T, s *stand.Gateway, who stand.Customer, header ...string) *client {
	t.Helper()
	ws, resp, err := connect(s, who.Key, header...)
	if err != nil {
		t.Fatalf("upgrading: %v", err)
	}
	t.Cleanup(func() { _ = ws.CloseNow() })
	ws.SetReadLimit(-1)
	return &client{t: t, ws: ws, resp: resp}
}

func connect(s *stand.Gateway, key string, header ...string) (*websocket.Conn, *http.Response, error) {
	h := http.Header{}
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return websocket.Dial(ctx, "ws"+strings.TrimPrefix(s.URL, "http")+"/v1/responses", &websocket.DialOptions{HTTPHeader: h})
}

func (c *client) send(text string) {
	c.t.Helper()
	if err := c.ws.Write(c.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		c.t.Fatalf("sending: %v", err)
	}
}

// create sends a response.create for the model with more members.
func (c *client) create(members string) {
	c.t.Helper()
	if members != "" {
		members = "," + members
	}
	c.send(`{"type":"response.create","model":"m"` + members + `}`)
}

// patience is how long a frame may take; tests with a clock of their own never
// use it up.
const patience = 20 * time.Second

func (c *client) read() (frame, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	typ, b, err := c.ws.Read(ctx)
	if err != nil {
		return frame{}, err
	}
	if typ != websocket.MessageText {
		c.t.Errorf("a frame of type %v", typ)
	}
	return parse(c.t, b), nil
}

func parse(t *testing.T, b []byte) frame {
	f := frame{raw: string(b)}
	if err := json.Unmarshal(b, &f); err != nil {
		t.Errorf("a frame that is no JSON: %s", b)
	}
	return f
}

func (c *client) next() frame {
	c.t.Helper()
	f, err := c.read()
	if err != nil {
		c.t.Fatalf("reading a frame: %v", err)
	}
	return f
}

// turn reads to the end of a turn.
func (c *client) turn() []frame {
	c.t.Helper()
	var all []frame
	for {
		f := c.next()
		all = append(all, f)
		switch f.Type {
		case "response.completed", "response.incomplete", "response.failed", "error":
			return all
		}
	}
}

// good reads a turn that has to end well, and gives its last frame.
func (c *client) good() frame {
	c.t.Helper()
	all := c.turn()
	last := all[len(all)-1]
	if last.Type != "response.completed" {
		c.t.Fatalf("the turn ended with %s", last.raw)
	}
	return last
}

// refused reads one error frame with the code and status.
func (c *client) refused(code string, status int) frame {
	c.t.Helper()
	f := c.next()
	if f.Type != "error" || f.Error.Code != code || f.Status != status {
		c.t.Fatalf("want an error frame %s with status %d, got %s", code, status, f.raw)
	}
	if !strings.HasPrefix(f.Error.RequestID, "req_") || f.Error.Message == "" || f.Error.Type == "" {
		c.t.Errorf("an incomplete error: %s", f.raw)
	}
	return f
}

// closed reads to the close frame; nothing else may come.
func (c *client) closed(want websocket.StatusCode) {
	c.t.Helper()
	f, err := c.read()
	if err == nil {
		c.t.Fatalf("a frame where the connection should close: %s", f.raw)
	}
	if got := websocket.CloseStatus(err); got != want {
		c.t.Fatalf("closed with %v (%v), want %v", got, err, want)
	}
}

func types(all []frame) string {
	var out []string
	for _, f := range all {
		out = append(out, f.Type)
	}
	return strings.Join(out, " ")
}

// last gives the customer's newest record.
func (w *installation) last() journal.Record {
	w.t.Helper()
	var list struct{ Requests []journal.Record }
	w.Operate("GET", "/admin/v1/requests?limit=1", nil, &list)
	if len(list.Requests) != 1 {
		w.t.Fatal("no record")
	}
	return w.Record(list.Requests[0].RequestID)
}

// by gives the customer's record of a response.
func (w *installation) by(responseID string) journal.Record {
	w.t.Helper()
	r := w.Get(w.Default, "/v1/requests?response_id="+responseID)
	var list struct {
		Requests []struct {
			ID string `json:"request_id"`
		}
	}
	if err := json.Unmarshal([]byte(r.Body), &list); err != nil || len(list.Requests) != 1 {
		w.t.Fatalf("looking for %s: %s", responseID, r.Body)
	}
	return w.Record(list.Requests[0].ID)
}
