package spec

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/archmax-ai/archmax/internal/diag"
)

// typeRules says which rules a type takes, in the order in which they are held
// against a value (language.md, "Signature entries").
var typeRules = []struct {
	name  string
	rules []string
}{
	{"string", []string{"format", "pattern", "minLength", "maxLength", "enum", "content"}},
	{"integer", []string{"minimum", "maximum", "enum"}},
	{"number", []string{"minimum", "maximum", "enum"}},
	{"boolean", nil},
	{"date", []string{"minimum", "maximum"}},
	{"date-time", []string{"minimum", "maximum"}},
	{"file", []string{"accept", "maxSize"}},
	{"object", nil},
	{"array", []string{"minItems", "maxItems"}},
}

var (
	entryTypes []string
	entryKeys  = []string{"name", "type", "description"}
)

func init() {
	for _, t := range typeRules {
		entryTypes = append(entryTypes, t.name)
		for _, r := range t.rules {
			if !slices.Contains(entryKeys, r) {
				entryKeys = append(entryKeys, r)
			}
		}
	}
}

func rulesOf(entryType string) []string {
	for _, t := range typeRules {
		if t.name == entryType {
			return t.rules
		}
	}
	return nil
}

func (l *loader) signature(m Map, key string) []*Entry {
	first := map[string]*Entry{}
	entries, _ := list(m, key, func(n *Node, field string) (*Entry, bool) {
		e, ok := l.entry(n, field)
		if !ok {
			return nil, false
		}
		if f := first[e.Name]; f != nil {
			l.Errorf(diag.SignatureName, e.Range, field, "keep one of the two", "`%s` names `%s` twice, here and on line %d", key, e.Name, f.Range.Start.Line)
			return e, true
		}
		first[e.Name] = e
		if key == "returns" && slices.Contains(reservedReturns, e.Name) {
			l.Errorf(diag.SignatureName, e.Range, field, "choose another name", "`returns` may not name `%s`: it is reserved", e.Name)
		}
		return e, true
	})
	return entries
}

// entry reads a bare variable name or a mapping.
func (l *loader) entry(n *Node, field string) (*Entry, bool) {
	e := &Entry{Range: n.Range}
	if n.Kind != MappingNode {
		name, ok := l.variableName(n, field)
		e.Name = name.Value
		return e, ok
	}
	m, _ := l.Mapping(n, field, entryKeys...)
	if m.Require("name", n.Range, "name the variable") {
		name, _ := l.variableName(m.Get("name"), m.At("name"))
		e.Name = name.Value
		e.Range = m.Get("name").Range
	}
	e.Description, _ = m.String("description")
	typed := m.Has("type")
	entryType, ok := m.OneOf("type", entryTypes...)
	e.Type = entryType
	if typed && !ok {
		return e, e.Name != "" // its rules cannot be judged
	}
	belongs := rulesOf(e.Type)
	for _, p := range n.Pairs {
		if slices.Contains(entryKeys[3:], p.Key) && !slices.Contains(belongs, p.Key) {
			l.foreignRule(e, p, m.At(p.Key))
		}
	}
	for _, rule := range belongs {
		if m.Has(rule) {
			l.rule(e, rule, m)
		}
	}
	l.bounds(e, m)
	return e, e.Name != ""
}

func (l *loader) foreignRule(e *Entry, p Pair, field string) {
	var takers []string
	for _, t := range typeRules {
		if slices.Contains(t.rules, p.Key) {
			takers = append(takers, t.name)
		}
	}
	hint := fmt.Sprintf("`%s` is a rule of: %s", p.Key, strings.Join(takers, ", "))
	if e.Type == "" {
		l.Errorf(diag.SignatureRule, p.Range, field, hint, "`%s` needs a `type`: an untyped entry takes no rules", p.Key)
		return
	}
	l.Errorf(diag.SignatureRule, p.Range, field, hint, "`%s` is no rule of the type `%s`", p.Key, e.Type)
}

