package authoring

import "strings"

// gap is something that this version reads and checks and does not run.
type gap struct {
	id      string // as the templates name it
	what    string
	instead string // what happens
}

// gaps mark every place of the skill that teaches what an author cannot use yet.
// When something runs, its row is deleted, and the skill says no more of it; a
// test fails while a row is there that need not be.
var gaps = []gap{
	{"code", "`code` states", "a session that comes to one ends `failed`, code `unsupported-state`"},
	{"grader", "`grader` states", "likewise, `unsupported-state`"},
	{"hooks", "`before` and `after` hooks", "a session that comes to a state with one ends `failed`, code `unsupported-hooks`"},
	{"host", "command and MCP tools of `archmax.yaml`", "`run` refuses a workflow that grants one (in cases, `mocks` answer for them)"},
	{"policy", "`policy` rules of `archmax.yaml`", "`run` and `test` refuse a workspace that declares one"},
	{"delegation", "calls of other workflows, `archmax_workflow_<slug>`", "no state is offered the tool, and a case that mocks it or asserts `ranWorkflow` fails"},
}

// notYet marks a place that teaches the gap, "" when there is none any more.
func notYet(id string) string {
	for _, g := range gaps {
		if g.id == id {
			return " **(not run yet)**"
		}
	}
	return ""
}

// gapList lists the gaps, "" when there are none.
func gapList() string {
	var b strings.Builder
	for _, g := range gaps {
		b.WriteString("- " + g.what + ": " + g.instead + ".\n")
	}
	return b.String()
}
