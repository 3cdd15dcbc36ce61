package app

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// The simulated day: three channels with their troubles, customers all day
// long, a virtual clock and the whole gateway in between. What it proves is in
// judge (day_judge_test.go); what it measured is docs/simulated-day.md.

// failureKind is what an upstream does instead of answering.
type failureKind string

const (
	refusing           failureKind = "refuses connections"
	failing            failureKind = "answers 502"
	flapping           failureKind = "2 min well, 2 min 503 overloaded"
	limiting           failureKind = "429 above 4 calls a minute"
	hanging            failureKind = "sends no status line"
	slow               failureKind = "first event after 8 s"
	overloadedProvider failureKind = "fails each stream before output"
	cutting            failureKind = "cuts each stream after output"
	unnoticed          failureKind = ""
)

// incident is a trouble of a channel between two moments of the day.
type incident struct {
	channel  string
	from, to time.Duration
	failureKind
}

func at(hour, minute int) time.Duration {
	return time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute
}

// incidents of the day. At 16:00 nobody is well: then customers must be refused.
var incidents = []incident{
	{"a", at(2, 0), at(2, 40), refusing},
	{"b", at(4, 0), at(4, 30), failing},
	{"a", at(6, 0), at(6, 30), flapping},
	{"a", at(8, 0), at(8, 20), slow},
	{"a", at(10, 0), at(10, 30), limiting},
	{"a", at(12, 0), at(12, 20), failing},
	{"b", at(12, 0), at(12, 20), refusing},
	{"b", at(14, 0), at(14, 20), hanging},
	{"a", at(16, 0), at(16, 5), failing},
	{"b", at(16, 0), at(16, 5), failing},
	{"c", at(16, 0), at(16, 5), failing},
	{"b", at(18, 0), at(18, 30), overloadedProvider},
	{"a", at(20, 0), at(20, 20), cutting},
	{"c", at(22, 0), at(22, 30), failing},
}

// provider is an upstream that lives through its incidents.
type provider struct {
	w     *world
	name  string
	began time.Time

	mu     sync.Mutex
	server *http.Server
	done   chan struct{}
	minute time.Duration // of the rate limit
	count  int
}

// now is the trouble of the moment.
func (p *provider) now() failureKind {
	since := time.Since(p.began)
	for _, i := range incidents {
		if i.channel == p.name && i.from <= since && since < i.to {
			return i.failureKind
		}
	}
	return unnoticed
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	what := p.now()
	switch {
	case what == failing:
		w.WriteHeader(http.StatusBadGateway)
	case what == flapping && int(time.Since(p.began).Minutes())%4 >= 2:
		refuse(w, 503, "server_error", "server_is_overloaded")
	case what == limiting && p.over():
		w.Header().Set("Retry-After", "15")
		refuse(w, 429, "rate_limit_error", "rate_limit_exceeded")
	case what == hanging:
		<-r.Context().Done()
	case what == overloadedProvider:
		p.shed(w, body)
	case what == cutting:
		p.cut(w, body)
	default:
		if what == slow {
			time.Sleep(8 * time.Second)
		}
		p.answer(w, body)
	}
}

