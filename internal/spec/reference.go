package spec

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ReferenceError says why a text with ${{references}} cannot be read.
type ReferenceError struct {
	Text    string // the reference as written, or the glob
	Problem string
	Glob    bool // the glob itself is at fault, not a reference
}

// Error is one line.
func (e *ReferenceError) Error() string { return fmt.Sprintf("`%s` %s", brief(e.Text), e.Problem) }

var segmentPattern = regexp.MustCompile(`^[^\s.{}$]+$`)

// ParseText splits a text into literal parts and references, ${{name}} or
// ${{name.path.-1.x}}; spaces inside the braces are allowed. $${{x}} writes
// ${{x}} literally. The error is a *ReferenceError.
func ParseText(text string) ([]GlobPart, error) {
	return parseReferences(text, func(s string) string { return s })
}

// ParseGlob is ParseText for a glob: it checks the pattern too, and the literal
// parts are pattern text, in which an escaped $${{x}} matches the text ${{x}}.
// A caller escapes a reference's value (EscapeGlob) before it joins the parts.
func ParseGlob(text string) ([]GlobPart, error) {
	parts, err := parseReferences(text, EscapeGlob)
	if err != nil {
		return nil, err
	}
	var pattern strings.Builder
	for _, p := range parts {
		if p.Ref != nil {
			pattern.WriteByte('x')
		}
		pattern.WriteString(p.Text)
	}
	if !doublestar.ValidatePattern(pattern.String()) {
		return nil, &ReferenceError{Text: text, Problem: "is not a valid glob: check its brackets and braces", Glob: true}
	}
	return parts, nil
}

// globMeta is every character that means something in a glob, inside a class
// (^ and -) as outside.
const globMeta = `*?[]{}\,!^-`

// EscapeGlob returns a pattern that matches s and nothing else, also where the
// glob around it puts it into a class.
func EscapeGlob(s string) string {
	if !strings.ContainsAny(s, globMeta) {
		return s
	}
	var b strings.Builder
	for _, c := range s {
		if strings.ContainsRune(globMeta, c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

func parseReferences(text string, literal func(string) string) ([]GlobPart, error) {
	var parts []GlobPart
	var lit strings.Builder
	for {
		open := strings.Index(text, "${{")
		if open < 0 {
			break
		}
		end := strings.Index(text[open:], "}}")
		if open > 0 && text[open-1] == '$' {
			lit.WriteString(text[:open-1])
			stop := open + len("${{")
			if end >= 0 {
				stop = open + end + len("}}")
			}
			lit.WriteString(literal(text[open:stop]))
			text = text[stop:]
			continue
		}
		if end < 0 {
			return nil, &ReferenceError{Text: text[open:], Problem: "is not closed: write ${{name}}, or $${{ for the characters themselves"}
		}
		lit.WriteString(text[:open])
		if lit.Len() > 0 {
			parts = append(parts, GlobPart{Text: lit.String()})
			lit.Reset()
		}
		written := text[open : open+end+len("}}")]
		ref, err := parseReference(written)
		if err != nil {
			return nil, err
		}
		parts = append(parts, GlobPart{Ref: ref})
		text = text[open+len(written):]
	}
	lit.WriteString(text)
	if lit.Len() > 0 || len(parts) == 0 {
		parts = append(parts, GlobPart{Text: lit.String()})
	}
	return parts, nil
}

func parseReference(written string) (*Reference, error) {
	inner := strings.TrimSpace(written[len("${{") : len(written)-len("}}")])
	segments := strings.Split(inner, ".")
	if !ValidVariableName(segments[0]) {
		return nil, &ReferenceError{Text: written, Problem: "names no variable: write ${{name}} or ${{name.path}}, or $${{ for the characters themselves"}
	}
	for _, s := range segments[1:] {
		if !segmentPattern.MatchString(s) {
			return nil, &ReferenceError{Text: written, Problem: "has a broken path: its parts are keys or indexes with single dots between them"}
		}
	}
	return &Reference{Name: segments[0], Path: slices.Clip(segments[1:]), Text: written}, nil
}

// Lookup descends value along path: into mappings by their own keys, into lists
// by a canonical index, or -1, -2, … from the end. Nothing else has parts, a
// text's or a list's length included.
func Lookup(value any, path []string) (any, bool) {
	for _, key := range path {
		switch v := value.(type) {
		case map[string]any:
			next, ok := v[key]
			if !ok {
				return nil, false
			}
			value = next
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || strconv.Itoa(i) != key {
				return nil, false
			}
			if i < 0 {
				i += len(v)
			}
			if i < 0 || i >= len(v) {
				return nil, false
			}
			value = v[i]
		default:
			return nil, false
		}
	}
	return value, true
}

// DottedPattern is what a dotted path matches.
const DottedPattern = `^[^\s.\[\]{}()$/*"'` + "`" + `]+(\.[^\s.\[\]{}()$/*"'` + "`" + `]+)*$`

var dottedPattern = regexp.MustCompile(DottedPattern)

// ValidDottedPath reports whether s is a trigger's `session` or `message` path,
// such as triggers.-1.conversationId.
func ValidDottedPath(s string) bool { return dottedPattern.MatchString(s) }

// LookupDotted finds the value of a dotted path in a firing's variables.
func LookupDotted(variables map[string]any, path string) (any, bool) {
	if !ValidDottedPath(path) {
		return nil, false
	}
	return Lookup(variables, strings.Split(path, "."))
}
