package alert

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/config"
	"rubicon/internal/lab/memnet"
	"rubicon/internal/store"
	"rubicon/internal/store/storetest"
	"rubicon/internal/wire/ident"
)

// receiver is a webhook that keeps what it was sent.
type receiver struct {
	mu     sync.Mutex
	status int
	got    []delivery
}

type delivery struct {
	header http.Header
	raw    []byte
	body   body
	at     time.Time
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	raw, _ := io.ReadAll(req.Body)
	d := delivery{header: req.Header, raw: raw, at: time.Now()}
	_ = json.Unmarshal(raw, &d.body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, d)
	if r.status != 0 {
		w.WriteHeader(r.status)
	}
}

func (r *receiver) answer(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

func (r *receiver) deliveries() []delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]delivery(nil), r.got...)
}

const (
	hookURL    = "http://hooks.example.com/services/canary-token"
	hookSecret = "canary-secret"
)

// The suite runs on every database that the store supports.
func TestMain(m *testing.M) { storetest.Main(m) }

// installation is a book with its database, receiver and log.
type installation struct {
	t      *testing.T
	db     *store.DB
	net    *memnet.Network
	hook   *receiver
	log    strings.Builder
	target atomic.Pointer[Target]
	raised []Kind
}

func newWorld(t *testing.T) *installation {
	t.Helper()
	w := &installation{t: t, net: memnet.New(), hook: &receiver{}}
	w.target.Store(&Target{config.NewSecret(hookURL), config.NewSecret(hookSecret)})
	w.db = storetest.Open(t)
	t.Cleanup(func() {
		if s := w.log.String(); strings.Contains(s, "canary") || strings.Contains(s, "hooks.example.com") {
			t.Errorf("the log shows the webhook: %s", s)
		}
	})
	return w
}

// listen lets the receiver be reached; the function takes it away again.
func (w *installation) listen() func() {
	l, err := w.net.Listen("hooks.example.com:80")
	if err != nil {
		w.t.Fatal(err)
	}
	srv := &http.Server{Handler: w.hook}
	done := make(chan struct{})
	go func() { _ = srv.Serve(l); close(done) }()
	return func() { _ = srv.Close(); <-done }
}

// start opens the book and runs it; the function stops it.
func (w *installation) start() (*Book, func()) {
	w.t.Helper()
	b, err := Open(w.t.Context(), Options{DB: w.db, IDs: ident.New(rand.Reader, time.Now), Log: slog.New(slog.NewTextHandler(&w.log, nil)),
		Target: func() Target { return *w.target.Load() }, Dial: w.net.Dial, Raised: func(k Kind) { w.raised = append(w.raised, k) }})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	return b, func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Error(err)
		}
	}
}

// shown is the part of an alert that tests compare.
func shown(t *testing.T, b *Book) (out []string) {
	t.Helper()
	list, next, err := b.List(t.Context(), "", 100)
	if err != nil || next != "" {
		t.Fatal(err, next)
	}
	for _, a := range list {
		out = append(out, string(a.Kind)+" "+a.Channel+a.Credential+" "+a.State)
	}
	return out
}

func TestTheSameIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.target.Store(&Target{})
		b, stop := w.start()
		defer func() { stop() }()
		for range 3 {
			b.Raise(Event{Kind: BreakerOpened, Channel: "a", Model: "m", Reason: "connect"})
			b.Raise(Event{Kind: ChannelUnfit, Channel: "a"})
		}
		b.Raise(Event{Kind: BreakerOpened, Channel: "b", Model: "m"})
		b.Raise(Event{Kind: CredentialEnabled, Channel: "a", Credential: "/k1"}) // that it was off was never reported
		b.Raise(Event{Kind: "gossip"})
		synctest.Wait()
		want := []string{"breaker_opened b firing", "channel_unfit a firing", "breaker_opened a firing"}
		if diff := cmp.Diff(want, shown(t, b)); diff != "" {
			t.Fatal(diff)
		}

		b.Raise(Event{Kind: BreakerClosed, Channel: "a", Model: "m"})
		synctest.Wait()
		want = []string{"breaker_closed a resolved", "breaker_opened b firing", "channel_unfit a firing", "breaker_opened a resolved"}
		if diff := cmp.Diff(want, shown(t, b)); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff([]Kind{BreakerOpened, ChannelUnfit, BreakerOpened, BreakerClosed}, w.raised); diff != "" {
			t.Error(diff)
		}

		time.Sleep(time.Second)
		// A restart remembers what is open; a new breakdown is told anew.
		stop()
		b, stop = w.start()
		b.Raise(Event{Kind: BreakerOpened, Channel: "b", Model: "m"})
		b.Raise(Event{Kind: BreakerOpened, Channel: "a", Model: "m"})
		synctest.Wait()
		if got := shown(t, b); len(got) != 5 || got[0] != "breaker_opened a firing" {
			t.Errorf("after a restart: %q", got)
		}
	})
}

func TestUnfitIsOverAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.target.Store(&Target{})
		b, stop := w.start()
		defer stop()
		b.Raise(Event{Kind: ChannelUnfit, Channel: "a"})
		time.Sleep(30 * time.Minute)
		b.Raise(Event{Kind: ChannelUnfit, Channel: "a"})
		time.Sleep(31 * time.Minute)
		b.Raise(Event{Kind: ChannelUnfit, Channel: "a"})
		synctest.Wait()
		if diff := cmp.Diff([]string{"channel_unfit a firing", "channel_unfit a resolved"}, shown(t, b)); diff != "" {
			t.Error(diff)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if diff := cmp.Diff([]string{"channel_unfit a resolved", "channel_unfit a resolved"}, shown(t, b)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestSettleEndsWhatHoldsNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.target.Store(&Target{})
		b, stop := w.start()
		defer stop()
		b.Raise(Event{Kind: ChannelPaused, Channel: "gone", Reason: "operator", Actor: "anna"})
		b.Raise(Event{Kind: ChannelPaused, Channel: "here"})
		b.Raise(Event{Kind: LedgerDifference, Reason: "3 differences"})
		b.Raise(Event{Kind: ChannelUnfit, Channel: "gone"})
		b.ResolveEnded(func(a Alert) bool { return a.Channel == "here" })
		synctest.Wait()
		want := []string{"channel_resumed gone resolved", "channel_unfit gone firing", "ledger_difference  firing",
			"channel_paused here firing", "channel_paused gone resolved"}
		if diff := cmp.Diff(want, shown(t, b)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestDeliveriesAreSigned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.listen()()
		b, stop := w.start()
		defer stop()
		b.Raise(Event{Kind: CredentialDisabled, Channel: "openai", Credential: "k1", Reason: "upstream_auth"})
		synctest.Wait()
		got := w.hook.deliveries()
		if len(got) != 1 {
			t.Fatalf("%d deliveries", len(got))
		}
		d := got[0]
		if want := Sign(hookSecret, d.header.Get(HeaderTimestamp), d.raw); d.header.Get(HeaderSignature) != want {
			t.Errorf("signature %q, want %q", d.header.Get(HeaderSignature), want)
		}
		if d.header.Get(HeaderID) != d.body.ID || d.header.Get(HeaderTimestamp) != "946684800" {
			t.Errorf("headers %v", d.header)
		}
		want := body{ID: d.body.ID, At: time.Unix(946684800, 0).UTC(), Kind: CredentialDisabled, State: Firing, Channel: "openai", Credential: "k1",
			Message: "Credential k1 of channel openai is disabled: upstream_auth"}
		if diff := cmp.Diff(want, d.body); diff != "" {
			t.Error(diff)
		}
		if n, err := b.Pending(t.Context()); n != 0 || err != nil {
			t.Errorf("pending %d, %v", n, err)
		}
	})
}

// The signature is a promise to receivers: this value never changes.
func TestSignIsFixed(t *testing.T) {
	want := "v1=37a7c757983a8ec9e71f26bebaadaf03f94e5ead9afbec2dc39c1773a8e6a426"
	if got := Sign("secret", "946684800", []byte(`{"id":"alert_1"}`)); got != want {
		t.Errorf("got %s", got)
	}
}

func TestDeliveryIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.listen()()
		w.hook.answer(500)
		b, stop := w.start()
		defer stop()
		start := time.Now()
		b.Raise(Event{Kind: BreakerOpened, Channel: "a", Model: "m"})
		time.Sleep(15 * time.Second)
		w.hook.answer(200)
		b.Raise(Event{Kind: BreakerClosed, Channel: "a", Model: "m"}) // the retries tell how it began
		time.Sleep(time.Minute)
		var at []time.Duration
		var states []string
		for _, d := range w.hook.deliveries() {
			at = append(at, d.at.Sub(start).Round(time.Second))
			states = append(states, d.body.State)
		}
		if diff := cmp.Diff([]time.Duration{0, 2 * time.Second, 6 * time.Second, 14 * time.Second, 15 * time.Second, 30 * time.Second}, at); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{Firing, Firing, Firing, Firing, Resolved, Firing}, states); diff != "" {
			t.Error(diff)
		}
	})
}

