package explain

import "github.com/archmax-ai/archmax/internal/governance"

// ruleDoc completes a rule of governance.Rules, which says what it does.
type ruleDoc struct{ example, fix string }

// ruleDocs has a row for every rule.
var ruleDocs = map[string]ruleDoc{
	governance.RuleGovernancePlane: {
		`read_file { file_path: workflows/refund/workflow.yaml }`,
		"Nothing an agent or a script does reaches workflows/. Give it what it needs through a skill, a mount or the instructions.",
	},
	governance.RuleSkillOnly: {
		`archmax_run { file_path: scratchpad/job.js }`,
		"Run code with archmax_eval, or put the script into a skill bundle's scripts/ and enable the bundle.",
	},
	governance.RuleReplyOnly: {
		"grep, called while the session awaits a decision",
		"Decide the session, or deliver what it waits for; then the agent can act again.",
	},
	governance.RuleEval: {
		`eval { code: "1 + 1" }`,
		"Call archmax_eval for code, and archmax_workflow_<slug> for another workflow.",
	},
	governance.RuleUnknownTool: {
		`crm__lokup { email: … }`,
		"Correct the name; declare the tool in archmax.yaml if it is missing there.",
	},
	governance.RuleEscapes: {
		`read_file { file_path: ../secrets.txt }`,
		"Use a path below the session's root, with /.",
	},
	governance.RuleReadOnly: {
		`write_file { file_path: skills/orders/SKILL.md, … }`,
		"Write to scratchpad/, or set read_only: false on the mount in archmax.yaml.",
	},
	governance.RuleRuntimeInternal: {
		`read_file { file_path: artifacts/trail.json }`,
		"These folders are the runtime's. People read them with archmax sessions cat; keep work of the agent elsewhere.",
	},
	governance.RuleRuntimeManaged: {
		`remove_file { file_path: large_tool_results/c3.txt }`,
		"Offloaded results may be read only. Copy what is needed to scratchpad/.",
	},
	governance.RuleMountForbidden: {
		"mounts: { forbid: [reference] }, and read_file { file_path: reference/prices.csv }",
		"Take the mount out of the forbid list that the reason names, or do without it in this state.",
	},
	governance.RuleMountNotAllowed: {
		"a governed mount reference, and a state without mounts: { allow: [reference] }",
		"Add the mount to the state's mounts.allow, or to the root's allow_always.",
	},
	governance.RuleMountReadOnly: {
		"mounts: { allow: [exports] }, and write_file { file_path: exports/a.csv, … }",
		"Grant { mount: exports, access: read_write }; the mount itself must not be read_only.",
	},
	governance.RuleSkillForbidden: {
		"skills: { forbid: [letters] }, and read_file { file_path: skills/letters/SKILL.md }",
		"Take the bundle out of the forbid list that the reason names, or do without it in this state.",
	},
	governance.RuleSkillNotAllowed: {
		"read_file { file_path: skills/orders/SKILL.md } in a state without skills: { allow: [orders] }",
		"Add the bundle to the state's skills.allow, or to the root's allow_always.",
	},
	governance.RuleForbidden: {
		"tools: { forbid_always: [remove_file] }, and a call of remove_file",
		"No state can widen it. Remove the entry at the root of the workflow that the reason names, or guard it with args or paths.",
	},
	governance.RuleForbiddenHere: {
		"a state's tools: { forbid: [grep] }, and a call of grep there",
		"Remove the entry from the state, or leave the work to a state that may do it.",
	},
	policyID: {
		`policy: [{ name: eu-only, when: 'tool == "crm__lookup" && args.region != "eu"', deny: "Only EU." }]`,
		"Make a call that the rule permits, or change the rule in archmax.yaml. A rule blocks what it cannot judge: give the argument that it reads.",
	},
	governance.RuleScratchpad: {
		`write_file { file_path: scratchpad/notes.md, … }`,
		"Nothing to fix: scratchpad/ is free in every state.",
	},
	governance.RuleOffloadRead: {
		`read_file { file_path: large_tool_results/c3.txt }`,
		"Nothing to fix: long results are read back from there.",
	},
	governance.RuleAllowed: {
		"tools: { allow: [crm__lookup] }, and a call of crm__lookup",
		"Nothing to fix. To narrow it, guard the entry with args or paths.",
	},
	governance.RuleNotAllowed: {
		"a call of crm__lookup in a state that no list grants it to",
		"Add the tool to the state's tools.allow, or to the root's allow_always; or loosen the guard that the call does not meet.",
	},
	governance.RuleUnresolvedVariable: {
		`paths: "refunds/${{order_id}}.md", while order_id is not set`,
		"Make sure that the variable is set before the state is entered: list it in the requires of the state before, or of the trigger.",
	},
	governance.RuleTransitionAllowed: {
		"archmax_advance { to: lookup, … } along a declared edge",
		"Nothing to fix.",
	},
	governance.RuleTransitionRequires: {
		"requires: [order_id], and archmax_advance while order_id is not set",
		"Set the variable with archmax_set_variables first; say in the state's instructions that it must.",
	},
	governance.RuleTransitionNoEdge: {
		"archmax_advance { to: done, … } from a state without an edge to done",
		"Take one of the edges that the reason lists, or add the edge to the state's transitions.",
	},
	governance.RuleHookVeto: {
		`after: { script: hooks/gate.js }, and the script returns veto("no memo")`,
		"Do what the reason asks, then advance again; or change the hook.",
	},
	governance.RuleHookCorrect: {
		"after: { rubric: { instructions: …, max_iterations: 2 } }, and the grader asks for another try",
		"Mend the work as the reason says. Past max_iterations the correction is a veto.",
	},
	governance.RuleHookError: {
		"a hook that throws, is missing, or returns what is no verdict",
		"Mend the hook: return ok(), veto(reason) or correct(reason). Give the state an on_error for the time it fails.",
	},
	governance.RuleEntryAllowed: {
		"a trigger, a reset or a route enters a declared state",
		"Nothing to fix.",
	},
	governance.RuleEntryUnknown: {
		"a session in a state that the workflow, changed since, no longer declares",
		"Declare the state again, or start a new session.",
	},
	governance.RuleCompletionAllowed: {
		"the agent answers in a terminal state",
		"Nothing to fix.",
	},
}
