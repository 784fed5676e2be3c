package casetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/session"
)

// The assertions about content: a miss fails the case, which goes on.

// contents are texts that must and must not be in another.
type contents struct{ includes, excludes Phrases }

// of says what is wrong with a text, which is called what; "" when nothing is.
func (c contents) of(text, what string) string {
	for _, p := range c.includes {
		if !p.in(text) {
			return fmt.Sprintf("expected %s to include %s; it is %s", what, quoted(p.source), show(text))
		}
	}
	for _, p := range c.excludes {
		if p.in(text) {
			return fmt.Sprintf("expected %s not to include %s; it is %s", what, quoted(p.source), show(text))
		}
	}
	return ""
}

type reply struct{ contents }

func (*reply) structural() bool       { return false }
func (a *reply) check(r *run) finding { return miss(a.of(r.said(), "what the agent said")) }

// toolCall is what tool assertions look for.
type toolCall struct{ name, input, rule *Matcher }

// String names it: the tool, and what is asked of its call.
func (t toolCall) String() string {
	s := t.name.source
	if t.input != nil {
		s += " with " + t.input.expects()
	}
	if t.rule != nil {
		s += " by the rule " + t.rule.source
	}
	return s
}

func (t toolCall) matches(c *call) bool {
	return t.names(c) && (t.input == nil || t.input.Match(c.args) == nil) && (t.rule == nil || t.rule.matches(c.rule))
}

// names reports whether a call is of the tool: by the name it was called, or by
// that of the tool which that name means.
func (t toolCall) names(c *call) bool { return t.name.matches(c.name) || t.name.matches(c.tool) }

// fate is what calls an assertion is about.
type fate struct {
	word string
	has  func(*call) bool
}

var (
	wasCalled  = fate{"called", (*call).called}
	wasBlocked = fate{"blocked", (*call).blocked}
)

// find gives the call that matches, nil when none does.
func (t toolCall) find(v *view, f fate) *call {
	i := slices.IndexFunc(v.calls, func(c *call) bool { return f.has(c) && t.matches(c) })
	if i < 0 {
		return nil
	}
	return v.calls[i]
}

// nearest words what came closest: a call of the tool that differs, one that was
// attempted and did not run, else what was called.
func (t toolCall) nearest(v *view, f fate) string {
	for _, c := range v.calls {
		if !f.has(c) || !t.names(c) {
			continue
		}
		if t.rule != nil && !t.rule.matches(c.rule) {
			return fmt.Sprintf("it was, by the rule %s", c.rule)
		}
		if t.input != nil {
			return "it was, but " + t.input.Match(c.args).String()
		}
	}
	for _, c := range v.calls {
		if t.names(c) && !c.called() && !c.blocked() {
			return "it was attempted, and did not run: " + short(collapse(c.output))
		}
	}
	seen := map[string]bool{}
	for _, c := range v.calls {
		if f.has(c) {
			seen[c.name] = true
		}
	}
	return "tools that were " + f.word + ": " + names(seen)
}

type calledTool struct{ toolCall }

func (*calledTool) structural() bool { return false }

func (a *calledTool) check(r *run) finding {
	if a.find(&r.view, wasCalled) != nil {
		return holds
	}
	return miss(fmt.Sprintf("expected %s to be called; %s", a, a.nearest(&r.view, wasCalled)))
}

type notCalledTool struct{ toolCall }

func (*notCalledTool) structural() bool { return false }

func (a *notCalledTool) check(r *run) finding {
	if c := a.find(&r.view, wasCalled); c != nil {
		return miss(fmt.Sprintf("expected %s not to be called; it was, with %s", a, show(c.args)))
	}
	return holds
}

type blockedTool struct{ toolCall }

func (*blockedTool) structural() bool { return false }

func (a *blockedTool) check(r *run) finding {
	if a.find(&r.view, wasBlocked) != nil {
		return holds
	}
	return miss(fmt.Sprintf("expected %s to be blocked; %s", a, a.nearest(&r.view, wasBlocked)))
}

type usedNoTools struct{ goesOn }

