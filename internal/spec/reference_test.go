package spec

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/go-cmp/cmp"
)

func ref(text, name string, path ...string) GlobPart {
	if path == nil {
		path = []string{}
	}
	return GlobPart{Ref: &Reference{Name: name, Path: path, Text: text}}
}

func TestParseText(t *testing.T) {
	for text, want := range map[string][]GlobPart{
		"":                         {{Text: ""}},
		"plain {a,b} $x ${y}":      {{Text: "plain {a,b} $x ${y}"}},
		"${{order_id}}":            {ref("${{order_id}}", "order_id")},
		"${{ a }}":                 {ref("${{ a }}", "a")},
		"a/${{x.rows.-1.id}}/b":    {{Text: "a/"}, ref("${{x.rows.-1.id}}", "x", "rows", "-1", "id"), {Text: "/b"}},
		"${{a}}${{b}}":             {ref("${{a}}", "a"), ref("${{b}}", "b")},
		"$${{x}}":                  {{Text: "${{x}}"}},
		"see $${{x}} and ${{y}}":   {{Text: "see ${{x}} and "}, ref("${{y}}", "y")},
		"$${{ not a reference }}!": {{Text: "${{ not a reference }}!"}},
		"$${{":                     {{Text: "${{"}},
		"$$${{x}}":                 {{Text: "$${{x}}"}},
	} {
		got, err := ParseText(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	}
}

func TestMalformedReferences(t *testing.T) {
	for _, text := range []string{
		"${{", "${{x", "${{x}", "${{}}", "${{ }}", "${{X}}", "${{1x}}", "${{x-y}}", "${{x y}}", "${{.x}}", "${{x.}}", "${{x..y}}",
		"${{x.a b}}", "${{${{x}}}}", "a ${{ a || b }}", "${{x.$y}}",
	} {
		_, err := ParseText(text)
		var bad *ReferenceError
		if !errors.As(err, &bad) || bad.Glob {
			t.Errorf("%q: %v, want a ReferenceError", text, err)
		}
		if _, err := ParseGlob(text); err == nil {
			t.Errorf("%q is taken for a glob", text)
		}
	}
}

func TestParseGlob(t *testing.T) {
	for _, tt := range []struct{ glob, path string }{
		{"a/$${{x}}/*", "a/${{x}}/b"},
		{"secrets/**", "secrets/.env"},
		{"{a,b}/[a-z]?", "b/cd"},
	} {
		parts, err := ParseGlob(tt.glob)
		if err != nil || len(parts) != 1 || parts[0].Ref != nil {
			t.Errorf("%s: %v, %v", tt.glob, parts, err)
			continue
		}
		if ok, _ := doublestar.Match(parts[0].Text, tt.path); !ok {
			t.Errorf("%s does not match %s", tt.glob, tt.path)
		}
	}
	for _, glob := range []string{"a[", "{a", "a/[b-", `x\`} {
		var bad *ReferenceError
		if _, err := ParseGlob(glob); !errors.As(err, &bad) || !bad.Glob {
			t.Errorf("%s: %v, want an error about the glob", glob, err)
		}
	}
}

func TestEscapeGlobHoldsInsideAClassToo(t *testing.T) {
	for value, other := range map[string]string{"a-z": "q", "^a": "q", "!a": "q"} {
		if ok, err := doublestar.Match("["+EscapeGlob(value)+"]", other); ok || err != nil {
			t.Errorf("[%s] matches %q (%v)", EscapeGlob(value), other, err)
		}
	}
}

func TestEscapeGlobMatchesOnlyItself(t *testing.T) {
	for _, s := range []string{"a*", "[a]", "{a,b}", `a\b`, "a?", "!x", "**", "${{x}}"} {
		if ok, err := doublestar.Match(EscapeGlob(s), s); !ok || err != nil {
			t.Errorf("%q does not match itself: %v", s, err)
		}
	}
	for s, other := range map[string]string{"a*": "ab", "[a]": "a", "{a,b}": "a", "a?": "ab"} {
		if ok, _ := doublestar.Match(EscapeGlob(s), other); ok {
			t.Errorf("%q matches %q", s, other)
		}
	}
}

func TestLookup(t *testing.T) {
	v := values(t, `{"list": [{"id": "a"}, {"id": "b"}], "text": "abc", "null": null, "0": "zero", "deep": {"length": 9}}`)
	for path, want := range map[string]any{
		"list.0.id": "a", "list.-1.id": "b", "list.-2.id": "a", "text": "abc", "null": nil, "0": "zero",
	} {
		if got, ok := LookupDotted(v, path); !ok || got != want {
			t.Errorf("%s: got %v, %v, want %v", path, got, ok, want)
		}
	}
	if _, ok := LookupDotted(v, "deep.length"); !ok {
		t.Error("an own key named length is not found")
	}
	for _, path := range []string{
		"nope", "list.2", "list.-3", "list.00", "list.+1", "list.01", "list.-0", "list.length", "text.length", "text.0", "null.x",
		"list.constructor", "deep.__proto__", "", "list..0", "list.0 .id",
	} {
		if got, ok := LookupDotted(v, path); ok {
			t.Errorf("%s: got %v, want nothing", path, got)
		}
	}
}

func TestDottedPaths(t *testing.T) {
	for _, p := range []string{"a", "triggers.-1.conversationId", "mail.text", "a-b.c_d"} {
		if !ValidDottedPath(p) {
			t.Errorf("%q is refused", p)
		}
	}
	for _, p := range []string{"", ".", "a.", ".a", "a..b", "a b", "$.a", "a[0]", "${{a}}", "a/b"} {
		if ValidDottedPath(p) {
			t.Errorf("%q is taken", p)
		}
	}
}

func TestNames(t *testing.T) {
	for s, want := range map[string]bool{"a": true, "refund-review": true, "2nd": true, "a-1-b": true, "": false, "-a": false, "a-": false, "a--b": false, "A": false, "a_b": false, "é": false, "a\n": false} {
		if ValidSlug(s) != want {
			t.Errorf("ValidSlug(%q) = %v", s, !want)
		}
	}
	for s, want := range map[string]bool{"a": true, "order_id": true, "a1_": true, "": false, "_a": false, "1a": false, "orderId": false, "a-b": false, "a\n": false} {
		if ValidVariableName(s) != want {
			t.Errorf("ValidVariableName(%q) = %v", s, !want)
		}
	}
}

func FuzzReference(f *testing.F) {
	for _, s := range []string{"", "${{a}}", "$${{a}}", "a/${{x.-1.y}}/**", "${{", "}}${{a}}{b,", "$$${{a}}\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parts, err := ParseText(text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("the error is not one line: %q", err)
			}
			return
		}
		// The parts in a row are the text, each escape's first $ aside.
		var joined strings.Builder
		for _, p := range parts {
			joined.WriteString(p.Text)
			if p.Ref == nil {
				continue
			}
			joined.WriteString(p.Ref.Text)
			if !ValidVariableName(p.Ref.Name) || slices.Contains(p.Ref.Path, "") {
				t.Errorf("the reference %+v", p.Ref)
			}
		}
		escapes := strings.Count(text, "$${{")
		if lost := len(text) - joined.Len(); lost > escapes || escapes > 0 && lost < 1 {
			t.Errorf("%q has %d escapes and reads as %q", text, escapes, joined.String())
		}
		if escapes == 0 && joined.String() != text {
			t.Errorf("%q reads as %q", text, joined.String())
		}
		_, _ = ParseGlob(text) // must not panic
	})
}
