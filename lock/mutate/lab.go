package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// workspace builds the lock's test with a mutant in it and runs scenarios against it.
type workspace struct {
	root string
	dir  string // of everything that is made
}

// finding is what became of one mutant.
type finding struct {
	mutant mutant
	by     []string // the scenarios that caught it
	all    bool     // none of those that it names did
	err    error    // it could not be tried
	took   time.Duration
}

// newLab makes sure that the lock passes as it is: against one that fails
// anyway every mutant would count as caught.
func newLab(ctx context.Context, root string, chosen []mutant) (*workspace, error) {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, err
	}
	l := &workspace{root: root, dir: dir}
	for i := range chosen {
		if _, err := chosen[i].mutated(root); err != nil {
			l.close()
			return nil, err
		}
	}
	if err := l.checkUnchanged(ctx, chosen); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *workspace) close() { _ = os.RemoveAll(l.dir) }

// checkUnchanged runs, without a mutant, what the chosen ones name.
func (l *workspace) checkUnchanged(ctx context.Context, chosen []mutant) error {
	var names []string
	for _, m := range chosen {
		names = append(names, m.caught...)
	}
	slices.Sort(names)
	bin, err := l.build(ctx, mutant{name: "no mutant"})
	if err != nil {
		return err
	}
	defer os.Remove(bin)
	failed, err := l.play(ctx, bin, slices.Compact(names))
	if err != nil {
		return err
	}
	if len(failed) > 0 {
		return fmt.Errorf("the lock fails as it is, so that it can prove nothing: %s", strings.Join(failed, ", "))
	}
	return nil
}

// tryAll tries the mutants, n at a time, and tells of each as it ends.
func (l *workspace) tryAll(ctx context.Context, all []mutant, n int, told func(finding)) []finding {
	findings := make([]finding, len(all))
	work := make(chan int)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for i := range work {
				findings[i] = l.try(ctx, all[i])
				mu.Lock()
				told(findings[i])
				mu.Unlock()
			}
		})
	}
	for i := range all {
		work <- i
	}
	close(work)
	wg.Wait()
	return findings
}

// try builds one mutant and plays the scenarios that it names, then all others.
func (l *workspace) try(ctx context.Context, m mutant) finding {
	began := time.Now()
	f := finding{mutant: m}
	bin, err := l.build(ctx, m)
	if err == nil {
		defer os.Remove(bin)
		if len(m.caught) > 0 {
			f.by, err = l.play(ctx, bin, m.caught)
		}
		if err == nil && len(f.by) == 0 {
			f.all = true
			f.by, err = l.play(ctx, bin, nil)
		}
	}
	f.err, f.took = err, time.Since(began)
	return f
}

// build compiles the lock's test with the mutant's files in place of the real
// ones. Nothing is written into the sources.
func (l *workspace) build(ctx context.Context, m mutant) (string, error) {
	files, err := m.mutated(l.root)
	if err != nil {
		return "", err
	}
	name := strings.ReplaceAll(m.name, " ", "-")
	dir := filepath.Join(l.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	replace := map[string]string{}
	for file, text := range files {
		path := filepath.Join(dir, strings.ReplaceAll(file, "/", "-"))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(l.root, file)] = path
	}
	overlay := filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		return "", err
	}
	bin := filepath.Join(l.dir, name+".test")
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", bin, "-ldflags=-s -w", "-overlay", overlay, "./lock")
	cmd.Dir = l.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s does not build: %w\n%s", m.name, err, out)
	}
	return bin, nil
}

// runTimeout is when a run is given up: a mutant may well loop for ever.
const runTimeout = 2 * time.Minute

// play runs scenarios, all of them where none is named, and gives those that
// failed. A run that ends in any other way than well caught its mutant too.
func (l *workspace) play(ctx context.Context, bin string, names []string) ([]string, error) {
	pattern := "^TestScenarios$"
	if len(names) > 0 {
		quoted := make([]string, len(names))
		for i, n := range names {
			quoted[i] = regexp.QuoteMeta(n)
		}
		pattern += "/^(" + strings.Join(quoted, "|") + ")$"
	}
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, "-test.run", pattern, "-test.v=test2json")
	cmd.Dir = filepath.Join(l.root, "lock")
	out, err := cmd.CombinedOutput()
	failed, ran := outcomes(out)
	switch {
	case len(failed) > 0:
		return failed, nil
	case ctx.Err() != nil:
		return []string{"a run that never ends"}, context.Cause(ctx)
	case err != nil:
		return []string{"a crash: " + crash(out)}, nil
	case ran < max(len(names), 1):
		return nil, fmt.Errorf("only %d of %d scenarios are there: %s", ran, len(names), strings.Join(names, ", "))
	}
	return nil, nil
}

var result = regexp.MustCompile(`(?m)^\s*\x16?\s*--- (PASS|FAIL): TestScenarios/(\S+)`)

// outcomes reads which scenarios failed and how many ran.
func outcomes(out []byte) (failed []string, ran int) {
	for _, m := range result.FindAllSubmatch(out, -1) {
		ran++
		if string(m[1]) == "FAIL" {
			failed = append(failed, string(m[2]))
		}
	}
	return failed, ran
}

// crash is the first word of what a run that died said.
func crash(out []byte) string {
	for line := range bytes.Lines(out) {
		if s := string(bytes.TrimSpace(line)); strings.HasPrefix(s, "panic:") || strings.HasPrefix(s, "fatal error:") {
			return s
		}
	}
	return "no scenario failed, and the run did not end well"
}
