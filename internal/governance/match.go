package governance

import (
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/archmax-ai/archmax/internal/spec"
)

// side says whether an entry grants or denies. Every doubt is settled against
// the call: what cannot be told does not satisfy a grant and does match a
// denial.
type side bool

const (
	grant  side = false
	denial side = true
)

// names reports whether an entry is about the tool. A grant is by the exact
// name. A denial is also by `*`, which means every tool but the control tools,
// and by the bare action of a namespaced tool when no tool has exactly that
// name.
func (c *call) names(e *spec.ToolEntry, s side) bool {
	if e.Tool == c.tool.Name {
		return true
	}
	if s == grant {
		return false
	}
	if e.Tool == "*" {
		return !c.tool.Control
	}
	return bareAction(c.tool.Name) == e.Tool && !c.env.Tools.has(e.Tool)
}

// unresolved returns the first reference of the entry's guards that does not
// resolve to a scalar, with the reason, or nil.
func unresolved(e *spec.ToolEntry, vars map[string]any) (*spec.Reference, string) {
	for i := range e.Args {
		if ref, why := unresolvedIn(e.Args[i].Globs, vars); ref != nil {
			return ref, why
		}
	}
	return unresolvedIn(e.Paths, vars)
}

func unresolvedIn(globs []spec.Glob, vars map[string]any) (*spec.Reference, string) {
	for i := range globs {
		for j := range globs[i].Parts {
			if ref := globs[i].Parts[j].Ref; ref != nil {
				if _, why := scalarOf(ref, vars); why != "" {
					return ref, why
				}
			}
		}
	}
	return nil, ""
}

// matches reports whether the entry, which names the tool and whose references
// all resolve, matches the call: every argument guard and the path guard do.
func (c *call) matches(e *spec.ToolEntry, s side, vars map[string]any) bool {
	for i := range e.Args {
		if !c.argMatches(&e.Args[i], s, vars) {
			return false
		}
	}
	return len(e.Paths) == 0 || c.pathsMatch("", e.Paths, s, vars)
}

// argMatches matches one argument's guard. Of an argument that the tool
// declares as a path, the canonical path is matched, so a disguise changes
// nothing.
func (c *call) argMatches(g *spec.ArgGuard, s side, vars map[string]any) bool {
	if c.declares(g.Name) {
		return c.pathsMatch(g.Name, g.Globs, s, vars)
	}
	if c.hit {
		return true // decided with the call that searched; a hit has a path only
	}
	found := argument(c.args, g.Name)
	matched := 0
	for _, v := range found.v[:found.n] {
		if valueMatches(v, g.Globs, s, vars) {
			matched++
		}
	}
	if s == grant {
		return found.n > 0 && matched == found.n
	}
	return matched > 0
}

// pathsMatch matches the paths of one argument, or of every argument when arg
// is "": all of them for a grant, which needs at least one, any for a denial. A
// default that the call did not spell out counts for the guard over all paths
// only, since that argument is absent.
func (c *call) pathsMatch(arg string, globs []spec.Glob, s side, vars map[string]any) bool {
	matched, seen := 0, 0
	for i := range c.paths {
		at := &c.paths[i]
		if arg != "" && (at.arg != arg || at.implied) {
			continue
		}
		seen++
		if pathMatches(at.zone.Path, globs, s, vars) {
			matched++
		}
	}
	if s == grant {
		return seen > 0 && matched == seen
	}
	return matched > 0
}

// pathMatches matches a canonical path against any of the globs. A denial holds
// for every spelling that a file system might take for the same path.
func pathMatches(path string, globs []spec.Glob, s side, vars map[string]any) bool {
	for i := range globs {
		pattern := patternOf(&globs[i], vars, true)
		if globMatches(pattern, path, s) {
			return true
		}
		if s == denial && !(folded(path) && folded(pattern)) && globMatches(foldText(pattern), foldPath(path), s) {
			return true
		}
	}
	return false
}

