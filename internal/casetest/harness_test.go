package casetest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/archmax-ai/archmax/internal/casetest"
	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/spec"
	"github.com/archmax-ai/archmax/internal/workspace"
)

// flow is the workflow of most tests: an agent, a person, an end, and an error
// route.
const flow = `title: Support
instructions: Be kind.
tools:
  forbid_always: [remove_file]
states:
  start:
    instructions: Find out what is needed.
    triggers:
      manual:
      web-form:
        requires: [order_id]
    tools: { allow: [crm__lookup] }
    budget: { maxTurns: 6 }
    on_error: help
    transitions:
      - { to: review, description: A person must look. }
      - { to: done, description: All is clear. }
  review:
    type: human
    instructions: Decide.
    transitions:
      - { to: done, description: fine, type: approve }
      - { to: start, description: again, type: refine }
  done:
    instructions: Say goodbye.
  help:
    instructions: Say that a person takes over.
`

// world is a workspace on disk.
type world struct {
	t    testing.TB
	root string
}

func newWorld(t testing.TB, files map[string]string) *world {
	t.Helper()
	w := &world{t, t.TempDir()}
	if _, ok := files["workflows/flow/workflow.yaml"]; !ok {
		w.write(map[string]string{"workflows/flow/workflow.yaml": flow})
	}
	w.write(files)
	return w
}

func (w *world) write(files map[string]string) {
	w.t.Helper()
	for name, content := range files {
		path := filepath.Join(w.root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) read(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.root, filepath.FromSlash(name)))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

func (w *world) machine() *spec.Machine {
	w.t.Helper()
	m, problems := spec.Load(os.DirFS(w.root), "flow")
	if problems.HasErrors() {
		w.t.Fatal(problems.Err())
	}
	return m
}

// options runs the suite of flow.
func (w *world) options() casetest.Options {
	w.t.Helper()
	shared, problems := workspace.Open(w.root, workspace.DefaultMounts(), workspace.Guard{Sessions: filepath.Join(w.root, "sessions")})
	if problems.HasErrors() {
		w.t.Fatal(problems.Err())
	}
	w.t.Cleanup(func() { shared.Close() })
	return casetest.Options{
		Machine: w.machine(), Dir: w.root,
		Runtime: runtime.Options{Root: os.DirFS(w.root), Shared: shared, Model: "m", Prices: model.Prices{"m": {Input: 1, Output: 2}}},
	}
}

func (w *world) run(change ...func(*casetest.Options)) *casetest.Suite {
	w.t.Helper()
	o := w.options()
	for _, c := range change {
		c(&o)
	}
	s, err := casetest.Run(context.Background(), o)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

const testsDir = "workflows/flow/tests/"

// runOne runs the one case whose document is given.
func runOne(t *testing.T, doc string, change ...func(*casetest.Options)) *casetest.Result {
	t.Helper()
	s := newWorld(t, map[string]string{testsDir + "one.test.yaml": doc}).run(change...)
	if len(s.Results) != 1 {
		t.Fatalf("%d results", len(s.Results))
	}
	return s.Results[0]
}

// document is a case with the given model calls and steps, each an indented
// block.
func document(calls, steps string, more ...string) string {
	return "title: A case\ndescription: What it is about.\n" + strings.Join(more, "\n") + "\nmodel:\n  calls:\n" + indent(calls, "    ") + "steps:\n" + indent(steps, "  ")
}

func indent(block, by string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.Trim(block, "\n") + "\n") {
		b.WriteString(by + line)
	}
	return b.String()
}

// says, advances and others are model calls of a cassette.
func says(text string) string { return fmt.Sprintf("- text: %q\n", text) }

func calls(list ...string) string {
	return "- tool_calls:\n" + indent(strings.Join(list, "\n"), "    ")
}

func tool(name, args string) string { return fmt.Sprintf("- { name: %s, args: %s }", name, args) }

func advances(to string) string {
	return calls(tool("archmax_advance", "{ to: "+to+", reason: it fits }"))
}

// told is the records as "kind status".
func told(r *casetest.Result) string {
	var out []string
	for _, rec := range r.Records {
		out = append(out, rec.Kind+" "+rec.Status)
	}
	return strings.Join(out, ", ")
}

func wantIn(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is not in: %s", p, text)
		}
	}
}
