package governance

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/archmax-ai/archmax/internal/spec"
)

// A state with something of everything.
const everything = `
tools:
  allow:
    - crm__get
    - bundle
    - { tool: mail__send, args: { to: "*@example.com" } }
  forbid:
    - crm__find
    - { tool: edit_file, paths: "frozen/**" }
skills: { allow: [refunds, mail], forbid: [mail] }
mounts: { allow: [ledger], forbid: [handbook] }
`

const everythingRoot = `
tools:
  allow_always: [crm__lookup, crm__find, { tool: docs__find, args: { query: "public *" } }]
  forbid_always: [crm__delete, { tool: write_file, paths: "sealed/**" }]
skills: { allow_always: [house], forbid_always: [banned] }
mounts: { allow_always: [reference], forbid_always: [vault] }
`

func TestEveryRowOfThePipeline(t *testing.T) {
	m := state(t, everything, everythingRoot)
	runRows(t, m, workspaceEnv(), []row{
		{"reading a workflow is blocked", "read_file", args{"file_path": "workflows/a/workflow.yaml"}, RuleGovernancePlane},
		{"listing workflows is blocked", "ls", args{"path": "workflows"}, RuleGovernancePlane},
		{"a disguised traversal into workflows is blocked", "read_file", args{"file_path": "skills/../workflows/x"}, RuleGovernancePlane},
		{"a dot before workflows is blocked", "grep", args{"pattern": "x", "path": "./workflows"}, RuleGovernancePlane},
		{"doubled slashes before workflows are blocked", "read_file", args{"file_path": "//workflows//a"}, RuleGovernancePlane},
		{"workflows in capitals is blocked", "write_file", args{"file_path": "WORKFLOWS/x"}, RuleGovernancePlane},
		{"a copy out of workflows is blocked", "copy_file", args{"source": "workflows/a", "destination": "scratchpad/a"}, RuleGovernancePlane},
		{"a move into workflows is blocked", "move_file", args{"source": "scratchpad/a", "destination": "workflows/a"}, RuleGovernancePlane},
		{"one path of a list in workflows blocks the call", "bundle", args{"files": []any{"a", "workflows/b"}}, RuleGovernancePlane},
		{"running a workflow's script is blocked as the governance plane", "archmax_run", args{"file_path": "workflows/a/scripts/x.js"}, RuleGovernancePlane},
		{"a nested path argument is governed too", "bundle", args{"out": args{"path": "workflows/x"}}, RuleGovernancePlane},

		{"running a scratchpad script is blocked", "archmax_run", args{"file_path": "scratchpad/x.js"}, RuleSkillOnly},
		{"running a file beside the bundles is blocked", "archmax_run", args{"file_path": "skills/x.js"}, RuleSkillOnly},
		{"running a path that leaves the bundles is blocked", "archmax_run", args{"file_path": "skills/refunds/../../scratchpad/x.js"}, RuleSkillOnly},
		{"running nothing is blocked", "archmax_run", args{}, RuleSkillOnly},
		{"running a path above the root is blocked", "archmax_run", args{"file_path": "../x.js"}, RuleSkillOnly},
		{"running from another mount is blocked", "archmax_run", args{"file_path": "notes/refunds/x.js"}, RuleSkillOnly},

		{"eval is blocked, saying archmax_eval", "eval", args{"code": "1"}, RuleEval},
		{"task is blocked", "task", args{"description": "x"}, RuleEval},

		{"a name that resolves to nothing is not a tool", "crm__teleport", nil, RuleUnknownTool},
		{"an ambiguous bare action is not a tool", "find", nil, RuleUnknownTool},

		{"a path above the root is blocked", "read_file", args{"file_path": "../x"}, RuleEscapes},
		{"a traversal out of the scratchpad is blocked", "write_file", args{"file_path": "scratchpad/../../x"}, RuleEscapes},
		{"a backslash is blocked", "read_file", args{"file_path": `scratchpad\x`}, RuleEscapes},
		{"a NUL is blocked", "read_file", args{"file_path": "scratchpad/x\x00"}, RuleEscapes},
		{"a number for a path is blocked", "read_file", args{"file_path": 7.0}, RuleEscapes},
		{"an object for a path is blocked", "bundle", args{"files": args{"a": "b"}}, RuleEscapes},
		{"a list that holds no path is blocked", "bundle", args{"files": []any{"a", 7.0}}, RuleEscapes},
		{"a null path is blocked where there is no default", "read_file", args{"file_path": nil}, RuleEscapes},
		{"writing into a skill is blocked", "write_file", args{"file_path": "skills/refunds/x.md"}, RuleReadOnly},
		{"editing AGENTS.md is blocked", "edit_file", args{"file_path": "AGENTS.md"}, RuleReadOnly},
		{"removing a mounted file is blocked", "remove_file", args{"file_path": "handbook/a.md"}, RuleReadOnly},
		{"moving out of a mount removes, and is blocked", "move_file", args{"source": "reference/a", "destination": "scratchpad/a"}, RuleReadOnly},
		{"copying into a mount is blocked", "copy_file", args{"source": "scratchpad/a", "destination": ".platform/a"}, RuleReadOnly},
		{"writing over the directory above a mount is blocked", "write_file", args{"file_path": "catalogs"}, RuleReadOnly},
		{"writing a mount in other case is blocked", "write_file", args{"file_path": "Skills/x"}, RuleReadOnly},
		{"writing beside a nested mount is allowed", "write_file", args{"file_path": "catalogs/us"}, RuleAllowed},

		{"reading checkpoints is blocked", "read_file", args{"file_path": "checkpoints/1"}, RuleRuntimeInternal},
		{"listing artifacts is blocked", "ls", args{"path": "artifacts"}, RuleRuntimeInternal},
		{"writing _specs is blocked", "write_file", args{"file_path": "_specs/a.json"}, RuleRuntimeInternal},
		{"artifacts in capitals is blocked", "read_file", args{"file_path": "ARTIFACTS/x"}, RuleRuntimeInternal},

		{"writing a large tool result is blocked", "write_file", args{"file_path": "large_tool_results/1.txt"}, RuleRuntimeManaged},
		{"removing history is blocked", "remove_file", args{"file_path": "conversation_history/1.md"}, RuleRuntimeManaged},
		{"moving history away is blocked", "move_file", args{"source": "conversation_history/1.md", "destination": "scratchpad/1.md"}, RuleRuntimeManaged},

		{"a mount of forbid_always is blocked", "read_file", args{"file_path": "vault/a"}, RuleMountForbidden},
		{"a mount that the state forbids is blocked", "read_file", args{"file_path": "handbook/a"}, RuleMountForbidden},
		{"writing a governed mount with a bare grant is blocked", "write_file", args{"file_path": "ledger/a"}, RuleMountReadOnly},
		{"reading it is allowed", "read_file", args{"file_path": "ledger/a"}, RuleAllowed},
		{"reading a mount of allow_always is allowed", "grep", args{"pattern": "x", "path": "reference"}, RuleAllowed},
		{"reading an ungoverned mount is allowed", "read_file", args{"file_path": ".platform/a"}, RuleAllowed},
		{"writing an ungoverned writable mount is allowed", "write_file", args{"file_path": "notes/a"}, RuleAllowed},
		{"a mount in other case is blocked", "read_file", args{"file_path": "Notes/a"}, RuleMountNotAllowed},
		{"a .env in a mount is never served", "read_file", args{"file_path": "notes/.env"}, RuleMountNotAllowed},
		{"a .git in a mount is never served", "ls", args{"path": "notes/.git"}, RuleMountNotAllowed},
		{"a .env.local in an enabled skill is never served", "read_file", args{"file_path": "skills/refunds/.ENV.local"}, RuleMountNotAllowed},

		{"a skill of forbid_always is blocked", "read_file", args{"file_path": "skills/banned/SKILL.md"}, RuleSkillForbidden},
		{"a skill that the state forbids is blocked", "archmax_run", args{"file_path": "skills/mail/scripts/x.js"}, RuleSkillForbidden},
		{"a skill in capitals that the state forbids is blocked", "read_file", args{"file_path": "skills/MAIL/SKILL.md"}, RuleSkillForbidden},
		{"a skill that nothing enables is blocked", "read_file", args{"file_path": "skills/other/SKILL.md"}, RuleSkillNotAllowed},
		{"an enabled skill in capitals is blocked", "read_file", args{"file_path": "skills/Refunds/SKILL.md"}, RuleSkillNotAllowed},
		{"reading an enabled skill is allowed", "read_file", args{"file_path": "skills/refunds/SKILL.md"}, RuleAllowed},
		{"running an enabled skill's script is allowed", "archmax_run", args{"file_path": "skills/refunds/scripts/x.js"}, RuleAllowed},
		{"a skill of allow_always is enabled", "archmax_run", args{"file_path": "skills/house/scripts/x.js"}, RuleAllowed},
		{"listing the skills is allowed", "ls", args{"path": "skills"}, RuleAllowed},

		{"a tool of forbid_always is blocked", "crm__delete", nil, RuleForbidden},
		{"a tool of forbid_always by its bare action is blocked", "delete", nil, RuleForbidden},
		{"a denied path is blocked", "write_file", args{"file_path": "sealed/a"}, RuleForbidden},
		{"a denied path in disguise is blocked", "write_file", args{"file_path": "x/..//sealed/a"}, RuleForbidden},
		{"a denied path in capitals is blocked", "write_file", args{"file_path": "SEALED/a"}, RuleForbidden},
		{"the denied directory itself is blocked", "write_file", args{"file_path": "sealed"}, RuleForbidden},
		{"another path is not", "write_file", args{"file_path": "unsealed/a"}, RuleAllowed},
		{"another tool may write there", "copy_file", args{"source": "a", "destination": "sealed/a"}, RuleAllowed},

		{"a tool that the state forbids is blocked though allow_always grants it", "crm__find", nil, RuleForbiddenHere},
		{"a path that the state forbids is blocked", "edit_file", args{"file_path": "frozen/a"}, RuleForbiddenHere},

		{"the scratchpad is open", "write_file", args{"file_path": "scratchpad/a.md"}, RuleScratchpad},
		{"the scratchpad can be listed", "ls", args{"path": "/scratchpad/"}, RuleScratchpad},
		{"a copy within the scratchpad is open", "copy_file", args{"source": "scratchpad/a", "destination": "scratchpad/b"}, RuleScratchpad},
		{"the scratchpad is open to an essential tool", "stamp", args{"path": "scratchpad/a"}, RuleScratchpad},
		{"offload areas can be read", "read_file", args{"file_path": "large_tool_results/1.txt"}, RuleOffloadRead},
		{"offload areas can be searched", "grep", args{"pattern": "x", "path": "conversation_history"}, RuleOffloadRead},
		{"a copy from an offload area to the scratchpad is open", "copy_file", args{"source": "large_tool_results/1.txt", "destination": "scratchpad/1"}, RuleOffloadRead},
		{"a copy from the scratchpad elsewhere is decided by the default", "copy_file", args{"source": "scratchpad/a", "destination": "b"}, RuleAllowed},

		{"a granted tool is allowed", "crm__get", nil, RuleAllowed},
		{"a tool of allow_always is allowed", "crm__lookup", nil, RuleAllowed},
		{"a bare action that is unambiguous is allowed", "lookup", nil, RuleAllowed},
		{"an always-on tool is allowed", "write_todos", nil, RuleAllowed},
		{"a guarded grant that matches is allowed", "mail__send", args{"to": "a@example.com"}, RuleAllowed},
		{"a guarded grant that does not match is blocked", "mail__send", args{"to": "a@evil.example"}, RuleNotAllowed},
		{"a tool that nothing grants is blocked", "archmax_workflow_child", nil, RuleNotAllowed},
		{"advancing is allowed", "archmax_advance", args{"to": "done"}, RuleAllowed},
		{"history is for code and graders", "archmax_get_history", nil, RuleNotAllowed},
	})
}

