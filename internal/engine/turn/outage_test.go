package turn

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"rubicon/internal/config"
	"rubicon/internal/engine/upstream"
	"rubicon/internal/health"
	"rubicon/internal/health/route"
	"rubicon/internal/wire/classify"
	"rubicon/internal/wire/protocol"
	"rubicon/internal/wire/protocol/responses"
)

// storm simulates clients while channels fail. It uses the engine's own choosing,
// waiting and deciding over real health, on a virtual clock. Only the calls are left
// out, with money, records and sockets: an attempt is a pause, and its result comes
// from the channel's weather.
type storm struct {
	t        *testing.T
	cfg      *config.Config
	health   *health.Registry
	protocol protocol.Protocol
	weather  weather
	began    time.Time

	mu       sync.Mutex
	requests int
	failed   int
	calls    []call
}

// weather is how an attempt on a channel ends, so long after the beginning; nil
// is well.
type weather func(channel string, since time.Duration, random *rand.Rand) *upstream.Failure

// call is one attempt as its channel saw it.
type call struct {
	channel string
	at      time.Duration
	ok      bool
}

// clients is how many send one request after another.
const clients = 20

func newStorm(t *testing.T, channels int, w weather) *storm {
	t.Helper()
	var list, served []string
	for i := range channels {
		name := string(rune('a' + i))
		list = append(list, fmt.Sprintf(`{name: %s, protocol: responses, base_url: "http://%s.example/v1", credentials: [{name: k, key: key-%s}]}`, name, name, name))
		served = append(served, fmt.Sprintf("{channel: %s}", name))
	}
	cfg, err := config.Parse(fmt.Appendf(nil, "admin: {token: outage-test-token}\nchannels: [%s]\nmodels: [{name: m, price: {input: \"10\", output: \"50\"}, channels: [%s]}]\n",
		strings.Join(list, ", "), strings.Join(served, ", ")), os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	s := &storm{t: t, cfg: cfg, health: health.New(health.Options{Now: time.Now}), protocol: responses.Protocol(), weather: w, began: time.Now()}
	s.health.Configure(cfg)
	return s
}

// run lets the clients send requests for so long.
func (s *storm) run(length time.Duration) {
	var all sync.WaitGroup
	for n := range clients {
		all.Go(func() { s.client(n, length) })
	}
	all.Wait()
}

// client sends one request after another, refused or not, with a pause between
// them. Its steps are odd, so that no two clients do anything at one instant.
func (s *storm) client(n int, length time.Duration) {
	random := rand.New(rand.NewPCG(uint64(n), 7))
	odd := time.Duration(n)*time.Microsecond + time.Nanosecond
	engine := &Engine{Config: func() *config.Config { return s.cfg }, Health: s.health, Choose: route.Choose, Random: random.Float64,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
	for time.Since(s.began) < length {
		time.Sleep(time.Duration(random.IntN(500))*time.Millisecond + odd)
		ok := s.request(engine, fmt.Sprintf("cus_%d", n), random, odd)
		s.mu.Lock()
		s.requests++
		if !ok {
			s.failed++
		}
		s.mu.Unlock()
	}
}

// request tells whether it was served.
func (s *storm) request(e *Engine, customer string, random *rand.Rand, odd time.Duration) bool {
	req := &Request{ID: "req", Protocol: &s.protocol, Parsed: protocol.Request{Model: "m", Stream: true, Store: protocol.StoreFalse}, Received: time.Now()}
	req.Principal.Customer.ID = customer
	t := e.begin(context.Background(), req, &countingSink{})
	defer t.end()
	t.model = s.cfg.Model("m")
	t.limitTime()
	if t.chooseFirst() != nil {
		return false
	}
	for {
		a := &attempt{n: len(t.attempts) + 1, route: t.next.route, permit: t.next.permit, seen: &protocol.Observed{Sequence: -1}}
		t.next = nil
		t.counts.Attempts++
		t.attempts = append(t.attempts, a)
		t.triedRoutes = append(t.triedRoutes, a.route.Key())
		if a.failed = s.attempt(a.route.Candidate.Channel.Name, random, odd); a.failed == nil {
			a.report(health.Result{OK: true})
			return true
		}
		if !t.again(a) {
			return false
		}
	}
}

// attempt takes an answer's time: half a second in the mean, a tenth of that for
// a failure.
func (s *storm) attempt(channel string, random *rand.Rand, odd time.Duration) *upstream.Failure {
	since := time.Since(s.began)
	failed := s.weather(channel, since, random)
	s.mu.Lock()
	s.calls = append(s.calls, call{channel, since, failed == nil})
	s.mu.Unlock()
	took := time.Duration(250+random.IntN(500))*time.Millisecond + odd
	if failed != nil {
		took /= 10
	}
	time.Sleep(took)
	return failed
}

// share is how many of the requests failed, in percent.
func (s *storm) share() float64 { return 100 * float64(s.failed) / float64(s.requests) }

// some fails so many of a thousand attempts, each by itself.
func some(perMille int, failed upstream.Failure) weather {
	return func(_ string, _ time.Duration, random *rand.Rand) *upstream.Failure {
		if random.IntN(1000) >= perMille {
			return nil
		}
		f := failed
		return &f
	}
}

var (
	rejected    = upstream.Failure{Failure: classify.RateLimited, Status: 429}
	rejectedFor = upstream.Failure{Failure: classify.RateLimited, Status: 429, RetryAfter: time.Second}
	serverError = upstream.Failure{Failure: classify.Upstream5xx, Status: 500, Executed: true}
)
