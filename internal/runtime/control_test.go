package runtime_test

import (
	"context"
	"strings"
	"testing"

	"github.com/archmax-ai/archmax/internal/model/modeltest"
	"github.com/archmax-ai/archmax/internal/runtime"
)

// Each case makes one call in state start; the text is what the model is told.
func TestControlCallsAreAnsweredAsTheRulesSay(t *testing.T) {
	long := strings.Repeat("x", 65)
	cases := []struct {
		name, tool, args string
		want             string // in the result
		state            string // the session's afterwards, "start" when empty
	}{
		{"an advance moves", "archmax_advance", `{"to":"work","reason":"r"}`, "Moved to `work`", "work"},
		{"an advance along no edge lists the edges", "archmax_advance", `{"to":"done","reason":"r"}`, "work", ""},
		{"an advance without a target names the field", "archmax_advance", `{"reason":"r"}`, `"to" is required`, ""},
		{"an advance with a blank reason is refused", "archmax_advance", `{"to":"work","reason":" "}`, `"reason" must not be blank`, ""},
		{"an unknown argument is named with the known ones", "archmax_advance", `{"to":"work","reason":"r","why":"x"}`, `no argument "why"; it takes to, reason, evidence`, ""},
		{"a wrong type names the field", "archmax_advance", `{"to":1,"reason":"r"}`, `"to" must be a string`, ""},
		{"evidence into an agent state is refused", "archmax_advance", `{"to":"work","reason":"r","evidence":["scratchpad/a"]}`, "no human decision node", ""},
		{"evidence that does not exist is refused", "archmax_advance", `{"to":"review","reason":"r","evidence":["scratchpad/none"]}`, "no readable file", ""},
		{"arguments that are no JSON are answered", "archmax_advance", `{"to":`, "not valid JSON", ""},
		{"arguments that are no object are answered", "archmax_advance", `[1]`, "must be one JSON object", ""},
		{"an unparseable until does not park", "archmax_wait", `{"reason":"r","until":"soon"}`, `until "soon" is no time`, ""},
		{"a raise with a long code is refused", "archmax_raise", `{"code":"` + long + `","reason":"r"}`, "1 to 64 characters", ""},
		{"a raise with two lines of code is refused", "archmax_raise", `{"code":"a\nb","reason":"r"}`, "one line", ""},
		{"getting an unset variable names the set ones", "archmax_get_variables", `{"name":"nope"}`, "set are: trigger", ""},
		{"blank names mean all", "archmax_get_variables", `{"name":" "}`, `{"trigger":"manual"}`, ""},
		{"setting nothing is refused", "archmax_set_variables", `{"variables":{}}`, "names none", ""},
		{"a bad name refuses the whole", "archmax_set_variables", `{"variables":{"ok":1,"Bad":2}}`, "nothing was set", ""},
		{"the trigger is locked", "archmax_set_variables", `{"variables":{"trigger":"x"}}`, "locked", ""},
		{"a title of two lines is refused", "archmax_set_variables", `{"variables":{"title":"a\nb"}}`, "one line", ""},
		{"a locked title is refused", "archmax_set_variables", `{"variables":{"title":"a"},"lock":true}`, "cannot be locked", ""},
		{"variables are set", "archmax_set_variables", `{"variables":{"a":1,"b":{"c":[1,2]}}}`, "Set: a, b.", ""},
		{"a tool that is none is named", "fly", `{}`, `"fly" is not a tool`, ""},
		{"bare eval is refused by its rule", "eval", `{}`, "tool.eval", ""},
		{"the workflows are out of reach", "read_file", `{"file_path":"skills/../workflows/flow/workflow.yaml"}`, "zone.governance-plane", ""},
		{"a default mount is read-only though nothing is behind it", "write_file", `{"file_path":"AGENTS.md","content":"x"}`, "zone.read-only", ""},
		{"a default mount with nothing behind it is not there to be read", "read_file", `{"file_path":"AGENTS.md"}`, "AGENTS.md", ""},
		{"the root does not list what is not there", "ls", `{}`, "scratchpad/", ""},
		{"checkpoints are out of reach", "read_file", `{"file_path":"checkpoints/journal.jsonl"}`, "zone.runtime-internal", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, flowFiles(),
				modeltest.Answer{Calls: []modeltest.Call{{Name: c.tool, Args: c.args}}}, modeltest.Text("ok"))
			o := w.run("help")
			if got := lastResult(w.server.Requests()[1]); !strings.Contains(got, c.want) {
				t.Errorf("the model was told %q, want it to hold %q", got, c.want)
			}
			want := c.state
			if want == "" {
				want = "start"
			}
			if o.State != want {
				t.Errorf("the session is in %s, want %s", o.State, want)
			}
		})
	}
}

func TestALandedCallEndsItsMessage(t *testing.T) {
	w := newWorld(t, flowFiles(),
		calls(
			call("write_file", map[string]any{"file_path": "scratchpad/a.txt", "content": "A"}),
			advance("work"),
			advance("done"),
			call("write_file", map[string]any{"file_path": "scratchpad/b.txt", "content": "B"}),
		),
		modeltest.Text("ok"),
	)
	if o := w.run("help"); o.State != "work" {
		t.Fatalf("in %s", o.State)
	}
	results := map[string]string{}
	for i, m := range w.server.Requests()[1].Messages {
		if m.Role == "tool" {
			results[string(rune('0'+i))] = m.Content
		}
	}
	var refused int
	for _, text := range results {
		if strings.Contains(text, "the run moved to `work`") {
			refused++
		}
	}
	if refused != 2 || len(results) != 4 {
		t.Errorf("%d of %d results name where the advance landed: %v", refused, len(results), results)
	}
	files, err := w.store.Files(context.Background(), "s")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := files.Stat("scratchpad/a.txt"); err != nil {
		t.Error("the call before the advance was not run")
	}
	if _, err := files.Stat("scratchpad/b.txt"); err == nil {
		t.Error("a call after the advance was run")
	}
}