func TestEarlierRulesWin(t *testing.T) {
	m := state(t, everything, everythingRoot)
	env := workspaceEnv()
	env.Policies = []Policy{{Name: "none", Deny: "Nothing goes", Blocks: func(PolicyInput) (bool, error) { return true, nil }}}
	runRows(t, m, env, []row{
		{"workflows before a path above the root", "copy_file", args{"source": "../x", "destination": "workflows/x"}, RuleGovernancePlane},
		{"an escape before a read-only mount", "copy_file", args{"source": "../x", "destination": "skills/x"}, RuleEscapes},
		{"a read-only mount before the runtime's areas", "move_file", args{"source": "artifacts/x", "destination": "skills/x"}, RuleReadOnly},
		{"the runtime's areas before a mount", "copy_file", args{"source": "vault/x", "destination": "artifacts/x"}, RuleRuntimeInternal},
		{"a mount before a skill", "bundle", args{"files": []any{"skills/other/x", "vault/x"}}, RuleMountForbidden},
		{"a skill before a forbidden tool", "edit_file", args{"file_path": "frozen/a", "x": 1}, RuleForbiddenHere},
		{"forbid_always before a policy", "crm__delete", nil, RuleForbidden},
		{"the state's forbid before a policy", "crm__find", nil, RuleForbiddenHere},
		{"a policy before the scratchpad", "write_file", args{"file_path": "scratchpad/a"}, "policy.none"},
		{"a policy before the default", "archmax_workflow_child", nil, "policy.none"},
	})
	t.Run("reply-only before eval and unknown tools", func(t *testing.T) {
		for _, tool := range []string{"eval", "nonsense", "read_file", "archmax_advance"} {
			check(t, Decide(m, Call{State: "work", Tool: tool, Origin: FromAgent, ReplyOnly: true}, env), RuleReplyOnly)
		}
	})
	t.Run("workflows and skill scripts before reply-only", func(t *testing.T) {
		for path, rule := range map[string]string{"workflows/x": RuleGovernancePlane, "scratchpad/x.js": RuleSkillOnly} {
			check(t, Decide(m, Call{
				State: "work", Tool: "archmax_run", Args: args{"file_path": path}, Origin: FromAgent, ReplyOnly: true,
			}, env), rule)
		}
	})
	t.Run("a forbidden tool's denial holds in the scratchpad", func(t *testing.T) {
		m := state(t, `tools: { forbid: [{ tool: write_file, paths: "scratchpad/locked/**" }] }`)
		check(t, Decide(m, Call{State: "work", Tool: "write_file", Args: args{"file_path": "scratchpad/locked/a"}, Origin: FromAgent},
			workspaceEnv()), RuleForbiddenHere)
	})
}

