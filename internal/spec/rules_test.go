package spec

import "testing"

// start is a document up to its states, the first of which can be entered.
const start = "instructions: Be kind.\nstates:\n  draft:\n    triggers: { manual: }\n"

func TestShapeRules(t *testing.T) {
	for _, tt := range []struct{ name, src string }{
		{"a small workflow is clean", start + "  done:\n"},
		{"an empty file is no mapping", "⟦wrong-type⟧"},
		{"a list is no workflow", "⟦wrong-type⟧- a\n"},
		{"an unknown root key is named", "⟦unknown-key⟧titel: x\n" + start},
		{"a root name is an unknown key", "⟦unknown-key⟧name: x\n" + start},
		{"a root description is an unknown key", "⟦unknown-key⟧description: x\n" + start},
		{"root triggers are an unknown key", "⟦unknown-key⟧triggers: {}\n" + start},
		{"skills.allow at the root is an unknown key", "skills: { ⟦unknown-key⟧allow: [] }\n" + start},
		{"states are required", "⟦missing-key⟧instructions: x\n"},
		{"states must not be empty", "instructions: x\nstates: ⟦empty-value⟧{}\n"},
		{"states are a mapping", "instructions: x\nstates: ⟦wrong-type⟧[draft]\n"},
		{"instructions must not be empty", "instructions: ⟦empty-value⟧\"\"\nstates: {a: {triggers: {manual: }}}\n"},
		{"a numeric title needs quotes", "title: ⟦quote-string⟧12\n" + start},
		{"a boolean title needs quotes", "title: ⟦quote-string⟧true\n" + start},
		{"a date title needs quotes", "title: ⟦quote-string⟧2026-01-31\n" + start},
		{"an octal-looking title needs quotes", "title: ⟦quote-string⟧0755\n" + start},
		{"an empty title needs a value", "title:⟦quote-string⟧\n" + start},
		{"a null title needs quotes", "title: ⟦quote-string⟧~\n" + start},
		{"braces in a title need quotes", "title: ⟦quote-string⟧{ x }\n" + start},
		{"yes and no are text", "title: yes\n" + start},
		{"quoted numbers are text", "title: \"12\"\n" + start},
		{"disabled takes no quoted text", "disabled: ⟦wrong-type⟧\"no\"\n" + start},
		{"disabled takes no capitalised boolean", "disabled: ⟦wrong-type⟧True\n" + start},
		{"disabled may be null", "disabled:\n" + start},
		{"true disables with a warning", "disabled: ⟦disabled-workflow⟧true\n" + start},
		{"a missing root instruction warns", "⟦no-instructions⟧states: { a: { triggers: { manual: } } }\n"},
		{"runtime takes known keys only", "runtime: { ⟦unknown-key⟧name: x }\n" + start},
		{"runtime version 3 is unsupported", "runtime: { version: ⟦unsupported-runtime⟧\"3\" }\n" + start},
		{"runtime version 1 may be a number", "runtime: { engine: archmax-harness, version: 1 }\n" + start},
		{"another engine is unsupported", "runtime: { engine: ⟦unsupported-runtime⟧langgraph }\n" + start},
		{"settings are checked key by key", "settings: { timeoutMs: ⟦bad-value⟧0, memoryLimitBytes: ⟦wrong-type⟧1.5, maxPtcCalls: ⟦bad-value⟧-1, maxResultChars: ⟦wrong-type⟧\"9\", model: ⟦wrong-type⟧[a] }\n" + start},
		{"prompt_cache.ttl is 5m or 1h", "settings: { prompt_cache: { enabled: ⟦wrong-type⟧yes, ttl: ⟦bad-value⟧10m } }\n" + start},
		{"context takes positive integers", "settings: { context: { maxTokens: ⟦bad-value⟧0, keepMessages: 3 } }\n" + start},
		{"tests are checked", "tests: { maxConcurrency: ⟦bad-value⟧0, hostTools: ⟦bad-value⟧fake, judge: { model: m, modelOptions: { temperature: ⟦bad-value⟧-1, ⟦unknown-key⟧top: 1 } } }\n" + start},
		{"metadata is loose", "metadata: { anything: [goes, 1.10, .nan] }\n" + start},
		{"metadata is a mapping", "metadata: ⟦wrong-type⟧text\n" + start},
		{"an edge needs to and description", start + "    transitions:\n      - ⟦missing-key⟧⟦missing-key⟧{}\n"},
		{"an edge's description must not be blank", start + "    transitions: [{ to: draft, description: ⟦empty-value⟧\"  \" }]\n"},
		{"an edge's type is one of four", start + "    transitions: [{ to: draft, description: Again., type: ⟦bad-value⟧retry }]\n"},
		{"an edge to true needs quotes", start + "    transitions: [{ to: ⟦quote-string⟧true, description: Yes. }]\n"},
		{"a state's type is one of four", start + "  b: { type: ⟦bad-value⟧humam }\n"},
		{"budgets are positive integers", start + "    budget: { maxTurns: ⟦bad-value⟧0, timeoutMs: ⟦wrong-type⟧1s, maxParks: 1, maxVisits: ⟦bad-value⟧-2 }\n"},
		{"a human state needs instructions", start + "  ⟦missing-key⟧review: { type: human, transitions: [{ to: draft, description: Again. }] }\n"},
		{"a grader state needs instructions", start + "  ⟦missing-key⟧judge: { type: grader, transitions: [{ to: draft, description: Again. }] }\n"},
		{"a code state needs a script", start + "  ⟦missing-key⟧check: { type: code }\n"},
		{"all problems come in one pass in file order", "title: ⟦quote-string⟧1\n⟦unknown-key⟧foo: 1\nstates:\n  a:\n    ⟦unknown-key⟧bar: 1\n    title: ⟦quote-string⟧2\n"},
		{"rules over the whole wait for the shape", "⟦unknown-key⟧foo: 1\nstates: { a: { transitions: [{ to: nowhere, description: x }] } }\n"},
	} {
		t.Run(tt.name, func(t *testing.T) { wantMarked(t, tt.src) })
	}
}

