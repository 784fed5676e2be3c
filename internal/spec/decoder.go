package spec

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/archmax-ai/archmax/internal/diag"
)

// Decoder reads Nodes strictly and gathers every problem, so that a file's
// mistakes are reported in one pass. Its readers return a zero value and false
// for what they had to report, and for what is absent. Not for concurrent use.
//
// A field is a dotted path, states.review.transitions.0.to.
type Decoder struct {
	list   diag.List
	broken bool
}

// NewDecoder returns a Decoder without problems.
func NewDecoder() *Decoder { return &Decoder{} }

// Broken reports whether the shape of what was read is wrong (a key, a type),
// so that rules over the whole would only repeat it.
func (d *Decoder) Broken() bool { return d.broken }

// Diagnostics returns what was gathered, in file order, for file. What two
// aliases of one value say twice is there once.
func (d *Decoder) Diagnostics(file string) diag.List {
	list := slices.Clone(d.list).In(file)
	list.Sort()
	return slices.CompactFunc(list, func(a, b diag.Diagnostic) bool {
		b.Field = a.Field
		return a == b
	})
}

// Errorf reports a broken rule.
func (d *Decoder) Errorf(code diag.Code, at diag.Range, field, hint, format string, args ...any) {
	d.report(diag.Error, code, at, field, hint, fmt.Sprintf(format, args...))
}

// Warnf reports what stops nothing.
func (d *Decoder) Warnf(code diag.Code, at diag.Range, field, hint, format string, args ...any) {
	d.report(diag.Warning, code, at, field, hint, fmt.Sprintf(format, args...))
}

// shapef reports a wrong shape.
func (d *Decoder) shapef(code diag.Code, at diag.Range, field, hint, format string, args ...any) {
	d.broken = true
	d.report(diag.Error, code, at, field, hint, fmt.Sprintf(format, args...))
}

func (d *Decoder) report(severity diag.Severity, code diag.Code, at diag.Range, field, hint, message string) {
	d.list = append(d.list, diag.Diagnostic{
		Severity: severity, Code: string(code), Message: message, Range: at, Field: field, Hint: hint,
	})
}

// Join appends a key or an index to a field.
func Join(field string, keys ...string) string {
	for _, k := range keys {
		if field != "" {
			field += "."
		}
		field += k
	}
	return field
}

// Map is a mapping being read. Its readers take a key and skip absent ones.
type Map struct {
	Field string
	Node  *Node
	d     *Decoder
}

// Mapping reads n as a mapping whose keys are all known. Unknown ones are
// reported, with the one that was probably meant.
func (d *Decoder) Mapping(n *Node, field string, known ...string) (Map, bool) {
	m, ok := d.Open(n, field)
	if !ok {
		return m, false
	}
	for _, p := range n.Pairs {
		if slices.Contains(known, p.Key) {
			continue
		}
		hint := "known keys: " + strings.Join(known, ", ")
		if near := diag.Nearest(p.Key, known); near != "" {
			hint = fmt.Sprintf("did you mean `%s`? %s", near, hint)
		}
		d.shapef(diag.UnknownKey, p.Range, Join(field, p.Key), hint, "unknown key `%s`%s", brief(p.Key), in(field))
	}
	return m, true
}

// Open reads n as a mapping of any keys.
func (d *Decoder) Open(n *Node, field string) (Map, bool) {
	m := Map{Field: field, Node: n, d: d}
	if n == nil || n.Kind == BrokenNode {
		return m, false
	}
	if n.Kind != MappingNode {
		d.wrongType(n, field, "a mapping")
		return m, false
	}
	return m, true
}

// At returns the field of a key.
func (m Map) At(key string) string { return Join(m.Field, key) }

// Get returns the value of a key, or nil.
func (m Map) Get(key string) *Node { return m.Node.Get(key) }

// Has reports whether a key is there, whatever its value.
func (m Map) Has(key string) bool { return m.Node.Get(key) != nil }

// KeyRange returns the place of a key, of the mapping when it is absent.
func (m Map) KeyRange(key string) diag.Range {
	for _, p := range m.Node.Pairs {
		if p.Key == key {
			return p.Range
		}
	}
	return m.Node.Range
}

