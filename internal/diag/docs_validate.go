package diag

var grantDocs = []Doc{
	{
		UnknownSkill, "a skill that the workspace does not have",
		"Skill lists name the directories of bundles: skills/<slug>/ with a SKILL.md. A misspelt grant opens nothing, a misspelt denial closes nothing.",
		"skills: { allow: [oders] }",
		"Correct the slug, or add the bundle.",
	},
	{
		UnknownMount, "a mount that the workspace does not have",
		"Mount lists name rows of the workspace's mount table: the defaults that exist, and `mounts` in archmax.yaml.",
		"mounts: { allow: [refrence] }",
		"Correct the name, or declare the mount in archmax.yaml.",
	},
	{
		RefusedGrant, "a grant that is refused anyway",
		"Every call that the entry would grant is blocked by a rule that no grant lifts: a protected place, a read-only mount, a mount or skill that the state does not have, a tool that the kind of state cannot have, or a `forbid_always`.",
		"tools:\n  allow:\n    - { tool: write_file, paths: \"artifacts/**\" }",
		"Remove the entry, or what stands in its way; the message names the rule.",
	},
	{
		RunPath, "archmax_run is granted outside the enabled bundles",
		"`archmax_run` runs scripts of skill bundles, and of those that the state enables only.",
		"tools:\n  allow:\n    - { tool: archmax_run, paths: \"scripts/*.js\" }",
		"Name a script of an enabled bundle: skills/orders/scripts/*.js.",
	},
	{
		BrokenWorkflow, "a call of a workflow that does not load",
		"A workflow with errors runs for nobody.",
		"tools: { allow: [archmax_workflow_refund] }",
		"Correct the errors of the workflow that is called.",
	},
	{
		NotDelegatable, "a call of a workflow without a `manual` trigger",
		"A calling workflow enters through the trigger `manual`.",
		"tools: { allow: [archmax_workflow_nightly] }",
		"Give a state of the called workflow `triggers: { manual: }`, or remove the call.",
	},
	{
		DelegationCycle, "workflows call each other in a circle",
		"The runtime refuses a call of a workflow that is already running above.",
		"# in workflows/refund\ntools: { allow: [archmax_workflow_refund] }",
		"Remove one of the calls.",
	},
	{
		DelegationDepth, "workflows call each other too deep",
		"A chain of calls may have so many levels: 3, or `sub_workflows.max_depth` in archmax.yaml.",
		"# a calls b, b calls c, c calls d, d calls e\ntools: { allow: [archmax_workflow_b] }",
		"Call fewer levels, or raise the bound.",
	},
	{
		CallsDisabled, "a call of a disabled workflow",
		"Every call of it is refused while it is disabled.",
		"tools: { allow: [archmax_workflow_paused] }",
		"Enable the workflow, or remove the call.",
	},
	{
		UnknownTool, "a grant that no tool has the name of",
		"A tool is built in, a command tool of archmax.yaml, or an MCP server's, named <server>__<action>. A grant of any other name opens nothing.",
		"tools: { allow: [lookup_custmer] }",
		"Correct the name, or declare the tool.",
	},
	{
		CoveredGrant, "a state grants what it forbids",
		"Deny beats allow, so the grant is of no use.",
		"tools: { allow: [crm__lookup], forbid: [crm__lookup] }",
		"Remove one of the two entries.",
	},
	{
		PartGrant, "a part of a grant is denied in every state",
		"The list promises more than the state has: `forbid_always` takes a part away.",
		"tools: { forbid_always: [{ tool: crm__export, args: { region: eu } }] }\nstates:\n  draft:\n    tools: { allow: [crm__export] }",
		"Narrow the grant, so that it says what is left.",
	},
	{
		InertGrant, "`allow_always` names a tool that is on in every state",
		"The entry grants nothing, and `allow_always` never narrows an always-on tool.",
		"tools: { allow_always: [read_file] }",
		"Remove it. A state's own entry narrows the tool there.",
	},
	{
		ScratchpadGrant, "a grant inside scratchpad/",
		"The file tools are always open under scratchpad/, so the entry governs nothing.",
		"tools:\n  allow:\n    - { tool: write_file, paths: \"scratchpad/**\" }",
		"Remove the glob.",
	},
	{
		GrantedTwice, "a skill or mount is granted at both levels",
		"The root's `allow_always` enables it in every state already.",
		"skills: { allow_always: [orders] }\nstates:\n  draft:\n    skills: { allow: [orders] }",
		"Remove one of the two entries.",
	},
	{
		IdleForbid, "a denial of what nothing grants",
		"Tools, skills and governed mounts are closed by default, so there is nothing to forbid. Often the name is misspelt.",
		"tools: { forbid: [crm__delte] }",
		"Correct the name, or remove the entry.",
	},
	{
		EmptyAllow, "an empty `allow` list",
		"A state's list adds to the root's and takes nothing away, so an empty one says nothing.",
		"tools: { allow: [] }",
		"Remove it. `forbid` takes something away.",
	},
	{
		NoSkillsBlock, "the workspace has skills, and the workflow's root no `skills` block",
		"Bundles are closed unless a list enables them, so a workflow that says nothing of them may lack what it was written for.",
		"states:\n  draft: { instructions: Use the order records. }",
		"Add `skills: { allow_always: [orders] }`, or `skills: {}` to say that there is nothing to enable everywhere.",
	},
	{
		NoMountsBlock, "the workspace has governed mounts, and the workflow's root no `mounts` block",
		"Governed mounts are closed unless a list enables them, so a workflow that says nothing of them may lack what it was written for.",
		"states:\n  draft: { instructions: Use the catalogue. }",
		"Add `mounts: { allow_always: [reference] }`, or `mounts: {}` to say that there is nothing to enable everywhere.",
	},
	{
		LooseGuard, "a guard refers to a variable that may be unset",
		"A guard that does not resolve matches nothing, and a call that hangs on it ends the state. No trigger's `requires`, and no `requires` of a state before, guarantees the variable on every path.",
		"tools:\n  allow:\n    - { tool: write_file, paths: \"refunds/${{order_id}}.md\" }",
		"Add the variable to the trigger's `requires`, or to those of a state that is left before.",
	},
}