func TestDocumentRules(t *testing.T) {
	for _, tt := range []struct{ name, src string }{
		{"a state slug is lower-case", start + "  ⟦bad-slug⟧Review:\n"},
		{"a state slug has single hyphens", start + "  ⟦bad-slug⟧a--b:\n"},
		{"digits are a slug", start + "  2nd-look:\n"},
		{"an edge must lead to a declared state", start + "    transitions: [{ to: ⟦unknown-state⟧drat, description: Again. }]\n"},
		{"on_error must name a declared state", start + "    on_error: ⟦unknown-state⟧help\n"},
		{"on_error may name a human state", start + "    on_error: help\n  help: { type: human, instructions: Help., transitions: [{ to: draft, description: Go on. }] }\n"},
		{"two edges may not share a target", start + "    instructions: Do.\n    transitions:\n      - { to: done, description: A. }\n      - { to: ⟦duplicate-edge⟧done, description: B. }\n  done:\n"},
		{"two edges of a human state may not share a target", start + "    transitions: [{ to: ask, description: Done. }]\n  ask:\n    type: human\n    instructions: Is it right?\n    transitions:\n      - { to: draft, type: approve, description: A. }\n      - { to: ⟦duplicate-edge⟧draft, type: reject, description: B. }\n"},
		{"a machine needs a start state", "instructions: x\n⟦no-start-state⟧states: { a: }\n"},
		{"a trigger enters one state", start + "  b:\n    triggers:\n      ⟦duplicate-trigger⟧manual:\n"},
		{"a state may declare several triggers", start + "  b:\n    triggers: { mail.received: , timer: {} }\n"},
		{"lints run though a document rule failed", "⟦no-instructions⟧title: x\n⟦no-start-state⟧states: { a: }\n"},

		{"a human state needs an edge", start + "  ⟦human-edges⟧review: { type: human, instructions: Decide. }\n"},
		{"a human state has no edge to itself", start + "  review: { type: human, instructions: Decide., transitions: [{ to: ⟦human-edges⟧review, description: Again. }] }\n"},
		{
			"a human state labels one edge a type",
			start + "  review:\n    type: human\n    instructions: Decide.\n    transitions:\n      - { to: draft, description: A., type: approve }\n      - { to: ⟦human-edges⟧done, description: B., type: approve }\n      - { to: other, description: C. }\n      - { to: more, description: D. }\n  done:\n  other:\n  more:\n",
		},
		{"a grader needs an edge", start + "  ⟦grader-edges⟧judge: { type: grader, instructions: Criteria. }\n"},
		{"a code state may be terminal", start + "  check: { type: code, script: scripts/a.js }\n"},

		{"a human state has no tools", start + "  review: { type: human, instructions: Decide., ⟦key-not-for-kind⟧tools: {}, transitions: [{ to: draft, description: A. }] }\n"},
		{"a human state has no hooks", start + "  review: { type: human, instructions: Decide., ⟦key-not-for-kind⟧after: [], ⟦key-not-for-kind⟧before: [], transitions: [{ to: draft, description: A. }] }\n"},
		{"a human state has no triggers", start + "  review: { type: human, instructions: Decide., ⟦key-not-for-kind⟧triggers: { x: }, transitions: [{ to: draft, description: A. }] }\n"},
		{"a code state has no instructions and no model", start + "  c: { type: code, script: scripts/a.js, ⟦key-not-for-kind⟧instructions: x, ⟦key-not-for-kind⟧model: m }\n"},
		{"an agent state has no script, approvers or evidence", start + "    ⟦key-not-for-kind⟧script: scripts/a.js\n    ⟦key-not-for-kind⟧approvers: Ann\n    ⟦key-not-for-kind⟧evidence: []\n"},
		{"a grader state has no hooks", start + "  g: { type: grader, instructions: x, ⟦key-not-for-kind⟧before: [], transitions: [{ to: draft, description: A. }] }\n"},

		{"a code script is JavaScript", start + "  c: { type: code, script: ⟦script-path⟧scripts/a.ts }\n"},
		{"a code script lies in scripts", start + "  c: { type: code, script: ⟦script-path⟧hooks/a.js }\n"},
		{"a code script does not escape", start + "  c: { type: code, script: ⟦script-path⟧scripts/../../a.js }\n"},
		{"a code script is no absolute path", start + "  c: { type: code, script: ⟦script-path⟧/scripts/a.js }\n"},

		{"requires takes variable names", start + "    requires: [order_id, ⟦bad-variable⟧orderId, ⟦bad-variable⟧1st]\n"},
		{"evidence is a path an agent could read", start + "  r: { type: human, instructions: x, evidence: [scratchpad/a.md, ⟦bad-path⟧../x, ⟦bad-path⟧workflows/refund/workflow.yaml, ⟦bad-path⟧'a\\b'], transitions: [{ to: draft, description: A. }] }\n"},

		{"several edges without instructions warn", "instructions: x\nstates:\n  ⟦no-state-instructions⟧a:\n    triggers: { manual: }\n    transitions: [{ to: b, description: B. }, { to: c, description: C. }]\n  b:\n  c:\n"},
		{"the workflow's model at a state warns", "settings: { model: m1 }\n" + start + "    model: ⟦redundant-model⟧m1\n  b: { model: m2 }\n"},
	} {
		t.Run(tt.name, func(t *testing.T) { wantMarked(t, tt.src) })
	}
}

