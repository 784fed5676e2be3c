package runtime_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/archmax-ai/archmax/internal/model/modeltest"
)

func TestThePromptShowsTheActiveStateAndItsTargetsAlone(t *testing.T) {
	files := flowFiles()
	files["AGENTS.md"] = "House rule one."
	files["workflows/flow/WORKFLOW.md"] = "Prose. <!-- hidden -->"
	w := newWorld(t, files, calls(advance("work")), modeltest.Text("ok"))
	w.run("help")
	first, second := w.server.Requests()[0], w.server.Requests()[1]
	if first.Static != second.Static {
		t.Error("the static prefix changed within a turn")
	}
	for i, part := range []string{"House rule one.", "# How this run works", "# Workspace", "# Workflow: Support", "## Instructions\n\nBe kind.", "Prose."} {
		if !strings.Contains(first.Static, part) {
			t.Errorf("part %d, %q, is not in the static prefix", i, part)
		}
	}
	if strings.Contains(first.System, "hidden") {
		t.Error("an HTML comment reached the model")
	}
	for _, want := range []string{"## Current state: start", "Find out what is needed.", "`work`: The request is clear.", "`review` (human decision node)", "archmax_set_variables"} {
		if !strings.Contains(first.Volatile, want) {
			t.Errorf("%q is not in the volatile block:\n%s", want, first.Volatile)
		}
	}
	if strings.Contains(first.System, "done") && strings.Contains(first.Volatile, "`done`") {
		t.Error("a state two edges away is in the prompt")
	}
	if strings.Contains(second.System, "Find out what is needed.") || strings.Contains(second.Volatile, "`start`") {
		t.Error("the state that was left is in the prompt")
	}
	if !strings.Contains(second.Volatile, "`done` (terminal)") {
		t.Errorf("the terminal target is not marked:\n%s", second.Volatile)
	}
}

func TestTheVolatileBlockStaysTheSameWithinAState(t *testing.T) {
	w := newWorld(t, flowFiles(),
		calls(call("archmax_set_variables", map[string]any{"variables": map[string]any{"a": 1}})), get(), calls(advance("work")), modeltest.Text("ok"))
	w.run("help")
	r := w.server.Requests()
	if r[0].Volatile != r[1].Volatile || r[1].Volatile != r[2].Volatile {
		t.Error("the block changed within a state")
	}
	if !strings.Contains(r[3].Volatile, "`a`") || strings.Contains(r[2].Volatile, "`a`") {
		t.Error("the names of variables are those at the state's entry")
	}
}

func TestTheToolListIsTheStatesAndItsOrderIsFixed(t *testing.T) {
	w := newWorld(t, flowFiles(), calls(advance("work")), calls(advance("done")), modeltest.Text("ok"))
	w.run("help")
	names := func(i int) (out []string) {
		for _, tool := range w.server.Requests()[i].Tools {
			out = append(out, tool.Name)
		}
		return out
	}
	want := []string{
		"archmax_advance", "archmax_reset", "archmax_wait", "archmax_raise", "archmax_get_variables", "archmax_set_variables",
		"ls", "read_file", "write_file", "edit_file", "glob", "grep", "copy_file", "move_file", "remove_file", "write_todos",
	}
	if got := names(0); !slices.Equal(got, want) {
		t.Errorf("offered %v", got)
	}
	if got := names(2); slices.Contains(got, "archmax_advance") {
		t.Error("a terminal state offers archmax_advance")
	}
}

func TestAParkedSessionsBlockSaysWhyItSpeaks(t *testing.T) {
	w := newWorld(t, flowFiles(), calls(advance("review")), modeltest.Text("A person looks."), modeltest.Text("Still."))
	w.run("help")
	w.run("news?")
	r := w.server.Requests()
	for i, want := range map[int]string{1: "a decision that a person makes", 2: "wrote while a decision is awaited"} {
		if !strings.Contains(r[i].Volatile, "## This run is parked") || !strings.Contains(r[i].Volatile, want) || len(r[i].Tools) == 0 {
			t.Errorf("call %d: %d tools, block:\n%s", i, len(r[i].Tools), r[i].Volatile)
		}
	}
}
