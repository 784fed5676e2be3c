package spec

import (
	"errors"
	"path"
	"strconv"
	"strings"

	"github.com/archmax-ai/archmax/internal/diag"
)

// list reads each item of a list with its field.
func list[T any](m Map, key string, read func(n *Node, field string) (T, bool)) ([]T, bool) {
	items, ok := m.List(key)
	if !ok {
		return nil, false
	}
	out := make([]T, 0, len(items))
	for i, item := range items {
		if v, ok := read(item, m.At(key+"."+strconv.Itoa(i))); ok {
			out = append(out, v)
		}
	}
	return out, true
}

func (l *loader) rootTools(n *Node) (t ToolLists) {
	if m, ok := l.Mapping(n, "tools", "allow_always", "forbid_always"); ok {
		t.AllowAlways, _ = list(m, "allow_always", l.toolGrant)
		t.ForbidAlways, _ = list(m, "forbid_always", l.toolDenial)
	}
	return t
}

func (l *loader) stateTools(n *Node, field string) (t StateTools) {
	if m, ok := l.Mapping(n, field, "allow", "forbid"); ok {
		t.Allow, t.HasAllow = list(m, "allow", l.toolGrant)
		t.AllowRange = m.KeyRange("allow")
		t.Forbid, _ = list(m, "forbid", l.toolDenial)
	}
	return t
}

func (l *loader) toolGrant(n *Node, field string) (*ToolEntry, bool) {
	e, ok := l.toolEntry(n, field)
	if ok && e.Tool == "*" {
		l.Errorf(diag.StarGrant, e.Range, field, "list the tools by name", "`*` cannot be granted: it is for forbid lists only")
	}
	return e, ok
}

func (l *loader) toolDenial(n *Node, field string) (*ToolEntry, bool) { return l.toolEntry(n, field) }

func (l *loader) toolEntry(n *Node, field string) (*ToolEntry, bool) {
	e := &ToolEntry{Range: n.Range, ToolRange: n.Range}
	if n.Kind != MappingNode {
		tool, ok := l.Text(n, field)
		e.Tool = tool
		if ok {
			l.toolName(e, n.Range, field)
		}
		return e, ok
	}
	m, _ := l.Mapping(n, field, "tool", "args", "paths", "connection", "source")
	ok := m.Require("tool", n.Range, "name the tool this entry is about")
	if e.Tool, _ = m.Text("tool"); e.Tool != "" {
		e.ToolRange = m.Get("tool").Range
		l.toolName(e, e.ToolRange, m.At("tool"))
	}
	if args := m.Get("args"); args != nil {
		e.Args = l.argGuards(args, m.At("args"))
	}
	if paths := m.Get("paths"); paths != nil {
		e.Paths = l.globs(paths, m.At("paths"))
	}
	e.Connection, _ = m.String("connection")
	e.Source, _ = m.String("source")
	return e, ok && e.Tool != ""
}

func (l *loader) toolName(e *ToolEntry, at diag.Range, field string) {
	switch {
	case e.Tool == "*":
	case e.Tool == "task":
		l.Errorf(diag.TaskTool, at, field, "to call another workflow, name "+DelegationPrefix+"<slug>", "there is no tool `task`")
	case strings.ContainsAny(e.Tool, "*?[]{} \t\r\n\\"):
		l.Errorf(diag.BadTool, at, field, "name the tool exactly; globs go into `args` and `paths`",
			"`%s` is no tool name", brief(e.Tool))
	case strings.HasPrefix(e.Tool, DelegationPrefix) && !ValidSlug(e.Tool[len(DelegationPrefix):]):
		l.Errorf(diag.BadSlug, at, field, hintSlug, "`%s` names no workflow: `%s` is no slug",
			brief(e.Tool), brief(e.Tool[len(DelegationPrefix):]))
	}
}

func (l *loader) argGuards(n *Node, field string) (guards []ArgGuard) {
	m, ok := l.Open(n, field)
	if !ok {
		return nil
	}
	if len(n.Pairs) == 0 {
		l.shapef(diag.EmptyValue, n.Range, field, "name an argument and its globs, or leave `args` out", "%s guards nothing", name(field))
	}
	for _, p := range n.Pairs {
		if strings.TrimSpace(p.Key) == "" {
			l.shapef(diag.EmptyValue, p.Range, field, "", "%s names no argument", name(field))
			continue
		}
		guards = append(guards, ArgGuard{Name: p.Key, Globs: l.globs(p.Value, m.At(p.Key)), Range: p.Range})
	}
	return guards
}

