package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// outcome is what a command line did.
type outcome struct {
	code     int
	out, err string
}

// cli runs a command line in an empty folder and with an environment of its
// own; env holds pairs.
func cli(t *testing.T, env []string, args ...string) outcome {
	t.Helper()
	t.Setenv("RUBICON_ADMIN_URL", "")
	var out, errs bytes.Buffer
	sh := &shell{out: &out, err: &errs, env: func(name string) (string, bool) {
		for i := 0; i+1 < len(env); i += 2 {
			if env[i] == name {
				return env[i+1], true
			}
		}
		return "", false
	}}
	code := run(t.Context(), sh, args)
	return outcome{code, out.String(), errs.String()}
}

// oneLine checks that an error is one line that begins as it should.
func (o outcome) oneLine(t *testing.T, code int, want string) {
	t.Helper()
	if o.code != code {
		t.Errorf("exit code %d, want %d", o.code, code)
	}
	if !strings.HasPrefix(o.err, "rubicon: ") || strings.Count(o.err, "\n") != 1 {
		t.Errorf("stderr is not one line: %q", o.err)
	}
	if !strings.Contains(o.err, want) {
		t.Errorf("stderr %q lacks %q", o.err, want)
	}
}

func TestUsageErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	tests := []struct{ args, want string }{
		{"", "expected one of"},
		{"nonsense", "unexpected argument nonsense; see `rubicon --help`"},
		{"customer", "see `rubicon customer --help`"},
		{"customer create", "see `rubicon customer create --help`"},
		{"check --nonsense", "unknown flag --nonsense; see `rubicon check --help`"},
		{"credit give cus_1 1", "--reason"},
		{"credit give cus_1 one --reason r", "AMOUNT must be an amount of USD like 10.00, with at most 9 places"},
		{"credit give cus_1 1.0000000001 --reason r", "AMOUNT must be an amount"},
		{"credit give cus_1 -1 --reason r", "AMOUNT must be positive"},
		{"credit give cus_1 0 --reason r", "AMOUNT must be positive"},
		{"key create cus_1 --delivery soon", "--delivery must be one of"},
		{"key create cus_1 --budget much", "--budget must be an amount"},
		{"key create cus_1 --expires-at tomorrow", "--expires-at"},
		{"channel weight a m heavy", "WEIGHT must be a whole number"},
		{"channel weight a m -1", "WEIGHT must be a whole number"},
		{"explain", "give either a request's id or --dry-run MODEL"},
		{"explain req_1 --dry-run m", "give either a request's id or --dry-run MODEL"},
		{"sim extra", "unexpected argument extra"},
		{"audit", "name the gateway with --target URL"},
		{"audit --target http://x --upstream-listen :1", "--upstream-listen takes two addresses"},
		{"audit --target http://x --header nonsense", "--header must be NAME:VALUE"},
		{"audit --suite all", "--suite must be one of"},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			got := cli(t, nil, strings.Fields(tt.args)...)
			got.oneLine(t, exitUsage, tt.want)
			if got.out != "" {
				t.Errorf("stdout: %q", got.out)
			}
		})
	}
}

// Every command has --help, and every flag and argument says what it is for.
func TestHelpIsEverywhere(t *testing.T) {
	parser, err := kong.New(&commands{})
	if err != nil {
		t.Fatal(err)
	}
	var walk func(node *kong.Node, path []string)
	walk = func(node *kong.Node, path []string) {
		if got := cli(t, nil, append(path, "--help")...); got.code != 0 || !strings.Contains(got.out, "Usage: rubicon") || got.err != "" {
			t.Errorf("%v --help: %+v", path, got)
		}
		if node.Help == "" && len(path) > 0 {
			t.Errorf("%v has no help", path)
		}
		for _, f := range node.Flags {
			if f.Help == "" {
				t.Errorf("%v: --%s has no help", path, f.Name)
			}
		}
		for _, a := range node.Positional {
			if a.Help == "" {
				t.Errorf("%v: <%s> has no help", path, a.Name)
			}
		}
		for _, child := range node.Children {
			walk(child, append(path[:len(path):len(path)], child.Name))
		}
	}
	walk(parser.Model.Node, nil)
}

func TestMissingConfiguration(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, command := range []string{"serve", "check", "migrate"} {
		cli(t, nil, command).oneLine(t, exitFailed, "there is no ./rubicon.yaml here; write one with `rubicon init`, or name yours with -c FILE")
		cli(t, nil, command, "-c", "mine.yaml").oneLine(t, exitFailed, "there is no mine.yaml")
	}
	cli(t, nil, "verify", "--offline").oneLine(t, exitFailed, "`rubicon init`")
	cli(t, nil, "credit", "balance", "cus_1").oneLine(t, exitFailed, "no admin token: set RUBICON_ADMIN_TOKEN")
}

