package runtime_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/archmax-ai/archmax/internal/event"
	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/model/modeltest"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/workspace"
)

// world is a workspace on disk with a scripted model behind a real endpoint:
// every request is checked by the server.
type world struct {
	*runtime.Runtime
	t      *testing.T
	root   string
	store  session.Store
	server *modeltest.Server
	opts   runtime.Options
	events []event.Event
}

// Words that no request may ever hold: they stand, in the fixtures, where the
// model must not see.
const (
	secretTitle   = "SENTINEL-TITLE"
	secretSummary = "SENTINEL-SUMMARY"
	secretMeta    = "SENTINEL-META"
	secretHuman   = "SENTINEL-HUMAN"
)

// newWorld writes files (path -> content) and serves the answers in order.
func newWorld(t *testing.T, files map[string]string, answers ...modeltest.Answer) *world {
	t.Helper()
	return newWorldOn(t, files, modeltest.Script(t, answers...))
}

func newWorldOn(t *testing.T, files map[string]string, handler modeltest.Handler) *world {
	t.Helper()
	w := &world{t: t, root: t.TempDir()}
	w.write(files)
	w.server = modeltest.NewConfig(t, modeltest.Config{
		Forbidden: []string{secretTitle, secretSummary, secretMeta, secretHuman},
		HostPaths: []string{w.root},
	}, handler)
	w.store = session.NewFSStore(filepath.Join(w.root, "sessions"), nil)
	shared, diags := workspace.Open(w.root, workspace.DefaultMounts(), workspace.Guard{Sessions: filepath.Join(w.root, "sessions")})
	if diags.HasErrors() {
		t.Fatal(diags.Err())
	}
	t.Cleanup(func() { shared.Close() })
	w.opts = runtime.Options{
		Root: os.DirFS(w.root), Store: w.store, Shared: shared,
		Client: model.NewOpenAI(model.Options{
			BaseURL: w.server.URL, APIKey: "k", Model: "test-model", Streaming: true,
			Sleep: func(context.Context, time.Duration) error { return nil },
		}),
		Prices: model.Prices{"default": {Input: 1, Output: 2}},
		Model:  "test-model",
		Events: func(e event.Event) { w.events = append(w.events, e) },
	}
	w.Runtime = runtime.New(w.opts)
	return w
}

// with returns the world under changed options.
func (w *world) with(change func(*runtime.Options)) *world {
	change(&w.opts)
	w.Runtime = runtime.New(w.opts)
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

// run sends words to session s of workflow flow.
func (w *world) run(text string) *runtime.Outcome {
	w.t.Helper()
	return w.must(w.Send(context.Background(), runtime.Message{Workflow: "flow", Session: "s", Text: text, HasText: true}))
}

func (w *world) must(o *runtime.Outcome, err error) *runtime.Outcome {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	return o
}

func (w *world) decide(to string) *runtime.Outcome {
	w.t.Helper()
	return w.must(w.Decide(context.Background(), runtime.Decision{Session: "s", To: to}))
}

func (w *world) state() *session.State {
	w.t.Helper()
	s, err := w.store.Load(context.Background(), "s")
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// types is the types of the durable events so far.
func (w *world) types() []string {
	var out []string
	for _, e := range w.events {
		if e.Seq > 0 {
			out = append(out, e.Type)
		}
	}
	return out
}

// path is the trail as "kind:to".
func path(o *runtime.Outcome) string {
	var steps []string
	for _, s := range o.AuditTrail {
		steps = append(steps, string(s.Kind)+":"+s.To)
	}
	return strings.Join(steps, " ")
}

func seed(t *testing.T, name string, v any) runtime.Seed {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return runtime.Seed{Name: name, Value: raw}
}

func call(name string, args map[string]any) modeltest.Call {
	raw, _ := json.Marshal(args)
	return modeltest.Call{Name: name, Args: string(raw)}
}

func calls(cs ...modeltest.Call) modeltest.Answer { return modeltest.CallTools("", cs...) }

func advance(to string) modeltest.Call {
	return call("archmax_advance", map[string]any{"to": to, "reason": "it fits"})
}

// lastResult is the content of the newest tool message of a request.
func lastResult(r *modeltest.Request) string {
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == "tool" {
			return m.Content
		}
	}
	return ""
}

// flow is the workflow of most tests: two agent states, a person, an end.
const flow = `
title: Support
instructions: Be kind.
metadata: { owner: ` + secretMeta + ` }
states:
  start:
    title: ` + secretTitle + `
    summary: ` + secretSummary + `
    instructions: Find out what is needed.
    triggers: { manual: }
    transitions:
      - { to: work, description: The request is clear. }
      - { to: review, description: A person must look. }
  work:
    title: ` + secretTitle + `
    instructions: Do the work.
    transitions:
      - { to: done, description: The work is done. }
      - { to: review, description: A person must look. }
  review:
    type: human
    title: ` + secretTitle + `
    instructions: ` + secretHuman + ` decide.
    approvers: ` + secretHuman + `
    evidence: [scratchpad/` + secretHuman + `.md]
    transitions:
      - { to: done, description: ` + secretHuman + ` fine, type: approve }
      - { to: work, description: ` + secretHuman + ` again, type: refine }
  done:
    instructions: Say goodbye.
`

func flowFiles() map[string]string { return map[string]string{"workflows/flow/workflow.yaml": flow} }
