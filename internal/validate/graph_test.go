package validate

import (
	"strings"
	"testing"
)

var graphRows = []broken{
	{"a state that nothing leads to", `
instructions: Help.
states:
  a:
    triggers: { manual: }
    transitions: [{ to: b, description: Done. }]
  b:
  ⟦unreachable-state⟧c: { transitions: [{ to: b, description: Done. }] }
`},
	{"a chain of states that nothing leads to", `
instructions: Help.
states:
  a: { triggers: { manual: } }
  ⟦unreachable-state⟧b: { transitions: [{ to: c, description: Done. }] }
  ⟦unreachable-state⟧c:
`},
	{"states that only lead to each other", `
instructions: Help.
states:
  a: { triggers: { manual: } }
  ⟦unreachable-state⟧b: { transitions: [{ to: c, description: Done. }] }
  ⟦unreachable-state⟧c: { transitions: [{ to: b, description: Again. }] }
`},
	{"a state behind an edge that cannot be taken", `
instructions: Help.
states:
  a:
    triggers: { manual: }
    tools: { forbid: [archmax_advance] }
    transitions: [{ to: b, description: Done. }]
  ⟦unreachable-state⟧b:
`},
	{"a state behind an edge that a guard forbids", `
instructions: Help.
states:
  a:
    triggers: { manual: }
    tools: { forbid: [{ tool: archmax_advance, args: { to: b } }] }
    transitions: [{ to: b, description: Done. }, { to: c, description: Not done. }]
    instructions: Decide.
  ⟦unreachable-state⟧b:
  c:
`},
	{"states in flow style that nothing leads to", `
{ instructions: Help., states: { a: { triggers: { manual: } }, ⟦unreachable-state⟧b: , ⟦unreachable-state⟧"c": {} } }
`},
	{
		"a state that nothing leads to, with CRLF and a byte order mark",
		"\uFEFFinstructions: Help.\r\nstates:\r\n  a: { triggers: { manual: } }\r\n  ⟦unreachable-state⟧b:\r\n",
	},
	{"a trap of two states", `
instructions: Help.
states:
  a:
    triggers: { manual: }
    transitions: [{ to: b, description: Done. }]
  ⟦trap⟧b:
    tools: { forbid: [archmax_wait] }
    transitions: [{ to: c, description: Done. }]
  ⟦trap⟧c:
    tools: { forbid: [archmax_wait] }
    transitions: [{ to: b, description: Again. }]
`},
	{"a trap where archmax_wait is forbidden everywhere", `
instructions: Help.
tools: { forbid_always: [archmax_wait] }
states:
  ⟦trap⟧a:
    triggers: { manual: }
    transitions: [{ to: b, description: Done. }]
  ⟦trap⟧b: { transitions: [{ to: a, description: Again. }] }
`},
	{"a trap of a state whose edges cannot be taken", `
instructions: Help.
states:
  ⟦trap⟧a:
    triggers: { manual: }
    tools: { forbid: [archmax_wait, archmax_advance] }
    transitions: [{ to: b, description: Done. }]
  b: { triggers: { cron: } }
`},
	{"a trap of automated states, which is a loop too", `
instructions: Help.
states:
  ⟦trap⟧⟦unbounded-loop⟧a:
    type: code
    script: scripts/check.js
    triggers: { manual: }
    transitions: [{ to: a, description: Again. }]
`},
	{"a refine loop without a bound", `
instructions: Help.
states:
  draft:
    triggers: { manual: }
    transitions: [{ to: judge, description: Written. }]
  ⟦unbounded-loop⟧judge:
    type: grader
    instructions: Is it right?
    transitions:
      - { to: done, description: Good. }
      - { to: draft, description: Not good., type: refine }
  done:
`},
	{"two loops that share a state are two findings", `
instructions: Help.
states:
  draft:
    triggers: { manual: }
    instructions: Write.
    transitions: [{ to: judge, description: Written. }, { to: check, description: Computed. }]
  ⟦unbounded-loop⟧judge:
    type: grader
    instructions: Is it right?
    transitions: [{ to: draft, description: Not good. }]
  ⟦unbounded-loop⟧check:
    type: code
    script: scripts/check.js
    transitions: [{ to: draft, description: Not good. }]
`},
	{"a loop over on_error", `
instructions: Help.
states:
  ⟦unbounded-loop⟧check:
    type: code
    script: scripts/check.js
    triggers: { manual: }
    on_error: check
`},
	{"a guard that no start guarantees", `
instructions: Help.
states:
  a:
    triggers: { manual: }
    tools: { allow: [{ tool: write_file, paths: ⟦loose-guard⟧"orders/${{order_id}}/**" }] }
`},
	{"a guard that one of two triggers guarantees", `
instructions: Help.
states:
  a:
    triggers: { manual: , form: { requires: [order_id] } }
    tools:
      forbid:
        - tool: lookup
          args:
            id:
              - x
              - ⟦loose-guard⟧"${{order_id}}"
      allow: [lookup]
`},
	{"a guard that the state's own requires does not guarantee", `
instructions: Help.
states:
  a:
    triggers: { manual: }
    requires: [order_id]
    tools: { allow: [{ tool: lookup, args: { id: [⟦loose-guard⟧"${{order_id}}"] } }] }
    transitions: [{ to: b, description: Done. }]
  b:
    tools: { allow: [{ tool: lookup, args: { id: "${{order_id}}" } }] }
`},
	{"a guard that on_error leads around", `
instructions: Help.
states:
  a:
    triggers: { manual: }
    requires: [order_id]
    on_error: b
    transitions: [{ to: b, description: Done. }]
  b:
    tools: { allow: [{ tool: lookup, args: { id: ⟦loose-guard⟧"${{order_id}}" } }] }
`},
	{"a guard that one of two paths guarantees", `
instructions: Help.
states:
  a:
    triggers: { manual: }
    instructions: Choose.
    transitions: [{ to: b, description: With a number. }, { to: c, description: Without. }]
  b:
    requires: [order_id]
    transitions: [{ to: c, description: Done. }]
  c:
    tools: { allow: [{ tool: lookup, args: { id: ⟦loose-guard⟧"${{order_id.0}}" } }] }
`},
	{"a guard in the root's lists", `
instructions: Help.
tools:
  allow_always: [{ tool: lookup, args: { id: ⟦loose-guard⟧"${{order_id}}" } }]
  forbid_always: [{ tool: write_file, paths: ⟦loose-guard⟧"orders/${{order_id}}" }]
states:
  a:
    triggers: { manual: }
    requires: [order_id]
    transitions: [{ to: b, description: Done. }]
  b:
`},
	{"nothing is said of a machine whose guards and loops are bound", `
instructions: Help.
tools:
  allow_always: [{ tool: lookup, args: { id: "${{order_id}}" } }]
states:
  a:
    triggers: { manual: { requires: [{ name: order_id, type: string }] }, form: { requires: [order_id] } }
    transitions: [{ to: b, description: Done. }]
    requires: [total]
    on_error: error
  b:
    type: grader
    instructions: Is it right?
    budget: { maxVisits: 3 }
    tools: { allow: [{ tool: read_file, paths: "${{trigger}}/${{total}}" }] }
    transitions: [{ to: a, description: No. }, { to: check, description: Yes. }]
  check:
    type: code
    script: scripts/check.js
    transitions: [{ to: review, description: Checked. }]
  review:
    type: human
    instructions: Approve?
    transitions: [{ to: check, description: Again., type: refine }, { to: done, description: Fine. }]
  done:
  error:
`},
	{"nothing is said of a trap that a code state leaves without a call", `
instructions: Help.
states:
  a:
    type: code
    script: scripts/check.js
    triggers: { manual: }
    tools: { forbid: [archmax_advance] }
    transitions: [{ to: b, description: Done. }]
  b:
`},
}

