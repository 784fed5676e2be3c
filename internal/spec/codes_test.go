package spec

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/archmax-ai/archmax/internal/diag"
)

// Every diagnostic of this package is made by Errorf, Warnf, shapef or broken,
// whose code is one of diag's constants; diag's own test holds that each has an
// entry. So the loader can emit no code that `archmax explain` does not know.
func TestEveryCodeIsOneOfDiagsConstants(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	codeArgument := map[string]int{"Errorf": 0, "Warnf": 0, "shapef": 0, "broken": 2}
	calls := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if sel, ok := n.Type.(*ast.SelectorExpr); ok && sel.Sel.Name == "Diagnostic" && f.Name() != "decoder.go" {
					t.Errorf("%s makes a Diagnostic by hand", fset.Position(n.Pos()))
				}
			case *ast.CallExpr:
				sel, ok := n.Fun.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == "fmt" {
					return true
				}
				if i, ok := codeArgument[sel.Sel.Name]; ok {
					calls++
					if _, literal := n.Args[i].(*ast.BasicLit); literal {
						t.Errorf("%s gives its code as a literal", fset.Position(n.Pos()))
					}
				}
			}
			return true
		})
	}
	for _, tr := range translations {
		if _, ok := diag.Lookup(string(tr.code)); !ok {
			t.Errorf("the translation of %q has the unknown code %q", tr.says, tr.code)
		}
	}
	if calls < 50 {
		t.Errorf("only %d calls were found: the test looks for the wrong names", calls)
	}
}
