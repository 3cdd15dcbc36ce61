package idempotency

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rubicon/internal/store/storetest"
	"rubicon/internal/wire/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(storetest.Each(m)) }

// gateway is a Keeper behind a server whose answers the test scripts.
type gateway struct {
	*Keys
	t      *testing.T
	url    string
	client *http.Client
	runs   atomic.Int64
	script atomic.Pointer[Run]
	linger atomic.Int64
	now    atomic.Int64
}

func start(t *testing.T) *gateway {
	t.Helper()
	db := storetest.Open(t)
	g := &gateway{t: t}
	g.now.Store(time.Date(2026, 7, 30, 12, 0, 0, 0, time.UTC).UnixNano())
	g.Keys = New(Options{DB: db, Node: func() string { return "here" }, Log: slog.New(slog.DiscardHandler),
		Now:                func() time.Time { return time.Unix(0, g.now.Load()) },
		WriteLimit:         func() time.Duration { return 10 * time.Second },
		TimeWithoutClients: func() time.Duration { return time.Duration(g.linger.Load()) }})
	srv := httptest.NewServer(http.HandlerFunc(g.serve))
	g.url, g.client = srv.URL, srv.Client()
	t.Cleanup(srv.Close)
	return g
}

// serve names requests in the order in which they came to run.
func (g *gateway) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c := Call{Customer: r.Header.Get("Customer"), Key: r.Header.Get(Header), RequestID: r.Header.Get("Id"), Digest: Digest(r.URL.Path, body)}
	w.Header().Set("X-Request-Id", c.RequestID)
	w.Header().Set("X-Ratelimit-Remaining-Requests", "1")
	f := g.Serve(w, r, c, func(ctx context.Context, w http.ResponseWriter) bool {
		g.runs.Add(1)
		return (*g.script.Load())(ctx, w)
	})
	if f != nil {
		w.WriteHeader(f.Status)
		_, _ = io.WriteString(w, f.Code)
	}
}

// plays sets what runs.
func (g *gateway) plays(run Run) { g.script.Store(&run) }

func (g *gateway) wantRuns(n int64) {
	g.t.Helper()
	if got := g.runs.Load(); got != n {
		g.t.Errorf("%d requests ran, want %d", got, n)
	}
}

// ids name requests.
var ids atomic.Int64

// ask sends a request of customer c and gives its open answer.
func (g *gateway) ask(ctx context.Context, key, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, "POST", g.url+"/v1/responses", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Customer", "cus_1")
	req.Header.Set(Header, key)
	req.Header.Set("Id", fmt.Sprintf("req_%d", ids.Add(1)))
	return g.client.Do(req)
}

type got struct {
	status      int
	body, id    string
	replayed    bool
	remaining   string
	err         error
	contentType string
}

func read(resp *http.Response, err error) got {
	if err != nil {
		return got{err: err}
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return got{status: resp.StatusCode, body: string(b), id: resp.Header.Get("X-Request-Id"), err: err,
		replayed: resp.Header.Get(RepeatedHeader) == "true", remaining: resp.Header.Get("X-Ratelimit-Remaining-Requests"), contentType: resp.Header.Get("Content-Type")}
}

func (g *gateway) post(key, body string) got { return read(g.ask(g.t.Context(), key, body)) }

func (g *gateway) want(x got, status int, body string) {
	g.t.Helper()
	if x.err != nil || x.status != status || x.body != body {
		g.t.Fatalf("got status %d, %.200q, %v; want %d, %.200q", x.status, x.body, x.err, status, body)
	}
}

// says is an answer in parts, each flushed.
func says(delivered bool, parts ...string) Run {
	return func(_ context.Context, w http.ResponseWriter) bool {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(200)
		rc := http.NewResponseController(w)
		for _, p := range parts {
			_, _ = io.WriteString(w, p)
			_ = rc.Flush()
		}
		return delivered
	}
}

func within(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in time: %s", what)
		}
	}
}

func (g *gateway) listening(n int) {
	g.t.Helper()
	within(g.t, fmt.Sprintf("%d listen", n), func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, f := range g.flights {
			f.mu.Lock()
			defer f.mu.Unlock()
			return f.listening == n
		}
		return n == 0
	})
}

func TestRepeat(t *testing.T) {
	g := start(t)
	g.plays(says(true, "event: a\n\n", "event: b\n\n"))
	first := g.post("k", "body")
	g.want(first, 200, "event: a\n\nevent: b\n\n")
	if first.replayed || first.remaining != "1" {
		t.Errorf("the first answer: %+v", first)
	}
	g.plays(says(true, "something else"))
	again := g.post("k", "body")
	g.want(again, 200, first.body)
	if !again.replayed || again.id != first.id || again.contentType != first.contentType {
		t.Errorf("the repeat: %+v; the first: %+v", again, first)
	}
	g.want(g.post("k", "other"), 409, fault.IdempotencyConflict)
	g.want(g.post("k2", "body"), 200, "something else")
	g.wantRuns(2)
	// A day later the key is new.
	g.now.Add(int64(24 * time.Hour))
	g.want(g.post("k", "other"), 200, "something else")
	g.wantRuns(3)
	g.want(g.post("k2", "body"), 200, "something else")
	g.wantRuns(4)
}

// What delivered nothing frees its key, and so does a panic.
func TestFreed(t *testing.T) {
	g := start(t)
	g.plays(func(_ context.Context, w http.ResponseWriter) bool {
		w.WriteHeader(502)
		_, _ = io.WriteString(w, "no")
		return false
	})
	g.want(g.post("k", "body"), 502, "no")
	g.plays(func(context.Context, http.ResponseWriter) bool { panic(http.ErrAbortHandler) })
	g.client.CloseIdleConnections() // on a used connection net/http repeats what has such a key
	if x := g.post("k", "another"); x.err == nil {
		t.Errorf("a panic was answered: %+v", x)
	}
	g.plays(says(true, "yes"))
	g.want(g.post("k", "a third"), 200, "yes")
	g.wantRuns(3)
}
