package governance

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/archmax-ai/archmax/internal/spec"
)

func TestArgumentGuards(t *testing.T) {
	m := state(t, `
tools:
  allow:
    - tool: crm__get
      args: { id: ["ORD-*", "42", "true"], filter.region: "e[uv]" }
    - tool: crm__lookup
      args: { id: ["ORD-*", "4?", "true", "{x,y}"] }
    - tool: mail__send
      args: { to: "a/*/c/**" }
    - tool: archmax_workflow_child
  forbid:
    - { tool: archmax_workflow_child, args: { id: ["secret-*", "42"] } }
    - { tool: archmax_workflow_child, args: { a.b: x, c: y } }
`)
	runRows(t, m, workspaceEnv(), []row{
		{"a glob matches a string", "crm__lookup", args{"id": "ORD-7"}, RuleAllowed},
		{"any glob of a list will do", "crm__lookup", args{"id": "y"}, RuleAllowed},
		{"no glob matches", "crm__lookup", args{"id": "INV-7"}, RuleNotAllowed},
		{"a number is matched by its JSON text", "crm__lookup", args{"id": json.Number("42")}, RuleAllowed},
		{"a float is matched by its JSON text", "crm__lookup", args{"id": 42.0}, RuleAllowed},
		{"an int is matched by its JSON text", "crm__lookup", args{"id": 43}, RuleAllowed},
		{"another spelling of the number is no match for a grant", "crm__lookup", args{"id": json.Number("4.2e1")}, RuleNotAllowed},
		{"a boolean is matched by its JSON text", "crm__lookup", args{"id": true}, RuleAllowed},
		{"the other boolean is not", "crm__lookup", args{"id": false}, RuleNotAllowed},
		{"of a list every element must match", "crm__lookup", args{"id": []any{"ORD-1", 42.0}}, RuleAllowed},
		{"one that does not refuses a grant", "crm__lookup", args{"id": []any{"ORD-1", "INV-1"}}, RuleNotAllowed},
		{"an empty list satisfies no grant", "crm__lookup", args{"id": []any{}}, RuleNotAllowed},
		{"a null satisfies no grant", "crm__lookup", args{"id": nil}, RuleNotAllowed},
		{"a null in a list satisfies no grant", "crm__lookup", args{"id": []any{"ORD-1", nil}}, RuleNotAllowed},
		{"an object satisfies no grant", "crm__lookup", args{"id": args{"id": "ORD-1"}}, RuleNotAllowed},
		{"an absent argument satisfies no grant", "crm__lookup", args{}, RuleNotAllowed},
		{"every guard of an entry must match", "crm__get", args{"id": "ORD-1", "filter": args{"region": "eu"}}, RuleAllowed},
		{"one guard that does not refuses", "crm__get", args{"id": "ORD-1", "filter": args{"region": "us"}}, RuleNotAllowed},
		{"a dotted name is the literal key when there is one", "crm__get", args{"id": "ORD-1", "filter.region": "eu"}, RuleAllowed},
		{"both keys must match for a grant", "crm__get", args{"id": "ORD-1", "filter.region": "eu", "filter": args{"region": "us"}}, RuleNotAllowed},
		{"a star stays within a segment", "mail__send", args{"to": "a/b/x/c"}, RuleNotAllowed},
		{"two stars cross segments", "mail__send", args{"to": "a/b/c/d/e"}, RuleAllowed},

		{"a denial matches a string", "archmax_workflow_child", args{"id": "secret-1"}, RuleForbiddenHere},
		{"a denial matches any element of a list", "archmax_workflow_child", args{"id": []any{"ok", "secret-1"}}, RuleForbiddenHere},
		{"a denial matches inside nested lists", "archmax_workflow_child", args{"id": []any{[]any{"secret-1"}}}, RuleForbiddenHere},
		{"a denial matches inside an object", "archmax_workflow_child", args{"id": args{"is": "secret-1"}}, RuleForbiddenHere},
		{"a denial of a number holds for its other spellings", "archmax_workflow_child", args{"id": json.Number("4.20e1")}, RuleForbiddenHere},
		{"an absent argument matches no denial", "archmax_workflow_child", args{}, RuleAllowed},
		{"a null matches no denial", "archmax_workflow_child", args{"id": nil}, RuleAllowed},
		{"a nested value matches a dotted denial", "archmax_workflow_child", args{"a": args{"b": "x"}, "c": "y"}, RuleForbiddenHere},
		{"a literal key cannot hide a nested value from a denial", "archmax_workflow_child", args{"a.b": "z", "a": args{"b": "x"}, "c": "y"}, RuleForbiddenHere},
		{"a denial needs all its guards", "archmax_workflow_child", args{"a": args{"b": "x"}, "c": "z"}, RuleAllowed},
	})
}