func TestGraphsOfStates(t *testing.T) { plain().run(t, graphRows) }

func TestFindingsAboutTheGraphNameThePath(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"loop", `
instructions: Help.
states:
  draft: { triggers: { manual: }, transitions: [{ to: check, description: Written. }] }
  check: { type: code, script: scripts/check.js, transitions: [{ to: judge, description: Checked. }] }
  judge: { type: grader, instructions: Is it good., transitions: [{ to: draft, description: No. }] }
`, "check -> judge -> draft -> check"},
		{"trap", `
instructions: Help.
tools: { forbid_always: [archmax_wait] }
states:
  a: { triggers: { manual: }, transitions: [{ to: b, description: Done. }] }
  b: { transitions: [{ to: b, description: Again. }] }
`, "a -> b -> b"},
		{"guard", `
instructions: Help.
states:
  a: { triggers: { manual: }, transitions: [{ to: b, description: Done. }] }
  b: { tools: { allow: [{ tool: lookup, args: { id: "${{x}}" } }] } }
`, "a -> b"},
		{"unreachable", `
instructions: Help.
states:
  a: { triggers: { manual: } }
  b: { transitions: [{ to: c, description: Done. }] }
  c:
`, "b -> c"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			results, err := Workspace(plain().input(tt.src[1:]), "refund")
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range results[0].Diagnostics {
				if strings.Contains(d.Message, tt.want) {
					return
				}
			}
			t.Errorf("no finding names %q: %v", tt.want, results[0].Diagnostics)
		})
	}
}

func TestAMisspeltEdgeIsOneFinding(t *testing.T) {
	plain().wantMarked(t, `instructions: Help.
tools: { forbid_always: [archmax_wait] }
states:
  a:
    triggers: { manual: }
    transitions: [{ to: ⟦unknown-state⟧reveiw, description: Done. }]
  review: { transitions: [{ to: done, description: Fine. }] }
  done:
`)
}
