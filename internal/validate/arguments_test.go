package validate

import (
	"strings"
	"testing"
)

var argumentRows = []broken{
	{"a guard on an argument that a built-in tool does not have, in each list", `
instructions: Help.
tools:
  forbid_always:
    - { tool: remove_file, args: { ⟦unknown-tool⟧path: "x/**" } }
states:
  a:
    triggers: { manual: }
    tools:
      allow:
        - tool: write_file
          args:
            file_path: "reports/**"
            ⟦unknown-tool⟧overwite: "true"
      forbid: [{ tool: grep, args: { ⟦unknown-tool⟧regex: secret } }]
`},
	{"a guard on an argument that a control tool does not have", `
instructions: Help.
states:
  a:
    triggers: { manual: }
    tools: { allow: [{ tool: archmax_wait, args: { ⟦unknown-tool⟧timeout: 5m } }], forbid: [{ tool: archmax_advance, args: { ⟦unknown-tool⟧target: b } }] }
    transitions: [{ to: b, description: Done. }]
  b:
`},
	{"a guard on what is inside a text", `
instructions: Help.
states:
  a:
    triggers: { manual: }
    tools: { allow: [{ tool: edit_file, args: { ⟦unknown-tool⟧new_string.title: x } }] }
`},
	{"nothing is said of guards on arguments that are there, nor of tools that are not known", `
instructions: Help.
tools:
  allow_always: [{ tool: lookup, args: { anything: x } }]
  forbid_always: [{ tool: archmax_set_variables, args: { variables.resolution: refunded } }]
states:
  a:
    triggers: { manual: }
    tools:
      allow:
        - { tool: write_file, args: { overwrite: "false" } }
        - { tool: crm__export, args: { region.code: eu } }
        - { tool: write_todos, args: { todos.0.content: x } }
        - { tool: archmax_wait, args: { until: "*" } }
`},
	{"a requires in a terminal state", `
instructions: Help.
states:
  a:
    triggers: { manual: }
    requires: [total]
    transitions: [{ to: b, description: Done. }]
  b:
    requires: [⟦key-not-for-kind⟧total, tax]
`},
	{"a reference in evidence", `
instructions: Help.
states:
  a:
    triggers: { manual: { requires: [order_id] } }
    transitions: [{ to: review, description: Done. }]
  review:
    type: human
    instructions: Approve?
    evidence: [scratchpad/memo.md, ⟦bad-reference⟧"refunds/${{order_id}}.md"]
    transitions: [{ to: a, description: Again. }]
`},
}

func TestGuardsOnNothingAndKeysThatHoldNothing(t *testing.T) { plain().run(t, argumentRows) }

func TestAMisspeltArgumentIsToldTheOneThatWasMeant(t *testing.T) {
	list := plain().wantMarked(t, strings.TrimPrefix(argumentRows[0].src, "\n"))
	for i, want := range []struct{ message, hint string }{
		{"`remove_file` has no argument `path`, so the entry forbids nothing", "it takes file_path"},
		{"`write_file` has no argument `overwite`, so the entry grants nothing", "did you mean `overwrite`?"},
		{"`grep` has no argument `regex`, so the entry forbids nothing", "it takes glob, max_count, output_mode, path, pattern"},
	} {
		if list[i].Message != want.message || list[i].Hint != want.hint || list[i].Severity != "warning" {
			t.Errorf("%s: %s; %s", list[i].Severity, list[i].Message, list[i].Hint)
		}
	}
}
