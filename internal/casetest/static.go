package casetest

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/spec"
)

// staticCase holds a parsed case against the machine and the files it names.
func staticCase(fsys fs.FS, m *spec.Machine, mounts []governance.Mount, c *Case) diag.List {
	s := &statics{Decoder: spec.NewDecoder(), fsys: fsys, m: m, mounts: mounts, c: c}
	if c.Trigger != "" {
		s.trigger(c.Trigger, c.triggerRange, "trigger.id")
	} else if decl, _ := m.Trigger(spec.Manual); decl == nil {
		s.Errorf(diag.UnknownTrigger, c.at, "trigger", s.declared(), "the case names no trigger, and the workflow has no `%s` to fall back on", spec.Manual)
	}
	for _, f := range c.Workspace {
		s.sessionFile(f)
		s.fixture(f, "workspace."+f.Path)
	}
	for _, f := range c.Files {
		s.fixture(f, "files."+f.Path)
	}
	for i, mock := range c.Mocks {
		s.mock(mock, fmt.Sprintf("mocks.%d.tool", i))
	}
	s.opening()
	for _, step := range c.Steps {
		if r, ok := step.Action.(refers); ok {
			r.refer(s)
		}
		if r, ok := step.Check.(refers); ok {
			r.refer(s)
		}
	}
	inside := s.cassette()
	return append(s.Diagnostics(c.File), inside...)
}

// opening checks the first message: it opens a turn, which needs words, unless
// the trigger finds them in the variables or does without.
func (s *statics) opening() {
	if len(s.c.Steps) == 0 {
		return
	}
	id := s.c.Trigger
	if id == "" {
		id = spec.Manual
	}
	first := s.c.Steps[0]
	a, isSend := first.Action.(*send)
	decl, _ := s.m.Trigger(id)
	if !isSend || strings.TrimSpace(a.text) != "" || decl == nil || decl.Message != "" || decl.NoMessage {
		return
	}
	s.Errorf(diag.EmptyValue, first.Range, first.Field, "write what the person says; a trigger with `message: false` needs no words",
		"`%s` sends no words, and the trigger `%s` has no `message` to find them by, so no turn opens", first.Field, short(id))
}

// refers is a step that names something outside its case.
type refers interface{ refer(*statics) }

type statics struct {
	*spec.Decoder
	fsys fs.FS
	m    *spec.Machine
	c    *Case

	mounts []governance.Mount // of the workspace; none: not known
}

func (s *statics) declared() string {
	var ids []string
	for _, t := range s.m.Triggers() {
		ids = append(ids, t.ID)
	}
	return "the workflow declares: " + strings.Join(ids, ", ")
}

func (s *statics) trigger(id string, at diag.Range, field string) {
	if decl, _ := s.m.Trigger(id); decl == nil {
		s.Errorf(diag.UnknownTrigger, at, field, s.declared(), "the workflow declares no trigger `%s`", short(id))
	}
}

// arrival checks a trigger that a step expects in the trail: a declared one, or
// one that the case delivers.
func (s *statics) arrival(id string, at diag.Range, field string) {
	for _, step := range s.c.Steps {
		if d, ok := step.Action.(*deliver); ok && d.trigger == id {
			return
		}
	}
	s.trigger(id, at, field)
}

func (s *statics) state(slug string, at diag.Range, field string) {
	if slug == "" || s.m.State(slug) != nil {
		return
	}
	var slugs []string
	for _, st := range s.m.States {
		slugs = append(slugs, st.Slug)
	}
	hint := "the workflow has: " + strings.Join(slugs, ", ")
	if near := diag.Nearest(slug, slugs); near != "" {
		hint = fmt.Sprintf("did you mean `%s`? %s", near, hint)
	}
	s.Errorf(diag.UnknownState, at, field, hint, "the workflow has no state `%s`", short(slug))
}

// decision checks a target: some human state must have an edge to it, since a
// decision that is refused ends the case.
func (s *statics) decision(slug string, at diag.Range, field string) {
	if s.m.State(slug) == nil {
		s.state(slug, at, field)
		return
	}
	for _, st := range s.m.States {
		if st.Kind == spec.Human && st.Edge(slug) != nil {
			return
		}
	}
	s.Errorf(diag.UnknownState, at, field, "name the target of an edge of a human state", "no human state has an edge to `%s`, so nobody can decide for it", slug)
}

func (s *statics) workflow(slug string, at diag.Range, field string) {
	slugs, err := spec.Slugs(s.fsys)
	if err != nil || slices.Contains(slugs, slug) {
		return
	}
	s.Errorf(diag.UnknownWorkflow, at, field, "the workspace has: "+strings.Join(slugs, ", "), "the workspace has no workflow `%s`", short(slug))
}

