package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// problemsOf are the problems as lines.
func problemsOf(t *testing.T, src string, pairs ...string) []string {
	t.Helper()
	c, err := Parse([]byte(src), fakeEnv(pairs...))
	var invalid *Invalid
	if !errors.As(err, &invalid) {
		t.Fatalf("Parse = %v, %v; want *Invalid", c, err)
	}
	if c != nil {
		t.Error("a configuration comes with the error")
	}
	var out []string
	for _, p := range invalid.Problems {
		out = append(out, p.String())
	}
	return out
}

const (
	oneChannel = "channels: [{name: c, protocol: chat, base_url: \"https://c.example\"}]\n"
	free       = "price: {input: \"0\", output: \"0\"}"
)

func channelWith(options string) string {
	return minimal + "channels: [{name: c, protocol: chat, base_url: \"https://c.example\", " + options + "}]\n"
}

func modelWith(options string) string {
	return minimal + oneChannel + "models: [{name: m, " + free + ", " + options + "}]\n"
}

func TestBadFiles(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []string // prefixes: path and the start of the message
	}{
		// The file as a whole.
		{"empty", "", []string{"admin.token: is required"}},
		{"only a comment", "# nothing\n", []string{"admin.token: is required"}},
		{"a list", "- a\n", []string{"must be a mapping of options"}},
		{"a word", "hello\n", []string{"must be a mapping of options"}},
		{"two documents", minimal + "---\nlisten: :1\n", []string{"a second document"}},
		{"an empty second document", minimal + "---\n", []string{"a second document"}},
		{"data after the end", minimal + "...\nlisten: :1\n", []string{"a second document"}},
		{"a directive", "%YAML 1.2\n---\n" + minimal, []string{"a second document or a directive"}},
		{"not UTF-8", minimal + "listen: \"\xff\"\n", []string{"the file is not UTF-8"}},
		{"too large", minimal + "#" + strings.Repeat("x", maxFileBytes), []string{"the file is larger"}},
		{"too deep", strings.Repeat("[", 300), []string{"more than 200 open brackets"}},
		{"a tab", "admin:\n\ttoken: test-token\n", []string{"not valid YAML at line 2, column 1 (YAML is indented with spaces, never with tabs)"}},
		{"an open quote", minimal + "listen: \"x\n", []string{"not valid YAML at line 2, column 9: could not find end character"}},
		{"an unquoted reference in braces", "admin: {token: ${T}}\n", []string{"not valid YAML at line 1, column 17: ',' or '}' must be specified (inside {…} a value"}},
		{"a tag", "listen: !!str 1\n" + minimal, []string{"line 1: tags, directives and the like are not supported"}},
		{"a merge key", minimal + "tls: &t {cert: a}\nstate: {<<: *t}\n", []string{"line 3: a key must be plain text"}},
		{"an alias without anchor", minimal + "tls: *t\n", []string{"line 2: an alias without its anchor"}},
		{"an alias of what it is in", minimal + "tls: &t {cert: *t}\n", []string{"line 2: an alias without its anchor"}},
		// Keys.
		{"unknown keys", minimal + "listne: x\nlimits: {evnet: 1}\n", []string{"listne: unknown key; known here: listen, tls,", "limits.evnet: unknown key"}},
		{"a duplicate at the top", minimal + "listen: \":1\"\nlisten: \":2\"\n", []string{"listen: duplicate key on line 3, first on line 2"}},
		{"a duplicate below", minimal + "limits: {event: 1, event: 2}\n", []string{"limits.event: duplicate key on line 2, first on line 2"}},
		{"a duplicate in a free mapping", channelWith("query: {a: x, a: y}"), []string{"channels[0].query.a: duplicate key"}},
		{"headers that differ in case", channelWith("headers: {x-a: x, X-A: y}"), []string{"channels[0].headers.x-a: is given twice"}},
		{"a group that is a word", minimal + "limits: many\n", []string{"limits: must be a mapping"}},
		{"a value that is a group", minimal + "listen: {a: b}\n", []string{"listen: must be a single value"}},
		{"a list that is a mapping", minimal + "channels: {a: b}\n", []string{"channels: must be a list"}},
		// Values.
		{"a boolean as text", minimal + "listen: true\n", []string{"listen: must be text"}},
		{"yes", "admin: {token: test-token, profiling: yes}\n", []string{"admin.profiling: must be true or false"}},
		{"sizes", minimal + "limits: {request_body: 32mib, event: -1, held_bytes: 0, connections: 0}\n", []string{
			"limits.connections: must be a whole number from 1", "limits.event: must be a size", "limits.held_bytes: must be a size", "limits.request_body: must be a size"}},
		{"sizes that do not fit", minimal + "limits: {request_body: 9999999999GiB, event: 99999999999999999999, held_bytes: 1.5MiB}\n", []string{
			"limits.event: must", "limits.held_bytes: must", "limits.request_body: must"}},
		{"durations", minimal + "timers: {connect: 0s, headers: -1s, answer: 60, first_event: 1x, idle: 99999999d, event_hold: -1s, write: 1d48h, total: d}\n", []string{
			"timers.answer: must be a duration above 0", "timers.connect: must", "timers.event_hold: must be a duration like", "timers.first_event: must",
			"timers.headers: must", "timers.idle: must", "timers.total: must", "timers.write: must"}},
		{"counts", minimal + "replay: {max: 2}\nswitch: {max: 3, on_timeout: {chat_stream: -1, not_streaming: 3}}\n", []string{
			"replay.max: must be a whole number from 0 to 1", "switch.max: must be a whole number from 0 to 2",
			"switch.on_timeout.chat_stream: must", "switch.on_timeout.not_streaming: must"}},
		{"words", minimal + "replay: {default_store: true}\nstate: {unknown_ids: maybe}\nstore: {sync: never}\n", []string{
			"replay.default_store: must be upstream or false", "state.unknown_ids: must be one of refuse, pass", "store.sync: must be one of process, full"}},
		{"listen addresses", "listen: localhost\nadmin: {listen: \"1.2.3.4:99999\", token: test-token}\n", []string{"listen: must be host:port", "admin.listen: must be host:port"}},
		{"a named port", minimal + "listen: \":http\"\n", []string{"listen: must be host:port"}},
		{"one address twice", "listen: \":1\"\nadmin: {listen: \":1\", token: test-token}\n", []string{"admin.listen: must differ from listen"}},
		{"bounds that cross", minimal + "breaker: {open: 2m, open_max: 1m}\ncooldown: {default: 2s, max: 1s}\n", []string{
			"breaker.open_max: must not be below breaker.open", "cooldown.max: must not be below cooldown.default"}},
		{"an empty token", "admin: {token: \"\"}\n", []string{"admin.token: is required"}},
		{"a token with spaces", "admin: {token: \"not a token\"}\n", []string{"admin.token: must be printable ASCII"}},
		{"half of TLS", minimal + "tls: {cert: c.pem}\n", []string{"tls: cert and key must both be set"}},
		{"store schemes", minimal + "store: {url: \"mysql://h/db\"}\n", []string{"store.url: must start with sqlite: or postgres://"}},
		{"a store on no host", minimal + "store: {url: \"postgres:///db\"}\n", []string{"store.url: is not a valid postgres:// URL"}},
		{"a lease too short", minimal + "store: {lease: 999ms}\n", []string{"store.lease: must be at least 1s"}},
		{"a store without a file", minimal + "store: {url: \"sqlite:\"}\n", []string{"store.url: needs a file"}},
		{"shutdown_grace of a model", modelWith("channels: [{channel: c}], timers: {shutdown_grace: 1s}"), []string{"models[0].timers.shutdown_grace: unknown key"}},
		// Expansion.
		{"unset variables and files", "admin: {token: \"${NO_TOKEN}\"}\nlisten: ${NO_LISTEN}\nstore: {url: \"${file:/does/not/exist}\"}\n", []string{
			"admin.token: environment variable NO_TOKEN is not set", "listen: environment variable NO_LISTEN is not set", `store.url: file "/does/not/exist" does not exist`}},
		{"a folder as a file", "admin: {token: \"${file:/}\"}\n", []string{`admin.token: file "/" is not a regular file`}},
		{"a reference without end", "admin: {token: \"${A\"}\n", []string{"admin.token: a ${ without its }"}},
		{"a shell default", "admin: {token: \"${A:-secret}\"}\n", []string{"admin.token: ${…} must hold the name"}},
		{"no name", "admin: {token: \"${}\"}\n", []string{"admin.token: ${…} must hold the name"}},
		{"a digit first", "admin: {token: \"${1A}\"}\n", []string{"admin.token: ${…} must hold the name"}},
		{"origins", minimal + "ws: {origins: [\"\"]}\ncors: {origins: [\"a b\", \"https://[\", \"https://ok.example\"]}\n", []string{
			"ws.origins[0]: must be an origin", "cors.origins[0]: must be an origin", "cors.origins[1]: must be an origin"}},
		{"connections", minimal + "limits: {connections: 0, connections_per_address: -1}\n", []string{
			"limits.connections: must be a whole number from 1", "limits.connections_per_address: must be a whole number from 0"}},
		// Channels.
		{"an empty channel", minimal + "channels: [{}]\n", []string{"channels[0].base_url: is required", "channels[0].name: is required", "channels[0].protocol: is required"}},
		{"a channel that is a word", minimal + "channels: [x, ~]\n", []string{"channels[0]: must be a mapping", "channels[1]: must be a mapping"}},
		{"names", minimal + "channels:\n  - {name: \"a b\", protocol: chat, base_url: \"https://c.example\", origin: \"a/b\", alias: \"-x\"}\n", []string{
			"channels[0].alias: must start", "channels[0].name: must start", "channels[0].origin: must start"}},
		{"one name twice", minimal + "channels:\n  - {name: c, protocol: chat, base_url: \"https://c.example\"}\n  - {name: c, protocol: chat, base_url: \"https://d.example\"}\n", []string{"channels[1].name: is taken by channels[0]"}},
		{"protocol", minimal + "channels: [{name: c, protocol: grpc, base_url: \"https://c.example\"}]\n", []string{"channels[0].protocol: must be one of responses, chat, messages"}},
		{"credentials", channelWith(`credentials: [{name: k, key: a}, {name: k, key: ""}, {key: "a b"}, {name: n}]`), []string{
			"channels[0].credentials[1].key: is empty", "channels[0].credentials[1].name: is taken by credentials[0]",
			"channels[0].credentials[2].key: must be printable ASCII", "channels[0].credentials[2].name: is required", "channels[0].credentials[3].key: is empty"}},
		{"auth without credentials", channelWith("auth: bearer"), []string{"channels[0].auth: needs credentials"}},
		{"auth", channelWith("auth: basic"), []string{"channels[0].auth: must be one of bearer, x-api-key, api-key, none"}},
		{"headers", channelWith(`headers: {content-length: "1", "bad header": x, x-ok: "a\nb", authorization: x}, credentials: [{name: k, key: a}]`), []string{
			"channels[0].headers: the key on line 2", "channels[0].headers.Authorization: is set by the channel's auth",
			"channels[0].headers.Content-Length: is set by the gateway", "channels[0].headers.X-Ok: must not hold control characters"}},
		// Models.
		{"an empty model", minimal + "models: [{}]\n", []string{"models[0].channels: needs at least one channel", "models[0].name: is required", "models[0].price: is required"}},
		{"half a price", minimal + oneChannel + "models: [{name: m, price: {input: \"1\"}, channels: [{channel: c}]}]\n", []string{"models[0].price.output: is required"}},
		{"prices", minimal + oneChannel + "models: [{name: m, price: {input: -1, output: 1e3, request: 0.0000000001, cached_input: 99999999999, tools: {a: x}, tiers: {b: -1}}, channels: [{channel: c}]}]\n", []string{
			"models[0].price.cached_input: must be an amount", "models[0].price.input: must be an amount", "models[0].price.output: must be an amount",
			"models[0].price.request: must be an amount", "models[0].price.tiers.b: must be a factor", "models[0].price.tools.a: must be an amount"}},
		{"an unknown channel", modelWith("channels: [{channel: c}, {channel: x}, {}]"), []string{`models[0].channels[1].channel: no channel is named "x"`, "models[0].channels[2].channel: is required"}},
		{"a channel twice", modelWith("channels: [{channel: c}, {channel: c, upstream_model: other}]"), []string{"models[0].channels[1].channel: is listed by channels[0] already"}},
		{"ranks", modelWith("channels: [{channel: c, weight: -1, priority: -1, upstream_model: \"\"}]"), []string{
			"models[0].channels[0].priority: must be a whole number", "models[0].channels[0].upstream_model: must have", "models[0].channels[0].weight: must be a whole number"}},
		{"the hold", modelWith("channels: [{channel: c}], hold_output_tokens: 0"), []string{"models[0].hold_output_tokens: must be a whole number from 1"}},
		{"model names", minimal + oneChannel + "models:\n  - {name: m, " + free + ", channels: [{channel: c}]}\n  - {name: m, " + free + ", channels: [{channel: c}]}\n  - {name: \"m n\", " + free + ", channels: [{channel: c}]}\n", []string{
			"models[1].name: is taken by models[0]", "models[2].name: must start"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := problemsOf(t, c.src)
			for i, want := range c.want {
				if i >= len(got) || !strings.HasPrefix(got[i], want) {
					t.Errorf("problem %d is not %q", i, want)
				}
			}
			if t.Failed() || len(got) != len(c.want) {
				t.Errorf("got:\n%s", strings.Join(got, "\n"))
			}
		})
	}
}

