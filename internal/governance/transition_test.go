package governance

import (
	"strings"
	"testing"
)

func TestTransitions(t *testing.T) {
	m := state(t, "requires: [order_id, amount]")
	both := map[string]any{"order_id": "ORD-1", "amount": nil}
	ok := HookOutcome{Phase: "after", Verdict: "ok"}
	for _, tc := range []struct {
		name string
		vars map[string]any
		move Transition
		rule string
		says []string
	}{
		{"a declared edge is taken", both, Transition{From: "work", To: "done"}, RuleTransitionAllowed, nil},
		{"with hooks that are ok", both, Transition{From: "work", To: "done", Hooks: []HookOutcome{ok, {Phase: "before", Verdict: "ok"}}}, RuleTransitionAllowed, nil},
		{"unset names are listed", map[string]any{"amount": 1}, Transition{From: "work", To: "done"}, RuleTransitionRequires, []string{"order_id", "archmax_set_variables", "work"}},
		{"in the order of the spec", nil, Transition{From: "work", To: "done"}, RuleTransitionRequires, []string{"order_id, amount"}},
		{"requires come before the edge", nil, Transition{From: "work", To: "secret"}, RuleTransitionRequires, nil},
		{"an edge that is not there lists the valid targets", both, Transition{From: "work", To: "nowhere"}, RuleTransitionNoEdge, []string{`"nowhere"`, "review, done"}},
		{"a state without an edge to itself cannot repeat", both, Transition{From: "work", To: "work"}, RuleTransitionNoEdge, nil},
		{"an empty target is no edge", both, Transition{From: "work", To: ""}, RuleTransitionNoEdge, []string{"review, done"}},
		{"a terminal state leads nowhere", both, Transition{From: "done", To: "work"}, RuleTransitionNoEdge, []string{"terminal"}},
		{"the edge comes before the hooks", both, Transition{From: "work", To: "x", Hooks: []HookOutcome{{"after", "veto", "No."}}}, RuleTransitionNoEdge, nil},
		{"a veto blocks", both, Transition{From: "work", To: "done", Hooks: []HookOutcome{ok, {"after", "veto", "The total is missing."}}}, RuleHookVeto, []string{"The total is missing", "review, done"}},
		{"a correction sends back", both, Transition{From: "work", To: "done", Hooks: []HookOutcome{{"after", "correct", "Add the date."}}}, RuleHookCorrect, []string{"Add the date"}},
		{"a correction before entry is a veto that says so", both, Transition{From: "work", To: "done", Hooks: []HookOutcome{{"before", "correct", "Not yet."}}}, RuleHookVeto, []string{"correction", "Not yet"}},
		{"a failed hook is fatal", both, Transition{From: "work", To: "done", Hooks: []HookOutcome{{"before", "error", "boom"}}}, RuleHookError, []string{"boom"}},
		{"what is no verdict vetoes, quoted", both, Transition{From: "work", To: "done", Hooks: []HookOutcome{{"after", "maybe", ""}}}, RuleHookVeto, []string{`"maybe"`}},
		{"an empty verdict vetoes", both, Transition{From: "work", To: "done", Hooks: []HookOutcome{{}}}, RuleHookVeto, []string{`""`}},
		{"the first that is not ok decides", both, Transition{From: "work", To: "done", Hooks: []HookOutcome{ok, {"after", "correct", "a"}, {"before", "error", "b"}}}, RuleHookCorrect, nil},
		{"a reason of several lines is joined", both, Transition{From: "work", To: "done", Hooks: []HookOutcome{{"after", "veto", "a\nb"}}}, RuleHookVeto, []string{"a b"}},
		{"a decision of a person takes an edge", nil, Transition{From: "review", To: "done"}, RuleTransitionAllowed, nil},
		{"and no other", nil, Transition{From: "review", To: "work"}, RuleTransitionNoEdge, []string{"decision", "done"}},
		{"a state that is not declared has no edges", both, Transition{From: "gone", To: "done"}, RuleEntryUnknown, []string{`"gone"`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := Decide(m, tc.move, &Env{Variables: tc.vars})
			check(t, v, tc.rule)
			for _, word := range tc.says {
				if !strings.Contains(v.Reason, word) {
					t.Errorf("the reason lacks %q: %s", word, v.Reason)
				}
			}
		})
	}
}

func TestEntriesAndCompletions(t *testing.T) {
	m := state(t, "requires: [order_id]")
	veto := []HookOutcome{{"after", "veto", "Not done."}}
	fail := []HookOutcome{{"before", "error", "boom"}}
	for _, tc := range []struct {
		name   string
		action Action
		rule   string
	}{
		{"a declared state can be entered", Entry{State: "done"}, RuleEntryAllowed},
		{"another cannot", Entry{State: "gone"}, RuleEntryUnknown},
		{"a before hook that fails ends it", Entry{State: "work", Hooks: fail}, RuleHookError},
		{"a turn can end in a declared state, its requires apart", Completion{State: "work"}, RuleCompletionAllowed},
		{"an after hook can refuse it", Completion{State: "done", Hooks: veto}, RuleHookVeto},
		{"a turn cannot end in another", Completion{State: "gone"}, RuleEntryUnknown},
	} {
		t.Run(tc.name, func(t *testing.T) { check(t, Decide(m, tc.action, nil), tc.rule) })
	}
}
