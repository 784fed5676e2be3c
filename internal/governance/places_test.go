package governance

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestEnabledSkills(t *testing.T) {
	for _, tc := range []struct{ name, state, root, want string }{
		{"nothing enables nothing", "title: T", "", ""},
		{"the state's allow enables", "skills: { allow: [refunds] }", "", "refunds"},
		{"allow_always enables", "title: T", "skills: { allow_always: [mail] }", "mail"},
		{"both together", "skills: { allow: [refunds] }", "skills: { allow_always: [mail] }", "mail refunds"},
		{"the state's forbid removes", "skills: { allow: [refunds], forbid: [mail] }", "skills: { allow_always: [mail] }", "refunds"},
		{"forbid_always removes", "skills: { allow: [refunds, mail] }", "skills: { forbid_always: [mail] }", "refunds"},
		{"an empty allow subtracts nothing", "skills: { allow: [] }", "skills: { allow_always: [mail] }", "mail"},
		{"a bundle that does not exist is not listed", "skills: { allow: [ghost, refunds] }", "", "refunds"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := state(t, tc.state, tc.root)
			if got := strings.Join(EnabledSkills(m, "work", workspaceEnv()), " "); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestSkillBundles(t *testing.T) {
	m := state(t, `
skills: { allow: [refunds, mail] }
tools:
  allow:
    - { tool: archmax_run, paths: "skills/refunds/scripts/check.js" }
`)
	env := workspaceEnv()
	runRows(t, m, env, []row{
		{"enabling is the whole grant for reads", "read_file", args{"file_path": "skills/mail/references/a.md"}, RuleAllowed},
		{"and for searches", "grep", args{"pattern": "x", "path": "skills/mail"}, RuleAllowed},
		{"a tool entry narrows within", "archmax_run", args{"file_path": "skills/refunds/scripts/other.js"}, RuleNotAllowed},
		{"and grants what it names", "archmax_run", args{"file_path": "skills/refunds/scripts/check.js"}, RuleAllowed},
		{"a file beside the bundles is in none", "read_file", args{"file_path": "skills/README.md"}, RuleSkillNotAllowed},
		{"enablement grants no write", "write_file", args{"file_path": "skills/mail/SKILL.md"}, RuleReadOnly},
	})
	t.Run("without a skills mount nothing can be run", func(t *testing.T) {
		env := workspaceEnv()
		env.Mounts = nil
		check(t, Decide(m, row{tool: toolRun, args: args{"file_path": "skills/refunds/scripts/check.js"}}.call(), env), RuleSkillOnly)
	})
	t.Run("a mount inside skills/ is a bundle like the others", func(t *testing.T) {
		env := workspaceEnv()
		env.Mounts = append(env.Mounts, Mount{Name: "skills/extra", ReadOnly: true})
		check(t, Decide(m, row{tool: "read_file", args: args{"file_path": "skills/extra/SKILL.md"}}.call(), env), RuleSkillNotAllowed)
	})
}

func TestMountAccess(t *testing.T) {
	mounts := []Mount{
		{Name: "open-ro", ReadOnly: true},
		{Name: "open-rw"},
		{Name: "gov-ro", ReadOnly: true, Governed: true},
		{Name: "gov-rw", Governed: true},
	}
	for _, tc := range []struct{ name, state, root, want string }{
		{"governed mounts are closed, ungoverned ones visible", "title: T", "", "open-ro:read open-rw:read_write"},
		{"a bare grant reads", "mounts: { allow: [gov-ro, gov-rw] }", "", "open-ro:read open-rw:read_write gov-ro:read gov-rw:read"},
		{"a grant of read_write writes", "mounts: { allow: [{ mount: gov-rw, access: read_write }] }", "", "open-ro:read open-rw:read_write gov-rw:read_write"},
		{"read_only is a ceiling", "mounts: { allow: [{ mount: gov-ro, access: read_write }] }", "", "open-ro:read open-rw:read_write gov-ro:read"},
		{"allow_always grants", "title: T", "mounts: { allow_always: [{ mount: gov-rw, access: read_write }] }", "open-ro:read open-rw:read_write gov-rw:read_write"},
		{"the state narrows the workflow", "mounts: { allow: [gov-rw] }", "mounts: { allow_always: [{ mount: gov-rw, access: read_write }] }", "open-ro:read open-rw:read_write gov-rw:read"},
		{"the workflow narrows the state", "mounts: { allow: [{ mount: gov-rw, access: read_write }] }", "mounts: { allow_always: [gov-rw] }", "open-ro:read open-rw:read_write gov-rw:read"},
		{"read_write at both levels writes", "mounts: { allow: [{ mount: gov-rw, access: read_write }] }", "mounts: { allow_always: [{ mount: gov-rw, access: read_write }] }", "open-ro:read open-rw:read_write gov-rw:read_write"},
		{"an ungoverned writable mount can be narrowed", "mounts: { allow: [{ mount: open-rw, access: read }] }", "", "open-ro:read open-rw:read"},
		{"the state's forbid removes", "mounts: { allow: [gov-ro], forbid: [gov-ro, open-ro] }", "", "open-rw:read_write"},
		{"forbid_always removes", "mounts: { allow: [gov-ro] }", "mounts: { forbid_always: [gov-ro, open-rw] }", "open-ro:read"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := state(t, tc.state, tc.root)
			env := &Env{Tools: workspaceTools(), Mounts: mounts}
			postures := MountAccess(m, "work", env)
			var got []string
			for _, p := range postures {
				got = append(got, fmt.Sprintf("%s:%s", p.Mount.Name, p.Access))
			}
			if strings.Join(got, " ") != tc.want {
				t.Errorf("got %q, want %q", strings.Join(got, " "), tc.want)
			}
			for _, mount := range mounts {
				read := Decide(m, row{tool: "read_file", args: args{"file_path": mount.Name + "/a"}}.call(), env)
				write := Decide(m, row{tool: "write_file", args: args{"file_path": mount.Name + "/a"}}.call(), env)
				hit := Decide(m, Hit{State: "work", Tool: "ls", Path: mount.Name, Origin: FromAgent}, env)
				if seen := slices.Contains(got, mount.Name+":read") || slices.Contains(got, mount.Name+":read_write"); read.Allow != seen || hit.Allow != seen {
					t.Errorf("%s: seen %v, read %v, in the root listing %v", mount.Name, seen, read.Rule, hit.Rule)
				}
				if writable := slices.Contains(got, mount.Name+":read_write"); write.Allow != writable {
					t.Errorf("%s: writable %v, write %v", mount.Name, writable, write.Rule)
				}
			}
		})
	}
	t.Run("a governed mount that no list enables is refused", func(t *testing.T) {
		check(t, Decide(state(t, "title: T"), row{tool: "ls", args: args{"path": "gov-ro"}}.call(), &Env{Tools: workspaceTools(), Mounts: mounts}), RuleMountNotAllowed)
	})
}

func TestASearchIsDecidedTwice(t *testing.T) {
	m := state(t, `
tools:
  allow: [{ tool: read_file, paths: ["docs/**", "secrets/**", "skills/**", "reference/**", "notes/**"] }]
  forbid:
    - { tool: grep, paths: "secrets/grep/**" }
    - { tool: glob, args: { path: "secrets/glob/**", pattern: "*" } }
    - { tool: grep, args: { pattern: "password*" } }
    - { tool: read_file, paths: "${{folder}}/**" }
    - { tool: read_file, args: { limit: "9*" } }
skills: { allow: [refunds] }
`, `tools: { forbid_always: [{ tool: read_file, paths: "docs/private/**" }] }`)
	env := workspaceEnv()
	env.Variables["folder"] = "secrets/var"
	check(t, Decide(m, row{tool: "grep", args: args{"pattern": "x", "path": "."}}.call(), env), RuleAllowed)
	for _, tc := range []struct {
		name, tool, path, rule string
	}{
		{"a hit that read_file could read is shown", "grep", "docs/a", RuleAllowed},
		{"a hit that no grant of read_file covers is dropped", "grep", "other/a", RuleNotAllowed},
		{"a hit that read_file is denied is dropped", "grep", "docs/private/a", RuleForbidden},
		{"a hit in disguise is dropped", "ls", "docs/x/../private", RuleForbidden},
		{"a denial by a variable drops it", "glob", "secrets/var/a", RuleForbiddenHere},
		{"a denial of the searching tool drops it", "grep", "secrets/grep/.env", RuleForbiddenHere},
		{"another tool may show it", "ls", "secrets/grep/a", RuleAllowed},
		{"a denial of the searching tool's path argument drops it", "glob", "secrets/glob/a", RuleForbiddenHere},
		{"a denial that is about no path was decided with the call", "grep", "docs/b", RuleAllowed},
		{"the scratchpad is shown", "grep", "scratchpad/a", RuleScratchpad},
		{"an offload area is shown", "ls", "large_tool_results", RuleOffloadRead},
		{"the runtime's own areas are dropped", "ls", "artifacts", RuleRuntimeInternal},
		{"workflows is dropped", "ls", "workflows", RuleGovernancePlane},
		{"an enabled bundle is shown", "ls", "skills/refunds", RuleAllowed},
		{"a bundle that is not enabled is dropped", "ls", "skills/mail", RuleSkillNotAllowed},
		{"a governed mount that is not enabled is dropped", "ls", "reference", RuleMountNotAllowed},
		{"a dot file of a mount is dropped", "ls", "notes/.git", RuleMountNotAllowed},
		{"a hit above the root is dropped", "grep", "../x", RuleEscapes},
	} {
		for _, origin := range []Origin{FromAgent, FromScript} {
			t.Run(tc.name, func(t *testing.T) {
				check(t, Decide(m, Hit{State: "work", Tool: tc.tool, Path: tc.path, Origin: origin}, env), tc.rule)
			})
		}
	}
	t.Run("a denial of secrets/** holds against grep over the root", func(t *testing.T) {
		m := state(t, `tools: { forbid: [{ tool: read_file, paths: "secrets/**" }] }`)
		check(t, Decide(m, row{tool: "grep", args: args{"pattern": "key", "path": "."}}.call(), env), RuleAllowed)
		check(t, Decide(m, Hit{State: "work", Tool: "grep", Path: "secrets/.env", Origin: FromAgent}, env), RuleForbiddenHere)
		check(t, Decide(m, Hit{State: "work", Tool: "grep", Path: "secrets", Origin: FromAgent}, env), RuleForbiddenHere)
		check(t, Decide(m, Hit{State: "work", Tool: "grep", Path: "open/.env", Origin: FromAgent}, env), RuleAllowed)
	})
	t.Run("a hit that cannot be decided is dropped, and is not fatal", func(t *testing.T) {
		env := workspaceEnv()
		v := Decide(m, Hit{State: "work", Tool: "grep", Path: "docs/a", Origin: FromAgent}, env)
		if v.Allow || v.Fatal || v.Rule != RuleUnresolvedVariable {
			t.Errorf("%+v", v)
		}
	})
	t.Run("a policy sees a hit as a read of it", func(t *testing.T) {
		env := workspaceEnv()
		env.Variables["folder"] = "x"
		env.Policies = []Policy{{Name: "no-reads", Deny: "No.", Blocks: func(in PolicyInput) (bool, error) {
			return in.Tool == "read_file" && in.Args["file_path"] == "docs/a" && slices.Equal(in.Paths, []string{"docs/a"}), nil
		}}}
		check(t, Decide(m, Hit{State: "work", Tool: "grep", Path: "docs/a", Origin: FromAgent}, env), "policy.no-reads")
		check(t, Decide(m, Hit{State: "work", Tool: "grep", Path: "docs/b", Origin: FromAgent}, env), RuleAllowed)
	})
	t.Run("a hook sees what its authority allows", func(t *testing.T) {
		check(t, Decide(m, Hit{State: "work", Tool: "ls", Path: "skills/mail", Origin: FromLifecycle}, env), RuleAllowed)
		check(t, Decide(m, Hit{State: "work", Tool: "ls", Path: "docs/private", Origin: FromLifecycle}, env), RuleForbidden)
	})
	t.Run("a workspace that registers no read_file has its hits decided all the same", func(t *testing.T) {
		env := &Env{Tools: NewToolSet([]ToolInfo{{Name: "grep", Paths: []PathArg{{"path", Search, Root}}, AlwaysOn: true}})}
		check(t, Decide(state(t, "title: T"), Hit{State: "work", Tool: "grep", Path: "artifacts/a", Origin: FromAgent}, env), RuleRuntimeInternal)
		check(t, Decide(state(t, "title: T"), Hit{State: "work", Tool: "grep", Path: "a", Origin: FromAgent}, env), RuleAllowed)
	})
}
