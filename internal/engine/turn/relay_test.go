package turn

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"rubicon/internal/books/account"
	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
	"rubicon/internal/books/state"
	"rubicon/internal/config"
	"rubicon/internal/engine/billing"
	"rubicon/internal/engine/meter"
	"rubicon/internal/engine/upstream"
	"rubicon/internal/health"
	"rubicon/internal/health/route"
	"rubicon/internal/money"
	"rubicon/internal/store"
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/ident"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/protocol/chat"
	"rubicon/internal/wire/protocol/messages"
	"rubicon/internal/wire/protocol/responses"
)

// protocolSample is what an upstream says on one surface: before, between and after the
// output events.
type protocolSample struct {
	protocol               protocol.Protocol
	request                string
	opening, event, ending string
}

var protocolSamples = map[string]protocolSample{
	"responses": {responses.Protocol(), `{"model":"m","stream":true,"store":false,"input":"Hi"}`,
		"event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"resp_1\",\"status\":\"in_progress\",\"output\":[]}}\n\n",
		"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":4,\"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,\"delta\":\" word\",\"logprobs\":[],\"obfuscation\":\"aKq3bd81\"}\n\n",
		"event: response.completed\ndata: {\"type\":\"response.completed\",\"sequence_number\":9,\"response\":{\"id\":\"resp_1\",\"status\":\"completed\",\"output\":[],\"usage\":{\"input_tokens\":10,\"output_tokens\":5,\"total_tokens\":15}}}\n\n"},
	"chat": {chat.Protocol(), `{"model":"m","stream":true,"messages":[]}`,
		"data: {\"id\":\"chatcmpl-1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}]}\n\n",
		"data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"},\"logprobs\":null,\"finish_reason\":null}],\"usage\":null}\n\n",
		"data: {\"id\":\"chatcmpl-1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"},
	"messages": {messages.Protocol(), `{"model":"m","stream":true,"max_tokens":9,"messages":[]}`,
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"content\":[],\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}}\n\n",
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" word\"}}\n\n",
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":5}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"},
}

// upstreamConn is an upstream connection that says a prepared answer to every request:
// many events arrive together, as they do behind a fast network, or each alone,
// as a model sends them.
type upstreamConn struct {
	answer, rest string
	alone        bool
	asked        chan struct{}
	closed       chan struct{}
	end          sync.Once
}

func newFeed(answer string, alone bool) *upstreamConn {
	return &upstreamConn{answer: answer, alone: alone, asked: make(chan struct{}, 1), closed: make(chan struct{})}
}

func (f *upstreamConn) Read(p []byte) (int, error) {
	if f.rest == "" {
		select {
		case <-f.asked:
			f.rest = f.answer
		case <-f.closed:
			return 0, io.EOF
		}
	}
	n := min(len(p), len(f.rest))
	if f.alone {
		if end := strings.Index(f.rest[:n], "\n\n"); end >= 0 {
			n = end + 2
		}
	}
	n = copy(p, f.rest[:n])
	f.rest = f.rest[n:]
	return n, nil
}

// Write takes a request, which is small enough to come in one piece.
func (f *upstreamConn) Write(p []byte) (int, error) {
	f.asked <- struct{}{}
	return len(p), nil
}

