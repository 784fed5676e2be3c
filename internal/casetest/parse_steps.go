package casetest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
)

// The language of `steps`: actions reach the session, checks read it.
var (
	actionKeys = []string{"send", "decide", "deliver"}
	checkKeys  = []string{
		"succeeded", "parked", "raised", "rejected", "reachedState", "noTraversal", "triggerArrival", "trail", "variables",
		"reply", "calledTool", "notCalledTool", "blockedTool", "usedNoTools", "ranWorkflow", "file", "usage", "grade",
	}
)

func (p *parser) steps(root spec.Map) {
	items, ok := root.List("steps")
	if ok && len(items) == 0 {
		p.Errorf(diag.EmptyValue, root.Get("steps").Range, "steps", "begin with what is sent: `- send: \"…\"`", "`steps` is an empty list, so the case shows nothing")
	}
	acted, asserted := false, false
	for i, item := range items {
		field := spec.Join("steps", strconv.Itoa(i))
		m, ok := p.Mapping(item, field, slices.Concat(actionKeys, checkKeys)...)
		if !ok {
			continue
		}
		if len(item.Pairs) != 1 {
			p.Errorf(diag.BadValue, item.Range, field, "write each action and each assertion as an entry of its own", "a step has exactly one key, and this one has %d", len(item.Pairs))
			continue
		}
		key := item.Pairs[0].Key
		step := &Step{Index: i, Key: key, Field: m.At(key), Range: item.Pairs[0].Range}
		isAction := slices.Contains(actionKeys, key)
		if isAction {
			step.Action = p.action(m, key)
			if !acted && key != "send" {
				p.Errorf(diag.StepOrder, step.Range, step.Field, "put `send` first", "`%s` has no `send` above it, so no session waits for it", key)
			}
			acted = true
		} else {
			step.Check = p.check(m, key)
			asserted = true
			if !acted && slices.Contains(checkKeys, key) {
				p.Errorf(diag.StepOrder, step.Range, step.Field, "put `send` first", "`%s` has no action above it, so there is nothing to hold it against", key)
			}
		}
		if step.Action != nil || step.Check != nil {
			p.c.Steps = append(p.c.Steps, step)
		}
	}
	if acted && !asserted {
		p.Errorf(diag.EmptyAssertion, root.KeyRange("steps"), "steps", "say what must come of it, such as `- succeeded: true`", "the case asserts nothing, so it cannot fail")
	}
}

func (p *parser) action(m spec.Map, key string) action {
	switch key {
	case "send":
		if text, ok := m.String(key); ok {
			return &send{text}
		}
		return nil
	case "decide":
		v, ok := p.Mapping(m.Get(key), m.At(key), "to", "comment")
		if !ok || !v.Require("to", v.Node.Range, "the state that the person decides for") {
			return nil
		}
		a := &decide{toRange: v.Get("to").Range, field: v.At("to")}
		a.to, _ = v.Text("to")
		a.comment, _ = v.String("comment")
		return a
	}
	v, ok := p.Mapping(m.Get(key), m.At(key), "trigger", "variables", "message")
	if !ok || !v.Require("trigger", v.Node.Range, "the trigger that is delivered; any id resumes") {
		return nil
	}
	a := &deliver{}
	a.trigger, _ = v.Text("trigger")
	a.variables = p.variables(v.Get("variables"), v.At("variables"))
	a.message, _ = v.String("message")
	return a
}

func (p *parser) check(m spec.Map, key string) check {
	n, field := m.Get(key), m.At(key)
	switch key {
	case "succeeded":
		return onlyTrue(p, n, field, &succeeded{})
	case "noTraversal":
		return onlyTrue(p, n, field, &noTraversal{})
	case "usedNoTools":
		return onlyTrue(p, n, field, &usedNoTools{})
	case "parked":
		return p.parked(n, field)
	case "raised":
		return p.raised(n, field)
	case "rejected":
		return p.rejected(n, field)
	case "reachedState":
		s, _ := p.Text(n, field)
		return &reachedState{s, n.Range, field}
	case "triggerArrival":
		s, _ := p.Text(n, field)
		return &triggerArrival{s, n.Range, field}
	case "trail":
		return p.trail(n, field)
	case "variables":
		return p.expectVariables(n, field)
	case "reply":
		return p.reply(n, field)
	case "calledTool", "notCalledTool", "blockedTool":
		return p.tool(key, n, field)
	case "ranWorkflow":
		return p.ranWorkflow(n, field)
	case "file":
		return p.file(n, field)
	case "usage":
		return p.usage(n, field)
	case "grade":
		return p.grade(n, field)
	}
	return nil // reported as unknown
}

