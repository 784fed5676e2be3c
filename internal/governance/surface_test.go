package governance

import (
	"slices"
	"strings"
	"testing"

	"github.com/archmax-ai/archmax/internal/spec"
)

func TestPrecedenceIsOneTierPerTool(t *testing.T) {
	m := state(t, `
tools:
  allow:
    - { tool: read_file, paths: "docs/**" }
    - { tool: crm__get, args: { id: "A*" } }
    - { tool: crm__get, args: { id: "B*" } }
    - { tool: archmax_wait, args: { reason: "mail*" } }
`, `
tools:
  allow_always:
    - crm__get
    - { tool: write_file, paths: "never/**" }
    - { tool: crm__lookup, args: { id: "A*" } }
`)
	runRows(t, m, workspaceEnv(), []row{
		{"a state entry narrows an always-on tool", "read_file", args{"file_path": "other/a"}, RuleNotAllowed},
		{"and grants what it names", "read_file", args{"file_path": "docs/a"}, RuleAllowed},
		{"the scratchpad stays open to it", "read_file", args{"file_path": "scratchpad/a"}, RuleScratchpad},
		{"a skill's file is narrowed within", "read_file", args{"file_path": "AGENTS.md"}, RuleNotAllowed},
		{"an allow_always entry is inert for a tool the state mentions", "crm__get", args{"id": "C1"}, RuleNotAllowed},
		{"one of several state entries will do", "crm__get", args{"id": "B1"}, RuleAllowed},
		{"an allow_always entry is inert for an always-on tool", "write_file", args{"file_path": "other/a"}, RuleAllowed},
		{"an essential tool is always on", "stamp", args{"path": "other/a"}, RuleAllowed},
		{"allow_always decides what the state does not mention", "crm__lookup", args{"id": "A1"}, RuleAllowed},
		{"with its guards", "crm__lookup", args{"id": "B1"}, RuleNotAllowed},
		{"a state entry narrows a control tool", "archmax_wait", args{"reason": "lunch"}, RuleNotAllowed},
		{"and grants what it names", "archmax_wait", args{"reason": "mail from Ada"}, RuleAllowed},
	})
}

func TestTheStarOfAForbidList(t *testing.T) {
	for name, m := range map[string]*spec.Machine{
		"of the state":    state(t, `tools: { allow: [crm__get], forbid: ["*"] }`),
		"of the workflow": state(t, `tools: { allow: [crm__get] }`, `tools: { forbid_always: ["*"] }`),
	} {
		t.Run(name, func(t *testing.T) {
			rule := RuleForbiddenHere
			if name == "of the workflow" {
				rule = RuleForbidden
			}
			runRows(t, m, workspaceEnv(), []row{
				{"denies host tools", "crm__get", nil, rule},
				{"denies always-on tools", "read_file", args{"file_path": "scratchpad/a"}, rule},
				{"denies delegation tools", "archmax_workflow_child", nil, rule},
				{"leaves the control tools", "archmax_advance", args{"to": "done"}, RuleAllowed},
			})
			want := []string{toolAdvance, toolReset, toolWait, toolRaise, toolGetVariables, toolSetVariables}
			if got := Disclose(m, "work", workspaceEnv()); !slices.Equal(got, want) {
				t.Errorf("disclosed %v", got)
			}
		})
	}
	t.Run("a star with a path guard denies that path to every tool", func(t *testing.T) {
		m := state(t, `tools: { allow: [bundle], forbid: [{ tool: "*", paths: "secrets/**" }] }`)
		runRows(t, m, workspaceEnv(), []row{
			{"to reads", "read_file", args{"file_path": "secrets/a"}, RuleForbiddenHere},
			{"to host tools", "bundle", args{"files": []any{"a", "secrets/b"}}, RuleForbiddenHere},
			{"and nothing else", "read_file", args{"file_path": "a"}, RuleAllowed},
		})
	})
	t.Run("a control tool can be denied by name", func(t *testing.T) {
		m := state(t, `tools: { forbid: [archmax_wait] }`)
		check(t, Decide(m, row{tool: toolWait}.call(), workspaceEnv()), RuleForbiddenHere)
		if slices.Contains(Disclose(m, "work", workspaceEnv()), toolWait) {
			t.Error("it is disclosed")
		}
	})
}

