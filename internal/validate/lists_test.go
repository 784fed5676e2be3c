package validate

import (
	"strings"
	"testing"
)

var listRows = []broken{
	{"a skill that no bundle provides, in each list", `
instructions: Help.
skills:
  allow_always: [⟦unknown-skill⟧oders]
  forbid_always: [⟦unknown-skill⟧polcy]
mounts: {}
states:
  a:
    triggers: { manual: }
    skills:
      allow:
        - orders
        - ⟦unknown-skill⟧invoices
      forbid: [⟦unknown-skill⟧ordres]
`},
	{"a mount that the table lacks, in each list", `
instructions: Help.
skills: {}
mounts:
  allow_always:
    - mount: ⟦unknown-mount⟧refrence
  forbid_always: [⟦unknown-mount⟧draft]
states:
  a:
    triggers: { manual: }
    mounts: { allow: [reference, ⟦unknown-mount⟧reference/eu], forbid: [⟦unknown-mount⟧"/catalogs/eu/"] }
`},
	{"a skill granted at both levels", `
instructions: Help.
skills: { allow_always: [orders] }
mounts: {}
states:
  a:
    triggers: { manual: }
    skills: { allow: [policy, ⟦granted-twice⟧orders] }
`},
	{"a mount granted at both levels", `
instructions: Help.
skills: {}
mounts: { allow_always: [reference, ledger] }
states:
  a:
    triggers: { manual: }
    mounts: { allow: [⟦granted-twice⟧reference, { mount: ⟦granted-twice⟧ledger, access: read_write }] }
`},
	{"a skill granted and forbidden in one state", `
instructions: Help.
skills: {}
mounts: {}
states:
  a:
    triggers: { manual: }
    skills: { allow: [⟦covered-grant⟧orders], forbid: [orders] }
`},
	{"a mount granted and forbidden in one state", `
instructions: Help.
skills: {}
mounts: {}
states:
  a:
    triggers: { manual: }
    mounts: { allow: [⟦covered-grant⟧reference], forbid: [reference] }
`},
	{"a skill granted in a state and forbidden always", `
instructions: Help.
skills: { forbid_always: [policy] }
mounts: {}
states:
  a:
    triggers: { manual: }
    skills: { allow: [⟦refused-grant⟧policy] }
`},
	{"a skill granted always and forbidden always", `
instructions: Help.
skills: { allow_always: [⟦refused-grant⟧policy], forbid_always: [policy] }
mounts: {}
states:
  a: { triggers: { manual: } }
`},
	{"a mount granted and forbidden always, at both levels", `
instructions: Help.
skills: {}
mounts: { allow_always: [⟦refused-grant⟧reference], forbid_always: [reference] }
states:
  a:
    triggers: { manual: }
    mounts: { allow: [{ mount: ⟦refused-grant⟧reference }] }
`},
	{"a forbid of a skill that nothing grants", `
instructions: Help.
skills: { forbid_always: [⟦idle-forbid⟧policy] }
mounts: {}
states:
  a:
    triggers: { manual: }
    skills: { forbid: [⟦idle-forbid⟧orders] }
`},
	{"a forbid of a governed mount that nothing grants", `
instructions: Help.
skills: {}
mounts: { forbid_always: [⟦idle-forbid⟧ledger] }
states:
  a:
    triggers: { manual: }
    mounts: { forbid: [⟦idle-forbid⟧reference] }
`},
	{"skills are served and the root has no skills block", `
⟦no-skills-block⟧instructions: Help.
mounts: {}
states:
  a: { triggers: { manual: }, skills: { allow: [orders] } }
`},
	{"governed mounts are served and the root has no mounts block", `
⟦no-mounts-block⟧instructions: Help.
skills: {}
states:
  a: { triggers: { manual: } }
`},
	{"nothing is said of lists that say something", `
instructions: Help.
skills: { allow_always: [orders] }
mounts: { allow_always: [{ mount: ledger, access: read_write }] }
states:
  a:
    triggers: { manual: }
    skills: { allow: [policy], forbid: [orders] }
    mounts: { allow: [ledger, reference], forbid: [drafts, AGENTS.md, skills] }
`},
	{"nothing is said of denials that bind the workflows that are called", `
instructions: Help.
skills: { forbid_always: [policy] }
mounts: { forbid_always: [reference] }
tools: { allow_always: [archmax_workflow_child], forbid_always: [crm__export] }
states:
  a: { triggers: { manual: } }
`},
	{"nothing is said of denials that bind a hook's script", `
instructions: Help.
skills: { forbid_always: [policy] }
mounts: { forbid_always: [reference] }
tools: { forbid_always: [crm__export] }
states:
  a: { triggers: { manual: }, before: { script: hooks/gate.js } }
`},
}

