package validate

import (
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/archmax-ai/archmax/internal/spec"
)

func parsed(t *testing.T, text string) []pattern {
	t.Helper()
	parts, err := spec.ParseGlob(text)
	if err != nil {
		t.Fatal(err)
	}
	return patternsOf(&spec.Glob{Text: text, Parts: parts})
}

func TestSamplesMatchTheirGlob(t *testing.T) {
	for _, glob := range []string{
		"**", "*", "a", "a/b", "a/*/b", "**/x.md", "a/**/b", "a/**", "?.md", "[a-c]x", "[^a-z]*", "{a,b/{c,d}}/*", `\*`, "a**b",
		"[!x0Q]?", "é/*",
	} {
		for _, p := range parsed(t, glob) {
			for n := range samples {
				text, ok := p.sample(n)
				if !ok {
					t.Errorf("%q has no sample %d", glob, n)
				}
				if match, _ := doublestar.Match(glob, text); !match {
					t.Errorf("sample %d of %q is %q, which it does not match", n, glob, text)
				}
			}
		}
	}
}

func TestMeetFindsATextOfBothGlobs(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"**", "**", true},
		{"*", "*", true},
		{"a", "a", true},
		{"a", "b", false},
		{"a*", "*b", true},
		{"a*c", "*b*", true},
		{"reports/**", "**/secret.md", true},
		{"reports/*", "reports/a/b", false},
		{"a/**/z", "**/m/**", true},
		{"[a-m]*", "[n-z]*", false},
		{"[a-m]*", "m?", true},
		{"a/*", "**", true},
		{"*.md", "x*", true},
		{"*.md", "*.txt", false},
		{"a/b", "a/**/b", true},
		{"a", "a/**", true},
		{"a/b/c", "a/*", false},
		{"?", "??", false},
		{"[^a]", "a", false},
		{"e*", "eu", true},
	} {
		text, ok := meet(parsed(t, tt.a)[0], parsed(t, tt.b)[0])
		if ok != tt.want {
			t.Errorf("meet(%q, %q) = %q, %v", tt.a, tt.b, text, ok)
		}
		if !ok {
			continue
		}
		for _, glob := range []string{tt.a, tt.b} {
			if match, _ := doublestar.Match(glob, text); !match {
				t.Errorf("meet(%q, %q) = %q, which %q does not match", tt.a, tt.b, text, glob)
			}
		}
	}
}

func TestGlobsThatCannotBeReadGiveNoPattern(t *testing.T) {
	wide := ""
	for range 12 {
		wide += "{a,b}"
	}
	for _, text := range []string{wide, "{a", "[a", `a\`, "[a-"} {
		if got := patternsOf(&spec.Glob{Text: text}); len(got) != 0 {
			t.Errorf("%q gives %v", text, got)
		}
	}
}

func TestAReferenceIsOneWordInEveryGlob(t *testing.T) {
	if _, ok := meet(parsed(t, "orders/${{id}}/*")[0], parsed(t, "orders/${{ id }}/secret")[0]); !ok {
		t.Error("one reference does not meet itself")
	}
	if text, ok := meet(parsed(t, "orders/${{id}}")[0], parsed(t, "orders/${{other}}")[0]); ok {
		t.Errorf("two references meet in %q", text)
	}
}