func TestPathGuards(t *testing.T) {
	m := state(t, `
tools:
  allow:
    - { tool: read_file, args: { file_path: "docs/**" } }
    - { tool: copy_file, paths: ["drafts/**", "docs/**"] }
    - { tool: ls, paths: "**" }
    - { tool: glob, args: { path: "**" } }
    - { tool: bundle, paths: "in/**" }
    - { tool: write_file, paths: ["/lead/*.md", "./dot//x", "tree/"] }
  forbid:
    - { tool: copy_file, paths: "docs/secrets/**" }
    - { tool: copy_file, args: { destination: "docs/final.md" } }
    - { tool: grep, paths: "." }
    - { tool: edit_file, paths: ["Private/**", "Größe/**"] }
`)
	runRows(t, m, workspaceEnv(), []row{
		{"a path argument matches by its canonical path", "read_file", args{"file_path": "./docs//a.md"}, RuleAllowed},
		{"a traversal out of the granted folder is refused", "read_file", args{"file_path": "docs/../ledgers/a"}, RuleNotAllowed},
		{"the granted folder itself matches", "read_file", args{"file_path": "docs/"}, RuleAllowed},
		{"a grant of paths needs all of them", "copy_file", args{"source": "docs/a", "destination": "drafts/a"}, RuleAllowed},
		{"one path outside refuses", "copy_file", args{"source": "docs/a", "destination": "other/a"}, RuleNotAllowed},
		{"a denial of paths needs any", "copy_file", args{"source": "docs/secrets/.env", "destination": "drafts/a"}, RuleForbiddenHere},
		{"the other path too", "copy_file", args{"source": "docs/a", "destination": "docs/secrets/x/y"}, RuleForbiddenHere},
		{"a denial of one argument is about that one", "copy_file", args{"source": "docs/final.md", "destination": "docs/a"}, RuleAllowed},
		{"and matches it", "copy_file", args{"source": "docs/a", "destination": "docs/x/../final.md"}, RuleForbiddenHere},
		{"a path that is left out counts as the root for paths", "ls", args{}, RuleAllowed},
		{"and matches a denial of the root", "grep", args{"pattern": "x"}, RuleForbiddenHere},
		{"but is absent for an argument's guard", "glob", args{"pattern": "*"}, RuleNotAllowed},
		{"which the spelled-out root satisfies", "glob", args{"pattern": "*", "path": "/"}, RuleAllowed},
		{"a call that names no path satisfies no grant of paths", "bundle", args{}, RuleNotAllowed},
		{"every path of a list must match a grant", "bundle", args{"files": []any{"in/a", "out/b"}}, RuleNotAllowed},
		{"a list of matching paths is granted", "bundle", args{"files": []any{"in/a", "in/b"}, "out": args{"path": "in/c"}}, RuleAllowed},
		{"a leading slash in a glob means the root", "write_file", args{"file_path": "lead/a.md"}, RuleAllowed},
		{"dots and doubled slashes in a glob mean nothing", "write_file", args{"file_path": "dot/x"}, RuleAllowed},
		{"a closing slash in a glob means all below", "write_file", args{"file_path": "tree/a/b"}, RuleAllowed},
		{"a denied path in small letters is denied", "edit_file", args{"file_path": "private/a"}, RuleForbiddenHere},
		{"a denied path in a decomposed form is denied", "edit_file", args{"file_path": "Gro\u0308\u00dfe/a"}, RuleForbiddenHere},
		{"a denied path with a trailing dot is denied", "edit_file", args{"file_path": "Private./a"}, RuleForbiddenHere},
	})
}

