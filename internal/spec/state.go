package spec

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/archmax-ai/archmax/internal/diag"
)

var (
	allKinds   = []Kind{Agent, Human, Code, Grader}
	machines   = []Kind{Agent, Code, Grader} // everything but a person
	stateTable = []struct {
		key   string
		kinds []Kind // that the key applies to
	}{
		{"type", allKinds},
		{"title", allKinds},
		{"summary", allKinds},
		{"instructions", []Kind{Agent, Human, Grader}},
		{"triggers", machines},
		{"transitions", allKinds},
		{"tools", machines},
		{"skills", machines},
		{"mounts", machines},
		{"requires", machines},
		{"model", []Kind{Agent, Grader}},
		{"budget", machines},
		{"on_error", machines},
		{"before", []Kind{Agent}},
		{"after", []Kind{Agent}},
		{"script", []Kind{Code}},
		{"approvers", []Kind{Human}},
		{"evidence", []Kind{Human}},
		{"metadata", allKinds},
	}
	stateKeys = func() (keys []string) {
		for _, row := range stateTable {
			keys = append(keys, row.key)
		}
		return keys
	}()
)

func (l *loader) states(n *Node) {
	m, ok := l.Open(n, "states")
	if !ok {
		return
	}
	if len(n.Pairs) == 0 {
		l.shapef(diag.EmptyValue, n.Range, "states", "declare at least one state", "`states` is empty")
	}
	for _, p := range n.Pairs {
		if !ValidSlug(p.Key) {
			l.Errorf(diag.BadSlug, p.Range, m.At(p.Key), hintSlug, "`%s` is no state slug", brief(p.Key))
		}
		s := &State{Slug: p.Key, Kind: Agent, Range: p.Range}
		l.m.States = append(l.m.States, s)
		l.m.index[s.Slug] = s
		if p.Value.Kind != NullNode { // `done:` is an empty terminal agent state
			l.state(s, p.Value, m.At(p.Key))
		}
	}
}

func (l *loader) state(s *State, n *Node, field string) {
	m, ok := l.Mapping(n, field, stateKeys...)
	if !ok {
		return
	}
	kind, ok := m.OneOf("type", string(Agent), string(Human), string(Code), string(Grader))
	if ok {
		s.Kind = Kind(kind)
	}
	if !m.Has("type") || ok {
		m = l.applicable(m, s.Kind)
	}
	s.Title, _ = m.String("title")
	s.Summary, _ = m.String("summary")
	l.instructions(s, m)
	if n := m.Get("triggers"); n != nil {
		s.Triggers = l.triggers(n, s.Slug, m.At("triggers"))
	}
	s.Transitions, _ = list(m, "transitions", l.edge)
	if n := m.Get("tools"); n != nil {
		s.Tools = l.stateTools(n, m.At("tools"))
	}
	if n := m.Get("skills"); n != nil {
		s.Skills = l.stateSkills(n, m.At("skills"))
	}
	if n := m.Get("mounts"); n != nil {
		s.Mounts = l.stateMounts(n, m.At("mounts"))
	}
	s.Requires, _ = list(m, "requires", l.variableName)
	if s.Model, ok = m.Text("model"); ok {
		s.ModelRange = m.Get("model").Range
	}
	s.Budget = l.budget(m)
	if s.OnError, ok = m.Text("on_error"); ok {
		s.OnErrorRange = m.Get("on_error").Range
	}
	s.Before, s.After = l.hooks(m, "before"), l.hooks(m, "after")
	l.script(s, m)
	s.Approvers, _ = m.String("approvers")
	s.Evidence, _ = list(m, "evidence", l.evidence)
	l.metadata(m)
}

// applicable reports the keys that a state's kind does not have, and returns
// the mapping without them.
func (l *loader) applicable(m Map, kind Kind) Map {
	kept := *m.Node
	kept.Pairs = nil
	for _, p := range m.Node.Pairs {
		row := slices.Index(stateKeys, p.Key)
		if row < 0 || slices.Contains(stateTable[row].kinds, kind) {
			kept.Pairs = append(kept.Pairs, p)
			continue
		}
		names := make([]string, len(stateTable[row].kinds))
		for i, k := range stateTable[row].kinds {
			names[i] = string(k)
		}
		l.Errorf(diag.KeyNotForKind, p.Range, m.At(p.Key), fmt.Sprintf("remove it, or change the state's `type`; `%s` is for: %s", p.Key, strings.Join(names, ", ")),
			"`%s` does not apply to %s state", p.Key, article(kind))
	}
	m.Node = &kept
	return m
}

