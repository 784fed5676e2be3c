package casetest

import (
	"path"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
)

// The bounds on what a person reads of a case, in characters.
const (
	maxTitle       = 60
	maxDescription = 200
)

var caseKeys = []string{
	"title", "description", "skip", "trigger", "variables", "workspace", "files", "mocks", "clock", "model", "steps",
}

// Parse reads one case document strictly: every problem, each with its place.
// File is relative to the root, id is the case's. The case is never nil: with
// errors it holds what could be read of it.
func Parse(file, id string, src []byte) (*Case, diag.List) {
	c := &Case{ID: id, File: file, Clock: DefaultClock}
	root, list := spec.ReadYAML(file, src)
	if root == nil {
		return c, list
	}
	d := spec.NewDecoder()
	p := &parser{Decoder: d, c: c}
	p.root(root)
	list = append(list, d.Diagnostics(file)...)
	list.Sort()
	return c, list
}

type parser struct {
	*spec.Decoder
	c *Case
}

func (p *parser) root(n *spec.Node) {
	c := p.c
	c.at = n.Range
	m, ok := p.Mapping(n, "", caseKeys...)
	if !ok {
		return
	}
	if m.Require("title", n.Range, "say in one line what the case shows") {
		c.Title = p.line(m, "title", maxTitle)
	}
	if m.Require("description", n.Range, "say in a sentence or two what the case is about") {
		c.Description = p.line(m, "description", maxDescription)
	}
	c.Skip = p.line(m, "skip", 0)
	if m.Has("trigger") {
		if t, ok := p.Mapping(m.Get("trigger"), "trigger", "id"); ok && t.Require("id", t.Node.Range, "the trigger that every turn of the case runs under") {
			c.Trigger, _ = t.Text("id")
			c.triggerRange = t.Get("id").Range
		}
	}
	c.Variables = p.variables(m.Get("variables"), "variables")
	c.Workspace = p.workspace(m.Get("workspace"))
	c.Files = p.files(m.Get("files"))
	c.Mocks = p.mocks(m)
	if m.Has("clock") {
		c.Clock = p.clock(m.Get("clock"))
	}
	c.Model = p.model(m.Get("model"))
	if m.Require("steps", n.Range, "begin with what is sent: `- send: \"…\"`") {
		p.steps(m)
	}
}

// line reads a text of one line for people, white space collapsed, of at most
// limit characters; 0 is no limit.
func (p *parser) line(m spec.Map, key string, limit int) string {
	s, ok := m.Text(key)
	s = collapse(s)
	if n := utf8.RuneCountInString(s); ok && limit > 0 && n > limit {
		p.Errorf(diag.BadValue, m.Get(key).Range, m.At(key), "shorten it", "`%s` has %d characters, and at most %d are allowed", m.At(key), n, limit)
	}
	return s
}

// variables reads name -> value, in the order of the file.
func (p *parser) variables(n *spec.Node, field string) []runtime.Seed {
	if n == nil {
		return nil
	}
	m, ok := p.Open(n, field)
	if !ok {
		return nil
	}
	var seeds []runtime.Seed
	for _, pair := range m.Node.Pairs {
		p.variableName(pair, m.At(pair.Key))
		v, ok := p.Any(pair.Value, m.At(pair.Key))
		if !ok {
			continue
		}
		raw, err := session.Encode(v)
		if err != nil {
			p.Errorf(diag.WrongType, pair.Value.Range, m.At(pair.Key), "", "`%s` has no JSON form", m.At(pair.Key))
			continue
		}
		seeds = append(seeds, runtime.Seed{Name: pair.Key, Value: raw})
	}
	return seeds
}

func (p *parser) variableName(pair spec.Pair, field string) {
	switch {
	case !spec.ValidVariableName(pair.Key):
		p.Errorf(diag.BadVariable, pair.Range, field, "a lower-case letter, then lower-case letters, digits and _", "`%s` is no variable name", short(pair.Key))
	case pair.Key == "trigger":
		p.Errorf(diag.BadVariable, pair.Range, field, "name the trigger with `trigger: { id: … }`", "the variable `trigger` is the runtime's own and cannot be given")
	}
}

// workspace reads session path -> content.
func (p *parser) workspace(n *spec.Node) []Placed {
	if n == nil {
		return nil
	}
	m, ok := p.Open(n, "workspace")
	if !ok {
		return nil
	}
	var out []Placed
	for _, pair := range m.Node.Pairs {
		field := m.At(pair.Key)
		f := Placed{Path: p.sessionPath(pair.Key, pair.Range, field), Range: pair.Value.Range}
		switch v := pair.Value; {
		case v.Kind == spec.TextNode:
			f.Content = []byte(v.Text)
		case v.Kind == spec.MappingNode && len(v.Pairs) == 1 && v.Pairs[0].Key == "from":
			f.From = p.fixture(v.Pairs[0].Value, spec.Join(field, "from"))
			f.Range = v.Pairs[0].Value.Range
		default:
			value, ok := p.Any(v, field)
			if !ok {
				continue
			}
			raw, err := session.Encode(value)
			if err != nil {
				p.Errorf(diag.WrongType, v.Range, field, "", "`%s` has no JSON form", field)
				continue
			}
			f.Content = raw
		}
		out = append(out, f)
	}
	return out
}

// sessionPath reads a path of the session's workspace, canonical.
func (p *parser) sessionPath(given string, at diag.Range, field string) string {
	canonical, err := governance.Canonical(given)
	if err != nil || canonical == governance.Root {
		p.Errorf(diag.BadPath, at, field, "name a file of the session, such as scratchpad/notes.md", "`%s` is no path of a file in a session", short(given))
		return ""
	}
	return canonical
}

