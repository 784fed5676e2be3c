package schema

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/archmax-ai/archmax/internal/casetest"
	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/schema/schematest"
)

// everyCaseKey are cases that together use every key of cases.md.
var everyCaseKey = []string{`title: A refund
description: A person decides it.
skip: later
trigger: { id: manual }
variables: { order_id: ORD-1, deep: { a: [1] } }
workspace: { scratchpad/a.md: text, scratchpad/b.json: { a: 1 }, scratchpad/c.md: { from: fixtures/c.md } }
files: { report: fixtures/r.pdf }
mocks:
  - { tool: crm__lookup, whenInput: { email: "/a/" }, result: { id: 1 } }
  - { tool: crm__lookup, error: Down. }
  - { tool: crm__lookup, results: [a, { b: 1 }] }
clock: "2026-01-31"
model: { calls: [{ text: Hi. }] }
steps: [{ send: Hello }, { succeeded: true }]
`, `title: A refund
description: Every step.
model: shared/a.yaml
steps:
  - send: Hello
  - decide: { to: done, comment: Fine. }
  - deliver: { trigger: mail, variables: { a: 1 }, message: Hi }
  - succeeded: true
  - parked: true
  - parked: decision
  - parked: { channel: input, state: review }
  - raised: true
  - raised: no-records
  - raised: { code: no-records, reason: gone }
  - rejected: true
  - rejected: "/veto/"
  - reachedState: review
  - noTraversal: true
  - triggerArrival: manual
  - trail: { to: review, kind: agent, reason: "/x/", count: 1 }
  - variables: { expect: { topic: refund }, locked: true }
  - variables: { expect: 7, path: order.id }
`, `title: A refund
description: The other steps.
steps:
  - send: Hello
  - reply: { includes: money, excludes: [never, "/no/i"] }
  - calledTool: { name: grep, input: { pattern: x } }
  - notCalledTool: { name: grep }
  - blockedTool: { name: grep, input: {}, rule: tool.not-allowed }
  - usedNoTools: true
  - ranWorkflow: { workflow: invoice, status: completed, count: 1 }
  - file: { path: scratchpad/a.md, includes: x, excludes: y, equals: z, json: { a: 1 } }
  - usage: { maxInputTokens: 1, maxOutputTokens: 1, maxCostUsd: 0.5, maxModelCalls: 3 }
  - grade: { closedQA: Is it kind, atLeast: 0.5 }
`}

func casePair(t testing.TB) (schematest.Pair, []byte) {
	doc, ok := Document("case")
	if !ok {
		t.Fatal("there is no case schema")
	}
	return schematest.Pair{
		Schema: schematest.Compile(t, doc),
		Load: func(src []byte) diag.List {
			_, list := casetest.Parse("workflows/refund/tests/a.test.yaml", "a", src)
			return list
		},
	}, doc
}

func TestCaseSchemaAndCaseParserAgreeOnEveryKey(t *testing.T) {
	pair, doc := casePair(t)
	accepted, rejected := pair.Mutants(t, doc, everyCaseKey...)
	if accepted < 100 || rejected < 1000 {
		t.Errorf("only %d accepted and %d rejected mutants: the corpus is thin", accepted, rejected)
	}
}

func TestTheSchemaAcceptsTheRepositorysCases(t *testing.T) {
	pair, _ := casePair(t)
	files, err := filepath.Glob("../authoring/starter/workflows/*/tests/*.test.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases (%v)", err)
	}
	more, err := filepath.Glob("../../workflows/*/tests/*.test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range append(files, more...) {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if pair.Check(t, string(src)) != schematest.Accepted {
			t.Errorf("%s does not load: %v", f, pair.Load(src))
		}
	}
}
