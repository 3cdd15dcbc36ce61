package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mutant is one rule broken on purpose.
type mutant struct {
	name   string
	breaks []string // rows, rules and transitions, as the coverage test names them
	edits  []edit
	caught []string // scenarios that are likely to catch it; tried first
	small  bool     // runs with every test
}

// edit replaces the only place of a text in a file.
type edit struct{ file, old, new string }

// in makes an edit.
func in(file, old, new string) edit { return edit{file, old, new} }

// table is every mutant.
func table() []mutant {
	return slices.Concat(decisionMutants(), holdMutants(), streams(), healthMutants(), moneyMutants())
}

// mutated gives the files of a mutant as they are with its edits, by path under
// the root.
func (m *mutant) mutated(root string) (map[string]string, error) {
	out := map[string]string{}
	for _, e := range m.edits {
		text, seen := out[e.file]
		if !seen {
			raw, err := os.ReadFile(filepath.Join(root, e.file))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.name, err)
			}
			text = string(raw)
		}
		if n := strings.Count(text, e.old); n != 1 {
			return nil, fmt.Errorf("%s is stale: %s holds %d times, not once:\n%s", m.name, e.file, n, e.old)
		}
		if e.old == e.new {
			return nil, fmt.Errorf("%s changes nothing in %s", m.name, e.file)
		}
		out[e.file] = strings.Replace(text, e.old, e.new, 1)
	}
	return out, nil
}