func TestReasonsNameTheArgumentAndWhatIsAllowedInstead(t *testing.T) {
	m := state(t, everything, everythingRoot)
	for _, tc := range []struct {
		name string
		call row
		says []string
	}{
		{
			"the second of two paths",
			row{tool: "copy_file", args: args{"source": "scratchpad/a", "destination": "skills/x"}},
			[]string{"copy_file", "destination", `"skills/x"`, "scratchpad/"},
		},
		{"eval", row{tool: "eval"}, []string{"archmax_eval"}},
		{"a skill", row{tool: "read_file", args: args{"file_path": "skills/other/x"}}, []string{"house, refunds", "scratchpad/"}},
		{"a mount", row{tool: "write_file", args: args{"file_path": "ledger/a"}}, []string{"reference/", "notes/ (writable)", "scratchpad/"}},
		{"a tool that nothing grants", row{tool: "archmax_workflow_child"}, []string{"archmax_workflow_child", "crm__get", "crm__lookup"}},
		{"a guard", row{tool: "mail__send", args: args{"to": "x"}}, []string{"`to` matches `*@example.com`"}},
		{"a name that is no tool", row{tool: "nonsense"}, []string{`"nonsense" is not a tool`, "crm__get"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := Decide(m, tc.call.call(), workspaceEnv())
			for _, word := range tc.says {
				if !strings.Contains(v.Reason, word) {
					t.Errorf("the reason lacks %q: %s", word, v.Reason)
				}
			}
			for _, hidden := range []string{"vault", "banned", "crm__delete", "crm__find"} {
				if strings.Contains(v.Reason, hidden) {
					t.Errorf("the reason tells of %q, which the state does not show: %s", hidden, v.Reason)
				}
			}
		})
	}
}

