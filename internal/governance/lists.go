package governance

import (
	"fmt"
	"slices"

	"github.com/archmax-ai/archmax/internal/spec"
)

// forbiddenAlways is rule 10: this workflow's denials and every ancestor's.
func forbiddenAlways(c *call) (Verdict, bool) {
	if v, ok := c.denied(RuleForbidden, c.m.Tools.ForbidAlways, c.env.Variables, c.m.Slug); ok {
		return v, true
	}
	for i, m := range c.env.Ancestors {
		if v, ok := c.denied(RuleForbidden, m.Tools.ForbidAlways, c.env.ancestorVariables(i), m.Slug); ok {
			return v, true
		}
	}
	return pass()
}

func (e *Env) ancestorVariables(i int) map[string]any {
	if i < len(e.AncestorVariables) {
		return e.AncestorVariables[i]
	}
	return nil
}

// forbiddenHere is rule 11.
func forbiddenHere(c *call) (Verdict, bool) {
	if c.state == nil || c.origin == FromLifecycle {
		return pass()
	}
	return c.denied(RuleForbiddenHere, c.state.Tools.Forbid, c.env.Variables, "")
}

// denied answers when a denial of the list matches the call, or when one that
// names the tool cannot be told for want of a variable. A denial that matches
// comes first: it leaves the agent something to correct. Workflow is the one
// that declared the list, "" for the state's own.
func (c *call) denied(rule string, list []*spec.ToolEntry, vars map[string]any, workflow string) (Verdict, bool) {
	var ref *spec.Reference
	var why string
	for _, e := range list {
		if !c.names(e, denial) || c.hit && !c.guardsPath(e) {
			continue
		}
		if r, w := unresolved(e, vars); r != nil {
			if ref == nil {
				ref, why = r, w
			}
			continue
		}
		if c.matches(e, denial, vars) {
			return c.blockAny(rule, deniedBy(e, workflow))
		}
	}
	if ref != nil {
		v, _ := c.blockAny(RuleUnresolvedVariable, fmt.Sprintf("a denial of this tool needs %s, which %s", ref.Text, why))
		v.Fatal = true
		return v, true
	}
	return pass()
}

// guardsPath reports whether a denial is about paths, so that it has a say over
// hits. Any other was decided with the call that searched; but a denial of
// read_file whole, which a hit is decided as, always has one.
func (c *call) guardsPath(e *spec.ToolEntry) bool {
	return !e.Constrained() || len(e.Paths) > 0 ||
		slices.ContainsFunc(e.Args, func(g spec.ArgGuard) bool { return c.declares(g.Name) })
}

func deniedBy(e *spec.ToolEntry, workflow string) string {
	what := "it is forbidden here (tools.forbid)"
	if workflow != "" {
		what = fmt.Sprintf("workflow %s forbids it in every state (tools.forbid_always)", workflow)
	}
	if e.Constrained() {
		what += " where " + describe(e)
	}
	return what
}

// stateDefault is rule 14. It answers every call that came this far.
func stateDefault(c *call) (Verdict, bool) {
	switch {
	case c.state == nil:
		return c.blockAny(RuleNotAllowed, "the workflow declares no such state")
	case !Callable(*c.tool, c.state.Kind, c.origin):
		return c.block(RuleNotAllowed, "code may not call it; it is for the agent", c.toolsHere())
	case c.origin == FromLifecycle:
		return allow(RuleAllowed)
	case c.tool.Control && !hasControl(c.state, c.name):
		return c.block(RuleNotAllowed, "this state does not have it", c.toolsHere())
	case c.onlyReads() && !c.tool.Control && !c.tool.ReadOnly:
		return c.block(RuleNotAllowed, "a grader has only tools that read", c.toolsHere())
	}
	if v, ok := c.granted(c.state.Tools.Allow); ok {
		return v, true
	}
	if c.tool.AlwaysOn || c.tool.Control {
		return allow(RuleAllowed)
	}
	if v, ok := c.granted(c.m.Tools.AllowAlways); ok {
		return v, true
	}
	return c.block(RuleNotAllowed, "nothing grants it here", c.toolsHere())
}

// granted decides by one tier of grants; it passes when the tier does not name
// the tool.
func (c *call) granted(list []*spec.ToolEntry) (Verdict, bool) {
	var ref *spec.Reference
	var why string
	named := false
	for _, e := range list {
		if !c.names(e, grant) {
			continue
		}
		named = true
		if r, w := unresolved(e, c.env.Variables); r != nil {
			if ref == nil {
				ref, why = r, w
			}
			continue
		}
		if c.matches(e, grant, c.env.Variables) {
			return allow(RuleAllowed)
		}
	}
	switch {
	case !named:
		return pass()
	case ref != nil:
		v, _ := c.blockAny(RuleUnresolvedVariable, fmt.Sprintf("its grant needs %s, which %s", ref.Text, why))
		v.Fatal = true
		return v, true
	default:
		return c.blockAny(RuleNotAllowed, "with these arguments nothing grants it; it is granted where "+c.describeTier(list))
	}
}

// onlyReads reports whether the state is given only tools that read: a grader's
// (automation.md). A hook has no state's limits.
func (c *call) onlyReads() bool { return c.state.Kind == spec.Grader && c.origin != FromLifecycle }
