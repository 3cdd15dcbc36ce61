package scenario

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"rubicon/internal/app"
	"rubicon/internal/books/journal"
	"rubicon/internal/config"
	"rubicon/internal/engine/turn"
	"rubicon/internal/health"
	"rubicon/internal/health/route"
	"rubicon/internal/lab/memnet"
	"rubicon/internal/lab/sim"
)

// installation is the running parts of one scenario, inside its bubble.
type installation struct {
	t     *testing.T
	s     *Scenario
	dir   string
	empty []byte // a database with the schema and nothing in it
	t0    time.Time
	net   *memnet.Network
	conf  object
	cfg   *config.Config

	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup // providers

	providers []*provider
	accounts  map[string]*sim.Account // by origin, of channels that name one
	journal   *eventLog
	ids       io.Reader
	random    func() float64

	gateway *running
	lives   int // databases so far: a killed gateway's is left behind

	customers map[string]*customer
	calls     []*exchange // clients' calls, in the order of the file
	admin     []AdminCall
	sockets   map[string]*socket
	locker    *sql.DB // holds the write lock of the database
}

// provider is one scripted upstream host.
type provider struct {
	host     string
	channels []string
	sim      *sim.Provider
}

// running is one life of the gateway.
type running struct {
	app  *app.App
	stop context.CancelFunc
	done chan error
	db   string
	conn *connections
}

type customer struct{ name, id, key, secret string }

func newStage(t *testing.T, s *Scenario, dir string, empty []byte) *installation {
	seed := rand.New(rand.NewPCG(1, 2))
	st := &installation{t: t, s: s, dir: dir, empty: empty, t0: time.Now(), net: memnet.New(), journal: &eventLog{}, customers: map[string]*customer{}, accounts: map[string]*sim.Account{}, random: locked(seed.Float64)}
	st.ids = rand.NewChaCha8([32]byte{'l', 'o', 'c', 'k'})
	st.ctx, st.stop = context.WithCancel(context.Background())
	return st
}

func locked(f func() float64) func() float64 {
	var mu sync.Mutex
	return func() float64 {
		mu.Lock()
		defer mu.Unlock()
		return f()
	}
}

// build starts the providers and the gateway and makes the customers.
func (st *installation) build() error {
	conf, _, err := st.s.configuration(st.dir)
	if err != nil {
		return err
	}
	st.conf = conf
	at, err := hosts(conf)
	if err != nil {
		return err
	}
	addrs := make([]string, 0, len(at))
	for addr := range at {
		addrs = append(addrs, addr)
	}
	sort.Strings(addrs)
	for _, addr := range addrs {
		if err := st.host(addr, at[addr]); err != nil {
			return err
		}
	}
	st.lives++
	if err := writeFile(st.database(), st.empty); err != nil {
		return err
	}
	if err := st.serve(); err != nil {
		return err
	}
	return st.makeCustomers()
}

// host puts a provider at an address, unless nobody shall be there.
func (st *installation) host(addr string, channels []string) error {
	scripts := map[string]sim.Script{}
	for key, u := range st.s.Upstream {
		name, call, special := strings.Cut(key, " ")
		if !contains(channels, name) {
			continue
		}
		switch u.Dead {
		case silent:
			st.net.Blackhole(addr)
			return nil
		case refused, unknown:
			return nil
		}
		if !special {
			call = modelOf(name)
		}
		scripts[call] = u.Script
	}
	l, err := st.net.Listen(addr)
	if err != nil {
		return err
	}
	host, _, _ := net.SplitHostPort(addr)
	p := &provider{host: host, channels: channels, sim: sim.New(sim.Options{Scripts: scripts, Seed: strings.TrimSuffix(host, ".test"), Account: st.account(channels[0])})}
	st.providers = append(st.providers, p)
	st.wg.Go(func() { _ = p.sim.Serve(st.ctx, l) })
	return nil
}

// account is the upstream account of a channel that names one, shared by all that name it; otherwise nil, and each
// host is an account of its own.
func (st *installation) account(channel string) *sim.Account {
	channels, _ := st.conf.get("channels")
	config, _ := asObject(channels).get(channel)
	origin, named := asObject(config).get("origin")
	if !named {
		return nil
	}
	name := fmt.Sprint(origin)
	if st.accounts[name] == nil {
		st.accounts[name] = &sim.Account{}
	}
	return st.accounts[name]
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func (st *installation) database() string {
	return filepath.Join(st.dir, fmt.Sprintf("life-%d", st.lives), "lock.db")
}

// serve starts the gateway on the current database.
func (st *installation) serve() error {
	_, text, err := st.s.configuration(filepath.Dir(st.database()))
	if err != nil {
		return err
	}
	if st.cfg, err = config.Parse(text, nil); err != nil {
		return fmt.Errorf("config: %w", err)
	}
	g := &running{done: make(chan error, 1), db: st.database(), conn: &connections{}}
	a, err := app.New(st.ctx, st.cfg, app.Options{Version: "lock", Log: slog.New(st.journal), Rand: st.ids, Random: st.random, Choose: st.s.chooser(),
		Listen: func(_, address string) (net.Listener, error) { return g.conn.listen(st.net, address) }, Dial: g.conn.dial(st.net)})
	if err != nil {
		return err
	}
	var ctx context.Context
	ctx, g.stop = context.WithCancel(st.ctx)
	g.app = a
	go func() { g.done <- a.Run(ctx) }()
	st.gateway = g
	return nil
}

// close ends everything; nothing of the scenario runs afterwards.
func (st *installation) close() {
	st.closeSockets()
	if st.locker != nil {
		st.t.Error("the store is still locked at the end")
		_ = st.locker.Close()
	}
	if st.gateway != nil {
		st.gateway.stop()
		if err := <-st.gateway.done; err != nil {
			st.t.Errorf("the gateway ended with: %v", err)
		}
	}
	st.stop()
	st.wg.Wait()
}

const faultChoosing = "choosing"

// chooser is the gateway's own, unless the scenario wants it to fail.
func (s *Scenario) chooser() turn.Chooser {
	if s.Fault != faultChoosing {
		return nil
	}
	return func(m *config.Model, views []health.View, q route.Query) (route.Route, bool, journal.Decision) {
		if q.Last != nil {
			panic("lock: choosing the replacement fails")
		}
		return route.Choose(m, views, q)
	}
}
