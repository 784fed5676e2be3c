package governance

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

// Every id that the package can answer with is a constant of rules.go, and the
// table of rules has each of them once, in the same order, and no other.
func TestRulesExplainEveryID(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "rules.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Rule") {
			return true
		}
		id, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		if id == RulePolicyPrefix {
			id += "<name>"
		}
		ids = append(ids, id)
		return true
	})
	rules := Rules()
	if len(rules) != len(ids) {
		t.Fatalf("%d rules for %d ids", len(rules), len(ids))
	}
	for i, rule := range rules {
		if rule.ID != ids[i] {
			t.Errorf("row %d is %s, want %s", i, rule.ID, ids[i])
		}
		if rule.Meaning == "" || strings.Contains(rule.Meaning, "\n") {
			t.Errorf("%s: meaning %q", rule.ID, rule.Meaning)
		}
	}
}
