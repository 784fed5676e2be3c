// Package schematest holds a JSON Schema and the loader of the same file against
// each other: what loads is accepted, and what is only of the wrong shape is
// not.
package schematest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/spec"
)

// Shape are the codes of problems that a schema can see. A file all of whose
// problems have one of them must be rejected.
var Shape = []diag.Code{
	diag.WrongType, diag.QuoteString, diag.UnknownKey, diag.MissingKey, diag.EmptyValue, diag.BadValue,
	diag.KeyNotForKind, diag.BadVariable, diag.BadTool, diag.StarGrant, diag.TaskTool, diag.TriggerKey, diag.GraderEdges, diag.HookIterations,
}

// Pair is a schema and the loader of the files that it describes.
type Pair struct {
	Schema *jsonschema.Schema
	Load   func(src []byte) diag.List
	// Beyond says of a problem with a code of Shape that no schema could see it:
	// it compares two places of the file, say. nil: none is.
	Beyond func(diag.Diagnostic) bool
}

// Compile compiles a schema document; it may refer to the dialect, and to
// nothing else outside itself.
func Compile(t testing.TB, doc []byte) *jsonschema.Schema {
	t.Helper()
	tree, err := jsonschema.UnmarshalJSON(strings.NewReader(string(doc)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", tree); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatalf("%+v", err)
	}
	return s
}

// Verdict is what came of one file.
type Verdict int

// A file is accepted by both, rejected by both for its shape, or outside what
// the schema is for: no YAML, or broken by a rule over the whole.
const (
	Outside Verdict = iota
	Accepted
	Rejected
)

// Check holds one file against both and reports where they differ.
func (p Pair) Check(t testing.TB, src string) Verdict {
	t.Helper()
	root, problems := spec.ReadYAML("file.yaml", []byte(src))
	if root == nil || len(problems) > 0 {
		return Outside
	}
	d := spec.NewDecoder()
	doc, ok := d.Any(root, "")
	if !ok {
		return Outside
	}
	list := p.Load([]byte(src))
	err := p.Schema.Validate(doc)
	if !list.HasErrors() {
		if err != nil {
			t.Errorf("it loads, and the schema rejects it: %v\n%s", err, src)
		}
		return Accepted
	}
	for _, one := range list {
		if one.Severity == diag.Error && (!slices.Contains(Shape, diag.Code(one.Code)) || p.Beyond != nil && p.Beyond(one)) {
			return Outside
		}
	}
	if blind(root) {
		return Outside
	}
	if err == nil {
		t.Errorf("it does not load (%v), and the schema accepts it:\n%s", list, src)
	}
	return Rejected
}

// blind reports whether the file holds a scalar that JSON cannot tell from text
// or from a boolean: a plain date, True.
func blind(n *spec.Node) bool {
	return n.Kind == spec.DateNode ||
		n.Kind == spec.BoolNode && n.Text != "true" && n.Text != "false" ||
		slices.ContainsFunc(n.Items, blind) ||
		slices.ContainsFunc(n.Pairs, func(p spec.Pair) bool { return blind(p.Value) })
}

// Mutants holds every mutant of the files, which must load, against schema and
// loader. Where a mutant adds an unknown key, the keys that the loader names are
// held against those of the schema document. It returns how many mutants both
// accepted, and both rejected.
func (p Pair) Mutants(t testing.TB, doc []byte, files ...string) (accepted, rejected int) {
	t.Helper()
	for _, file := range files {
		if p.Check(t, file) != Accepted {
			t.Fatalf("the file to mutate does not load: %v\n%s", p.Load([]byte(file)), file)
		}
		err := mutate(file, func(what, src string) {
			switch p.Check(t, src) {
			case Accepted:
				accepted++
			case Rejected:
				rejected++
			}
			if strings.HasSuffix(what, " = text") {
				for field, want := range allowedWords(p.Load([]byte(src))) {
					slices.Sort(want)
					if words := schemaWords(t, doc, field); !slices.Equal(want, words) {
						t.Errorf("at %q the loader takes %v, the schema %v", field, want, words)
					}
				}
			}
			if strings.Contains(src, Unknown) {
				for field, want := range knownKeys(p.Load([]byte(src))) {
					slices.Sort(want)
					if keys := schemaKeys(t, doc, field); !slices.Equal(want, keys) {
						t.Errorf("in %q the loader knows %v, the schema %v", field, want, keys)
					}
				}
			}
			if t.Failed() {
				t.Fatalf("the mutant: %s", what)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return accepted, rejected
}

// mutate yields files that differ from the given one, a JSON-like tree, in one
// place: a value replaced by each of some others, a key left out, an unknown one
// added, an item doubled.
func mutate(src string, yield func(what, src string)) error {
	root, problems := spec.ReadYAML("file.yaml", []byte(src))
	if problems.HasErrors() {
		return problems.Err()
	}
	doc, ok := spec.NewDecoder().Any(root, "")
	if !ok {
		return fmt.Errorf("the file has values that JSON has not")
	}
	emit := func(what string, tree any) {
		raw, err := json.Marshal(tree)
		if err != nil {
			panic(err) // what came from JSON has a form
		}
		yield(what, string(raw))
	}
	others := []any{nil, "", " ", "text", json.Number("-1"), json.Number("1.5"), true, []any{}, []any{"x"}, map[string]any{Unknown: "x"}}
	var walk func(field string, v any, rebuild func(any) any)
	walk = func(field string, v any, rebuild func(any) any) {
		for _, o := range others {
			emit(fmt.Sprintf("%s = %v", field, o), rebuild(o))
		}
		switch v := v.(type) {
		case map[string]any:
			added := maps.Clone(v)
			added[Unknown] = "x"
			emit(field+" with an unknown key", rebuild(added))
			for _, k := range slices.Sorted(maps.Keys(v)) {
				less := maps.Clone(v)
				delete(less, k)
				emit(field+" without "+k, rebuild(less))
				walk(spec.Join(field, k), v[k], func(x any) any {
					changed := maps.Clone(v)
					changed[k] = x
					return rebuild(changed)
				})
			}
		case []any:
			for i := range v {
				walk(spec.Join(field, strconv.Itoa(i)), v[i], func(x any) any {
					changed := slices.Clone(v)
					changed[i] = x
					return rebuild(changed)
				})
			}
		}
	}
	walk("", doc, func(x any) any { return x })
	return nil
}

// Unknown is a key that no file has.
const Unknown = "zz-unknown-key"

// knownKeys reads the keys that the loader knows out of its complaints about
// Unknown: the field of the mapping, and its keys.
func knownKeys(list diag.List) map[string][]string {
	known := map[string][]string{}
	for _, d := range list {
		_, keys, ok := strings.Cut(d.Hint, "known keys: ")
		if field, is := strings.CutSuffix(d.Field, Unknown); is && ok {
			known[strings.TrimSuffix(field, ".")] = strings.Split(keys, ", ")
		}
	}
	return known
}

// allowedWords reads the words that a slot takes out of the loader's complaints.
func allowedWords(list diag.List) map[string][]string {
	words := map[string][]string{}
	for _, d := range list {
		if _, allowed, ok := strings.Cut(d.Hint, "one of: "); ok && d.Code == string(diag.BadValue) {
			words[d.Field] = strings.Split(allowed, ", ")
		}
	}
	return words
}

// schemaKeys are the keys that a schema document knows in the mapping at a
// field, sorted.
func schemaKeys(t testing.TB, doc []byte, field string) (keys []string) {
	t.Helper()
	for _, s := range schemasAt(t, doc, field) {
		if properties, ok := s["properties"].(map[string]any); ok {
			for k, v := range properties {
				if v != false && !slices.Contains(keys, k) {
					keys = append(keys, k)
				}
			}
		}
	}
	slices.Sort(keys)
	return keys
}

// schemaWords are the words that a schema document takes at a field, sorted.
func schemaWords(t testing.TB, doc []byte, field string) (words []string) {
	t.Helper()
	for _, s := range schemasAt(t, doc, field) {
		enum, _ := s["enum"].([]any)
		for _, v := range enum {
			if w, ok := v.(string); ok && !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
	}
	slices.Sort(words)
	return words
}

// schemasAt are the schemas that rule a field.
func schemasAt(t testing.TB, doc []byte, field string) []map[string]any {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(doc, &root); err != nil {
		t.Fatal(err)
	}
	at := closure(root, []any{root})
	if field != "" {
		for _, step := range strings.Split(field, ".") {
			var next []any
			for _, s := range at {
				next = append(next, child(s, step)...)
			}
			at = closure(root, next)
		}
	}
	return at
}

// Describes reports the keys of a printed document that its schema does not
// name: a schema of what is printed is open, so validating finds none of them.
func Describes(t testing.TB, schema []byte, doc any) {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(schema, &root); err != nil {
		t.Fatal(err)
	}
	var walk func(field string, v any, at []map[string]any)
	walk = func(field string, v any, at []map[string]any) {
		below := func(step string) (next []any) {
			for _, s := range at {
				next = append(next, child(s, step)...)
			}
			return next
		}
		switch v := v.(type) {
		case map[string]any:
			for k, x := range v {
				next := below(k)
				if len(next) == 0 && !free(at) {
					t.Errorf("the schema does not name %s", spec.Join(field, k))
					continue
				}
				walk(spec.Join(field, k), x, closure(root, next))
			}
		case []any:
			for i, x := range v {
				walk(spec.Join(field, strconv.Itoa(i)), x, closure(root, below(strconv.Itoa(i))))
			}
		}
	}
	walk("", doc, closure(root, []any{root}))
}

// free reports whether schemas say nothing of a mapping's keys.
func free(at []map[string]any) bool {
	return !slices.ContainsFunc(at, func(s map[string]any) bool { return s["properties"] != nil })
}

// closure adds what schemas refer to or are made of.
func closure(root map[string]any, from []any) (all []map[string]any) {
	for len(from) > 0 {
		s, ok := from[0].(map[string]any)
		from = from[1:]
		if !ok {
			continue
		}
		all = append(all, s)
		if ref, ok := s["$ref"].(string); ok {
			if name, local := strings.CutPrefix(ref, "#/$defs/"); local {
				from = append(from, root["$defs"].(map[string]any)[name])
			}
		}
		for _, k := range []string{"anyOf", "oneOf", "allOf"} {
			more, _ := s[k].([]any)
			from = append(from, more...)
		}
		from = append(from, s["then"], s["else"])
	}
	return all
}

// child are the schemas of a step below s.
func child(s map[string]any, step string) (below []any) {
	if _, err := strconv.Atoi(step); err == nil {
		if items, ok := s["items"]; ok {
			below = append(below, items)
		}
	}
	if properties, ok := s["properties"].(map[string]any); ok && properties[step] != nil {
		return append(below, properties[step])
	}
	if extra, ok := s["additionalProperties"].(map[string]any); ok {
		below = append(below, extra)
	}
	return below
}