var graphDocs = []Doc{
	{
		UnreachableState, "no path from a start reaches a state",
		"Sessions enter through triggers and move along edges and `on_error`. Nothing leads here.",
		"states:\n  draft: { triggers: { manual: } }\n  review: { instructions: … }",
		"Lead an edge to the state, give it a trigger, or remove it.",
	},
	{
		Trap, "a state from which a session can never come to rest",
		"No terminal state, human state or state that may wait can be reached from it.",
		"check:\n  type: code\n  script: scripts/check.js\n  transitions: [{ to: check, description: Not yet. }]",
		"Lead an edge out, or allow `archmax_wait` where it is forbidden.",
	},
	{
		UnboundedLoop, "a loop through automated states that no budget bounds",
		"Code and grader states move on without a person. A loop through one ends by its own choice or at the step limit.",
		"judge:\n  type: grader\n  transitions: [{ to: draft, description: Not good enough., type: refine }, …]",
		"Give a state on the loop `budget: { maxVisits: 3 }`.",
	},
}

var workspaceDocs = []Doc{
	{
		MountInvalid, "a mount cannot be served",
		"A mount has a name like the path it is served at, and the path of a directory or a regular file that can be read.",
		"mounts: { ../shared: { path: ./shared } }",
		"Correct the name or the path.",
	},
	{
		MountMissing, "a mount's path does not exist",
		"There is nothing to serve.",
		"mounts: { reference: { path: ./refrence } }",
		"Create it, or correct the path.",
	},
	{
		MountCollision, "a mount is served over something else",
		"A name may not lie over the session's own areas, workflows/ or another mount.",
		"mounts: { scratchpad: { path: ./notes } }",
		"Choose another name.",
	},
	{
		AuthoringExposed, "a mount would show what sessions must not see",
		"Neither workflows/, sessions/, archmax.yaml nor a .env may be reached through a mount.",
		"mounts: { all: { path: . } }",
		"Serve a directory that holds only what sessions may see.",
	},
	{
		SkillInvalid, "a bundle's SKILL.md is at fault",
		"SKILL.md starts with a block between --- lines that gives the skill's `name` and `description`.",
		"# Orders",
		"Start the file with the block.",
	},
	{
		SkillNameMismatch, "a skill's name is not its directory's",
		"The directory is the skill's identity; a different name in SKILL.md misleads whoever reads it.",
		"# in skills/orders/SKILL.md\nname: order",
		"Name it like the directory, or rename the directory.",
	},
}
