package validate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/spec"
)

// delegation checks the workflows that this one may call.
func (c *checker) delegation() {
	calls := &callGraph{in: c.in, longest: map[string][]string{}, open: map[string]bool{}}
	c.eachGrant(func(_ *spec.State, e *spec.ToolEntry, field string) {
		target, ok := callee(e)
		if !ok {
			return
		}
		fail := func(code diag.Code, hint, format string, args ...any) {
			c.d.Errorf(code, e.ToolRange, field, hint, format, args...)
		}
		if target == c.m.Slug {
			fail(diag.DelegationCycle, "remove the entry: a workflow cannot call itself", "`%s` calls itself: %s -> %s", target, target, target)
			return
		}
		m, problems := c.in.load(target)
		missing := slices.IndexFunc(problems, func(d diag.Diagnostic) bool { return d.Code == string(diag.Missing) })
		switch {
		case missing >= 0:
			fail(diag.UnknownWorkflow, problems[missing].Hint, "there is no workflow `%s` to call", target)
			return
		case m == nil || problems.HasErrors():
			n, _ := problems.Count()
			fail(diag.BrokenWorkflow, fmt.Sprintf("`archmax validate %s` lists them", target), "the workflow `%s` cannot be called: it has %s", target, count(n, "error"))
			return
		}
		if t, _ := m.Trigger(spec.Manual); t == nil {
			fail(diag.NotDelegatable, fmt.Sprintf("declare `triggers: { manual: }` on a state of %s", m.File), "the workflow `%s` cannot be called: it has no `manual` trigger", target)
		}
		if m.Disabled {
			c.d.Warnf(diag.CallsDisabled, e.ToolRange, field, "enable it, or remove the entry", "the workflow `%s` is disabled: every call of it is refused", target)
		}
		if chain := calls.way(target, c.m.Slug); chain != nil {
			fail(diag.DelegationCycle, "remove one of the calls", "workflows call each other in a circle: %s -> %s", c.m.Slug, strings.Join(chain, " -> "))
		} else if chain := calls.chain(target); len(chain) > c.in.MaxDepth {
			fail(diag.DelegationDepth, "call fewer levels, or raise `sub_workflows.max_depth` in archmax.yaml",
				"workflows call each other %d levels deep, and %d are allowed: %s -> %s", len(chain), c.in.MaxDepth, c.m.Slug, strings.Join(chain[:c.in.MaxDepth+1], " -> "))
		}
	})
}

// callee is the slug of the workflow that an entry's tool calls.
func callee(e *spec.ToolEntry) (string, bool) {
	slug, ok := strings.CutPrefix(e.Tool, spec.DelegationPrefix)
	return slug, ok && spec.ValidSlug(slug)
}

// callGraph is which workflow may call which.
type callGraph struct {
	in      *Input
	longest map[string][]string
	open    map[string]bool // being looked at
}

// callees lists the workflows that a workflow may call, each once.
func (g *callGraph) callees(slug string) (slugs []string) {
	m, _ := g.in.load(slug)
	if m == nil {
		return nil
	}
	list := func(entries []*spec.ToolEntry) {
		for _, e := range entries {
			if target, ok := callee(e); ok && !slices.Contains(slugs, target) {
				slugs = append(slugs, target)
			}
		}
	}
	list(m.Tools.AllowAlways)
	for _, s := range m.States {
		list(s.Tools.Allow)
	}
	return slugs
}

// way is the shortest chain of calls from one workflow to another, both
// included; nil when there is none.
func (g *callGraph) way(from, to string) []string {
	before := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for _, next := range g.callees(queue[0]) {
			if _, seen := before[next]; seen {
				continue
			}
			before[next] = queue[0]
			if next == to {
				chain := []string{to}
				for at := queue[0]; at != ""; at = before[at] {
					chain = append(chain, at)
				}
				slices.Reverse(chain)
				return chain
			}
			queue = append(queue, next)
		}
	}
	return nil
}

// chain is the longest chain of calls from a workflow, itself included. A circle
// counts once: it is an error of its own.
func (g *callGraph) chain(slug string) []string {
	if known, ok := g.longest[slug]; ok {
		return known
	}
	g.open[slug] = true
	var rest []string
	for _, next := range g.callees(slug) {
		if g.open[next] {
			continue
		}
		if further := g.chain(next); len(further) > len(rest) {
			rest = further
		}
	}
	delete(g.open, slug)
	g.longest[slug] = append([]string{slug}, rest...)
	return g.longest[slug]
}
