package diag

var readingDocs = []Doc{
	{
		Missing, "there is no such workflow",
		"A workflow is a directory workflows/<slug>/ that holds a workflow.yaml. A directory without one is no workflow.",
		"archmax run order-lokup \"Where is my order?\"",
		"Correct the slug, or add the workflow.yaml.",
	},
	{
		Unreadable, "a file cannot be read",
		"The file is there but the system refuses to open it, or it is larger than the bound on documents.",
		"workflows/refund/workflow.yaml is a directory",
		"Check the file's type, permissions and size.",
	},
	{
		CompetingMachines, "WORKFLOW.md starts with a frontmatter",
		"The machine is described in workflow.yaml alone. A frontmatter in WORKFLOW.md would be a second description that nothing reads.",
		"---\ntitle: Refunds\n---\nBe kind.",
		"Move what the frontmatter says into workflow.yaml, and start WORKFLOW.md with prose.",
	},
	{
		Encoding, "the file is not clean UTF-8 text",
		"The file holds bytes that are not UTF-8, a NUL, or another control character.",
		"title: caf\\xe9   (saved as Latin-1)",
		"Save the file as UTF-8 and remove the character at the position given.",
	},
	{
		Syntax, "the text is not valid YAML",
		"The parser cannot make sense of the line. Most often a value holds a colon and a space, a quote or bracket is not closed, or the indentation is off.",
		"description: Node: the API one",
		"Put the value in quotes (description: \"Node: the API one\"), close the bracket, or align the line.",
	},
	{
		Tab, "a tab is used for indentation",
		"YAML is indented with spaces only.",
		"states:\n\tdraft:",
		"Replace the tab with spaces.",
	},
	{
		Documents, "the file holds more than one document",
		"Only the first YAML document would be read, and what follows `---` or `...` would be lost.",
		"title: Refunds\n---\nstates: {}",
		"Keep one document in the file.",
	},
	{
		DuplicateKey, "a key is there twice in one mapping",
		"One of the two values would be lost. Keys are compared by their text, so 1 and \"1\" are the same.",
		"title: Refunds\ntitle: Returns",
		"Keep one of the two.",
	},
	{
		ComplexKey, "a key is a list or a mapping",
		"Keys are texts. Braces or brackets at the start of a value make YAML read it as a mapping or a list.",
		"description: {{ name }}",
		"Put the whole text in quotes: description: \"{{ name }}\".",
	},
	{
		Alias, "an alias or a merge cannot be resolved",
		"The alias names no anchor above it, stands inside its own anchor, repeats too much, or `<<` merges what is no mapping.",
		"states: *states",
		"Define the anchor (&states) above, or write the value out.",
	},
	{
		Depth, "the document is nested too deeply",
		"Real documents nest a few levels; hundreds are a mistake, or an attempt to exhaust memory.",
		"[[[[[[[[[[[[[[[[[[[[ …",
		"Flatten the value.",
	},
	{
		Tag, "a YAML tag or directive that means nothing here",
		"A value that starts with ! is a tag to YAML, and its text is lost.",
		"when: !done",
		"Put the text in quotes: when: \"!done\".",
	},
	{
		LostText, "part of a value is read as a comment",
		"A # after a space starts a comment. One that is followed directly by text was probably meant to be part of the value.",
		"title: color #fff",
		"Put the whole text in quotes, or write a space after the # of a comment.",
	},
}

var shapeDocs = []Doc{
	{
		WrongType, "a value has the wrong type",
		"The key wants another type of value: a mapping, a list, a whole number, true or false.",
		"disabled: \"no\"",
		"Write the type the message names: disabled: false.",
	},
	{
		QuoteString, "a text needs quotes",
		"The key wants text, and YAML reads the value as a number, a boolean, a date, nothing or a collection. Values are never changed silently.",
		"title: 12",
		"Put the value in quotes: title: \"12\".",
	},
	{
		UnknownKey, "the language has no such key",
		"Documents are read strictly: a key that means nothing is a mistake, and a rule that was meant to hold would not.",
		"states:\n  draft:\n    transtions: []",
		"Correct the spelling, or remove the key. `metadata` takes notes of your own.",
	},
	{
		MissingKey, "a required key is missing",
		"The mapping is of no use without the key.",
		"transitions: [{ to: done }]",
		"Add the key: { to: done, description: The answer was given. }.",
	},
	{
		EmptyValue, "a value is empty",
		"The key is there, and what it says is nothing.",
		"instructions: \"\"",
		"Fill it in, or remove the key.",
	},
	{
		BadValue, "a value is outside what is allowed",
		"The key takes one of some words, or numbers of some range.",
		"type: humam",
		"Use one of the values that the message names.",
	},
}

var warningDocs = []Doc{
	{
		NoInstructions, "the workflow has no instructions",
		"`instructions` at the root are sent on every model call. Without them the model has no standing direction.",
		"title: Refunds\nstates: …",
		"Add `instructions`.",
	},
	{
		NoStateInstructions, "a state has several edges and no instructions",
		"The model must choose an edge knowing only the edges' descriptions.",
		"triage:\n  transitions:\n    - { to: refund, description: A refund. }\n    - { to: answer, description: A question. }",
		"Add `instructions` that say what to do before choosing.",
	},
	{
		DisabledWorkflow, "the workflow is disabled",
		"No turn can start, and its suite is skipped.",
		"disabled: true",
		"Remove `disabled` when the workflow may run.",
	},
	{
		RedundantModel, "a state names the workflow's model",
		"The state would use that model anyway, and will keep it when the workflow's changes.",
		"settings: { model: gpt-5 }\nstates:\n  draft: { model: gpt-5 }",
		"Remove the state's `model`.",
	},
	{
		UnknownTriggerKey, "a trigger's declaration has a key that means nothing here",
		"Unknown keys in a declaration are kept for hosts. Often it is a misspelling.",
		"triggers:\n  manual: { require: [order_id] }",
		"Correct the spelling, or ignore the warning.",
	},
}
