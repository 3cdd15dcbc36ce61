package architecture

import (
	"fmt"
	"go/ast"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	mostLines      = 500 // of a file
	mostFuncLines  = 60  // of a function
	mostParameters = 5
)

// oversized are the files ("path") and functions ("path Name") that may be larger,
// each with its reason.
var oversized = map[string]string{
	"internal/api/explain/words.go words":                                  "one literal: a table of words",
	"internal/wire/translate/table.go Table":                               "one literal: the class table",
	"internal/wire/translate/reporter.go Reporter.NoteBecause":             "the members of a note, in its order",
	"internal/wire/translate/reporter.go Reporter.NoteQuietly":             "the members of a note, in its order",
	"internal/wire/translate/reporter.go Reporter.note":                    "the members of a note, in its order",
	"internal/wire/translate/responses/answer_parts.go answerDecoder.rest": "one text with its four places in the answer",
	"lock/mutate/decision.go decisionMutants":                              "one literal: a table of mutants",
	"lock/mutate/health.go healthMutants":                                  "one literal: a table of mutants",
	"lock/mutate/hold.go holdMutants":                                      "one literal: a table of mutants",
	"lock/mutate/money.go moneyMutants":                                    "one literal: a table of mutants",
}

// TestSize fails on files and functions of the program that are too large.
func TestSize(t *testing.T) { report(t, tooLarge(inCode(code(t)), oversized)) }

// tooLarge lists what is above a limit and not excepted, and exceptions that
// nothing needs.
func tooLarge(all []source, except map[string]string) []string {
	var faults []string
	idle := map[string]bool{}
	for name := range except {
		idle[name] = true
	}
	note := func(name, place, format string, args ...any) {
		if _, excepted := except[name]; excepted {
			delete(idle, name)
			return
		}
		faults = append(faults, place+": "+fmt.Sprintf(format, args...))
	}
	for _, s := range all {
		if s.lines > mostLines {
			note(s.path, s.path, "%d lines, %d are allowed", s.lines, mostLines)
		}
		for _, d := range s.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			name, place := s.path+" "+funcName(f), s.place(f.Pos())
			if n := s.fset.Position(f.End()).Line - s.fset.Position(f.Pos()).Line + 1; n > mostFuncLines {
				note(name, place, "%s has %d lines, %d are allowed", funcName(f), n, mostFuncLines)
			}
			if n := f.Type.Params.NumFields(); n > mostParameters {
				note(name, place, "%s has %d parameters, %d are allowed", funcName(f), n, mostParameters)
			}
		}
	}
	return append(faults, idleEntries(idle)...)
}

// idleEntries says which entries of a table of exceptions nothing needs.
func idleEntries(idle map[string]bool) []string {
	var faults []string
	for name := range idle {
		faults = append(faults, "the entry "+name+" is idle: remove it")
	}
	slices.Sort(faults)
	return faults
}

func TestTooLarge(t *testing.T) {
	long := "package a\nfunc long() {\n" + lines(60) + "}\nfunc (x *T) wide(a, b, c int, d, e, f string) {}\ntype T int\n"
	got := tooLarge([]source{
		parse(t, "a.go", long),
		parse(t, "b.go", "package b\n"+lines(500)),
		parse(t, "c.go", "package c\n"+lines(500)),
	}, map[string]string{"c.go": "a table", "d.go": "idle"})
	want := []string{
		"a.go:2: long has 62 lines, 60 are allowed",
		"a.go:64: T.wide has 6 parameters, 5 are allowed",
		"b.go: 501 lines, 500 are allowed",
		"the entry d.go is idle: remove it",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

func lines(n int) string { return string(slices.Repeat([]byte("\n"), n)) }
