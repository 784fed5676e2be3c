package governance

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func variables() map[string]any {
	return map[string]any{
		"name":  "Ada",
		"count": json.Number("9007199254740993"),
		"ok":    true,
		"none":  nil,
		"html":  "<b>&",
		"evil":  "${{name}}",
		"order": map[string]any{"id": "ORD-1", "lines": []any{map[string]any{"sku": "A<1"}, map[string]any{"sku": "B"}}},
	}
}

func TestSubstitute(t *testing.T) {
	for _, tc := range []struct {
		name  string
		whole bool
		in    any
		want  any
	}{
		{"a reference is replaced inside a string", false, "Dear ${{name}}!", "Dear Ada!"},
		{"several are", false, "${{name}}${{name}} ${{order.id}}", "AdaAda ORD-1"},
		{"a path descends into mappings and lists", false, "${{order.lines.0.sku}}", "A<1"},
		{"a negative index counts from the end", false, "${{order.lines.-1.sku}}", "B"},
		{"a number keeps its digits", false, "n=${{count}}", "n=9007199254740993"},
		{"a boolean is its JSON text", false, "${{ok}}", "true"},
		{"null is its JSON text", false, "${{none}}", "null"},
		{"an object is its JSON text", false, "${{order}}", `{"id":"ORD-1","lines":[{"sku":"A<1"},{"sku":"B"}]}`},
		{"a string goes in verbatim", false, "${{html}}", "<b>&"},
		{"a whole reference of an ordinary tool becomes text", false, "${{count}}", "9007199254740993"},
		{"a whole reference of a delegation tool keeps its number", true, "${{count}}", json.Number("9007199254740993")},
		{"and its boolean", true, "${{ok}}", true},
		{"and its null", true, "${{none}}", nil},
		{"and its list", true, "${{order.lines}}", []any{map[string]any{"sku": "A<1"}, map[string]any{"sku": "B"}}},
		{"a part of a string becomes text for a delegation tool too", true, "${{count}}!", "9007199254740993!"},
		{"a doubled dollar writes the reference literally", false, "$${{name}}", "${{name}}"},
		{"a literal and a value side by side", false, "$${{name}} is ${{name}}", "${{name}} is Ada"},
		{"there is one pass", false, "${{evil}}", "${{name}}"},
		{"there is one pass for a whole value too", true, "${{evil}}", "${{name}}"},
		{"lists and mappings are searched", false, []any{"${{name}}", args{"x": []any{"${{ok}}"}}}, []any{"Ada", args{"x": []any{"true"}}}},
		{"other values stay", false, []any{1.5, nil, false, "$name {{name}}"}, []any{1.5, nil, false, "$name {{name}}"}},
		{"keys are left alone", false, args{"${{name}}": "${{name}}"}, args{"${{name}}": "Ada"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := args{"a": tc.in}
			got, err := Substitute(in, variables(), tc.whole)
			if err != nil || !reflect.DeepEqual(got["a"], tc.want) {
				t.Errorf("got %#v, %v; want %#v", got["a"], err, tc.want)
			}
			if !reflect.DeepEqual(in["a"], tc.in) {
				t.Errorf("the arguments given were changed: %#v", in["a"])
			}
		})
	}
}

func TestSubstituteRefuses(t *testing.T) {
	for _, tc := range []struct{ name, in, argument, reference, says string }{
		{"an unset variable", "x ${{nobody}}", "a.1.b", "${{nobody}}", "is not set"},
		{"a path that leads nowhere", "${{order.total}}", "a.1.b", "${{order.total}}", "total"},
		{"an index beyond the list", "${{order.lines.2}}", "a.1.b", "${{order.lines.2}}", "lines.2"},
		{"an index that is not canonical", "${{order.lines.00}}", "a.1.b", "${{order.lines.00}}", "lines.00"},
		{"a length", "${{order.lines.length}}", "a.1.b", "${{order.lines.length}}", "length"},
		{"a reference that is not closed", "${{name", "a.1.b", "${{name", "closed"},
	} {
		for _, whole := range []bool{false, true} {
			t.Run(tc.name, func(t *testing.T) {
				_, err := Substitute(args{"a": []any{"", args{"b": tc.in}}}, variables(), whole)
				var bad *SubstitutionError
				if !errors.As(err, &bad) || bad.Argument != tc.argument || bad.Reference != tc.reference ||
					!strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%v", err)
				}
			})
		}
	}
	t.Run("values that grow without bound", func(t *testing.T) {
		vars := map[string]any{"big": strings.Repeat("x", 1<<20)}
		_, err := Substitute(args{"a": strings.Repeat("${{big}}", 1000)}, vars, false)
		var bad *SubstitutionError
		if !errors.As(err, &bad) || !strings.Contains(bad.Problem, "32 MB") {
			t.Errorf("%v", err)
		}
	})
	t.Run("the first of several mistakes is the same each time", func(t *testing.T) {
		for range 20 {
			_, err := Substitute(args{"b": "${{y}}", "a": "${{x}}", "c": "${{z}}"}, nil, false)
			if err == nil || !strings.Contains(err.Error(), "argument a: ${{x}}") {
				t.Fatal(err)
			}
		}
	})
}

func TestSubstituteWithoutReferencesCopiesNothing(t *testing.T) {
	in := args{"a": []any{"x", args{"b": "$ {{ }}"}}, "n": 1.0}
	if n := testing.AllocsPerRun(100, func() {
		if _, err := Substitute(in, nil, false); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzSubstitute(f *testing.F) {
	for _, seed := range [][2]string{
		{"${{name}}", "Ada"},
		{"$${{name}}", "x"},
		{"${{name}}${{name}}", "${{name}}"},
		{"${{", "x"},
		{"}}${{name}}", "}}"},
		{"$$${{name}}", "$"},
		{"${{ name }}", "a b"},
		{"${{name.x}}", ""},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		in := args{"a": text, "l": []any{text}}
		got, err := Substitute(in, args{"name": value}, false)
		if in["a"] != text {
			t.Fatal("the arguments given were changed")
		}
		if err != nil {
			var bad *SubstitutionError
			if !errors.As(err, &bad) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		out, ok := got["a"].(string)
		if !ok || got["l"].([]any)[0] != out {
			t.Fatalf("%#v", got)
		}
		if !strings.Contains(text, "${{") && out != text {
			t.Fatalf("%q became %q without a reference", text, out)
		}
		// One pass: what stands around the references does not depend on the value.
		if !strings.Contains(text, "$${{") && strings.Count(text, "${{name}}") == strings.Count(text, "${{") {
			if want := strings.ReplaceAll(text, "${{name}}", value); out != want {
				t.Fatalf("Substitute(%q) with %q = %q, want %q", text, value, out, want)
			}
		}
	})
}
