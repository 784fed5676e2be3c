package governance

import (
	"slices"
	"strings"

	"github.com/archmax-ai/archmax/internal/spec"
)

// standing is where a mount or a bundle stands in a state. The zero rule means
// that it is enabled.
type standing struct {
	rule     string
	workflow string // that forbids it in every state, when one does
	write    bool   // of a mount: enabled for writing too
}

// bundleOf is the skill bundle that a served path lies in and the path inside
// it. Slug is "" when it lies in none.
func bundleOf(z *Zone) (slug, inside string) {
	if z.Mount == nil {
		return "", ""
	}
	rest, _, ok := under(z.Path, skillsMount)
	if !ok {
		return "", ""
	}
	slug, inside, _ = strings.Cut(rest, "/")
	return slug, inside
}

// mounts is rule 8. A lifecycle call skips its state part.
func mounts(c *call) (Verdict, bool) {
	for i := range c.paths {
		at := &c.paths[i]
		mount := at.zone.Mount
		switch {
		case mount == nil:
			continue
		case at.zone.Hidden:
			return c.blockMount(RuleMountNotAllowed, at, "is a file that is never served (.env*, .git)")
		case at.zone.Alias:
			return c.blockMount(RuleMountNotAllowed, at, "is written in another case or form; spell it as ls shows it")
		}
		s := c.mount(mount)
		switch {
		case s.rule == RuleMountForbidden && s.workflow != "":
			return c.blockMount(s.rule, at, "is in a mount that workflow "+s.workflow+" forbids (mounts.forbid_always)")
		case s.rule == RuleMountForbidden:
			return c.blockMount(s.rule, at, "is in a mount that this state forbids (mounts.forbid)")
		case s.rule != "":
			return c.blockMount(s.rule, at, "is in a mount that this state does not have")
		case at.use.writes() && !s.write:
			return c.blockMount(RuleMountReadOnly, at, "is in a mount that may only be read here")
		}
	}
	return pass()
}

// mount says where a mount stands: the workspace's read_only is a ceiling, a
// governed mount needs a grant, a grant that only reads narrows, at either
// level, and any forbid removes.
func (c *call) mount(mount *Mount) standing {
	is := func(n spec.Name) bool { return n.Value == mount.Name }
	if slices.ContainsFunc(c.m.Mounts.ForbidAlways, is) {
		return standing{rule: RuleMountForbidden, workflow: c.m.Slug}
	}
	for _, m := range c.env.Ancestors {
		if slices.ContainsFunc(m.Mounts.ForbidAlways, is) {
			return standing{rule: RuleMountForbidden, workflow: m.Slug}
		}
	}
	granted, write := false, !mount.ReadOnly
	take := func(grants []spec.MountGrant) {
		for i := range grants {
			if grants[i].Mount == mount.Name {
				granted, write = true, write && grants[i].Write
			}
		}
	}
	take(c.m.Mounts.AllowAlways)
	if c.origin == FromLifecycle {
		return standing{write: write}
	}
	if c.state != nil {
		if slices.ContainsFunc(c.state.Mounts.Forbid, is) {
			return standing{rule: RuleMountForbidden}
		}
		take(c.state.Mounts.Allow)
	}
	if mount.Governed && !granted {
		return standing{rule: RuleMountNotAllowed}
	}
	return standing{write: write}
}

// skills is rule 9. A lifecycle call skips its state part.
func skills(c *call) (Verdict, bool) {
	for i := range c.paths {
		at := &c.paths[i]
		slug, _ := bundleOf(&at.zone)
		if slug == "" {
			continue
		}
		s := c.skill(slug)
		switch {
		case s.rule == RuleSkillForbidden && s.workflow != "":
			return c.blockSkill(s.rule, at, "is in a skill that workflow "+s.workflow+" forbids (skills.forbid_always)")
		case s.rule == RuleSkillForbidden:
			return c.blockSkill(s.rule, at, "is in a skill that this state forbids (skills.forbid)")
		case s.rule != "":
			return c.blockSkill(s.rule, at, "is in no skill that this state enables")
		}
	}
	return pass()
}

