package validate

import "slices"

// grantRows are all tables of grants.
var grantRows = slices.Concat(placedGrantRows, deniedGrantRows)

// deniedGrantRows are grants that a denial, a state's kind or an inert place
// takes back.
var deniedGrantRows = []broken{
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
