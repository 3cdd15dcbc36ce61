package architecture

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// goroutines are the functions that may contain a go statement ("path Name"), each
// with who waits for the goroutine.
var goroutines = map[string]string{
	"internal/api/wsapi/wsapi.go Handler.run":          "Handler.Shutdown, through the count of open connections",
	"internal/api/wsapi/wsapi.go Handler.Shutdown":     "the function itself, before it returns",
	"internal/app/drain.go App.finishRunning":          "the function itself, at most until its context ends; then the shutdown closes the connections",
	"internal/app/start.go App.serveEarly":             "early.wait",
	"lock/scenario/client.go installation.start":       "whoever receives from the call's channel done",
	"lock/scenario/installation.go installation.serve": "whoever stops the gateway, through the channel running.done",
	"lock/scenario/socket.go installation.connect":     "whoever closes the socket, through the channel socket.done",
	"test/stand/stand.go Gateway.peers":                "the cleanup of the test",
	"test/stand/stand.go Gateway.run":                  "Gateway.Shutdown and Gateway.Close, through the channel ended",
}

// TestGoroutines fails on a go statement at a place that the table does not list.
func TestGoroutines(t *testing.T) { report(t, strayGoroutines(inCode(code(t)), goroutines)) }

func strayGoroutines(all []source, known map[string]string) []string {
	var faults []string
	idle := map[string]bool{}
	for name := range known {
		idle[name] = true
	}
	for _, s := range all {
		for _, d := range s.Decls {
			name := s.path + " var"
			if f, ok := d.(*ast.FuncDecl); ok {
				name = s.path + " " + funcName(f)
			}
			ast.Inspect(d, func(n ast.Node) bool {
				if g, ok := n.(*ast.GoStmt); ok {
					delete(idle, name)
					if known[name] == "" {
						faults = append(faults, fmt.Sprintf("%s: a goroutine in %q, which the table does not list", s.place(g.Pos()), name))
					}
				}
				return true
			})
		}
	}
	return append(faults, idleEntries(idle)...)
}

func TestStrayGoroutines(t *testing.T) {
	text := "package a\nfunc (t *T) run() {\n\tgo t.run()\n}\ntype T int\nfunc known() { go known() }\n"
	got := strayGoroutines([]source{parse(t, "a.go", text)}, map[string]string{"a.go known": "known", "a.go gone": "idle"})
	want := []string{
		`a.go:3: a goroutine in "a.go T.run", which the table does not list`,
		"the entry a.go gone is idle: remove it",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

// TestPackages fails on packages without a comment and on names that say nothing,
// and on functions that run before main.
func TestPackages(t *testing.T) { report(t, badPackages(code(t))) }

var emptyNames = []string{"util", "utils", "common", "helper", "helpers", "service", "manager", "models"}

func badPackages(all []source) []string {
	documented := map[string]bool{}
	var faults []string
	for _, s := range all {
		if s.isTest() && documented[s.folder()] {
			continue
		}
		documented[s.folder()] = documented[s.folder()] || s.Doc != nil && len(strings.Fields(s.Doc.Text())) > 5
		if slices.Contains(emptyNames, s.Name.Name) || slices.Contains(emptyNames, path.Base(s.folder())) {
			faults = append(faults, fmt.Sprintf("%s: the package name %s says nothing", s.place(s.Package), s.Name.Name))
		}
	}
	for _, s := range all {
		for _, d := range s.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				faults = append(faults, s.place(f.Pos())+": func init")
			}
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(documented)) {
		if !documented[folder] {
			faults = append(faults, folder+": no file has a package comment")
		}
	}
	return faults
}

func TestBadPackages(t *testing.T) {
	got := badPackages([]source{
		parse(t, "good/a.go", "// Package good is for something and not for something else.\npackage good\n"),
		parse(t, "bare/a.go", "package bare\n"),
		parse(t, "util/a.go", "// Package util is for something and not for something else.\npackage util\nfunc init() {}\n"),
	})
	want := []string{
		"util/a.go:2: the package name util says nothing",
		"util/a.go:3: func init",
		"bare: no file has a package comment",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

// sleepers are the tests that may sleep outside testing/synctest, with the reason.
var sleepers = map[string]string{
	"cmd/rubicon/serve_test.go":                    "polls a running process until a condition holds",
	"internal/api/idempotency/idempotency_test.go": "polls until a condition holds",
	"internal/api/wsapi/life_test.go":              "runs in a bubble that another file of the package starts",
	"internal/api/wsapi/vanish_test.go":            "runs in a bubble that another file of the package starts",
	"internal/app/world_test.go":                   "plays upstreams that pause between events",
	"internal/engine/turn/outage_test.go":          "runs in a bubble that another file of the package starts",
	"internal/lab/audit/atomic_test.go":            "records become final some time after the answer",
	"internal/lab/sim/wire_test.go":                "runs in a bubble that another file of the package starts",
	"internal/store/cluster/cluster_test.go":       "polls a real database; work must be under way when a node is removed",
	"internal/store/outage_test.go":                "polls a real database until an outage begins or ends",
	"test/e2e/drain_test.go":                       "nothing outside shows that the gateway noticed that its client left",
	"test/e2e/gone_any_test.go":                    "plays a client that reads slowly",
	"test/e2e/kill_test.go":                        "kills a process at a random moment",
	"test/e2e/nodes_test.go":                       "waits for several leases of real processes",
	"test/e2e/outage_test.go":                      "an outage of a real database has a length",
	"test/e2e/phases_test.go":                      "nothing outside shows that a settlement waits for the database",
	"test/e2e/shutdown_test.go":                    "polls a connection of the operating system until it is full",
}

// TestSleep fails on time.Sleep in test files that do not import testing/synctest.
func TestSleep(t *testing.T) { report(t, sleeps(code(t), sleepers)) }

func sleeps(all []source, except map[string]string) []string {
	var faults []string
	idle := map[string]bool{}
	for name := range except {
		idle[name] = true
	}
	for _, s := range all {
		inBubble := slices.ContainsFunc(s.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing/synctest"` })
		if !s.isTest() || inBubble {
			continue
		}
		ast.Inspect(s.File, func(n ast.Node) bool {
			if at, ok := selected(n, "time", "Sleep"); ok {
				delete(idle, s.path)
				if except[s.path] == "" {
					faults = append(faults, s.place(at)+": time.Sleep in a test")
				}
			}
			return true
		})
	}
	return append(faults, idleEntries(idle)...)
}

// selected reports whether a node is pkg.name, and where.
func selected(n ast.Node, pkg, name string) (token.Pos, bool) {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return 0, false
	}
	x, ok := sel.X.(*ast.Ident)
	return sel.Pos(), ok && x.Name == pkg
}

func TestSleeps(t *testing.T) {
	body := "import \"time\"\nfunc f() { time.Sleep(1) }\n"
	got := sleeps([]source{
		parse(t, "a_test.go", "package a\n"+body),
		parse(t, "b_test.go", "package a\nimport _ \"testing/synctest\"\n"+body),
		parse(t, "c.go", "package a\n"+body),
	}, map[string]string{"d_test.go": "idle"})
	want := []string{"a_test.go:3: time.Sleep in a test", "the entry d_test.go is idle: remove it"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}