func TestPolicies(t *testing.T) {
	m := state(t, `tools: { allow: [crm__get, bundle] }`)
	var saw PolicyInput
	env := workspaceEnv()
	env.Variables["region"] = "eu"
	env.Policies = []Policy{
		{Name: "eu-only", Deny: "Only EU.", Blocks: func(in PolicyInput) (bool, error) { return in.Args["region"] == "us", nil }},
		{Name: "strict", Deny: "No.", Blocks: func(in PolicyInput) (bool, error) {
			saw = in
			if in.Args["broken"] == true {
				return false, errors.New("no such key: amount")
			}
			return false, nil
		}},
	}
	runRows(t, m, env, []row{
		{"a policy that is true blocks", "crm__get", args{"region": "us"}, "policy.eu-only"},
		{"a policy that is false does not", "crm__get", args{"region": "eu"}, RuleAllowed},
		{"a policy that cannot be evaluated blocks", "crm__get", args{"broken": true}, "policy.strict"},
	})
	t.Run("the reason is the policy's own words", func(t *testing.T) {
		v := Decide(m, row{tool: "crm__get", args: args{"region": "us"}}.call(), env)
		if !strings.Contains(v.Reason, "Only EU.") {
			t.Error(v.Reason)
		}
		v = Decide(m, row{tool: "crm__get", args: args{"broken": true}}.call(), env)
		if !strings.Contains(v.Reason, "could not be evaluated") || !strings.Contains(v.Reason, "no such key: amount") {
			t.Error(v.Reason)
		}
	})
	t.Run("it sees the resolved tool, the state, the origin, the variables and canonical paths", func(t *testing.T) {
		call := Call{State: "work", Tool: "bundle", Args: args{"files": []any{"./a//b", "c", "/c"}}, Origin: FromScript}
		check(t, Decide(m, call, env), RuleAllowed)
		if saw.Tool != "bundle" || saw.State != "work" || saw.Origin != FromScript || saw.Variables["region"] != "eu" ||
			strings.Join(saw.Paths, " ") != "a/b c" {
			t.Errorf("%+v", saw)
		}
	})
	t.Run("it binds hooks too", func(t *testing.T) {
		check(t, Decide(m, Call{State: "work", Tool: "crm__get", Args: args{"region": "us"}, Origin: FromLifecycle}, env), "policy.eu-only")
	})
	t.Run("a policy without a rule blocks", func(t *testing.T) {
		check(t, Decide(m, row{tool: "crm__get"}.call(), &Env{Tools: workspaceTools(), Policies: []Policy{{Name: "empty"}}}), "policy.empty")
	})
}

