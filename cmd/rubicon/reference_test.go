package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

func TestCommandsPageIsCurrent(t *testing.T) {
	committed, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "commands.md"))
	if err != nil {
		t.Fatal(err)
	}
	got := cli(t, nil, "reference")
	if diff := cmp.Diff(got.out, string(committed)); diff != "" || got.code != exitOK {
		t.Errorf("docs/reference/commands.md is stale; run go run ./internal/lab/docgen:\n%s", diff)
	}
}

// Every command has an example that its command line takes, and no example is
// left over.
func TestExamples(t *testing.T) {
	parser, err := kong.New(&commands{}, kong.Name("rubicon"), kong.Vars{"version": ""})
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{}
	for path := range manuals {
		left[path] = true
	}
	for _, n := range leavesOf(parser.Model.Node) {
		path := pathOf(n)
		delete(left, path)
		example := strings.ReplaceAll(manuals[path].example, `"`, "")
		if !strings.HasPrefix(example, "rubicon "+path) {
			t.Errorf("%s has the example %q", path, example)
			continue
		}
		// A quoted reason has several words; one is enough here.
		args := strings.Fields(example)[1:]
		if i := strings.Index(manuals[path].example, `"`); i >= 0 {
			args = append(strings.Fields(manuals[path].example[:i])[1:], "reason")
		}
		if parsed, err := parser.Parse(moveNegativeAmounts(args)); err != nil || !strings.HasPrefix(parsed.Command(), path) {
			t.Errorf("%q: %v", example, err)
		}
	}
	for path := range left {
		t.Errorf("an example for %q, which is no command", path)
	}
}

// Who asks for help for the first time is told the words that the commands use.
func TestHelpExplainsTheWords(t *testing.T) {
	help := cli(t, nil, "--help").out
	for _, word := range []string{"channel", "credential", "event", "hold", "public model", "customer"} {
		if !strings.Contains(help, word) {
			t.Errorf("the help does not say what a %s is:\n%s", word, help)
		}
	}
	if strings.Contains(help, "reference") {
		t.Error("the hidden command is shown")
	}
}