// trigger wraps a declaration of the manual trigger.
func trigger(declaration string) string {
	return "instructions: x\nstates:\n  a:\n    triggers:\n      manual: " + declaration + "\n"
}

func TestTriggerRules(t *testing.T) {
	for _, tt := range []struct{ name, declaration string }{
		{"null is a declaration", ""},
		{"a full declaration is clean", "{ session: triggers.-1.conversationId, message: mail.text, connection: crm, description: d, requires: [a], returns: [b] }"},
		{"message may be false", "{ message: false }"},
		{"message may not be true", "{ message: ⟦wrong-type⟧true }"},
		{"session must be dotted", "{ session: ⟦dotted-path⟧'$.triggers[0]', message: ⟦dotted-path⟧a..b }"},
		{"connection must not be empty", "{ connection: ⟦empty-value⟧'' }"},
		{"entry and name are errors", "{ ⟦trigger-key⟧entry: a, ⟦trigger-key⟧name: x }"},
		{"other keys warn", "{ ⟦unknown-trigger-key⟧require: [a] }"},
		{"a list is no declaration", "⟦wrong-type⟧[]"},
		{"names are distinct over both spellings", "{ requires: [total, { name: ⟦signature-name⟧total, type: number }] }"},
		{"names are variable names", "{ requires: [⟦bad-variable⟧Total, { name: ⟦bad-variable⟧a-b }] }"},
		{"returns reserve three names", "{ requires: [title], returns: [⟦signature-name⟧trigger, ⟦signature-name⟧title, { name: ⟦signature-name⟧note }] }"},
		{"an entry has known keys only", "{ requires: [{ name: a, ⟦unknown-key⟧kind: string }] }"},
		{"an entry needs a name", "{ requires: [⟦missing-key⟧{ type: string }] }"},
		{"an entry's type is one of nine", "{ requires: [{ name: a, type: ⟦bad-value⟧text }] }"},
		{"an untyped entry takes no rules", "{ requires: [{ name: a, ⟦signature-rule⟧minLength: 1 }] }"},
		{"a rule must belong to its type", "{ requires: [{ name: a, type: integer, ⟦signature-rule⟧maxLength: 3 }, { name: b, type: boolean, ⟦signature-rule⟧enum: [x] }, { name: c, type: object, ⟦signature-rule⟧minItems: 1 }] }"},
		{"lengths may not cross", "{ requires: [{ name: a, type: string, minLength: 5, maxLength: ⟦signature-bounds⟧4 }] }"},
		{"items may not cross", "{ requires: [{ name: a, type: array, minItems: 2, maxItems: ⟦signature-bounds⟧1 }] }"},
		{"numbers may not cross", "{ requires: [{ name: a, type: number, minimum: 1.01, maximum: ⟦signature-bounds⟧1.001 }] }"},
		{"equal bounds hold a value", "{ requires: [{ name: a, type: number, minimum: 1.0, maximum: 1e0 }] }"},
		{"dates may not cross", "{ requires: [{ name: a, type: date, minimum: 2026-02-01, maximum: ⟦signature-bounds⟧2026-01-31 }] }"},
		{"date-times cross by instant", "{ requires: [{ name: a, type: date-time, minimum: '2026-01-01T10:00:00+02:00', maximum: '2026-01-01T09:00:00Z' }] }"},
		{"a date bound is a real day or today", "{ requires: [{ name: a, type: date, minimum: ⟦signature-rule⟧2026-02-30, maximum: today }, { name: b, type: date, maximum: ⟦signature-rule⟧now }] }"},
		{"a date-time bound has an offset or is now", "{ requires: [{ name: a, type: date-time, minimum: ⟦signature-rule⟧'2026-02-03T10:00:00', maximum: now }] }"},
		{"an integer's bounds are integers", "{ requires: [{ name: a, type: integer, minimum: ⟦signature-rule⟧1.5 }] }"},
		{"a pattern compiles", "{ requires: [{ name: a, type: string, pattern: ⟦signature-pattern⟧'(' }, { name: b, type: string, pattern: ⟦signature-pattern⟧'(?=x)' }] }"},
		{"a broken pattern is told once", "{ requires: [{ name: a, type: string, pattern: ⟦signature-pattern⟧'(', enum: [x] }] }"},
		{"a format is one of three", "{ requires: [{ name: a, type: string, format: ⟦bad-value⟧ipv4 }] }"},
		{"content is a media type", "{ requires: [{ name: a, type: string, content: ⟦signature-rule⟧markdown }, { name: b, type: string, content: text/markdown }] }"},
		{"enum values fit the type", "{ requires: [{ name: a, type: string, enum: [x, ⟦quote-string⟧1] }, { name: b, type: integer, enum: [1, ⟦wrong-type⟧x, ⟦signature-rule⟧1.5] }] }"},
		{"enum values are distinct", "{ requires: [{ name: a, type: number, enum: [1, ⟦signature-rule⟧1.0] }] }"},
		{"an empty enum excludes everything", "{ requires: [{ name: a, type: string, enum: ⟦signature-bounds⟧[] }] }"},
		{"an enum outside the other rules excludes everything", "{ requires: [{ name: a, type: string, maxLength: 1, enum: ⟦signature-bounds⟧[ab, cd] }] }"},
		{"accept lists extensions or media types", "{ requires: [{ name: a, type: file, accept: [.pdf, image/*, application/json, ⟦signature-rule⟧'*.pdf'] }] }"},
		{"maxSize is a size", "{ requires: [{ name: a, type: file, maxSize: 10MB }, { name: b, type: file, maxSize: ⟦signature-rule⟧10 parsecs }] }"},
		{"lengths are whole numbers", "{ requires: [{ name: a, type: string, minLength: ⟦bad-value⟧-1, maxLength: ⟦wrong-type⟧1.5 }] }"},
	} {
		t.Run(tt.name, func(t *testing.T) { wantMarked(t, trigger(tt.declaration)) })
	}
}

