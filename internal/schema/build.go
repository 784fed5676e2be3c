package schema

import "strings"

// The words that the tables are written in. Each describes what one of the
// loader's readers accepts (spec.Decoder).

// text is a string, an empty one included (Decoder.String).
func text(description string) *Schema { return &Schema{Description: description, Type: "string"} }

// words is a string that is not blank (Decoder.Text).
func words(description string) *Schema {
	return &Schema{Description: description, Type: "string", Pattern: `\S`}
}

// matching is a string of a given form.
func matching(pattern, description string) *Schema {
	return &Schema{Description: description, Type: "string", Pattern: pattern}
}

// oneOf is one of some words (Decoder.OneOf).
func oneOf(description string, words ...string) *Schema {
	s := &Schema{Description: description, Type: "string"}
	for _, w := range words {
		s.Enum = append(s.Enum, w)
	}
	return s
}

func boolean(description string) *Schema { return &Schema{Description: description, Type: "boolean"} }

// integer is a whole number of at least low (Decoder.Int).
func integer(low int, description string) *Schema {
	return &Schema{Description: description, Type: "integer", Minimum: &low}
}

// number is a number of at least 0.
func number(description string) *Schema {
	zero := 0
	return &Schema{Description: description, Type: "number", Minimum: &zero}
}

// list is a list of any length (Decoder.List).
func list(description string, item *Schema) *Schema {
	return &Schema{Description: description, Type: "array", Items: item}
}

// mapping is a mapping whose keys are all known (Decoder.Mapping).
func mapping(description string, keys ...Key) *Schema {
	k := Keys(keys)
	return &Schema{Description: description, Type: "object", Properties: k, AdditionalProperties: false, Required: k.required()}
}

// table is a mapping of any keys to one kind of value (Decoder.Open).
func table(description string, value *Schema) *Schema {
	return &Schema{Description: description, Type: "object", AdditionalProperties: value}
}

// either is any of some schemas.
func either(description string, options ...*Schema) *Schema {
	return &Schema{Description: description, AnyOf: options}
}

// ref points at a schema of $defs.
func ref(name string) *Schema { return &Schema{Ref: "#/$defs/" + name} }

// described is a reference that says what the value means where it stands.
func described(name, description string) *Schema {
	return &Schema{Description: description, Ref: "#/$defs/" + name}
}

// key and must are a key that may, and one that has to, be there.
func key(name string, s *Schema) Key  { return Key{Name: name, Schema: s} }
func must(name string, s *Schema) Key { return Key{Name: name, Schema: s, Required: true} }

// without forbids keys.
func without(names ...string) Keys {
	var keys Keys
	for _, n := range names {
		keys = append(keys, Key{Name: n})
	}
	return keys
}

// lines joins the lines of a long description.
func lines(parts ...string) string { return strings.Join(parts, " ") }

// The names of things.
const (
	slugPattern     = `^[a-z0-9]+(-[a-z0-9]+)*$`
	variablePattern = `^[a-z][a-z0-9_]*$`
)

// anything accepts every value; the schema that is not anything accepts none.
var anything = &Schema{}