// sessionFile refuses a fixture that no session could hold.
func (s *statics) sessionFile(f Placed) {
	switch zone := governance.ZoneOf(f.Path, s.mounts); {
	case zone.Mount != nil: // a writable one is shared with every session, and a case leaves it alone
		s.Errorf(diag.BadPath, f.Range, "workspace."+f.Path, "place it elsewhere, such as scratchpad/", "`%s` is in the mount `%s`, and a case places files in its own session alone", f.Path, zone.Mount.Name)
	case zone.Kind == governance.ZoneGovernance, zone.Kind == governance.ZoneInternal, zone.Kind == governance.ZoneOffload:
		s.Errorf(diag.BadPath, f.Range, "workspace."+f.Path, "place it elsewhere, such as scratchpad/", "`%s` belongs to the runtime, and no case can write there", f.Path)
	}
}

func (s *statics) fixture(f Placed, field string) {
	if f.From == "" {
		return
	}
	name := path.Join(testsDir(s.m.Slug), f.From)
	info, err := fs.Stat(s.fsys, name)
	switch {
	case err != nil:
		s.Errorf(diag.FixtureMissing, f.Range, field, "fixtures lie below the workflow's tests/", "the fixture %s cannot be read: %s", name, cause(err))
	case info.IsDir():
		s.Errorf(diag.FixtureMissing, f.Range, field, "name each file by itself", "the fixture %s is a directory", name)
	}
}

func (s *statics) mock(m *Mock, field string) {
	if slug, ok := strings.CutPrefix(m.Tool, spec.DelegationPrefix); ok {
		s.workflow(slug, m.Range, field)
		return
	}
	named := func(info governance.ToolInfo) bool { return info.Name == m.Tool }
	switch {
	case slices.ContainsFunc(governance.Controls(), named):
		s.Errorf(diag.MockTool, m.Range, field, "let the model's answers call it", "`%s` is a control tool: the runtime answers it, and no mock can", m.Tool)
	case slices.ContainsFunc(governance.Builtins(), named), s.granted(m.Tool), declaredTool(s.fsys, m.Tool):
	default:
		s.Warnf(diag.MockTool, m.Range, field, "name the tool as the workflow grants it", "`%s` is no built-in tool, and neither the workflow nor archmax.yaml names it, so the mock may never answer", short(m.Tool))
	}
}

// granted reports whether some list of the workflow grants the tool.
func (s *statics) granted(tool string) bool {
	names := func(e *spec.ToolEntry) bool { return e.Tool == tool }
	return slices.ContainsFunc(s.m.Tools.AllowAlways, names) || slices.ContainsFunc(s.m.States, func(st *spec.State) bool {
		return slices.ContainsFunc(st.Tools.Allow, names)
	})
}

// declaredTool reports whether archmax.yaml declares the tool, or the server
// that it would be of. What is wrong with that file is not for a case to say.
func declaredTool(fsys fs.FS, tool string) bool {
	src, err := fs.ReadFile(fsys, "archmax.yaml")
	if err != nil {
		return false
	}
	var config struct {
		Tools     map[string]yaml.Node `yaml:"tools"`
		Servers   map[string]yaml.Node `yaml:"mcp_servers"`
		Essential []string             `yaml:"essential_tools"`
	}
	if yaml.Unmarshal(src, &config) != nil {
		return true // unknown
	}
	server, _, _ := strings.Cut(tool, "__")
	_, own := config.Tools[tool]
	_, served := config.Servers[server]
	return own || served || slices.Contains(config.Essential, tool)
}

// cassette checks the case's answers: the file it names, or its own. What is
// wrong inside the file is returned, with the places there.
func (s *statics) cassette() diag.List {
	file, named := cassettePath(s.m.Slug, s.c.ID), false
	if m := s.c.Model; m != nil {
		if m.Inline != nil { // parsed with the case
			for i, ex := range m.Inline.Calls {
				if ex.Session == "" && ex.Role == model.RoleAgent {
					s.state(ex.State, ex.Range, fmt.Sprintf("model.calls.%d.state", i))
				}
			}
			return nil
		}
		file, named = m.Path, true
	}
	src, err := fs.ReadFile(s.fsys, file)
	if err != nil {
		if named {
			s.Errorf(diag.FixtureMissing, s.c.Model.Range, "model", "the path is relative to the workflow's tests/", "the cassette %s cannot be read: %s", file, cause(err))
		}
		return nil
	}
	_, list := model.LoadCassette(file, src)
	return list
}
