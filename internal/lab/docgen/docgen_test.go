package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPagesAreCurrent fails when the committed pages are not what the tables say.
func TestPagesAreCurrent(t *testing.T) {
	for _, p := range pages() {
		committed, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", p.name))
		if err != nil {
			t.Errorf("%v; run go run ./internal/lab/docgen", err)
			continue
		}
		if diff := cmp.Diff(p.text, string(committed)); diff != "" {
			t.Errorf("docs/%s is stale; run go run ./internal/lab/docgen:\n%s", p.name, diff)
		}
	}
}

func TestWriteNeedsTheRoot(t *testing.T) {
	if err := write(filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("written into nowhere")
	}
	dir := t.TempDir()
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	for _, p := range pages() {
		if got, _ := os.ReadFile(filepath.Join(dir, p.name)); string(got) != p.text {
			t.Errorf("%s was written as something else", p.name)
		}
	}
}
