package governance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/archmax-ai/archmax/internal/spec"
)

// maxSubstituted bounds the text that one call's references may grow to, in
// bytes: a megabyte named ten thousand times is no call to make.
const maxSubstituted = 32 << 20

// SubstitutionError says why a call's arguments cannot be written. It is the
// agent's to correct; nothing has run.
type SubstitutionError struct {
	Argument  string // dotted: items.0.name
	Reference string // as written, with its braces
	Problem   string // "is not set", …
}

// Error is one line, and says what to do.
func (e *SubstitutionError) Error() string {
	text := fmt.Sprintf("argument %s: %s %s.", e.Argument, e.Reference, e.Problem)
	if !strings.Contains(e.Problem, "$${{") {
		text += " Set the variable first, or write $${{…}} for the characters themselves."
	}
	return text
}

// Substitute returns the arguments with every ${{reference}}, in any string at
// any depth, replaced by its value: a string as it is, anything else as its
// JSON text. With wholeValue, for a delegation tool, a string that is exactly
// one reference becomes the value itself. $${{x}} writes ${{x}}. There is one
// pass: what a value holds is never read as a reference. Keys are left alone.
// The arguments given are not changed; they are returned as they are when they
// hold no reference. Both maps hold what JSON decodes to. The error is a
// *SubstitutionError.
func Substitute(args map[string]any, vars map[string]any, wholeValue bool) (map[string]any, error) {
	if !mentions(args) {
		return args, nil
	}
	s := substitution{vars: vars, whole: wholeValue, left: maxSubstituted}
	v, err := s.value(args, "")
	if err != nil {
		return nil, err
	}
	return v.(map[string]any), nil
}

// mentions reports whether a value may hold a reference.
func mentions(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, "${{")
	case []any:
		return slices.ContainsFunc(v, mentions)
	case map[string]any:
		for _, item := range v {
			if mentions(item) {
				return true
			}
		}
	}
	return false
}

type substitution struct {
	vars  map[string]any
	whole bool
	left  int // bytes that values may still take
}

func (s *substitution) value(v any, at string) (any, error) {
	switch v := v.(type) {
	case string:
		return s.text(v, at)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			var err error
			if out[i], err = s.value(item, join(at, strconv.Itoa(i))); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) { // in order, so that the first error is the same one each time
			item, err := s.value(v[key], join(at, key))
			if err != nil {
				return nil, err
			}
			out[key] = item
		}
		return out, nil
	default:
		return v, nil
	}
}

func (s *substitution) text(text, at string) (any, error) {
	if !strings.Contains(text, "${{") {
		return text, nil
	}
	parts, err := spec.ParseText(text)
	if err != nil {
		bad := &spec.ReferenceError{Text: text, Problem: "is no reference"}
		errors.As(err, &bad)
		return nil, &SubstitutionError{at, cut(bad.Text), bad.Problem}
	}
	if s.whole && len(parts) == 1 && parts[0].Ref != nil {
		v, _, err := s.lookup(parts[0].Ref, at)
		return v, err
	}
	var b strings.Builder
	for _, part := range parts {
		if part.Ref == nil {
			b.WriteString(part.Text)
			continue
		}
		_, value, err := s.lookup(part.Ref, at)
		if err != nil {
			return nil, err
		}
		b.WriteString(value)
	}
	return b.String(), nil
}

// lookup returns a reference's value, and the text by which it is written.
func (s *substitution) lookup(ref *spec.Reference, at string) (v any, text string, err error) {
	v, why := resolve(ref, s.vars)
	if why != "" {
		return nil, "", &SubstitutionError{at, cut(ref.Text), why}
	}
	if text, err = jsonText(v); err != nil {
		return nil, "", &SubstitutionError{at, cut(ref.Text), "holds what JSON cannot write"}
	}
	if s.left -= len(text); s.left < 0 {
		return nil, "", &SubstitutionError{at, cut(ref.Text), fmt.Sprintf(
			"makes the arguments longer than %d MB; pass a file, or a part of it", maxSubstituted>>20)}
	}
	return v, text, nil
}

// resolve finds a reference's value; why is "" or says what is missing.
func resolve(ref *spec.Reference, vars map[string]any) (v any, why string) {
	v, ok := vars[ref.Name]
	if !ok {
		return nil, "is not set"
	}
	if v, ok = spec.Lookup(v, ref.Path); !ok {
		return nil, "has no such value: " + ref.Name + " is set, and has no " + strings.Join(ref.Path, ".")
	}
	return v, ""
}

// scalarOf is a reference's value as a guard matches it.
func scalarOf(ref *spec.Reference, vars map[string]any) (text, why string) {
	v, why := resolve(ref, vars)
	if why != "" {
		return "", why
	}
	text, ok := scalarText(v)
	if !ok {
		return "", "is not a text, a number or a boolean"
	}
	return text, ""
}

// jsonText is a value as it is written into a string: a string as it is,
// anything else as its JSON text.
func jsonText(v any) (string, error) {
	if text, ok := scalarText(v); ok {
		return text, nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

func join(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}

// cut shortens a text that is repeated to its author.
func cut(s string) string {
	const most = 100
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strings.Join(strings.Fields(s), " ")
}