func TestListRules(t *testing.T) {
	for _, tt := range []struct{ name, root, state string }{
		{name: "bare names and mappings", root: "tools: { allow_always: [crm__lookup], forbid_always: ['*'] }", state: "tools: { allow: [{ tool: write_file, args: { path: [a/**, 'b/*'] }, paths: ['c/**'], connection: x, source: y }], forbid: [] }"},
		{name: "a star is for forbid lists", root: "tools: { allow_always: [⟦star-grant⟧'*'] }", state: "tools: { allow: [⟦star-grant⟧{ tool: '*' }], forbid: ['*'] }"},
		{name: "task is no tool", root: "tools: { forbid_always: [⟦task-tool⟧task] }", state: "tools: { allow: [{ tool: ⟦task-tool⟧task }] }"},
		{name: "tool names are exact", state: "tools: { allow: [⟦bad-tool⟧'crm__*', ⟦bad-tool⟧a b] }"},
		{name: "an entry needs its tool", state: "tools: { allow: [⟦missing-key⟧{ args: { a: b } }, { tool: ⟦empty-value⟧'' }] }"},
		{name: "an entry has known keys only", state: "tools: { allow: [{ tool: x, ⟦unknown-key⟧arg: {} }] }"},
		{name: "a delegation tool names a slug", state: "tools: { allow: [archmax_workflow_order-lookup, ⟦bad-slug⟧archmax_workflow_Order] }"},
		{name: "a guard is text", state: "tools: { allow: [{ tool: x, args: { a: ⟦quote-string⟧1, b: ['1', ⟦quote-string⟧true] } }] }"},
		{name: "an empty guard is a mistake", state: "tools: { allow: [{ tool: x, args: ⟦empty-value⟧{}, paths: ⟦empty-value⟧[] }] }"},
		{name: "globs are checked", state: "tools: { allow: [{ tool: x, paths: [ok/**, ⟦bad-glob⟧'a[', ⟦bad-glob⟧'{a,b'] }] }"},
		{name: "references are checked", state: "tools: { allow: [{ tool: x, args: { p: '${{order_id}}/${{list.-1.id}}/*', q: ⟦bad-reference⟧'${{Order}}', r: ⟦bad-reference⟧'${{x', s: ⟦bad-reference⟧'${{a..b}}', t: ⟦bad-reference⟧'${{}}', u: '$${{x}}' } }] }"},
		{name: "allow at the root is an unknown key", root: "tools: { ⟦unknown-key⟧allow: [] }", state: "tools: { ⟦unknown-key⟧allow_always: [] }"},
		{name: "null is no list", state: "tools: { allow: ⟦wrong-type⟧null }"},
		{name: "advance may be forbidden in part or in a state", root: "tools: { forbid_always: [{ tool: archmax_advance, args: { to: x } }] }", state: "tools: { forbid: [archmax_advance] }\n    transitions: [{ to: a, description: Again. }]"},
		{name: "advance may not be forbidden in a machine that moves", root: "tools: { forbid_always: [⟦advance-forbidden⟧archmax_advance] }", state: "transitions: [{ to: a, description: Again. }]"},
		{name: "advance may be forbidden in a machine that does not", root: "tools: { forbid_always: [archmax_advance] }", state: "title: x"},
		{name: "skills are slugs", root: "skills: { allow_always: [invoices, ⟦bad-skill⟧skills/invoices], forbid_always: [⟦bad-skill⟧'in*'] }", state: "skills: { allow: [⟦bad-skill⟧..], forbid: [⟦wrong-type⟧{ skill: x }] }"},
		{name: "mounts are names", root: "mounts: { allow_always: [reference/, /catalogs/eu, AGENTS.md, { mount: x, access: read_write }], forbid_always: [y] }", state: "mounts: { allow: [⟦bad-mount⟧'a/*', ⟦bad-mount⟧../x, { mount: x, access: ⟦bad-value⟧write }, ⟦missing-key⟧{ access: read }], forbid: [⟦wrong-type⟧{ mount: x }] }"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := ""
			if tt.root != "" {
				root = tt.root + "\n"
			}
			wantMarked(t, "instructions: x\n"+root+"states:\n  a:\n    triggers: { manual: }\n    "+tt.state+"\n")
		})
	}
}

