package schema

import (
	"strings"
	"testing"
)

func TestAnOutlineNamesTypesDefaultsAndMeanings(t *testing.T) {
	root := mapping("",
		must("name", words("Its name.")),
		key("size", withDefault(3, integer(1, "How many."))),
		key("mode", oneOf("The mode.", "a", "b")),
		key("parts", list("The parts.", mapping("", key("on", boolean("Whether."))))),
		key("by", table("By name.", mapping("", must("id", text("The id."))))),
		key("part", ref("part")),
		Key{Name: "refused"},
		key("never", &Schema{Not: anything}),
	)
	root.Defs = Keys{key("part", either("A part.", words(""), mapping("", key("deep", text("Deep.")))))}
	want := strings.Join([]string{
		"- `name` (text, required): Its name.",
		"- `size` (whole number >= 1, default `3`): How many.",
		"- `mode` (`a`, `b`): The mode.",
		"- `parts` (list of mapping): The parts.",
		"  - `on` (boolean): Whether.",
		"- `by` (mapping): By name.",
		"  - `id` (text, required): The id.",
		"- `part` (text or mapping): A part.",
		"",
	}, "\n")
	if got := Outline(root, ""); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got, want := Outline(root, "part"), "- `deep` (text): Deep.\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The kinds are those of language.md, "State keys".
func TestStateKinds(t *testing.T) {
	for key, want := range map[string]string{
		"type": "", "title": "", "transitions": "", "metadata": "", "instructions": "agent, human, grader",
		"triggers": "agent, code, grader", "tools": "agent, code, grader", "requires": "agent, code, grader",
		"model": "agent, grader", "budget": "agent, code, grader", "on_error": "agent, code, grader",
		"before": "agent", "after": "agent", "script": "code", "approvers": "human", "evidence": "human",
	} {
		if got := StateKinds(key); got != want {
			t.Errorf("%s is for %q, want %q", key, got, want)
		}
	}
}
