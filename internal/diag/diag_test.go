package diag

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestEveryCodeHasAnEntry(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := 0
	for _, decl := range file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.CONST {
			continue
		}
		for _, spec := range gen.Specs {
			value := spec.(*ast.ValueSpec).Values[0].(*ast.BasicLit).Value
			code := strings.Trim(value, `"`)
			declared++
			d, ok := Lookup(code)
			if !ok {
				t.Errorf("%s has no entry", code)
				continue
			}
			if !regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`).MatchString(code) {
				t.Errorf("%s is no kebab-case word", code)
			}
			for part, text := range map[string]string{"summary": d.Summary, "meaning": d.Meaning, "example": d.Example, "fix": d.Fix} {
				if text == "" {
					t.Errorf("%s has no %s", code, part)
				}
			}
			if strings.Contains(d.Summary, "\n") || strings.HasSuffix(d.Summary, ".") {
				t.Errorf("%s: the summary %q is not one line without a full stop", code, d.Summary)
			}
		}
	}
	if declared != len(Codes()) {
		t.Errorf("%d codes are declared and %d have entries", declared, len(Codes()))
	}
}

func TestCodesAreSorted(t *testing.T) {
	if !slices.IsSortedFunc(Codes(), func(a, b Doc) int { return strings.Compare(string(a.Code), string(b.Code)) }) {
		t.Error("not sorted")
	}
	if _, ok := Lookup("no-such-code"); ok {
		t.Error("an unknown code was found")
	}
}

func at(line, from, toLine, to int) Range {
	return Range{Position{line, from}, Position{toLine, to}}
}

func TestSnippet(t *testing.T) {
	for _, tt := range []struct {
		name, src   string
		r           Range
		line, caret string
	}{
		{"marks the range", "a: 1\nto: nowhere\n", at(2, 5, 2, 12), "to: nowhere", "    ^^^^^^^"},
		{"keeps tabs before the caret", "\tto: x", at(1, 6, 1, 7), "\tto: x", "\t    ^"},
		{"gives wide characters two cells", "日本: x", at(1, 5, 1, 6), "日本: x", "      ^"},
		{"marks wide characters with two carets", "a: 日本", at(1, 4, 1, 6), "a: 日本", "   ^^^^"},
		{"gives combining marks no cell", "e\u0301: x", at(1, 5, 1, 6), "e\u0301: x", "   ^"},
		{"marks an empty range with one caret", "done:", at(1, 6, 1, 6), "done:", "     ^"},
		{"marks a range over lines to the end of the first", "a: b\n  c", at(1, 4, 2, 3), "a: b", "   ^"},
		{"knows CRLF", "a: 1\r\nb: 2\r\n", at(2, 1, 2, 2), "b: 2", "^"},
		{"passes over a byte order mark", "\uFEFFa: 1", at(1, 1, 1, 2), "a: 1", "^"},
		{"clamps a range beyond the line", "ab", at(1, 9, 1, 12), "ab", "  ^"},
		{"is empty for a line that is not there", "ab", at(3, 1, 3, 2), "", ""},
		{"is empty for no place", "ab", Range{}, "", ""},
		{"defuses control characters", "a\x1b[31mb: 1", at(1, 7, 1, 8), "a�[31mb: 1", "      ^"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			line, caret := Snippet([]byte(tt.src), tt.r)
			if line != tt.line || caret != tt.caret {
				t.Errorf("got %q, %q; want %q, %q", line, caret, tt.line, tt.caret)
			}
		})
	}
}

func TestSnippetCutsLongLinesAroundTheRange(t *testing.T) {
	src := strings.Repeat("x", 5000) + "!" + strings.Repeat("y", 5000)
	line, caret := Snippet([]byte(src), at(1, 5001, 1, 5002))
	if n := len([]rune(line)); n > maxSnippet+2 {
		t.Errorf("the line has %d characters", n)
	}
	if got := []rune(line)[strings.Index(caret, "^")]; got != '!' {
		t.Errorf("the caret is under %q", got)
	}
}

func TestNearest(t *testing.T) {
	known := []string{"transitions", "triggers", "title", "maxTurns", "maxParks"}
	for word, want := range map[string]string{
		"transtions": "transitions", "trigger": "triggers", "tilte": "title", "max_turns": "maxTurns",
		"TITLE": "title", "zebra": "", "maxTarks": "maxParks", "maxTTTks": "", "title": "",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestListSortsByPlaceAndCarriesItself(t *testing.T) {
	l := List{
		{Severity: Warning, Code: "b", Message: "m", Range: at(9, 1, 9, 1)},
		{Severity: Error, Code: "a", Message: "second", Range: at(2, 3, 2, 4)},
		{Severity: Error, Code: "a", Message: "first", Range: at(2, 1, 2, 2)},
	}.In("f.yaml")
	l.Sort()
	if got, want := l[0].Error(), "f.yaml:2:1: error[a]: first"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := l.Err().Error(), "f.yaml:2:1: error[a]: first (and 1 more; see `archmax validate`)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if e, w := l.Count(); e != 2 || w != 1 {
		t.Errorf("counted %d errors and %d warnings", e, w)
	}
	if (List{{Severity: Warning}}).Err() != nil || List(nil).HasErrors() {
		t.Error("a list without errors has one")
	}
}
