package governance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/archmax-ai/archmax/internal/spec"
)

// The workspace of these tests: what a small company might serve.
func workspaceTools() *ToolSet {
	infos := append(Builtins(), Controls()...)
	return NewToolSet(append(
		infos,
		ToolInfo{Name: "crm__lookup", ReadOnly: true},
		ToolInfo{Name: "crm__get"},
		ToolInfo{Name: "crm__delete"},
		ToolInfo{Name: "mail__send"},
		ToolInfo{Name: "crm__find"},
		ToolInfo{Name: "docs__find"},
		ToolInfo{Name: "bundle", Paths: []PathArg{{"files", Read, ""}, {"out.path", Write, ""}}},
		ToolInfo{Name: "stamp", Paths: []PathArg{{"path", Write, ""}}, AlwaysOn: true}, // in essential_tools
		ToolInfo{Name: "archmax_workflow_child"},
	))
}

func workspaceEnv() *Env {
	return &Env{
		Variables: map[string]any{},
		Tools:     workspaceTools(),
		Skills:    []string{"banned", "house", "mail", "refunds"},
		Mounts: []Mount{
			{Name: "skills", ReadOnly: true, Searchable: true},
			{Name: ".platform", ReadOnly: true, Searchable: true},
			{Name: "AGENTS.md", ReadOnly: true, Searchable: true, File: true},
			{Name: "reference", ReadOnly: true, Governed: true, Searchable: true},
			{Name: "vault", ReadOnly: true, Governed: true, Searchable: true},
			{Name: "ledger", Governed: true, Searchable: true},
			{Name: "handbook", ReadOnly: true, Searchable: true},
			{Name: "notes", Searchable: true},
			{Name: "catalogs/eu", ReadOnly: true, Searchable: true},
		},
	}
}

type args = map[string]any

// machine loads a workflow with the one loader.
func machine(t testing.TB, yaml string) *spec.Machine {
	t.Helper()
	m, problems := spec.Parse("desk", "workflows/desk/workflow.yaml", []byte(yaml))
	if problems.HasErrors() {
		t.Fatalf("%v\n%s", problems.Err(), yaml)
	}
	return m
}

// state wraps the keys of one agent state, indented by nothing, into a workflow
// whose start state is `work`, with edges to `review` and `done`.
func state(t testing.TB, keys string, root ...string) *spec.Machine {
	t.Helper()
	return machine(t, strings.Join(root, "\n")+`
states:
  work:
    triggers: { manual: }
    instructions: Work.
    transitions:
      - { to: review, description: The work needs a person. }
      - { to: done, description: The work is done. }
`+indent(keys, "    ")+`
  review:
    type: human
    instructions: Look at it.
    transitions:
      - { to: done, description: Fine., type: approve }
  done:
    instructions: Say goodbye.
  secret-cellar:
    triggers: { cellar: }
    title: The Cellar
`)
}

func indent(text, by string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i := range lines {
		lines[i] = by + lines[i]
	}
	return strings.Join(lines, "\n")
}

// check asserts a verdict by its rule: a block unless the rule allows, and a
// reason with every block.
func check(t *testing.T, v Verdict, rule string) {
	t.Helper()
	if !explained(v.Rule) {
		t.Errorf("Rules() does not explain %s", v.Rule)
	}
	if v.Rule != rule {
		t.Fatalf("rule %q, want %q (%s)", v.Rule, rule, v.Reason)
	}
	if v.Allow != allowing[rule] {
		t.Fatalf("rule %s: allow is %v", rule, v.Allow)
	}
	fatal := rule == RuleUnresolvedVariable || rule == RuleHookError
	if v.Fatal != fatal {
		t.Fatalf("rule %s: fatal is %v", rule, v.Fatal)
	}
	switch {
	case !v.Allow && (v.Reason == "" || strings.ContainsAny(v.Reason, "\n\r")):
		t.Fatalf("rule %s: a block needs a reason of one line, got %q", rule, v.Reason)
	case strings.Contains(v.Reason, "cellar") || strings.Contains(v.Reason, "Cellar"):
		t.Fatalf("rule %s: the reason tells of another state: %s", rule, v.Reason)
	}
}

func explained(rule string) bool {
	if strings.HasPrefix(rule, RulePolicyPrefix) {
		rule = RulePolicyPrefix + "<name>"
	}
	return slices.ContainsFunc(Rules(), func(r RuleInfo) bool { return r.ID == rule })
}

var allowing = map[string]bool{
	RuleScratchpad: true, RuleOffloadRead: true, RuleAllowed: true, RuleTransitionAllowed: true,
	RuleEntryAllowed: true, RuleCompletionAllowed: true,
}

// row is a call of the agent in state work, and the rule that must answer it.
type row struct {
	name string
	tool string
	args args
	rule string
}

func (r row) call() Call { return Call{State: "work", Tool: r.tool, Args: r.args, Origin: FromAgent} }

func runRows(t *testing.T, m *spec.Machine, env *Env, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			v := Decide(m, r.call(), env)
			check(t, v, r.rule)
			if !v.Allow && !v.NotATool() && !strings.Contains(v.Reason, "in state work") {
				t.Errorf("the reason does not name the state: %s", v.Reason)
			}
			for _, path := range pathsGiven(r.args) {
				if !v.Allow && !v.NotATool() && !strings.Contains(v.Reason, "scratchpad/") {
					t.Errorf("the reason for path %s does not name scratchpad/: %s", path, v.Reason)
				}
			}
		})
	}
}

func pathsGiven(a args) []string {
	var paths []string
	for _, name := range []string{"path", "file_path", "source", "destination", "files"} {
		if v, ok := a[name]; ok {
			paths = append(paths, fmt.Sprint(v))
		}
	}
	return paths
}
