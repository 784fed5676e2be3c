package validate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/spec"
)

// denied finds a grant that denials leave nothing of, or that a forbid_always
// takes a part of.
func (t *trial) denied() []finding {
	if !t.afford() {
		return nil
	}
	covered, byRoot := t.covered()
	switch {
	case covered && byRoot:
		return []finding{{
			code: diag.RefusedGrant, at: t.grant.Range, field: t.field, hint: "remove the grant, or the entry in `tools.forbid_always`",
			message: fmt.Sprintf("`%s` is granted here and denied by `tools.forbid_always`, which wins in every state (%s)", t.grant.Tool, governance.RuleForbidden),
		}}
	case covered:
		return []finding{{
			code: diag.CoveredGrant, warning: true, at: t.grant.Range, field: t.field, hint: "remove one of the two entries",
			message: fmt.Sprintf("`%s` grants `%s` and forbids it (%s)", t.s.Slug, t.grant.Tool, governance.RuleForbiddenHere),
		}}
	}
	for _, e := range t.never {
		args := t.common(e)
		if t.decide(t.open, args).Allow && t.decide(t.closed, args).Rule == governance.RuleForbidden {
			return []finding{{
				code: diag.PartGrant, warning: true, at: t.grant.Range, field: t.field, hint: "narrow the grant with `args` or `paths`, so that it says what is left",
				message: fmt.Sprintf("`tools.forbid_always` denies a part of what `%s` is granted here%s", t.grant.Tool, example(args)),
			}}
		}
	}
	return nil
}

// afford takes what one more decision with the denials costs from what is left of
// maxWork.
func (t *trial) afford() bool {
	t.c.work -= 1 + len(t.forbids) + len(t.never)
	return t.c.work >= 0
}

// covered reports whether every sample of what the grant allows is denied, and
// whether by the root.
func (t *trial) covered() (covered, byRoot bool) {
	if t.deniedByName(t.closed) {
		root := *t.open
		root.Tools.ForbidAlways = t.never
		return true, t.deniedByName(&root)
	}
	tried := 0
	for n := range samples * t.widest() {
		args := map[string]any{}
		for _, p := range t.info.Paths {
			sample(args, p.Name, t.globsOf(p.Name), n)
		}
		for _, g := range t.grant.Args {
			sample(args, g.Name, g.Globs, n)
		}
		if t.decide(t.open, args).Rule != governance.RuleAllowed {
			continue // no call of this grant's
		}
		if tried++; !t.afford() {
			return false, false
		}
		switch v := t.decide(t.closed, args); v.Rule {
		case governance.RuleForbidden:
			byRoot = true
		case governance.RuleForbiddenHere:
		default:
			return false, false
		}
	}
	return tried > 0, byRoot
}

// deniedByName reports whether the machine denies the tool whatever it is called
// with.
func (t *trial) deniedByName(m *spec.Machine) bool {
	return !slices.Contains(governance.DiscloseTo(m, t.s.Slug, t.c.env, origin(t.s)), t.grant.Tool)
}

// widest is the number of globs of the guard that has most.
func (t *trial) widest() int {
	most := max(1, len(t.grant.Paths))
	for _, g := range t.grant.Args {
		most = max(most, len(g.Globs))
	}
	return most
}

// anything stands for a guard that is not there.
var anything = []spec.Glob{{Text: "**"}}

// globsOf are the globs that a path argument must match.
func (t *trial) globsOf(arg string) []spec.Glob {
	for _, g := range t.grant.Args {
		if g.Name == arg {
			return g.Globs
		}
	}
	if len(t.grant.Paths) > 0 {
		return t.grant.Paths
	}
	return anything
}

// sample gives an argument the n-th text of its globs, in turn.
func sample(args map[string]any, name string, globs []spec.Glob, n int) {
	glob := &globs[n/samples%len(globs)]
	for _, p := range patternsOf(glob) {
		if text, ok := p.sample(n % samples); ok {
			args[name] = text
			return
		}
	}
}

