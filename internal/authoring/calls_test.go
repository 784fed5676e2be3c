package authoring

import "testing"

// asking is a workflow with an agent state that may wait, two human states and
// an end.
const asking = `instructions: Help.
states:
  ask:
    triggers: { manual: }
    instructions: Ask.
    budget: { maxParks: 1 }
    on_error: second
    transitions: [{ to: first, description: It is known. }, { to: done, description: Nothing is to be decided. }]
  first: { type: human, instructions: "Go on?", transitions: [{ to: second, type: approve, description: It is. }, { to: ask, type: refine, description: Again. }] }
  second: { type: human, instructions: "Really?", transitions: [{ to: done, type: approve, description: It is. }] }
  done: { instructions: Answer. }
`

// Each row is a statement of the skill's "How many calls": the cassette has just
// the calls that it names, so one more or one fewer would fail the case or leave
// a warning.
func TestTheModelIsCalledAsOftenAsTheSkillSays(t *testing.T) {
	for _, tt := range []struct{ name, calls, steps string }{
		{
			"words and a wait in one message: no call after the park",
			`[{ state: ask, text: "What?", tool_calls: [{ name: archmax_wait, args: { reason: x } }] }]`,
			`[{ send: hi }, { parked: input }]`,
		},
		{
			"a wait in silence: one call after the park",
			`[{ state: ask, tool_calls: [{ name: archmax_wait, args: { reason: x } }] }, { state: ask, text: "What?" }]`,
			`[{ send: hi }, { parked: input }]`,
		},
		{
			"words before the last message do not count for a wait after it",
			`[{ state: ask, text: Hello. }, { state: ask, tool_calls: [{ name: archmax_wait, args: { reason: x } }] }, { state: ask, text: "What?" }]`,
			`[{ send: hi }, { succeeded: true }, { send: well }, { parked: input }]`,
		},
		{
			"an advance into a human state, with words or without: one call there",
			`[{ state: ask, text: Soon., tool_calls: [{ name: archmax_advance, args: { to: first, reason: x } }] }, { state: first, text: Wait. }]`,
			`[{ send: hi }, { parked: { channel: decision, state: first } }]`,
		},
		{
			"a decision into another human state: one call there",
			`[{ state: ask, tool_calls: [{ name: archmax_advance, args: { to: first, reason: x } }] }, { state: first, text: Wait. },
    { state: second, text: Once more. }, { state: done, text: Done. }]`,
			`[{ send: hi }, { decide: { to: second } }, { parked: { channel: decision, state: second } }, { decide: { to: done } }, { succeeded: true }]`,
		},
		{
			"an on_error into a human state: one call there",
			`[{ state: ask, text: "What?", tool_calls: [{ name: archmax_wait, args: { reason: x } }] },
    { state: ask, text: "What?", tool_calls: [{ name: archmax_wait, args: { reason: x } }] }, { state: second, text: I cannot. }]`,
			`[{ send: hi }, { deliver: { trigger: manual, message: well } }, { parked: { channel: decision, state: second } }]`,
		},
		{
			"a message to a session that awaits a decision: one call, and the decision stays due",
			`[{ state: ask, tool_calls: [{ name: archmax_advance, args: { to: first, reason: x } }] }, { state: first, text: Wait. }, { state: first, text: Not yet. }]`,
			`[{ send: hi }, { send: "Is it decided?" }, { parked: { channel: decision, state: first } }]`,
		},
		{
			"an answer with calls is followed by another, in a terminal state too",
			`[{ state: ask, tool_calls: [{ name: archmax_advance, args: { to: done, reason: x } }] },
    { state: done, tool_calls: [{ name: archmax_set_variables, args: { variables: { a: 1 } } }] }, { state: done, text: Done. }]`,
			`[{ send: hi }, { succeeded: true }, { variables: { expect: { a: 1 } } }]`,
		},
		{
			"text alone completes the turn where it is, and the next message goes on there",
			`[{ state: ask, text: Hello. }, { state: ask, tool_calls: [{ name: archmax_advance, args: { to: done, reason: x } }] }, { state: done, text: Done. }]`,
			`[{ send: hi }, { succeeded: true }, { noTraversal: true }, { send: well }, { reachedState: done }]`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			suiteOf(t, []File{
				{"workflows/asking/workflow.yaml", []byte(asking)},
				{"workflows/asking/tests/x.test.yaml", []byte("title: x\ndescription: x\nmodel:\n  calls: " + tt.calls + "\nsteps: " + tt.steps + "\n")},
			}, "asking", 1)
		})
	}
}

// Returns and guards as the skill describes them.
func TestReturnsAndGuardsAreHeldWhereTheSkillSays(t *testing.T) {
	const workflow = `instructions: Help.
states:
  ask:
    triggers: { manual: { returns: [{ name: due, type: date, minimum: today }, note_text] } }
    instructions: Ask.
    tools:
      allow:
        - { tool: write_file, args: { overwrite: "true", content: ["12", "x*"] } }
        - { tool: archmax_set_variables, args: { variables.due: "*" } }
    transitions: [{ to: done, description: x }]
  done:
`
	for _, tt := range []struct{ name, calls, steps string }{
		{
			"returns are not checked when text ends the turn before an end",
			`[{ state: ask, text: Hello. }]`, `[{ send: hi }, { succeeded: true }]`,
		},
		{
			"all of them are when the session completes at an end",
			`[{ state: ask, tool_calls: [{ name: archmax_advance, args: { to: done, reason: x } }] }, { state: done, text: Done. }]`,
			`[{ send: hi }, { rejected: /due/ }]`,
		},
		{
			"a typed one is when it is set, and today is the day of the check",
			`[{ state: ask, tool_calls: [{ name: archmax_set_variables, args: { variables: { due: "2026-01-31" } } }] }, { state: ask, last: nothing was set, text: x },
    { state: ask, tool_calls: [{ name: archmax_set_variables, args: { variables: { due: "2026-02-01" } } }] }, { state: ask, last: "Set: due", text: x }]`,
			`[{ send: hi }, { succeeded: true }, { send: today }, { variables: { expect: { due: "2026-02-01" } } }]`,
		},
		{
			"a guard matches a boolean by its JSON text, and one of a list is enough",
			`[{ state: ask, tool_calls: [{ name: write_file, args: { file_path: a.md, content: xyz, overwrite: true } }] }, { state: ask, text: x }]`,
			`[{ send: hi }, { file: { path: a.md, equals: xyz } }]`,
		},
		{
			"an absent argument satisfies no grant",
			`[{ state: ask, tool_calls: [{ name: write_file, args: { file_path: a.md, content: xyz } }] }, { state: ask, text: x }]`,
			`[{ send: hi }, { blockedTool: { name: write_file, rule: tool.not-allowed } }]`,
		},
		{
			"a dotted name goes inside, and what is not there satisfies no grant",
			`[{ state: ask, tool_calls: [{ name: archmax_set_variables, args: { variables: { other: 1 } } }] }, { state: ask, text: x }]`,
			`[{ send: hi }, { blockedTool: { name: archmax_set_variables, rule: tool.not-allowed } }]`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			suiteOf(t, []File{
				{"workflows/asking/workflow.yaml", []byte(workflow)},
				{"workflows/asking/tests/x.test.yaml", []byte("title: x\ndescription: x\nclock: 2026-02-01\nmodel:\n  calls: " + tt.calls + "\nsteps: " + tt.steps + "\n")},
			}, "asking", 1)
		})
	}
}