// shed fails a stream by its last event, and anything else by its status.
func (p *provider) shed(w http.ResponseWriter, body []byte) {
	if !streamed(body) {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	stream(w, 100*time.Millisecond, created, shed)
}

// cut breaks off after output, or in the middle of an answer.
func (p *provider) cut(w http.ResponseWriter, body []byte) {
	if streamed(body) {
		stream(w, 100*time.Millisecond, created, delta, delta)
	} else {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"resp_1","object":`)
		_ = http.NewResponseController(w).Flush()
	}
	panic(http.ErrAbortHandler)
}

func streamed(body []byte) bool { return strings.Contains(string(body), `"stream":true`) }

// answer answers well, in 1.2 s.
func (p *provider) answer(w http.ResponseWriter, body []byte) {
	if streamed(body) {
		stream(w, 300*time.Millisecond, created, delta, delta, completed)
		return
	}
	time.Sleep(1200 * time.Millisecond)
	w.Header().Set("Content-Type", "application/json")
	_, whole, _ := strings.Cut(completed, `"response":`)
	_, _ = io.WriteString(w, strings.TrimSuffix(whole, "}"))
}

// over counts a call against four a minute.
func (p *provider) over() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m := time.Since(p.began).Truncate(time.Minute); m != p.minute {
		p.minute, p.count = m, 0
	}
	p.count++
	return p.count > 4
}

func (p *provider) open() {
	l, err := p.w.net.Listen(p.name + ".example:80")
	if err != nil {
		p.w.t.Error(err)
		return
	}
	srv, done := &http.Server{Handler: p}, make(chan struct{})
	p.mu.Lock()
	p.server, p.done = srv, done
	p.mu.Unlock()
	go func() { _ = srv.Serve(l); close(done) }()
}

func (p *provider) close() {
	p.mu.Lock()
	srv, done := p.server, p.done
	p.mu.Unlock()
	_ = srv.Close()
	<-done
}

// live opens and closes the listener as the incidents say.
func (p *provider) live(ctx context.Context) {
	p.open()
	defer p.close()
	for _, i := range incidents {
		if i.channel != p.name || i.failureKind != refusing {
			continue
		}
		if !wait(ctx, p.began.Add(i.from)) {
			return
		}
		p.close()
		wait(ctx, p.began.Add(i.to))
		p.open()
	}
	<-ctx.Done()
}

func wait(ctx context.Context, until time.Time) bool {
	t := time.NewTimer(time.Until(until))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// kinds of customers' requests, and how often of twenty.
const (
	plain  = "plain"  // streamed, stateless
	whole  = "whole"  // not streamed, stateless
	stored = "stored" // streamed, stored upstream: never run twice
	leaves = "leaves" // the client leaves in the middle
)

func kindOf(n int) string {
	switch n % 20 {
	case 3, 13:
		return whole
	case 7:
		return stored
	case 17:
		return leaves
	}
	return plain
}

// day is a whole day and what became of it.
type day struct {
	*world
	began     time.Time
	length    time.Duration
	providers map[string]*provider
	keys      []string
	ends      []time.Duration // of the incidents, what hung in them included
}

const dayConfig = `
channels:
  - {name: a, protocol: responses, base_url: "http://a.example/v1", credentials: [{name: k1, key: canary-a1}, {name: k2, key: canary-a2}]}
  - {name: b, protocol: responses, base_url: "http://b.example/v1", credentials: [{name: k1, key: canary-b}]}
  - {name: c, protocol: responses, base_url: "http://c.example/v1", credentials: [{name: k1, key: canary-c}]}
models: [{name: m, price: {input: "10", output: "50"}, channels: [{channel: a, cost: {input: "8", output: "40"}}, {channel: b, cost: {input: "8", output: "40"}}, {channel: c, cost: {input: "9", output: "45"}}]}]
`

// The mean time between two requests: most customers come when something is
// wrong somewhere.
const (
	busyHours  = 4 * time.Second
	quietHours = 15 * time.Second
)

func (d *day) pace() time.Duration {
	now := time.Since(d.began)
	for _, i := range incidents {
		if i.from-5*time.Minute <= now && now < i.to+10*time.Minute {
			return busyHours
		}
	}
	return quietHours
}

func TestSimulatedDay(t *testing.T) {
	t.Parallel()
	if underRace {
		t.Skip("the day is too long for the race detector; blame_test.go and reload_test.go run under it")
	}
	synctest.Test(t, func(t *testing.T) {
		d := &day{world: newWorld(t), began: time.Now(), length: 24 * time.Hour, providers: map[string]*provider{}}
		ctx, end := context.WithCancel(t.Context())
		var lives sync.WaitGroup
		for _, name := range []string{"a", "b", "c"} {
			p := &provider{w: d.world, name: name, began: d.began}
			d.providers[name] = p
			lives.Go(func() { p.live(ctx) })
		}
		synctest.Wait()
		d.configure(dayConfig)
		d.start()
		for range 6 {
			d.customer()
			d.keys = append(d.keys, d.key)
		}
		d.pass(t.Context())
		d.judge()
		d.http.CloseIdleConnections()
		d.stop()
		end()
		lives.Wait()
	})
}

// pass lets the day pass.
func (d *day) pass(ctx context.Context) {
	random := rand.New(rand.NewPCG(3, 5))
	var requests sync.WaitGroup
	for n := 0; ; n++ {
		// Odd steps, so that no two things of the day happen at the same instant.
		time.Sleep(time.Duration(1+random.IntN(int(2*d.pace()/time.Millisecond)))*time.Millisecond + 137*time.Microsecond)
		if time.Since(d.began) >= d.length {
			break
		}
		key := d.keys[random.IntN(len(d.keys))]
		requests.Go(func() { d.request(ctx, key, kindOf(n), n) })
	}
	requests.Wait()
}

// request is one customer's.
func (d *day) request(ctx context.Context, key, kind string, n int) {
	body := `{"model":"m","input":"hi","max_output_tokens":100,"stream":true,"store":false}`
	switch kind {
	case whole:
		body = `{"model":"m","input":"hi","max_output_tokens":100,"store":false}`
	case stored:
		body = `{"model":"m","input":"hi","max_output_tokens":100,"stream":true,"store":true}`
	case leaves:
		var leave context.CancelFunc
		ctx, leave = context.WithTimeout(ctx, time.Duration(100+n%1000)*time.Millisecond)
		defer leave()
	}
	req, _ := http.NewRequestWithContext(ctx, "POST", "http://127.0.0.1:8080/v1/responses", strings.NewReader(body))
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("X-Client-Request-Id", fmt.Sprintf("%s-%d", kind, n))
	res, err := d.http.Do(req)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
}