// article is the kind with its article.
func article(k Kind) string {
	if k == Agent {
		return "an agent"
	}
	return "a " + string(k)
}

func (l *loader) instructions(s *State, m Map) {
	switch s.Kind {
	case Human:
		m.Require("instructions", s.Range, "a human state's instructions are the decision to present")
	case Grader:
		m.Require("instructions", s.Range, "a grader's instructions are its criteria")
	default:
		s.Instructions, _ = m.String("instructions")
		return
	}
	s.Instructions, _ = m.Text("instructions")
}

func (l *loader) edge(n *Node, field string) (*Edge, bool) {
	m, ok := l.Mapping(n, field, "to", "description", "type")
	if !ok {
		return nil, false
	}
	e := &Edge{Type: None, Range: n.Range, DescriptionRange: n.Range}
	m.Require("to", n.Range, "name the state the edge leads to")
	m.Require("description", n.Range, "say when to take the edge: it is all the agent knows about it")
	if e.To, ok = m.Text("to"); ok {
		e.Range = m.Get("to").Range
	}
	if e.Description, ok = m.Text("description"); ok {
		e.DescriptionRange = m.Get("description").Range
	}
	if t, ok := m.OneOf("type", string(Approve), string(Reject), string(Refine), string(None)); ok {
		e.Type = EdgeType(t)
	}
	return e, true
}

func (l *loader) variableName(n *Node, field string) (Name, bool) {
	s, ok := l.Text(n, field)
	if ok && !ValidVariableName(s) {
		l.Errorf(diag.BadVariable, n.Range, field, hintVariable, "`%s` is no variable name", brief(s))
	}
	return Name{s, n.Range}, ok
}

func (l *loader) budget(m Map) (b Budget) {
	n := m.Get("budget")
	if n == nil {
		return b
	}
	if m, ok := l.Mapping(n, m.At("budget"), "maxTurns", "timeoutMs", "maxParks", "maxVisits"); ok {
		b.MaxTurns, _ = m.Int("maxTurns", 1)
		b.TimeoutMs, _ = m.Int("timeoutMs", 1)
		b.MaxParks, _ = m.Int("maxParks", 1)
		b.MaxVisits, _ = m.Int("maxVisits", 1)
	}
	return b
}

func (l *loader) script(s *State, m Map) {
	if s.Kind != Code || !m.Require("script", s.Range, "a code state runs a script, as in `scripts/check.js`") {
		return
	}
	p, ok := m.Text("script")
	s.ScriptRange = m.Get("script").Range
	if !ok || !l.scriptPath(p, s.ScriptRange, m.At("script"), "scripts") {
		return
	}
	if ext := path.Ext(p); ext != ".js" && ext != ".mjs" {
		l.Errorf(diag.ScriptPath, s.ScriptRange, m.At("script"), "write it in JavaScript", "`%s` is neither a .js nor a .mjs file", brief(p))
		return
	}
	s.Script = p
}

// evidence checks what can be told of a path without a workspace: that an agent
// could ever read it.
func (l *loader) evidence(n *Node, field string) (Name, bool) {
	s, ok := l.Text(n, field)
	if !ok {
		return Name{}, false
	}
	clean := path.Clean(strings.TrimLeft(s, "/"))
	if strings.ContainsAny(s, "\\\x00") || clean == ".." || strings.HasPrefix(clean, "../") ||
		clean == workflowsDir || strings.HasPrefix(clean, workflowsDir+"/") {
		l.Errorf(diag.BadPath, n.Range, field, "name a path of the session's workspace, as in `scratchpad/report.md`",
			"`%s` is no path an agent could read", brief(s))
	}
	return Name{s, n.Range}, true
}
