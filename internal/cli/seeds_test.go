package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/archmax-ai/archmax/internal/runtime"
)

func TestSeedsComeInOrderAndAssignmentsReplaceMembers(t *testing.T) {
	in := &input{ctx: t.Context(), dir: t.TempDir()}
	vars := assignments{}
	for _, text := range []string{"b=two", "d:=[1, 2]", "e=a=b", "f="} {
		if err := vars.Set(text); err != nil {
			t.Fatal(err)
		}
	}
	got, err := in.seeds(`{"a": 9007199254740993, "b": 1, "c": {"x": null}}`, vars)
	if err != nil {
		t.Fatal(err)
	}
	want := []runtime.Seed{
		{Name: "a", Value: []byte("9007199254740993")},
		{Name: "b", Value: []byte(`"two"`)},
		{Name: "c", Value: []byte(`{"x":null}`)},
		{Name: "d", Value: []byte(`[1,2]`)},
		{Name: "e", Value: []byte(`"a=b"`)},
		{Name: "f", Value: []byte(`""`)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestBadSeedsAreUsageErrors(t *testing.T) {
	for text, want := range map[string]string{
		`[1]`:                "give a JSON object",
		`{"a": 1`:            "the JSON ends too early",
		`{"a": nope}`:        "no valid JSON",
		`{"a": 1} {"b": 2}`:  "more follows",
		`{"a": 1, "a": 2}`:   `"a" is given twice`,
		`{"A": 1}`:           `"A" is no variable name`,
		`{"trigger": "web"}`: "use --trigger",
	} {
		_, err := (&input{ctx: t.Context()}).seeds(text, nil)
		var usage *UsageError
		if !errors.As(err, &usage) || !strings.Contains(usage.Message, want) {
			t.Errorf("%s: got %v, want a usage error with %q", text, err, want)
		}
	}
}

func TestTheMessageComesFromWordsAFileOrStandardInput(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "words.txt", "\ufeffline one\nline two\r\n")
	for _, c := range []struct {
		name  string
		args  []string
		stdin string
		want  string
	}{
		{"words are joined by a space", []string{"two", "words"}, "", "two words"},
		{"a file loses its mark and its last line break", []string{"@words.txt"}, "", "line one\nline two"},
		{"a dash is standard input", []string{"-"}, "piped\n\n", "piped\n"},
		{"an @ among several words is a word", []string{"@kim", "please"}, "", "@kim please"},
	} {
		in := &input{ctx: t.Context(), stdin: strings.NewReader(c.stdin), dir: dir}
		got, has, err := in.message(c.args)
		if err != nil || !has || got != c.want {
			t.Errorf("%s: got %q, %t, %v; want %q", c.name, got, has, err, c.want)
		}
	}
	for _, args := range [][]string{{""}, {"   "}, {"@none.txt"}, {"@"}, {"\xff"}} {
		if _, _, err := (&input{ctx: t.Context(), dir: dir}).message(args); err == nil {
			t.Errorf("%q was taken for a message", args)
		}
	}
	if _, has, err := (&input{ctx: t.Context()}).message(nil); has || err != nil {
		t.Errorf("no arguments are no message, got %t, %v", has, err)
	}
}

func TestAFileMayNotBeAVariableAsWell(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.pdf", "bytes")
	in := &input{ctx: t.Context(), dir: dir}
	_, err := in.files(attachments{{"doc", "a.pdf"}}, []runtime.Seed{{Name: "doc"}})
	if err == nil || !strings.Contains(err.Error(), "also given as a value") {
		t.Errorf("got %v", err)
	}
	got, err := in.files(attachments{{"doc", "a.pdf"}}, nil)
	if diff := cmp.Diff([]runtime.File{{Name: "doc", Base: "a.pdf", Content: []byte("bytes")}}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}