func TestReferencesAreSubstitutedForToolsAndKeptInTheTranscript(t *testing.T) {
	w := newWorld(t, flowFiles(),
		calls(call("archmax_set_variables", map[string]any{"variables": map[string]any{"name": "Ann", "list": []any{map[string]any{"x": 7}}}})),
		calls(call("write_file", map[string]any{"file_path": "scratchpad/${{name}}.txt", "content": "${{list.-1.x}} $${{name}}"})),
		calls(call("read_file", map[string]any{"file_path": "scratchpad/Ann.txt"})),
		calls(call("read_file", map[string]any{"file_path": "scratchpad/${{nope}}"})),
		modeltest.Text("ok"),
	)
	w.run("help")
	reqs := w.server.Requests()
	if got := lastResult(reqs[3]); got != "7 ${{name}}" {
		t.Errorf("the file holds %q", got)
	}
	if got := lastResult(reqs[4]); !strings.HasPrefix(got, "Error: ") || !strings.Contains(got, "nope") {
		t.Errorf("an unset reference was answered %q", got)
	}
	if !strings.Contains(string(reqs[4].Raw), "${{name}}.txt") {
		t.Error("the transcript lost the reference")
	}
	var args string
	for _, e := range w.events {
		if raw, ok := toolCalled(e.Payload, "write_file"); ok {
			args = raw
		}
	}
	if !strings.Contains(args, "scratchpad/Ann.txt") {
		t.Errorf("the event holds %s", args)
	}
}

func TestRaiseEndsTheSessionFailedAndKeepsThePosition(t *testing.T) {
	w := newWorld(t, flowFiles(), modeltest.CallTools("Sorry.", call("archmax_raise", map[string]any{"code": "no-stock", "reason": "sold out"})))
	o := w.run("help")
	if o.Kind != "failed" || o.Exit.Code != "no-stock" || o.Exit.Reason != "sold out" || o.State != "start" || o.Reply != "Sorry." {
		t.Errorf("outcome %+v exit %+v", o, o.Exit)
	}
}

func TestRaiseMustStandAlone(t *testing.T) {
	w := newWorld(t, flowFiles(),
		calls(call("archmax_get_variables", nil), call("archmax_raise", map[string]any{"code": "c", "reason": "r"})), modeltest.Text("ok"))
	if o := w.run("help"); o.Kind != "completed" {
		t.Errorf("got %s", o.Kind)
	}
	if got := lastResult(w.server.Requests()[1]); !strings.Contains(got, "only call") {
		t.Errorf("answered %q", got)
	}
}

func TestResetGoesBackToTheEntryAndKeepsWhatWasSaidAndStored(t *testing.T) {
	w := newWorld(t, flowFiles(),
		calls(call("archmax_set_variables", map[string]any{"variables": map[string]any{"a": 1}})),
		calls(advance("work")), calls(call("archmax_reset", map[string]any{"reason": "another task"})), modeltest.Text("ok"))
	o := w.run("help")
	if got, want := path(o), "trigger:start agent:work reset:start"; got != want {
		t.Errorf("trail %s, want %s", got, want)
	}
	if string(o.Variables["a"].Value) != "1" {
		t.Error("the variable is gone")
	}
}

func TestFilesOfAnArrivalArePlacedAndNamedByLockedVariables(t *testing.T) {
	w := newWorld(t, flowFiles(), calls(call("read_file", map[string]any{"file_path": "${{letter}}"})), modeltest.Text("ok"))
	o := w.must(w.Send(context.Background(), runtime.Message{
		Workflow: "flow", Session: "s", Text: "read it",
		Files: []runtime.File{{Name: "letter", Base: "a.txt", Content: []byte("dear")}, {Name: "other", Base: "a.txt", Content: []byte("sir")}},
	}))
	if got := lastResult(w.server.Requests()[1]); got != "dear" {
		t.Errorf("read %q", got)
	}
	if v := o.Variables["other"]; string(v.Value) != `"scratchpad/attachments/a-1.txt"` || !v.Locked {
		t.Errorf("other is %+v", v)
	}
}

func TestACallSeesTheVariablesSetBeforeItInItsMessage(t *testing.T) {
	w := newWorld(t, flowFiles(),
		calls(
			call("archmax_set_variables", map[string]any{"variables": map[string]any{"name": "ann"}}),
			call("write_file", map[string]any{"file_path": "scratchpad/${{name}}.txt", "content": "x"}),
		),
		modeltest.Text("ok"),
	)
	w.run("help")
	if got := lastResult(w.server.Requests()[1]); strings.HasPrefix(got, "Error") {
		t.Errorf("the second call was answered %q", got)
	}
}

func TestABlockThatAMisspeltArgumentCausedNamesTheArgument(t *testing.T) {
	w := newWorld(t, map[string]string{"workflows/flow/workflow.yaml": strings.Replace(mailFlow, "    instructions: y\n", "    instructions: y\n    tools: { allow: [ { tool: write_file, paths: \"memo/*\" } ] }\n", 1)},
		calls(call("write_file", map[string]any{"path": "memo/a.md", "content": "x"})), modeltest.Text("ok"))
	w.must(w.Send(context.Background(), runtime.Message{Workflow: "flow", Session: "s", Trigger: "tick"}))
	got := lastResult(w.server.Requests()[1])
	for _, want := range []string{"blocked by tool.not-allowed", "'path'", "file_path"} {
		if !strings.Contains(got, want) {
			t.Errorf("answered %q, want it to hold %q", got, want)
		}
	}
}
