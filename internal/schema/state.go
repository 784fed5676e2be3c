package schema

import "slices"

// stateRow is one key of a state and the kinds it applies to.
type stateRow struct {
	Key
	kinds []string
}

var (
	allKinds = []string{"agent", "human", "code", "grader"}
	machines = []string{"agent", "code", "grader"} // everything but a person
)

// stateRows is the table of language.md, "State keys".
func stateRows() []stateRow {
	return []stateRow{
		{key("type", withDefault("agent", oneOf("What does the work: a model, a person, a script, or a judging model.", allKinds...))), allKinds},
		{key("title", text("Label for people; in no model call.")), allKinds},
		{key("summary", text("A sentence for people; in no model call.")), allKinds},
		{key("instructions", text("What to do here. For a human state the decision to present, for a grader its criteria: both required.")), []string{"agent", "human", "grader"}},
		{key("triggers", &Schema{
			Description: "Makes this a start state: the triggers that enter it, by id. `manual` is the default of the command line and of a calling workflow.",
			Type:        "object", PropertyNames: &Schema{Pattern: `^[^ \t\r\n]+$`}, AdditionalProperties: ref("trigger"),
		}), machines},
		{key("transitions", list("The edges out of the state. None: the state is terminal.", ref("edge"))), allKinds},
		{key("tools", mapping("Tools of this state.",
			key("allow", list("Tools granted here. An entry for an always-on tool narrows it.", ref("toolGrant"))),
			key("forbid", list("Tools denied here.", ref("toolDenial"))),
		)), machines},
		{key("skills", mapping("Skill bundles of this state.",
			key("allow", list("Bundles enabled here.", ref("skill"))),
			key("forbid", list("Bundles denied here.", ref("skill"))),
		)), machines},
		{key("mounts", mapping("Mounts of this state.",
			key("allow", list("Mounts enabled here.", ref("mountGrant"))),
			key("forbid", list("Mounts denied here.", ref("mount"))),
		)), machines},
		{key("requires", list("Variables that must be set before the state may be left.", matching(variablePattern, "A variable's name."))), machines},
		{key("model", words("The model's id for this state.")), []string{"agent", "grader"}},
		{key("budget", mapping("Bounds of the state; past one it fails (on_error).",
			key("maxTurns", integer(1, "Model calls since the state was last entered.")),
			key("timeoutMs", integer(1, "Milliseconds since it was entered, parked time excluded.")),
			key("maxParks", integer(1, "How often it may wait for input.")),
			key("maxVisits", integer(1, "How often one turn may enter it.")),
		)), machines},
		{key("on_error", words("The state to go to when this one fails. Without it the session is rejected.")), machines},
		{key("before", hooks("beforeHook", "Gates on entering the state: one hook, or a list that stops at the first refusal.")), []string{"agent"}},
		{key("after", hooks("afterHook", "Gates on leaving the state, or on completing a terminal one.")), []string{"agent"}},
		{key("script", matching(`\.m?js$`, "The script that is the state, inside the workflow's scripts/. Required.")), []string{"code"}},
		{key("approvers", text("Who decides, in words.")), []string{"human"}},
		{key("evidence", list("Files of the session that the decision rests on, shown to the person.", words("A path the agent could read."))), []string{"human"}},
		{key("metadata", ref("metadata")), allKinds},
	}
}

func hooks(def, description string) *Schema {
	return either(description, ref(def), &Schema{Type: "array", Items: ref(def)})
}

// state is a node of the machine: all keys, less those that its kind does not
// have.
func state() *Schema {
	rows := stateRows()
	var keys []Key
	for _, r := range rows {
		keys = append(keys, r.Key)
	}
	s := mapping("A state. Null is an empty terminal agent state.", keys...)
	s.Type = []string{"object", "null"}
	for _, kind := range allKinds {
		only := &Schema{}
		for _, r := range rows {
			if !slices.Contains(r.kinds, kind) {
				only.Properties = append(only.Properties, without(r.Name)...)
			}
		}
		switch kind {
		case "human":
			only.Properties = append(only.Properties, key("instructions", &Schema{Pattern: `\S`}), key("transitions", &Schema{MinItems: 1}))
			only.Required = []string{"instructions", "transitions"}
		case "grader":
			only.Properties = append(only.Properties, key("instructions", &Schema{Pattern: `\S`}), key("transitions", &Schema{MinItems: 1}))
			only.Required = []string{"instructions", "transitions"}
		case "code":
			only.Required = []string{"script"}
		}
		when := &Schema{Properties: Keys{key("type", &Schema{Const: kind})}, Type: "object"}
		if kind != "agent" { // the default, so `type` may be absent
			when.Required = []string{"type"}
		}
		s.AllOf = append(s.AllOf, &Schema{If: when, Then: only})
	}
	return s
}

