package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	// The test builds the gateway; it must run anew whenever that has changed.
	_ "rubicon/internal/app"
)

// flipMutant change one thing that clients or operators see, and nothing else.
var flipMutant = []struct {
	name, scenario string
	edit           edit
	was, is        string // as the recordings spell it
	calls          string // that come of it, where they change
}{
	{"verdict", "row-05a-529", in("internal/engine/replay/rules.go", `again: Switch, reason: SwitchOverloaded`, `again: Deliver, no: UnknownFailure`), `"switch"`, "unknown_failure", "{a: 1, b: 0}"},
	{"reason", "row-03-5xx", in("internal/engine/replay/rules.go", `"replay_upstream_5xx"`, `"replay_other"`), "replay_upstream_5xx", "replay_other", ""},
	{"code", "row-11-output-cut", in("internal/wire/fault/table.go", `"stream_read_error"`, `"stream_broke"`), "stream_read_error", "stream_broke", ""},
	{"amount", "money-rounding", in("internal/money/money.go", `bits.Add64(lo, d/2, 0)`, `bits.Add64(lo, 0, 0)`), "0.000001238", "0.000001236", ""},
}

// TestFlipsNeedADeclaration flips one verdict, one reason, one code, one amount
// in the code, on a temporary copy: the lock's test fails. Whoever then throws
// the scenario's expectations away and records anew is stopped by lock/check
// until a declaration names the recordings.
func TestFlipsNeedADeclaration(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the gateway four times")
	}
	l := &workspace{root: absolute(t, root), dir: t.TempDir()}
	check := filepath.Join(l.dir, "check")
	command(t, l.root, "go", "build", "-o", check, "./lock/check")
	for _, f := range flipMutant {
		t.Run(f.name, func(t *testing.T) {
			bin, err := l.build(t.Context(), mutant{name: f.name, edits: []edit{f.edit}})
			if err != nil {
				t.Fatal(err)
			}
			defer os.Remove(bin)
			c := newCopy(t, f.scenario)
			c.fails(bin, strings.Trim(f.was, `"`), strings.Trim(f.is, `"`))
			c.forget(f.calls)
			c.record(bin)
			c.run(1, check, f.scenario+" changed, and no new declaration names it", f.was, f.is)
			c.declare()
			c.run(0, check, "changed as declared")
		})
	}
}

// copied is the lock's data in a repository of its own.
type copied struct {
	t        *testing.T
	dir      string
	scenario string
}

func newCopy(t *testing.T, scenario string) *copied {
	t.Helper()
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"} { // as in a hook
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	c := &copied{t: t, dir: t.TempDir(), scenario: scenario}
	for _, name := range []string{"scenarios", "recordings", "form"} {
		if err := os.CopyFS(filepath.Join(c.dir, "lock", name), os.DirFS(filepath.Join(root, "lock", name))); err != nil {
			t.Fatal(err)
		}
	}
	git := []string{"-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"}
	command(t, c.dir, "git", "init", "-q", "-b", "main")
	command(t, c.dir, "git", "add", "-A")
	command(t, c.dir, "git", append(git, "commit", "-q", "-m", "before")...)
	command(t, c.dir, "git", append(git, "commit", "-q", "--allow-empty", "-m", "the flip")...)
	return c
}

// fails plays the scenario with the flipped gateway: it must fail, and say the
// words.
func (c *copied) fails(bin string, words ...string) {
	c.t.Helper()
	out, err := c.play(bin)
	if err == nil {
		c.t.Error("the lock's test passes")
	}
	c.says(out, words)
}

func (c *copied) record(bin string) {
	c.t.Helper()
	if out, err := c.play(bin, "-update"); err != nil {
		c.t.Errorf("recording: %v\n%s", err, out)
	}
}

func (c *copied) play(bin string, flags ...string) ([]byte, error) {
	cmd := exec.Command(bin, append(flags, "-test.run", "^TestScenarios$/^"+regexp.QuoteMeta(c.scenario)+`(\.ws)?$`)...)
	cmd.Dir = filepath.Join(c.dir, "lock")
	return cmd.CombinedOutput()
}

// forget takes away what the scenario expects, calls apart: these must be right.
func (c *copied) forget(calls string) {
	c.t.Helper()
	path := filepath.Join(c.dir, "lock", "scenarios", c.scenario+".yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		c.t.Fatal(err)
	}
	head, expect, _ := strings.Cut(string(text), "\nexpect:\n")
	head += "\nexpect:\n"
	for line := range strings.Lines(expect) {
		if strings.HasPrefix(line, "  calls:") && calls == "" {
			head += line
		}
	}
	if calls != "" {
		head += "  calls: " + calls + "\n"
	}
	if err := os.WriteFile(path, []byte(head), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

func (c *copied) run(code int, bin string, words ...string) {
	c.t.Helper()
	cmd := exec.Command(bin, "-full")
	cmd.Dir = c.dir
	out, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != code {
		c.t.Errorf("lock/check: exit code %d, want %d\n%s", got, code, out)
	}
	c.says(out, words)
}

func (c *copied) says(out []byte, words []string) {
	c.t.Helper()
	for _, w := range words {
		if !bytes.Contains(out, []byte(w)) {
			c.t.Errorf("does not say %q:\n%s", w, out)
		}
	}
}

func (c *copied) declare() {
	c.t.Helper()
	text := "---\nrecordings: [" + c.scenario + ", " + c.scenario + ".ws]\n---\nAn example of a change that was meant.\n"
	dir := filepath.Join(c.dir, "lock", "declarations")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "0099-flip.md"), []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

func command(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}
