// Package app puts the gateway together: the only package that knows all the
// others. Everything is built in New, started in Run and ended in reverse
// order.
//
// It holds no rule. It is also the whole gateway for tests and the demo, which
// pass their own network, randomness and log in Options.
//
// Invariant: when Run has returned, or Close, nothing that New or Run started
// runs any more and nothing that they opened is open.
package app

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"rubicon/internal/api/httpapi"
	"rubicon/internal/api/idempotency"
	"rubicon/internal/api/pressure"
	"rubicon/internal/api/telemetry"
	"rubicon/internal/api/wsapi"
	"rubicon/internal/books/account"
	"rubicon/internal/books/journal"
	"rubicon/internal/books/ledger"
	"rubicon/internal/books/limit"
	"rubicon/internal/books/state"
	"rubicon/internal/books/versions"
	"rubicon/internal/config"
	"rubicon/internal/engine/billing"
	"rubicon/internal/engine/meter"
	"rubicon/internal/engine/turn"
	"rubicon/internal/engine/upstream"
	"rubicon/internal/health"
	"rubicon/internal/health/alert"
	"rubicon/internal/health/keep"
	"rubicon/internal/health/orders"
	"rubicon/internal/health/route"
	"rubicon/internal/store"
	"rubicon/internal/store/cluster"
	"rubicon/internal/store/spool"
	"rubicon/internal/wire/fault"
	"rubicon/internal/wire/ident"
)

// Options replace the outside world; the zero value is the real one.
type Options struct {
	Version string
	Log     *slog.Logger
	Listen  func(network, address string) (net.Listener, error)
	Dial    upstream.Dial
	Rand    io.Reader      // for ids and keys
	Random  func() float64 // for choices by weight
	Choose  turn.Chooser
	Source  Source // of the configuration
}

// App is one gateway.
type App struct {
	opts Options
	cfg  atomic.Pointer[config.Config]
	log  *slog.Logger
	ids  *ident.Source

	reloading   sync.Mutex
	certificate atomic.Pointer[tls.Certificate] // of the client listener
	adminAPI    atomic.Pointer[http.Handler]

	db          *store.DB
	accounts    *account.Accounts
	ledger      *ledger.Ledger
	journal     *journal.Journal
	states      *state.States
	node        *cluster.Node
	spool       *spool.Spool
	bookkeeper  *meter.Bookkeeper
	health      *health.Registry
	healthSaver *keep.Saver
	orders      *orders.Log
	alerts      *alert.Book
	metrics     *telemetry.Metrics
	upstream    *upstream.Client
	engine      *turn.Engine
	idempotency *idempotency.Keys
	prices      *versions.Lists
	memory      *pressure.Memory
	conns       *pressure.Connections
	uploads     *pressure.Uploads

	clientAPI             atomic.Pointer[http.Handler]
	early                 *early // the clients' port is served while the database is waited for; nil: it was there
	sockets               *wsapi.Handler
	client, admin         net.Listener
	clientHTTP, adminHTTP *http.Server
	connections           context.CancelCauseFunc // ends the turns that outlive the grace time
	shuttingDown          atomic.Bool
	running               runningCount
	seenChanges           atomic.Bool // the order that obey carries out was given to another process, for heard
	ready                 chan struct{}
}