func TestListsOfSkillsAndMounts(t *testing.T) { usual().run(t, listRows) }

var callRows = []broken{
	{"a call of a workflow that is missing", `
instructions: Help.
states:
  a:
    triggers: { manual: }
    tools: { allow: [archmax_workflow_child, ⟦unknown-workflow⟧archmax_workflow_chidl] }
`},
	{"a call of a workflow that is broken", `
instructions: Help.
states:
  a:
    triggers: { manual: }
    tools:
      allow:
        - tool: archmax_workflow_child
        - tool: ⟦broken-workflow⟧archmax_workflow_broken
`},
	{"a call of a workflow without a manual trigger", `
instructions: Help.
tools: { allow_always: [⟦not-delegatable⟧archmax_workflow_nightly] }
states:
  a: { triggers: { manual: } }
`},
	{"a call of itself", `
instructions: Help.
tools: { allow_always: [⟦delegation-cycle⟧archmax_workflow_refund] }
states:
  a: { triggers: { manual: } }
`},
	{"a call that leads back", `
instructions: Help.
states:
  a:
    triggers: { manual: }
    tools: { allow: [⟦delegation-cycle⟧archmax_workflow_circle] }
`},
	{"calls that go four levels deep", `
instructions: Help.
states:
  a:
    triggers: { manual: }
    tools: { allow: [archmax_workflow_two, ⟦delegation-depth⟧archmax_workflow_one] }
`},
	{"a call of a disabled workflow", `
instructions: Help.
states:
  a:
    triggers: { manual: }
    tools: { allow: [⟦calls-disabled⟧archmax_workflow_paused] }
`},
	{"a forbid of a call that nothing grants", `
instructions: Help.
states:
  a:
    triggers: { manual: }
    tools: { forbid: [⟦idle-forbid⟧archmax_workflow_child] }
`},
	{"nothing is said of a call that may be made", `
instructions: Help.
tools: { allow_always: [{ tool: archmax_workflow_child, args: { note: "x*" } }] }
states:
  a: { triggers: { manual: } }
`},
}

func TestCallsOfOtherWorkflows(t *testing.T) { plain().run(t, callRows) }

func TestFindingsAboutCallsNameTheChain(t *testing.T) {
	for entry, want := range map[string]string{
		"archmax_workflow_circle": "refund -> circle -> refund",
		"archmax_workflow_one":    "refund -> one -> two -> three -> child",
		"archmax_workflow_refund": "refund -> refund",
	} {
		in := plain().input("instructions: Help.\ntools: { allow_always: [" + entry + "] }\nstates: { a: { triggers: { manual: } } }\n")
		results, err := Workspace(in, "refund")
		if err != nil || len(results[0].Diagnostics) != 1 {
			t.Fatal(results, err)
		}
		if got := results[0].Diagnostics[0].Message; !strings.HasSuffix(got, ": "+want) {
			t.Errorf("%s: %q does not name %q", entry, got, want)
		}
	}
}

func TestTheDepthOfCallsIsTheWorkspaces(t *testing.T) {
	w := plain()
	w.depth = 4
	w.wantMarked(t, "instructions: Help.\ntools: { allow_always: [archmax_workflow_one] }\nstates: { a: { triggers: { manual: } } }\n")
	w.depth = 1
	w.wantMarked(t, "instructions: Help.\ntools: { allow_always: [⟦delegation-depth⟧archmax_workflow_three] }\nstates: { a: { triggers: { manual: } } }\n")
}

func TestToolsThatAreNotKnownAreNoMistakes(t *testing.T) {
	w := plain()
	w.tools = nil
	w.wantMarked(t, "instructions: Help.\ntools: { allow_always: [lokup] }\nstates: { a: { triggers: { manual: } } }\n")
}

func TestAnEssentialToolIsOnInEveryState(t *testing.T) {
	w := plain()
	w.ess = []string{"lookup"}
	w.wantMarked(t, "instructions: Help.\ntools: { allow_always: [⟦inert-grant⟧lookup] }\nstates: { a: { triggers: { manual: }, tools: { forbid: [lookup] } } }\n")
}
