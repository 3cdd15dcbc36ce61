package architecture

//lint:file-ignore SA1019 The parser's objects tell a local variable from a package-level one without type checking the whole program.

import (
	"fmt"
	"go/ast"
	"go/token"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestState fails where code of the program assigns to a package-level variable,
// to a member of one or to an entry of one.
func TestState(t *testing.T) { report(t, mutations(inCode(code(t)))) }

// mutations lists assignments to package-level variables, by name. It follows the
// resolution of the parser: a local variable that shadows one is not meant.
func mutations(all []source) []string {
	vars := map[string]map[string]bool{} // by folder
	for _, s := range all {
		for _, d := range s.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, spec := range g.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					if vars[s.folder()] == nil {
						vars[s.folder()] = map[string]bool{}
					}
					vars[s.folder()][name.Name] = true
				}
			}
		}
	}
	var faults []string
	for _, s := range all {
		ast.Inspect(s.File, func(n ast.Node) bool {
			for _, target := range assigned(n) {
				if name := base(target); name != nil && vars[s.folder()][name.Name] && packageLevel(s, name) {
					faults = append(faults, fmt.Sprintf("%s: changes the package-level variable %s", s.place(name.Pos()), name.Name))
				}
			}
			return true
		})
	}
	return faults
}

// assigned gives what a statement changes.
func assigned(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "delete" || f.Name == "clear") && len(n.Args) > 0 {
			return n.Args[:1]
		}
	}
	return nil
}

// base is the variable that an expression belongs to.
func base(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// packageLevel reports whether a name is no local one. The parser leaves names of
// other files of the package without an object.
func packageLevel(s source, name *ast.Ident) bool {
	return name.Obj == nil || s.Scope.Lookup(name.Name) == name.Obj
}

func TestMutations(t *testing.T) {
	got := mutations([]source{
		parse(t, "a/a.go", "package a\nvar m = map[int]int{}\nvar n int\nfunc f(m map[int]int) {\n\tm[1] = 2\n\tn := 3\n\tn = 4\n}\n"),
		parse(t, "a/b.go", "package a\nfunc g() {\n\tm[1] = 2\n\tdelete(m, 1)\n\tn++\n}\n"),
		parse(t, "b/b.go", "package b\nvar p *struct{ x int }\nfunc f() { p.x = 1 }\nfunc g(m map[int]int) { m[1] = 1 }\n"),
	})
	want := []string{
		"a/b.go:3: changes the package-level variable m",
		"a/b.go:4: changes the package-level variable m",
		"a/b.go:5: changes the package-level variable n",
		"b/b.go:3: changes the package-level variable p",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}
