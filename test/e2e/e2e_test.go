// Package e2e proves the gateway from the outside: real sockets, upstreams that
// answer byte for byte, and the operator's view of what came of it.
//
// No sleeping to wait for things; conditions are polled with a deadline.
package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rubicon/internal/config"
	"rubicon/test/stand"
)

// Whatever a test leaves running, the gateway's or its own, fails the package.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(built.dir)
		os.Exit(code)
	}))
}

// allCuts: what takes longer too.
var allCuts = os.Getenv("RUBICON_TEST_ALL") == "1"

// api is a surface as the table tests need it.
type api struct {
	protocol, path string
	body           string // of a streamed request with the model MODEL
	whole          string // the same, not streamed
}

var apis = []api{
	{"responses", "/v1/responses", `{"model":"MODEL","input":"Hi","store":false,"stream":true,"max_output_tokens":50}`,
		`{"model":"MODEL","input":"Hi","store":false,"max_output_tokens":50}`},
	{"chat", "/v1/chat/completions", `{"model":"MODEL","messages":[{"role":"user","content":"Hi"}],"stream":true,"max_tokens":50}`,
		`{"model":"MODEL","messages":[{"role":"user","content":"Hi"}],"max_tokens":50}`},
	{"messages", "/v1/messages", `{"model":"MODEL","messages":[{"role":"user","content":"Hi"}],"stream":true,"max_tokens":50}`,
		`{"model":"MODEL","messages":[{"role":"user","content":"Hi"}],"max_tokens":50}`},
}

func (a api) stream(model string) string     { return strings.ReplaceAll(a.body, "MODEL", model) }
func (a api) unstreamed(model string) string { return strings.ReplaceAll(a.whole, "MODEL", model) }

// peersOf gives YAML with a channel for every protocol at the peers, in order
// of priority, and the models r, c and m (responses, chat, messages) on them.
func peersOf(extra string, peers ...string) string {
	var b strings.Builder
	b.WriteString(extra + "\nchannels:\n")
	for _, p := range peers {
		for _, a := range apis {
			fmt.Fprintf(&b, "  - {name: %[1]s-%[2]s, protocol: %[2]s, base_url: \"{%[1]s}\", allow_private: true, credentials: [{name: k, key: \"{key}\"}]}\n", p, a.protocol)
		}
	}
	b.WriteString("models:\n")
	for _, a := range apis {
		fmt.Fprintf(&b, "  - name: %s\n    price: {input: \"10\", output: \"50\"}\n    channels:\n", a.protocol[:1])
		for i, p := range peers {
			fmt.Fprintf(&b, "      - {channel: %s-%s, upstream_model: up, priority: %d, cost: {input: \"1\", output: \"5\"}}\n", p, a.protocol, i)
		}
	}
	return b.String()
}

// patient never opens a breaker: its failures are forgotten at once.
func patient(c *config.Config) { c.Breaker.Failures, c.Breaker.Window = 1000, time.Millisecond }

// must fails the test if ok does not come true in time.
func must(tb testing.TB, d time.Duration, what string, ok func() bool) {
	tb.Helper()
	if !stand.WaitFor(d, ok) {
		tb.Fatalf("not within %v: %s", d, what)
	}
}
