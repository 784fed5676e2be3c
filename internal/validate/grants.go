package validate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/spec"
)

// toolNames warns of grants that no tool can have the name of: not built in, not
// a command tool of the workspace, and no <server>__<action>.
func (c *checker) toolNames() {
	if c.in.Tools == nil {
		return
	}
	var names []string
	for _, info := range c.env.Tools.All() {
		if c.known[info.Name] {
			names = append(names, info.Name)
		}
	}
	c.eachGrant(func(_ *spec.State, e *spec.ToolEntry, field string) {
		bare := strings.Contains(e.Tool, "__") || strings.HasPrefix(e.Tool, spec.DelegationPrefix)
		if c.known[e.Tool] || bare || malformed(e.Tool) || e.Tool == "*" || e.Tool == "task" || e.Tool == "eval" {
			return
		}
		hint := "declare it under `tools` in archmax.yaml; an MCP server's tool is named <server>__<action>"
		full := slices.IndexFunc(names, func(name string) bool { return strings.HasSuffix(name, "__"+e.Tool) })
		if full >= 0 {
			hint = fmt.Sprintf("did you mean `%s`? a grant needs the full name", names[full])
		} else {
			hint = nearHint(e.Tool, names, hint)
		}
		c.d.Warnf(diag.UnknownTool, e.ToolRange, field, hint, "no tool of this workspace is named `%s`, so the entry grants nothing", e.Tool)
	})
}

// finding is what is wrong with a grant in one state.
type finding struct {
	code    diag.Code
	warning bool
	at      diag.Range
	field   string
	hint    string
	message string
}

// refuses reports whether the finding is about a refusal, which another state may
// not have.
func (f finding) refuses() bool { return f.code == diag.RefusedGrant || f.code == diag.RunPath }

func (c *checker) add(f finding) {
	if f.warning {
		c.d.Warnf(f.code, f.at, f.field, f.hint, "%s", f.message)
	} else {
		c.d.Errorf(f.code, f.at, f.field, f.hint, "%s", f.message)
	}
}

// grants checks every tool grant against what the kernel refuses anyway.
func (c *checker) grants() {
	for i, e := range c.m.Tools.AllowAlways {
		c.rootGrant(e, item("tools.allow_always", i))
	}
	for _, s := range c.m.States {
		if len(s.Tools.Allow) == 0 {
			continue
		}
		own := newDenials(s.Tools.Forbid)
		for i, e := range s.Tools.Allow {
			for _, f := range c.judge(s, e, own, item(stateField(s, "tools", "allow"), i)) {
				c.add(f)
			}
		}
	}
}

// rootGrant checks an allow_always entry. It is refused where it is refused in
// every state that it counts in; what a state forbids for itself is no fault of
// the entry.
func (c *checker) rootGrant(e *spec.ToolEntry, field string) {
	if e.Tool == "*" {
		return // reported
	}
	info, _ := c.env.Tools.Resolve(e.Tool)
	if info.AlwaysOn || info.Control {
		c.d.Warnf(diag.InertGrant, e.Range, field, "remove it; a state's own entry can narrow the tool",
			"`%s` is on in every state, so an entry in `allow_always` grants nothing and narrows nothing", e.Tool)
		working := slices.DeleteFunc(slices.Clone(c.m.States), func(s *spec.State) bool { return s.Kind == spec.Human })
		for _, f := range c.everywhere(working, e, field) {
			if f.refuses() && !f.warning { // what no list could grant is wrong all the same
				c.add(f)
			}
		}
		return
	}
	for _, f := range c.everywhere(c.counting(e), e, field) {
		c.add(f)
	}
}

// everywhere is what is to be said of an allow_always entry over the states: a
// refusal only where each of them refuses.
func (c *checker) everywhere(states []*spec.State, e *spec.ToolEntry, field string) (refused []finding) {
	for i, s := range states {
		found := c.judge(s, e, denials{}, field)
		if !slices.ContainsFunc(found, finding.refuses) {
			refused = found // warnings, which hold wherever the entry counts
			break
		}
		if i == 0 {
			refused = found
			continue
		}
		var left []finding
		for _, f := range refused {
			n := slices.IndexFunc(found, func(other finding) bool { return other.at == f.at && other.refuses() })
			switch {
			case !f.refuses():
				left = append(left, f)
			case n >= 0 && found[n].warning:
				left = append(left, found[n])
			case n >= 0:
				left = append(left, f)
			}
		}
		if refused = left; len(refused) == 0 {
			break
		}
	}
	return refused
}