// valueMatches matches an argument's value against any of the globs: scalars by
// their JSON text, of a list every element for a grant and any for a denial.
// Null, objects and the empty list satisfy no grant; a denial looks into
// objects, where a value could otherwise hide.
func valueMatches(v any, globs []spec.Glob, s side, vars map[string]any) bool {
	each := func(item any) bool { return valueMatches(item, globs, s, vars) }
	switch v := v.(type) {
	case nil:
		return false
	case []any:
		if s == grant {
			return len(v) > 0 && !slices.ContainsFunc(v, func(item any) bool { return !each(item) })
		}
		return slices.ContainsFunc(v, each)
	case map[string]any:
		for _, item := range v {
			if s == denial && each(item) {
				return true
			}
		}
		return false
	}
	text, ok := scalarText(v)
	if !ok {
		return s == denial
	}
	for i := range globs {
		if globMatches(patternOf(&globs[i], vars, false), text, s) {
			return true
		}
	}
	if plainText := plainNumber(v, text); s == denial && plainText != text {
		return valueMatches(json.Number(plainText), globs, s, vars)
	}
	return false
}

func globMatches(pattern, text string, s side) bool {
	matched, err := doublestar.Match(pattern, text)
	if err != nil {
		return s == denial
	}
	return matched
}

// patternOf is the glob with its references replaced by their values, escaped
// so that each matches only itself. A path pattern is put in canonical form:
// paths are compared in theirs, so `/docs/**`, `./docs/**` and `docs/` would
// match nothing else. The references resolve: unresolved was asked before.
func patternOf(g *spec.Glob, vars map[string]any, path bool) string {
	if len(g.Parts) == 0 {
		return tidy(g.Text, path, true, true)
	}
	if len(g.Parts) == 1 && g.Parts[0].Ref == nil {
		return tidy(g.Parts[0].Text, path, true, true)
	}
	var b strings.Builder
	for i := range g.Parts {
		part := &g.Parts[i]
		if part.Ref == nil {
			b.WriteString(tidy(part.Text, path, i == 0, i == len(g.Parts)-1))
			continue
		}
		value, _ := scalarOf(part.Ref, vars)
		if path && value != "" {
			if canonical, err := Canonical(value); err == nil && canonical != Root {
				value = canonical
			}
		}
		b.WriteString(spec.EscapeGlob(value))
	}
	return b.String()
}

// tidy drops what no canonical path has from the pattern text of a path guard:
// leading slashes, empty and "." segments. A closing slash means all below.
func tidy(text string, path, first, last bool) string {
	if !path {
		return text
	}
	for first && (strings.HasPrefix(text, "/") || strings.HasPrefix(text, "./")) {
		text = strings.TrimPrefix(text, ".")[1:]
	}
	for strings.Contains(text, "/./") {
		text = strings.ReplaceAll(text, "/./", "/")
	}
	for strings.Contains(text, "//") {
		text = strings.ReplaceAll(text, "//", "/")
	}
	switch {
	case first && last && text == "":
		return Root
	case last && strings.HasSuffix(text, "/"):
		return text + "**"
	}
	return text
}

// scalarText is the text by which a scalar is matched and written: a string as
// it is, a number or a boolean as JSON has it. False for anything else.
func scalarText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case json.Number:
		return v.String(), true
	case float64, float32, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		text, err := json.Marshal(v)
		return string(text), err == nil
	default:
		return "", false
	}
}

// plainNumber is a number's text without exponent and needless zeros, so that a
// denial of 42 holds for 42.0 and 4.2e1; of anything else it is text.
func plainNumber(v any, text string) string {
	if _, ok := v.(string); ok || !strings.ContainsAny(text, ".eE") && text != "-0" {
		return text
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		// A number of a billion digits is a way to stall, not a value.
		if exp, err := strconv.Atoi(text[i+1:]); err != nil || exp > 1000 || exp < -1000 {
			return text
		}
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return text
	}
	places, _ := r.FloatPrec()
	return r.FloatString(places)
}
