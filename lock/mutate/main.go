// Command mutate shows that the behaviour lock is tight. It is run as
//
//	go run ./lock/mutate [-small] [-run REGEXP] [-parallel N] [-list]
//
// Each mutant of the table (decision.go, hold.go, health.go, money.go) breaks
// one rule of the gateway by an edit of its source that only the compiler sees
// (go test -overlay). The lock's own test runs against each: a mutant that no
// scenario catches is a hole in the lock, it is named and the command fails.
//
// It is for the lock alone. Nothing of a mutant is in the shipped binary: the
// sources are never touched, and there is no hook in them.
//
// Invariant: the table cannot go stale unseen. An edit whose old text is not
// found exactly once is an error, so is a mutant that does not build, and the
// lock must pass without any mutant first.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout)
	stop()
	os.Exit(code)
}

// run is the command; the exit code is 0, 1 (survivors, or the table is
// stale) or 2 (usage).
func run(ctx context.Context, args []string, out io.Writer) int {
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	flags.SetOutput(out)
	small := flags.Bool("small", false, "only the few that run with every test")
	pattern := flags.String("run", "", "only mutants whose name or rule matches")
	parallel := flags.Int("parallel", 2, "how many at once")
	list := flags.Bool("list", false, "list the mutants and run nothing")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	chosen, err := choose(table(), *small, *pattern)
	if err != nil {
		fmt.Fprintln(out, "mutate:", err)
		return 2
	}
	if *list {
		printList(out, chosen)
		return 0
	}
	root, err := moduleRoot()
	if err != nil {
		fmt.Fprintln(out, "mutate:", err)
		return 2
	}
	began := time.Now()
	l, err := newLab(ctx, root, chosen)
	if err != nil {
		fmt.Fprintln(out, "mutate:", err)
		return 1
	}
	defer l.close()
	findings := l.tryAll(ctx, chosen, max(*parallel, 1), func(f finding) { printLine(out, f) })
	return printSummary(out, findings, time.Since(began))
}

// choose picks the mutants that are to run.
func choose(all []mutant, small bool, pattern string) ([]mutant, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	var out []mutant
	for _, m := range all {
		if (!small || m.small) && (re.MatchString(m.name) || re.MatchString(strings.Join(m.breaks, " "))) {
			out = append(out, m)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no mutant is called %q", pattern)
	}
	return out, nil
}

// moduleRoot is where the sources are.
func moduleRoot() (string, error) {
	file, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("finding the module: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(file))), nil
}
