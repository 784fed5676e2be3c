package schema

import "github.com/archmax-ai/archmax/internal/spec"

// Workflow is the schema of workflow.yaml (language.md).
func Workflow() *Schema {
	s := mapping(lines("One workflow: a process written as a state machine. A language model does the work inside",
		"each state; the machine decides what the model may see, what it may do and where it may go."),
		key("title", text("Label for people; heads the workflow's part of the prompt, nothing else.")),
		key("instructions", words("Standing direction, sent on every model call.")),
		key("disabled", &Schema{Description: "true: no new turns.", Type: []string{"boolean", "null"}}),
		key("runtime", mapping("The runtime the file is written for.",
			key("engine", &Schema{Description: "The engine.", Const: "archmax-harness", Default: "archmax-harness"}),
			key("version", &Schema{Description: "The version of the engine's contract.", Enum: []any{"1", "2", 1, 2}, Default: "1"}),
		)),
		key("settings", settings()),
		key("tests", testSettings()),
		key("tools", mapping("Tools of the whole workflow. A tool is reachable only where a list grants it; deny beats allow.",
			key("allow_always", list("Tools granted in every state.", ref("toolGrant"))),
			key("forbid_always", list("Tools denied in every state, in child sessions too; no state can widen it.", ref("toolDenial"))),
		)),
		key("skills", mapping("Skill bundles of the whole workflow, by the names of their directories under skills/.",
			key("allow_always", list("Bundles enabled in every state.", ref("skill"))),
			key("forbid_always", list("Bundles denied in every state.", ref("skill"))),
		)),
		key("mounts", mapping("Mounts of the whole workflow, by their names in the workspace's mount table.",
			key("allow_always", list("Mounts enabled in every state.", ref("mountGrant"))),
			key("forbid_always", list("Mounts denied in every state.", ref("mount"))),
		)),
		key("extensions", mapping("What the workflow adds to the language.",
			key("hooks", &Schema{
				Description: "Custom hook kinds; each needs an executor in archmax.yaml (hook_executors).", Type: "array", UniqueItems: true,
				Items: &Schema{Type: "string", Pattern: `\S`, Not: &Schema{Enum: []any{"script", "rubric", "max_iterations"}}},
			}),
		)),
		key("metadata", ref("metadata")),
		must("states", &Schema{
			Description: "The states of the machine, by slug. At least one declares a trigger.", Type: "object", MinProperties: 1,
			PropertyNames:        matching(slugPattern, "A state's slug: lower-case letters, digits and single hyphens."),
			AdditionalProperties: ref("state"),
		}),
	)
	s.Dialect, s.Title = Dialect, "archmax workflow.yaml"
	s.Defs = Keys{
		key("state", state()),
		key("edge", edge()),
		key("trigger", trigger()),
		key("entry", entry()),
		key("toolGrant", toolEntry(false)),
		key("toolDenial", toolEntry(true)),
		key("globs", globs()),
		key("skill", matching(`^[^\s/\\*?\[\]{}]([^/\\*?\[\]{}]*[^\s/\\*?\[\]{}])?$`, "A bundle's directory name under skills/, never a path or a glob.")),
		key("mount", matching(`^[^\\*?\[\]{}]*[^/\\*?\[\]{}\s][^\\*?\[\]{}]*$`, "A mount's name in the workspace's mount table, such as reference or catalogs/eu.")),
		key("mountGrant", either("A mount to enable; a bare name may be read.",
			ref("mount"),
			mapping("", must("mount", ref("mount")), key("access", oneOf("What the state may do with it; a grant reads unless it says read_write.", "read", "read_write"))),
		)),
		key("beforeHook", hook(false)),
		key("afterHook", hook(true)),
		key("metadata", &Schema{Description: "Notes of your own: never read, never hashed, never in the prompt.", Type: []string{"object", "null"}}),
	}
	return s
}

func settings() *Schema {
	return mapping("Bounds and choices of the whole workflow.",
		key("model", words("The model's id. It outranks the environment and archmax.yaml.")),
		key("timeoutMs", withDefault(15000, integer(1, "Wall-clock bound of one script evaluation, in milliseconds."))),
		key("memoryLimitBytes", withDefault(64<<20, integer(1, "Memory of the script engine, in bytes."))),
		key("maxPtcCalls", &Schema{Description: "Tool calls one script scope may make; null: no bound.", Type: []string{"integer", "null"}, Minimum: new(int), Default: 256}),
		key("maxResultChars", withDefault(32000, integer(1, "A tool result longer than this is offloaded to a file."))),
		key("prompt_cache", mapping("Ask the provider to cache the prompt.",
			key("enabled", withDefault(true, boolean("false turns it off."))),
			key("ttl", oneOf("How long the provider keeps it.", "5m", "1h")),
		)),
		key("context", mapping("When to compact the history.",
			key("maxTokens", integer(1, "Compact when the request would be longer, in tokens.")),
			key("keepMessages", integer(1, "Newest messages that stay as they are.")),
		)),
	)
}

func testSettings() *Schema {
	return mapping("How the workflow's cases run (tests/**/*.test.yaml).",
		key("maxConcurrency", integer(1, "Cases at a time.")),
		key("caseTimeoutMs", withDefault(120000, integer(1, "Wall-clock bound of one case, in milliseconds."))),
		key("hostTools", withDefault("mock", oneOf("Whether a host tool that no mock answers is called for real.", "mock", "real"))),
		key("judge", mapping("The model that scores `grade` assertions.",
			key("model", words("Its id.")),
			key("modelOptions", mapping("Its options.",
				key("temperature", number("Sampling temperature.")),
				key("maxTokens", integer(1, "Most tokens of one answer.")),
			)),
		)),
	)
}