func TestReferencesInGuards(t *testing.T) {
	m := state(t, `
tools:
  allow:
    - { tool: crm__get, args: { id: "${{order.id}}" } }
    - { tool: crm__lookup, args: { id: ["${{order.id}}", "*"] } }
    - { tool: crm__lookup, args: { id: "free-*" } }
    - { tool: mail__send, args: { to: "${{prefix}}-*" } }
    - { tool: read_file, paths: "${{folder}}/**" }
  forbid:
    - { tool: write_file, paths: "${{folder}}/locked/**" }
    - { tool: edit_file, paths: ["fixed/**"] }
    - { tool: edit_file, paths: "${{folder}}/locked/**" }
`)
	with := func(vars map[string]any) *Env {
		env := workspaceEnv()
		env.Variables = vars
		return env
	}
	t.Run("resolved at every call", func(t *testing.T) {
		env := with(map[string]any{"order": args{"id": "ORD-1"}, "folder": "/docs/eu/"})
		runRows(t, m, env, []row{
			{"the value matches", "crm__get", args{"id": "ORD-1"}, RuleAllowed},
			{"another does not", "crm__get", args{"id": "ORD-2"}, RuleNotAllowed},
			{"a folder is compared in its canonical form", "read_file", args{"file_path": "docs/eu/a"}, RuleAllowed},
			{"and narrows", "read_file", args{"file_path": "docs/us/a"}, RuleNotAllowed},
			{"a denial resolves too", "write_file", args{"file_path": "docs/eu/locked/a"}, RuleForbiddenHere},
			{"and leaves the rest", "write_file", args{"file_path": "docs/eu/a"}, RuleAllowed},
		})
		env.Variables["order"] = args{"id": json.Number("7")}
		check(t, Decide(m, row{tool: "crm__get", args: args{"id": 7.0}}.call(), env), RuleAllowed)
	})
	t.Run("the value is escaped, so it matches only itself", func(t *testing.T) {
		for _, value := range []string{"*", "**", "?", "[a-z]", "{a,b}", `a\b`, "a*", "[!x]", "{", "]"} {
			env := with(map[string]any{"order": args{"id": value}, "prefix": value})
			check(t, Decide(m, row{tool: "crm__get", args: args{"id": value}}.call(), env), RuleAllowed)
			check(t, Decide(m, row{tool: "crm__get", args: args{"id": "a"}}.call(), env), RuleNotAllowed)
			check(t, Decide(m, row{tool: "mail__send", args: args{"to": value + "-x"}}.call(), env), RuleAllowed)
			check(t, Decide(m, row{tool: "mail__send", args: args{"to": "a-x"}}.call(), env), RuleNotAllowed)
		}
	})
	t.Run("a folder value that climbs grants nothing outside", func(t *testing.T) {
		for _, value := range []string{"../docs", "..", "", "/", "."} {
			env := with(map[string]any{"folder": value})
			check(t, Decide(m, row{tool: "read_file", args: args{"file_path": "docs/a"}}.call(), env), RuleNotAllowed)
		}
	})
	for _, tc := range []struct {
		name string
		vars map[string]any
		says string
	}{
		{"an unset variable", map[string]any{}, "is not set"},
		{"a missing path", map[string]any{"order": args{"no": 1}}, "order.id"},
		{"a value that is no scalar", map[string]any{"order": args{"id": []any{"ORD-1"}}}, "${{order.id}}"},
		{"a null", map[string]any{"order": args{"id": nil}}, "${{order.id}}"},
	} {
		t.Run(tc.name+" is a fatal block that names the reference", func(t *testing.T) {
			v := Decide(m, row{tool: "crm__get", args: args{"id": "ORD-1"}}.call(), with(tc.vars))
			check(t, v, RuleUnresolvedVariable)
			for _, word := range []string{"${{order.id}}", tc.says, "crm__get", "work"} {
				if !strings.Contains(v.Reason, word) {
					t.Errorf("the reason lacks %q: %s", word, v.Reason)
				}
			}
		})
	}
	t.Run("an unresolvable entry matches nothing", func(t *testing.T) {
		runRows(t, m, with(nil), []row{
			{"another entry that grants the call grants it", "crm__lookup", args{"id": "free-1"}, RuleAllowed},
			{"not even the entry's other globs match", "crm__lookup", args{"id": "any"}, RuleUnresolvedVariable},
			{"in a denial it is fatal", "write_file", args{"file_path": "anywhere/a"}, RuleUnresolvedVariable},
			{"in a denial it is fatal in the scratchpad too", "write_file", args{"file_path": "scratchpad/a"}, RuleUnresolvedVariable},
			{"a denial beside it that matches leaves something to correct", "edit_file", args{"file_path": "fixed/a"}, RuleForbiddenHere},
			{"a narrowed always-on tool keeps the scratchpad", "read_file", args{"file_path": "scratchpad/a"}, RuleScratchpad},
			{"and is fatal elsewhere", "read_file", args{"file_path": "docs/a"}, RuleUnresolvedVariable},
			{"other tools do not care", "write_todos", nil, RuleAllowed},
		})
	})
	t.Run("the reason tells no value", func(t *testing.T) {
		v := Decide(m, row{tool: "crm__get", args: args{"id": "x"}}.call(), with(map[string]any{"order": args{"id": "TOPSECRET"}}))
		if strings.Contains(v.Reason, "TOPSECRET") || !strings.Contains(v.Reason, "${{order.id}}") {
			t.Error(v.Reason)
		}
	})
	t.Run("a doubled dollar in a glob is the characters themselves", func(t *testing.T) {
		m := state(t, `tools: { allow: [{ tool: crm__get, args: { id: "$${{x}}" } }] }`)
		check(t, Decide(m, row{tool: "crm__get", args: args{"id": "${{x}}"}}.call(), with(nil)), RuleAllowed)
		check(t, Decide(m, row{tool: "crm__get", args: args{"id": "x"}}.call(), with(nil)), RuleNotAllowed)
	})
}

