package casetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
)

// Matcher is an expected value: mappings match partially at every depth, arrays
// element by element with equal length, "/pattern/flags" is an RE2 regular
// expression, other scalars match strictly, numbers by their exact value (spec:
// cases.md, "Assertions").
type Matcher struct {
	kind   spec.NodeKind // mapping, sequence, or any scalar
	fields []namedMatcher
	items  []*Matcher
	re     *regexp.Regexp
	scalar any    // nil, bool, string or json.Number
	source string // as a person reads it
}

type namedMatcher struct {
	name string
	*Matcher
}

// decodeMatcher reads an expected value; problems go to d.
func decodeMatcher(d *spec.Decoder, n *spec.Node, field string) *Matcher {
	if n == nil {
		return nil
	}
	m := &Matcher{kind: n.Kind}
	switch n.Kind {
	case spec.MappingNode:
		for _, p := range n.Pairs {
			m.fields = append(m.fields, namedMatcher{p.Key, decodeMatcher(d, p.Value, spec.Join(field, p.Key))})
		}
		return m
	case spec.SequenceNode:
		for i, item := range n.Items {
			m.items = append(m.items, decodeMatcher(d, item, spec.Join(field, strconv.Itoa(i))))
		}
		return m
	}
	m.scalar, _ = d.Any(n, field)
	m.source = show(m.scalar)
	if text, ok := m.scalar.(string); ok {
		re, err := parseExpression(text)
		if err != nil {
			d.Errorf(diag.BadPattern, n.Range, field, err.hint, "%s", err.message)
		}
		if m.re = re; re != nil {
			m.source = text
		}
	}
	return m
}

// badExpression says what is wrong with a "/pattern/flags" text.
type badExpression struct{ message, hint string }

// parseExpression reads "/pattern/flags"; nil for any other text. A text whose
// last part could be no flags, such as a path, is a text. The flags are those of
// cassettes; ones that only JavaScript knows are refused, because read as a text
// the expression would match nothing.
func parseExpression(s string) (*regexp.Regexp, *badExpression) {
	end := strings.LastIndex(s, "/")
	if !strings.HasPrefix(s, "/") || end == 0 {
		return nil, nil
	}
	flags := s[end+1:]
	if strings.Trim(flags, "imsU") != "" {
		if len(flags) <= 3 && strings.Trim(flags, "dgimsuyvU") == "" {
			return nil, &badExpression{
				fmt.Sprintf("%s has flags that are unknown here: %s", short(s), flags),
				"the flags are i, m, s and U (RE2); if it is a plain text, write it as an expression: /^…$/",
			}
		}
		return nil, nil
	}
	expr := s[1:end]
	if flags != "" {
		expr = "(?" + flags + ")" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, &badExpression{
			fmt.Sprintf("%s is no regular expression: %s", short(s), strings.TrimPrefix(err.Error(), "error parsing regexp: ")),
			"expressions are RE2: no look-around, no back-references",
		}
	}
	return re, nil
}

// Mismatch is the first place where a value is not what was expected. Path is
// dotted, "" at the top.
type Mismatch struct{ Path, Want, Got string }

// String words the mismatch: "order.total: expected 12, got 12.5".
func (m *Mismatch) String() string {
	text := fmt.Sprintf("expected %s, got %s", m.Want, m.Got)
	if m.Path != "" {
		text = m.Path + ": " + text
	}
	return text
}

const nothing = "nothing"

// Match holds a value, as encoding/json decodes it with exact numbers, against
// the expectation; nil when it matches.
func (m *Matcher) Match(v any) *Mismatch { return m.match(v, "") }

func (m *Matcher) match(v any, path string) *Mismatch {
	miss := func(want string) *Mismatch { return &Mismatch{path, want, show(v)} }
	switch {
	case m.kind == spec.MappingNode:
		object, ok := v.(map[string]any)
		if !ok {
			return miss("a mapping")
		}
		for _, f := range m.fields {
			at := spec.Join(path, f.name)
			got, ok := object[f.name]
			if !ok {
				return &Mismatch{at, f.expects(), nothing}
			}
			if bad := f.match(got, at); bad != nil {
				return bad
			}
		}
		return nil
	case m.kind == spec.SequenceNode:
		list, ok := v.([]any)
		if !ok {
			return miss("a list")
		}
		if len(list) != len(m.items) {
			return miss(fmt.Sprintf("a list of %d", len(m.items)))
		}
		for i, item := range m.items {
			if bad := item.match(list[i], spec.Join(path, strconv.Itoa(i))); bad != nil {
				return bad
			}
		}
		return nil
	case m.re != nil:
		if text, ok := v.(string); !ok || !m.re.MatchString(text) {
			return miss("a text that matches " + m.source)
		}
		return nil
	}
	if !sameScalar(m.scalar, v) {
		return miss(m.source)
	}
	return nil
}

