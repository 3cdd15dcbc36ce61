package app

import (
	"crypto/tls"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"rubicon/internal/config"
)

const twoChannels = `
channels:
  - {name: a, protocol: responses, base_url: "http://a.example/v1", credentials: [{name: k1, key: canary-a}]}
  - {name: b, protocol: responses, base_url: "http://b.example/v1", credentials: [{name: k1, key: canary-b}]}
`

const modelAB = `models: [{name: m, price: {input: "10", output: "50"}, channels: [{channel: a}, {channel: b, priority: 1}]}]` + "\n"

// settled waits until a change of the file was noticed.
func settled() { time.Sleep(4 * time.Second); synctest.Wait() }

func TestAChangedFileIsAppliedWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		a := &counted{do: func(rw http.ResponseWriter, _ *http.Request) {
			stream(rw, 2*time.Second, created, delta, delta, completed)
		}}
		b := &counted{do: good}
		w.upstream("a.example", a)
		w.upstream("b.example", b)
		w.configure(twoChannels + modelAB)
		w.start()
		w.customer()
		before := w.app.Config().Version()
		if got := w.ready(); got != before {
			t.Errorf("readyz says %q, want %q", got, before)
		}

		// A request that runs finishes under the configuration it began with.
		running := make(chan reply)
		go func() { running <- w.ask(t.Context()) }()
		time.Sleep(time.Second)
		w.configure(twoChannels[:strings.Index(twoChannels, "  - {name: a")] + twoChannels[strings.Index(twoChannels, "  - {name: b"):] +
			`models: [{name: m, price: {input: "10", output: "50"}, channels: [{channel: b}]}, {name: new, price: {input: "1", output: "1"}, channels: [{channel: b}]}]` + "\n")
		settled()
		after := w.app.Config().Version()
		if after == before || w.ready() != after {
			t.Errorf("before %s, after %s, readyz %s", before, after, w.ready())
		}
		if got := <-running; !got.ok() || !strings.Contains(got.body, "Hello") {
			t.Errorf("the running request: %+v", got)
		}
		if got := w.ask(t.Context()); !got.ok() || a.count() != 1 || b.count() != 1 {
			t.Errorf("afterwards: %+v, calls %d and %d", got, a.count(), b.count())
		}
		if got := w.metric(`rubicon_config_info{version="` + after + `"}`); got != "1" {
			t.Errorf("metric %q", got)
		}
	})
}

func (w *world) ready() string {
	w.t.Helper()
	res, err := w.http.Get("http://127.0.0.1:8080/readyz")
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	var buf [200]byte
	n, _ := res.Body.Read(buf[:])
	_, version, _ := strings.Cut(string(buf[:n]), `"config":"`)
	return strings.TrimSuffix(version, `"}`)
}

func TestABadFileChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.upstream("a.example", http.HandlerFunc(good))
		w.configure(twoChannels + modelAB)
		w.start()
		w.customer()
		before := w.app.Config()
		for _, bad := range []string{
			"nonsense: 1\n" + twoChannels + modelAB,
			twoChannels + "models: [{name: m}]\n",
			"\t{",
			twoChannels + modelAB + "limits: {event: 1MiB}\nlimits: {}\n",
		} {
			w.configure(bad)
			settled()
			if w.app.Config() != before {
				t.Errorf("taken: %s", bad)
			}
		}
		if got := w.metric(`rubicon_config_reloads_total{result="refused"}`); got != "4" {
			t.Errorf("refused %s times", got)
		}
		if s := w.log.String(); !strings.Contains(s, "configuration refused; the old one runs on") || !strings.Contains(s, "path=nonsense") || !strings.Contains(s, "path=models[0].price") {
			t.Errorf("log: %s", s)
		}
		if got := w.ask(t.Context()); !got.ok() {
			t.Errorf("afterwards: %+v", got)
		}
		if err := os.Remove(w.file); err != nil {
			t.Fatal(err)
		}
		settled()
		if w.app.Config() != before || !strings.Contains(w.log.String(), "does not exist") {
			t.Error("a file that is gone")
		}
	})
}

func TestWhatCannotChangeIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.configure(twoChannels + modelAB)
		w.start()
		cfg, _, err := w.load()
		if err != nil {
			t.Fatal(err)
		}
		cfg.Listen, cfg.Store.URL, cfg.TLS = "127.0.0.1:1", config.NewSecret("sqlite:canary.db"), config.TLS{Cert: "c", Key: "k"}
		err = w.app.Reload(cfg)
		if err == nil || err.Error() != "listen, tls (on or off), store cannot change while the gateway runs: restart it, or take the change back" {
			t.Errorf("%v", err)
		}
		if w.app.Config().Listen != "127.0.0.1:8080" {
			t.Error("half of it was taken")
		}
	})
}

func TestHangupReloadsAtOnceAndHealthIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.upstream("a.example", http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Retry-After", "50")
			refuse(rw, 429, "rate_limit_error", "rate_limit_exceeded")
		}))
		w.upstream("b.example", http.HandlerFunc(good))
		w.configure(twoChannels + modelAB)
		w.start()
		w.customer()
		if got := w.ask(t.Context()); !got.ok() {
			t.Fatalf("%+v", got)
		}
		w.configure("breaker: {failures: 9}\nlimits: {request_body: 1KiB}\n" + twoChannels + modelAB)
		w.hangup <- syscall.SIGHUP
		synctest.Wait()
		if w.app.Config().Breaker.Failures != 9 {
			t.Error("not applied")
		}
		if got := w.channel("a"); got["state"] != "cooling" {
			t.Errorf("a is %v", got)
		}
		if got := w.send(t.Context(), `{"model":"m","input":"`+strings.Repeat("x", 2000)+`"}`); got.status != 413 {
			t.Errorf("the new limit is not in force: %+v", got)
		}
		w.hangup <- syscall.SIGHUP
		synctest.Wait()
		if !strings.Contains(w.log.String(), "nothing changed") {
			t.Error("read again without a change: not said")
		}
	})
}

func TestTheAdminTokenChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.configure(twoChannels + modelAB)
		w.start()
		if status, _ := w.admin("GET", "/admin/v1/channels", nil); status != 200 {
			t.Fatal(status)
		}
		cfg, _, err := w.load()
		if err != nil {
			t.Fatal(err)
		}
		cfg.Admin.Token, cfg.Admin.Profiling = config.NewSecret("canary-other-token"), true
		if err := w.app.Reload(cfg); err != nil {
			t.Fatal(err)
		}
		if status, _ := w.admin("GET", "/admin/v1/channels", nil); status != 401 {
			t.Errorf("the old token: %d", status)
		}
	})
}

// A secret in a file of its own is part of the configuration.
func TestARotatedKeyIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		secret := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(secret, []byte("canary-one\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		keys := make(chan string, 10)
		w.upstream("a.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			keys <- r.Header.Get("Authorization")
			good(rw, r)
		}))
		w.configure(strings.Replace(twoChannels, "canary-a", `"${file:`+secret+`}"`, 1) + modelAB)
		w.start()
		w.customer()
		w.ask(t.Context())
		if err := os.WriteFile(secret, []byte("canary-number-two\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		settled()
		w.ask(t.Context())
		if one, two := <-keys, <-keys; one != "Bearer canary-one" || two != "Bearer canary-number-two" {
			t.Errorf("keys %s, %s", one, two)
		}
	})
}

func TestBadCertificates(t *testing.T) {
	if c, err := readCertificate(config.TLS{}); c != nil || err != nil {
		t.Errorf("no TLS: %v, %v", c, err)
	}
	if _, err := readCertificate(config.TLS{Cert: "/nowhere/c", Key: "/nowhere/k"}); err == nil || !strings.Contains(err.Error(), "check tls") {
		t.Errorf("no files: %v", err)
	}
	a := &App{}
	a.certificate.Store(&tls.Certificate{Certificate: [][]byte{{1}}})
	if got, err := a.tlsConfig().GetCertificate(nil); err != nil || len(got.Certificate) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}