// onlyTrue reads an assertion that has no other value: one that is `false`
// would read as its contrary, which it is not.
func onlyTrue[C check](p *parser, n *spec.Node, field string, c C) check {
	v, ok := p.Bool(n, field)
	if ok && !v {
		p.Errorf(diag.BadValue, n.Range, field, "leave the step out, or assert what is to happen instead", "`%s` takes `true` alone", field)
	}
	return c
}

// isTrue reports whether a node is a boolean, and holds it to be true.
func (p *parser) isTrue(n *spec.Node, field string) bool {
	if n.Kind != spec.BoolNode {
		return false
	}
	onlyTrue(p, n, field, &succeeded{})
	return true
}

func (p *parser) parked(n *spec.Node, field string) check {
	a := &parked{}
	channels := []string{string(session.Decision), string(session.Input)}
	switch {
	case p.isTrue(n, field):
	case n.Kind == spec.MappingNode:
		m, _ := p.Mapping(n, field, "channel", "state")
		a.channel, _ = m.OneOf("channel", channels...)
		if a.state, _ = m.Text("state"); a.state != "" {
			a.stateRange, a.field = m.Get("state").Range, m.At("state")
		}
	default:
		a.channel, _ = p.OneOf(n, field, channels...)
	}
	return a
}

func (p *parser) raised(n *spec.Node, field string) check {
	a := &raised{}
	switch {
	case p.isTrue(n, field):
	case n.Kind == spec.MappingNode:
		m, _ := p.Mapping(n, field, "code", "reason")
		a.code, a.reason = p.textMatcher(m, "code"), p.textMatcher(m, "reason")
	default:
		if _, ok := p.Text(n, field); ok {
			a.code = decodeMatcher(p.Decoder, n, field)
		}
	}
	return a
}

// textMatcher reads an expected text.
func (p *parser) textMatcher(m spec.Map, key string) *Matcher {
	if _, ok := m.Text(key); !ok {
		return nil
	}
	return decodeMatcher(p.Decoder, m.Get(key), m.At(key))
}

func (p *parser) rejected(n *spec.Node, field string) check {
	a := &rejected{}
	if p.isTrue(n, field) {
		return a
	}
	if ps := phrase(p.Decoder, n, field); len(ps) > 0 {
		a.reason = ps[0]
	}
	return a
}

var trailKinds = []string{
	string(session.StepTrigger), string(session.StepAgent), string(session.StepHuman), string(session.StepGrader),
	string(session.StepCode), string(session.StepSubWorkflow), string(session.StepReset), string(session.StepOnError),
}

func (p *parser) trail(n *spec.Node, field string) check {
	m, ok := p.Mapping(n, field, "to", "kind", "reason", "count")
	if !ok || !m.Require("count", n.Range, "how many steps of the trail there must be like this") {
		return nil
	}
	a := &trail{}
	if a.to = p.textMatcher(m, "to"); a.to != nil {
		a.slug, _ = m.Text("to")
		a.toRange, a.field = m.Get("to").Range, m.At("to")
	}
	a.kind, _ = m.OneOf("kind", trailKinds...)
	a.reason = p.textMatcher(m, "reason")
	a.count, _ = m.Int("count", 0)
	return a
}

func (p *parser) expectVariables(n *spec.Node, field string) check {
	m, ok := p.Mapping(n, field, "expect", "path", "locked")
	if !ok || !m.Require("expect", n.Range, "the variables and the values they must have") {
		return nil
	}
	a := &expectVariables{}
	if m.Has("path") {
		a.path, _ = m.Text("path")
		if a.path != "" && !spec.ValidDottedPath(a.path) {
			p.Errorf(diag.DottedPathCode, m.Get("path").Range, m.At("path"), "write it as order.items.-1.id", "`%s` is no dotted path", short(a.path))
		}
	} else if open, ok := p.Open(m.Get("expect"), m.At("expect")); ok && len(open.Node.Pairs) == 0 {
		p.Errorf(diag.EmptyAssertion, open.Node.Range, open.Field, "name at least one variable", "`%s` names no variable, so it cannot fail", open.Field)
	}
	a.expect = decodeMatcher(p.Decoder, m.Get("expect"), m.At("expect"))
	if m.Has("locked") {
		locked, _ := m.Bool("locked")
		a.locked = &locked
	}
	return a
}

// oneOfKeys reports a mapping that has none of the keys without which it would
// assert nothing.
func (p *parser) oneOfKeys(m spec.Map, keys ...string) {
	if !slices.ContainsFunc(keys, m.Has) {
		p.Errorf(diag.EmptyAssertion, m.Node.Range, m.Field, "give at least one of: "+strings.Join(keys, ", "), "`%s` asserts nothing, so it cannot fail", m.Field)
	}
}