// counting lists the states that an allow_always entry counts in: a state that
// mentions the tool itself has its own tier.
func (c *checker) counting(e *spec.ToolEntry) (states []*spec.State) {
	for _, s := range c.m.States {
		mentions := slices.ContainsFunc(s.Tools.Allow, func(own *spec.ToolEntry) bool { return own.Tool == e.Tool })
		if s.Kind != spec.Human && !mentions {
			states = append(states, s)
		}
	}
	return states
}

// trial is one grant alone in a state, to be tried on calls.
type trial struct {
	c       *checker
	s       *spec.State
	info    governance.ToolInfo
	grant   *spec.ToolEntry
	field   string
	open    *spec.Machine // nothing is denied
	closed  *spec.Machine // as the workflow has it
	forbids []*spec.ToolEntry
	never   []*spec.ToolEntry
}

// judge finds what the kernel refuses of a grant in a state whose own denials
// are own.
func (c *checker) judge(s *spec.State, e *spec.ToolEntry, own denials, field string) []finding {
	if e.Tool == "*" || e.Tool == "task" || malformed(e.Tool) {
		return nil // reported
	}
	t := &trial{c: c, s: s, grant: plainEntry(e), field: field, forbids: own.of(e.Tool), never: c.denials.of(e.Tool)}
	t.info, _ = c.env.Tools.Resolve(e.Tool)
	view := *s
	view.Tools = spec.StateTools{Allow: []*spec.ToolEntry{t.grant}}
	bare := *c.m
	bare.Tools = spec.ToolLists{}
	t.open = bare.Only(&view)
	if f, ok := t.kind(); ok {
		return []finding{f}
	}
	found, refused := t.places()
	if refused {
		return found
	}
	found = append(found, t.scratchpad()...)
	if len(t.forbids)+len(t.never) > 0 {
		denied := view
		denied.Tools.Forbid = t.forbids
		bare.Tools.ForbidAlways = t.never
		t.closed = bare.Only(&denied)
		found = append(found, t.denied()...)
	}
	return found
}

func (t *trial) decide(m *spec.Machine, args map[string]any) governance.Verdict {
	return governance.Decide(m, governance.Call{State: t.s.Slug, Tool: t.grant.Tool, Args: args, Origin: origin(t.s)}, t.c.env)
}

// kind finds a tool that the state could never have: a control tool of another
// kind of state, one that writes in a grader, one that scripts may not call.
func (t *trial) kind() (finding, bool) {
	view := *t.s
	view.Tools = spec.StateTools{Allow: []*spec.ToolEntry{{Tool: t.grant.Tool}}}
	if slices.Contains(governance.DiscloseTo(t.open.Only(&view), t.s.Slug, t.c.env, origin(t.s)), t.grant.Tool) {
		return finding{}, false
	}
	why := "the state does not have it"
	switch {
	case t.grant.Tool == "eval":
		why = "the tool that runs code is named `archmax_eval`"
	case t.s.Kind == spec.Grader && !t.info.Control:
		why = "a grader has only tools that read"
	case t.s.Kind == spec.Code && !t.info.Control:
		why = "a script may not call it"
	case t.grant.Tool == toolAdvance && t.s.Terminal():
		why = "the state is terminal, so there is nowhere to go"
	}
	return finding{
		code: diag.RefusedGrant, at: t.grant.Range, field: t.field, hint: "remove the entry",
		message: fmt.Sprintf("`%s` grants `%s`, which is refused anyway: %s", t.s.Slug, t.grant.Tool, why),
	}, true
}

// placeGuard is the part of a grant that is about some of the tool's paths.
type placeGuard struct {
	args  []string // the path arguments
	globs []spec.Glob
	field string
}

// placeGuards lists the grant's guards on paths.
func (t *trial) placeGuards() (guards []placeGuard) {
	if len(t.grant.Paths) > 0 {
		var all []string
		for _, p := range t.info.Paths {
			all = append(all, p.Name)
		}
		guards = append(guards, placeGuard{all, t.grant.Paths, t.field + ".paths"})
	}
	for _, g := range t.grant.Args {
		if t.isPath(g.Name) {
			guards = append(guards, placeGuard{[]string{g.Name}, g.Globs, t.field + ".args." + g.Name})
		}
	}
	return guards
}