// common are the arguments of a call that both the grant and the denial match, as
// far as there is one.
func (t *trial) common(denial *spec.ToolEntry) map[string]any {
	args := map[string]any{}
	denies := map[string][]spec.Glob{}
	for _, g := range denial.Args {
		denies[g.Name] = g.Globs
	}
	for _, p := range t.info.Paths {
		globs := denies[p.Name]
		if globs == nil && len(denial.Paths) > 0 {
			globs = denial.Paths
		}
		t.c.both(args, p.Name, t.globsOf(p.Name), globs)
	}
	for _, g := range t.grant.Args {
		if !t.isPath(g.Name) {
			t.c.both(args, g.Name, g.Globs, denies[g.Name])
		}
	}
	for _, g := range denial.Args {
		if _, done := args[g.Name]; !done {
			t.c.both(args, g.Name, anything, g.Globs)
		}
	}
	return args
}

// both gives an argument a text that a glob of each list matches.
func (c *checker) both(args map[string]any, name string, grants, denies []spec.Glob) {
	if denies == nil {
		denies = anything
	}
	for i := range grants {
		for j := range denies {
			if c.work--; c.work < 0 {
				return
			}
			for _, a := range patternsOf(&grants[i]) {
				for _, b := range patternsOf(&denies[j]) {
					if text, ok := meet(a, b); ok {
						args[name] = text
						return
					}
				}
			}
		}
	}
}

// example shows a call by its arguments.
func example(args map[string]any) string {
	for _, name := range slices.Sorted(maps.Keys(args)) {
		return fmt.Sprintf(", as with %s `%s`", name, args[name])
	}
	return ""
}

// forbids warns of denials of what nothing grants.
func (c *checker) forbids() {
	for i, s := range c.m.States {
		for j, e := range s.Tools.Forbid {
			if !c.offersNamed(i, e) && e.Tool != "task" && !malformed(e.Tool) {
				c.d.Warnf(diag.IdleForbid, e.Range, item(stateField(s, "tools", "forbid"), j), "correct the name, or remove the entry",
					"nothing grants `%s` in `%s`, so there is nothing to forbid", e.Tool, s.Slug)
			}
		}
	}
	if c.bindsOthers() {
		return
	}
next:
	for j, e := range c.m.Tools.ForbidAlways {
		if e.Tool == "task" || malformed(e.Tool) {
			continue // reported
		}
		for i, s := range c.m.States {
			if s.Kind != spec.Human && c.offersNamed(i, e) {
				continue next
			}
		}
		c.d.Warnf(diag.IdleForbid, e.Range, item("tools.forbid_always", j), "correct the name, or remove the entry",
			"nothing grants `%s` in any state, so there is nothing to forbid", e.Tool)
	}
}

// evidence checks that an agent could read what a human state shows. Its paths
// are shown as they are written: references are for guards.
func (c *checker) evidence() {
	for _, s := range c.m.States {
		for i, e := range s.Evidence {
			if strings.Contains(e.Value, "${{") {
				c.d.Warnf(diag.BadReference, e.Range, item(stateField(s, "evidence"), i),
					"name a fixed path, or let the agent attach the file: `archmax_advance` takes `evidence`",
					"`%s` is taken literally: `evidence` knows no references", e.Value)
			}
			v := governance.Decide(c.m, governance.Call{
				State: s.Slug, Tool: "read_file", Args: map[string]any{"file_path": e.Value}, Origin: governance.FromAgent,
			}, c.env)
			if v.Rule == governance.RuleRuntimeInternal {
				c.d.Errorf(diag.BadPath, e.Range, item(stateField(s, "evidence"), i), "name a path of the session's workspace, as in `scratchpad/report.md`",
					"`%s` is no path an agent could read (%s)", e.Value, v.Rule)
			}
		}
	}
}