// Require reports a key that is absent; place is where to point, hint says what
// the key is for.
func (m Map) Require(key string, place diag.Range, hint string) bool {
	if m.Has(key) {
		return true
	}
	m.d.shapef(diag.MissingKey, place, m.At(key), hint, "`%s` is missing%s", key, in(m.Field))
	return false
}

// String reads a key as text, see Decoder.String.
func (m Map) String(key string) (string, bool) { return m.d.String(m.Get(key), m.At(key)) }

// Text reads a key as text that is not blank.
func (m Map) Text(key string) (string, bool) { return m.d.Text(m.Get(key), m.At(key)) }

// Bool reads a key as true or false.
func (m Map) Bool(key string) (value, ok bool) { return m.d.Bool(m.Get(key), m.At(key)) }

// Int reads a key as a whole number of at least low.
func (m Map) Int(key string, low int) (int, bool) { return m.d.Int(m.Get(key), m.At(key), low) }

// OneOf reads a key as one of some words.
func (m Map) OneOf(key string, words ...string) (string, bool) {
	return m.d.OneOf(m.Get(key), m.At(key), words...)
}

// List reads a key as a list.
func (m Map) List(key string) ([]*Node, bool) { return m.d.List(m.Get(key), m.At(key)) }

// String reads text. What YAML took for something else is an error that says to
// quote it: a value is never changed silently.
func (d *Decoder) String(n *Node, field string) (string, bool) {
	if n == nil || n.Kind == BrokenNode {
		return "", false
	}
	switch n.Kind {
	case TextNode:
		return n.Text, true
	case BoolNode, NumberNode, NonFiniteNode, DateNode:
		d.shapef(diag.QuoteString, n.Range, field, fmt.Sprintf("put it in quotes: \"%s\"", brief(n.Text)),
			"%s must be text, and YAML reads `%s` as %s", name(field), brief(n.Text), n.noun())
	case NullNode:
		hint := "give it a value, or remove the key"
		if n.Text != "" {
			hint = fmt.Sprintf("put it in quotes: \"%s\"", brief(n.Text))
		}
		d.shapef(diag.QuoteString, n.Range, field, hint, "%s must be text, and it is empty (null)", name(field))
	default:
		if n.looksLikeText() {
			d.shapef(diag.QuoteString, n.Range, field, "put the whole text in quotes",
				"%s must be text, and YAML reads the braces as %s", name(field), n.noun())
			return "", false
		}
		d.wrongType(n, field, "text")
	}
	return "", false
}

// Text reads text that is not blank.
func (d *Decoder) Text(n *Node, field string) (string, bool) {
	s, ok := d.String(n, field)
	if ok && strings.TrimSpace(s) == "" {
		d.shapef(diag.EmptyValue, n.Range, field, "", "%s must not be empty", name(field))
		return "", false
	}
	return s, ok
}

// Scalar reads a scalar's literal text, quoted or not: for slots that want a
// date, say, where quotes change nothing.
func (d *Decoder) Scalar(n *Node, field, want string) (string, bool) {
	if n == nil || n.Kind == BrokenNode {
		return "", false
	}
	if n.Kind == NullNode || n.Kind == MappingNode || n.Kind == SequenceNode {
		d.wrongType(n, field, want)
		return "", false
	}
	return n.Text, true
}

// Bool reads the plain scalars true and false, and nothing else.
func (d *Decoder) Bool(n *Node, field string) (value, ok bool) {
	if n == nil || n.Kind == BrokenNode {
		return false, false
	}
	if n.Kind != BoolNode || n.Text != "true" && n.Text != "false" {
		d.wrongType(n, field, "true or false, without quotes")
		return false, false
	}
	return n.Text == "true", true
}

// Number reads a finite number, exactly as written.
func (d *Decoder) Number(n *Node, field string) (json.Number, bool) {
	if n == nil || n.Kind == BrokenNode {
		return "", false
	}
	if n.Kind != NumberNode {
		d.wrongType(n, field, "a number")
		return "", false
	}
	num, problem := n.number()
	if problem != "" {
		d.shapef(diag.WrongType, n.Range, field, "write it as a plain decimal number, or in quotes if it is text",
			"%s: `%s` %s", name(field), brief(n.Text), problem)
		return "", false
	}
	return num, true
}

