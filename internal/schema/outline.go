package schema

import (
	"fmt"
	"strings"
)

// Outline writes the keys of a mapping as a Markdown list: name, type, meaning,
// nested mappings indented. def names a schema of root's $defs; "" is root
// itself.
func Outline(root *Schema, def string) string {
	s := root
	if def != "" {
		s = root.Defs.Get(def)
	}
	o := outline{root: root}
	o.keys(mappingIn(s), 0)
	return o.b.String()
}

// StateKinds are the kinds of state that take a key, "" when all do.
func StateKinds(key string) string {
	for _, r := range stateRows() {
		if r.Name == key && len(r.kinds) < len(allKinds) {
			return strings.Join(r.kinds, ", ")
		}
	}
	return ""
}

// EntryTypes is a Markdown table of the types of signature entries.
func EntryTypes() string {
	var b strings.Builder
	b.WriteString("| type | conforms when the value is | rules |\n| --- | --- | --- |\n")
	for _, t := range typeRules() {
		var rules []string
		for _, r := range t.rules {
			rules = append(rules, "`"+r.Name+"`: "+r.Schema.Description)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", t.name, t.means, strings.Join(rules, " "))
	}
	return b.String()
}

// mappingIn is the mapping among the forms that a value may take, or nil.
func mappingIn(s *Schema) *Schema {
	if s == nil || len(s.Properties) > 0 {
		return s
	}
	for _, option := range s.AnyOf {
		if m := mappingIn(option); m != nil && len(m.Properties) > 0 {
			return m
		}
	}
	return nil
}

type outline struct {
	root *Schema
	b    strings.Builder
}

func (o *outline) keys(s *Schema, level int) {
	if s == nil {
		return
	}
	for _, k := range s.Properties {
		if k.Schema == nil || k.Schema.Not == anything {
			continue // a key that is only there to be refused
		}
		about, notes := o.about(k.Schema), o.kind(k.Schema)
		if about == "" && notes == anyValue {
			continue // a key of which a table says more
		}
		if k.Required {
			notes += ", required"
		}
		if k.Schema.Default != nil {
			notes += fmt.Sprintf(", default `%v`", k.Schema.Default)
		}
		if kinds := StateKinds(k.Name); kinds != "" && s == o.root.Defs.Get("state") {
			notes += "; for " + kinds
		}
		fmt.Fprintf(&o.b, "%s- `%s`", strings.Repeat("  ", level), k.Name)
		fmt.Fprintf(&o.b, " (%s)", notes)
		if about != "" {
			o.b.WriteString(": " + about)
		}
		o.b.WriteString("\n")
		if k.Schema.Ref == "" {
			o.keys(mappingIn(k.Schema), level+1)
		}
		if items := k.Schema.Items; items != nil && items.Ref == "" {
			o.keys(mappingIn(items), level+1)
		}
		if value, ok := k.Schema.AdditionalProperties.(*Schema); ok && value.Ref == "" {
			o.keys(mappingIn(value), level+1)
		}
	}
}

// about is what a value means: here, or where it is defined.
func (o *outline) about(s *Schema) string {
	if s.Description == "" && s.Ref != "" {
		if def := o.def(s.Ref); def != nil {
			return def.Description
		}
	}
	return s.Description
}

func (o *outline) def(ref string) *Schema {
	return o.root.Defs.Get(strings.TrimPrefix(ref, "#/$defs/"))
}

// kind words a type.
func (o *outline) kind(s *Schema) string {
	switch {
	case s.Ref != "":
		def := o.def(s.Ref)
		if def == nil {
			return "JSON Schema"
		}
		return o.kind(def)
	case s.Const != nil:
		return "`" + fmt.Sprint(s.Const) + "`"
	case len(s.Enum) > 0:
		var words []string
		for _, v := range s.Enum {
			words = append(words, "`"+fmt.Sprint(v)+"`")
		}
		return strings.Join(unique(words), ", ")
	}
	switch t := s.Type.(type) {
	case string:
		return o.named(t, s)
	case []string:
		var kinds []string
		for _, one := range t {
			kinds = append(kinds, o.named(one, s))
		}
		return strings.Join(kinds, " or ")
	}
	if len(s.AnyOf) == 0 {
		return anyValue
	}
	var kinds []string
	for _, option := range s.AnyOf {
		kinds = append(kinds, o.kind(option))
	}
	return strings.Join(unique(kinds), " or ")
}

const anyValue = "any value"

// named words one JSON type.
func (o *outline) named(typ string, s *Schema) string {
	switch typ {
	case "string":
		return "text"
	case "integer", "number":
		word := map[string]string{"integer": "whole number", "number": "number"}[typ]
		if s.Minimum != nil {
			word += fmt.Sprintf(" >= %d", *s.Minimum)
		}
		return word
	case "array":
		if s.Items == nil {
			return "list"
		}
		return "list of " + o.kind(s.Items)
	case "object":
		return "mapping"
	}
	return typ
}

func unique(words []string) (out []string) {
	seen := map[string]bool{}
	for _, w := range words {
		if !seen[w] {
			out = append(out, w)
		}
		seen[w] = true
	}
	return out
}
