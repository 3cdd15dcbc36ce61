package audit

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"rubicon/internal/app"
	"rubicon/internal/config"
	"rubicon/internal/lab/memnet"
	"rubicon/internal/store"
)

// empty is a database with the schema and nothing in it: a copy costs far less
// than the migrations.
var empty []byte

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "audit-")
	if err != nil {
		panic(err)
	}
	path := filepath.Join(dir, "empty.db")
	db, err := store.Open(context.Background(), "sqlite:"+path, store.Options{})
	if err == nil {
		err = errors.Join(db.Migrate(context.Background()), db.Close())
	}
	if err == nil {
		empty, err = os.ReadFile(path)
	}
	if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// auditTest is an in-memory world with virtual time in which gateways are audited:
// the waits of a full run cost nothing.
type auditTest struct {
	*testing.T
	net  *memnet.Network
	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup
}

const (
	gatewayAddr = "gateway.test:8080"
	adminAddr   = "gateway.test:8081"
	adminToken  = "audit-admin-token"
)

// inBubble runs a test in such a world.
func inBubble(t *testing.T, f func(*auditTest)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &auditTest{T: t, net: memnet.New()}
		r.ctx, r.stop = context.WithCancel(context.Background())
		defer r.wg.Wait()
		defer r.stop()
		f(r)
	})
}

// options are those of a run in this world.
func (r *auditTest) options(suite Suite, s Surface) Options {
	return Options{Suite: suite, Surface: s, Target: "http://" + gatewayAddr, Listen: [2]string{"primary.test:9101", "fallback.test:9102"},
		Seed: "t", Dial: r.net.Dial, OpenAddress: func(_, addr string) (net.Listener, error) { return r.net.Listen(addr) }}
}

// audit runs a suite.
func (r *auditTest) audit(o Options) *Report {
	r.Helper()
	report, err := Run(r.ctx, o)
	if err != nil {
		r.Fatal(err)
	}
	return report
}

// serve puts a handler at the gateway's address.
func (r *auditTest) serve(h http.Handler) {
	r.Helper()
	l, err := r.net.Listen(gatewayAddr)
	if err != nil {
		r.Fatal(err)
	}
	s := &http.Server{Handler: h}
	r.wg.Go(func() { _ = s.Serve(l) })
	context.AfterFunc(r.ctx, func() { _ = s.Close() })
}

// gateway is Rubicon with a customer, configured as Setup says.
type gateway struct {
	r        *auditTest
	customer string
	key      string
	spent    int64 // nano-USD, by the records
}

// rubicon starts the real gateway with the configuration that Setup prints;
// more is put in front of its channels.
func (r *auditTest) rubicon(o Options, more string) *gateway {
	r.Helper()
	text, err := Setup(ForRubicon, o)
	if err != nil {
		r.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "audit-")
	if err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "audit.db"), empty, 0o600); err != nil {
		r.Fatal(err)
	}
	text = strings.NewReplacer("127.0.0.1:8080\n", gatewayAddr+"\n", "127.0.0.1:8081", adminAddr,
		"rubicon-audit.db", filepath.Join(dir, "audit.db"), "channels:\n", more+"channels:\n").Replace(text)
	cfg, err := config.Parse([]byte(text), func(string) (string, bool) { return adminToken, true })
	if err != nil {
		r.Fatalf("the configuration that Setup prints: %v\n%s", err, text)
	}
	a, err := app.New(r.ctx, cfg, app.Options{Version: "test", Dial: r.net.Dial,
		Listen: func(_, addr string) (net.Listener, error) { return r.net.Listen(addr) }})
	if err != nil {
		r.Fatal(err)
	}
	r.wg.Go(func() {
		if err := a.Run(r.ctx); err != nil {
			r.Errorf("the gateway: %v", err)
		}
		_ = os.RemoveAll(dir)
	})
	g := &gateway{r: r}
	var made struct{ ID, Key string }
	g.admin("POST", "/admin/v1/customers", `{"name":"audit"}`, &made)
	g.customer = made.ID
	g.admin("POST", "/admin/v1/customers/"+g.customer+"/credits", `{"amount":"10.00","reason":"audit"}`, nil)
	g.admin("POST", "/admin/v1/customers/"+g.customer+"/keys", `{"name":"audit"}`, &made)
	g.key = made.Key
	return g
}

// admin calls the admin API.
func (g *gateway) admin(method, path, body string, out any) {
	g.r.Helper()
	req, err := http.NewRequest(method, "http://"+adminAddr+path, strings.NewReader(body))
	if err != nil {
		g.r.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+adminToken)
	tr := &http.Transport{DialContext: g.r.net.Dial, DisableKeepAlives: true}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		g.r.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		g.r.Fatalf("%s %s: status %d", method, path, resp.StatusCode)
	}
	if out != nil {
		if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
			g.r.Fatal(err)
		}
	}
}
