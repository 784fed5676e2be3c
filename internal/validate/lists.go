package validate

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/spec"
)

func item(field string, i int) string { return field + "." + strconv.Itoa(i) }

// rootBlocks warns when the workspace serves what only a list can open and the
// workflow's root has no such list: closed by default, it would all stay shut.
func (c *checker) rootBlocks() {
	if len(c.in.Skills) > 0 && !c.m.HasSkills {
		c.d.Warnf(diag.NoSkillsBlock, c.m.Range, "skills", "add `skills: { allow_always: […] }`, or `skills: {}` when the states' own lists say it all",
			"the workspace has %s, and the workflow has no `skills` block: they are closed unless a list enables them", count(len(c.in.Skills), "skill"))
	}
	governed := 0
	for _, m := range c.in.Mounts {
		if m.Governed {
			governed++
		}
	}
	if governed > 0 && !c.m.HasMounts {
		c.d.Warnf(diag.NoMountsBlock, c.m.Range, "mounts", "add `mounts: { allow_always: […] }`, or `mounts: {}` when the states' own lists say it all",
			"the workspace has %s, and the workflow has no `mounts` block: they are closed unless a list enables them", count(governed, "governed mount"))
	}
}

func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// emptyLists warns of `allow: []`. A state's list adds to the root's and takes
// nothing away, so an empty one says nothing, which is hardly what was meant.
func (c *checker) emptyLists() {
	for _, s := range c.m.States {
		for _, l := range []struct {
			key   string
			empty bool
			at    diag.Range
		}{
			{"tools", s.Tools.HasAllow && len(s.Tools.Allow) == 0, s.Tools.AllowRange},
			{"skills", s.Skills.HasAllow && len(s.Skills.Allow) == 0, s.Skills.AllowRange},
			{"mounts", s.Mounts.HasAllow && len(s.Mounts.Allow) == 0, s.Mounts.AllowRange},
		} {
			if l.empty {
				c.d.Warnf(diag.EmptyAllow, l.at, stateField(s, l.key, "allow"), "remove it; to take something away, use `forbid`",
					"an empty `allow` takes nothing away from `%s`", s.Slug)
			}
		}
	}
}

// grantList is what skills and mounts have in common: names, granted and denied
// at two levels, with one formula (governance.md, "Skills" and "Mounts").
type grantList struct {
	noun    string // skill, mount
	key     string // skills, mounts
	unknown diag.Code
	names   []string // that exist

	always, never []spec.Name                                   // the root's
	of            func(*spec.State) (allow, forbid []spec.Name) // a state's
	// without is the state with or without its own grants and denials.
	without func(s *spec.State, allow, forbid bool) *spec.State
	// open is the machine without the root's denials.
	open func(*spec.Machine) *spec.Machine
	// view is what the kernel gives a state of it: name to posture.
	view func(m *spec.Machine, state string) map[string]string
}

func (c *checker) skills() {
	c.check(&grantList{
		noun: "skill", key: "skills", unknown: diag.UnknownSkill, names: c.in.Skills,
		always: c.m.Skills.AllowAlways, never: c.m.Skills.ForbidAlways,
		of: func(s *spec.State) ([]spec.Name, []spec.Name) { return s.Skills.Allow, s.Skills.Forbid },
		without: func(s *spec.State, allow, forbid bool) *spec.State {
			view := *s
			if !allow {
				view.Skills.Allow = nil
			}
			if !forbid {
				view.Skills.Forbid = nil
			}
			return &view
		},
		open: func(m *spec.Machine) *spec.Machine { o := *m; o.Skills.ForbidAlways = nil; return &o },
		view: func(m *spec.Machine, state string) map[string]string {
			enabled := map[string]string{}
			for _, slug := range governance.EnabledSkills(m, state, c.env) {
				enabled[slug] = "enabled"
			}
			return enabled
		},
	})
}

func (c *checker) mounts() {
	var names []string
	for _, m := range c.in.Mounts {
		names = append(names, m.Name)
	}
	c.check(&grantList{
		noun: "mount", key: "mounts", unknown: diag.UnknownMount, names: names,
		always: grantNames(c.m.Mounts.AllowAlways), never: c.m.Mounts.ForbidAlways,
		of: func(s *spec.State) ([]spec.Name, []spec.Name) { return grantNames(s.Mounts.Allow), s.Mounts.Forbid },
		without: func(s *spec.State, allow, forbid bool) *spec.State {
			view := *s
			if !allow {
				view.Mounts.Allow = nil
			}
			if !forbid {
				view.Mounts.Forbid = nil
			}
			return &view
		},
		open: func(m *spec.Machine) *spec.Machine { o := *m; o.Mounts.ForbidAlways = nil; return &o },
		view: func(m *spec.Machine, state string) map[string]string {
			seen := map[string]string{}
			for _, p := range governance.MountAccess(m, state, c.env) {
				seen[p.Mount.Name] = string(p.Access)
			}
			return seen
		},
	})
	for i := range c.m.Mounts.AllowAlways {
		c.writable(&c.m.Mounts.AllowAlways[i], item("mounts.allow_always", i))
	}
	for _, s := range c.m.States {
		for i := range s.Mounts.Allow {
			c.writable(&s.Mounts.Allow[i], item(stateField(s, "mounts", "allow"), i))
		}
	}
}