// Int reads a whole number of at least low.
func (d *Decoder) Int(n *Node, field string, low int) (int, bool) {
	if n == nil || n.Kind == BrokenNode {
		return 0, false
	}
	if n.Kind != NumberNode {
		d.wrongType(n, field, "a whole number")
		return 0, false
	}
	num, ok := d.Number(n, field)
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(string(num))
	if err != nil {
		d.shapef(diag.WrongType, n.Range, field, "", "%s must be a whole number, not %s", name(field), brief(n.Text))
		return 0, false
	}
	if i < low {
		d.shapef(diag.BadValue, n.Range, field, "", "%s must be at least %d, not %d", name(field), low, i)
		return 0, false
	}
	return i, true
}

// OneOf reads one of some words.
func (d *Decoder) OneOf(n *Node, field string, words ...string) (string, bool) {
	s, ok := d.String(n, field)
	if !ok || slices.Contains(words, s) {
		return s, ok
	}
	hint := "one of: " + strings.Join(words, ", ")
	if near := diag.Nearest(s, words); near != "" {
		hint = fmt.Sprintf("did you mean `%s`? %s", near, hint)
	}
	d.shapef(diag.BadValue, n.Range, field, hint, "%s cannot be `%s`", name(field), brief(s))
	return "", false
}

// List reads a list; an empty one is not nil.
func (d *Decoder) List(n *Node, field string) ([]*Node, bool) {
	if n == nil || n.Kind == BrokenNode {
		return nil, false
	}
	if n.Kind != SequenceNode {
		d.wrongType(n, field, "a list")
		return nil, false
	}
	if n.Items == nil {
		return []*Node{}, true
	}
	return n.Items, true
}

// Any reads a free-form value into what JSON has: map[string]any, []any,
// json.Number (exact), string, bool, nil. Dates are text as written. What has
// no JSON form, .nan and .inf, is refused.
func (d *Decoder) Any(n *Node, field string) (any, bool) {
	if n == nil {
		return nil, false
	}
	switch n.Kind {
	case NullNode:
		return nil, true
	case TextNode, DateNode:
		return n.Text, true
	case BoolNode:
		return strings.EqualFold(n.Text, "true"), true
	case NumberNode:
		num, ok := d.Number(n, field)
		return num, ok
	case NonFiniteNode:
		d.shapef(diag.WrongType, n.Range, field, "put it in quotes if it is text",
			"%s: `%s` has no JSON form", name(field), n.Text)
		return nil, false
	case SequenceNode:
		list, all := make([]any, 0, len(n.Items)), true
		for i, item := range n.Items {
			v, ok := d.Any(item, Join(field, strconv.Itoa(i)))
			list, all = append(list, v), all && ok
		}
		return list, all
	case MappingNode:
		m, all := make(map[string]any, len(n.Pairs)), true
		for _, p := range n.Pairs {
			v, ok := d.Any(p.Value, Join(field, p.Key))
			m[p.Key], all = v, all && ok
		}
		return m, all
	}
	return nil, false
}

func (d *Decoder) wrongType(n *Node, field, want string) {
	got := n.noun()
	if n.Kind == TextNode || n.Kind == BoolNode || n.Kind == NumberNode {
		got += fmt.Sprintf(" (`%s`)", brief(n.Text))
	}
	if n.Kind == NonFiniteNode {
		got = fmt.Sprintf("`%s`", brief(n.Text)) // a number to YAML alone
	}
	hint := ""
	if n.Flow && want == "text" {
		hint = "if the brackets are part of the text, put it in quotes"
	}
	d.shapef(diag.WrongType, n.Range, field, hint, "%s must be %s, not %s", name(field), want, got)
}

// name quotes a field for the start of a sentence.
func name(field string) string {
	if field == "" {
		return "the file"
	}
	return "`" + brief(field) + "`"
}

// in says where, for the end of a sentence.
func in(field string) string {
	if field == "" {
		return ""
	}
	return " in `" + brief(field) + "`"
}