func TestBaseURLs(t *testing.T) {
	for url, want := range map[string]string{
		"ftp://c.example":             "must be an http or https URL",
		"c.example/v1":                "must be an http or https URL",
		"https://":                    "must be an http or https URL",
		"https://:80/v1":              "must be an http or https URL",
		"https://c.example/a b":       "must be an http or https URL",
		"https://%zz":                 "must be an http or https URL",
		"https://user:pw@c.example":   "must not hold a user or password",
		"https://c.example/v1?key=pw": "must not hold a query",
		"https://c.example/v1?":       "must not hold a query",
		"https://c.example/v1#pw":     "must not hold a fragment",
		"https://c.example:99999":     "has a port that does not exist",
	} {
		got := problemsOf(t, minimal+fmt.Sprintf("channels: [{name: c, protocol: chat, base_url: %q}]", url))
		if len(got) != 1 || !strings.HasPrefix(got[0], "channels[0].base_url: "+want) {
			t.Errorf("%s: %v", url, got)
		}
		if strings.Contains(got[0], "pw") {
			t.Errorf("%s: the URL shows in %q", url, got[0])
		}
	}
	for _, url := range []string{"http://c.example", "https://c.example:8443/a/v1/", "http://[::1]:9/v1", "HTTPS://c.example"} {
		c := mustParse(t, minimal+fmt.Sprintf("channels: [{name: c, protocol: chat, base_url: %q}]", url))
		if got := c.Channels[0].BaseURL; got != strings.TrimRight(url, "/") {
			t.Errorf("%s became %s", url, got)
		}
	}
}