func withDefault(v any, s *Schema) *Schema {
	s.Default = v
	return s
}

func edge() *Schema {
	return mapping("A transition to another state.",
		must("to", words("The slug of the state it leads to. Two edges of a state may not share it.")),
		must("description", words("All the agent knows about where the edge leads, so it says when to take it.")),
		key("type", withDefault("none", oneOf("A label for a person who decides; at most one edge of each but none.", "approve", "reject", "refine", "none"))),
	)
}

// returned is a signature entry whose name the runtime does not keep for itself.
func returned() *Schema {
	taken := &Schema{Enum: []any{"trigger", "title", "note"}}
	return &Schema{
		AllOf: []*Schema{ref("entry")},
		Not: &Schema{AnyOf: []*Schema{
			taken,
			{Type: "object", Properties: Keys{key("name", taken)}, Required: []string{"name"}},
		}},
	}
}

func trigger() *Schema {
	s := mapping("A named entry to the machine, at this state. Null declares it bare.",
		key("session", matching(spec.DottedPattern, "Dotted path over the firing's variables that holds the session id, such as triggers.-1.conversationId.")),
		key("message", &Schema{
			Description: "Dotted path to the firing's words, used when an arrival carries none; false: firings carry no message.",
			AnyOf:       []*Schema{{Type: "string", Pattern: spec.DottedPattern}, {Const: false}},
		}),
		key("connection", words("Preserved for hosts.")),
		key("description", text("For a caller: a delegating model, an MCP client, a form. The session's own model never sees it.")),
		key("requires", list("Variables a firing must bring.", ref("entry"))),
		key("returns", list("Variables the turn gives back. Not trigger, title or note.", returned())),
		Key{Name: "entry"}, Key{Name: "name"},
	)
	s.Type, s.AdditionalProperties = []string{"object", "null"}, nil
	return s
}

// globs are the patterns of one guard.
func globs() *Schema {
	return either("A glob, or a list of globs of which one must match: * within a segment, ** across, ?, {a,b}, [a-z]. ${{name}} is a session variable.",
		&Schema{Type: "string"}, &Schema{Type: "array", MinItems: 1, Items: &Schema{Type: "string"}})
}

// toolEntry is an entry of a tools list. `*` stands for every tool but the
// control tools, in a denial only.
func toolEntry(denial bool) *Schema {
	name := matching(`^[^*?\[\]{} \t\r\n\\]+$`, "A tool's exact name.")
	what := "A tool to grant: its name, or the name with guards."
	if denial {
		name = matching(`^(\*|[^*?\[\]{} \t\r\n\\]+)$`, "A tool's exact name, or * for every tool but the control tools.")
		what = "A tool to deny: its name, or the name with guards."
	}
	name.Not = &Schema{Enum: []any{"task"}}
	name.If, name.Then = &Schema{Pattern: "^archmax_workflow_"}, &Schema{Pattern: `^archmax_workflow_[a-z0-9]+(-[a-z0-9]+)*$`}
	return either(what,
		name,
		mapping("",
			must("tool", name),
			key("args", &Schema{
				Description: "Guards on arguments, by name (dotted for nested); all must match for a grant.", Type: "object", MinProperties: 1,
				PropertyNames: &Schema{Pattern: `\S`}, AdditionalProperties: ref("globs"),
			}),
			key("paths", described("globs", "Guards on every argument that the tool declares as a path: a grant needs all to match, a denial any.")),
			key("connection", text("Preserved for hosts.")),
			key("source", text("Preserved for hosts.")),
		),
	)
}

// hook is one lifecycle hook: a script, a rubric, or a custom kind.
func hook(after bool) *Schema {
	rubric := Keys{
		must("instructions", words("What the grader model holds the work against.")),
		key("model", words("The grader's model.")),
		key("metadata", ref("metadata")),
	}
	keys := Keys{
		key("script", words("A .js file inside the workflow's hooks/.")),
	}
	s := &Schema{Type: "object", MinProperties: 1}
	if after {
		tries := integer(0, "How often the hook may ask for another try.")
		tries.Default = 0
		rubric = append(rubric, key("max_iterations", tries))
		keys = append(keys, key("rubric", mapping("A verdict by the grader model.", rubric...)), key("max_iterations", tries))
		s.Description = "A gate on leaving, or completing, the state: one kind (script, rubric, or one of extensions.hooks), perhaps with max_iterations."
		s.If = &Schema{Required: []string{"max_iterations"}}
		s.Then = &Schema{MinProperties: 2, MaxProperties: 2, Not: &Schema{Required: []string{"rubric"}}}
		s.Else = &Schema{MaxProperties: 1}
	} else {
		never := &Schema{Description: "Not here: only an after hook can ask for another try.", Not: anything}
		rubric = append(rubric, key("max_iterations", never))
		keys = append(keys, key("rubric", mapping("A verdict by the grader model.", rubric...)), key("max_iterations", never))
		s.Description = "A gate on entering the state: one kind (script, rubric, or one of extensions.hooks)."
		s.MaxProperties = 1
	}
	s.Properties = keys
	return s
}
