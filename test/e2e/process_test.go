package e2e

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"rubicon/test/stand"
)

// built is the binary, built once for the package.
var built struct {
	sync.Once
	dir, path string
	out       []byte
	err       error
}

func binary(t *testing.T) string {
	t.Helper()
	built.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "rubicon-e2e-"); built.err != nil {
			return
		}
		built.path = filepath.Join(built.dir, "rubicon")
		built.out, built.err = exec.Command("go", "build", "-o", built.path, "rubicon/cmd/rubicon").CombinedOutput()
	})
	if built.err != nil {
		t.Fatalf("building rubicon: %v\n%s", built.err, built.out)
	}
	return built.path
}

// process is a gateway that runs as a process of its own.
type process struct {
	*stand.Gateway
	cmd *exec.Cmd

	mu     sync.Mutex
	log    []string
	logged sync.WaitGroup
}

var readyLine = regexp.MustCompile(`msg=ready clients=(\S+) admin=(\S+)`)

// serve starts the gateway on a configuration file and waits until it is ready.
func serve(t *testing.T, config string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(binary(t), "serve", "-c", config)}
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	ready := make(chan []string, 1)
	p.logged.Go(func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			p.note(lines.Text())
			if m := readyLine.FindStringSubmatch(lines.Text()); m != nil {
				ready <- m
			}
		}
		close(ready)
	})
	select {
	case m := <-ready:
		if m == nil {
			t.Fatalf("the gateway ended instead of serving:\n%s", p.tail())
		}
		p.Gateway = stand.Attach(t, m[1], m[2])
	case <-time.After(30 * time.Second):
		t.Fatalf("the gateway is not ready:\n%s", p.tail())
	}
	return p
}

func (p *process) note(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log = append(p.log, line)
}

func (p *process) tail() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.log[max(0, len(p.log)-20):], "\n")
}

// kill is kill -9, and waits.
func (p *process) kill() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Kill()
		p.logged.Wait()
		_ = p.cmd.Wait()
	}
}

// terminate is SIGTERM; it gives the exit code.
func (p *process) terminate(t *testing.T) int {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.logged.Wait()
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return p.cmd.ProcessState.ExitCode()
}

// provider serves scripts on a free port until the test ends and gives its base
// URL.
func provider(t *testing.T, p stand.Peer) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = p.Serve(ctx, l) })
	t.Cleanup(func() { stop(); wg.Wait() })
	return "http://" + l.Addr().String() + "/v1"
}

// configFile writes a configuration whose database lies beside it.
func configFile(t *testing.T, yaml string, urls map[string]string) string {
	t.Helper()
	return configOn(t, "sqlite:"+filepath.Join(t.TempDir(), "e2e.db"), yaml, urls)
}

// configOn writes a configuration for a database.
func configOn(t *testing.T, store, yaml string, urls map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	pairs := []string{"{key}", stand.Canary + "-0123456789abcdef"}
	for name, url := range urls {
		pairs = append(pairs, "{"+name+"}", url)
	}
	head := "listen: 127.0.0.1:0\nadmin: {listen: \"127.0.0.1:0\", token: " + stand.Token + "}\nstore: {url: \"" + store + "\", spool: \"" + dir + "\", lease: 1s}\n"
	path := filepath.Join(dir, "rubicon.yaml")
	if err := os.WriteFile(path, []byte(head+strings.NewReplacer(pairs...).Replace(yaml)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
