// Package schema holds the JSON Schemas (2020-12) of what people write:
// workflow.yaml, a case, archmax.yaml; and gives those of what archmax prints,
// and of a trigger, under one door (spec: cli.md, `schema`).
//
// The schemas of authored files are tables here: key, type, description. They
// serve editors, docs/schemas/ and the authoring skill, and tests hold them
// against the loaders, in both directions. A schema tells shape; what a rule
// over the whole document says (an edge to a state that is not there) is
// `archmax validate`'s alone.
package schema

import (
	"bytes"
	"encoding/json"
)

// Dialect is the version of JSON Schema that all schemas are written in.
const Dialect = "https://json-schema.org/draft/2020-12/schema"

// Schema is a JSON Schema, with the keywords that ours use, in the order in
// which they are written. The zero Schema accepts everything.
type Schema struct {
	Dialect     string `json:"$schema,omitempty"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Ref         string `json:"$ref,omitempty"`
	Type        any    `json:"type,omitempty"` // a string, or []string
	Const       any    `json:"const,omitempty"`
	Enum        []any  `json:"enum,omitempty"`
	Default     any    `json:"default,omitempty"`

	MinLength int    `json:"minLength,omitempty"`
	MaxLength int    `json:"maxLength,omitempty"`
	Pattern   string `json:"pattern,omitempty"` // RE2 and ECMA-262 alike
	Minimum   *int   `json:"minimum,omitempty"`
	Maximum   *int   `json:"maximum,omitempty"`

	ExclusiveMinimum *int `json:"exclusiveMinimum,omitempty"`

	Properties           Keys     `json:"properties,omitempty"`
	PropertyNames        *Schema  `json:"propertyNames,omitempty"`
	AdditionalProperties any      `json:"additionalProperties,omitempty"` // false, or a *Schema
	Required             []string `json:"required,omitempty"`
	MinProperties        int      `json:"minProperties,omitempty"`
	MaxProperties        int      `json:"maxProperties,omitempty"`

	Items       *Schema `json:"items,omitempty"`
	MinItems    int     `json:"minItems,omitempty"`
	UniqueItems bool    `json:"uniqueItems,omitempty"`

	AllOf []*Schema `json:"allOf,omitempty"`
	AnyOf []*Schema `json:"anyOf,omitempty"`
	OneOf []*Schema `json:"oneOf,omitempty"`
	Not   *Schema   `json:"not,omitempty"`
	If    *Schema   `json:"if,omitempty"`
	Then  *Schema   `json:"then,omitempty"`
	Else  *Schema   `json:"else,omitempty"`

	Defs Keys `json:"$defs,omitempty"`
}

// Key is one key of a mapping. A nil Schema forbids the key.
type Key struct {
	Name     string
	Schema   *Schema
	Required bool
}

// Keys are the keys of a mapping, in the order in which a person reads them.
type Keys []Key

// MarshalJSON writes the keys in order.
func (k Keys) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, key := range k {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := encode(key.Name)
		if err != nil {
			return nil, err
		}
		value := []byte("false")
		if key.Schema != nil {
			if value, err = encode(key.Schema); err != nil {
				return nil, err
			}
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Get returns the schema of a key, or nil.
func (k Keys) Get(name string) *Schema {
	for _, key := range k {
		if key.Name == name {
			return key.Schema
		}
	}
	return nil
}

// required are the names of the keys that must be there.
func (k Keys) required() (names []string) {
	for _, key := range k {
		if key.Required {
			names = append(names, key.Name)
		}
	}
	return names
}

// encode writes JSON without HTML escaping.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// indent writes a document for people: two spaces, one newline at the end.
func indent(v any) ([]byte, error) {
	raw, err := encode(v)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}
