package diag

var caseDocs = []Doc{
	{
		UnknownTrigger, "a case names a trigger that the workflow does not declare",
		"Every turn of a case runs under its trigger, so the case could not take a single step.",
		"trigger: { id: web-from }",
		"trigger: { id: web-form }",
		"Name a trigger that a state of the workflow declares.",
	},
	{
		UnknownWorkflow, "a workflow that the workspace does not have",
		"A workflow grants a call of it, or a case mocks or expects one: it could never happen.",
		"mocks: [{ tool: archmax_workflow_refnd, result: done }]",
		"",
		"Correct the slug, or add the workflow.",
	},
	{
		FixtureMissing, "a case names a file that is not there",
		"Fixtures are paths below the workflow's tests/; a cassette's path is relative to it.",
		"files: { invoice: fixtures/invoce.pdf }",
		"",
		"Correct the path, or add the file.",
	},
	{
		BadPattern, "a regular expression is malformed",
		"A text written /pattern/flags is an RE2 regular expression. One that cannot be read would match nothing.",
		"raised: /no (stock/",
		"raised: /no \\(stock/",
		"Correct the expression. RE2 has no look-around and no back-references; its flags are i, m, s and U.",
	},
	{
		StepOrder, "an assertion comes before every action",
		"An assertion is held against what the nearest action above it came to.",
		"steps: [{ succeeded: true }, { send: hello }]",
		"steps: [{ send: hello }, { succeeded: true }]",
		"Put `send` first.",
	},
	{
		EmptyAssertion, "an assertion that cannot fail",
		"A check that holds whatever happens shows nothing.",
		"steps: [{ send: hello }, { reply: {} }]",
		"steps: [{ send: hello }, { reply: { includes: delivered } }]",
		"Say what must hold, or leave the step out.",
	},
	{
		DuplicateCase, "two cases have one id",
		"A case's id is its path below tests/ without the extension; its cassette and its session are named by it.",
		"tests/refund.test.yaml and tests/refund.test.yml",
		"",
		"Rename one of the two files.",
	},
	{
		MockTool, "a mock of a tool that cannot be mocked",
		"Control tools move the machine, and the runtime alone answers them.",
		"mocks: [{ tool: archmax_advance, result: ok }]",
		"",
		"Leave the mock out; the model's answers call control tools themselves.",
	},
}
