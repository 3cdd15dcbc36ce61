package idempotency

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"rubicon/internal/store"
	"rubicon/internal/wire/fault"
)

// run is a flight whose writing the test drives.
type run struct {
	next      chan string
	ctx       chan context.Context
	delivered bool
}

func (g *gateway) driven() *run {
	x := &run{next: make(chan string), ctx: make(chan context.Context, 10), delivered: true}
	g.plays(func(ctx context.Context, w http.ResponseWriter) bool {
		x.ctx <- ctx
		for {
			select {
			case s, open := <-x.next:
				if !open {
					return x.delivered
				}
				_, _ = io.WriteString(w, s)
				_ = http.NewResponseController(w).Flush()
			case <-ctx.Done():
				_, _ = io.WriteString(w, "ended: "+context.Cause(ctx).Error())
				return x.delivered
			}
		}
	})
	return x
}

// readingClient collects an answer as it comes.
type readingClient struct {
	done chan got
	mu   sync.Mutex
	text strings.Builder
}

func (g *gateway) open(ctx context.Context, key, body string) *readingClient {
	x := &readingClient{done: make(chan got, 1)}
	go func() {
		resp, err := g.ask(ctx, key, body)
		if err != nil {
			x.done <- got{err: err}
			return
		}
		defer resp.Body.Close()
		for {
			b := make([]byte, 4096)
			n, err := resp.Body.Read(b)
			x.mu.Lock()
			x.text.Write(b[:n])
			x.mu.Unlock()
			if err != nil {
				if err == io.EOF {
					err = nil
				}
				x.done <- got{status: resp.StatusCode, body: x.text.String(), id: resp.Header.Get("X-Request-Id"), replayed: resp.Header.Get(RepeatedHeader) == "true", err: err}
				return
			}
		}
	}()
	return x
}

func (x *readingClient) soFar(t *testing.T, want string) {
	t.Helper()
	within(t, want, func() bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		return x.text.String() == want
	})
}

func TestJoin(t *testing.T) {
	g := start(t)
	x := g.driven()
	first := g.open(t.Context(), "k", "body")
	x.next <- "one "
	first.soFar(t, "one ")
	second := g.open(t.Context(), "k", "body")
	second.soFar(t, "one ") // from the first event, while it runs
	x.next <- "two "
	first.soFar(t, "one two ")
	second.soFar(t, "one two ")
	g.want(g.post("k", "other"), 409, fault.IdempotencyConflict)
	close(x.next)
	a, b := <-first.done, <-second.done
	g.want(a, 200, "one two ")
	g.want(b, 200, "one two ")
	if a.replayed || !b.replayed || a.id != b.id {
		t.Errorf("first %+v, second %+v", a, b)
	}
	g.wantRuns(1)
	g.want(g.post("k", "body"), 200, "one two ")
	g.wantRuns(1)
}

// The first client leaves, another listens: the request goes on for him, until
// he leaves too.
func TestFirstLeaves(t *testing.T) {
	g := start(t)
	x := g.driven()
	ctx, leave := context.WithCancel(t.Context())
	first := g.open(ctx, "k", "body")
	running := <-x.ctx
	x.next <- "one "
	first.soFar(t, "one ")
	ctx2, leave2 := context.WithCancel(t.Context())
	second := g.open(ctx2, "k", "body")
	second.soFar(t, "one ")
	leave()
	if a := <-first.done; a.err == nil {
		t.Errorf("the first client got %+v", a)
	}
	g.listening(1)
	x.next <- "two "
	second.soFar(t, "one two ")
	third := g.open(t.Context(), "k", "body")
	third.soFar(t, "one two ")
	leave2()
	<-second.done
	g.listening(1)
	if running.Err() != nil {
		t.Error("the request was cancelled although somebody listens")
	}
	close(x.next)
	g.want(<-third.done, 200, "one two ")
	g.wantRuns(1)
}

// When nobody is left the request is cancelled, and what it had delivered is
// its answer; a client that comes in between waits for that.
func TestAllLeave(t *testing.T) {
	for name, delivered := range map[string]bool{"delivered": true, "nothing delivered": false} {
		t.Run(name, func(t *testing.T) {
			g := start(t)
			x := g.driven()
			x.delivered = delivered
			ctx, leave := context.WithCancel(t.Context())
			first := g.open(ctx, "k", "body")
			running := <-x.ctx
			x.next <- "one "
			first.soFar(t, "one ")
			leave()
			<-first.done
			<-running.Done()
			g.listening(0)
			if delivered {
				g.want(g.post("k", "body"), 200, "one ended: context canceled")
				g.wantRuns(1)
				return
			}
			second := g.open(t.Context(), "k", "body")
			close(x.next)
			g.want(<-second.done, 200, "")
			g.wantRuns(2)
		})
	}
}