// matches holds a text against the expectation.
func (m *Matcher) matches(text string) bool { return m.Match(text) == nil }

// expects words the expectation.
func (m *Matcher) expects() string {
	switch m.kind {
	case spec.MappingNode:
		names := make([]string, len(m.fields))
		for i, f := range m.fields {
			names[i] = f.name
		}
		if len(names) == 0 {
			return "a mapping"
		}
		return "a mapping with " + strings.Join(names, ", ")
	case spec.SequenceNode:
		return fmt.Sprintf("a list of %d", len(m.items))
	}
	return m.source
}

func sameScalar(want, got any) bool {
	a, number := want.(json.Number)
	if !number {
		switch got.(type) {
		case nil, bool, string:
			return want == got
		}
		return false
	}
	b, ok := got.(json.Number)
	return ok && (a == b || canonicalNumber(string(a)) == canonicalNumber(string(b)))
}

// canonicalNumber is one spelling for each value: sign, digits without zeros at
// either end, and the power of ten. No exponent is ever expanded. A number whose
// exponent is no int stays as written.
func canonicalNumber(s string) string {
	mantissa, exponent, scientific := strings.Cut(strings.ToLower(s), "e")
	exp := 0
	if scientific {
		var err error
		if exp, err = strconv.Atoi(exponent); err != nil || exp > 1<<30 || exp < -1<<30 {
			return s
		}
	}
	digits, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	all := strings.TrimRight(whole+fraction, "0")
	exp += len(whole) // 0.digits × 10^exp
	digits = strings.TrimLeft(all, "0")
	exp -= len(all) - len(digits)
	if digits == "" {
		return "0"
	}
	sign := ""
	if negative {
		sign = "-"
	}
	return fmt.Sprintf("%s%se%d", sign, digits, exp)
}

// maxShown is how many characters of a value a detail shows.
const maxShown = 200

// show is a value as JSON, bounded.
func show(v any) string {
	raw, err := session.Encode(v)
	if err != nil {
		return "a value without a JSON form"
	}
	return short(string(raw))
}

// short cuts a text to what a detail shows, and marks the cut.
func short(s string) string { return cut(s, maxShown) }

// cut keeps n characters of a text and says how many it left out.
func cut(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return fmt.Sprintf("%s… (%d more characters)", string(r[:n]), len(r)-n)
}

// names lists the keys of a map, sorted, for a detail.
func names[V any](m map[string]V) string {
	if len(m) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}

// Phrases are texts that must, or must not, be part of another: each a plain
// text or a "/pattern/flags" expression.
type Phrases []*Phrase

// Phrase is one of them.
type Phrase struct {
	source string
	re     *regexp.Regexp
}

func newPhrase(s string) (*Phrase, *badExpression) {
	re, bad := parseExpression(s)
	return &Phrase{s, re}, bad
}

// in reports whether the text holds the phrase.
func (p *Phrase) in(text string) bool {
	if p.re != nil {
		return p.re.MatchString(text)
	}
	return strings.Contains(text, p.source)
}

// decodePhrases reads one text or a list of texts.
func decodePhrases(d *spec.Decoder, n *spec.Node, field string) Phrases {
	if n == nil {
		return nil
	}
	if n.Kind != spec.SequenceNode {
		return phrase(d, n, field)
	}
	if len(n.Items) == 0 {
		d.Errorf(diag.EmptyValue, n.Range, field, "name at least one text", "`%s` is an empty list, which says nothing", field)
	}
	var out Phrases
	for i, item := range n.Items {
		out = append(out, phrase(d, item, spec.Join(field, strconv.Itoa(i)))...)
	}
	return out
}

func phrase(d *spec.Decoder, n *spec.Node, field string) Phrases {
	s, ok := d.Text(n, field)
	if !ok {
		return nil
	}
	p, bad := newPhrase(s)
	if bad != nil {
		d.Errorf(diag.BadPattern, n.Range, field, bad.hint, "%s", bad.message)
	}
	return Phrases{p}
}
