package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"rubicon/internal/config"
	"rubicon/internal/lab/memnet"
)

// world is a whole gateway over memory with its upstreams, inside a bubble of
// testing/synctest.
type world struct {
	t      *testing.T
	net    *memnet.Network
	file   string
	hangup chan os.Signal
	log    *lockedText
	http   *http.Client
	key    string

	app  *App
	stop func() // ends the gateway and waits for it
}

const adminToken = "canary-admin-token"

// lockedText is a log that may be read while it is written.
type lockedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedText) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// newWorld makes a world; what is put into it ends with the test.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, net: memnet.New(), file: filepath.Join(t.TempDir(), "rubicon.yaml"), hangup: make(chan os.Signal, 1), log: &lockedText{}}
	transport := &http.Transport{DialContext: w.net.Dial, MaxIdleConnsPerHost: 64, DisableCompression: true}
	w.http = &http.Client{Transport: transport}
	t.Cleanup(func() {
		if w.stop != nil {
			w.stop()
		}
		transport.CloseIdleConnections()
		if strings.Contains(w.log.String(), "canary") {
			t.Error("a secret is in the log")
		}
	})
	return w
}

// upstream serves h at host, port 80.
func (w *world) upstream(host string, h http.Handler) {
	w.t.Helper()
	l, err := w.net.Listen(host + ":80")
	if err != nil {
		w.t.Fatal(err)
	}
	srv, done := &http.Server{Handler: h}, make(chan struct{})
	go func() { _ = srv.Serve(l); close(done) }()
	w.t.Cleanup(func() { _ = srv.Close(); <-done })
}

// configure writes the configuration; what every test needs is in front.
func (w *world) configure(text string) {
	w.t.Helper()
	head := fmt.Sprintf("listen: 127.0.0.1:8080\nadmin: {listen: \"127.0.0.1:8081\", token: %s}\nstore: {url: \"sqlite:%s\"}\n",
		adminToken, filepath.Join(filepath.Dir(w.file), "r.db"))
	if err := os.WriteFile(w.file, []byte(head+text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) load() (*config.Config, []string, error) { return config.LoadFiles(w.file, nil) }

// start runs the gateway on what configure wrote.
func (w *world) start() {
	w.t.Helper()
	cfg, files, err := w.load()
	if err != nil {
		w.t.Fatal(err)
	}
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(1, 2))
	w.app, err = New(w.t.Context(), cfg, Options{Version: "test", Log: slog.New(slog.NewTextHandler(w.log, nil)), Dial: w.net.Dial,
		Listen: func(_, addr string) (net.Listener, error) { return w.net.Listen(addr) },
		Random: func() float64 { mu.Lock(); defer mu.Unlock(); return random.Float64() },
		Source: Source{Load: w.load, Files: files, Hangup: w.hangup}})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.app.Run(ctx) }()
	w.stop = func() {
		w.stop = nil
		w.http.CloseIdleConnections()
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	}
}

// customer makes a customer with credit and keeps its key.
func (w *world) customer() string {
	w.t.Helper()
	_, made := w.admin("POST", "/admin/v1/customers", map[string]any{"name": "anna"})
	id := made["id"].(string)
	_, key := w.admin("POST", "/admin/v1/customers/"+id+"/keys", map[string]any{"name": "k"})
	w.admin("POST", "/admin/v1/customers/"+id+"/credits", map[string]any{"amount": "100000", "reason": "test"})
	w.key = key["key"].(string)
	return id
}

// admin calls the admin API.
func (w *world) admin(method, path string, in any) (int, map[string]any) {
	w.t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		w.t.Fatal(err)
	}
	req, _ := http.NewRequest(method, "http://127.0.0.1:8081"+path, bytes.NewReader(body))
	req.Header.Set("Authorization", "Bearer "+adminToken)
	res, err := w.http.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	raw, _ := io.ReadAll(res.Body)
	var out map[string]any
	if json.Unmarshal(raw, &out) != nil {
		out = map[string]any{"text": string(raw)}
	}
	return res.StatusCode, out
}

