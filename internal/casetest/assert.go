package casetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
)

// The structural assertions: a miss halts the case.

// halts is embedded in structural assertions, goesOn in those about content.
type (
	halts  struct{}
	goesOn struct{}
)

func (halts) structural() bool  { return true }
func (goesOn) structural() bool { return false }

type succeeded struct{ halts }

func (*succeeded) check(r *run) finding {
	if r.outcome.Kind == runtime.KindCompleted {
		return holds
	}
	return miss("expected the session to complete; " + r.standing())
}

type parked struct {
	halts
	channel, state string
	stateRange     diag.Range
	field          string
}

func (a *parked) refer(s *statics) { s.state(a.state, a.stateRange, a.field) }

func (a *parked) check(r *run) finding {
	o := r.outcome
	if o.Kind == runtime.KindParked && (a.channel == "" || a.channel == o.ParkedChannel) && (a.state == "" || a.state == o.State) {
		return holds
	}
	want := "expected the session to be parked"
	if a.channel != "" {
		want += " on " + a.channel
	}
	if a.state != "" {
		want += " in state " + quoted(a.state)
	}
	return miss(want + "; " + r.standing())
}

type raised struct {
	halts
	code, reason *Matcher // nil: any
}

func (a *raised) check(r *run) finding {
	e := r.view.raised
	switch {
	case e == nil:
		return miss("expected the agent to raise; " + r.standing())
	case a.code != nil && !a.code.matches(e.Code):
		return miss("raised, but code: " + a.code.Match(e.Code).String())
	case a.reason != nil && !a.reason.matches(e.Reason):
		return miss("raised, but reason: " + a.reason.Match(e.Reason).String())
	}
	return holds
}

type rejected struct {
	halts
	reason *Phrase // nil: any
}

func (a *rejected) check(r *run) finding {
	switch o := r.outcome; {
	case o.Kind != runtime.KindRejected:
		return miss("expected the session to be rejected; " + r.standing())
	case a.reason != nil && !a.reason.in(o.Rejected):
		return miss(fmt.Sprintf("expected to be rejected with %s; %s", quoted(a.reason.source), r.standing()))
	}
	return holds
}

type reachedState struct {
	state string
	at    diag.Range
	field string
}

func (*reachedState) structural() bool   { return true }
func (a *reachedState) refer(s *statics) { s.state(a.state, a.at, a.field) }

func (a *reachedState) check(r *run) finding {
	for _, s := range r.state.Trail {
		if moves(s) && s.To == a.state {
			return holds
		}
	}
	return miss(fmt.Sprintf("expected the trail to reach %s; %s", quoted(a.state), r.path()))
}

// moves reports whether a step of the trail is a committed one that no trigger
// made, nor a call of another workflow, which stays where it is.
func moves(s session.Step) bool {
	return s.Kind != session.StepTrigger && s.Kind != session.StepSubWorkflow
}

// path words the trail: "the trail is triage (trigger) -> lookup (agent)".
func (v *view) path() string {
	if len(v.state.Trail) == 0 {
		return "the trail is empty"
	}
	steps := make([]string, len(v.state.Trail))
	for i, s := range v.state.Trail {
		steps[i] = fmt.Sprintf("%s (%s)", s.To, s.Kind)
	}
	return "the trail is " + cut(strings.Join(steps, " -> "), 600)
}

type noTraversal struct{ halts }

func (*noTraversal) check(r *run) finding {
	if slices.ContainsFunc(r.state.Trail, moves) {
		return miss("expected the session to stay where it began; " + r.path())
	}
	return holds
}

type triggerArrival struct {
	id    string
	at    diag.Range
	field string
}

func (*triggerArrival) structural() bool   { return true }
func (a *triggerArrival) refer(s *statics) { s.arrival(a.id, a.at, a.field) }

func (a *triggerArrival) check(r *run) finding {
	var arrived []string
	for _, s := range r.state.Trail {
		if s.Kind != session.StepTrigger {
			continue
		}
		if s.Reason == a.id {
			return holds
		}
		arrived = append(arrived, s.Reason)
	}
	if len(arrived) == 0 {
		return miss(fmt.Sprintf("expected trigger %s to arrive; none did: %s", quoted(a.id), r.standing()))
	}
	return miss(fmt.Sprintf("expected trigger %s to arrive; these did: %s", quoted(a.id), strings.Join(arrived, ", ")))
}

type trail struct {
	halts
	to      *Matcher // nil: any
	slug    string   // to, as written
	toRange diag.Range
	field   string
	kind    string
	reason  *Matcher
	count   int
}

func (a *trail) refer(s *statics) {
	if a.to != nil && !slices.ContainsFunc(s.m.States, func(st *spec.State) bool { return a.to.matches(st.Slug) }) {
		s.state(a.slug, a.toRange, a.field)
	}
}

func (a *trail) check(r *run) finding {
	n := 0
	for _, s := range r.state.Trail {
		if (a.to == nil || a.to.matches(s.To)) && (a.kind == "" || a.kind == string(s.Kind)) && (a.reason == nil || a.reason.matches(s.Reason)) {
			n++
		}
	}
	if n == a.count {
		return holds
	}
	what := "steps"
	if a.kind != "" {
		what = a.kind + " steps"
	}
	if a.to != nil {
		what += " to " + a.to.source
	}
	if a.reason != nil {
		what += " with the reason " + a.reason.source
	}
	return miss(fmt.Sprintf("expected %d %s, found %d; %s", a.count, what, n, r.path()))
}

type expectVariables struct {
	halts
	expect *Matcher
	path   string // "" : expect is a mapping of variables
	locked *bool
}

func (a *expectVariables) check(r *run) finding {
	values := r.state.Values()
	if a.path == "" {
		if bad := a.expect.Match(values); bad != nil {
			detail := bad.String()
			if bad.Got == nothing && !strings.Contains(bad.Path, ".") {
				detail += "; set are: " + names(values)
			}
			return miss(detail)
		}
		return a.lock(r, a.expect.fieldNames()...)
	}
	value, ok := spec.LookupDotted(values, a.path)
	if !ok {
		return miss(fmt.Sprintf("%s leads to nothing; set are: %s", a.path, names(values)))
	}
	if bad := a.expect.match(value, a.path); bad != nil {
		return miss(bad.String())
	}
	name, _, _ := strings.Cut(a.path, ".")
	return a.lock(r, name)
}

func (a *expectVariables) lock(r *run, variables ...string) finding {
	if a.locked == nil {
		return holds
	}
	for _, name := range variables {
		if is := r.state.Variables[name].Locked; is != *a.locked {
			word := map[bool]string{true: "locked", false: "not locked"}
			return miss(fmt.Sprintf("%s is %s, expected it to be %s", name, word[is], word[*a.locked]))
		}
	}
	return holds
}

func (m *Matcher) fieldNames() []string {
	out := make([]string, len(m.fields))
	for i, f := range m.fields {
		out[i] = f.name
	}
	return out
}
