package validate

import (
	"slices"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/spec"
)

// triggerVariable is set by the runtime in every session.
const triggerVariable = "trigger"

// guards warns of references in guards to variables that nothing guarantees. A
// variable is guaranteed in a state when on every path from every start to it the
// trigger requires it, or a state that is left by an edge does: `requires` holds
// an edge back, while on_error leaves a state whatever is unset.
func (g *graph) guards() {
	loose := map[string][]int{} // by variable: the walk to the states it may be unset in
	check := func(e *spec.ToolEntry, field string, states func() []int) {
		eachReference(e, func(ref *spec.Reference, at diag.Range, key string) {
			before, ok := loose[ref.Name]
			if !ok {
				before = g.unset(ref.Name)
				loose[ref.Name] = before
			}
			for _, i := range states() {
				if before[i] != unseen {
					g.c.d.Warnf(diag.LooseGuard, at, spec.Join(field, key), "add `"+ref.Name+"` to the trigger's `requires`, or to those of a state before",
						"nothing guarantees %s in `%s`: `%s` may be unset on the path %s", ref.Text, g.states[i].Slug, ref.Name, g.path(back(before, i)))
					return
				}
			}
		})
	}
	for i, s := range g.states {
		here := func() []int { return []int{i} }
		for j, e := range s.Tools.Allow {
			check(e, item(stateField(s, "tools", "allow"), j), here)
		}
		for j, e := range s.Tools.Forbid {
			check(e, item(stateField(s, "tools", "forbid"), j), here)
		}
	}
	for j, e := range g.c.m.Tools.AllowAlways {
		check(e, item("tools.allow_always", j), func() (states []int) {
			for _, s := range g.c.counting(e) {
				states = append(states, slices.Index(g.states, s))
			}
			return states
		})
	}
	for j, e := range g.c.m.Tools.ForbidAlways {
		check(e, item("tools.forbid_always", j), func() (states []int) {
			for i, s := range g.states {
				if s.Kind != spec.Human && g.c.offersNamed(i, e) {
					states = append(states, i)
				}
			}
			return states
		})
	}
}

// eachReference calls visit with every reference of an entry's guards, the place
// of its glob and the field below the entry's.
func eachReference(e *spec.ToolEntry, visit func(ref *spec.Reference, at diag.Range, key string)) {
	globs := func(globs []spec.Glob, key string) {
		for _, glob := range globs {
			for _, part := range glob.Parts {
				if part.Ref != nil {
					visit(part.Ref, glob.Range, key)
				}
			}
		}
	}
	for _, arg := range e.Args {
		globs(arg.Globs, "args."+arg.Name)
	}
	globs(e.Paths, "paths")
}

// unset walks the states that a session may work in while the variable is unset.
func (g *graph) unset(name string) []int {
	var from []int
	if name != triggerVariable {
		for _, i := range g.starts {
			if slices.ContainsFunc(g.states[i].Triggers, func(t *spec.Trigger) bool {
				return !slices.ContainsFunc(t.Requires, func(e *spec.Entry) bool { return e.Name == name })
			}) {
				from = append(from, i)
			}
		}
	}
	return g.walk(from, func(at int, m move) bool { return m.onError || !has(g.states[at].Requires, name) })
}