const kinds = `
instructions: I.
tools: { allow_always: [crm__lookup, mail__send] }
skills: { allow_always: [house] }
states:
  work:
    triggers: { manual: }
    transitions: [{ to: check, description: Checked by code. }]
  check:
    type: code
    script: scripts/check.js
    tools: { allow: [crm__get] }
    transitions: [{ to: judge, description: Judged. }]
  judge:
    type: grader
    instructions: Be fair.
    transitions: [{ to: ask, description: Fine. }]
  ask:
    type: human
    instructions: Decide.
    transitions: [{ to: done, description: Yes. }]
  done:
  last-code:
    type: code
    script: scripts/last.js
    triggers: { last: }
`

func TestControlToolsByKind(t *testing.T) {
	m := machine(t, kinds)
	env := workspaceEnv()
	for _, tc := range []struct {
		state  string
		origin Origin
		has    []string
	}{
		{"work", FromAgent, []string{toolAdvance, toolReset, toolWait, toolRaise, toolGetVariables, toolSetVariables}},
		{"done", FromAgent, []string{toolReset, toolWait, toolRaise, toolGetVariables, toolSetVariables}},
		{"check", FromScript, []string{toolAdvance, toolRaise, toolGetVariables, toolSetVariables, toolGetHistory}},
		{"last-code", FromScript, []string{toolRaise, toolGetVariables, toolSetVariables, toolGetHistory}},
		{"judge", FromAgent, []string{toolAdvance, toolRaise, toolGetVariables, toolGetHistory}},
		{"ask", FromAgent, nil},
	} {
		t.Run("in state "+tc.state, func(t *testing.T) {
			disclosed := Disclose(m, tc.state, env)
			for _, tool := range Controls() {
				rule := RuleNotAllowed
				if slices.Contains(tc.has, tool.Name) {
					rule = RuleAllowed
				}
				check(t, Decide(m, Call{State: tc.state, Tool: tool.Name, Origin: tc.origin}, env), rule)
				if slices.Contains(disclosed, tool.Name) != (rule == RuleAllowed) {
					t.Errorf("%s: disclosure and decision disagree", tool.Name)
				}
			}
		})
	}
}