func TestGuardsHoldWhereTheyCannotBeTold(t *testing.T) {
	env := workspaceEnv()
	// The loader refuses a broken glob; the kernel does not rely on it.
	m := state(t, `tools: { allow: [{ tool: crm__get, args: { id: x } }, mail__send], forbid: [{ tool: mail__send, args: { to: x } }] }`)
	broken := func(e *spec.ToolEntry) { e.Args[0].Globs = []spec.Glob{{Text: "[a"}} }
	broken(m.State("work").Tools.Allow[0])
	broken(m.State("work").Tools.Forbid[0])
	runRows(t, m, env, []row{
		{"a broken glob grants nothing", "crm__get", args{"id": "a"}, RuleNotAllowed},
		{"and denies everything", "mail__send", args{"to": "a"}, RuleForbiddenHere},
	})
	m = state(t, `tools: { allow: [{ tool: crm__get, args: { id: "**" } }, mail__send], forbid: [{ tool: mail__send, args: { to: ["0", "9007199254740993", "-1"] } }] }`)
	runRows(t, m, env, []row{
		{"a value of no known type satisfies no grant", "crm__get", args{"id": []string{"a"}}, RuleNotAllowed},
		{"and matches every denial", "mail__send", args{"to": []string{"a"}}, RuleForbiddenHere},
		{"a great number keeps its digits", "mail__send", args{"to": json.Number("9007199254740993.0")}, RuleForbiddenHere},
		{"and its neighbour is another", "mail__send", args{"to": json.Number("9007199254740992.0")}, RuleAllowed},
		{"minus zero is zero", "mail__send", args{"to": json.Number("-0")}, RuleForbiddenHere},
		{"a number of a billion digits is not written out", "mail__send", args{"to": json.Number("1e1000000000")}, RuleAllowed},
		{"a negative number is itself", "mail__send", args{"to": json.Number("-1.0e0")}, RuleForbiddenHere},
	})
}