func TestHookRules(t *testing.T) {
	for _, tt := range []struct{ name, root, state string }{
		{name: "one hook or a list", state: "before: { script: hooks/a.js }\n    after: [{ script: hooks/b.js, max_iterations: 2 }, { rubric: { instructions: Be right., max_iterations: 1, model: m, metadata: { a: 1 } } }]"},
		{name: "a custom kind is declared", root: "extensions: { hooks: [webhook] }", state: "after: { webhook: { url: x }, max_iterations: 1 }"},
		{name: "an undeclared kind is unknown", root: "extensions: { hooks: [webhook] }", state: "after: { ⟦hook-kind⟧webhok: x }"},
		{name: "a hook has one kind", state: "after: { script: hooks/a.js, ⟦hook-kind⟧rubric: { instructions: x } }"},
		{name: "a hook has a kind", state: "after: ⟦hook-kind⟧{ max_iterations: 1 }"},
		{name: "max_iterations does not stand beside a rubric", state: "after: { rubric: { instructions: x }, ⟦hook-iterations⟧max_iterations: 1 }"},
		{name: "a before hook has no max_iterations", state: "before: [{ script: hooks/a.js, ⟦hook-iterations⟧max_iterations: 1 }, { rubric: { instructions: x, ⟦hook-iterations⟧max_iterations: 1 } }]"},
		{name: "max_iterations is at least 0", state: "after: { script: hooks/a.js, max_iterations: ⟦bad-value⟧-1 }"},
		{name: "a rubric needs instructions", state: "after: { rubric: ⟦missing-key⟧{ model: m } }"},
		{name: "a rubric has known keys only", state: "after: { rubric: { instructions: x, ⟦unknown-key⟧criteria: y } }"},
		{name: "a hook script lies in hooks", state: "after: [{ script: ⟦script-path⟧scripts/a.js }, { script: ⟦script-path⟧hooks/../a.js }]"},
		{name: "built-in kinds are not extended", root: "extensions: { hooks: [⟦hook-kind⟧script, a, ⟦hook-kind⟧a] }", state: "title: x"},
		{name: "extensions hold hooks only", root: "extensions: { ⟦unknown-key⟧tools: [] }", state: "title: x"},
		{name: "a hook is a mapping", state: "after: ⟦wrong-type⟧hooks/a.js"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := ""
			if tt.root != "" {
				root = tt.root + "\n"
			}
			wantMarked(t, "instructions: x\n"+root+"states:\n  a:\n    triggers: { manual: }\n    "+tt.state+"\n")
		})
	}
}

