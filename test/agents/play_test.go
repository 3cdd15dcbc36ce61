package agents

import (
	"bytes"
	"cmp"
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rubicon/internal/books/journal"
	"rubicon/internal/config"
	"rubicon/internal/lab/sim"
	"rubicon/test/stand"
)

// outcome is all that came of playing a scene.
type outcome struct {
	runs    []run
	said    []said
	asked   []asked
	records []journal.Record // of turns, oldest first
	warm    int              // turns that the gateway answered itself
	calls   []call           // that came to the providers
	ran     int              // how often the shell's command ran
	direct  *outcome         // without the gateway
}

// call is one that a provider got.
type call struct {
	by string
	sim.Call
}

// play plays a scene with an agent through the gateway, and without it where
// that is to be compared.
func play(t *testing.T, a agent, s agentCase) row {
	o := through(t, a, s)
	if s.direct && !a.socket {
		d := direct(t, a, s)
		o.direct = &d
	}
	s.check(t, a, o)
	if t.Failed() {
		for _, r := range o.runs {
			t.Logf("exit %d after %v\n%s\n%s", r.exit, r.took, r.stdout, r.stderr)
		}
	}
	r := row{agent: a.name, scene: s.name, o: o, pass: !t.Failed()}
	t.Log(r)
	return r
}

const gatewayConfig = `
channels:
  - {name: a, protocol: PROTOCOL, base_url: "{a}", allow_private: true, credentials: [{name: k, key: "{key}"}]}
  - {name: b, protocol: PROTOCOL, base_url: "{b}", allow_private: true, credentials: [{name: k, key: "{key}"}]}
models:
  - name: m
    price: {input: "10", output: "50"}
    channels:
      - {channel: a, upstream_model: m, priority: 0, cost: {input: "1", output: "5"}}
      - {channel: b, upstream_model: m, priority: 1, cost: {input: "1", output: "5"}}
`

// through runs the agent through a gateway of its own.
func through(t *testing.T, a agent, s agentCase) (o outcome) {
	peers, providers := map[string]stand.Peer{}, map[string]*sim.Provider{}
	for name, script := range map[string]func(tool) (sim.Script, sim.Script){"a": s.a, "b": s.b} {
		starts, afters := script(a.tool)
		providers[name] = provider(name, starts, afters)
		peers[name] = providers[name]
	}
	// The breaker would end the longest of the scenes before the agent does.
	patient := func(c *config.Config) { c.Breaker.Failures = 1 << 30 }
	g := stand.Start(t, stand.Options{Config: strings.ReplaceAll(gatewayConfig, "PROTOCOL", a.channel), Peers: peers, Tune: patient})
	who := g.Default
	if s.poor {
		who = g.NewCustomer("")
	}
	o = prompts(t, a, s, strings.TrimPrefix(g.URL, "http://"), who.Key)
	for _, r := range g.Records() {
		r = g.Record(r.RequestID)
		checkMoney(t, g, r)
		checkOwn(t, g, who, r)
		switch {
		case len(r.Notes) > 0 && len(r.Attempts) == 0 && r.Outcome == journal.OutcomeCompleted:
			o.warm++
		case r.Surface != journal.Surface(a.surface) && !(a.socket && s.lasting && r.Surface == journal.SurfaceResponsesHTTP):
			t.Errorf("a request on %s: %+v", r.Surface, r)
		default:
			o.records = append(o.records, r)
		}
	}
	slices.SortFunc(o.records, func(a, b journal.Record) int { return a.StartedAt.Compare(b.StartedAt) })
	for name, p := range providers {
		o.collect(name, p)
	}
	o.checkBooks(t, a, s.lasting)
	return o
}

// direct runs the agent against the first provider alone.
func direct(t *testing.T, a agent, s agentCase) outcome {
	starts, afters := s.a(a.tool)
	p := provider("a", starts, afters)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.Serve(ctx, l) }()
	defer func() { stop(); <-ended }()
	o := prompts(t, a, s, l.Addr().String(), "sk-any")
	o.collect("a", p)
	return o
}

// prompts gives the agent the scene's prompts, one after the other.
func prompts(t *testing.T, a agent, s agentCase, to, key string) (o outcome) {
	f := startFront(t, to)
	dir := t.TempDir()
	h := agentFolder{dir: dir, work: filepath.Join(dir, "work"), url: f.url(), key: key}
	if err := os.MkdirAll(h.work, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range max(s.prompts, 1) {
		c, err := a.command(h, []string{"Say hello.", "Say it again."}[i], i > 0)
		if err != nil {
			t.Fatal(err)
		}
		r, err := start(t.Context(), h, c)
		if err != nil {
			t.Fatalf("starting %s: %v", c.args[0], err)
		}
		o.runs, o.said = append(o.runs, r), append(o.said, a.said(r.stdout))
	}
	o.asked = f.seen()
	raw, _ := os.ReadFile(filepath.Join(h.work, marks)) // not there: it never ran
	o.ran = bytes.Count(raw, []byte("ran"))
	return o
}

func (o *outcome) collect(name string, p *sim.Provider) {
	for _, c := range p.Calls("") {
		o.calls = append(o.calls, call{name, c})
	}
	slices.SortStableFunc(o.calls, func(a, b call) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.by, b.by)) })
}

// posts counts the requests that ask for an answer, on a socket its creates.
func (o outcome) posts() (n int) {
	for _, x := range o.asked {
		if x.Create && !x.Warmup || x.Method == "POST" {
			n++
		}
	}
	return n
}

func (o outcome) last() said { return o.said[len(o.said)-1] }
