package model

import (
	"cmp"
	"slices"
	"strings"
)

// assembler puts streamed tool calls together: by index, or by id when the
// index is missing or repeated, or by order when both are (model.md, "Read").
type assembler struct {
	calls  []*partCall
	chunks int
}

type partCall struct {
	index int // -1 when none came
	id    string
	name  string
	args  strings.Builder
	chunk int // the last chunk that added to it
}

// take adds the fragments of one chunk.
func (a *assembler) take(frags []callDelta) {
	if len(frags) == 0 {
		return
	}
	a.chunks++
	for _, f := range frags {
		c := a.find(f)
		if c == nil {
			c = &partCall{index: -1}
			if f.Index != nil {
				c.index = *f.Index
			}
			a.calls = append(a.calls, c)
		}
		if c.id == "" {
			c.id = string(f.ID)
		}
		if c.name == "" {
			c.name = string(f.Function.Name)
		}
		c.args.WriteString(string(f.Function.Arguments))
		c.chunk = a.chunks
	}
}

// find returns the call that f goes on with, nil when f begins one.
func (a *assembler) find(f callDelta) *partCall {
	id := string(f.ID)
	if f.Index == nil {
		if id != "" {
			return a.unless(a.last(func(c *partCall) bool { return c.id == id }), f)
		}
		return a.unless(a.last(func(*partCall) bool { return true }), f)
	}
	c := a.last(func(c *partCall) bool { return c.index == *f.Index })
	if c != nil && id != "" && c.id != "" && c.id != id { // the index is repeated
		c = a.last(func(c *partCall) bool { return c.id == id })
	}
	return a.unless(c, f)
}

func (a *assembler) last(match func(*partCall) bool) *partCall {
	for _, c := range slices.Backward(a.calls) {
		if match(c) {
			return c
		}
	}
	return nil
}

// unless returns c, or nil when f begins a call of its own although index or id
// name c: it brings a name where c has one, and c is whole, or is another
// tool's, or got its share of this very chunk. A provider that repeats name and
// id in every fragment of one call is still understood.
func (a *assembler) unless(c *partCall, f callDelta) *partCall {
	name := string(f.Function.Name)
	if c == nil || name == "" || c.name == "" {
		return c
	}
	named := f.ID != "" && c.id == string(f.ID) && c.name == name && (f.Index != nil || f.Function.Arguments == "")
	if !named && (c.name != name || c.chunk == a.chunks || isObject([]byte(c.args.String()))) {
		return nil
	}
	return c
}

// list returns the calls, by index when every call has one of its own, else in
// order of arrival.
func (a *assembler) list() []Call {
	seen := map[int]bool{}
	ordered := true
	for _, c := range a.calls {
		ordered = ordered && c.index >= 0 && !seen[c.index]
		seen[c.index] = true
	}
	calls := slices.Clone(a.calls)
	if ordered {
		slices.SortStableFunc(calls, func(x, y *partCall) int { return cmp.Compare(x.index, y.index) })
	}
	var out []Call
	for _, c := range calls {
		out = append(out, Call{ID: c.id, Name: c.name, Args: c.args.String()})
	}
	return out
}
