package workspace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// param is one argument of a tool. The schema that the model is given and the
// check of what it sends are both made of it.
type param struct {
	name     string
	kind     kind
	required bool
	about    string
	oneOf    []string // of a text, when only these are allowed
}

// kind is a JSON Schema type.
type kind string

const (
	text    kind = "string"
	integer kind = "integer"
	boolean kind = "boolean"
)

func (k kind) noun() string {
	switch k {
	case integer:
		return "an integer"
	case boolean:
		return "true or false"
	default:
		return "a string"
	}
}

// schemaOf is the JSON Schema of the parameters, in their order.
func schemaOf(params []param) json.RawMessage {
	var b bytes.Buffer
	b.WriteString(`{"type":"object","properties":{`)
	var required []string
	for i, p := range params {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `%s:{"type":%s,"description":%s`, encode(p.name), encode(p.kind), encode(p.about))
		if len(p.oneOf) > 0 {
			fmt.Fprintf(&b, `,"enum":%s`, encode(p.oneOf))
		}
		b.WriteByte('}')
		if p.required {
			required = append(required, p.name)
		}
	}
	b.WriteByte('}')
	if len(required) > 0 {
		fmt.Fprintf(&b, `,"required":%s`, encode(required))
	}
	b.WriteString(`,"additionalProperties":false}`)
	return b.Bytes()
}

// encode is the JSON of strings; they always have one.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

// arguments are checked arguments: those given, each of its parameter's type
// (string, int or bool).
type arguments map[string]any

func (a arguments) text(name, absent string) string {
	if v, ok := a[name].(string); ok {
		return v
	}
	return absent
}

func (a arguments) int(name string, absent int) int {
	if v, ok := a[name].(int); ok {
		return v
	}
	return absent
}

func (a arguments) bool(name string) bool {
	v, _ := a[name].(bool)
	return v
}

// ArgumentError says what is wrong with the arguments of a call.
type ArgumentError struct {
	Tool    string
	Problem string
}

// Error is "tool: problem".
func (e *ArgumentError) Error() string { return e.Tool + ": " + e.Problem }

func badArgument(tool, format string, args ...any) *ArgumentError {
	return &ArgumentError{Tool: tool, Problem: fmt.Sprintf(format, args...)}
}

// checkArguments checks what a model or a script sent. A null stands for an
// optional parameter that was left out.
func checkArguments(tool string, params []param, given map[string]any) (arguments, *ArgumentError) {
	if err := checkNames(tool, params, given); err != nil {
		return nil, err
	}
	args := arguments{}
	for _, p := range params {
		v, ok := given[p.name]
		if !ok || v == nil {
			if p.required {
				return nil, badArgument(tool, "missing required parameter '%s' (%s)", p.name, p.kind.noun())
			}
			continue
		}
		checked, ok := p.kind.check(v)
		if !ok {
			return nil, badArgument(tool, "'%s' must be %s, not %s", p.name, p.kind.noun(), describe(v))
		}
		if s, isText := checked.(string); isText && p.oneOf != nil && !slices.Contains(p.oneOf, s) {
			return nil, badArgument(tool, "'%s' must be one of %s, not '%s'", p.name, strings.Join(p.oneOf, ", "), clip(s))
		}
		args[p.name] = checked
	}
	return args, nil
}

// checkNames refuses parameters that the tool does not have.
func checkNames(tool string, params []param, given map[string]any) *ArgumentError {
	var unknown, known []string
	for _, p := range params {
		known = append(known, p.name)
	}
	for name := range given {
		if !slices.Contains(known, name) {
			unknown = append(unknown, "'"+clip(name)+"'")
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	noun := "parameter"
	if len(unknown) > 1 {
		noun = "parameters"
	}
	return badArgument(tool, "unknown %s %s; the known ones are %s", noun, strings.Join(unknown, ", "), strings.Join(known, ", "))
}

// check returns the value as the kind's Go type.
func (k kind) check(v any) (any, bool) {
	switch k {
	case text:
		s, ok := v.(string)
		return s, ok
	case boolean:
		b, ok := v.(bool)
		return b, ok
	default:
		return whole(v)
	}
}

// whole returns a number without a fraction as an int, however it was decoded.
func whole(v any) (int, bool) {
	switch n := v.(type) {
	case int:
		return n, true
	case int64:
		return int(n), true
	case float64:
		return int(n), n == math.Trunc(n) && math.Abs(n) <= 1<<53
	case json.Number:
		if i, err := n.Int64(); err == nil {
			return int(i), true
		}
		f, err := n.Float64() // 1e3, 2.0
		if err != nil {
			return 0, false
		}
		return whole(f)
	default:
		return 0, false
	}
}

// describe names the JSON type of a value.
func describe(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	default:
		return "a number"
	}
}

// clip keeps what a model sent short enough for one line.
func clip(s string) string {
	s = oneLine(strings.Join(strings.Fields(s), " "))
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}