func TestLinger(t *testing.T) {
	g := start(t)
	x := g.driven()
	g.linger.Store(int64(time.Hour))
	ctx, leave := context.WithCancel(t.Context())
	first := g.open(ctx, "k", "body")
	running := <-x.ctx
	x.next <- "one "
	first.soFar(t, "one ")
	leave()
	<-first.done
	g.listening(0)
	x.next <- "two " // it goes on for nobody
	second := g.open(t.Context(), "k", "body")
	second.soFar(t, "one two ")
	if running.Err() != nil {
		t.Error("cancelled although it was to linger")
	}
	g.Stop(errors.New("shutdown"))
	g.want(<-second.done, 200, "one two ended: shutdown")

	x = g.driven()
	g.linger.Store(int64(time.Millisecond))
	ctx, leave = context.WithCancel(t.Context())
	third := g.open(ctx, "k3", "body")
	running = <-x.ctx
	x.next <- "one "
	third.soFar(t, "one ")
	leave()
	<-third.done
	<-running.Done()
	g.want(g.post("k3", "body"), 200, "one ended: context canceled")
}

// An answer over its bound reaches those who read it already, at the pace of
// the slowest; it cannot be joined any more and is not kept, but neither is it
// run again.
func TestTooLong(t *testing.T) {
	g := start(t)
	x := g.driven()
	first := g.open(t.Context(), "k", "body")
	x.next <- "one "
	first.soFar(t, "one ")
	second := g.open(t.Context(), "k", "body")
	second.soFar(t, "one ")
	part := strings.Repeat("x", 3<<20)
	for range 4 {
		x.next <- part
	}
	g.want(g.post("k", "body"), 409, fault.IdempotencyInProgress)
	x.next <- "end"
	close(x.next)
	want := "one " + part + part + part + part + "end"
	g.want(<-first.done, 200, want)
	g.want(<-second.done, 200, want)
	within(t, "the flight is over", func() bool { g.mu.Lock(); defer g.mu.Unlock(); return len(g.flights) == 0 })
	g.want(g.post("k", "body"), 409, fault.IdempotencyConflict)
	g.wantRuns(1)
	if n := g.memory.Load(); n != 0 {
		t.Errorf("%d bytes of logs are counted", n)
	}
}

func TestMemoryBound(t *testing.T) {
	g := start(t)
	x := g.driven()
	g.memory.Store(maxMemory)
	first := g.open(t.Context(), "k", "body")
	x.next <- "one "
	first.soFar(t, "one ")
	g.want(g.post("k", "body"), 409, fault.IdempotencyInProgress)
	close(x.next)
	g.want(<-first.done, 200, "one ")
	within(t, "the flight is over", func() bool { return g.memory.Load() == maxMemory })
}

// TestParallel sends one key from everywhere at once, again and again.
func TestParallel(t *testing.T) {
	g := start(t)
	g.client.Transport.(*http.Transport).MaxIdleConnsPerHost = 100
	g.plays(says(true, "a", "b", strings.Repeat("c", 100_000), "d"))
	want := "ab" + strings.Repeat("c", 100_000) + "d"
	for round := range 5 {
		var wg sync.WaitGroup
		for n := range 60 {
			wg.Go(func() {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if n%3 == 0 { // some leave whenever
					defer time.AfterFunc(time.Duration(n)*50*time.Microsecond, cancel).Stop()
				}
				if x := read(g.ask(ctx, "k"+string(rune('0'+round)), "body")); ctx.Err() == nil && (x.err != nil || x.body != want) {
					t.Errorf("status %d, %d bytes, %v", x.status, len(x.body), x.err)
				}
			})
		}
		wg.Wait()
	}
	g.wantRuns(5)
	within(t, "no memory is held", func() bool { return g.memory.Load() == 0 })
}

func (g *gateway) exec(text string, args ...any) {
	g.t.Helper()
	err := g.DB.Write(g.t.Context(), func(tx *store.Tx) error { _, err := tx.Exec(text, args...); return err })
	if err != nil {
		g.t.Fatal(err)
	}
}

