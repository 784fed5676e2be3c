package casetest_test

import (
	"strings"
	"testing"

	"github.com/archmax-ai/archmax/internal/casetest"
)

// A call is "called" when it was allowed and started. One that came to nothing
// on the way is attempted: usedNoTools counts it, calledTool does not.
func TestACallThatNeverRanWasNotCalled(t *testing.T) {
	raw := func(name, args string) string { return "- { name: " + name + ", args: " + args + " }" }
	for _, tt := range []struct{ name, talk, tool, why string }{
		{"after an advance in its message", calls(tool("archmax_advance", "{ to: done, reason: ok }"), tool("ls", "{}")) + says("Bye."), "ls", "the run moved to `done`"},
		{"cut off by the length limit", "- finish: length\n  tool_calls:\n    - { name: ls, args: {} }\n" + says("Hm."), "ls", "cut off at the length limit"},
		{"of a tool that does not exist", calls(tool("frobnicate", "{}")) + says("Hm."), "frobnicate", "frobnicate"},
		{"with arguments that are no JSON", calls(raw("ls", `"{path"`)) + says("Hm."), "ls", "not valid JSON"},
		{"with arguments that are no object", calls(raw("ls", `"[1]"`)) + says("Hm."), "ls", "one JSON object"},
		{"with a reference that leads nowhere", calls(tool("ls", `{ path: "${{nope}}" }`)) + says("Hm."), "ls", "nope"},
		{"of a control tool without a required argument", calls(tool("archmax_advance", "{ to: done }")) + says("Hm."), "archmax_advance", `"reason" is required`},
		{"of a control tool beside others", calls(tool("archmax_raise", "{ code: x, reason: y }"), tool("archmax_get_variables", "{}")) + says("Hm."), "archmax_raise", "only call in its message"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := runOne(t, document(tt.talk, "- send: Hi\n- calledTool: { name: "+tt.tool+" }\n- notCalledTool: { name: "+tt.tool+" }\n- usedNoTools: true"))
			if want := "send passed, calledTool failed, notCalledTool passed, usedNoTools failed"; told(r) != want {
				t.Fatalf("%s, want %s; error %q", told(r), want, r.Error)
			}
			wantIn(t, r.Records[1].Detail, "expected", tt.tool, "it was attempted, and did not run: ", tt.why)
		})
	}
}

func TestACallThatStartedWasCalled(t *testing.T) {
	for _, tt := range []struct{ name, talk, tool string }{
		{"a built-in", calls(tool("ls", "{}")) + says("Hm."), "ls"},
		{"a built-in that fails", calls(tool("read_file", "{ file_path: none.md }")) + says("Hm."), "read_file"},
		{"an advance", advances("done") + says("Bye."), "archmax_advance"},
		{"an advance to a person", advances("review") + says("Wait."), "archmax_advance"},
		{"a control tool that answers", calls(tool("archmax_get_variables", "{}")) + says("Hm."), "archmax_get_variables"},
		{"a raise", calls(tool("archmax_raise", "{ code: x, reason: y }")), "archmax_raise"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := runOne(t, document(tt.talk, "- send: Hi\n- calledTool: { name: "+tt.tool+" }\n- notCalledTool: { name: "+tt.tool+" }"))
			if want := "send passed, calledTool passed, notCalledTool failed"; told(r) != want {
				t.Errorf("%s, want %s; %q %q", told(r), want, r.Error, r.Failures)
			}
		})
	}
}

// The model called `lookup`, which means crm__lookup, the one server's that has
// it. Assertions hold under both names.
func TestACallIsHeldUnderTheNameOfTheToolItMeans(t *testing.T) {
	doc := document(calls(tool("lookup", "{ id: 7 }"))+says("Found."), strings.Join([]string{
		"- send: Hi", "- calledTool: { name: crm__lookup, input: { id: 7 } }", "- calledTool: { name: lookup }",
		"- notCalledTool: { name: crm__lookup }", "- notCalledTool: { name: lookup }", "- notCalledTool: { name: crm__other }",
	}, "\n"), "mocks: [ { tool: crm__lookup, result: ok } ]")
	r := runOne(t, doc)
	if want := "send passed, calledTool passed, calledTool passed, notCalledTool failed, notCalledTool failed, notCalledTool passed"; told(r) != want || r.Status != casetest.Failed {
		t.Errorf("%s, want %s; %q", told(r), want, r.Error)
	}
}

func TestABlockIsHeldUnderTheNameOfTheToolItMeans(t *testing.T) {
	w := newWorld(t, map[string]string{
		"workflows/flow/workflow.yaml": strings.Replace(flow, "forbid_always: [remove_file]", "forbid_always: [crm__lookup]", 1),
		testsDir + "one.test.yaml": document(calls(tool("lookup", "{}"))+says("No."),
			"- send: Hi\n- blockedTool: { name: crm__lookup }\n- blockedTool: { name: lookup }\n- notCalledTool: { name: crm__lookup }"),
	})
	if r := w.run().Results[0]; r.Status != casetest.Passed {
		t.Errorf("%s %q %q", told(r), r.Error, r.Failures)
	}
}
