package schema

import "github.com/archmax-ai/archmax/internal/spec"

// Case is the schema of a *.test.yaml (cases.md).
func Case() *Schema {
	s := mapping("One case: one conversation on one session, held against what must come of it.",
		must("title", &Schema{Description: "What the case is about: one line of at most 60 characters.", Type: "string", Pattern: `\S`}),
		must("description", &Schema{Description: "What it shows, in at most 200 characters.", Type: "string", Pattern: `\S`}),
		key("skip", words("Why the case does not run; it is reported skipped.")),
		key("trigger", mapping("The trigger that every turn of the case runs under.", must("id", words("Its id.")))),
		key("variables", seeds("Variables, seeded and locked on every turn.", &Schema{})),
		key("workspace", table("Files of the session, by path: a string verbatim, { from: <path below tests/> } copied, any other value as JSON.", &Schema{
			If:   &Schema{Type: "object", Required: []string{"from"}, MaxProperties: 1},
			Then: &Schema{Properties: Keys{key("from", words("A path below tests/."))}},
		})),
		key("files", seeds("Files handed into the first turn, by the variable that holds the path.", words("A path below tests/."))),
		key("mocks", list("Answers in place of host tools; the first match wins.", mock())),
		key("clock", matching(`^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}([.,][0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2}))?$`,
			"What now is: an ISO date (midnight UTC), or a date-time with an offset.")),
		key("model", either("The model's answers: a cassette in place, or the path of one, relative to tests/.", words(""), ref("cassette"))),
		must("steps", &Schema{Description: "Actions and assertions in turn, one key each.", Type: "array", MinItems: 1, Items: ref("step")}),
	)
	s.Dialect, s.Title = Dialect, "archmax case (*.test.yaml)"
	s.Defs = Keys{
		key("step", step()),
		key("cassette", cassette()),
		key("matcher", &Schema{Description: "Mappings match in part at every depth, lists element by element, \"/pattern/flags\" as RE2, other values strictly."}),
		key("texts", either("A text, or a list of texts; /pattern/flags is RE2.", words(""), &Schema{Type: "array", MinItems: 1, Items: words("")})),
	}
	return s
}

func mock() *Schema {
	m := mapping("",
		must("tool", words("The tool's name.")),
		key("whenInput", &Schema{Description: "Arguments the call must have, a matcher.", Type: "object"}),
		key("result", &Schema{Description: "What the tool answers."}),
		key("error", words("The error it answers.")),
		key("results", &Schema{Description: "Answers in turn.", Type: "array", MinItems: 1}),
	)
	m.OneOf = []*Schema{{Required: []string{"result"}}, {Required: []string{"error"}}, {Required: []string{"results"}}}
	return m
}

// step is one entry of `steps`: an action or an assertion, one key each.
func step() *Schema {
	channel := &Schema{Enum: []any{true, "decision", "input"}}
	yes := func(description string) *Schema { return &Schema{Description: description, Const: true} }
	tool := func(description string, more ...Key) *Schema {
		return mapping(description, append([]Key{
			must("name", words("The tool's name, or /re/.")),
			key("input", described("matcher", "Arguments, as the transcript records them.")),
		}, more...)...)
	}
	includes := key("includes", described("texts", "What must be in it."))
	excludes := key("excludes", described("texts", "What must not."))
	s := mapping("An action, or an assertion on the nearest action above it.",
		key("send", text("Action: a message.")),
		key("decide", mapping("Action: takes an edge of the human state.",
			must("to", words("The edge's target.")), key("comment", text("What the person says.")))),
		key("deliver", mapping("Action: resumes a session that waits.",
			must("trigger", words("The trigger's id.")), key("variables", seeds("What the firing brings.", &Schema{})), key("message", text("Its words.")))),
		key("succeeded", yes("The session completed.")),
		key("parked", either("The session parked.", channel, mapping("",
			key("channel", oneOf("What it waits for.", "decision", "input")), key("state", words("Where."))))),
		key("raised", either("The session failed by archmax_raise.", &Schema{Const: true}, words("The code."), mapping("",
			key("code", words("The code.")), key("reason", words("The reason."))))),
		key("rejected", either("Governance ended the session.", &Schema{Const: true}, words("A text in the reason, or /re/."))),
		key("reachedState", words("A committed step of the trail, its opening aside, led there.")),
		key("noTraversal", yes("No edge was taken.")),
		key("triggerArrival", words("The turn arrived under this trigger.")),
		key("trail", mapping("Counts matching steps of the trail.",
			key("to", words("The state.")), key("kind", oneOf("The kind of step.", "trigger", "agent", "human", "grader", "code", "sub-workflow", "reset", "on_error")), key("reason", words("The reason, or /re/.")), must("count", integer(0, "How many.")))),
		key("variables", expectVariables()),
		key("reply", some(mapping("Everything the agent has said in the session.", includes, excludes))),
		key("calledTool", tool("The tool was called.")),
		key("notCalledTool", tool("The tool was not called.")),
		key("blockedTool", tool("A call was refused.", key("rule", words("The rule that refused it, or /re/.")))),
		key("usedNoTools", yes("No tool was called, control tools aside.")),
		key("ranWorkflow", mapping("A workflow was called.",
			must("workflow", words("Its slug.")), key("status", words("How it ended.")), key("count", integer(0, "How often.")))),
		key("file", mapping("A file of the session.",
			must("path", words("Its path.")), includes, excludes,
			key("equals", text("Its whole text.")), key("json", described("matcher", "Its content, as JSON.")))),
		key("usage", some(mapping("Bounds on what the session cost.",
			key("maxInputTokens", integer(0, "")), key("maxOutputTokens", integer(0, "")), key("maxCostUsd", number("")), key("maxModelCalls", integer(0, ""))))),
		key("grade", mapping("A judge model scores the turn.",
			must("closedQA", words("What the turn must fulfil.")), must("atLeast", score()))),
	)
	s.MinProperties, s.MaxProperties = 1, 1
	return s
}