func TestInitThenCheck(t *testing.T) {
	t.Chdir(t.TempDir())
	if got := cli(t, nil, "init"); got.code != 0 || !strings.Contains(got.out, "rubicon serve") {
		t.Fatalf("init: %+v", got)
	}
	info, err := os.Stat("rubicon.yaml")
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	first, err := os.ReadFile("rubicon.yaml")
	if err != nil {
		t.Fatal(err)
	}

	cli(t, nil, "init").oneLine(t, exitFailed, "--force")
	write(t, "rubicon.yaml", "changed")
	cli(t, nil, "init").oneLine(t, exitFailed, "rubicon.yaml is there already")
	if now, _ := os.ReadFile("rubicon.yaml"); string(now) != "changed" {
		t.Error("a refused init wrote something")
	}
	if got := cli(t, nil, "init", "--force"); got.code != 0 {
		t.Errorf("init --force: %+v", got)
	}
	if now, _ := os.ReadFile("rubicon.yaml"); !bytes.Equal(first, now) {
		t.Error("init --force did not write the sample")
	}

	bad := cli(t, nil, "check")
	bad.oneLine(t, exitFailed, "rubicon.yaml is not valid, problems: ")
	if !strings.Contains(bad.out, "admin.token: environment variable RUBICON_ADMIN_TOKEN is not set") || strings.Count(bad.out, "\n") < 2 {
		t.Errorf("check shows not all problems with their paths: %s", bad.out)
	}
	const secret = "canary-of-a-secret"
	env := []string{"RUBICON_ADMIN_TOKEN", secret, "OPENAI_API_KEY", secret + "-o"}
	good := cli(t, env, "check", "-c", "rubicon.yaml")
	if good.code != 0 || !strings.Contains(good.out, "rubicon.yaml is valid") {
		t.Errorf("check: %+v", good)
	}
	if strings.Contains(good.out+good.err, "canary") {
		t.Errorf("check shows a secret: %+v", good)
	}
}

func TestCheckShowsAllProblems(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "bad.yaml", "listen: 127.0.0.1:0\nadmin: {token: canary-secret-12}\nlisteen: x\ntimers: {connect: soon}\nmodels: [{name: m, channels: [{channel: nowhere}]}]\n")
	got := cli(t, nil, "check", "-c", "bad.yaml")
	if got.code != exitFailed {
		t.Errorf("exit code %d", got.code)
	}
	for _, want := range []string{"bad.yaml:3: listeen", "timers.connect", "models[0]"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("%q is missing in:\n%s", want, got.out)
		}
	}
	if strings.Contains(got.out+got.err, "canary") {
		t.Errorf("a secret shows: %s%s", got.out, got.err)
	}
	if asJSON := cli(t, nil, "check", "-c", "bad.yaml", "--json"); asJSON.code != exitFailed || !strings.Contains(asJSON.out, `"path": "timers.connect"`) {
		t.Errorf("--json: %+v", asJSON)
	}
	cli(t, nil, "migrate", "-c", "bad.yaml").oneLine(t, exitFailed, "`rubicon check -c bad.yaml` shows all")
}

// A certificate that cannot be read is told before serve fails for it.
func TestCheckReadsTheCertificate(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "c.yaml", `admin: {token: a-token-of-the-test}
tls: {cert: missing.pem, key: missing.pem}
channels: [{name: a, protocol: responses, base_url: "https://api.test/v1"}]
models: [{name: m, price: {input: "1", output: "2"}, channels: [{channel: a, upstream_model: u}]}]
`)
	got := cli(t, nil, "check", "-c", "c.yaml")
	if got.code != exitFailed || !strings.Contains(got.out, "c.yaml: tls: ") || strings.Contains(got.out, "is valid") {
		t.Errorf("%+v", got)
	}
}

func TestVersion(t *testing.T) {
	if got := cli(t, nil, "--version"); got.code != 0 || !strings.HasPrefix(got.out, "rubicon ") {
		t.Errorf("%+v", got)
	}
	if got := cli(t, nil, "version"); got.code != 0 || !strings.HasPrefix(got.out, "rubicon ") {
		t.Errorf("version: %+v", got)
	}
	if got := cli(t, nil, "version", "--json"); got.code != 0 || !strings.Contains(got.out, `"go": "go1.`) {
		t.Errorf("version --json: %+v", got)
	}
}

func TestNegativesLast(t *testing.T) {
	tests := []struct{ in, want string }{
		{"credit adjust cus_1 -1.00 --reason r", "credit adjust cus_1 --reason r -- -1.00"},
		{"credit adjust --reason r -- cus_1 -1", "credit adjust --reason r -- cus_1 -1"},
		{"check -c x --json", "check -c x --json"},
		{"a - b", "a - b"},
	}
	for _, tt := range tests {
		if got := strings.Join(moveNegativeAmounts(strings.Fields(tt.in)), " "); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
	}
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Clean(name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// background runs a command line that serves until it is cancelled; ready is
// its first line of output.
func background(t *testing.T, args ...string) (ready string, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, &shell{out: w, err: io.Discard, env: os.LookupEnv}, args)
		_ = w.Close()
	}()
	line := make([]byte, 0, 4096)
	for one := make([]byte, 1); ; line = append(line, one[0]) {
		if _, err := r.Read(one); err != nil || one[0] == '\n' {
			break
		}
	}
	return string(line), func() int { cancel(); go io.Copy(io.Discard, r); return <-done }
}
