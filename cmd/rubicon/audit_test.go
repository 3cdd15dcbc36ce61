package main

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"strings"
	"testing"

	"rubicon/internal/app"
	"rubicon/internal/config"
)

// audited is a gateway on real sockets, configured as `audit --setup` says.
type audited struct {
	target, key, upstreams string
}

func newAudited(t *testing.T, surface string) audited {
	t.Helper()
	a := audited{upstreams: freeAddr(t) + "," + freeAddr(t)}
	setup := cli(t, nil, "audit", "--setup", "rubicon", "--fast", "--surface", surface, "--upstream-listen", a.upstreams)
	if setup.code != 0 {
		t.Fatalf("%+v", setup)
	}
	text := strings.NewReplacer("listen: 127.0.0.1:8080", "listen: 127.0.0.1:0", `"127.0.0.1:8081"`, `"127.0.0.1:0"`,
		"rubicon-audit.db", t.TempDir()+"/audit.db").Replace(setup.out)
	cfg, err := config.Parse([]byte(text), func(string) (string, bool) { return adminToken, true })
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	gateway, err := app.New(t.Context(), cfg, app.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- gateway.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	a.target = "http://" + gateway.ClientAddr()
	env := []string{"RUBICON_ADMIN_TOKEN", adminToken}
	at := []string{"--json", "--admin-url", "http://" + gateway.AdminAddr()}
	var made struct{ ID, Key string }
	for _, args := range [][]string{{"customer", "create", "audit"}, {"credit", "give", "ID", "10.00", "--reason", "audit"}, {"key", "create", "ID"}} {
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "ID", made.ID)
		}
		got := cli(t, env, append(args, at...)...)
		if got.code != 0 {
			t.Fatalf("%v: %+v", args, got)
		}
		if args[0] != "credit" {
			if err := json.Unmarshal([]byte(got.out), &made); err != nil {
				t.Fatal(err)
			}
		}
	}
	a.key = made.Key
	return a
}

// freeAddr is an address where nobody listens yet.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// audit runs the command; the key comes from the environment.
func (a audited) audit(t *testing.T, args ...string) outcome {
	t.Helper()
	return cli(t, []string{"RUBICON_AUDIT_KEY", a.key}, append([]string{"audit", "--fast", "--target", a.target, "--upstream-listen", a.upstreams}, args...)...)
}

func TestAudit(t *testing.T) {
	a := newAudited(t, "chat")
	text := a.audit(t, "--case", "answer,upstream-500,cut")
	if text.code != 0 || !strings.Contains(text.out, "3 cases: 3 pass, 0 partial, 0 safe, 0 fail") {
		t.Errorf("%+v", text)
	}
	atomic := a.audit(t, "--suite", "faults", "--case", "cut", "--header", "rubicon-delivery: atomic", "--threshold", "pass", "--json")
	var report struct {
		Counts  map[string]int
		Results []struct{ Name, Grade string }
	}
	if err := json.Unmarshal([]byte(atomic.out), &report); err != nil || atomic.code != 0 || report.Counts["pass"] != 1 || report.Results[0].Name != "cut" {
		t.Errorf("%v %+v", err, atomic)
	}
	streamed := a.audit(t, "--suite", "faults", "--case", "cut", "--threshold", "pass", "--markdown")
	streamed.oneLine(t, exitFailed, "below the threshold: not every case is pass or better")
	if !strings.Contains(streamed.out, "| **safe** |") {
		t.Errorf("%s", streamed.out)
	}
	if usual := a.audit(t, "--suite", "faults", "--case", "cut"); usual.code != 0 {
		t.Errorf("%+v", usual)
	}
	for _, o := range []outcome{text, atomic, streamed} {
		if strings.Contains(o.out+o.err, a.key) {
			t.Errorf("the key shows: %+v", o)
		}
	}
	a.audit(t, "--case", "nonsense").oneLine(t, exitUsage, `has no case "nonsense"`)
	cli(t, nil, "audit", "--target", "127.0.0.1:8080").oneLine(t, exitUsage, "the target must be a URL")
}

// Both suites over real sockets, at a tenth of the waits.
func TestAuditWhole(t *testing.T) {
	if os.Getenv("RUBICON_TEST_ALL") == "" {
		t.Skip("two minutes of waits; RUBICON_TEST_ALL=1 runs it, and internal/lab/audit runs the suites in virtual time")
	}
	for _, surface := range []string{"chat", "messages", "responses", "responses.ws"} {
		t.Run(surface, func(t *testing.T) {
			a := newAudited(t, surface)
			for _, suite := range []string{"faults", "contract"} {
				if got := a.audit(t, "--surface", surface, "--suite", suite); got.code != 0 {
					t.Errorf("%s: %s%s", suite, got.out, got.err)
				}
			}
		})
	}
}
