package explain

import (
	"bytes"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/governance"
)

var update = flag.Bool("update", false, "write docs/diagnostics.md anew")

func TestEveryEntrySaysWhatAnExampleAndTheFix(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range Entries() {
		if seen[e.ID] {
			t.Errorf("%s is there twice", e.ID)
		}
		seen[e.ID] = true
		for what, text := range map[string]string{"summary": e.Summary, "example": e.Example, "fix": e.Fix} {
			if strings.TrimSpace(text) == "" {
				t.Errorf("%s has no %s", e.ID, what)
			}
		}
		if strings.ContainsAny(e.Summary, "\n") || strings.HasSuffix(e.Summary, ".") {
			t.Errorf("%s: the summary is one line without a full stop: %q", e.ID, e.Summary)
		}
		if strings.Contains(e.Example, "```") {
			t.Errorf("%s: the example ends its own block", e.ID)
		}
	}
	if len(ruleDocs) != len(governance.Rules()) {
		t.Errorf("%d rules are completed, the kernel has %d", len(ruleDocs), len(governance.Rules()))
	}
}

// Codes are constants of diag: a code that the program can print is one of
// them, and each has an entry.
func TestEveryCodeOfTheProgramHasAnEntry(t *testing.T) {
	fset := token.NewFileSet()
	codes := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		literal := func(e ast.Expr) {
			lit, ok := e.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return
			}
			id, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			codes++
			if _, ok := Lookup(id); !ok {
				t.Errorf("%s: the code %q has no entry", fset.Position(lit.Pos()), id)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec: // const Missing Code = "missing"
				if typ, ok := n.Type.(*ast.Ident); ok && typ.Name == "Code" && file.Name.Name == "diag" {
					for _, v := range n.Values {
						literal(v)
					}
				}
			case *ast.CallExpr: // diag.Code("missing")
				if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Code" && ident(sel.X) == "diag" && len(n.Args) == 1 {
					literal(n.Args[0])
				}
			case *ast.CompositeLit: // diag.Diagnostic{Code: "missing"}
				if sel, ok := n.Type.(*ast.SelectorExpr); !ok || sel.Sel.Name != "Diagnostic" {
					return true
				}
				for _, e := range n.Elts {
					if kv, ok := e.(*ast.KeyValueExpr); ok && ident(kv.Key) == "Code" {
						literal(kv.Value)
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if codes < 50 {
		t.Errorf("only %d codes were found: the test looks for the wrong words", codes)
	}
}

func ident(e ast.Expr) string {
	if id, ok := e.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

func TestLookup(t *testing.T) {
	for _, tt := range []struct {
		id, want string
		kind     Kind
	}{
		{"unknown-key", "unknown-key", Diagnostic},
		{"tool.not-allowed", "tool.not-allowed", Rule},
		{"policy.eu-only", "policy.<name>", Rule},
		{"policy.<name>", "policy.<name>", Rule},
	} {
		if e, ok := Lookup(tt.id); !ok || e.ID != tt.want || e.Kind != tt.kind {
			t.Errorf("%s: %+v, %v", tt.id, e, ok)
		}
	}
	for _, id := range []string{"", "policy.", "unknown", "tool"} {
		if e, ok := Lookup(id); ok {
			t.Errorf("%q is %s", id, e.ID)
		}
	}
	for id, want := range map[string]string{"unknwon-key": "unknown-key", "tool.not-alowed": "tool.not-allowed", "hello": ""} {
		if got := Near(id); got != want {
			t.Errorf("near %q is %q, want %q", id, got, want)
		}
	}
	if _, ok := Lookup(string(diag.Missing)); !ok {
		t.Error("missing is missing")
	}
}

func TestTheReferenceInDocsIsCurrent(t *testing.T) {
	var b bytes.Buffer
	if err := Reference(&b); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("..", "..", "docs", "diagnostics.md")
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(committed, b.Bytes()) {
		t.Errorf("%s is stale; run with -update", file)
	}
}