// metric reads one line of /metrics, "" if there is none.
func (w *world) metric(series string) string {
	w.t.Helper()
	_, out := w.admin("GET", "/metrics", nil)
	for line := range strings.SplitSeq(fmt.Sprint(out["text"]), "\n") {
		if value, found := strings.CutPrefix(line, series+" "); found {
			return value
		}
	}
	return ""
}

// channel reads how a channel stands for the model m.
func (w *world) channel(name string) map[string]any {
	w.t.Helper()
	_, out := w.admin("GET", "/admin/v1/channels", nil)
	for _, c := range out["channels"].([]any) {
		if c := c.(map[string]any); c["channel"] == name {
			return c
		}
	}
	w.t.Fatalf("no channel %s", name)
	return nil
}

// reply is what a client got.
type reply struct {
	status int
	header http.Header
	body   string
	err    error
}

// ok tells whether the answer came whole.
func (r reply) ok() bool {
	return r.err == nil && r.status == 200 && strings.Contains(r.body, "response.completed")
}

// ask sends a streaming request for model m that may be run again.
func (w *world) ask(ctx context.Context) reply {
	return w.send(ctx, `{"model":"m","input":"hi","stream":true,"store":false}`)
}

func (w *world) send(ctx context.Context, body string) reply {
	req, _ := http.NewRequestWithContext(ctx, "POST", "http://127.0.0.1:8080/v1/responses", strings.NewReader(body))
	req.Header.Set("Authorization", "Bearer "+w.key)
	res, err := w.http.Do(req)
	if err != nil {
		return reply{err: err}
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	return reply{status: res.StatusCode, header: res.Header, body: string(raw), err: err}
}

// abort begins a streaming request and leaves once the answer began.
func (w *world) abort(ctx context.Context) {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	req, _ := http.NewRequestWithContext(ctx, "POST", "http://127.0.0.1:8080/v1/responses", strings.NewReader(`{"model":"m","input":"hi","stream":true,"store":false}`))
	req.Header.Set("Authorization", "Bearer "+w.key)
	res, err := w.http.Do(req)
	if err != nil {
		return
	}
	_, _ = bufio.NewReader(res.Body).ReadString('\n')
	leave()
	_ = res.Body.Close()
}

// frames of a Responses stream.
const (
	created   = `{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","output":[]}}`
	delta     = `{"type":"response.output_text.delta","sequence_number":1,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"Hello"}`
	completed = `{"type":"response.completed","sequence_number":2,"response":{"id":"resp_1","object":"response","status":"completed","output":[{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hello"}]}],"usage":{"input_tokens":10,"output_tokens":5,"total_tokens":15}}}`
	shed      = `{"type":"response.failed","sequence_number":1,"response":{"id":"resp_1","object":"response","status":"failed","output":[],"error":{"code":"server_is_overloaded","message":"Overloaded."}}}`
)

// stream writes events, each after a pause.
func stream(w http.ResponseWriter, pause time.Duration, events ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		time.Sleep(pause)
		typ, _, _ := strings.Cut(strings.TrimPrefix(e, `{"type":"`), `"`)
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", typ, e)
		_ = http.NewResponseController(w).Flush()
	}
}

// good answers well.
func good(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	stream(w, 0, created, delta, completed)
}

// refuse answers with a status and an error body.
func refuse(w http.ResponseWriter, status int, typ, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"error":{"message":"no","type":%q,"code":%q}}`, typ, code)
}

// counted is a handler that counts the calls of customers' requests.
type counted struct {
	mu    sync.Mutex
	calls int
	do    http.HandlerFunc
}

func (c *counted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == "POST" {
		c.mu.Lock()
		c.calls++
		c.mu.Unlock()
	}
	c.do(w, r)
}

func (c *counted) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls
}

// cooled waits until the default cooldown is over.
func cooled(t *testing.T, w *world) {
	t.Helper()
	time.Sleep(w.app.Config().Cooldown.Default + time.Second)
}
