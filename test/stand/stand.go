// Package stand is the test stand: a whole gateway over real sockets, its
// upstreams beside it, a customer with credit, and the operator's view.
//
// It is for tests only, and asserts only what holds in every test: the ledger
// adds up, no hold stays open, and no credential or upstream address is in any
// byte that a client or operator can see.
package stand

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"rubicon/internal/app"
	"rubicon/internal/config"
	"rubicon/internal/store/storetest"
)

// Canary is in every upstream credential of a stand; nobody but the upstream
// may ever see it.
const Canary = "sk-canary"

// Token is the admin API's.
const Token = "stand-admin-token"

// Peer is an upstream: a *sim.Provider or a *Raw.
type Peer interface {
	Serve(context.Context, net.Listener) error
}

// Options set up a stand.
type Options struct {
	// Config is YAML: channels, models and what else differs from the default.
	// {NAME} is the base URL of a peer, version included; {key} a credential.
	Config string
	Peers  map[string]Peer
	Tune   func(*config.Config) // changes what YAML cannot say yet
	App    app.Options
	Credit string // of the customer; "1000.00" if empty
	Store  string // URL of the database; if empty, one of its own (storetest.Env says of which kind)
	// Open leaves holds open on purpose: their absence is not asserted.
	Open bool
}

// Gateway is a running gateway.
type Gateway struct {
	tb      testing.TB
	App     *app.App
	URL     string // of the client API, http://HOST:PORT
	Admin   string // of the admin API
	Default Customer
	Hosts   map[string]string // HOST:PORT of the peers, by name
	HTTP    *http.Client      // for clients of the gateway
	Logs    *LeakWatch

	clients, operators *LeakWatch
	customers          []Customer
	open               bool
	stop               context.CancelFunc // of the gateway
	stopPeers          context.CancelFunc
	ended              chan error
}

// Start runs a gateway until the test ends.
func Start(tb testing.TB, o Options) *Gateway {
	tb.Helper()
	s := &Gateway{tb: tb, Hosts: map[string]string{}, open: o.Open, ended: make(chan error, 1)}
	ctx, stop := context.WithCancel(context.Background())
	s.stopPeers = stop
	replace := s.peers(ctx, o.Peers)
	needles := []string{Canary}
	for _, host := range s.Hosts {
		needles = append(needles, host)
	}
	s.clients, s.operators, s.Logs = NewWatch("a client", needles), NewWatch("an operator", needles), NewWatch("the log", needles)
	cfg := parse(tb, o.Store, replace.Replace(o.Config))
	if o.Tune != nil {
		o.Tune(cfg)
	}
	s.run(ctx, cfg, o.App)
	s.HTTP = newHTTP()
	tb.Cleanup(s.Close)
	credit := o.Credit
	if credit == "" {
		credit = "1000.00"
	}
	s.Default = s.NewCustomer(credit)
	return s
}

// Attach gives the view of a gateway that runs elsewhere, as a process. Nothing
// is asserted about it by itself.
func Attach(tb testing.TB, clients, operators string) *Gateway {
	s := &Gateway{tb: tb, URL: "http://" + clients, Admin: "http://" + operators, HTTP: newHTTP()}
	tb.Cleanup(s.HTTP.CloseIdleConnections)
	return s
}

func newHTTP() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}, Timeout: 60 * time.Second}
}

// peers starts the upstreams and gives what stands for them in the YAML.
func (s *Gateway) peers(ctx context.Context, peers map[string]Peer) *strings.Replacer {
	s.tb.Helper()
	pairs := []string{"{key}", Canary + "-0123456789abcdef"}
	for name, p := range peers {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			s.tb.Fatal(err)
		}
		s.Hosts[name] = l.Addr().String()
		pairs = append(pairs, "{"+name+"}", "http://"+l.Addr().String()+"/v1")
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = p.Serve(ctx, l)
		}()
		s.tb.Cleanup(func() { s.stopPeers(); <-done })
	}
	return strings.NewReplacer(pairs...)
}

func parse(tb testing.TB, store, yaml string) *config.Config {
	tb.Helper()
	dir := tb.TempDir()
	if store == "" {
		store = storetest.URL(tb)
	}
	head := fmt.Sprintf("listen: 127.0.0.1:0\nadmin: {listen: \"127.0.0.1:0\", token: %s}\nstore: {url: %q, spool: %q, lease: 1s}\n", Token, store, dir)
	cfg, err := config.Parse([]byte(head+yaml), os.LookupEnv)
	if err != nil {
		tb.Fatalf("the test's configuration: %v", err)
	}
	return cfg
}

func (s *Gateway) run(ctx context.Context, cfg *config.Config, o app.Options) {
	s.tb.Helper()
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(s.Logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	watches := []*LeakWatch{s.clients, s.operators}
	o.Listen = func(network, address string) (net.Listener, error) {
		l, err := net.Listen(network, address)
		w := watches[0]
		watches = watches[1:]
		return &watchedListener{Listener: l, watch: w}, err
	}
	a, err := app.New(ctx, cfg, o)
	if err != nil {
		s.tb.Fatalf("starting the gateway: %v", err)
	}
	s.App, s.URL, s.Admin = a, "http://"+a.ClientAddr(), "http://"+a.AdminAddr()
	running, stop := context.WithCancel(context.Background())
	s.stop = stop
	go func() { s.ended <- a.Run(running) }()
}

// Shutdown tells the gateway to stop, as SIGTERM does, and waits for it.
func (s *Gateway) Shutdown() {
	s.tb.Helper()
	s.stop()
	if err := <-s.ended; err != nil {
		s.tb.Errorf("the gateway ended with %v", err)
	}
	s.ended <- nil
}

// Close checks what must hold after every test and stops everything.
func (s *Gateway) Close() {
	s.tb.Helper()
	select {
	case err := <-s.ended: // shut down by the test
		s.ended <- err
	default:
		s.checkMoney()
		s.look()
	}
	s.HTTP.CloseIdleConnections()
	s.Shutdown()
	for _, w := range [...]*LeakWatch{s.clients, s.operators, s.Logs} {
		for _, leak := range w.Leaks() {
			s.tb.Errorf("%s could see a secret: %q", w.who, leak)
		}
	}
	if s.tb.Failed() {
		tail := strings.Split(s.Logs.Tail(), "\n")
		s.tb.Logf("the gateway's log ends with:\n%s", strings.Join(tail[max(0, len(tail)-12):], "\n"))
	}
}

// checkMoney: no hold is open a moment after the last request, and the ledger
// adds up.
func (s *Gateway) checkMoney() {
	s.tb.Helper()
	for _, c := range s.customers {
		if !s.open && !WaitFor(3*time.Second, func() bool { return s.Balance(c).Held == 0 }) {
			s.tb.Errorf("customer %s has %v held although nothing runs", c.ID, s.Balance(c).Held)
		}
	}
	s.Verify()
}

// look reads what an operator can read, for the watch.
func (s *Gateway) look() {
	s.tb.Helper()
	for _, path := range [...]string{"/metrics", "/admin/v1/alerts", "/admin/v1/channels", "/admin/v1/requests?limit=100"} {
		if status := s.call("GET", path, nil, nil); status != http.StatusOK {
			s.tb.Errorf("GET %s: status %d", path, status)
		}
	}
}

// WaitFor polls until ok or the time is over.
func WaitFor(d time.Duration, ok func() bool) bool {
	for end := time.Now().Add(d); ; time.Sleep(2 * time.Millisecond) {
		if ok() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}