func TestProblemsComeInTheOrderOfTheFileWithLines(t *testing.T) {
	src := "models:\n  - name: m\n    channels:\n      - channel: nobody\nlisten: x\nadmin:\n  token: ${UNSET}\n"
	_, err := Parse([]byte(src), nil)
	var invalid *Invalid
	if !errors.As(err, &invalid) {
		t.Fatal(err)
	}
	want := []Problem{
		{"models[0].price", "is required, with input and output in USD per million tokens", 2},
		{"models[0].channels[0].channel", `no channel is named "nobody"`, 4},
		{"listen", "must be host:port or :port, like 127.0.0.1:8080", 5},
		{"admin.token", "environment variable UNSET is not set", 7},
	}
	if diff := cmp.Diff(want, invalid.Problems); diff != "" {
		t.Error(diff)
	}
	if got := strings.Count(err.Error(), "\n"); got != len(want)-1 {
		t.Errorf("the error has %d line breaks: %s", got, err)
	}
}

func TestErrorsShowNoSecrets(t *testing.T) {
	const secret = "sk-very-secret-value"
	secretFile := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(secretFile, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, src := range map[string]string{
		"syntax error behind a key":     "admin: {token: " + secret + "}\nlisten: [\n",
		"syntax error on its line":      "admin: {token: " + secret + ": x}\n",
		"open quote":                    "admin: {token: \"" + secret + "\n",
		"a key as a mapping":            "admin: {token: {" + secret + "}}\n",
		"a key as an option":            "admin: {" + secret + "}\n",
		"a key twice as an option":      "admin: {" + secret + ": 1, " + secret + ": 2}\n",
		"a key as an alias":             "admin: {token: *" + secret + "}\n",
		"a key as an anchor":            "admin: {token: &" + secret + "}\n",
		"a key as a tag":                "admin: {token: !" + secret + " x}\n",
		"a key with a space":            "admin: {token: \"" + secret + " x\"}\n",
		"a key in a URL":                "admin: {token: x}\nstore: {url: \"pg://u:" + secret + "@h\"}\n",
		"a key with a newline":          channelWith("headers: {x-a: \"" + secret + "\\n\"}"),
		"a bad header name":             channelWith("headers: {\"" + secret + " x\": a}"),
		"a key as a name of nobody":     modelWith("channels: [{channel: \"${KEY}\"}]"),
		"a file as a name of nobody":    modelWith("channels: [{channel: \"${file:" + secretFile + "}\"}]"),
		"a key as a number":             minimal + "limits: {event: \"${KEY}\"}\n",
		"a key as a base URL":           minimal + "channels: [{name: c, protocol: chat, base_url: \"${KEY}\"}]\n",
		"a key as a reference":          "admin: {token: \"${" + secret + "}\"}\n",
		"a key beside a reference":      "admin: {token: \"" + secret + "${UNSET}\"}\n",
		"a key behind an unclosed one":  "admin: {token: \"${" + secret + "\"}\n",
		"a key as a price":              minimal + "models: [{name: m, price: {input: \"${KEY}\", output: \"1\"}}]\n",
		"a key as a word":               minimal + "state: {unknown_ids: \"${KEY}\"}\n",
		"a key as the second document":  minimal + "---\n" + secret + "\n",
		"a key as the second data line": minimal + secret + "\n",
	} {
		_, err := Parse([]byte(src), fakeEnv("KEY", secret))
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, verb := range []string{"%v", "%+v", "%#v", "%q"} {
			if shown := fmt.Sprintf(verb, err); strings.Contains(shown, secret) {
				t.Errorf("%s: %s shows the secret: %s", name, verb, shown)
			}
		}
		if shown := fmt.Sprintf("%+v", err.(*Invalid).Problems); strings.Contains(shown, secret) {
			t.Errorf("%s: the problems show the secret: %s", name, shown)
		}
	}
}

func FuzzParse(f *testing.F) {
	const secret = "xyzzy-secret-4711"
	f.Add([]byte(listing))
	f.Add([]byte(routes))
	f.Add(Sample())
	f.Add([]byte("admin: {token: '${A}${file:x}'}\nchannels: [{name: ${A}}]\nmodels: [{name: '${A}', channels: [{channel: '${A}'}]}]\n"))
	f.Add([]byte("a: &a [*a, {b: !!x ${A}}]\n? ${A}\n: - ${A}\n---\n${A}"))
	x := expander{
		env:      func(string) (string, bool) { return secret, true },
		readFile: func(string) (string, error) { return secret, nil },
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		c, err := parse(src, x)
		if (c == nil) == (err == nil) {
			t.Fatalf("parse = %v, %v", c, err)
		}
		if err != nil {
			if strings.Contains(fmt.Sprintf("%#v %+v", err, err.(*Invalid).Problems), secret) {
				t.Fatalf("the secret shows: %v", err)
			}
			return
		}
		if problems := c.Validate(); len(problems) != 0 {
			t.Fatalf("a parsed configuration is not valid: %v", problems)
		}
		if version := c.Version(); version != c.Version() {
			t.Fatal("the version is not stable")
		}
		c.Warnings()
	})
}