func TestDiagnosticsNameTheirField(t *testing.T) {
	list := wantMarked(t, start+`    instructions: x
    transitions:
      - { to: draft, description: A. }
      - { to: ⟦unknown-state⟧nope, description: B. }
    requires: [⟦bad-variable⟧X]
    tools: { allow: [a, { tool: b, args: { p: [ok, ⟦bad-glob⟧'['] } }] }
  b:
    triggers: { mail: { returns: [a, ⟦signature-name⟧title] } }
`)
	want := []string{
		"states.draft.transitions.1.to", "states.draft.requires.0", "states.draft.tools.allow.1.args.p.1", "states.b.triggers.mail.returns.1",
	}
	for i, d := range list {
		if d.Field != want[i] {
			t.Errorf("field %q, want %q", d.Field, want[i])
		}
		if d.File != "workflows/refund/workflow.yaml" {
			t.Errorf("file %q", d.File)
		}
	}
}

func TestAnAliasedMistakeIsToldOnce(t *testing.T) {
	wantMarked(t, "instructions: x\nstates:\n  a:\n    triggers: { manual: }\n    tools: &t { allow: [⟦task-tool⟧task] }\n  b:\n    tools: *t\n")
}

func TestTheHintOfASecondEdgeFitsTheKindOfState(t *testing.T) {
	for kind, want := range map[string]string{
		"agent": "keep one edge, and say in its description when to take it",
		"human": "a decision is told by its target alone: lead each label to a state of its own",
	} {
		_, list := Parse("refund", "workflows/refund/workflow.yaml", []byte(start+"    transitions: [{ to: ask, description: x }]\n  ask:\n    type: "+kind+
			"\n    instructions: x\n    transitions: [{ to: draft, type: approve, description: x }, { to: draft, type: reject, description: x }]\n"))
		if len(list) != 1 || list[0].Hint != want {
			t.Errorf("%s: %v", kind, list)
		}
	}
}