// typeRules are the rules that an entry of each type takes (language.md,
// "Signature entries").
func typeRules() []struct {
	name, means string
	rules       Keys
} {
	numbers := func() Keys {
		return Keys{
			key("minimum", &Schema{Description: "The least value.", Type: "number"}),
			key("maximum", &Schema{Description: "The greatest value.", Type: "number"}),
			key("enum", &Schema{Description: "The values allowed.", Type: "array", MinItems: 1, Items: &Schema{Type: "number"}}),
		}
	}
	instants := func(word string) Keys {
		return Keys{
			key("minimum", words("The earliest: a "+word)),
			key("maximum", words("The latest: a "+word)),
		}
	}
	return []struct {
		name, means string
		rules       Keys
	}{
		{"string", "a string", Keys{
			key("format", oneOf("email, an http(s) url, or an E.164 phone number.", "email", "url", "phone")),
			key("pattern", text("An RE2 expression that must match somewhere.")),
			key("minLength", integer(0, "Least length, in code points.")),
			key("maxLength", integer(0, "Greatest length, in code points.")),
			key("enum", &Schema{Description: "The texts allowed.", Type: "array", MinItems: 1, Items: &Schema{Type: "string"}}),
			key("content", words("The media type of the text, such as text/markdown.")),
		}},
		{"integer", "a number without fraction", numbers()},
		{"number", "a finite number", numbers()},
		{"boolean", "true or false", nil},
		{"date", "an RFC 3339 full-date naming a real day", instants("date, or today.")},
		{"date-time", "an RFC 3339 date-time with an offset", instants("date-time, or now.")},
		{"file", "the workspace path of a readable file", Keys{
			key("accept", &Schema{Description: "File extensions or media types.", Type: "array", MinItems: 1, Items: words("")}),
			key("maxSize", words("Such as 10MB.")),
		}},
		{"object", "a mapping", nil},
		{"array", "a list", Keys{
			key("minItems", integer(0, "Least number of items.")),
			key("maxItems", integer(0, "Greatest number of items.")),
		}},
	}
}

// entry is one name of a signature. Every rule is a known key; what a type does
// not take is forbidden where the type says so.
func entry() *Schema {
	types := typeRules()
	var names []string
	var rules []string
	for _, t := range types {
		names = append(names, t.name)
		for _, r := range t.rules {
			if !slices.Contains(rules, r.Name) {
				rules = append(rules, r.Name)
			}
		}
	}
	variable := matching(variablePattern, "The variable's name.")
	keys := []Key{
		must("name", variable),
		key("type", oneOf("The type of its value; without it any value conforms.", names...)),
		key("description", text("What the value means, for the caller.")),
	}
	for _, r := range rules {
		keys = append(keys, key(r, &Schema{})) // its type says more
	}
	full := mapping("", keys...)
	full.AllOf = []*Schema{{If: &Schema{Required: []string{"type"}}, Else: &Schema{Properties: without(rules...)}}}
	for _, t := range types {
		then := &Schema{}
		for _, r := range rules {
			if own := t.rules.Get(r); own != nil {
				then.Properties = append(then.Properties, key(r, own))
			} else {
				then.Properties = append(then.Properties, without(r)...)
			}
		}
		full.AllOf = append(full.AllOf, &Schema{
			If:   &Schema{Properties: Keys{key("type", &Schema{Const: t.name})}, Required: []string{"type"}},
			Then: then,
		})
	}
	return either("A variable of a signature: its name, or the name with a type and rules.", variable, full)
}
