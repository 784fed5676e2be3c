package validate

import (
	"testing"

	"github.com/archmax-ai/archmax/internal/diag"
)

// grantRows are mistakes in the lists of tools, in a workspace with skills and
// mounts. Each is written from language.md, "What `validate` adds".
var placedGrantRows = []broken{
	{"nothing is said of a copy out of a read-only mount into a place of its own", `
instructions: Help.
skills: { allow_always: [orders] }
mounts: { allow_always: [reference] }
states:
  a:
    triggers: { manual: }
    tools:
      allow:
        - { tool: copy_file, paths: ["reference/**", "out/**"] }
        - { tool: copy_file, paths: ["skills/orders/**", "large_tool_results/**", "out/**"] }
`},
	{"a copy that has no place to go, as the globs are read-only", `
instructions: Help.
skills: { allow_always: [orders] }
mounts: { allow_always: [reference] }
states:
  a:
    triggers: { manual: }
    tools: { allow: [{ tool: copy_file, paths: [⟦refused-grant⟧"reference/**", ⟦refused-grant⟧"skills/orders/**"] }] }
`},
	{"a move removes its source, so a read-only glob is of no use to it", `
instructions: Help.
skills: {}
mounts: { allow_always: [reference] }
states:
  a:
    triggers: { manual: }
    tools: { allow: [{ tool: move_file, paths: [⟦refused-grant⟧"reference/**", "out/**"] }] }
`},
	{"nothing is said of a host tool that reads one path and writes another, which may be left out", `
instructions: Help.
skills: {}
mounts: { allow_always: [reference] }
states:
  a:
    triggers: { manual: }
    tools: { allow: [{ tool: fill_report, paths: "reference/**" }] }
`},
	{"an allow_always glob that is of no use in one state and of some in another: nothing is said", `
instructions: Help.
skills: {}
mounts: {}
tools: { allow_always: [{ tool: fill_form, paths: ["reference/**", "out/**"] }] }
states:
  a:
    triggers: { manual: }
    transitions: [{ to: b, description: Go. }]
    instructions: Go.
  b: { mounts: { allow: [reference] } }
`},
	{"what no list could grant, in an entry that is inert besides", `
instructions: Help.
skills: {}
mounts: {}
tools:
  allow_always:
    - ⟦inert-grant⟧{ tool: archmax_run, args: { file_path: ⟦run-path⟧"foo/x.js" } }
    - ⟦inert-grant⟧{ tool: write_file, paths: ⟦refused-grant⟧"workflows/**" }
states:
  a: { triggers: { manual: } }
`},
	{"a write below workflows/", `
instructions: Help.
skills: {}
mounts: {}
states:
  a:
    triggers: { manual: }
    tools:
      allow:
        - { tool: write_file, paths: ⟦refused-grant⟧"workflows/**" }
`},
	{"a read below workflows/, in block style", `
instructions: Help.
skills: {}
mounts: {}
states:
  a:
    triggers: { manual: }
    tools:
      allow:
        - tool: read_file
          paths:
            - reports/**
            - ⟦refused-grant⟧workflows/*/notes.md
`},
	{"a disguised path below workflows/", `
instructions: Help.
skills: {}
mounts: {}
states:
  a:
    triggers: { manual: }
    tools: { allow: [{ tool: read_file, args: { file_path: [⟦refused-grant⟧"./reports/../Workflows/**"] } }] }
`},
	{"a write into the checkpoints", `
instructions: Help.
skills: {}
mounts: {}
states:
  a:
    triggers: { manual: }
    tools: { allow: [{ tool: write_file, args: { file_path: ⟦refused-grant⟧checkpoints/* } }] }
`},
	{"a read of the artifacts", `
instructions: Help.
skills: {}
mounts: {}
states:
  a:
    triggers: { manual: }
    tools: { allow: [{ tool: read_file, paths: ⟦refused-grant⟧"artifacts/**" }] }
`},
	{"a write into the offload area", `
instructions: Help.
skills: {}
mounts: {}
states:
  a:
    triggers: { manual: }
    tools: { allow: [{ tool: edit_file, paths: ⟦refused-grant⟧"large_tool_results/*.txt" }] }
`},
	{"a write into a mount that the workspace serves read-only", `
instructions: Help.
skills: {}
mounts: { allow_always: [reference] }
states:
  a:
    triggers: { manual: }
    tools: { allow: [{ tool: write_file, paths: ⟦refused-grant⟧"reference/**" }] }
`},
	{"a write into a file mount", `
instructions: Help.
skills: {}
mounts: {}
states:
  a:
    triggers: { manual: }
    tools: { allow: [{ tool: write_file, paths: [⟦refused-grant⟧AGENTS.md] }] }
`},
	{"a copy into a skill bundle", `
instructions: Help.
skills: { allow_always: [orders] }
mounts: {}
states:
  a:
    triggers: { manual: }
    tools: { allow: [{ tool: copy_file, args: { source: "reports/**", destination: ⟦refused-grant⟧"skills/orders/**" } }] }
`},
	{"a move out of a read-only mount", `
instructions: Help.
skills: {}
mounts: { allow_always: [reference] }
states:
  a:
    triggers: { manual: }
    tools: { allow: [{ tool: move_file, args: { source: ⟦refused-grant⟧"reference/*" } }] }
`},
	{"a read in a governed mount that the state does not have", `
instructions: Help.
skills: {}
mounts: {}
states:
  a:
    triggers: { manual: }
    tools: { allow: [{ tool: read_file, paths: ⟦refused-grant⟧"reference/**" }] }
`},
	{"a write into a writable mount that is granted for reading", `
instructions: Help.
skills: {}
mounts: { allow_always: [ledger] }
states:
  a:
    triggers: { manual: }
    tools: { allow: [{ tool: write_file, paths: ⟦refused-grant⟧"ledger/*.csv" }] }
`},
	{"a read in a bundle that the state does not enable", `
instructions: Help.
skills: { allow_always: [orders] }
mounts: {}
states:
  a:
    triggers: { manual: }
    tools: { allow: [{ tool: read_file, paths: ⟦refused-grant⟧"skills/policy/**" }] }
`},
	{"a path of a command tool in a runtime area", `
instructions: Help.
skills: {}
mounts: {}
states:
  a:
    triggers: { manual: }
    tools: { allow: [{ tool: fill_form, args: { template: ⟦refused-grant⟧"_specs/**" } }] }
`},
	{"a path above the root", `
instructions: Help.
skills: {}
mounts: {}
states:
  a:
    triggers: { manual: }
    tools: { allow: [{ tool: read_file, paths: ⟦refused-grant⟧../secrets/* }] }
`},
	{"braces that all lead to protected places", `
instructions: Help.
skills: {}
mounts: {}
states:
  a:
    triggers: { manual: }
    tools: { allow: [{ tool: write_file, paths: ⟦refused-grant⟧"{artifacts,_specs}/**" }] }
`},
	{"a paths guard on a tool without paths", `
instructions: Help.
skills: {}
mounts: {}
states:
  a:
    triggers: { manual: }
    tools: { allow: [{ tool: write_todos, paths: ⟦refused-grant⟧"reports/**" }] }
`},
	{"an allow_always that is refused in every state", `
instructions: Help.
skills: {}
mounts: {}
tools: { allow_always: [{ tool: fill_form, paths: ⟦refused-grant⟧"reference/**" }] }
states:
  a: { triggers: { manual: } }
`},
	{"an archmax_run outside every bundle", `
instructions: Help.
skills: { allow_always: [orders] }
mounts: {}
states:
  a:
    triggers: { manual: }
    tools: { allow: [{ tool: archmax_run, paths: [⟦run-path⟧scripts/*.js, "skills/orders/scripts/*.js"] }] }
`},
	{"an archmax_run in a bundle that the state does not enable", `
instructions: Help.
skills: { allow_always: [orders] }
mounts: {}
states:
  a:
    triggers: { manual: }
    tools: { allow: [{ tool: archmax_run, args: { file_path: ⟦run-path⟧skills/policy/scripts/check.js } }] }
`},
	{"an archmax_run in a bundle that the state forbids", `
instructions: Help.
skills: { allow_always: [orders, policy] }
mounts: {}
states:
  a:
    triggers: { manual: }
    skills: { forbid: [policy] }
    tools: { allow: [{ tool: archmax_run, paths: ⟦run-path⟧"skills/policy/**" }] }
`},
	{"an archmax_run in a bundle that does not exist", `
instructions: Help.
skills: { allow_always: [orders] }
mounts: {}
states:
  a:
    triggers: { manual: }
    tools: { allow: [{ tool: archmax_run, paths: ⟦run-path⟧"skills/order/**" }] }
`},
	{"an archmax_run at the bundle itself", `
instructions: Help.
skills: { allow_always: [orders] }
mounts: {}
states:
  a:
    triggers: { manual: }
    tools: { allow: [{ tool: archmax_run, paths: ⟦run-path⟧skills/orders }] }
`},
}

func TestGrantsThatTheKernelRefusesOrThatSayNothing(t *testing.T) { usual().run(t, grantRows) }

func TestAGlobThatGrantsNothingInALivingEntryIsAWarning(t *testing.T) {
	for paths, want := range map[string]diag.Severity{
		`["workflows/**", "out/**"]`:       diag.Warning,
		`["workflows/**", "artifacts/**"]`: diag.Error,
		`"workflows/**"`:                   diag.Error,
	} {
		src := "instructions: Help.\nskills: {}\nmounts: {}\nstates:\n  a:\n    triggers: { manual: }\n" +
			"    tools: { allow: [{ tool: write_file, paths: " + paths + " }] }\n"
		results, err := Workspace(usual().input(src), "refund")
		if err != nil {
			t.Fatal(err)
		}
		list := results[0].Diagnostics
		if len(list) == 0 {
			t.Errorf("%s: nothing is said", paths)
		}
		for _, d := range list {
			if d.Severity != want || d.Code != string(diag.RefusedGrant) {
				t.Errorf("%s: %s, want severity %s", paths, d.Error(), want)
			}
		}
	}
}
