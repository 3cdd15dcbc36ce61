package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rubicon/internal/money"
	"rubicon/internal/money/price"
)

func fakeEnv(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

const minimal = "admin: {token: test-token}\n"

func mustParse(t *testing.T, src string, pairs ...string) *Config {
	t.Helper()
	c, err := Parse([]byte(src), fakeEnv(pairs...))
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	return c
}

func TestMinimalFileHasTheDefaults(t *testing.T) {
	want := Default()
	want.Admin.Token = NewSecret("test-token")
	if diff := cmp.Diff(&want, mustParse(t, minimal)); diff != "" {
		t.Error(diff)
	}
}

// listing is the page of the interfaces, every option written out.
const listing = `
listen: 127.0.0.1:8080
tls: {cert: "", key: ""}
admin:
  listen: 127.0.0.1:8081
  token: test-token
  profiling: false
store:
  url: sqlite:rubicon.db
  sync: process
  lease: 15s
  spool: ""
  wait: 60s
limits:
  request_body: 32MiB
  event: 32MiB
  held_bytes: 1MiB
  atomic_bytes: 8MiB
  connections: 20000
  connections_per_address: 0
  memory: 0
cors: {origins: []}
ws: {enabled: true, message: 16MiB, lifetime: 60m, queued_turns: 4, memory: 16MiB, ping: 30s, origins: []}
timers:
  connect: 5s
  headers: 60s
  answer: 10m
  first_output: 0s
  idle: 300s
  event_hold: 10s
  keepalive: 15s
  write: 30s
  total: 30m
  shutdown_grace: 30s
replay: {max: 1, after_lifecycle: false, local_continuations: true, default_store: upstream}
state: {unknown_ids: refuse}
switch: {max: 2, on_timeout: {responses_stream: 0, chat_stream: 1, messages_stream: 1, not_streaming: 1}}
breaker: {failures: 5, window: 60s, rate: 0.5, samples: 20, open: 10s, open_max: 30s, probes: 1, successes: 3}
cooldown: {default: 1s, max: 60s, wait: 2s, weight_floor: 0.125}
balance_pause: 10m
on_disconnect: cancel
delivery: stream
retention: {requests: 90d}
alerts: {webhook: "", secret: ""}
channels: []
models: []
`

func TestTheListingShowsTheDefaults(t *testing.T) {
	if diff := cmp.Diff(mustParse(t, minimal), mustParse(t, listing)); diff != "" {
		t.Error(diff)
	}
}

func TestEveryOptionIsRead(t *testing.T) {
	got := mustParse(t, `
listen: ":1"
tls: {cert: c.pem, key: k.pem}
admin: {listen: "[::1]:2", token: another-token, profiling: true}
store: {url: "postgres://user:pass@host/db", sync: full, lease: 1s, spool: /var/spool/rubicon, wait: 2s}
limits: {request_body: 1KiB, event: 2KB, held_bytes: 3, atomic_bytes: 4GiB, connections: 5, connections_per_address: 7, memory: 6MB}
cors: {origins: ["https://b.example", "*.c.example"]}
ws: {enabled: false, message: 1B, lifetime: 1m, queued_turns: 0, memory: 2B, ping: 3s, origins: ["https://a.example"]}
timers: {connect: 1s, headers: 2s, answer: 3s, first_event: 4s, first_output: 5s, idle: 6s, event_hold: 7s, keepalive: 8s, write: 9s, total: 10s, shutdown_grace: 11s}
replay: {max: 0, after_lifecycle: true, local_continuations: false, default_store: false}
state: {unknown_ids: pass}
switch: {max: 1, on_timeout: {responses_stream: 2, chat_stream: 0, messages_stream: 2, not_streaming: 0}}
breaker: {failures: 1, window: 2s, rate: 0.25, samples: 7, open: 3s, open_max: 4s, probes: 5, successes: 6}
cooldown: {default: 1s, max: 2s, wait: 0s, weight_floor: 0.5}
balance_pause: 1d12h
on_disconnect: drain
delivery: atomic
retention: {requests: 7d}
alerts: {webhook: "https://hook.example/x", secret: shh}
`)
	want := &Config{
		Listen: ":1", TLS: TLS{"c.pem", "k.pem"},
		Admin:  Admin{"[::1]:2", NewSecret("another-token"), true},
		Store:  Store{NewSecret("postgres://user:pass@host/db"), SyncFull, time.Second, "/var/spool/rubicon", 2 * time.Second},
		Limits: Limits{RequestBody: 1024, Event: 2000, HeldBytes: 3, AtomicBytes: 4 << 30, Connections: 5, ConnectionsPerAddress: 7, Memory: 6_000_000},
		CORS:   CORS{[]string{"https://b.example", "*.c.example"}},
		WS:     WS{false, 1, time.Minute, 0, 2, 3 * time.Second, []string{"https://a.example"}},
		Timers: Timers{
			1 * time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second, 5 * time.Second, 6 * time.Second,
			7 * time.Second, 8 * time.Second, 9 * time.Second, 10 * time.Second, 11 * time.Second,
		},
		Replay: Replay{0, true, false, true}, State: State{UnknownPass},
		Switch:       Switch{1, OnTimeout{2, 0, 2, 0}},
		Breaker:      Breaker{1, 2 * time.Second, 3 * time.Second, 4 * time.Second, 0.25, 7, 5, 6},
		Cooldown:     Cooldown{time.Second, 2 * time.Second, 0, 0.5},
		BalancePause: 36 * time.Hour, OnDisconnect: DisconnectDrain, Delivery: DeliveryAtomic,
		Retention: Retention{7 * day}, Alerts: Alerts{NewSecret("https://hook.example/x"), NewSecret("shh")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !got.State.PassUnknown() || !got.TLS.Enabled() {
		t.Error("PassUnknown and Enabled do not follow the file")
	}
}

const routes = minimal + `
timers: {idle: 100s}
channels:
  - name: main
    protocol: responses
    base_url: https://api.example.com/v1/
    credentials: [{name: k1, key: "${KEY}"}, {name: k2, key: other-key}]
    query: {api-version: 2024-10-01}
    headers: {x-project: "p-${KEY}"}
    origin: account
    alias: primary
  - {name: keyless, protocol: chat, base_url: "http://127.0.0.1:9", allow_private: true, chat_usage: false}
  - {name: claude, protocol: messages, base_url: "https://m.example", credentials: [{name: a, key: k}]}
  - {name: azure, protocol: chat, base_url: "https://z.example", auth: api-key, credentials: [{name: a, key: k}]}
models:
  - name: openai/gpt
    price: {input: 1.25, cached_input: "0.125", cache_write: "0", output: "10.00", request: "0.001", tools: {web_search: "0.01"}, tiers: {flex: 0.5}}
    hold_output_tokens: 100
    channels:
      - {channel: main, upstream_model: gpt-up, weight: 0, priority: 3, cost: {input: "1", output: "8"}}
      - {channel: keyless}
    timers: {total: 60m, first_event: 1s}
  - name: plain
    price: {input: "0", output: "0"}
    channels: [{channel: claude}]
`

func TestChannelsAndModels(t *testing.T) {
	c := mustParse(t, routes, "KEY", "sk-live")
	wantChannels := []Channel{
		{
			Name: "main", Protocol: ProtocolResponses, BaseURL: "https://api.example.com/v1", Auth: AuthBearer,
			Credentials: []Credential{{"k1", NewSecret("sk-live")}, {"k2", NewSecret("other-key")}},
			Query:       SecretMap{"api-version": "2024-10-01"}, Headers: SecretMap{"X-Project": "p-sk-live"},
			Origin: "account", Alias: "primary", ChatUsage: true,
		},
		{Name: "keyless", Protocol: ProtocolChat, BaseURL: "http://127.0.0.1:9", Auth: AuthNone, AllowPrivate: true},
		{Name: "claude", Protocol: ProtocolMessages, BaseURL: "https://m.example", Auth: AuthXAPIKey, Credentials: []Credential{{"a", NewSecret("k")}}, ChatUsage: true},
		{Name: "azure", Protocol: ProtocolChat, BaseURL: "https://z.example", Auth: AuthAPIKey, Credentials: []Credential{{"a", NewSecret("k")}}, ChatUsage: true},
	}
	if diff := cmp.Diff(wantChannels, c.Channels); diff != "" {
		t.Error(diff)
	}
	half, err := money.ParseFactor("0.5")
	if err != nil {
		t.Fatal(err)
	}
	cached, write := money.Nano(125_000_000), money.Nano(0)
	timers := Default().Timers
	timers.Idle = 100 * time.Second
	own := timers
	own.Total, own.FirstEvent = time.Hour, time.Second
	wantModels := []Model{
		{
			Name: "openai/gpt", HoldOutputTokens: 100, Timers: own, FirstEventSet: true, Delivery: DeliveryStream,
			Price: price.List{
				Input: 1_250_000_000, Output: 10_000_000_000, CachedInput: &cached, CacheWrite: &write, Request: 1_000_000,
				Tools: map[string]money.Nano{"web_search": 10_000_000}, Tiers: map[string]money.Factor{"flex": half},
			},
			Channels: []Candidate{
				{Channel: &c.Channels[0], UpstreamModel: "gpt-up", Weight: 0, Priority: 3, Cost: price.List{Input: 1_000_000_000, Output: 8_000_000_000}},
				{Channel: &c.Channels[1], UpstreamModel: "openai/gpt", Weight: 100},
			},
		},
		{
			Name: "plain", HoldOutputTokens: 4096, Timers: timers, Delivery: DeliveryStream,
			Channels: []Candidate{{Channel: &c.Channels[2], UpstreamModel: "plain", Weight: 100}},
		},
	}
	if diff := cmp.Diff(wantModels, c.Models); diff != "" {
		t.Error(diff)
	}
	if c.Models[0].Channels[0].Channel != c.Channel("main") || c.Model("plain") != &c.Models[1] {
		t.Error("lookups do not give the configuration's own values")
	}
	if c.Channel("none") != nil || c.Model("none") != nil {
		t.Error("lookups find what is not there")
	}
	if c.Channels[0].PublicName() != "primary" || c.Channels[1].PublicName() != "keyless" {
		t.Error("the public name is not the alias, else the name")
	}
	if c.Channels[0].OriginOf("k1") != "account" || c.Channels[2].OriginOf("a") != "claude/a" {
		t.Error("the origin is not the channel's, else channel and credential")
	}
}

func TestFirstEventForChat(t *testing.T) {
	const model = `
channels: [{name: c, protocol: chat, base_url: "https://c.example"}]
models: [{name: m, price: {input: "0", output: "0"}, channels: [{channel: c}], timers: {%}}]
`
	for _, c := range []struct {
		name, global, own string
		chat, responses   time.Duration
	}{
		{"unset", "", "", 300 * time.Second, time.Minute},
		{"set globally, to the default", "timers: {first_event: 60s}\n", "", time.Minute, time.Minute},
		{"set for the model", "", "first_event: 7s", 7 * time.Second, 7 * time.Second},
		{"both", "timers: {first_event: 9s}\n", "first_event: 7s", 7 * time.Second, 7 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := mustParse(t, minimal+c.global+strings.Replace(model, "%", c.own, 1)).Model("m")
			if got := m.TimersFor(ProtocolChat).FirstEvent; got != c.chat {
				t.Errorf("chat: %v, want %v", got, c.chat)
			}
			if got := m.TimersFor(ProtocolResponses).FirstEvent; got != c.responses {
				t.Errorf("responses: %v, want %v", got, c.responses)
			}
		})
	}
}

func TestExpansion(t *testing.T) {
	dir := t.TempDir()
	secretFile := filepath.Join(dir, "token")
	if err := os.WriteFile(secretFile, []byte("from-a-file\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, in, want string }{
		{"a variable", "${A}", "alpha-value"},
		{"inside text", "x-${A}-y-${A}", "x-alpha-value-y-alpha-value"},
		{"a file without its line end", "${file:" + secretFile + "}", "from-a-file"},
		{"escaped", "$${A}${A}", "${A}alpha-value"},
		{"a dollar alone", "pa$$word$", "pa$$word$"},
		{"not expanded again", "${NESTED}", "${A}-and-more"},
		{"cannot change the structure", "${YAML}", "x,profiling:true}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := "admin: {token: '" + c.in + "'}\n"
			got := mustParse(t, src, "A", "alpha-value", "NESTED", "${A}-and-more", "YAML", "x,profiling:true}")
			if got.Admin.Token.Reveal() != c.want || got.Admin.Profiling {
				t.Errorf("token = %q, want %q", got.Admin.Token.Reveal(), c.want)
			}
		})
	}
	c := mustParse(t, minimal+"listen: ${L}\nlimits: {connections: '${N}', event: '${S}'}\ntimers: {idle: '${D}'}\nreplay: {after_lifecycle: '${B}'}\n",
		"L", ":9", "N", "12", "S", "1KiB", "D", "2s", "B", "true")
	if c.Listen != ":9" || c.Limits.Connections != 12 || c.Limits.Event != 1024 || c.Timers.Idle != 2*time.Second || !c.Replay.AfterLifecycle {
		t.Errorf("numbers, sizes, durations and booleans are not expanded: %+v", c)
	}
}

func TestAnchors(t *testing.T) {
	c := mustParse(t, minimal+`
channels: [{name: c, protocol: chat, base_url: "https://c.example"}]
models:
  - {name: a, price: &p {input: "1", output: "2"}, channels: &list [{channel: c}]}
  - {name: b, price: *p, channels: *list}
`)
	if diff := cmp.Diff(c.Models[0].Price, c.Models[1].Price); diff != "" {
		t.Error(diff)
	}
	// The upstream model follows the model that uses the alias.
	if got := c.Models[1].Channels[0].UpstreamModel; got != "b" {
		t.Errorf("upstream model = %q, want b", got)
	}
}

func TestFilesAsEditorsWriteThem(t *testing.T) {
	want := mustParse(t, minimal+"replay: {max: 0}\n")
	for name, src := range map[string]string{
		"CRLF":                strings.ReplaceAll(minimal+"replay: {max: 0}\n", "\n", "\r\n"),
		"byte order mark":     "\ufeff" + minimal + "replay: {max: 0}\n",
		"document start":      "---\n" + minimal + "replay: {max: 0}\n",
		"options without any": minimal + "replay: {max: 0}\ntls:\nlimits: ~\nchannels: null\nws:\n",
		"default_store word":  minimal + "replay: {max: 0, default_store: upstream}\n",
	} {
		if diff := cmp.Diff(want, mustParse(t, src)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if !mustParse(t, minimal+`replay: {default_store: "false"}`).Replay.DefaultStoreFalse {
		t.Error(`default_store: "false" is not false`)
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rubicon.yaml")
	if _, err := Load(path, nil); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("a missing file: %v", err)
	}
	if err := os.WriteFile(path, []byte(minimal), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := Load(path, nil); err != nil || c.Admin.Token.Reveal() != "test-token" {
		t.Errorf("Load = %v, %v", c, err)
	}
}

// A model's date is its own, else the file's, which is no part of the version.
func TestDatesOfModels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rubicon.yaml")
	src := strings.Replace(routes, "  - name: openai/gpt\n", "  - created: 2026-05-31\n    name: openai/gpt\n", 1)
	if src == routes {
		t.Fatal("the routes have no model to date")
	}
	if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	changed := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := os.Chtimes(path, changed, changed); err != nil {
		t.Fatal(err)
	}
	c, err := Load(path, fakeEnv("KEY", "sk-live"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.CreatedOf(&c.Models[0]), time.Date(2026, 5, 31, 0, 0, 0, 0, time.UTC); !got.Equal(want) {
		t.Errorf("the model's own date: %v", got)
	}
	if got := c.CreatedOf(&Model{}); !got.Equal(changed) {
		t.Errorf("the file's date: %v", got)
	}
	if c.Version() != mustParse(t, src, "KEY", "sk-live").Version() {
		t.Error("the file's date changes the version")
	}
}

func TestSample(t *testing.T) {
	c := mustParse(t, string(Sample()), "RUBICON_ADMIN_TOKEN", "test-token", "OPENAI_API_KEY", "sk-o")
	if !c.Replay.DefaultStoreFalse || len(c.Channels) != 1 || len(c.Models) != 1 {
		t.Errorf("the sample is not what it should be: %+v", c)
	}
	if warnings := c.Warnings(); len(warnings) != 0 {
		t.Errorf("the sample has warnings: %v", warnings)
	}
	// What it writes out and is not meant to differ are the defaults.
	want := Default()
	want.Admin.Token, want.Replay.DefaultStoreFalse, want.Replay.AfterLifecycle = c.Admin.Token, true, true
	want.Channels, want.Models = c.Channels, c.Models
	if diff := cmp.Diff(&want, c); diff != "" {
		t.Error(diff)
	}
}

// Every option that a file may have stands in the sample, be it in a comment.
func TestSampleIsComplete(t *testing.T) {
	d := &decoder{}
	c := Default()
	var set bool
	text := string(Sample())
	for where, fields := range map[string][]field{
		"": d.root(&c), "limits": d.limits(&c.Limits), "ws": d.ws(&c.WS), "timers": d.timers(&c.Timers, &set, true),
		"switch": d.switches(&c.Switch), "breaker": d.breaker(&c.Breaker),
	} {
		for _, f := range fields {
			if !regexp.MustCompile(`(?m)(^[ #]*|[{,] ?)` + f.key + `:`).MatchString(text) {
				t.Errorf("%s %s is missing", where, f.key)
			}
		}
	}
}

// The second provider of the sample is good as soon as its comment signs are gone.
func TestSampleUncommented(t *testing.T) {
	text := regexp.MustCompile(`(?m)^  # (- name: anthropic|  )`).ReplaceAllString(string(Sample()), "  $1")
	c := mustParse(t, text, "RUBICON_ADMIN_TOKEN", "test-token", "OPENAI_API_KEY", "sk-o", "ANTHROPIC_API_KEY", "sk-a")
	if len(c.Channels) != 2 || len(c.Models) != 2 || c.Models[1].Timers.Total != time.Hour || len(c.Warnings()) != 0 {
		t.Errorf("%+v, %v", c.Models, c.Warnings())
	}
}

func TestVersion(t *testing.T) {
	base := mustParse(t, routes, "KEY", "sk-live").Version()
	if again := mustParse(t, "# a comment\n"+routes, "KEY", "sk-rotated").Version(); again != base {
		t.Error("a comment or a new key changes the version")
	}
	if len(base) != 12 {
		t.Errorf("version %q is not 12 characters", base)
	}
	for _, change := range [][2]string{{"idle: 100s", "idle: 101s"}, {"input: 1.25", "input: 1.26"}, {"flex: 0.5", "flex: 0.6"}, {"priority: 3", "priority: 4"}, {"x-project", "x-other"}} {
		if mustParse(t, strings.Replace(routes, change[0], change[1], 1), "KEY", "sk-live").Version() == base {
			t.Errorf("%q does not change the version", change[1])
		}
	}
}

// A bound that is written moves the default of the other one, and never what is written.
func TestBoundsThatFollow(t *testing.T) {
	for src, want := range map[string][4]time.Duration{ // open, open_max, default, max
		"":                                  {10 * time.Second, 30 * time.Second, time.Second, time.Minute},
		"breaker: {open: 10m}\n":            {10 * time.Minute, 10 * time.Minute, time.Second, time.Minute},
		"breaker: {open_max: 2s}\n":         {2 * time.Second, 2 * time.Second, time.Second, time.Minute},
		"breaker: {open_max: 40s}\n":        {10 * time.Second, 40 * time.Second, time.Second, time.Minute},
		"cooldown: {max: 500ms}\n":          {10 * time.Second, 30 * time.Second, 500 * time.Millisecond, 500 * time.Millisecond},
		"cooldown: {default: 2m}\n":         {10 * time.Second, 30 * time.Second, 2 * time.Minute, 2 * time.Minute},
		"cooldown: {default: 2m, max: ~}\n": {10 * time.Second, 30 * time.Second, 2 * time.Minute, 2 * time.Minute},
	} {
		c := mustParse(t, minimal+src)
		got := [4]time.Duration{c.Breaker.Open, c.Breaker.OpenMax, c.Cooldown.Default, c.Cooldown.Max}
		if got != want {
			t.Errorf("%q: %v, want %v", src, got, want)
		}
	}
}

func TestWarnings(t *testing.T) {
	c := mustParse(t, minimal+`
alerts: {webhook: "https://hook.example/x"}
channels:
  - {name: a, protocol: chat, base_url: "http://localhost:1"}
  - {name: b, protocol: chat, base_url: "http://[::1]:1", allow_private: true}
models: [{name: m, price: {input: "0", output: "0"}, channels: [{channel: a, weight: 0}]}]
`)
	var got []string
	for _, w := range c.Warnings() {
		got = append(got, w.Path)
	}
	want := []string{"alerts.secret", "models[0].channels", "channels[0].base_url", "channels[1]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	short := mustParse(t, strings.Replace(minimal, "test-token", "short", 1)).Warnings()
	if len(short) != 3 || short[0].Path != "admin.token" || strings.Contains(short[0].Message, "short") {
		t.Errorf("a short token: %v", short)
	}
	if got := mustParse(t, minimal).Warnings(); len(got) != 2 {
		t.Errorf("empty lists: %v", got)
	}
}