func TestOrigins(t *testing.T) {
	m := state(t, everything, everythingRoot)
	env := workspaceEnv()
	for _, tc := range []struct {
		name   string
		origin Origin
		tool   string
		args   args
		rule   string
	}{
		{"a hook is bound by the governance plane", FromLifecycle, "read_file", args{"file_path": "workflows/x"}, RuleGovernancePlane},
		{"a hook is bound by read-only mounts", FromLifecycle, "write_file", args{"file_path": "skills/x"}, RuleReadOnly},
		{"a hook is bound by the runtime's areas", FromLifecycle, "ls", args{"path": "artifacts"}, RuleRuntimeInternal},
		{"a hook is bound by the workflow's mount denials", FromLifecycle, "read_file", args{"file_path": "vault/a"}, RuleMountForbidden},
		{"a hook is not bound by the state's mount denials", FromLifecycle, "read_file", args{"file_path": "handbook/a"}, RuleAllowed},
		{"a hook needs no mount grant", FromLifecycle, "write_file", args{"file_path": "ledger/a"}, RuleAllowed},
		{"a hook reads no .env of a mount", FromLifecycle, "read_file", args{"file_path": "notes/.env"}, RuleMountNotAllowed},
		{"a hook is bound by the workflow's skill denials", FromLifecycle, "read_file", args{"file_path": "skills/banned/x"}, RuleSkillForbidden},
		{"a hook is not bound by the state's skill denials", FromLifecycle, "read_file", args{"file_path": "skills/mail/x"}, RuleAllowed},
		{"a hook needs no skill grant", FromLifecycle, "read_file", args{"file_path": "skills/other/x"}, RuleAllowed},
		{"a hook is bound by forbid_always", FromLifecycle, "crm__delete", nil, RuleForbidden},
		{"a hook is not bound by the state's forbid", FromLifecycle, "crm__find", nil, RuleAllowed},
		{"a hook is not bound by the state's default", FromLifecycle, "mail__send", args{"to": "x"}, RuleAllowed},
		{"a hook cannot move the machine", FromLifecycle, "archmax_advance", args{"to": "done"}, RuleNotAllowed},
		{"a script is bound like the agent: default", FromScript, "mail__send", args{"to": "x"}, RuleNotAllowed},
		{"a script is bound like the agent: forbid", FromScript, "crm__find", nil, RuleForbiddenHere},
		{"a script is bound like the agent: skills", FromScript, "read_file", args{"file_path": "skills/mail/x"}, RuleSkillForbidden},
		{"a script has the agent's grants", FromScript, "crm__get", nil, RuleAllowed},
		{"a script of the agent cannot advance", FromScript, "archmax_advance", args{"to": "done"}, RuleNotAllowed},
		{"a script cannot evaluate code", FromScript, "archmax_eval", nil, RuleNotAllowed},
		{"a script cannot run a script", FromScript, "archmax_run", args{"file_path": "skills/refunds/x.js"}, RuleNotAllowed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			check(t, Decide(m, Call{State: "work", Tool: tc.tool, Args: tc.args, Origin: tc.origin}, env), tc.rule)
		})
	}
	t.Run("a bare grant of allow_always narrows a mount for a hook too", func(t *testing.T) {
		m := state(t, "title: T", "mounts: { allow_always: [ledger] }")
		check(t, Decide(m, Call{State: "work", Tool: "write_file", Args: args{"file_path": "ledger/a"}, Origin: FromLifecycle}, env), RuleMountReadOnly)
	})
}