func (f *upstreamConn) Close() error                     { f.end.Do(func() { close(f.closed) }); return nil }
func (f *upstreamConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (f *upstreamConn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (f *upstreamConn) SetDeadline(time.Time) error      { return nil }
func (f *upstreamConn) SetReadDeadline(time.Time) error  { return nil }
func (f *upstreamConn) SetWriteDeadline(time.Time) error { return nil }

// countingSink is a sink that accepts everything, counts events and calls a function at
// given counts.
type countingSink struct {
	events, bytes int
	at            map[int]func()
}

func (d *countingSink) Begin(string, *fault.Error) {}
func (d *countingSink) Event(ev protocol.Event) error {
	d.events++
	d.bytes += len(ev.Raw)
	if f := d.at[d.events]; f != nil {
		f()
	}
	return nil
}
func (d *countingSink) Flush() error                  { return nil }
func (d *countingSink) KeepAlive() error              { return nil }
func (d *countingSink) Answer(*upstream.Answer) error { return nil }
func (d *countingSink) Fail(ShownFailure) error       { return nil }
func (d *countingSink) ErrorAtOnce() bool             { return true }

// relayBench is an engine whose upstream says a speech of so many events.
type relayBench struct {
	engine *Engine
	speech protocolSample
	who    account.Principal
	ids    *ident.Source
	events int
	answer string
	alone  bool
	db     *store.DB
	dialed func()
	// outcome that every run must have; completed unless given.
	outcome journal.Outcome

	request *Request // the last one
}

func newRelay(tb testing.TB, surface string, events int, alone bool) *relayBench {
	tb.Helper()
	r := &relayBench{speech: protocolSamples[surface], events: events, alone: alone}
	body := r.speech.opening + strings.Repeat(r.speech.event, events) + r.speech.ending
	r.answer = fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	cfg, err := config.Parse([]byte(`admin: {token: relay-test-token}
channels: [{name: up, protocol: `+surface+`, base_url: "http://up.example/v1", credentials: [{name: k, key: key}]}]
models: [{name: m, price: {input: "10", output: "50"}, channels: [{channel: up}]}]
`), os.LookupEnv)
	if err != nil {
		tb.Fatal(err)
	}
	r.open(tb, cfg)
	return r
}

func (r *relayBench) open(tb testing.TB, cfg *config.Config) {
	tb.Helper()
	db, err := store.Open(tb.Context(), "sqlite::memory:", store.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() })
	r.db = db
	if err := db.Migrate(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	r.ids = ident.New(strings.NewReader(strings.Repeat("relay", 1<<20)), time.Now)
	books, states := ledger.New(db, r.ids, time.Now), state.New(db, time.Now)
	if _, err := books.TopUp(tb.Context(), ledger.TopUpArgs{Customer: "cus_1", Amount: money.Nano(1_000_000_000_000), Reason: "test", Actor: "test"}); err != nil {
		tb.Fatal(err)
	}
	registry := health.New(health.Options{Now: time.Now})
	registry.Configure(cfg)
	dial := func(context.Context, string, string) (net.Conn, error) {
		if r.dialed != nil {
			r.dialed()
		}
		return newFeed(r.answer, r.alone), nil
	}
	client := upstream.New(dial, "test")
	tb.Cleanup(client.Close)
	r.who.Customer.ID, r.who.Key.ID = "cus_1", "key_1"
	r.engine = &Engine{Config: func() *config.Config { return cfg }, Health: registry, Upstream: client,
		Bookkeeper: meter.NewBookkeeper(db, books, journal.New(db, time.Now), states, time.Now), States: states, Learner: billing.NewLearner(),
		Choose: route.Choose, Random: func() float64 { return 0.5 }, Log: slog.New(slog.DiscardHandler), Node: func() string { return "test" }}
}

// run serves one request.
func (r *relayBench) run(tb testing.TB, sink Sink) {
	tb.Helper()
	p := r.speech.protocol
	parsed, f := p.ParseRequest([]byte(r.speech.request))
	if f != nil {
		tb.Fatal(f)
	}
	r.request = &Request{ID: r.ids.ID("req"), Principal: r.who, Surface: journal.SurfaceResponsesHTTP, Protocol: &p,
		Parsed: parsed, Body: []byte(r.speech.request), Received: time.Now()}
	if outcome := r.engine.Run(tb.Context(), r.request, sink).Outcome; outcome != r.wants() {
		tb.Fatalf("outcome %s", outcome)
	}
}

func (r *relayBench) wants() journal.Outcome {
	if r.outcome != "" {
		return r.outcome
	}
	return journal.OutcomeCompleted
}

// In the steady state an event costs no allocation, on no surface, whether
// events come alone or many together.
func TestRelayAllocatesNothing(t *testing.T) {
	const from, to = 1_000, 11_000
	for surface := range protocolSamples {
		for _, alone := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/alone=%t", surface, alone), func(t *testing.T) {
				r := newRelay(t, surface, to+10, alone)
				var before, after runtime.MemStats
				d := &countingSink{at: map[int]func(){
					from: func() { runtime.ReadMemStats(&before) },
					to:   func() { runtime.ReadMemStats(&after) },
				}}
				r.run(t, d)
				if d.events < to {
					t.Fatalf("%d events", d.events)
				}
				// A background timer or two may allocate; an event must not.
				if n := after.Mallocs - before.Mallocs; n > (to-from)/200 {
					t.Errorf("%d allocations for %d events", n, to-from)
				}
			})
		}
	}
}

// Once output was handed over, nothing runs again, and the request's body is released:
// an agent's context can be megabytes, and its stream can take minutes.
func TestTheBodyOfADeliveredRequestIsReleased(t *testing.T) {
	for surface := range protocolSamples {
		t.Run(surface, func(t *testing.T) {
			r := newRelay(t, surface, 5, true)
			var held, output bool
			r.run(t, &countingSink{at: map[int]func(){
				1: func() { held = r.request.Body != nil }, // the first lifecycle event goes out with the first output
				4: func() { output = r.request.Body != nil },
			}})
			if !held || output {
				t.Errorf("the body is there at the first event: %t, after output: %t", held, output)
			}
		})
	}
}

// BenchmarkRelay is one stream through the whole engine, hold and settlement
// included, between an upstream and a client in memory. An op is an event.
func BenchmarkRelay(b *testing.B) {
	for _, surface := range []string{"responses", "chat", "messages"} {
		b.Run(surface, func(b *testing.B) {
			r := newRelay(b, surface, max(b.N, 1), true)
			b.SetBytes(int64(len(r.speech.event)))
			b.ReportAllocs()
			b.ResetTimer()
			r.run(b, &countingSink{})
		})
	}
}

// BenchmarkTurn is a short request as a whole: an op is a request with ten
// events.
func BenchmarkTurn(b *testing.B) {
	r := newRelay(b, "responses", 10, true)
	b.ReportAllocs()
	for b.Loop() {
		r.run(b, &countingSink{})
	}
}