// New opens the database, resolves what a crash left behind, and listens. Run
// must be called afterwards, Close if it is not.
func New(ctx context.Context, cfg *config.Config, opts Options) (*App, error) {
	a := &App{opts: opts.withDefaults(), ready: make(chan struct{})}
	a.log = a.opts.Log
	a.cfg.Store(cfg)
	if err := a.open(ctx); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Listen == nil {
		o.Listen = net.Listen
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Random == nil {
		o.Random = mathrand.Float64
	}
	if o.Choose == nil {
		o.Choose = route.Choose
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	return o
}

func (a *App) open(ctx context.Context) (err error) {
	cfg := a.Config()
	a.ids = ident.New(a.opts.Rand, time.Now)
	if err := a.openStore(ctx); err != nil {
		return err
	}
	ids := a.ids
	a.accounts = account.New(a.db, ids, time.Now)
	a.ledger = ledger.New(a.db, ids, time.Now)
	a.journal = journal.New(a.db, time.Now)
	a.states = state.New(a.db, time.Now)
	a.bookkeeper = meter.NewBookkeeper(a.db, a.ledger, a.journal, a.states, time.Now)
	a.metrics = a.newMetrics()
	a.bookkeeper.Observe(a.metrics.LedgerOperation)
	if err := a.openHealth(ctx, ids); err != nil {
		return err
	}
	a.upstream = upstream.New(a.opts.Dial, "rubicon/"+a.opts.Version)
	if err := a.openPrices(ctx); err != nil {
		return err
	}
	a.idempotency = a.newIdempotency()
	if err := a.join(ctx); err != nil {
		return err
	}
	a.memory = pressure.NewMemory()
	a.memory.Set(cfg.Limits.Memory)
	a.uploads = pressure.NewUploads(a.memory.Limit)
	a.engine = &turn.Engine{Overloaded: a.memory.Over, Config: a.Config, Health: a.health, Upstream: a.upstream, Bookkeeper: a.bookkeeper, States: a.states,
		Learner: billing.NewLearner(), Limits: limit.New(limit.Options{Nodes: a.node.Count}), Choose: a.opts.Choose, Random: a.opts.Random, Observe: a.metrics, Doubted: a.doubted, Log: a.log, Node: a.node.ID}
	return a.listen()
}

// listen opens both listeners and builds their servers.
func (a *App) listen() (err error) {
	cfg, ids := a.Config(), a.ids
	if err := a.listenForClients(); err != nil {
		return err
	}
	if a.admin, err = a.opts.Listen("tcp", cfg.Admin.Listen); err != nil {
		return fmt.Errorf("listening for operators; check admin.listen: %w", err)
	}
	a.sockets = a.socketHandler(ids)
	handler := httpapi.New(httpapi.Deps{Config: a.Config, Engine: a.engine, Accounts: a.accounts, Ledger: a.ledger, Journal: a.journal,
		States: a.states, DB: a.db, Upstream: a.upstream, Idempotency: a.idempotency, IDs: ids, Log: a.log, Ready: a.isReady, Closed: a.isDraining, Waiting: func() int { n, _ := a.bookkeeper.Waiting(); return n },
		Uploads: a.uploads, Version: func() string { return a.Config().Version() }, Socket: a.sockets}, surfaces())
	handler = a.running.count(handler)
	a.clientAPI.Store(&handler)
	a.serveAdmin()
	a.adminHTTP = &http.Server{Handler: http.HandlerFunc(a.currentAdmin), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelDebug)}
	return nil
}

// listenForClients opens the clients' port and builds its server, once; what it
// serves is set afterwards.
func (a *App) listenForClients() (err error) {
	if a.client != nil {
		return nil
	}
	cfg := a.Config()
	certificate, err := readCertificate(cfg.TLS)
	if err != nil {
		return err
	}
	a.certificate.Store(certificate)
	listener, err := a.opts.Listen("tcp", cfg.Listen)
	if err != nil {
		return fmt.Errorf("listening for clients; check listen: %w", err)
	}
	a.conns = pressure.NewConnections(func() pressure.Bounds {
		limits := a.Config().Limits
		return pressure.Bounds{All: limits.Connections, PerAddress: limits.ConnectionsPerAddress}
	})
	a.client = a.conns.Listen(listener)
	base, cancel := context.WithCancelCause(context.Background())
	a.connections = cancel
	serve := func(w http.ResponseWriter, r *http.Request) { (*a.clientAPI.Load()).ServeHTTP(w, r) }
	a.clientHTTP = &http.Server{Handler: http.HandlerFunc(serve), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return base }, ConnContext: a.conns.MarkOverLimit, ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelDebug)}
	return nil
}

// Config is the configuration in force.
func (a *App) Config() *config.Config { return a.cfg.Load() }

// ClientAddr is where clients connect.
func (a *App) ClientAddr() string { return a.client.Addr().String() }

// AdminAddr is where operators connect.
func (a *App) AdminAddr() string { return a.admin.Addr().String() }

// isReady tells what keeps new requests from being served, if anything.
func (a *App) isReady(ctx context.Context) *fault.Error {
	if f := a.isDraining(); f != nil {
		return f
	}
	ctx, done := context.WithTimeout(ctx, probeTime)
	defer done()
	if !a.bookkeeper.DatabaseAway() && !a.db.Shared() {
		a.bookkeeper.Probe(ctx)
	}
	if a.bookkeeper.DatabaseAway() {
		return fault.New(fault.StoreUnavailable, "")
	}
	if err := a.db.Ping(ctx); err != nil {
		return fault.New(fault.StoreUnavailable, "").WithCause(err)
	}
	return nil
}

