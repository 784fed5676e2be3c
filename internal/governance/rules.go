package governance

// The stable ids of the rules, in the order of the pipeline (governance.md).
// They are printed in refusals, events and JSON, and never change.
const (
	RuleGovernancePlane    = "zone.governance-plane"
	RuleSkillOnly          = "script.skill-only"
	RuleReplyOnly          = "tool.reply-only"
	RuleEval               = "tool.eval"
	RuleUnknownTool        = "tool.unknown"
	RuleEscapes            = "zone.escapes"
	RuleReadOnly           = "zone.read-only"
	RuleRuntimeInternal    = "zone.runtime-internal"
	RuleRuntimeManaged     = "zone.runtime-managed"
	RuleMountForbidden     = "mount.forbidden"
	RuleMountNotAllowed    = "mount.not-allowed"
	RuleMountReadOnly      = "mount.read-only"
	RuleSkillForbidden     = "skill.forbidden"
	RuleSkillNotAllowed    = "skill.not-allowed"
	RuleForbidden          = "tool.forbidden"
	RuleForbiddenHere      = "tool.forbidden-here"
	RulePolicyPrefix       = "policy."
	RuleScratchpad         = "tool.scratchpad"
	RuleOffloadRead        = "tool.offload-read"
	RuleAllowed            = "tool.allowed"
	RuleNotAllowed         = "tool.not-allowed"
	RuleUnresolvedVariable = "tool.unresolved-variable"

	RuleTransitionAllowed  = "transition.allowed"
	RuleTransitionRequires = "transition.requires"
	RuleTransitionNoEdge   = "transition.no-edge"
	RuleHookVeto           = "hook.veto"
	RuleHookCorrect        = "hook.correct"
	RuleHookError          = "hook.error"

	RuleEntryAllowed      = "entry.allowed"
	RuleEntryUnknown      = "entry.unknown-state"
	RuleCompletionAllowed = "completion.allowed"
)

// RuleInfo explains one rule. The policy rules share one row, whose ID is
// `policy.<name>`.
type RuleInfo struct {
	ID      string
	Meaning string // one line
}

// Rules lists every rule that Decide can answer with, in pipeline order.
func Rules() []RuleInfo {
	return []RuleInfo{
		{RuleGovernancePlane, "blocks any call on a path under workflows/, whoever makes it"},
		{RuleSkillOnly, "blocks archmax_run on anything that is not a script inside a skill bundle"},
		{RuleReplyOnly, "blocks every call of a reply-only turn: a parked session may speak, never act"},
		{RuleEval, "blocks the names `eval` (it is archmax_eval) and `task`"},
		{RuleUnknownTool, "answers a name that no registered tool has: not a tool, and no block"},
		{RuleEscapes, "blocks a path above the root, a path with a backslash or a NUL, and a path argument that is neither a path nor a list of paths"},
		{RuleReadOnly, "blocks a write or removal in a mount that the workspace serves read-only"},
		{RuleRuntimeInternal, "blocks any access to checkpoints/, artifacts/ and _specs/"},
		{RuleRuntimeManaged, "blocks a write or removal in large_tool_results/ and conversation_history/"},
		{RuleMountForbidden, "blocks a mount that a forbid list removes, the workflow's, an ancestor's or the state's"},
		{RuleMountNotAllowed, "blocks a governed mount that no list enables here, and files that no mount serves (.env*, .git)"},
		{RuleMountReadOnly, "blocks a write or removal in a mount that may only be read here"},
		{RuleSkillForbidden, "blocks a path in a bundle that a forbid list removes, the workflow's, an ancestor's or the state's"},
		{RuleSkillNotAllowed, "blocks a path in a bundle that the state does not enable"},
		{RuleForbidden, "blocks what tools.forbid_always denies, this workflow's or an ancestor's"},
		{RuleForbiddenHere, "blocks what the state's tools.forbid denies"},
		{RulePolicyPrefix + "<name>", "blocks what the workspace's policy rule <name> denies, or cannot judge"},
		{RuleScratchpad, "allows the always-on file tools under scratchpad/"},
		{RuleOffloadRead, "allows the always-on file tools to read large_tool_results/ and conversation_history/"},
		{RuleAllowed, "allows what the state's entries, the always-on list, the control tools or allow_always grant"},
		{RuleNotAllowed, "blocks what nothing grants in the state"},
		{RuleUnresolvedVariable, "blocks, and ends the state, when a guard needs a variable that does not resolve"},
		{RuleTransitionAllowed, "allows a move along a declared edge"},
		{RuleTransitionRequires, "blocks leaving a state while a variable of its `requires` is unset"},
		{RuleTransitionNoEdge, "blocks a move that the state has no edge for"},
		{RuleHookVeto, "blocks a move that a hook vetoes"},
		{RuleHookCorrect, "blocks a move that an after hook sends back for correction"},
		{RuleHookError, "blocks a move, and ends the state, when a hook fails"},
		{RuleEntryAllowed, "allows entering a declared state"},
		{RuleEntryUnknown, "blocks a state that the workflow does not declare"},
		{RuleCompletionAllowed, "allows a turn to end in a declared state"},
	}
}