// skill says where a bundle stands: (state allow ∪ allow_always) − forbid −
// forbid_always. A grant is by the exact slug, a forbid by any spelling of it.
func (c *call) skill(slug string) standing {
	forbids := func(n spec.Name) bool { return sameName(slug, n.Value) }
	allows := func(n spec.Name) bool { return n.Value == slug }
	if slices.ContainsFunc(c.m.Skills.ForbidAlways, forbids) {
		return standing{rule: RuleSkillForbidden, workflow: c.m.Slug}
	}
	for _, m := range c.env.Ancestors {
		if slices.ContainsFunc(m.Skills.ForbidAlways, forbids) {
			return standing{rule: RuleSkillForbidden, workflow: m.Slug}
		}
	}
	switch {
	case c.origin == FromLifecycle:
		return standing{}
	case c.state != nil && slices.ContainsFunc(c.state.Skills.Forbid, forbids):
		return standing{rule: RuleSkillForbidden}
	case c.state != nil && slices.ContainsFunc(c.state.Skills.Allow, allows),
		slices.ContainsFunc(c.m.Skills.AllowAlways, allows):
		return standing{}
	default:
		return standing{rule: RuleSkillNotAllowed}
	}
}

// EnabledSkills lists the slugs of the bundles that exist and that the state
// enables, in the order of env.Skills.
func EnabledSkills(m *spec.Machine, state string, env *Env) []string {
	c := look(m, state, env)
	enabled := []string{}
	for _, slug := range c.env.Skills {
		if c.skill(slug).rule == "" {
			enabled = append(enabled, slug)
		}
	}
	return enabled
}

// Access is what a state may do with a mount.
type Access string

// The two postures of a mount.
const (
	AccessRead      Access = "read"
	AccessReadWrite Access = "read_write"
)

// MountPosture is a mount that a state sees, and how.
type MountPosture struct {
	Mount  Mount
	Access Access
}

// MountAccess lists the mounts that the state sees, in the order of env.Mounts.
func MountAccess(m *spec.Machine, state string, env *Env) []MountPosture {
	c := look(m, state, env)
	visible := []MountPosture{}
	for i := range c.env.Mounts {
		mount := &c.env.Mounts[i]
		s := c.mount(mount)
		if s.rule != "" {
			continue
		}
		access := AccessRead
		if s.write {
			access = AccessReadWrite
		}
		visible = append(visible, MountPosture{*mount, access})
	}
	return visible
}

// Disclose lists the tools that the state hands out, by name, in registration
// order: to the model, or to the script of a code state. Tools denied by name
// are left out; a tool granted or denied only for some arguments is listed.
func Disclose(m *spec.Machine, state string, env *Env) []string {
	origin := FromAgent
	if st := m.State(state); st != nil && st.Kind == spec.Code {
		origin = FromScript
	}
	return DiscloseTo(m, state, env, origin)
}

// DiscloseTo is Disclose for calls of the given origin: what the state hands to
// the model less the names that code may not call.
func DiscloseTo(m *spec.Machine, state string, env *Env, origin Origin) []string {
	c := look(m, state, env)
	names := []string{}
	if c.state == nil {
		return names
	}
	for i := range c.env.Tools.All() {
		c.tool = &c.env.Tools.infos[i]
		if Callable(*c.tool, c.state.Kind, origin) && c.offered() && !c.deniedByName() {
			names = append(names, c.tool.Name)
		}
	}
	return names
}

// offered reports whether any tier of the state names the tool.
func (c *call) offered() bool {
	named := func(e *spec.ToolEntry) bool { return c.names(e, grant) }
	switch {
	case c.tool.Name == "eval" || c.tool.Name == "task":
		return false
	case c.tool.Control:
		return hasControl(c.state, c.tool.Name)
	case c.onlyReads() && !c.tool.ReadOnly:
		return false
	default:
		return c.tool.AlwaysOn || slices.ContainsFunc(c.state.Tools.Allow, named) ||
			slices.ContainsFunc(c.m.Tools.AllowAlways, named)
	}
}

func (c *call) deniedByName() bool {
	denies := func(e *spec.ToolEntry) bool { return !e.Constrained() && c.names(e, denial) }
	if slices.ContainsFunc(c.m.Tools.ForbidAlways, denies) || slices.ContainsFunc(c.state.Tools.Forbid, denies) {
		return true
	}
	return slices.ContainsFunc(c.env.Ancestors, func(m *spec.Machine) bool {
		return slices.ContainsFunc(m.Tools.ForbidAlways, denies)
	})
}

// look is a call that asks nothing yet: the view of a state as the agent has it.
func look(m *spec.Machine, state string, env *Env) *call {
	if env == nil {
		env = &Env{}
	}
	return &call{m: m, slug: state, state: m.State(state), env: env, origin: FromAgent}
}