// fixture reads a path below tests/, cleaned.
func (p *parser) fixture(n *spec.Node, field string) string {
	s, ok := p.Text(n, field)
	if !ok {
		return ""
	}
	clean := path.Clean(s)
	if path.IsAbs(s) || strings.Contains(s, `\`) || clean == ".." || strings.HasPrefix(clean, "../") || clean == "." {
		p.Errorf(diag.BadPath, n.Range, field, "give the path below tests/, such as fixtures/order.json", "`%s` is no path below the workflow's tests/", short(s))
		return ""
	}
	return clean
}

func (p *parser) files(n *spec.Node) []Placed {
	if n == nil {
		return nil
	}
	m, ok := p.Open(n, "files")
	if !ok {
		return nil
	}
	var out []Placed
	for _, pair := range m.Node.Pairs {
		field := m.At(pair.Key)
		p.variableName(pair, field)
		for _, s := range p.c.Variables {
			if s.Name == pair.Key {
				p.Errorf(diag.BadVariable, pair.Range, field, "leave one of the two out", "`%s` is given as a variable and as a file", pair.Key)
			}
		}
		if from := p.fixture(pair.Value, field); from != "" {
			out = append(out, Placed{Path: pair.Key, From: from, Range: pair.Value.Range})
		}
	}
	return out
}

func (p *parser) mocks(root spec.Map) []*Mock {
	if !root.Has("mocks") {
		return nil
	}
	items, _ := root.List("mocks")
	var out []*Mock
	for i, item := range items {
		field := spec.Join("mocks", strconv.Itoa(i))
		m, ok := p.Mapping(item, field, "tool", "whenInput", "result", "error", "results")
		if !ok || !m.Require("tool", item.Range, "the tool whose calls are answered") {
			continue
		}
		mock := &Mock{Range: item.Range}
		mock.Tool, _ = m.Text("tool")
		if m.Has("tool") {
			mock.Range = m.Get("tool").Range
		}
		if m.Has("whenInput") {
			if _, ok := p.Open(m.Get("whenInput"), m.At("whenInput")); ok {
				mock.WhenInput = decodeMatcher(p.Decoder, m.Get("whenInput"), m.At("whenInput"))
			}
		}
		p.answer(mock, m, item)
		out = append(out, mock)
	}
	return out
}

// answer reads what a mock answers with: one of result, error and results.
func (p *parser) answer(mock *Mock, m spec.Map, item *spec.Node) {
	given := 0
	for _, key := range []string{"result", "error", "results"} {
		if m.Has(key) {
			given++
		}
	}
	if given != 1 {
		p.Errorf(diag.MissingKey, item.Range, m.Field, "give exactly one of them", "a mock answers with one of `result`, `error` and `results`, and this one has %d of them", given)
		return
	}
	switch {
	case m.Has("result"):
		mock.Lasting = true
		mock.Results = []string{p.result(m.Get("result"), m.At("result"))}
	case m.Has("error"):
		mock.IsError = true
		mock.Error, _ = m.Text("error")
	default:
		items, ok := m.List("results")
		if ok && len(items) == 0 {
			p.Errorf(diag.EmptyValue, m.Get("results").Range, m.At("results"), "", "`%s` is an empty list, so the mock answers nothing", m.At("results"))
		}
		for i, item := range items {
			mock.Results = append(mock.Results, p.result(item, spec.Join(m.At("results"), strconv.Itoa(i))))
		}
	}
}

// result is what a tool answers: a text as it is, any other value as JSON.
func (p *parser) result(n *spec.Node, field string) string {
	v, ok := p.Any(n, field)
	if !ok {
		return ""
	}
	if text, ok := v.(string); ok {
		return text
	}
	raw, err := session.Encode(v)
	if err != nil {
		p.Errorf(diag.WrongType, n.Range, field, "", "`%s` has no JSON form", field)
	}
	return string(raw)
}

// clock reads an ISO date or date-time; a date is its midnight, UTC.
func (p *parser) clock(n *spec.Node) time.Time {
	s, ok := p.Scalar(n, "clock", "a date or a date-time")
	if !ok {
		return DefaultClock
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	p.Errorf(diag.BadValue, n.Range, "clock", "write 2026-06-01, or 2026-06-01T09:30:00Z with its offset", "`clock` cannot be `%s`", short(s))
	return DefaultClock
}

// model reads a cassette, or the path of one.
func (p *parser) model(n *spec.Node) *Model {
	switch {
	case n == nil || n.Kind == spec.BrokenNode:
		return nil
	case n.Kind == spec.MappingNode:
		return &Model{Inline: model.DecodeCassette(p.Decoder, n, p.c.File, "model"), Range: n.Range}
	}
	s, ok := p.Text(n, "model")
	if !ok {
		return nil
	}
	// A cassette may be shared by workflows: it may lie anywhere in the workspace.
	full := path.Join(testsDirOf(p.c.File), s)
	if path.IsAbs(s) || strings.Contains(s, `\`) || full == ".." || strings.HasPrefix(full, "../") {
		p.Errorf(diag.BadPath, n.Range, "model", "give a path relative to the workflow's tests/, inside the workspace", "`%s` is no path of a cassette in the workspace", short(s))
		return nil
	}
	return &Model{Path: full, Range: n.Range}
}

// testsDirOf is the tests/ directory that a case file is in:
// workflows/<slug>/tests.
func testsDirOf(file string) string {
	parts := strings.SplitN(file, "/", 4)
	if len(parts) < 4 {
		return path.Dir(file)
	}
	return path.Join(parts[:3]...)
}