func TestAnActionThatIsNothingIsBlocked(t *testing.T) {
	m := state(t, "title: T")
	if v := (Verdict{}); v.Allow {
		t.Error("the zero verdict allows")
	}
	if v := Decide(m, nil, nil); v.Allow || v.Reason == "" {
		t.Errorf("%+v", v)
	}
	check(t, Decide(m, Call{State: "nowhere", Tool: "write_todos", Origin: FromAgent}, workspaceEnv()), RuleNotAllowed)
	check(t, Decide(m, Call{State: "nowhere", Tool: "write_todos", Origin: FromLifecycle}, workspaceEnv()), RuleNotAllowed)
}

func TestDenialsTravelDown(t *testing.T) {
	child := state(t, `tools: { allow: [crm__get, mail__send] }
skills: { allow: [refunds] }
mounts: { allow: [reference] }`)
	parent := state(t, `tools: { forbid: [mail__send] }`, `
tools: { forbid_always: [crm__get, { tool: read_file, paths: "${{folder}}/**" }] }
skills: { forbid_always: [refunds] }
mounts: { forbid_always: [reference] }`)
	parent.Slug = "the-parent"
	env := workspaceEnv()
	env.Ancestors = []*spec.Machine{state(t, "title: T"), parent}
	env.AncestorVariables = []map[string]any{nil, {"folder": "closed"}}
	env.Variables["folder"] = "elsewhere" // the child's own, which must not count
	rows := []row{
		{"an ancestor's tool denial binds the child", "crm__get", nil, RuleForbidden},
		{"an ancestor's skill denial binds the child", "read_file", args{"file_path": "skills/refunds/x"}, RuleSkillForbidden},
		{"an ancestor's mount denial binds the child", "read_file", args{"file_path": "reference/x"}, RuleMountForbidden},
		{"an ancestor's reference means the ancestor's variable", "read_file", args{"file_path": "closed/x"}, RuleForbidden},
		{"and not the child's", "read_file", args{"file_path": "elsewhere/x"}, RuleAllowed},
		{"an ancestor's per-state denial does not travel", "mail__send", nil, RuleAllowed},
	}
	runRows(t, child, env, rows)
	for _, r := range rows[:4] {
		if v := Decide(child, r.call(), env); !strings.Contains(v.Reason, "the-parent") {
			t.Errorf("%s: the block does not name the workflow that declared it: %s", r.name, v.Reason)
		}
	}
	t.Run("without the ancestor's variables its denial is a fatal block", func(t *testing.T) {
		env.AncestorVariables = nil
		check(t, Decide(child, row{tool: "read_file", args: args{"file_path": "x"}}.call(), env), RuleUnresolvedVariable)
	})
	t.Run("denied tools, skills and mounts are not shown", func(t *testing.T) {
		if names := Disclose(child, "work", env); slices.Contains(names, "crm__get") || !slices.Contains(names, "mail__send") {
			t.Error(names)
		}
		if slugs := EnabledSkills(child, "work", env); len(slugs) != 0 {
			t.Error(slugs)
		}
	})
}
