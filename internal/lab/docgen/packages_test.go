package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestPackagesPageIsCurrent(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	want, err := packagesPage(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	committed, err := os.ReadFile(filepath.Join(root, "docs", "packages.md"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(committed)); diff != "" {
		t.Errorf("docs/packages.md is stale; run go run ./internal/lab/docgen:\n%s", diff)
	}
}

// TestPackagesPage makes the map of a small repository: imports of tests and of
// test data are no arrows.
func TestPackagesPage(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	got, err := packagesPage(fstest.MapFS{
		"internal/wire/sse/a.go":          file("// Package sse reads a | b. It does more.\npackage sse\nimport _ \"rubicon/internal/money\"\n"),
		"internal/wire/sse/a_test.go":     file("package sse\nimport _ \"rubicon/internal/store\"\n"),
		"internal/wire/sse/testdata/x.go": file("not Go"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got, "flowchart TD\n    wire --> money\n```") {
		t.Errorf("not this one arrow:\n%s", got)
	}
	if !strings.Contains(got, "| `internal/wire/sse` | Package sse reads a \\| b. |") {
		t.Errorf("the package is not described:\n%s", got)
	}
}
