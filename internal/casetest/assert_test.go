package casetest_test

import (
	"strings"
	"testing"

	"github.com/archmax-ai/archmax/internal/casetest"
)

// Conversations that the assertions are held against. Each begins with a send.
var (
	conversation = map[string]string{
		"completes in start": says("Hello there."),
		"reaches done":       advances("done") + says("Goodbye, order ORD-1."),
		"parks on a person":  advances("review") + says("A person will decide."),
		"parks on input":     "- text: Which order?\n  tool_calls:\n    - { name: archmax_wait, args: { reason: asked } }\n",
		"raises":             calls(tool("archmax_raise", "{ code: no-stock, reason: Nothing is left. }")),
		"sets variables": calls(tool("archmax_set_variables", "{ variables: { order: { id: ORD-1, total: 12.50, lines: [a, b] } }, lock: true }"),
			tool("archmax_set_variables", "{ variables: { open: 1 } }")) + says("ok"),
		"writes files": calls(tool("write_file", `{ file_path: out/a.json, content: "{\"n\": 9007199254740993, \"tags\": [1]}" }`)) + says("written"),
		"is blocked":   calls(tool("remove_file", "{ file_path: out/a.json }"), tool("ls", "{ path: / }")) + says("blocked"),
		"uses tokens":  "- text: hi\n  usage: { input: 100, output: 10 }\n",
		"errs":         strings.Repeat(calls(tool("ls", "{}")), 6) + says("A person takes over."),
	}
)

// strict is a workflow that rejects: what it returns is not set.
const strict = `title: Strict
instructions: Be kind.
states:
  start:
    instructions: Work.
    triggers: { manual: { returns: [total] }, web-form: { requires: [order_id] } }
`

func TestRejectedHoldsForSessionsAndForArrivals(t *testing.T) {
	for _, tt := range []struct{ name, trigger, step, status, detail string }{
		{"a session that ends without its returns is rejected", "manual", "rejected: true", "passed", ""},
		{"the text is part of the reason", "manual", "rejected: total", "passed", ""},
		{"the expression matches the reason", "manual", "rejected: /TOTAL/i", "passed", ""},
		{"another text is not", "manual", "rejected: subtotal", "failed", `expected to be rejected with "subtotal"; it was rejected in state "start"`},
		{"an arrival without what its trigger requires is rejected", "web-form", "rejected: order_id", "passed", ""},
		{"a refused arrival reached no state", "web-form", "rejected: true\n- triggerArrival: web-form", "failed", `expected trigger "web-form" to arrive; none did: the arrival was refused`},
		{"a refused arrival left no file", "web-form", "rejected: true\n- file: { path: a.md }", "failed", "the session does not exist: the arrival was refused"},
		{"a refused arrival used nothing", "web-form", "usage: { maxModelCalls: 0, maxInputTokens: 0, maxCostUsd: 0 }\n- rejected: true", "passed", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{
				"workflows/flow/workflow.yaml": strict,
				testsDir + "one.test.yaml":     document(says("done"), "- send: Hi\n- "+tt.step, "trigger: { id: "+tt.trigger+" }"),
			})
			r := w.run().Results[0]
			last := r.Records[len(r.Records)-1]
			if r.Error != "" || last.Status != tt.status {
				t.Fatalf("%+v, error %q", r.Records, r.Error)
			}
			wantIn(t, last.Detail, tt.detail)
		})
	}
}

// A case whose arrival was turned away asserts about nothing, unless it says so.
func TestARefusedArrivalFailsTheCaseThatDoesNotExpectIt(t *testing.T) {
	for _, tt := range []struct{ name, steps, told string }{
		{"what would hold of nothing", "- send: Hi\n- usedNoTools: true\n- noTraversal: true", "send failed, usedNoTools not-executed, noTraversal not-executed"},
		{"a rejection after the next action", "- send: Hi\n- send: Hi\n- rejected: true", "send failed, send not-executed, rejected not-executed"},
		{"nothing below the last", "- send: Hi\n- rejected: true\n- send: Hi", "send passed, rejected passed, send failed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{
				"workflows/flow/workflow.yaml": strict,
				testsDir + "one.test.yaml":     document(says("done"), tt.steps, "trigger: { id: web-form }"),
			})
			r := w.run().Results[0]
			if r.Status != casetest.Failed || told(r) != tt.told {
				t.Errorf("%s: %s, want %s", r.Status, told(r), tt.told)
			}
			wantIn(t, r.Error, "the arrival was refused: ", "order_id", "assert `rejected` below it")
		})
	}
}

