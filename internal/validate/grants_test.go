package validate

import (
	"testing"

	"github.com/archmax-ai/archmax/internal/diag"
)

// grantRows are mistakes in the lists of tools, in a workspace with skills and
// mounts. Each is written from language.md, "What `validate` adds".
var grantRows = []broken{
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
	{"a grant that forbid_always covers by name", `
instructions: Help.
skills: {}
mounts: {}
tools: { forbid_always: [write_file] }
states:
  a:
    triggers: { manual: }
    tools: { allow: [⟦refused-grant⟧write_file] }
`},
	{"a grant that a forbid_always of * covers", `
instructions: Help.
skills: {}
mounts: {}
tools: { forbid_always: ["*"] }
states:
  a:
    triggers: { manual: }
    tools: { allow: [⟦refused-grant⟧lookup] }
`},
	{"a grant that forbid_always covers by its bare action", `
instructions: Help.
skills: {}
mounts: {}
tools: { forbid_always: [export] }
states:
  a:
    triggers: { manual: }
    tools: { allow: [⟦refused-grant⟧crm__export] }
`},
	{"a guarded grant inside a guarded forbid_always", `
instructions: Help.
skills: {}
mounts: {}
tools: { forbid_always: [{ tool: write_file, paths: "secrets/**" }] }
states:
  a:
    triggers: { manual: }
    tools: { allow: [⟦refused-grant⟧{ tool: write_file, paths: "secrets/keys/*.pem" }] }
`},
	{"a guarded grant whose argument forbid_always denies", `
instructions: Help.
skills: {}
mounts: {}
tools: { forbid_always: [{ tool: crm__export, args: { region: "e*" } }] }
states:
  a:
    triggers: { manual: }
    tools:
      allow:
        - ⟦refused-grant⟧tool: crm__export
          args: { region: [eu, ee] }
`},
	{"an allow_always that forbid_always covers", `
instructions: Help.
skills: {}
mounts: {}
tools:
  allow_always: [⟦refused-grant⟧lookup]
  forbid_always: [lookup]
states:
  a: { triggers: { manual: } }
`},
	{"archmax_advance granted in a terminal state", `
instructions: Help.
skills: {}
mounts: {}
states:
  a:
    triggers: { manual: }
    tools: { allow: [⟦refused-grant⟧archmax_advance] }
`},
	{"archmax_wait granted in a code state", `
instructions: Help.
skills: {}
mounts: {}
states:
  a:
    type: code
    script: scripts/check.js
    triggers: { manual: }
    tools: { allow: [⟦refused-grant⟧archmax_wait] }
`},
	{"archmax_eval granted to a script", `
instructions: Help.
skills: {}
mounts: {}
states:
  a:
    type: code
    script: scripts/check.js
    triggers: { manual: }
    tools: { allow: [⟦refused-grant⟧archmax_eval] }
`},
	{"a tool that writes granted to a grader", `
instructions: Help.
skills: {}
mounts: {}
states:
  a:
    type: grader
    instructions: Is it right?
    triggers: { manual: }
    tools: { allow: [read_file, ⟦refused-grant⟧write_file] }
    transitions: [{ to: b, description: Always. }]
  b:
`},
	{"the tool eval granted", `
instructions: Help.
skills: {}
mounts: {}
states:
  a:
    triggers: { manual: }
    tools: { allow: [⟦refused-grant⟧eval] }
`},
	{"a read_write grant of a mount that the workspace serves read-only", `
instructions: Help.
skills: {}
mounts: { allow_always: [⟦refused-grant⟧{ mount: reference, access: read_write }] }
states:
  a: { triggers: { manual: } }
`},
	{"a grant that the state's own forbid covers", `
instructions: Help.
skills: {}
mounts: {}
states:
  a:
    triggers: { manual: }
    tools:
      allow: [⟦covered-grant⟧lookup]
      forbid: [lookup]
`},
	{"a guarded grant that the state's own forbid covers", `
instructions: Help.
skills: {}
mounts: {}
states:
  a:
    triggers: { manual: }
    tools:
      allow: [⟦covered-grant⟧{ tool: write_file, paths: "reports/*.md" }]
      forbid: [{ tool: write_file, paths: "reports/**" }]
`},
	{"a grant that a forbid_always covers in part", `
instructions: Help.
skills: {}
mounts: {}
tools: { forbid_always: [{ tool: write_file, paths: "**/secret.md" }] }
states:
  a:
    triggers: { manual: }
    tools: { allow: [⟦part-grant⟧{ tool: write_file, paths: "reports/**" }] }
`},
	{"a bare grant that a guarded forbid_always covers in part", `
instructions: Help.
skills: {}
mounts: {}
tools: { forbid_always: [{ tool: lookup, args: { region: eu } }] }
states:
  a:
    triggers: { manual: }
    tools: { allow: [⟦part-grant⟧lookup] }
`},
	{"an allow_always that a forbid_always covers in part", `
instructions: Help.
skills: {}
mounts: {}
tools:
  allow_always: [⟦part-grant⟧{ tool: crm__export, args: { region: "e*" } }]
  forbid_always: [{ tool: crm__export, args: { region: eu } }]
states:
  a: { triggers: { manual: } }
`},
	{"an allow entry inside scratchpad/", `
instructions: Help.
skills: {}
mounts: {}
states:
  a:
    triggers: { manual: }
    tools:
      allow:
        - { tool: write_file, paths: ⟦scratchpad-grant⟧"scratchpad/**" }
        - { tool: write_file, paths: ["reports/**", ⟦scratchpad-grant⟧/scratchpad/notes.md] }
`},
	{"an allow entry of both paths inside scratchpad/", `
instructions: Help.
skills: {}
mounts: {}
states:
  a:
    triggers: { manual: }
    tools: { allow: [{ tool: copy_file, args: { source: ⟦scratchpad-grant⟧"scratchpad/**", destination: "scratchpad/**" } }] }
`},
	{"an allow_always of an always-on tool", `
instructions: Help.
skills: {}
mounts: {}
tools: { allow_always: [⟦inert-grant⟧read_file, lookup, ⟦inert-grant⟧{ tool: write_file, paths: "reports/**" }] }
states:
  a: { triggers: { manual: } }
`},
	{"an allow_always of a control tool", `
instructions: Help.
skills: {}
mounts: {}
tools:
  allow_always:
    - ⟦inert-grant⟧archmax_wait
states:
  a: { triggers: { manual: } }
`},
	{"a forbid of what nothing grants in the state", `
instructions: Help.
skills: {}
mounts: {}
states:
  a:
    triggers: { manual: }
    tools: { allow: [lookup] }
    transitions: [{ to: b, description: Done. }]
  b:
    tools: { forbid: [⟦idle-forbid⟧lookup] }
`},
	{"a forbid_always of what nothing grants", `
instructions: Help.
skills: {}
mounts: {}
tools: { forbid_always: [⟦idle-forbid⟧crm__export, remove_file] }
states:
  a: { triggers: { manual: } }
`},
	{"a forbid of a control tool that the kind of state does not have", `
instructions: Help.
skills: {}
mounts: {}
states:
  a:
    type: code
    script: scripts/check.js
    triggers: { manual: }
    tools: { forbid: [⟦idle-forbid⟧archmax_reset] }
`},
	{"a grant of a misspelt tool", `
instructions: Help.
skills: {}
mounts: {}
tools: { allow_always: [⟦unknown-tool⟧lokup] }
states:
  a:
    triggers: { manual: }
    tools: { allow: [⟦unknown-tool⟧archmax_finish, crm__import] }
`},
	{"a grant by the bare action of a tool", `
instructions: Help.
skills: {}
mounts: {}
tools: { allow_always: [⟦unknown-tool⟧export] }
states:
  a: { triggers: { manual: } }
`},
	{"an empty allow of each kind", `
instructions: Help.
skills: {}
mounts: {}
states:
  a:
    triggers: { manual: }
    tools: { ⟦empty-allow⟧allow: [] }
    skills:
      ⟦empty-allow⟧allow: []
    mounts: { ⟦empty-allow⟧allow: [], forbid: [drafts] }
`},
	{"evidence in an area of the runtime", `
instructions: Help.
skills: {}
mounts: {}
states:
  a:
    triggers: { manual: }
    transitions: [{ to: review, description: Done. }]
  review:
    type: human
    instructions: Approve?
    evidence: [skills/orders/SKILL.md, ⟦bad-path⟧artifacts/trail.json]
    transitions: [{ to: a, description: Again. }]
`},
	{"nothing is said of grants that narrow, subtract in part, or cannot be judged", `
instructions: Help.
skills: { allow_always: [orders] }
mounts: { allow_always: [reference] }
tools:
  allow_always: [lookup]
  forbid_always: [remove_file]
states:
  a:
    triggers: { manual: { requires: [order_id] } }
    mounts: { allow: [{ mount: ledger, access: read_write }] }
    tools:
      allow:
        - { tool: write_file, paths: ["reports/**", "ledger/**", "drafts/*", "**/notes.md", "w*/x"] }
        - { tool: read_file, paths: ["skills/**", "skills/orders/*", "reference/**", "large_tool_results/**", "*"] }
        - { tool: archmax_run, paths: ["skills/**", "skills/*/scripts/*.js"] }
        - { tool: copy_file, args: { source: "scratchpad/**" } }
        - { tool: crm__export, args: { region: "${{order_id}}" } }
        - { tool: fill_form, paths: "scratchpad/**" }
        - mcp__unheard_of
      forbid:
        - { tool: write_file, paths: "reports/secret/**" }
        - archmax_wait
        - { tool: "*", paths: "private/**" }
    transitions: [{ to: b, description: Done. }]
  b:
    tools: { forbid: [lookup] }
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
