package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
	"testing"
)

// source is one parsed Go file of the repository.
type source struct {
	path  string // from the root, with slashes
	lines int
	fset  *token.FileSet
	*ast.File
}

func (s source) folder() string { return path.Dir(s.path) }
func (s source) isTest() bool   { return strings.HasSuffix(s.path, "_test.go") }

// place is where something stands: file and line.
func (s source) place(at token.Pos) string {
	return fmt.Sprintf("%s:%d", s.path, s.fset.Position(at).Line)
}

// sources parses all Go files among the texts, apart from test data.
func sources(t *testing.T, files []file) []source {
	t.Helper()
	var found []source
	for _, f := range files {
		if path.Ext(f.path) == ".go" && !strings.Contains(f.path, "/testdata/") {
			found = append(found, parse(t, f.path, f.text))
		}
	}
	return found
}

func parse(t *testing.T, name, text string) source {
	t.Helper()
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, name, text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return source{path: name, lines: strings.Count(text, "\n"), fset: fset, File: parsed}
}

// code is every Go file of this repository.
func code(t *testing.T) []source {
	t.Helper()
	return sources(t, texts(t, repository(t)))
}

// inCode gives the files that are no tests.
func inCode(all []source) []source {
	var kept []source
	for _, s := range all {
		if !s.isTest() {
			kept = append(kept, s)
		}
	}
	return kept
}

// funcName is the name of a function, with its receiver: "Gate.write".
func funcName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if generic, ok := of.(*ast.IndexExpr); ok {
		of = generic.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name + "." + f.Name.Name
	}
	return f.Name.Name
}

func report(t *testing.T, faults []string) {
	t.Helper()
	for _, fault := range faults {
		t.Error(fault)
	}
}