// The queue is in the table: a receiver that is away and a restart lose nothing.
func TestTheQueueSurvivesARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		b, stop := w.start()
		b.Raise(Event{Kind: BreakerOpened, Channel: "a", Model: "m"})
		synctest.Wait()
		b.Raise(Event{Kind: BreakerOpened, Channel: "b", Model: "m"})
		stop() // at once: what is queued is still written
		defer w.listen()()
		b, stop = w.start()
		defer func() { stop() }()
		time.Sleep(lastRetry)
		if n, err := b.Pending(t.Context()); n != 0 || err != nil {
			t.Errorf("pending %d, %v", n, err)
		}
		var channels []string
		for _, d := range w.hook.deliveries() {
			channels = append(channels, d.body.Channel)
		}
		if len(channels) != 2 || !strings.Contains(strings.Join(channels, ""), "b") {
			t.Errorf("delivered %q", channels)
		}
	})
}

func TestItIsGivenUpAfterADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.net.Blackhole("hooks.example.com:80")
		b, stop := w.start()
		defer stop()
		b.Raise(Event{Kind: BreakerOpened, Channel: "a", Model: "m"})
		time.Sleep(25 * time.Hour)
		synctest.Wait()
		if n, err := b.Pending(t.Context()); n != 0 || err != nil {
			t.Errorf("pending %d, %v", n, err)
		}
		if s := w.log.String(); !strings.Contains(s, "given up") || !strings.Contains(s, "did not answer in time") {
			t.Errorf("log: %s", s)
		}
	})
}

func TestSwitchedOffMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		b, stop := w.start()
		defer stop()
		b.Raise(Event{Kind: BreakerOpened, Channel: "a", Model: "m"})
		synctest.Wait()
		w.target.Store(&Target{})
		time.Sleep(lastRetry)
		if n, err := b.Pending(t.Context()); n != 0 || err != nil {
			t.Errorf("pending %d, %v", n, err)
		}
	})
}

// Raising never waits: not for a database that is away, not for a full queue.
func TestRaiseNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		b, err := Open(t.Context(), Options{DB: w.db, IDs: ident.New(rand.Reader, time.Now), Log: slog.New(slog.NewTextHandler(&w.log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		for i := range waiting + 10 { // Run is not called
			b.Raise(Event{Kind: BreakerOpened, Channel: "a", Model: strings.Repeat("m", i)})
		}
		if n := strings.Count(w.log.String(), "alert dropped"); n != 10 {
			t.Errorf("%d lost", n)
		}
	})
}

func TestPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.target.Store(&Target{})
		b, stop := w.start()
		defer stop()
		for _, c := range []string{"a", "b", "c"} {
			b.Raise(Event{Kind: ChannelPaused, Channel: c})
		}
		synctest.Wait()
		var got []string
		cursor := ""
		for range 5 {
			list, next, err := b.List(t.Context(), cursor, 2)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range list {
				got = append(got, a.Channel)
			}
			if cursor = next; next == "" {
				break
			}
		}
		if diff := cmp.Diff([]string{"c", "b", "a"}, got); diff != "" {
			t.Error(diff)
		}
		if _, _, err := b.List(t.Context(), "nonsense", 2); !errors.Is(err, ErrInvalid) {
			t.Errorf("a cursor of nowhere: %v", err)
		}
		b.Raise(Event{Kind: ChannelResumed, Channel: "b"})
		time.Sleep(time.Hour)
		if n, err := b.Expire(t.Context(), time.Now()); n != 2 || err != nil { // the pause of b and its end
			t.Errorf("expired %d, %v", n, err)
		}
	})
}

func TestErrorsNameNoAddress(t *testing.T) {
	n := memnet.New()
	n.Blackhole("slow.example.com:80")
	l, err := n.Listen("moved.example.com:80")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.RedirectHandler("http://elsewhere.example.com/", http.StatusFound)}
	go func() { _ = srv.Serve(l) }()
	defer srv.Close()
	for url, want := range map[string]string{
		"http://hooks.invalid/canary":           "name was not found",
		"http://nobody.example.com/canary":      "could not be reached",
		"http://moved.example.com/canary":       "answered 302",
		"http://canary:pass@bad host/%zz":       "not a usable URL",
		"http://hooks.example.com:99999/canary": "",
	} {
		err := newWebhook(n.Dial).send(t.Context(), Target{URL: config.NewSecret(url)}, Alert{}, time.Now())
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "example") || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestEveryKindSaysSomething(t *testing.T) {
	e := Event{Channel: "c", Credential: "k", Model: "m", Reason: "why", Actor: "anna", Until: time.Unix(0, 0)}
	for k, rule := range kinds {
		if !Known(k) || rule.message(e) == "" || strings.Contains(rule.message(e), "  ") {
			t.Errorf("%s says %q", k, rule.message(e))
		}
		if rule.resolves != "" {
			if _, known := kinds[rule.resolves]; !known {
				t.Errorf("%s ends the unknown %s", k, rule.resolves)
			}
		}
	}
}