// score is a number above 0, which every score reaches, and at most 1.
func score() *Schema {
	zero, one := 0, 1
	return &Schema{Description: "The least score: above 0, at most 1.", Type: "number", ExclusiveMinimum: &zero, Maximum: &one}
}

// some is a mapping that says nothing when it is empty.
func some(s *Schema) *Schema {
	s.MinProperties = 1
	return s
}

// seeds are values by the names of variables.
func seeds(description string, value *Schema) *Schema {
	s := table(description, value)
	s.PropertyNames = matching(variablePattern, "A variable's name.")
	s.PropertyNames.Not = &Schema{Const: "trigger"}
	return s
}

func expectVariables() *Schema {
	s := mapping("Holds the session's variables against a matcher.",
		must("expect", described("matcher", "Names and the values they must have; with path, the value there.")),
		key("path", matching(spec.DottedPattern, "A dotted path into the variables, such as order.items.-1.id.")),
		key("locked", boolean("Held against every name in expect.")))
	s.If = &Schema{Required: []string{"path"}}
	s.Else = &Schema{Properties: Keys{key("expect", &Schema{Type: "object", MinProperties: 1})}}
	return s
}

// cassette is model answers written in place (model.md, "Cassettes").
func cassette() *Schema {
	one := mapping("A call: checks on what is asked, then the answer or the fault.",
		key("role", oneOf("Check: whose call it is.", "agent", "grader", "judge", "summary")),
		key("session", matching(`^(~[0-9]+)*$`, "Check: a child's suffix, such as ~1.")),
		key("state", text("Check: the state that asks.")),
		key("tools", list("Check: the tools that are offered.", words("A tool's name."))),
		key("last", words("Check: what the last message holds; /pattern/flags is RE2.")),
		key("messages", integer(0, "A recorded fact: the number of messages.")),
		key("fingerprint", words("A recorded fact: the request's fingerprint.")),
		key("model", words("A recorded fact: the model that answered.")),
		key("text", text("What the model says.")),
		key("reasoning", text("What it thought.")),
		key("tool_calls", list("What it calls.", mapping("",
			must("name", words("The tool.")),
			key("args", &Schema{Description: "The arguments, or a text that is sent as it is.", Type: []string{"object", "string", "null"}}),
			key("id", words("The call's id.")),
		))),
		key("finish", words("Why the answer ended.")),
		key("usage", mapping("Tokens of the call.",
			key("input", integer(0, "")), key("output", integer(0, "")), key("cache_read", integer(0, "")), key("cache_write", integer(0, "")))),
		key("error", mapping("A fault, given after the text.",
			key("status", &Schema{Description: "An HTTP status; none: a broken stream.", Type: "integer"}),
			key("retry_after", number("Seconds.")), key("message", text("")), key("final", boolean("Not retried again.")))),
	)
	one.AnyOf = []*Schema{{Required: []string{"text"}}, {Required: []string{"tool_calls"}}, {Required: []string{"error"}}}
	one.Not = &Schema{Required: []string{"error", "tool_calls"}}
	return mapping("Model answers as a file.",
		key("version", &Schema{Const: 1}),
		key("strict", boolean("Fingerprints are compared.")),
		must("calls", list("The model's answers, in order.", one)),
	)
}
