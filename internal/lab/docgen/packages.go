package main

import (
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// rooms are the folders of internal, each after those that it may import
// (test/architecture checks that).
var rooms = []string{"money", "wire", "store", "config", "books", "health", "engine", "api", "app", "lab"}

// codePackage is what the map shows of one package.
type codePackage struct {
	folder, about string
	imports       map[string]bool // rooms
}

// writePackages writes the map of the packages, which is made from the source.
func writePackages(root string) error {
	text, err := packagesPage(os.DirFS(root))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "docs", "packages.md"), []byte(text), 0o644)
}

func packagesPage(repo fs.FS) (string, error) {
	found, err := readPackages(repo)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(generated + "# Packages\n\nThe packages of `internal` stand in rooms. An arrow is an import of non-test code; arrows go to rooms further up in the table only.\n" +
		"`go test ./test/architecture` refuses all others. Arrows of `app` and `lab`, which may import every room before them, are left out.\n\n```mermaid\nflowchart TD\n")
	for _, from := range rooms[:len(rooms)-2] {
		for _, to := range rooms {
			if to != from && slices.ContainsFunc(found, func(p codePackage) bool { return roomOf(p.folder) == from && p.imports[to] }) {
				fmt.Fprintf(&b, "    %s --> %s\n", from, to)
			}
		}
	}
	b.WriteString("```\n")
	for _, room := range rooms {
		fmt.Fprintf(&b, "\n## [%s](../internal/%s/README.md)\n\n| package | what it is for |\n|---|---|\n", room, room)
		for _, p := range found {
			if roomOf(p.folder) == room {
				fmt.Fprintf(&b, "| `%s` | %s |\n", p.folder, strings.ReplaceAll(p.about, "|", `\|`))
			}
		}
	}
	return b.String(), nil
}

// readPackages reads the imports and comments of every package of internal, in
// the order of their folders.
func readPackages(repo fs.FS) ([]codePackage, error) {
	found := map[string]codePackage{}
	err := fs.WalkDir(repo, "internal", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "testdata":
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(repo, name)
		if err != nil {
			return err
		}
		return addFile(found, name, text)
	})
	folders := slices.Sorted(maps.Keys(found))
	var sorted []codePackage
	for _, folder := range folders {
		sorted = append(sorted, found[folder])
	}
	return sorted, err
}

func addFile(found map[string]codePackage, name string, text []byte) error {
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return err
	}
	p := found[path.Dir(name)]
	if p.imports == nil {
		p = codePackage{folder: path.Dir(name), imports: map[string]bool{}}
	}
	if file.Doc != nil {
		p.about = new(doc.Package).Synopsis(file.Doc.Text())
	}
	for _, spec := range file.Imports {
		if imported, err := strconv.Unquote(spec.Path.Value); err == nil {
			p.imports[roomOf(strings.TrimPrefix(imported, "rubicon/"))] = true
		}
	}
	found[p.folder] = p
	return nil
}

// roomOf is the room of a folder, or "" for what is not in internal.
func roomOf(folder string) string {
	rest, inside := strings.CutPrefix(folder, "internal/")
	if !inside {
		return ""
	}
	room, _, _ := strings.Cut(rest, "/")
	return room
}
