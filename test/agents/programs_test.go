package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// agentFolder is where one run of an agent lives: nothing of the user's is read.
type agentFolder struct {
	dir  string // HOME; everything the agent keeps
	work string // the folder it works in
	url  string // of the gateway, without /v1
	key  string
}

// command is a command line with what its environment needs beyond the common.
type command struct {
	args []string
	env  []string
}

// run is what became of one command.
type run struct {
	exit   int
	stdout []byte
	stderr []byte
	took   time.Duration
}

// patience is how long an agent may take; those that never give up are ended.
const patience = 6 * time.Minute

// start runs a command with Node 22, no proxies to the world, and nothing else
// of our environment.
func start(ctx context.Context, h agentFolder, c command) (run, error) {
	ctx, done := context.WithTimeout(ctx, patience)
	defer done()
	bin := must(filepath.Abs(filepath.Join(modules, ".bin")))
	x := exec.CommandContext(ctx, filepath.Join(bin, c.args[0]), c.args[1:]...)
	nowhere := "http://127.0.0.1:9"
	x.Dir = h.work
	x.Env = append([]string{"PATH=" + bin + ":/usr/bin:/bin", "HOME=" + h.dir, "TERM=dumb", "LANG=C.UTF-8",
		"HTTPS_PROXY=" + nowhere, "HTTP_PROXY=" + nowhere, "NO_PROXY=127.0.0.1,localhost"}, c.env...)
	var stdout, stderr bytes.Buffer
	x.Stdout, x.Stderr = &stdout, &stderr
	x.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	x.Cancel = func() error { return syscall.Kill(-x.Process.Pid, syscall.SIGKILL) }
	x.WaitDelay = 5 * time.Second
	begun := time.Now()
	err := x.Run()
	r := run{exit: x.ProcessState.ExitCode(), stdout: stdout.Bytes(), stderr: stderr.Bytes(), took: time.Since(begun)}
	var exit *exec.ExitError
	if errors.As(err, &exit) || errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return r, err
}

const codexConfig = `model = "m"
model_provider = "gw"
check_for_update_on_startup = false

[model_providers.gw]
name = "gw"
base_url = %q
wire_api = "responses"
env_key = "GW_KEY"
supports_websockets = %t

[features]
plugins = false

[analytics]
enabled = false
`

func codex(name string, socket bool) agent {
	a := agent{name: name, pkg: "@openai/codex", surface: "responses.http", channel: "responses", socket: socket,
		tool: tool{"exec_command", func(cmd string) any { return map[string]any{"cmd": cmd} }}, said: codexSaid}
	if socket {
		a.surface = "responses.ws"
	}
	a.command = func(h agentFolder, prompt string, again bool) (command, error) {
		dir := filepath.Join(h.dir, "codex")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return command{}, err
		}
		err := os.WriteFile(filepath.Join(dir, "config.toml"), fmt.Appendf(nil, codexConfig, h.url+"/v1", socket), 0o644)
		args := []string{"codex", "exec"}
		if again {
			args = append(args, "resume", "--last")
		}
		args = append(args, "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt)
		return command{args, []string{"CODEX_HOME=" + dir, "GW_KEY=" + h.key}}, err
	}
	return a
}

func codexSaid(stdout []byte) (s said) {
	type event struct {
		Type, Message string
		Item          struct{ Type, Text, Message string }
		Error         struct{ Message string }
	}
	for _, e := range lines[event](stdout) {
		switch {
		case e.Item.Type == "agent_message" && e.Type == "item.completed":
			s.texts = append(s.texts, e.Item.Text)
		case e.Type == "error":
			s.failures = append(s.failures, e.Message)
		case e.Type == "turn.failed" && !slices.Contains(s.failures, e.Error.Message): // mostly it repeats the last error
			s.failures = append(s.failures, e.Error.Message)
		}
	}
	return s
}

func claude() agent {
	return agent{name: "Claude Code", pkg: "@anthropic-ai/claude-code", surface: "messages", channel: "messages",
		tool: tool{"Bash", func(cmd string) any { return map[string]any{"command": cmd, "description": "Runs it"} }},
		command: func(h agentFolder, prompt string, again bool) (command, error) {
			args := []string{"claude", "-p", prompt, "--output-format", "stream-json", "--verbose", "--allowedTools", "Bash"}
			if again {
				args = append(args, "--continue")
			}
			return command{args, []string{"ANTHROPIC_BASE_URL=" + h.url, "ANTHROPIC_API_KEY=" + h.key, "ANTHROPIC_MODEL=m",
				"CLAUDE_CONFIG_DIR=" + filepath.Join(h.dir, "claude"), "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_MAX_RETRIES=1"}}, nil
		},
		said: claudeSaid}
}

func claudeSaid(stdout []byte) (s said) {
	type event struct {
		Type, Result string
		IsError      bool `json:"is_error"`
		Message      struct{ Content []struct{ Type, Text string } }
	}
	for _, e := range lines[event](stdout) {
		for _, c := range e.Message.Content {
			if e.Type == "assistant" && c.Type == "text" {
				s.texts = append(s.texts, c.Text)
			}
		}
		if e.Type == "result" && e.IsError {
			s.failures = append(s.failures, e.Result)
		}
	}
	return s
}

func opencode(name, sdk, surface, channel string) agent {
	return agent{name: name, pkg: "opencode-ai", surface: surface, channel: channel,
		tool: tool{"bash", func(cmd string) any { return map[string]any{"command": cmd, "description": "Runs it"} }},
		command: func(h agentFolder, prompt string, again bool) (command, error) {
			config, err := json.Marshal(map[string]any{"autoupdate": false, "share": "disabled", "provider": map[string]any{"gw": map[string]any{
				"npm": sdk, "name": "gw", "options": map[string]any{"baseURL": h.url + "/v1", "apiKey": h.key}, "models": map[string]any{"m": map[string]any{"name": "m"}}}}})
			args := []string{"opencode", "run", "--format", "json", "--auto", "--title", "A test", "-m", "gw/m", prompt}
			if again {
				args = append(args, "--continue")
			}
			return command{args, []string{"OPENCODE_CONFIG_CONTENT=" + string(config), "OPENCODE_DISABLE_AUTOUPDATE=1",
				"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1"}}, err
		},
		said: opencodeSaid}
}

func opencodeSaid(stdout []byte) (s said) {
	type event struct {
		Type  string
		Part  struct{ Text string }
		Error struct {
			Name string
			Data struct{ Message string }
		}
	}
	for _, e := range lines[event](stdout) {
		switch e.Type {
		case "text":
			s.texts = append(s.texts, e.Part.Text)
		case "error":
			s.failures = append(s.failures, strings.TrimSpace(e.Error.Data.Message+" ("+e.Error.Name+")"))
		}
	}
	return s
}
