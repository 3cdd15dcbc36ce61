package architecture

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// room is a folder directly below internal. The rooms are in order: each may
// import rooms above it in this table only, and of those the ones it names.
type room struct {
	name   string
	reason string // why it needs what it imports
	may    []string
}

var rooms = []room{
	{"money", "Amounts and prices are plain arithmetic and need nothing.", nil},
	{"wire", "A protocol reads usage, which prices give its classes.", []string{"money"}},
	{"store", "Nodes make names with wire/ident.", []string{"wire"}},
	{"config", "Options hold prices and failure classes.", []string{"money", "wire"}},
	{"books", "Money, keys and records are rows of the database.", []string{"money", "wire", "store"}},
	{"health", "Rules read options and failure classes, orders and alerts are stored, a choice is recorded, and an alert names a flag of usage.", []string{"money", "wire", "store", "config", "books"}},
	{"engine", "A request uses every rule below, and knows neither transport nor process.", []string{"money", "wire", "store", "config", "books", "health"}},
	{"api", "Transports run turns, operators read books and health.", []string{"money", "wire", "store", "config", "books", "health", "engine"}},
	{"app", "It wires everything together.", []string{"money", "wire", "store", "config", "books", "health", "engine", "api"}},
	{"lab", "It shows and tries out the whole program.", []string{"money", "wire", "store", "config", "books", "health", "engine", "api", "app"}},
}

// TestFloors fails on an import of non-test code that is not in the table.
func TestFloors(t *testing.T) { report(t, climbs(rooms, inCode(code(t)))) }

// TestFloorTable fails if the table itself permits an import that climbs, or
// permits one that no code has.
func TestFloorTable(t *testing.T) {
	used := map[string]bool{}
	for _, s := range inCode(code(t)) {
		for _, to := range imported(s) {
			used[roomOf(s.folder())+" "+roomOf(to.path)] = true
		}
	}
	seen := map[string]bool{}
	for _, r := range rooms {
		if r.reason == "" {
			t.Errorf("room %s has no reason", r.name)
		}
		for _, to := range r.may {
			if !seen[to] {
				t.Errorf("room %s may import %s, which does not stand before it", r.name, to)
			}
			if !used[r.name+" "+to] && r.name != "lab" {
				t.Errorf("room %s may import %s, but does not", r.name, to)
			}
		}
		seen[r.name] = true
	}
}

// TestRoomsHaveReadmes fails for a room without a page that says what is in it.
func TestRoomsHaveReadmes(t *testing.T) { report(t, unexplained(repository(t), rooms)) }

func unexplained(repo fs.FS, table []room) []string {
	var faults []string
	for _, r := range table {
		name := "internal/" + r.name + "/README.md"
		if text, err := fs.ReadFile(repo, name); err != nil || !strings.Contains(string(text), "import") {
			faults = append(faults, name+" does not say what is in the room and who may import it")
		}
	}
	return faults
}

func TestUnexplained(t *testing.T) {
	repo := fstest.MapFS{"internal/a/README.md": {Data: []byte("May be imported by b.")}, "internal/b/README.md": {Data: []byte("# b")}}
	got := unexplained(repo, []room{{name: "a"}, {name: "b"}, {name: "c"}})
	want := []string{
		"internal/b/README.md does not say what is in the room and who may import it",
		"internal/c/README.md does not say what is in the room and who may import it",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

type arrow struct{ path, place string }

// imported gives the packages of this module that a file imports, from the root.
func imported(s source) []arrow {
	var found []arrow
	for _, spec := range s.Imports {
		name, _ := strconv.Unquote(spec.Path.Value)
		if rest, ours := strings.CutPrefix(name, "rubicon/"); ours {
			found = append(found, arrow{rest, s.place(spec.Pos())})
		}
	}
	return found
}

// roomOf is the room of a folder, or "" outside internal.
func roomOf(folder string) string {
	rest, inside := strings.CutPrefix(folder, "internal/")
	if !inside {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// climbs lists the imports that the table does not permit. cmd, lock and test are
// outside the rooms: they may import every room, and no room may import them.
func climbs(table []room, all []source) []string {
	var faults []string
	for _, s := range all {
		from := roomOf(s.folder())
		if from == "" {
			continue
		}
		i := slices.IndexFunc(table, func(r room) bool { return r.name == from })
		if i < 0 {
			faults = append(faults, fmt.Sprintf("%s: internal/%s is no room of the table", s.place(s.Package), from))
			continue
		}
		for _, to := range imported(s) {
			if target := roomOf(to.path); target != from && !slices.Contains(table[i].may, target) {
				faults = append(faults, fmt.Sprintf("%s: room %s may not import %s", to.place, from, to.path))
			}
		}
	}
	return faults
}

func TestClimbs(t *testing.T) {
	got := climbs(rooms, []source{
		parse(t, "internal/wire/sse/a.go", "package sse\nimport _ \"rubicon/internal/engine/turn\"\nimport _ \"rubicon/internal/money\"\n"),
		parse(t, "internal/wire/translate/a.go", "package translate\nimport _ \"rubicon/internal/wire/protocol\"\n"),
		parse(t, "internal/api/console/a.go", "package console\nimport _ \"rubicon/internal/lab/sim\"\n"),
		parse(t, "internal/books/a/a.go", "package a\nimport _ \"rubicon/test/stand\"\n"),
		parse(t, "internal/attic/a.go", "package attic\n"),
		parse(t, "cmd/rubicon/a.go", "package main\nimport _ \"rubicon/internal/lab/sim\"\n"),
	})
	want := []string{
		"internal/wire/sse/a.go:2: room wire may not import internal/engine/turn",
		"internal/api/console/a.go:2: room api may not import internal/lab/sim",
		"internal/books/a/a.go:2: room books may not import test/stand",
		"internal/attic/a.go:1: internal/attic is no room of the table",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}
