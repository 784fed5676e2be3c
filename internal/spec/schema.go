package spec

import (
	"bytes"
	"encoding/json"
)

// Schema maps a signature to a JSON Schema object with properties in
// declaration order, every name required (language.md, "Signature entries"). It
// serves delegation tools, `archmax schema` and the MCP server.
func Schema(entries []*Entry) json.RawMessage {
	properties, required := &object{}, make([]string, 0, len(entries))
	for _, e := range entries {
		properties.set(e.Name, entrySchema(e))
		required = append(required, e.Name)
	}
	schema := &object{}
	schema.set("type", "object")
	schema.set("properties", properties)
	schema.set("required", required)
	return encode(schema)
}

func entrySchema(e *Entry) *object {
	o, r := &object{}, &e.Rules
	switch e.Type {
	case "":
	case "date", "date-time", "file":
		o.set("type", "string")
		o.set("format", e.Type)
	default:
		o.set("type", e.Type)
	}
	if e.Description != "" {
		o.set("description", e.Description)
	}
	var patterns []string
	switch r.Format {
	case "email":
		o.set("format", "email")
	case "url":
		o.set("format", "uri")
		patterns = append(patterns, urlRegexp)
	case "phone":
		patterns = append(patterns, phoneRegexp)
	}
	if pattern, ok := ecmaPattern(r.Pattern); ok && r.Pattern != "" { // else it has no keyword either
		patterns = append(patterns, pattern)
	}
	if len(patterns) > 0 {
		o.set("pattern", patterns[0])
	}
	if len(patterns) > 1 { // a schema has one `pattern`
		more := &object{}
		more.set("pattern", patterns[1])
		o.set("allOf", []any{more})
	}
	if r.MinLength != nil {
		o.set("minLength", *r.MinLength)
	}
	if r.MaxLength != nil {
		o.set("maxLength", *r.MaxLength)
	}
	if e.Type == "integer" || e.Type == "number" { // date bounds have no keyword
		if r.Minimum != nil {
			o.set("minimum", r.Minimum)
		}
		if r.Maximum != nil {
			o.set("maximum", r.Maximum)
		}
	}
	if len(r.Enum) > 0 {
		o.set("enum", r.Enum)
	}
	if r.Content != "" {
		o.set("contentMediaType", r.Content)
	}
	if r.MinItems != nil {
		o.set("minItems", *r.MinItems)
	}
	if r.MaxItems != nil {
		o.set("maxItems", *r.MaxItems)
	}
	return o
}

// object is a JSON object that keeps the order of its keys.
type object struct {
	keys   []string
	values []any
}

func (o *object) set(key string, value any) {
	o.keys, o.values = append(o.keys, key), append(o.values, value)
}

// MarshalJSON writes the keys in order.
func (o *object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, k := range o.keys {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encode(k))
		b.WriteByte(':')
		b.Write(encode(o.values[i]))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// encode writes JSON without HTML escaping. Its values are ours and have a form.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n")
}