// claimed puts a running request of a node into the database.
func (g *gateway) claimed(node, key, body, request string) {
	d := Digest("/v1/responses", []byte(body))
	g.exec(insertClaim, "cus_1", key, d[:], request, node, g.Now().Add(keepFor).UnixMilli())
}

// charged puts a final record with a charge there.
func (g *gateway) charged(request string, charge int) {
	g.exec(`INSERT INTO requests (request_id, customer, key_id, client_request_id, node, surface, public_model, outcome, response_id, started_at,
		finished_at, charge, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, usage_source, body)
		VALUES (?, 'cus_1', 'key_1', '', 'there', 'chat', 'm', 'partial', '', 1, 2, ?, 0, 0, 0, 0, 'estimated', '{}')`, request, charge)
}

func TestOtherNode(t *testing.T) {
	g := start(t)
	g.plays(says(true, "yes"))
	g.claimed("there", "free", "body", "req_a")
	g.claimed("there", "paid", "body", "req_b")
	g.claimed("there", "alive", "body", "req_c")
	g.charged("req_a", 0)
	g.charged("req_b", 1)
	g.want(g.post("free", "body"), 409, fault.IdempotencyInProgress)
	g.want(g.post("free", "other"), 409, fault.IdempotencyConflict)
	g.exec(`UPDATE idempotency_answers SET node = 'elsewhere' WHERE request_id = 'req_c'`)
	if err := g.ReleaseKeysOf(t.Context(), "there"); err != nil {
		t.Fatal(err)
	}
	g.want(g.post("free", "body"), 200, "yes")
	g.want(g.post("paid", "body"), 409, fault.IdempotencyConflict)
	g.want(g.post("alive", "body"), 409, fault.IdempotencyInProgress)
	g.wantRuns(1)
}

// What this node could not write at its end is found out when it is asked for.
func TestOwnOrphan(t *testing.T) {
	g := start(t)
	g.plays(says(true, "yes"))
	g.claimed("here", "free", "body", "req_a")
	g.claimed("here", "paid", "body", "req_b")
	g.charged("req_b", 1)
	g.want(g.post("free", "another body"), 200, "yes")
	g.want(g.post("paid", "body"), 409, fault.IdempotencyConflict)
	g.wantRuns(1)
}

func TestTidy(t *testing.T) {
	g := start(t)
	g.plays(says(true, strings.Repeat("x", 1000)))
	for n := range 5 {
		g.now.Add(int64(time.Hour))
		g.want(g.post(string(rune('a'+n)), "body"), 200, strings.Repeat("x", 1000))
	}
	if err := g.deleteOldest(t.Context(), 2500); err != nil {
		t.Fatal(err)
	}
	for n := range 5 {
		if n < 3 {
			g.want(g.post(string(rune('a'+n)), "body"), 409, fault.IdempotencyConflict)
		} else {
			g.want(g.post(string(rune('a'+n)), "body"), 200, strings.Repeat("x", 1000))
		}
	}
	g.now.Add(int64(22 * time.Hour)) // a, b and c are past their day
	g.stored.Store(maxStored)
	if err := g.deleteExpired(t.Context()); err != nil {
		t.Fatal(err)
	}
	var rows int
	if err := g.DB.Read(t.Context(), func(q *store.Query) error {
		return q.QueryRow(`SELECT COUNT(*) FROM idempotency_answers`, nil, &rows)
	}); err != nil || rows != 2 {
		t.Errorf("%d rows are left, %v", rows, err)
	}
	g.wantRuns(5)
}

func TestKey(t *testing.T) {
	for _, c := range []struct {
		values []string
		want   string
		bad    bool
	}{
		{nil, "", false},
		{[]string{"abc"}, "abc", false},
		{[]string{"a b~!"}, "a b~!", false},
		{[]string{strings.Repeat("x", 255)}, strings.Repeat("x", 255), false},
		{[]string{strings.Repeat("x", 256)}, "", true},
		{[]string{""}, "", true},
		{[]string{"  "}, "", true},
		{[]string{"a", "a"}, "", true},
		{[]string{"a\tb"}, "", true},
		{[]string{"é"}, "", true},
	} {
		key, f := Key(http.Header{Header: c.values})
		if key != c.want || (f != nil) != c.bad || f != nil && f.Code != fault.InvalidRequest {
			t.Errorf("%q: %q, %v", c.values, key, f)
		}
	}
	if Digest("/a", []byte("b")) == Digest("/a\x00", []byte("b")) || Digest("/a", []byte("b")) == [sha256.Size]byte{} {
		t.Error("digests")
	}
}