func TestWhatIsDisclosed(t *testing.T) {
	t.Run("the state's tools in registration order", func(t *testing.T) {
		m := state(t, `
tools:
  allow: [mail__send, { tool: crm__get, args: { id: "A*" } }]
  forbid: [write_todos, { tool: edit_file, paths: "x/**" }, docs__find]
`, `tools: { allow_always: [docs__find, crm__lookup], forbid_always: [archmax_eval] }`)
		want := strings.Fields(`ls read_file write_file edit_file glob grep copy_file move_file remove_file archmax_run
			archmax_advance archmax_reset archmax_wait archmax_raise archmax_get_variables archmax_set_variables
			crm__lookup crm__get mail__send stamp`)
		if got := Disclose(m, "work", workspaceEnv()); !slices.Equal(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
		want = slices.DeleteFunc(want, func(name string) bool { return strings.HasPrefix(name, "archmax_") })
		if got := DiscloseTo(m, "work", workspaceEnv(), FromScript); !slices.Equal(got, want) {
			t.Errorf("to a script: got  %v\nwant %v", got, want)
		}
	})
	m, env := machine(t, kinds), workspaceEnv()
	t.Run("a grader is given only tools that read", func(t *testing.T) {
		want := strings.Fields(`ls read_file glob grep archmax_advance archmax_raise archmax_get_variables archmax_get_history crm__lookup`)
		if got := Disclose(m, "judge", env); !slices.Equal(got, want) {
			t.Errorf("got %v", got)
		}
		for tool, rule := range map[string]string{"mail__send": RuleNotAllowed, "write_todos": RuleNotAllowed, "crm__lookup": RuleAllowed} {
			check(t, Decide(m, Call{State: "judge", Tool: tool, Origin: FromAgent}, env), rule)
		}
		check(t, Decide(m, Call{State: "judge", Tool: "write_file", Args: args{"file_path": "scratchpad/a"}, Origin: FromAgent}, env), RuleNotAllowed)
	})
	t.Run("a code state's script is given no script tools", func(t *testing.T) {
		got := Disclose(m, "check", env)
		if slices.Contains(got, "archmax_eval") || slices.Contains(got, "archmax_run") || !slices.Contains(got, "crm__get") {
			t.Errorf("got %v", got)
		}
	})
	t.Run("a state that is not declared has none", func(t *testing.T) {
		if got := Disclose(m, "nowhere", env); got == nil || len(got) != 0 {
			t.Errorf("got %v", got)
		}
	})
	t.Run("every disclosed tool without guards is allowed, and every other blocked", func(t *testing.T) {
		for _, st := range m.States {
			origin := FromAgent
			if st.Kind == spec.Code {
				origin = FromScript
			}
			disclosed := Disclose(m, st.Slug, env)
			for _, tool := range env.Tools.All() {
				v := Decide(m, Call{State: st.Slug, Tool: tool.Name, Args: readablePaths(tool), Origin: origin}, env)
				if v.Allow != slices.Contains(disclosed, tool.Name) {
					t.Errorf("%s in %s: allowed %v (%s), disclosed %v", tool.Name, st.Slug, v.Allow, v.Rule, !v.Allow)
				}
			}
		}
	})
}

// readablePaths gives every path argument of a tool a path that no rule minds.
func readablePaths(tool ToolInfo) args {
	a := args{}
	for _, p := range tool.Paths {
		a[p.Name] = "plain/a"
		if p.Use == Execute {
			a[p.Name] = "skills/house/scripts/a.js"
		}
	}
	return a
}

func TestResolve(t *testing.T) {
	set := NewToolSet([]ToolInfo{
		{Name: "a__one"},
		{Name: "b__two"},
		{Name: "c__two"},
		{Name: "d__three"},
		{Name: "three"},
		{Name: "e__four__five"},
		{Name: "__six"},
		{Name: "a__one", AlwaysOn: true},
	})
	for _, tc := range []struct{ name, called, want string }{
		{"an exact name", "a__one", "a__one"},
		{"a bare action", "one", "a__one"},
		{"a bare action that two servers have", "two", ""},
		{"an exact name before a bare action", "three", "three"},
		{"an action that holds the separator", "four__five", "e__four__five"},
		{"a part of an action", "five", ""},
		{"a name without a server has no bare action", "six", ""},
		{"a server's name", "a", ""},
		{"another case", "A__ONE", ""},
		{"nothing", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			info, ok := set.Resolve(tc.called)
			if info.Name != tc.want || ok != (tc.want != "") {
				t.Errorf("Resolve(%q) = %q, %v; want %q", tc.called, info.Name, ok, tc.want)
			}
		})
	}
	if info, _ := set.Resolve("a__one"); info.AlwaysOn {
		t.Error("the second tool of a name took the place of the first")
	}
	if _, ok := (*ToolSet)(nil).Resolve("a"); ok {
		t.Error("a nil set has a tool")
	}
	t.Run("an exact tool of the name is what a denial means", func(t *testing.T) {
		env := &Env{Tools: NewToolSet([]ToolInfo{{Name: "find"}, {Name: "docs__find"}})}
		m := state(t, `tools: { allow: [find, docs__find], forbid: [find] }`)
		check(t, Decide(m, row{tool: "find"}.call(), env), RuleForbiddenHere)
		check(t, Decide(m, row{tool: "docs__find"}.call(), env), RuleAllowed)
	})
}

func TestNotATool(t *testing.T) {
	v := Decide(state(t, "title: T"), row{tool: "crm__teleport"}.call(), workspaceEnv())
	if !v.NotATool() || v.Allow || v.Fatal {
		t.Errorf("%+v", v)
	}
	if (Verdict{Rule: RuleNotAllowed}).NotATool() {
		t.Error("a block is not this answer")
	}
}

// The declarations of formats.md, "Built-in tools: arguments".
func TestBuiltins(t *testing.T) {
	want := map[string]string{
		"ls":         "path:list=.",
		"read_file":  "file_path:read",
		"write_file": "file_path:write", "edit_file": "file_path:write",
		"glob": "path:search=.", "grep": "path:search=.",
		"copy_file": "source:read destination:write", "move_file": "source:remove destination:write",
		"remove_file": "file_path:remove", "write_todos": "",
		"archmax_eval": "", "archmax_run": "file_path:execute",
	}
	for _, tool := range Builtins() {
		var paths []string
		for _, p := range tool.Paths {
			text := p.Name + ":" + string(p.Use)
			if p.Default != "" {
				text += "=" + p.Default
			}
			paths = append(paths, text)
		}
		if got, ok := want[tool.Name], !tool.Control && tool.AlwaysOn; got != strings.Join(paths, " ") || !ok {
			t.Errorf("%s: %v", tool.Name, paths)
		}
		delete(want, tool.Name)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}