func (p *parser) reply(n *spec.Node, field string) check {
	m, ok := p.Mapping(n, field, "includes", "excludes")
	if !ok {
		return nil
	}
	p.oneOfKeys(m, "includes", "excludes")
	return &reply{p.contents(m)}
}

// contents reads includes and excludes.
func (p *parser) contents(m spec.Map) contents {
	return contents{
		includes: decodePhrases(p.Decoder, m.Get("includes"), m.At("includes")),
		excludes: decodePhrases(p.Decoder, m.Get("excludes"), m.At("excludes")),
	}
}

func (p *parser) tool(key string, n *spec.Node, field string) check {
	known := []string{"name", "input"}
	if key == "blockedTool" {
		known = append(known, "rule")
	}
	m, ok := p.Mapping(n, field, known...)
	if !ok || !m.Require("name", n.Range, "the tool's name") {
		return nil
	}
	t := toolCall{name: p.textMatcher(m, "name"), rule: p.textMatcher(m, "rule")}
	if t.name == nil {
		return nil // reported
	}
	if m.Has("input") {
		t.input = decodeMatcher(p.Decoder, m.Get("input"), m.At("input"))
	}
	switch key {
	case "calledTool":
		return &calledTool{t}
	case "notCalledTool":
		return &notCalledTool{t}
	}
	return &blockedTool{t}
}

func (p *parser) ranWorkflow(n *spec.Node, field string) check {
	m, ok := p.Mapping(n, field, "workflow", "status", "count")
	if !ok || !m.Require("workflow", n.Range, "the slug of the workflow that was called") {
		return nil
	}
	a := &ranWorkflow{workflowRange: m.Get("workflow").Range, field: m.At("workflow"), count: -1}
	a.workflow, _ = m.Text("workflow")
	a.status = p.textMatcher(m, "status")
	if m.Has("count") {
		a.count, _ = m.Int("count", 0)
	}
	return a
}

func (p *parser) file(n *spec.Node, field string) check {
	m, ok := p.Mapping(n, field, "path", "includes", "excludes", "equals", "json")
	if !ok || !m.Require("path", n.Range, "the file, as the session names it") {
		return nil
	}
	a := &file{contents: p.contents(m)}
	if s, ok := m.Text("path"); ok {
		a.path = p.sessionPath(s, m.Get("path").Range, m.At("path"))
	}
	if m.Has("equals") {
		if s, ok := m.String("equals"); ok {
			a.equals = &s
		}
	}
	if m.Has("json") {
		a.json = decodeMatcher(p.Decoder, m.Get("json"), m.At("json"))
	}
	return a
}

func (p *parser) usage(n *spec.Node, field string) check {
	m, ok := p.Mapping(n, field, "maxInputTokens", "maxOutputTokens", "maxCostUsd", "maxModelCalls")
	if !ok {
		return nil
	}
	p.oneOfKeys(m, "maxInputTokens", "maxOutputTokens", "maxCostUsd", "maxModelCalls")
	count := func(key string) *int64 {
		if !m.Has(key) {
			return nil
		}
		n, _ := m.Int(key, 0)
		limit := int64(n)
		return &limit
	}
	a := &usage{input: count("maxInputTokens"), output: count("maxOutputTokens"), calls: count("maxModelCalls")}
	if m.Has("maxCostUsd") {
		a.cost = p.fraction(m, "maxCostUsd", 0, 1e12)
	}
	return a
}

func (p *parser) grade(n *spec.Node, field string) check {
	m, ok := p.Mapping(n, field, "closedQA", "atLeast")
	if !ok {
		return nil
	}
	question := m.Require("closedQA", n.Range, "the question the judge answers about the conversation")
	if !m.Require("atLeast", n.Range, "the score, above 0 and at most 1, that the case needs") || !question {
		return nil
	}
	a := &gradeCheck{}
	a.question, _ = m.Text("closedQA")
	at := p.fraction(m, "atLeast", 0, 1)
	if at == nil {
		return a
	}
	if *at == 0 {
		p.Errorf(diag.BadValue, m.Get("atLeast").Range, m.At("atLeast"), "", "`%s` must be above 0: every score is at least 0, so it could not fail", m.At("atLeast"))
	}
	a.atLeast = *at
	return a
}

// fraction reads a number within bounds.
func (p *parser) fraction(m spec.Map, key string, low, high float64) *float64 {
	num, ok := p.Number(m.Get(key), m.At(key))
	if !ok {
		return nil
	}
	v, err := num.Float64()
	if err != nil || v < low || v > high {
		p.Errorf(diag.BadValue, m.Get(key).Range, m.At(key), "", "`%s` must be a number from %g to %g, not %s", m.At(key), low, high, num)
		return nil
	}
	return &v
}
