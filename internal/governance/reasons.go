package governance

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/archmax-ai/archmax/internal/spec"
)

// A reason is one line for the model: the tool, the state, what is wrong and
// what is allowed instead. It names nothing that the state does not show: its
// own tools, skills, mounts and outgoing edges, and what the call itself said.

const useScratchpad = "Use a path under scratchpad/ instead."

// block refuses the call: what is wrong, and what is allowed instead.
func (c *call) block(rule, what, instead string) (Verdict, bool) {
	reason := fmt.Sprintf("%s is refused in state %s: %s. %s", c.title(), c.slug, what, instead)
	return Verdict{Rule: rule, Reason: oneLine(reason)}, true
}

// blockPath refuses the call for one of its paths.
func (c *call) blockPath(rule string, at *location, what string) (Verdict, bool) {
	return c.block(rule, at.describe()+" "+what, useScratchpad)
}

func (c *call) blockMount(rule string, at *location, what string) (Verdict, bool) {
	return c.block(rule, at.describe()+" "+what, c.mountsHere()+" "+useScratchpad)
}

func (c *call) blockSkill(rule string, at *location, what string) (Verdict, bool) {
	return c.block(rule, at.describe()+" "+what, c.skillsHere()+" "+useScratchpad)
}

// blockAny refuses a call that may or may not have paths.
func (c *call) blockAny(rule, what string) (Verdict, bool) {
	instead := c.toolsHere()
	if len(c.paths) > 0 {
		named := make([]string, len(c.paths))
		for i := range c.paths {
			named[i] = c.paths[i].describe()
		}
		what += " (called with " + strings.Join(named, ", ") + ")"
		instead += " Files of your own belong under scratchpad/."
	}
	return c.block(rule, what, instead)
}

// title is the tool's name, quoted when it is the model's own invention.
func (c *call) title() string {
	if c.tool == nil {
		return quote(c.called)
	}
	return c.name
}

// describe names the argument and quotes its path.
func (at *location) describe() string {
	if at.zone.Kind == ZoneEscapes && at.raw == "" {
		return at.arg
	}
	return at.arg + " " + quote(at.raw)
}

// toolsHere lists the state's tools.
func (c *call) toolsHere() string {
	origin := c.origin
	if c.state != nil && c.state.Kind == spec.Code {
		origin = FromScript
	}
	names := DiscloseTo(c.m, c.slug, c.env, origin)
	if len(names) == 0 {
		return "This state has no tools."
	}
	return "Tools of this state: " + strings.Join(names, ", ") + "."
}

func (c *call) skillsHere() string {
	var enabled []string
	for _, slug := range c.env.Skills {
		if c.skill(slug).rule == "" {
			enabled = append(enabled, slug)
		}
	}
	if len(enabled) == 0 {
		return "This state enables no skills."
	}
	return "Skills of this state: " + strings.Join(enabled, ", ") + "."
}

func (c *call) mountsHere() string {
	var names []string
	for i := range c.env.Mounts {
		m := &c.env.Mounts[i]
		if s := c.mount(m); s.rule == "" {
			name := m.Name
			if !m.File {
				name += "/"
			}
			if s.write {
				name += " (writable)"
			}
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "This state sees no mounts."
	}
	return "Mounts of this state: " + strings.Join(names, ", ") + "."
}

// describeTier words the guards of the entries that name the tool.
func (c *call) describeTier(list []*spec.ToolEntry) string {
	var parts []string
	for _, e := range list {
		if c.names(e, grant) {
			parts = append(parts, describe(e))
		}
	}
	return strings.Join(parts, ", or ")
}

// describe words an entry's guards as they are written: references by name,
// never by value.
func describe(e *spec.ToolEntry) string {
	var parts []string
	for i := range e.Args {
		parts = append(parts, "`"+e.Args[i].Name+"` matches "+globTexts(e.Args[i].Globs))
	}
	if len(e.Paths) > 0 {
		parts = append(parts, "its paths match "+globTexts(e.Paths))
	}
	return strings.Join(parts, " and ")
}

func globTexts(globs []spec.Glob) string {
	texts := make([]string, len(globs))
	for i := range globs {
		texts[i] = "`" + globs[i].Text + "`"
	}
	return strings.Join(texts, " or ")
}

// edgesOf lists where a state may go.
func edgesOf(st *spec.State) string {
	targets := make([]string, 0, len(st.Transitions))
	for _, e := range st.Transitions {
		targets = append(targets, e.To)
	}
	return strings.Join(slices.Compact(targets), ", ")
}

// quote quotes a word of the caller's, on one line and no longer than is needed
// to recognize it.
func quote(s string) string {
	const most = 200
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strconv.Quote(s)
}

// oneLine joins what a spec, a policy or a hook may have written on several
// lines.
func oneLine(s string) string {
	if !strings.ContainsAny(s, "\n\r\v\f\u0085\u2028\u2029") {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}