// globs reads a glob or a list of globs.
func (l *loader) globs(n *Node, field string) (globs []Glob) {
	if n.Kind != SequenceNode {
		if g, ok := l.glob(n, field); ok {
			globs = append(globs, g)
		}
		return globs
	}
	if len(n.Items) == 0 {
		l.shapef(diag.EmptyValue, n.Range, field, "give a glob, or leave the guard out", "%s lists no glob, so it could never match", name(field))
	}
	for i, item := range n.Items {
		if g, ok := l.glob(item, Join(field, strconv.Itoa(i))); ok {
			globs = append(globs, g)
		}
	}
	return globs
}

func (l *loader) glob(n *Node, field string) (Glob, bool) {
	text, ok := l.String(n, field)
	if !ok {
		return Glob{}, false
	}
	parts, err := ParseGlob(text)
	if err != nil {
		code := diag.BadReference
		var bad *ReferenceError
		if errors.As(err, &bad) && bad.Glob {
			code = diag.BadGlob
		}
		l.Errorf(code, n.Range, field, "", "%s", err)
	}
	return Glob{Text: text, Parts: parts, Range: n.Range}, true
}

func (l *loader) rootSkills(n *Node) (s NameLists) {
	if m, ok := l.Mapping(n, "skills", "allow_always", "forbid_always"); ok {
		s.AllowAlways, _ = list(m, "allow_always", l.skillName)
		s.ForbidAlways, _ = list(m, "forbid_always", l.skillName)
	}
	return s
}

func (l *loader) stateSkills(n *Node, field string) (s StateNames) {
	if m, ok := l.Mapping(n, field, "allow", "forbid"); ok {
		s.Allow, s.HasAllow = list(m, "allow", l.skillName)
		s.AllowRange = m.KeyRange("allow")
		s.Forbid, _ = list(m, "forbid", l.skillName)
	}
	return s
}

func (l *loader) skillName(n *Node, field string) (Name, bool) {
	s, ok := l.Text(n, field)
	if ok && (strings.ContainsAny(s, "/\\*?[]{}\x00") || s == "." || s == ".." || s != strings.TrimSpace(s)) {
		l.Errorf(diag.BadSkill, n.Range, field, "name the bundle's directory, as in `invoices` for skills/invoices/",
			"`%s` is no skill slug: paths and globs are not allowed here", brief(s))
	}
	return Name{s, n.Range}, ok
}

func (l *loader) rootMounts(n *Node) (t MountLists) {
	if m, ok := l.Mapping(n, "mounts", "allow_always", "forbid_always"); ok {
		t.AllowAlways, _ = list(m, "allow_always", l.mountGrant)
		t.ForbidAlways, _ = list(m, "forbid_always", l.mountName)
	}
	return t
}

func (l *loader) stateMounts(n *Node, field string) (t StateMounts) {
	if m, ok := l.Mapping(n, field, "allow", "forbid"); ok {
		t.Allow, t.HasAllow = list(m, "allow", l.mountGrant)
		t.AllowRange = m.KeyRange("allow")
		t.Forbid, _ = list(m, "forbid", l.mountName)
	}
	return t
}

func (l *loader) mountGrant(n *Node, field string) (MountGrant, bool) {
	if n.Kind != MappingNode {
		mount, ok := l.mountName(n, field)
		return MountGrant{Mount: mount.Value, Range: n.Range, MountRange: n.Range}, ok
	}
	m, _ := l.Mapping(n, field, "mount", "access")
	if !m.Require("mount", n.Range, "name the mount this entry is about") {
		return MountGrant{}, false
	}
	access, _ := m.OneOf("access", "read", "read_write")
	mount, ok := l.mountName(m.Get("mount"), m.At("mount"))
	return MountGrant{Mount: mount.Value, Write: access == "read_write", Range: n.Range, MountRange: mount.Range}, ok
}

func (l *loader) mountName(n *Node, field string) (Name, bool) {
	s, ok := l.Text(n, field)
	if !ok {
		return Name{}, false
	}
	mount := strings.Trim(s, "/")
	if mount == "" || strings.ContainsAny(mount, "\\*?[]{}\x00") || mount != path.Clean(mount) ||
		mount == "." || mount == ".." || strings.HasPrefix(mount, "../") {
		l.Errorf(diag.BadMount, n.Range, field, "name a mount of the workspace, as in `reference` or `catalogs/eu`",
			"`%s` is no mount name", brief(s))
	}
	return Name{mount, n.Range}, true
}
