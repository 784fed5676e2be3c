package governance

import (
	"fmt"
	"strings"

	"github.com/archmax-ai/archmax/internal/spec"
)

// decideTransition decides a move: the state's requires, then the edge, then
// what the hooks said.
func decideTransition(m *spec.Machine, a Transition, env *Env) Verdict {
	from := m.State(a.From)
	if from == nil {
		return Verdict{Rule: RuleEntryUnknown, Reason: fmt.Sprintf("The workflow declares no state %s.", quote(a.From))}
	}
	refuse := func(rule, what, instead string) Verdict {
		move := "archmax_advance to " + quote(a.To)
		if from.Kind == spec.Human {
			move = "a decision for " + quote(a.To)
		}
		return Verdict{Rule: rule, Reason: oneLine(fmt.Sprintf("%s is refused in state %s: %s. %s", move, a.From, what, instead))}
	}
	if unset := unsetNames(from, env.Variables); len(unset) > 0 {
		return refuse(RuleTransitionRequires, "not set yet: "+strings.Join(unset, ", "),
			"Set it with archmax_set_variables, then advance.")
	}
	edge := from.Edge(a.To)
	switch {
	case edge == nil && from.Terminal():
		return refuse(RuleTransitionNoEdge, "the state is terminal and leads nowhere", "Finish here, with text.")
	case edge == nil:
		return refuse(RuleTransitionNoEdge, "there is no such transition", "Valid targets: "+edgesOf(from)+".")
	}
	rule, what := hookBlock(a.Hooks)
	if rule == "" {
		return Verdict{Allow: true, Rule: RuleTransitionAllowed}
	}
	v := refuse(rule, what, "See to it and advance again; valid targets: "+edgesOf(from)+".")
	v.Fatal = rule == RuleHookError
	return v
}

// unsetNames are the required variables that the session does not hold, in the
// order of the spec. A null that was set is set.
func unsetNames(st *spec.State, vars map[string]any) []string {
	var unset []string
	for _, name := range st.Requires {
		if _, ok := vars[name.Value]; !ok {
			unset = append(unset, name.Value)
		}
	}
	return unset
}

// decidePlace decides what has a state and no edge: an entry, or a completion.
func decidePlace(m *spec.Machine, state, allowed string, hooks []HookOutcome) Verdict {
	if m.State(state) == nil {
		return Verdict{Rule: RuleEntryUnknown, Reason: fmt.Sprintf("The workflow declares no state %s.", quote(state))}
	}
	rule, what := hookBlock(hooks)
	if rule == "" {
		return Verdict{Allow: true, Rule: allowed}
	}
	act := "Entering state " + state
	if allowed == RuleCompletionAllowed {
		act = "Finishing in state " + state
	}
	return Verdict{
		Rule: rule, Fatal: rule == RuleHookError,
		Reason: oneLine(fmt.Sprintf("%s is refused: %s.", act, what)),
	}
}

// hookBlock is the rule of the first outcome that is not ok, "" when there is
// none. A correct before entry is a veto that says so; an answer that is no
// verdict vetoes, quoted.
func hookBlock(hooks []HookOutcome) (rule, what string) {
	for _, h := range hooks {
		said := ""
		if h.Reason != "" {
			said = ": " + strings.TrimRight(h.Reason, ". ")
		}
		switch {
		case h.Verdict == "ok":
			continue
		case h.Verdict == "error":
			return RuleHookError, fmt.Sprintf("its %s hook failed%s", h.Phase, said)
		case h.Verdict == "correct" && h.Phase == "after":
			return RuleHookCorrect, "its after hook asks for a correction" + said
		case h.Verdict == "correct":
			return RuleHookVeto, "its before hook asked for a correction, which is a veto before entry" + said
		case h.Verdict == "veto":
			return RuleHookVeto, fmt.Sprintf("its %s hook vetoed it%s", h.Phase, said)
		default:
			return RuleHookVeto, fmt.Sprintf("its %s hook answered %s, which is no verdict and counts as a veto%s",
				h.Phase, quote(h.Verdict), said)
		}
	}
	return "", ""
}
