package spec

import (
	"strconv"

	"github.com/archmax-ai/archmax/internal/diag"
)

// rules checks what only the whole document shows. The shape holds.
func (l *loader) rules() {
	l.startStates()
	slugs := make([]string, len(l.m.States))
	for i, s := range l.m.States {
		slugs[i] = s.Slug
	}
	moves := false
	for _, s := range l.m.States {
		field := Join("states", s.Slug)
		moves = moves || len(s.Transitions) > 0
		if s.OnError != "" {
			l.known(s.OnError, slugs, s.OnErrorRange, Join(field, "on_error"))
		}
		l.edges(s, slugs, field)
		switch s.Kind {
		case Human:
			l.humanState(s, field)
		case Grader:
			if s.Terminal() {
				l.Errorf(diag.GraderEdges, s.Range, field, "add `transitions`: a grader judges by choosing one", "the grader state `%s` has no edge", s.Slug)
			}
		}
	}
	for i, e := range l.m.Tools.ForbidAlways {
		if moves && e.Tool == "archmax_advance" && !e.Constrained() {
			l.Errorf(diag.AdvanceForbidden, e.Range, Join("tools", "forbid_always", strconv.Itoa(i)), "remove the entry: the edges already bound where a state may go",
				"`archmax_advance` is forbidden in a machine that has transitions")
		}
	}
}

// startStates checks that the machine can be entered, one way a trigger.
func (l *loader) startStates() {
	first := map[string]*Trigger{}
	for _, t := range l.m.Triggers() {
		if f := first[t.ID]; f != nil {
			l.Errorf(diag.DuplicateTrigger, t.Range, Join("states", t.State, "triggers", t.ID), "declare it on one state only",
				"the trigger `%s` enters `%s` and, since line %d, `%s`", t.ID, t.State, f.Range.Start.Line, f.State)
			continue
		}
		first[t.ID] = t
	}
	if len(first) == 0 {
		l.Errorf(diag.NoStartState, l.statesRange, "states", "give the first state `triggers: { manual: }`", "no state declares a trigger, so nothing can enter the machine")
	}
}

// known checks a reference to a state.
func (l *loader) known(to string, slugs []string, at diag.Range, field string) {
	if l.m.State(to) != nil {
		return
	}
	hint := "declare it, or name one of the declared states"
	if near := diag.Nearest(to, slugs); near != "" {
		hint = "did you mean `" + near + "`?"
	}
	l.Errorf(diag.UnknownState, at, field, hint, "there is no state `%s`", brief(to))
}

func (l *loader) edges(s *State, slugs []string, field string) {
	first := map[string]*Edge{}
	for i, e := range s.Transitions {
		at := Join(field, "transitions", strconv.Itoa(i), "to")
		l.known(e.To, slugs, e.Range, at)
		if f := first[e.To]; f != nil {
			hint := "keep one edge, and say in its description when to take it"
			if s.Kind == Human {
				hint = "a decision is told by its target alone: lead each label to a state of its own"
			}
			l.Errorf(diag.DuplicateEdge, e.Range, at, hint,
				"`%s` has a second edge to `%s`, after line %d", s.Slug, e.To, f.Range.Start.Line)
			continue
		}
		first[e.To] = e
	}
}

func (l *loader) humanState(s *State, field string) {
	if s.Terminal() {
		l.Errorf(diag.HumanEdges, s.Range, field, "add `transitions` for the person to choose from", "the human state `%s` has no edge", s.Slug)
	}
	first := map[EdgeType]*Edge{}
	for i, e := range s.Transitions {
		at := Join(field, "transitions", strconv.Itoa(i))
		if e.To == s.Slug {
			l.Errorf(diag.HumanEdges, e.Range, Join(at, "to"), "lead to another state, such as the one that does the work over", "the human state `%s` has an edge to itself", s.Slug)
		}
		if e.Type == None {
			continue
		}
		if f := first[e.Type]; f != nil {
			l.Errorf(diag.HumanEdges, e.Range, Join(at, "type"), "label one edge, and leave the other without `type`",
				"the human state `%s` has a second edge of type `%s`, after line %d", s.Slug, e.Type, f.Range.Start.Line)
			continue
		}
		first[e.Type] = e
	}
}

// lints warns of what the document alone shows.
func (l *loader) lints() {
	m := l.m
	if m.Instructions == "" {
		l.Warnf(diag.NoInstructions, m.Range, "instructions", "add `instructions`: standing direction for every model call", "the workflow has no `instructions`")
	}
	if m.Disabled {
		l.Warnf(diag.DisabledWorkflow, l.disabledAt, "disabled", "remove `disabled` to let turns start", "the workflow is disabled: no turn can start")
	}
	for _, s := range m.States {
		field := Join("states", s.Slug)
		if s.Kind == Agent && len(s.Transitions) > 1 && s.Instructions == "" {
			l.Warnf(diag.NoStateInstructions, s.Range, Join(field, "instructions"), "add `instructions` that say what to do before choosing",
				"the agent state `%s` has %d edges and no `instructions`", s.Slug, len(s.Transitions))
		}
		if s.Model != "" && s.Model == m.Settings.Model {
			l.Warnf(diag.RedundantModel, s.ModelRange, Join(field, "model"), "remove it", "the model of `%s` is the workflow's anyway", s.Slug)
		}
	}
}