var (
	mediaType   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*(;.*)?$`)
	acceptEntry = regexp.MustCompile(`^(\.?[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|[A-Za-z0-9!#$&^_.+-]+/(\*|[A-Za-z0-9!#$&^_.+-]+))$`)
)

func (l *loader) rule(e *Entry, rule string, m Map) {
	n, field, r := m.Get(rule), m.At(rule), &e.Rules
	switch rule {
	case "format":
		r.Format, _ = m.OneOf(rule, "email", "url", "phone")
	case "pattern":
		if pattern, ok := m.String(rule); ok && l.pattern(pattern, n, field) {
			r.Pattern = pattern
		}
	case "minLength":
		r.MinLength = l.count(m, rule)
	case "maxLength":
		r.MaxLength = l.count(m, rule)
	case "minItems":
		r.MinItems = l.count(m, rule)
	case "maxItems":
		r.MaxItems = l.count(m, rule)
	case "content":
		var ok bool
		if r.Content, ok = m.Text(rule); ok && !mediaType.MatchString(r.Content) {
			l.Errorf(diag.SignatureRule, n.Range, field, "as in `text/markdown`", "`%s` is no media type", brief(r.Content))
		}
	case "enum":
		l.enum(e, m)
	case "minimum":
		r.Minimum = l.bound(e.Type, n, field)
	case "maximum":
		r.Maximum = l.bound(e.Type, n, field)
	case "accept":
		r.Accept, _ = list(m, rule, func(n *Node, field string) (string, bool) {
			s, ok := l.Text(n, field)
			if ok && !acceptEntry.MatchString(s) {
				l.Errorf(diag.SignatureRule, n.Range, field, "as in `.pdf`, `image/png` or `image/*`", "`%s` is neither a file extension nor a media type", brief(s))
			}
			return s, ok
		})
		if len(n.Items) == 0 && n.Kind == SequenceNode {
			l.Errorf(diag.SignatureBounds, n.Range, field, "list what is accepted, or leave `accept` out", "`accept` lists nothing, so no file conforms")
		}
	case "maxSize":
		text, ok := m.Text(rule)
		if !ok {
			return
		}
		r.MaxSizeText = text
		size, err := ParseSize(text)
		if err != nil {
			l.Errorf(diag.SignatureRule, n.Range, field, "", "%s", err)
			return
		}
		r.MaxSize = &size
	}
}

func (l *loader) count(m Map, rule string) *int {
	v, ok := m.Int(rule, 0)
	if !ok {
		return nil
	}
	return &v
}

func (l *loader) pattern(pattern string, n *Node, field string) bool {
	_, err := regexp.Compile(pattern)
	if err == nil {
		return true
	}
	why := "it cannot be compiled"
	var se *syntax.Error
	if errors.As(err, &se) {
		why = fmt.Sprintf("%s at `%s`", se.Code, brief(se.Expr))
	}
	l.Errorf(diag.SignaturePattern, n.Range, field, "patterns are RE2: no look-around, no back-references", "`pattern` is no regular expression: %s", why)
	return false
}

func (l *loader) enum(e *Entry, m Map) {
	text := e.Type == "string"
	seen := map[string]bool{}
	values, ok := list(m, "enum", func(n *Node, field string) (v any, ok bool) {
		var key string
		if text {
			s, good := l.String(n, field)
			v, ok, key = s, good, s
		} else {
			num, good := l.Number(n, field)
			d, _ := parseDecimal(string(num))
			v, ok, key = num, good, d.String()
			if ok && e.Type == "integer" && !d.integer() {
				l.Errorf(diag.SignatureRule, n.Range, field, "", "`%s` is no integer", brief(n.Text))
			}
		}
		if ok && seen[key] {
			l.Errorf(diag.SignatureRule, n.Range, field, "keep one of the two", "`%s` is listed twice", brief(n.Text))
		}
		seen[key] = true
		return v, ok
	})
	e.Rules.Enum = values
	if n := m.Get("enum"); ok && len(n.Items) == 0 {
		l.Errorf(diag.SignatureBounds, n.Range, m.At("enum"), "list what is allowed, or leave `enum` out", "`enum` lists nothing, so no value conforms")
	}
}

// bound reads `minimum` or `maximum`. A date may stand without quotes: its text
// is taken as written.
func (l *loader) bound(entryType string, n *Node, field string) any {
	switch entryType {
	case "integer", "number":
		num, ok := l.Number(n, field)
		if !ok {
			return nil
		}
		if d, _ := parseDecimal(string(num)); entryType == "integer" && !d.integer() {
			l.Errorf(diag.SignatureRule, n.Range, field, "", "%s of an integer must be an integer, not %s", name(field), brief(n.Text))
		}
		return num
	}
	word, example, valid := "today", "2026-01-31", validDate
	if entryType == "date-time" {
		word, example, valid = "now", "2026-01-31T09:00:00Z", validDateTime
	}
	text, ok := l.Scalar(n, field, fmt.Sprintf("a %s or `%s`", entryType, word))
	if !ok {
		return nil
	}
	if text != word && !valid(text) {
		l.Errorf(diag.SignatureRule, n.Range, field, fmt.Sprintf("as in `%s`, or `%s`", example, word), "`%s` is no %s", brief(text), entryType)
		return nil
	}
	return text
}

// bounds reports rules that together leave no value.
func (l *loader) bounds(e *Entry, m Map) {
	r := &e.Rules
	excludes := func(low, high string) {
		l.Errorf(diag.SignatureBounds, m.Get(high).Range, m.At(high), "", "`%s` is below `%s`, so no value conforms", high, low)
	}
	if r.MinLength != nil && r.MaxLength != nil && *r.MinLength > *r.MaxLength {
		excludes("minLength", "maxLength")
	}
	if r.MinItems != nil && r.MaxItems != nil && *r.MinItems > *r.MaxItems {
		excludes("minItems", "maxItems")
	}
	if r.Minimum != nil && r.Maximum != nil && boundsCross(e) {
		excludes("minimum", "maximum")
	}
	if len(r.Enum) == 0 || l.Broken() {
		return
	}
	for _, v := range r.Enum {
		if rule, _ := brokenRule(e, v, CheckEnv{}); rule == "" {
			return
		}
	}
	l.Errorf(diag.SignatureBounds, m.Get("enum").Range, m.At("enum"), "make the rules agree", "every value of `enum` breaks another rule, so no value conforms")
}

// boundsCross reports whether minimum is above maximum. Against the clock
// (`today`, `now`) nothing can be told.
func boundsCross(e *Entry) bool {
	switch low := e.Rules.Minimum.(type) {
	case json.Number:
		a, okA := parseDecimal(string(low))
		b, okB := decimalOf(e.Rules.Maximum)
		return okA && okB && a.cmp(b) > 0
	case string:
		high, _ := e.Rules.Maximum.(string)
		a, okA := instant(e.Type, low)
		b, okB := instant(e.Type, high)
		return okA && okB && a.After(b)
	}
	return false
}

var sizePattern = regexp.MustCompile(`^([0-9]{1,15})(?:\.([0-9]{1,6}))?\s*([kKmMgG]?i?)[bB]$`)

// ParseSize reads a size such as 10MB: KB, MB and GB are powers of 1000, KiB,
// MiB and GiB of 1024. The result is in bytes, at least 1.
func ParseSize(s string) (int64, error) {
	m := sizePattern.FindStringSubmatch(s)
	bad := fmt.Errorf("`%s` is no size: write a number and B, KB, MB, GB, KiB, MiB or GiB, as in 10MB", brief(s))
	if m == nil {
		return 0, bad
	}
	units := map[string]int64{"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}
	unit, ok := units[strings.ToLower(m[3])]
	number := m[1]
	if m[2] != "" {
		number += "." + m[2]
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || !ok || n*float64(unit) < 1 || n*float64(unit) > 1<<53 {
		return 0, bad
	}
	return int64(n * float64(unit)), nil
}