// isDraining refuses what comes while the process ends.
func (a *App) isDraining() *fault.Error {
	if a.shuttingDown.Load() {
		return fault.New(fault.ShuttingDown, "")
	}
	return nil
}

// probeTime bounds what readiness waits for the database.
const probeTime = 2 * time.Second

// Run serves until ctx ends, then lets running requests finish within
// timers.shutdown_grace. Everything is closed when it returns.
func (a *App) Run(ctx context.Context) error {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	failed := make(chan error, 1) // the first one ends it all
	start := func(name string, run func() error) {
		wg.Go(func() {
			if err := run(); err != nil && !errors.Is(err, http.ErrServerClosed) {
				select {
				case failed <- fmt.Errorf("%s: %w", name, err):
				default:
				}
			}
		})
	}
	start("progress", func() error { return a.bookkeeper.Run(background) })
	start("nodes", func() error { return a.node.Run(background) })
	start("what other nodes change", func() error { return a.pollOthers(background) })
	start("alerts", func() error { return a.alerts.Run(background) })
	start("keeping health", func() error { return a.healthSaver.Run(background) })
	start("credential re-checks", func() error { return a.health.RunRechecks(background, a.recheck) })
	start("configuration", func() error { return a.watchConfig(background) })
	start("memory", func() error { return a.memory.Run(background) })
	start("recorded answers", func() error { return a.idempotency.Run(background) })
	start("the ledger's daily verification", func() error { return a.verifyDaily(background) })
	start("housekeeping", func() error { return a.deleteExpired(background) })
	start("client API", a.serveClients)
	start("admin API", func() error { return a.adminHTTP.Serve(a.admin) })
	a.log.Info("ready", "clients", a.ClientAddr(), "admin", a.AdminAddr())
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	a.log.Info("shutting down; running requests may finish", "within", a.Config().Timers.ShutdownGrace)
	a.shutdown()
	stop()
	wg.Wait()
	a.leaveCluster()
	err = errors.Join(err, a.Close())
	a.log.Info("stopped")
	return err
}

func (a *App) serveClients() error {
	if a.early != nil {
		return a.early.wait()
	}
	return a.serveClientPort()
}

func (a *App) serveClientPort() error {
	if a.Config().TLS.Enabled() {
		a.clientHTTP.TLSConfig = a.tlsConfig()
		return a.clientHTTP.ServeTLS(a.client, "", "")
	}
	return a.clientHTTP.Serve(a.client)
}

// shutdown stops taking requests and waits for the running ones; those that
// outlive the grace time are ended and settled for what was delivered.
func (a *App) shutdown() {
	a.shuttingDown.Store(true)
	ctx, cancel := context.WithTimeout(context.Background(), max(a.Config().Timers.ShutdownGrace, time.Millisecond))
	defer cancel()
	socketsEnd := a.finishSockets(ctx)
	a.finishRunning(ctx, socketsEnd)
	if err := a.clientHTTP.Shutdown(ctx); err != nil {
		a.endTurns()
		last, done := context.WithTimeout(context.Background(), 5*time.Second)
		defer done()
		_ = a.clientHTTP.Shutdown(last)
		_ = a.clientHTTP.Close()
	}
	a.endTurns()
	socketsEnd()
	_ = a.adminHTTP.Close()
}

// deleteExpired deletes what is past its time.
func (a *App) deleteExpired(ctx context.Context) error {
	t := time.NewTicker(time.Hour)
	defer t.Stop()
	for {
		before := time.Now().Add(-a.Config().Retention.Requests)
		_, records := a.journal.Retain(ctx, before)
		_, ids := a.states.Expire(ctx)
		_, alerts := a.alerts.Expire(ctx, before)
		days := a.ledger.ForgetDays(ctx)
		if err := errors.Join(records, ids, alerts, days); err != nil && ctx.Err() == nil {
			a.log.Warn("deleting what is past its time", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
	}
}

// Close gives back what New opened, last first.
func (a *App) Close() error {
	var errs []error
	if a.early != nil {
		_ = a.clientHTTP.Close()
		_ = a.early.wait()
	}
	for _, l := range [...]net.Listener{a.admin, a.client} {
		if l != nil {
			_ = l.Close()
		}
	}
	if a.upstream != nil {
		a.upstream.Close()
	}
	if a.spool != nil {
		errs = append(errs, a.spool.Close())
	}
	if a.db != nil {
		errs = append(errs, a.db.Close())
		a.db = nil
	}
	return errors.Join(errs...)
}
