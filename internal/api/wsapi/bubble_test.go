package wsapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"rubicon/internal/app"
	"rubicon/internal/books/journal"
	"rubicon/internal/config"
	"rubicon/internal/lab/memnet"
	"rubicon/internal/lab/sim"
)

// virtualInstallation is a gateway on a virtual clock and an in-memory network.
type virtualInstallation struct {
	t     *testing.T
	net   *memnet.Network
	app   *app.App
	a, b  *sim.Provider
	http  *http.Client
	key   string
	stop  context.CancelFunc
	ended chan error
	over  bool
}

const token = "bubble-admin-token"

// inBubble runs f against a gateway whose channels play a and b. Everything is
// gone when it returns, or the bubble complains.
func inBubble(t *testing.T, extra string, a, b sim.Script, f func(t *testing.T, x *virtualInstallation)) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		x := &virtualInstallation{t: t, net: memnet.New(), ended: make(chan error, 1),
			a: sim.New(sim.Options{Seed: "a", Scripts: map[string]sim.Script{"up-a": a}}),
			b: sim.New(sim.Options{Seed: "b", Scripts: map[string]sim.Script{"up-b": b}})}
		ctx, stopPeers := context.WithCancel(context.Background())
		peers := make(chan error, 2)
		for name, p := range map[string]*sim.Provider{"a.test:80": x.a, "b.test:80": x.b} {
			l, err := x.net.Listen(name)
			if err != nil {
				t.Fatal(err)
			}
			go func() { peers <- p.Serve(ctx, l) }()
		}
		x.start(filepath.Join(dir, "b.db"), extra)
		f(t, x)
		x.http.CloseIdleConnections()
		x.shutdown()
		stopPeers()
		<-peers
		<-peers
	})
}

func (x *virtualInstallation) start(db, extra string) {
	yaml := strings.NewReplacer("{a}", "http://a.test/v1", "{b}", "http://b.test/v1", "{key}", "sk-x").Replace(gateway)
	yaml = fmt.Sprintf("listen: gw.test:80\nadmin: {listen: \"admin.test:80\", token: %s}\nstore: {url: %q}\nreplay: {default_store: false}\n%s%s", token, "sqlite:"+db, yaml, extra)
	cfg, err := config.Parse([]byte(yaml), func(string) (string, bool) { return "", false })
	if err != nil {
		x.t.Fatal(err)
	}
	x.app, err = app.New(x.t.Context(), cfg, app.Options{Dial: x.net.Dial, Random: func() float64 { return 0.5 },
		Listen: func(_, address string) (net.Listener, error) { return x.net.Listen(address) }})
	if err != nil {
		x.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	x.stop = stop
	go func() { x.ended <- x.app.Run(ctx) }()
	x.http = &http.Client{Transport: &http.Transport{DialContext: x.net.Dial}}
	var made struct{ ID, Key string }
	x.operate("POST", "/admin/v1/customers", `{"name":"x"}`, &made)
	id := made.ID
	x.operate("POST", "/admin/v1/customers/"+id+"/keys", `{"name":"x"}`, &made)
	x.key = made.Key
	x.operate("POST", "/admin/v1/customers/"+id+"/credits", `{"amount":"100.00","reason":"x"}`, nil)
}

// shutdown stops the gateway as SIGTERM does and waits for it.
func (x *virtualInstallation) shutdown() {
	if x.over {
		return
	}
	x.over = true
	x.stop()
	if err := <-x.ended; err != nil {
		x.t.Errorf("the gateway ended with %v", err)
	}
}

func (x *virtualInstallation) operate(method, path, body string, out any) {
	x.t.Helper()
	req, _ := http.NewRequest(method, "http://admin.test"+path, bytes.NewReader([]byte(body)))
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := x.http.Do(req)
	if err != nil {
		x.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, _ := io.ReadAll(resp.Body)
	if resp.StatusCode/100 != 2 {
		x.t.Fatalf("%s %s: %d %s", method, path, resp.StatusCode, raw)
	}
	if out != nil {
		if err := json.Unmarshal(raw, out); err != nil {
			x.t.Fatal(err)
		}
	}
}

// records gives all records, newest first.
func (x *virtualInstallation) records() []journal.Record {
	x.t.Helper()
	synctest.Wait()
	var list struct{ Requests []journal.Record }
	x.operate("GET", "/admin/v1/requests", "", &list)
	return list.Requests
}

// settled checks that no money is held and the ledger adds up.
func (x *virtualInstallation) settled() {
	x.t.Helper()
	time.Sleep(100 * time.Millisecond) // virtual: it passes when nothing is being written any more
	var report struct{ OK bool }
	x.operate("GET", "/admin/v1/ledger/verify", "", &report)
	var list struct{ Customers []struct{ ID string } }
	x.operate("GET", "/admin/v1/customers", "", &list)
	for _, c := range list.Customers {
		var b struct{ Held string }
		x.operate("GET", "/admin/v1/customers/"+c.ID+"/balance", "", &b)
		if b.Held != "0.000000000" || !report.OK {
			x.t.Errorf("held %s, ledger ok %v", b.Held, report.OK)
		}
	}
}

func (x *virtualInstallation) dial() *client {
	x.t.Helper()
	ws, resp, err := websocket.Dial(x.t.Context(), "ws://gw.test/v1/responses", &websocket.DialOptions{
		HTTPClient: x.http, HTTPHeader: http.Header{"Authorization": {"Bearer " + x.key}}})
	if err != nil {
		x.t.Fatalf("upgrading: %v", err)
	}
	ws.SetReadLimit(-1)
	return &client{t: x.t, ws: ws, resp: resp}
}

// raw is a client that does only what it is told: a socket after the upgrade.
func (x *virtualInstallation) raw() net.Conn {
	x.t.Helper()
	c, err := x.net.Dial(x.t.Context(), "tcp", "gw.test:80")
	if err != nil {
		x.t.Fatal(err)
	}
	handshake(x.t, c, "gw.test", x.key)
	return c
}

// since is how long something took on the virtual clock.
func since(start time.Time) time.Duration { return time.Since(start).Round(time.Millisecond) }