func grantNames(grants []spec.MountGrant) []spec.Name {
	names := make([]spec.Name, len(grants))
	for i, g := range grants {
		names[i] = spec.Name{Value: g.Mount, Range: g.MountRange}
	}
	return names
}

// writable checks that a grant asks for no more than the workspace gives: the
// kernel is asked about a write into the mount.
func (c *checker) writable(g *spec.MountGrant, field string) {
	if !g.Write {
		return
	}
	ask := c.m.Only(&spec.State{Slug: "ask", Kind: spec.Agent, Mounts: spec.StateMounts{Allow: []spec.MountGrant{*g}}})
	v := governance.Decide(ask, governance.Call{
		State: "ask", Tool: "write_file", Origin: governance.FromAgent, Args: map[string]any{"file_path": g.Mount},
	}, c.env)
	if v.Rule == governance.RuleReadOnly {
		c.d.Errorf(diag.RefusedGrant, g.Range, field, "grant `access: read`, or set `read_only: false` for the mount in archmax.yaml",
			"the workspace serves the mount `%s` read-only, so `access: read_write` is refused anyway (%s)", g.Mount, v.Rule)
	}
}

func has(names []spec.Name, value string) bool {
	return slices.ContainsFunc(names, func(n spec.Name) bool { return n.Value == value })
}

// check holds the lists of skills or mounts against each other and the
// workspace.
func (c *checker) check(l *grantList) {
	for i, n := range l.always {
		field := item(l.key+".allow_always", i)
		if c.exists(l, n, field) && has(l.never, n.Value) {
			c.d.Errorf(diag.RefusedGrant, n.Range, field, "remove one of the two entries",
				"the %s `%s` is granted here and denied by `%s.forbid_always`, which wins in every state", l.noun, n.Value, l.key)
		}
	}
	idle := !c.bindsOthers()
	for i, n := range l.never {
		field := item(l.key+".forbid_always", i)
		if !c.exists(l, n, field) || !idle || has(l.always, n.Value) {
			continue
		}
		open := l.open(c.m)
		if !slices.ContainsFunc(c.m.States, func(s *spec.State) bool {
			return s.Kind != spec.Human && l.view(open.Only(l.without(s, true, false)), s.Slug)[n.Value] != ""
		}) {
			c.d.Warnf(diag.IdleForbid, n.Range, field, "remove the entry", "nothing grants the %s `%s`, so there is nothing to forbid", l.noun, n.Value)
		}
	}
	for _, s := range c.m.States {
		c.checkState(l, s)
	}
}

func (c *checker) checkState(l *grantList, s *spec.State) {
	allow, forbid := l.of(s)
	if len(allow)+len(forbid) == 0 {
		return
	}
	now := l.view(c.m.Only(s), s.Slug)
	unforbidden := l.view(c.m.Only(l.without(s, true, false)), s.Slug)
	open := l.view(l.open(c.m).Only(l.without(s, true, false)), s.Slug)
	rootOnly := l.view(c.m.Only(l.without(s, false, true)), s.Slug)
	for i, n := range allow {
		field := item(stateField(s, l.key, "allow"), i)
		switch {
		case !c.exists(l, n, field):
		case now[n.Value] == "" && unforbidden[n.Value] == "":
			c.d.Errorf(diag.RefusedGrant, n.Range, field, "remove the grant, or the entry in `"+l.key+".forbid_always`",
				"the %s `%s` is granted here and denied by `%s.forbid_always`, which wins in every state", l.noun, n.Value, l.key)
		case now[n.Value] == "":
			c.d.Warnf(diag.CoveredGrant, n.Range, field, "remove one of the two entries", "`%s` grants the %s `%s` and forbids it", s.Slug, l.noun, n.Value)
		case has(l.always, n.Value) && now[n.Value] == rootOnly[n.Value]:
			c.d.Warnf(diag.GrantedTwice, n.Range, field, "remove it here, or there",
				"`%s.allow_always` grants the %s `%s` to every state already", l.key, l.noun, n.Value)
		}
	}
	for i, n := range forbid {
		field := item(stateField(s, l.key, "forbid"), i)
		if c.exists(l, n, field) && open[n.Value] == "" {
			c.d.Warnf(diag.IdleForbid, n.Range, field, "remove the entry", "nothing grants the %s `%s` in `%s`, so there is nothing to forbid", l.noun, n.Value, s.Slug)
		}
	}
}

// exists reports a name that the workspace does not have.
func (c *checker) exists(l *grantList, n spec.Name, field string) bool {
	if slices.Contains(l.names, n.Value) {
		return true
	}
	if malformed(n.Value) || n.Value != path.Clean(n.Value) || strings.HasPrefix(n.Value, "..") || l.noun == "skill" && strings.Contains(n.Value, "/") {
		return false // reported
	}
	other := "the workspace has no " + l.noun + "s"
	if len(l.names) > 0 {
		other = "the workspace has: " + some(l.names)
	}
	where := "the workspace has no such skill bundle"
	if l.noun == "mount" {
		where = "the workspace's mount table has no such row"
	}
	c.d.Errorf(l.unknown, n.Range, field, nearHint(n.Value, l.names, other), "there is no %s `%s`: %s", l.noun, n.Value, where)
	return false
}

// some lists names, the first ten of many.
func some(names []string) string {
	const most = 10
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}