func (*usedNoTools) check(r *run) finding {
	seen := map[string]bool{}
	for _, c := range r.calls {
		seen[c.name] = true
	}
	if len(seen) == 0 {
		return holds
	}
	return miss("expected no tool to be used; called were: " + names(seen))
}

type ranWorkflow struct {
	goesOn
	workflow      string
	workflowRange diag.Range
	field         string
	status        *Matcher
	count         int // -1: at least once
}

func (a *ranWorkflow) refer(s *statics) { s.workflow(a.workflow, a.workflowRange, a.field) }

func (a *ranWorkflow) check(r *run) finding {
	n := 0
	var ran []string
	for _, s := range r.state.Trail {
		if s.Kind != session.StepSubWorkflow {
			continue
		}
		ran = append(ran, fmt.Sprintf("%s (%s)", s.Workflow, s.Status))
		if s.Workflow == a.workflow && (a.status == nil || a.status.matches(s.Status)) {
			n++
		}
	}
	if n == a.count || a.count < 0 && n > 0 {
		return holds
	}
	want := "to run"
	if a.count >= 0 {
		want = fmt.Sprintf("to run %d times", a.count)
	}
	if a.status != nil {
		want += " with status " + a.status.source
	}
	if len(ran) == 0 {
		ran = []string{"none"}
	}
	return miss(fmt.Sprintf("expected workflow %s %s, and it did %d times; workflows that ran: %s", quoted(a.workflow), want, n, strings.Join(ran, ", ")))
}

type file struct {
	contents
	path   string
	equals *string
	json   *Matcher
}

func (*file) structural() bool { return false }

func (a *file) check(r *run) finding {
	if r.files == nil {
		return miss(fmt.Sprintf("expected the file %s; the session does not exist: %s", a.path, r.standing()))
	}
	content, err := r.files.ReadFile(a.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return miss(fmt.Sprintf("expected the file %s, which does not exist", a.path))
	case err != nil:
		return miss("expected to read a file: " + err.Error())
	}
	text := string(content)
	if bad := a.of(text, a.path); bad != "" {
		return miss(bad)
	}
	if a.equals != nil && text != *a.equals {
		return miss(fmt.Sprintf("expected %s to be %s; it is %s", a.path, show(*a.equals), show(text)))
	}
	if a.json == nil {
		return holds
	}
	dec := json.NewDecoder(bytes.NewReader(content))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil || dec.More() {
		return miss(fmt.Sprintf("expected %s to hold one JSON value; it is %s", a.path, show(text)))
	}
	if bad := a.json.Match(v); bad != nil {
		return miss(a.path + ": " + bad.String())
	}
	return holds
}

type usage struct {
	goesOn
	input, output, calls *int64
	cost                 *float64
}

// check holds totals against bounds. A total of which a part is unknown is not
// known to be within any bound.
func (a *usage) check(r *run) finding {
	u := r.state.Usage
	count := func(what string, limit *int64, have, unknown int64) string {
		switch {
		case limit == nil:
			return ""
		case have > *limit:
			return fmt.Sprintf("expected at most %d %s; used %d", *limit, what, have)
		case unknown > 0:
			return fmt.Sprintf("expected at most %d %s; unknown, since %d of %d model calls reported no usage", *limit, what, unknown, u.ModelCalls)
		}
		return ""
	}
	for _, bad := range []string{
		count("input tokens", a.input, u.InputTokens, u.UnknownCalls),
		count("output tokens", a.output, u.OutputTokens, u.UnknownCalls),
		count("model calls", a.calls, u.ModelCalls, 0),
	} {
		if bad != "" {
			return miss(bad)
		}
	}
	switch {
	case a.cost == nil:
	case u.CostUSD > *a.cost:
		return miss(fmt.Sprintf("expected a cost of at most $%g; it was $%g", *a.cost, u.CostUSD))
	case u.PricedCalls < u.ModelCalls:
		return miss(fmt.Sprintf("expected a cost of at most $%g; unknown, since %d of %d model calls have no price", *a.cost, u.ModelCalls-u.PricedCalls, u.ModelCalls))
	}
	return holds
}
