package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// served is a gateway as `rubicon serve` runs it.
type served struct {
	t              *testing.T
	clients, admin string // URLs
	stop           func()

	mu  sync.Mutex
	log strings.Builder
}

func (s *served) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(b)
}

func (s *served) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// until polls: the gateway's own goroutines answer when they do.
func (s *served) until(what string, ok func() bool) {
	s.t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("%s did not happen; log: %s", what, s.said())
		}
	}
}

func serve(t *testing.T, file string) *served {
	t.Helper()
	s := &served{t: t}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, &shell{out: io.Discard, err: s, env: os.LookupEnv}, []string{"serve", "-c", file})
	}()
	s.stop = sync.OnceFunc(func() {
		cancel()
		if code := <-done; code != 0 {
			t.Errorf("exit code %d: %s", code, s.said())
		}
	})
	t.Cleanup(s.stop)
	ready := regexp.MustCompile(`msg=ready clients=(\S+) admin=(\S+)`)
	s.until("the start", func() bool { return ready.MatchString(s.said()) })
	at := ready.FindStringSubmatch(s.said())
	s.clients, s.admin = "http://"+at[1], "http://"+at[2]
	return s
}

func (s *served) cli(args ...string) outcome {
	s.t.Helper()
	return cli(s.t, []string{"RUBICON_ADMIN_TOKEN", adminToken}, append(args, "--admin-url", s.admin)...)
}

func (s *served) must(args ...string) string {
	s.t.Helper()
	got := s.cli(args...)
	if got.code != 0 || got.err != "" {
		s.t.Fatalf("%v: %+v", args, got)
	}
	return got.out
}

// row is a line of a table that begins with these words.
func row(t *testing.T, table string, words ...string) string {
	t.Helper()
	for line := range strings.Lines(table) {
		if got := strings.Fields(line); len(got) >= len(words) && strings.Join(got[:len(words)], " ") == strings.Join(words, " ") {
			return strings.Join(got, " ")
		}
	}
	t.Fatalf("no row %q in\n%s", words, table)
	return ""
}

const routes = `admin: {listen: "127.0.0.1:0", token: ` + adminToken + `}
listen: 127.0.0.1:0
store: {url: "sqlite:own.db"}
channels:
  - {name: a, protocol: responses, base_url: "http://a.example/v1", credentials: [{name: k1, key: canary-1}, {name: k2, key: canary-2}]}
  - {name: b, protocol: chat, base_url: "http://b.example/v1"}
models:
  - {name: m, price: {input: "1", output: "1"}, channels: [{channel: a}]}
  - {name: n, price: {input: "1", output: "1"}, channels: [{channel: b}, {channel: a}]}
`

func TestOperatorsOrders(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "mine.yaml", routes)
	s := serve(t, "mine.yaml")

	s.must("channel", "pause", "b", "--reason", "maintenance")
	s.must("channel", "disable", "a", "k1", "--reason", "leaked")
	s.must("channel", "weight", "a", "m", "7")
	check := func() {
		t.Helper()
		list := s.must("channel", "list")
		if got := row(t, list, "b", "n", "paused"); !strings.Contains(got, "maintenance") {
			t.Errorf("b: %s", got)
		}
		if got := row(t, list, "a", "m", "k1", "disabled"); !strings.Contains(got, "leaked") {
			t.Errorf("k1: %s", got)
		}
		row(t, list, "a", "m", "closed", "7", "7")
		row(t, list, "a", "n", "closed", "100", "100")
		row(t, list, "a", "m", "k2", "active")
	}
	check()
	if got := s.must("explain", "--dry-run", "n", "--protocol", "chat"); !strings.Contains(got, "paused") {
		t.Errorf("dry run: %s", got)
	}
	if got := s.must("explain", "--dry-run", "m"); !strings.Contains(got, "→") {
		t.Errorf("dry run: %s", got)
	}

	s.cli("channel", "pause", "nobody").oneLine(t, exitFailed, `no channel "nobody"`)
	s.cli("channel", "disable", "a", "k9").oneLine(t, exitFailed, `channel "a" has no credential "k9"`)
	s.cli("channel", "weight", "a", "nothing", "1").oneLine(t, exitFailed, `no public model "nothing"`)
	s.cli("channel", "weight", "nobody", "m", "1").oneLine(t, exitFailed, `no channel "nobody"`)
	s.cli("channel", "weight", "b", "m", "1").oneLine(t, exitFailed, `the public model "m" does not list the channel "b"`)
	s.cli("channel", "weight", "a", "m", "1000001").oneLine(t, exitFailed, "above 1000000")
	s.cli("explain", "--dry-run", "nothing").oneLine(t, exitFailed, "No such")

	s.stop()
	s = serve(t, "mine.yaml")
	check() // they are kept over restarts

	s.must("channel", "resume", "b")
	s.must("channel", "enable", "a", "k1")
	s.must("channel", "weight", "a", "m", "default")
	list := s.must("channel", "list")
	row(t, list, "b", "n", "closed")
	row(t, list, "a", "m", "k1", "active")
	row(t, list, "a", "m", "closed", "100", "100")
}

// A file that changes and a signal both reload; a bad file changes nothing.
func TestServeReloads(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "mine.yaml", routes)
	s := serve(t, "mine.yaml")
	first := s.ready()
	write(t, "mine.yaml", "nonsense: true\n"+routes)
	hangup(t)
	s.until("the refusal", func() bool { return strings.Contains(s.said(), "configuration refused") })
	if got := s.ready(); got != first {
		t.Errorf("%s runs, not %s", got, first)
	}
	write(t, "mine.yaml", "balance_pause: 5m\n"+routes)
	hangup(t)
	s.until("the new configuration", func() bool { return s.ready() != first })
	write(t, "mine.yaml", routes)
	s.until("the old configuration", func() bool { return s.ready() == first }) // without a signal
}

func hangup(t *testing.T) {
	t.Helper()
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
}

// ready is the version that /readyz shows.
func (s *served) ready() string {
	s.t.Helper()
	res, err := http.Get(s.clients + "/readyz")
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	return find(s.t, `"config":"[0-9a-f]+"`, string(body))
}

// A signal ends what serves with exit code 0, also before it serves.
func TestInterruptedAtTheStart(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "mine.yaml", routes)
	for _, args := range [][]string{{"serve", "-c", "mine.yaml"}, {"sim", "--listen", "127.0.0.1:0"}, {"demo"}} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var errs strings.Builder
		if code := run(ctx, &shell{out: io.Discard, err: &errs, env: os.LookupEnv}, args); code != exitOK {
			t.Errorf("%v: exit code %d: %s", args, code, errs.String())
		}
	}
}