// Every assertion holds once, misses once with its detail, and halts when it is
// structural (cases.md, "Assertions").
func TestAssertions(t *testing.T) {
	for _, tt := range []struct {
		talk, good string
		bad        map[string]string // assertion -> part of the detail
		halts      bool
	}{
		{"completes in start", "succeeded: true", nil, true},
		{"parks on a person", "parked: true", map[string]string{
			"succeeded: true": `expected the session to complete; it is parked on decision in state "review"`,
		}, true},
		{"parks on a person", "parked: decision", map[string]string{
			"parked: input": `expected the session to be parked on input; it is parked on decision`,
			"parked: { channel: decision, state: done }": `in state "done"; it is parked on decision in state "review"`,
		}, true},
		{"parks on input", "parked: { channel: input, state: start }", map[string]string{"parked: decision": "it is parked on input"}, true},
		{"completes in start", "noTraversal: true", map[string]string{
			"parked: true":   `expected the session to be parked; it completed in state "start"`,
			"rejected: true": "expected the session to be rejected; it completed",
			"raised: true":   "expected the agent to raise; it completed",
		}, true},
		{"raises", "raised: true", map[string]string{
			"succeeded: true":                  `it failed in state "start" with "no-stock": Nothing is left.`,
			"raised: out-of-stock":             `raised, but code: expected "out-of-stock", got "no-stock"`,
			"raised: { reason: /everything/ }": `raised, but reason: expected a text that matches /everything/, got "Nothing is left."`,
		}, true},
		{"raises", "raised: no-stock", nil, true},
		{"raises", "raised: /^no-/", nil, true},
		{"raises", "raised: { code: no-stock, reason: /LEFT/i }", nil, true},
		{"reaches done", "reachedState: done", map[string]string{
			"reachedState: review": `expected the trail to reach "review"; the trail is start (trigger) -> done (agent)`,
			"reachedState: start":  `expected the trail to reach "start"`, // a trigger's step does not count
			"noTraversal: true":    "expected the session to stay where it began; the trail is start (trigger) -> done (agent)",
		}, true},
		{"reaches done", "triggerArrival: manual", map[string]string{"triggerArrival: web-form": `expected trigger "web-form" to arrive; these did: manual`}, true},
		{"reaches done", "trail: { to: done, kind: agent, reason: it fits, count: 1 }", map[string]string{
			"trail: { count: 3 }":                            "expected 3 steps, found 2; the trail is",
			"trail: { to: /^(start|done)$/, count: 2 }":      "",
			"trail: { to: /^do/, count: 2 }":                 `expected 2 steps to /^do/, found 1`,
			"trail: { kind: human, count: 1 }":               "expected 1 human steps, found 0",
			"trail: { to: done, reason: /fits$/, count: 1 }": "",
		}, true},
		{"errs", "trail: { to: help, kind: on_error, count: 1 }", nil, true},
		{"sets variables", "variables: { expect: { order: { total: 12.5 } } }", map[string]string{
			"variables: { expect: { order: { total: 12 } } }":                "order.total: expected 12, got 12.50",
			"variables: { expect: { order: { id: ORD-2 } } }":                `order.id: expected "ORD-2", got "ORD-1"`,
			"variables: { expect: { order: { lines: [a] } } }":               "order.lines: expected a list of 1, got",
			"variables: { expect: { missing: 1 } }":                          "missing: expected 1, got nothing; set are: open, order, trigger",
			"variables: { expect: { open: 1 }, locked: true }":               "open is not locked, expected it to be locked",
			"variables: { expect: { order: {} }, locked: false }":            "order is locked, expected it to be not locked",
			"variables: { path: order.lines.-1, expect: a }":                 `order.lines.-1: expected "a", got "b"`,
			"variables: { path: order.nothing, expect: a }":                  "order.nothing leads to nothing; set are: open, order, trigger",
			"variables: { path: open, expect: 1, locked: true }":             "open is not locked",
			"variables: { expect: { open: \"1\" } }":                         `open: expected "1", got 1`,
			"variables: { expect: { order: { id: /^ord-1$/ } } }":            "order.id: expected a text that matches /^ord-1$/",
			"variables: { expect: { order: { id: /^ord-1$/i, total: 2 } } }": "order.total: expected 2",
		}, true},
		{"sets variables", "variables: { path: order.lines.-1, expect: b, locked: true }", nil, true},
		{"sets variables", "variables: { expect: { open: 1 }, locked: false }", nil, true},

		{"reaches done", "reply: { includes: [Goodbye, \"/ord-[0-9]/i\"], excludes: refund }", map[string]string{
			"reply: { includes: sorry }":      `expected what the agent said to include "sorry"; it is "Goodbye, order ORD-1."`,
			"reply: { excludes: /ORD-\\d+/ }": `expected what the agent said not to include "/ORD-\d+/"`,
		}, false},
		{"writes files", `calledTool: { name: write_file, input: { file_path: out/a.json } }`, map[string]string{
			"calledTool: { name: grep }":                                     `expected "grep" to be called; tools that were called: write_file`,
			"calledTool: { name: write_file, input: { file_path: b.json } }": `it was, but file_path: expected "b.json", got "out/a.json"`,
			"notCalledTool: { name: write_file }":                            `expected "write_file" not to be called; it was, with`,
			"usedNoTools: true":                                              "expected no tool to be used; called were: write_file",
		}, false},
		{"is blocked", "calledTool: { name: ls }", map[string]string{
			"calledTool: { name: remove_file }":                    `expected "remove_file" to be called; tools that were called: ls`,
			"blockedTool: { name: ls }":                            `expected "ls" to be blocked; tools that were blocked: remove_file`,
			"blockedTool: { name: remove_file, rule: tool.other }": `expected "remove_file" by the rule "tool.other" to be blocked; it was, by the rule tool.`,
			"blockedTool: { name: remove_file, input: { x: 1 } }":  "it was, but x: expected 1, got nothing",
		}, false},
		{"is blocked", "blockedTool: { name: remove_file, rule: /^tool\\./, input: { file_path: /a\\.json$/ } }", nil, false},
		{"is blocked", "notCalledTool: { name: remove_file }", nil, false},
		{"completes in start", "usedNoTools: true", nil, false},
		{"writes files", "file: { path: out/a.json }", map[string]string{
			"file: { path: out/b.json }":                                "expected the file out/b.json, which does not exist",
			"file: { path: out/a.json, includes: zzz }":                 `expected out/a.json to include "zzz"`,
			"file: { path: out/a.json, excludes: tags }":                `expected out/a.json not to include "tags"`,
			"file: { path: out/a.json, equals: x }":                     `expected out/a.json to be "x"; it is`,
			"file: { path: out/a.json, json: { n: 9007199254740992 } }": "out/a.json: n: expected 9007199254740992, got 9007199254740993",
		}, false},
		{"writes files", "file: { path: out/a.json, json: { n: 9007199254740993, tags: [1.0] }, includes: /tags/ }", nil, false},
		{"writes files", `file: { path: out/a.json, equals: "{\"n\": 9007199254740993, \"tags\": [1]}" }`, nil, false},
		{"uses tokens", "usage: { maxInputTokens: 100, maxOutputTokens: 10, maxModelCalls: 1, maxCostUsd: 0.00012 }", map[string]string{
			"usage: { maxInputTokens: 99 }":   "expected at most 99 input tokens; used 100",
			"usage: { maxOutputTokens: 9 }":   "expected at most 9 output tokens; used 10",
			"usage: { maxModelCalls: 0 }":     "expected at most 0 model calls; used 1",
			"usage: { maxCostUsd: 0.000119 }": "expected a cost of at most $0.000119; it was $0.00012",
		}, false},
		{"completes in start", "usage: { maxModelCalls: 1 }", map[string]string{
			"usage: { maxInputTokens: 9 }": "unknown, since 1 of 1 model calls reported no usage",
			"usage: { maxCostUsd: 9 }":     "unknown, since 1 of 1 model calls have no price",
		}, false},
	} {
		t.Run(tt.good+" where the session "+tt.talk, func(t *testing.T) {
			r := runOne(t, document(conversation[tt.talk], "- send: Hi\n- "+tt.good))
			if r.Status != casetest.Passed || r.Records[1].Status != "passed" || r.Records[1].Detail != "" || r.Error != "" {
				t.Errorf("%s: %+v %s", r.Status, r.Records, r.Error)
			}
		})
		for bad, detail := range tt.bad {
			t.Run(bad+" where the session "+tt.talk, func(t *testing.T) {
				r := runOne(t, document(conversation[tt.talk], "- send: Hi\n- "+bad+"\n- triggerArrival: manual"))
				if detail == "" {
					if r.Status != casetest.Passed {
						t.Errorf("%+v", r.Failures)
					}
					return
				}
				kind, _, _ := strings.Cut(bad, ":")
				after := "passed"
				if tt.halts {
					after = "not-executed"
				}
				if want := "send passed, " + kind + " failed, triggerArrival " + after; told(r) != want {
					t.Errorf("records %s, want %s", told(r), want)
				}
				if r.Status != casetest.Failed || r.Error != "" || len(r.Failures) != 1 {
					t.Fatalf("%s, error %q, failures %q", r.Status, r.Error, r.Failures)
				}
				wantIn(t, r.Records[1].Detail, detail)
				wantIn(t, r.Failures[0], "step 1, "+kind+": ", detail)
			})
		}
	}
}