func (t *trial) isPath(arg string) bool {
	return slices.ContainsFunc(t.info.Paths, func(p governance.PathArg) bool { return p.Name == arg })
}

// neutral is a path in no area and no mount.
const neutral = "any"

// places tries the path globs of each guard, with every other path of the call
// out of harm's way, so that the refusals are the globs'. Refused says that a
// guard leaves an argument no glob that grants anything: every call that the
// entry covers is refused, and each of the guard's globs is an error. A glob that
// grants nothing in an entry that grants something is a warning.
func (t *trial) places() (found []finding, refused bool) {
	for _, guard := range t.placeGuards() {
		if len(guard.args) == 0 {
			if !t.c.known[t.grant.Tool] {
				continue // its arguments are not known
			}
			return append(found, finding{
				code: diag.RefusedGrant, at: guard.globs[0].Range, field: guard.field, hint: "guard an argument with `args`",
				message: fmt.Sprintf("`%s` declares no path argument, so no call satisfies `paths`", t.grant.Tool),
			}), true
		}
		dead, whole := t.deadGlobs(&guard)
		found = append(found, dead...)
		refused = refused || whole
	}
	return found, refused
}

// deadGlobs finds the globs of a guard that grant no call, and says whether that
// leaves the entry nothing. The rules on places look at one argument at a time, so
// a glob is of use when one of the arguments may be there and each of the others
// has a glob of its own where it may be: a copy reads its source and writes its
// destination. A host tool's arguments may all be left out, for all that is known
// here: one that may be somewhere is enough.
func (t *trial) deadGlobs(guard *placeGuard) (found []finding, whole bool) {
	rules := make([]string, len(guard.globs)) // why a glob is of no use; "": it is
	stuck := ""                               // why an argument has no glob at all
	for i := range rules {
		rules[i] = t.refusedAt(guard.args[0], &guard.globs[i])
	}
	for n, arg := range guard.args {
		open := false
		why := ""
		for i := range guard.globs {
			rule := rules[i]
			if n > 0 {
				rule = t.refusedAt(arg, &guard.globs[i])
			}
			if rule == "" {
				rules[i], open = "", true
			} else if why == "" {
				why = rule
			}
		}
		if !open && stuck == "" {
			stuck = why
		}
	}
	if _, fixed := arguments()[t.grant.Tool]; !fixed && slices.Contains(rules, "") {
		stuck = ""
	}
	for i := range guard.globs {
		switch {
		case stuck != "" && len(guard.args) > 1:
			found = append(found, t.deadGlob(guard, i, cmp.Or(rules[i], stuck)))
		case rules[i] != "":
			found = append(found, t.deadGlob(guard, i, rules[i]))
		}
	}
	if stuck != "" {
		return found, true
	}
	for i := range found {
		found[i].warning = true
	}
	return found, false
}

// refusedAt is the rule that refuses every call with a path argument where the
// glob says; "" when one may pass, or nothing can be said of the glob.
func (t *trial) refusedAt(arg string, glob *spec.Glob) string {
	first := ""
	alive := func(text string) bool {
		args := map[string]any{}
		for _, p := range t.info.Paths {
			args[p.Name] = neutral
		}
		args[arg] = text
		v := t.decide(t.open, args)
		if first == "" {
			first = v.Rule
		}
		return !refusesPlace(v.Rule)
	}
	patterns := patternsOf(glob)
	if len(patterns) == 0 || anySample(patterns, alive) || t.aliveInside(patterns, alive) {
		return ""
	}
	return first
}

func (t *trial) deadGlob(guard *placeGuard, i int, rule string) finding {
	glob := &guard.globs[i]
	f := finding{
		code: diag.RefusedGrant, at: glob.Range, field: guard.field,
		message: fmt.Sprintf("`%s` is granted at `%s`, and every call there is refused anyway (%s)", t.grant.Tool, glob.Text, rule),
		hint:    placeHints[rule],
	}
	if t.grant.Tool == toolRun {
		f.code = diag.RunPath
		if rule == governance.RuleSkillOnly {
			f.message = fmt.Sprintf("`archmax_run` is granted at `%s`, which is no script of a skill bundle", glob.Text)
		} else {
			f.message = fmt.Sprintf("`archmax_run` is granted at `%s`, in a bundle that `%s` does not enable (%s)", glob.Text, t.s.Slug, rule)
		}
	}
	return f
}

