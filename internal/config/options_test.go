package config

import (
	"slices"
	"strings"
	"testing"
)

// Each option is there once, with a sentence of its own or that of the option
// which it repeats; no sentence is left over.
func TestOptionsHaveWords(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range Options() {
		if seen[o.Path] {
			t.Errorf("%s is there twice", o.Path)
		}
		seen[o.Path] = true
		if o.About == "" {
			t.Errorf("%s has no sentence in about.go", o.Path)
		}
	}
	for path := range about {
		if !seen[path] {
			t.Errorf("about.go has a sentence for %s, which is no option", path)
		}
	}
	for _, m := range mirrors {
		if !slices.ContainsFunc(Options(), func(o Option) bool { return strings.HasPrefix(o.Path, m.path) }) {
			t.Errorf("nothing begins with %s", m.path)
		}
	}
}

// The options are those that a file may hold: the sample has no other, and every
// group of the schema is among them.
func TestOptionsAreTheSchema(t *testing.T) {
	var paths []string
	for _, o := range Options() {
		paths = append(paths, o.Path)
	}
	root, problem := readTree(Sample())
	if problem != nil {
		t.Fatal(problem)
	}
	for _, path := range leaves(root, "") {
		if !slices.Contains(paths, path) {
			t.Errorf("the sample has %s, which is not among the options", path)
		}
	}
	d := &decoder{lines: map[string]int{}, broken: map[string]bool{}}
	c := Default()
	for _, f := range d.root(&c) {
		if !slices.ContainsFunc(paths, func(p string) bool {
			return p == f.key || strings.HasPrefix(p, f.key+".") || strings.HasPrefix(p, f.key+"[]")
		}) {
			t.Errorf("no option of %s", f.key)
		}
	}
}

// leaves are the paths of a tree's values.
func leaves(n *node, path string) (out []string) {
	switch n.kind {
	case mapping:
		for _, e := range n.entries {
			out = append(out, leaves(e.value, join(path, e.key))...)
		}
		return out
	case list:
		for _, item := range n.items {
			out = append(out, leaves(item, path+"[]")...)
		}
		return out
	}
	return []string{path}
}

func TestOptionNotes(t *testing.T) {
	want := map[string]string{
		"listen": "fixed at the start", "store.url": "fixed at the start", "tls.cert": "fixed at the start (on or off)", "admin.token": "",
		"timers.idle": "per model too", "timers.shutdown_grace": "", "delivery": "per model too", "models[].timers.idle": "",
	}
	for _, o := range Options() {
		w, asked := want[o.Path]
		got := strings.Join(o.Notes, "; ")
		if asked && (w == "" && got != "" || !strings.Contains(got, w)) {
			t.Errorf("%s: notes %q, want %q", o.Path, got, w)
		}
		delete(want, o.Path)
	}
	for path := range want {
		t.Errorf("no option %s", path)
	}
}

func TestDefaultsAsWritten(t *testing.T) {
	want := map[string]string{
		"timers.total": "30m", "timers.idle": "300s", "timers.first_output": "0s", "retention.requests": "90d", "limits.event": "32MiB", "ws.enabled": "true",
		"cooldown.weight_floor": "0.125", "store.url": "sqlite:rubicon.db", "replay.default_store": "upstream", "models[].timers.idle": "as timers.idle",
		"models[].channels[].cost.cached_input": "as input", "models[].channels[].cost.input": "0", "models[].channels[].weight": "100", "models[].hold_output_tokens": "4096",
	}
	for _, o := range Options() {
		if w, asked := want[o.Path]; asked && o.Default != w {
			t.Errorf("%s: default %q, want %q", o.Path, o.Default, w)
		}
	}
}