// anySample reports whether a sample of one of the patterns is alive.
func anySample(patterns []pattern, alive func(string) bool) bool {
	for _, p := range patterns {
		for n := range samples {
			if text, ok := p.sample(n); ok && alive(text) {
				return true
			}
		}
	}
	return false
}

// aliveInside looks where a wildcard's word would not come by chance: in the
// bundles and mounts that the state has.
func (t *trial) aliveInside(patterns []pattern, alive func(string) bool) bool {
	var inside []string
	for _, slug := range governance.EnabledSkills(t.c.m, t.s.Slug, t.c.env) {
		inside = append(inside, "skills/"+slug+"/**/*")
	}
	for _, p := range governance.MountAccess(t.c.m, t.s.Slug, t.c.env) {
		inside = append(inside, p.Mount.Name+"/**", p.Mount.Name+"/**/*")
	}
	for _, text := range inside {
		for _, place := range patternsOf(&spec.Glob{Text: text}) {
			for _, p := range patterns {
				if text, ok := meet(p, place); ok && alive(text) {
					return true
				}
			}
		}
	}
	return false
}

// placeHints say what to do about a grant that a rule refuses.
var placeHints = map[string]string{
	governance.RuleGovernancePlane: "nothing under workflows/ is open to a session; name another place",
	governance.RuleSkillOnly:       "name a script of an enabled bundle, as in `skills/orders/scripts/check.js`",
	governance.RuleEscapes:         "name a path below the workspace's root, with slashes",
	governance.RuleReadOnly:        "the workspace serves the mount read-only; write elsewhere, or set `read_only: false` in archmax.yaml",
	governance.RuleRuntimeInternal: "the area is the runtime's own; name another place",
	governance.RuleRuntimeManaged:  "the area is written by the runtime alone; grant a tool that reads",
	governance.RuleMountForbidden:  "remove the entry, or the denial of the mount",
	governance.RuleMountNotAllowed: "enable the mount in `mounts.allow`",
	governance.RuleMountReadOnly:   "grant the mount with `access: read_write`",
	governance.RuleSkillForbidden:  "remove the entry, or the denial of the skill",
	governance.RuleSkillNotAllowed: "enable the skill in `skills.allow`",
}

func refusesPlace(rule string) bool { return placeHints[rule] != "" }

// scratchpad finds globs inside scratchpad/, which is open to the always-on file
// tools whatever a list says.
func (t *trial) scratchpad() (found []finding) {
	if !t.info.AlwaysOn || len(t.info.Paths) == 0 {
		return nil
	}
	guards := t.placeGuards()
	for _, guard := range guards {
		for i := range guard.globs {
			governs := func(text string) bool {
				args := map[string]any{}
				for _, p := range t.info.Paths {
					args[p.Name] = neutral
				}
				for _, other := range guards {
					if sample, ok := firstSample(other.globs); ok {
						for _, name := range other.args {
							args[name] = sample
						}
					}
				}
				for _, name := range guard.args {
					args[name] = text
				}
				return t.decide(t.open, args).Rule != governance.RuleScratchpad
			}
			patterns := patternsOf(&guard.globs[i])
			if len(patterns) == 0 || anySample(patterns, governs) {
				continue
			}
			found = append(found, finding{
				code: diag.ScratchpadGrant, warning: true, at: guard.globs[i].Range, field: guard.field, hint: "remove the glob",
				message: fmt.Sprintf("`%s` is inside scratchpad/, where `%s` is open whatever the lists say: it governs nothing", guard.globs[i].Text, t.grant.Tool),
			})
		}
		if len(found) > 0 {
			return found // the other guards of the entry say the same
		}
	}
	return found
}

func firstSample(globs []spec.Glob) (string, bool) {
	for i := range globs {
		for _, p := range patternsOf(&globs[i]) {
			if text, ok := p.sample(0); ok {
				return text, true
			}
		}
	}
	return "", false
}
