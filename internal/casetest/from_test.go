package casetest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/archmax-ai/archmax/internal/casetest"
	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
	"github.com/archmax-ai/archmax/internal/workspace"
)

// played is a session that was really had, and the workspace it was had in.
type played struct {
	*world
	store session.Store
	opts  casetest.DraftOptions
	api   runtime.API
}

// play has a session on the given model calls.
func (w *world) play(calls string, change ...func(*runtime.Options)) *played {
	w.t.Helper()
	c, problems := model.LoadCassette("tape.yaml", []byte("version: 1\ncalls:\n"+indent(calls, "  ")))
	if problems.HasErrors() {
		w.t.Fatal(problems.Err())
	}
	o := w.options()
	p := &played{world: w, store: session.NewMemStore(nil)}
	p.opts = casetest.DraftOptions{Store: p.store, Session: "s1", Machine: o.Machine, Runtime: o.Runtime}
	live := o.Runtime
	live.Store, live.Client = p.store, model.NewReplay(c)
	for _, f := range change {
		f(&live)
	}
	p.api = runtime.New(live)
	return p
}

func (p *played) send(text string, more ...func(*runtime.Message)) *runtime.Outcome {
	p.t.Helper()
	m := runtime.Message{Workflow: p.opts.Machine.Slug, Session: p.opts.Session, Text: text, HasText: true}
	for _, f := range more {
		f(&m)
	}
	return p.came(p.api.Send(context.Background(), m))
}

func (p *played) came(out *runtime.Outcome, err error) *runtime.Outcome {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

func (p *played) decide(to, comment string) {
	p.t.Helper()
	p.came(p.api.Decide(context.Background(), runtime.Decision{Session: p.opts.Session, To: to, Comment: comment}))
}

func (p *played) deliver(text string) {
	p.t.Helper()
	p.came(p.api.Deliver(context.Background(), runtime.Delivery{Session: p.opts.Session, Trigger: "manual", Text: text, HasText: true}))
}

func seeds(pairs ...string) func(*runtime.Message) {
	return func(m *runtime.Message) {
		for i := 0; i < len(pairs); i += 2 {
			m.Variables = append(m.Variables, runtime.Seed{Name: pairs[i], Value: []byte(pairs[i+1])})
		}
	}
}

// draft writes the case into the workspace, runs the suite, and gives the
// document and the cassette.
func (p *played) draft() (d *casetest.Draft, doc, cassette string) {
	p.t.Helper()
	d, err := casetest.FromSession(context.Background(), p.opts)
	if err != nil {
		p.t.Fatal(err)
	}
	root, err := os.OpenRoot(p.root)
	if err != nil {
		p.t.Fatal(err)
	}
	defer root.Close()
	if err := d.Write(root); err != nil {
		p.t.Fatal(err)
	}
	suite, err := casetest.Run(context.Background(), casetest.Options{Machine: p.opts.Machine, Runtime: p.opts.Runtime, Filter: d.ID})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, r := range suite.Results {
		if r.Status != casetest.Passed || len(r.Warnings) > 0 {
			p.t.Errorf("the case as written %s: %s %v %v", r.Status, r.Error, r.Failures, r.Warnings)
		}
	}
	if problems := casetest.Static(p.opts.Runtime.Root, p.opts.Machine); len(problems) > 0 {
		p.t.Errorf("the case as written has problems: %v", problems.Err())
	}
	if err := d.Write(root); err == nil {
		p.t.Error("a second Write overwrote the case")
	}
	dir := "workflows/" + p.opts.Machine.Slug + "/tests/" + d.ID
	return d, p.read(dir + ".test.yaml"), p.read(dir + ".cassette.yaml")
}

// refused gives why no case can be written.
func (p *played) refused() string {
	p.t.Helper()
	_, err := casetest.FromSession(context.Background(), p.opts)
	if err == nil {
		p.t.Fatal("a case was written")
	}
	return err.Error()
}

func notIn(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if strings.Contains(text, p) {
			t.Errorf("%q is in: %s", p, text)
		}
	}
}

// The four scenes of the example workspace, as its demo plays them.
func TestACaseFromEachSceneOfTheExampleWorkspacePasses(t *testing.T) {
	example, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		scene, message string
		then           func(*played)
		says           []string
	}{
		{"answer", "Where is my order ORD-1003?", nil, []string{
			"- send: \"Where is my order ORD-1003?\"\n", "- triggerArrival: manual\n", "- reachedState: lookup\n", "- reachedState: answer\n",
			"- succeeded: true\n", "resolution: answered\n", "locked: false\n",
		}},
		{"refund", "I want my money back for ORD-1002.", func(p *played) { p.decide("refund-issued", "Paid in full.") }, []string{
			"- parked: {channel: decision, state: refund-review}\n", "- decide:\n      to: refund-issued\n      comment: Paid in full.\n",
			"- trail: {to: refund-issued, kind: human, count: 1}\n", "refund_amount: 89.00\n", "resolution: refunded\n",
		}},
		{"wait", "Has my rain jacket been sent?", func(p *played) { p.deliver("It is ORD-1004.") }, []string{
			"- parked: {channel: input, state: clarify}\n", "- deliver:\n      trigger: manual\n      message: It is ORD-1004.\n", "- reachedState: answer\n",
		}},
		{"error", "Where is the camping lantern of ORD-9999?", nil, []string{
			"- trail: {to: escalate, kind: on_error, count: 1}\n", "resolution: escalated\n",
		}},
	} {
		t.Run(tt.scene, func(t *testing.T) {
			w := &world{t, t.TempDir()}
			for _, name := range []string{"workflows/order-lookup/workflow.yaml", "AGENTS.md"} {
				content, err := os.ReadFile(filepath.Join(example, name))
				if err != nil {
					t.Fatal(err)
				}
				w.write(map[string]string{name: string(content)})
			}
			if err := os.CopyFS(filepath.Join(w.root, "skills"), os.DirFS(filepath.Join(example, "skills"))); err != nil {
				t.Fatal(err)
			}
			src, err := os.ReadFile(filepath.Join(example, "testdata/cassettes", tt.scene+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			_, calls, _ := strings.Cut(string(src), "calls:\n")
			p := w.playOf("order-lookup", calls)
			p.send(tt.message)
			if tt.then != nil {
				tt.then(p)
			}
			_, doc, cassette := p.draft()
			wantIn(t, doc, tt.says...)
			notIn(t, doc, "\nvariables:", "\ntrigger:")
			wantIn(t, cassette, "version: 1\n", "usage: {input: ")
		})
	}
}

// playOf is play for a workflow other than flow.
func (w *world) playOf(slug, calls string) *played {
	w.t.Helper()
	m, problems := spec.Load(os.DirFS(w.root), slug)
	if problems.HasErrors() {
		w.t.Fatal(problems.Err())
	}
	shared, problems := workspace.Open(w.root, workspace.DefaultMounts(), workspace.Guard{})
	if problems.HasErrors() {
		w.t.Fatal(problems.Err())
	}
	w.t.Cleanup(func() { shared.Close() })
	c, problems := model.LoadCassette("tape.yaml", []byte("version: 1\ncalls:\n"+calls))
	if problems.HasErrors() {
		w.t.Fatal(problems.Err())
	}
	p := &played{world: w, store: session.NewMemStore(nil)}
	template := runtime.Options{Root: os.DirFS(w.root), Shared: shared}
	p.opts = casetest.DraftOptions{Store: p.store, Session: "s1", Machine: m, Runtime: template}
	template.Store, template.Client = p.store, model.NewReplay(c)
	p.api = runtime.New(template)
	return p
}

func TestACaseFromASessionHoldsItsSeedsItsFilesAndItsParallelCalls(t *testing.T) {
	p := newWorld(t, nil).play(
		calls(tool("read_file", "{ file_path: scratchpad/attachments/order.txt }"), tool("ls", "{}"),
			tool("archmax_set_variables", "{ variables: { note: '/not an expression(/' }, lock: true }"),
			tool("archmax_set_variables", "{ variables: { title: Two lines, total: 12.50 } }")) +
			advances("done") + says("Bye.") + says("Still here."))
	p.send("Look:\nhere it is.", seeds("order_id", `"ORD-1"`, "big", "9007199254740993"), func(m *runtime.Message) {
		m.Trigger = "web-form"
		m.Files = []runtime.File{{Name: "upload", Base: "order.txt", Content: []byte("one lamp\n")}}
	})
	p.send("And?", func(m *runtime.Message) { m.Trigger = "web-form" }, seeds("order_id", `"ORD-1"`))
	d, doc, cassette := p.draft()
	wantIn(t, doc,
		"title: Two lines\n", "trigger: {id: web-form}\n", "variables:\n  order_id: ORD-1\n  big: 9007199254740993\n",
		"files:\n  upload: fixtures/s1/order.txt\n", "- send: |-\n      Look:\n      here it is.\n", "- send: \"And?\"\n",
		"total: 12.50\n", "locked: false\n", `note: "/^/not an expression\\(/$/"`, "locked: true\n")
	notIn(t, doc, "order_id: ORD-1\n        ", "mocks:")
	wantIn(t, cassette, "- name: read_file\n", "- name: ls\n")
	if got := p.read(testsDir + "fixtures/s1/order.txt"); got != "one lamp\n" {
		t.Errorf("the fixture is %q", got)
	}
	if len(d.Notes) != 0 || len(d.Files) != 3 {
		t.Errorf("notes %v, files %d", d.Notes, len(d.Files))
	}
}

func TestWhatHostToolsAnsweredBecomesMocks(t *testing.T) {
	asked := 0
	answers := func(_ context.Context, c runtime.ToolCall) (string, error, bool) {
		if c.Tool != "crm__lookup" {
			return "", nil, false
		}
		asked++
		if c.Args["id"] == "x" {
			return "", errors.New("no such customer"), true
		}
		return []string{"", "Ada", "Bob"}[asked], nil, true
	}
	p := newWorld(t, nil).play(
		calls(tool("crm__lookup", "{ id: 1 }"))+calls(tool("lookup", "{ id: 1 }"))+calls(tool("crm__lookup", "{ id: x }"))+says("Done."),
		func(o *runtime.Options) {
			o.HostTools = []runtime.HostTool{{}}
			o.HostTools[0].Name, o.HostTools[0].Schema = "crm__lookup", []byte(`{"type":"object"}`)
			o.Mock = answers
		})
	p.send("Hi")
	_, doc, _ := p.draft()
	wantIn(t, doc,
		"mocks:\n  - tool: crm__lookup\n    whenInput: {id: 1}\n    results:\n      - Ada\n      - Bob\n",
		"  - tool: crm__lookup\n    whenInput: {id: x}\n    error: no such customer\n", "- noTraversal: true\n")
}

func TestAnswersComeOutAsTheyCame(t *testing.T) {
	p := newWorld(t, nil).play(
		"- tool_calls:\n    - { name: archmax_set_variables, args: '{\"variables\": {\"a\": 1}, \"variables\": {\"b\": 2}}' }\n" +
			"    - { name: ls, args: 'no JSON' }\n    - { name: ls }\n  reasoning: thinking\n" +
			"- text: cut\n  finish: length\n  tool_calls:\n    - { name: ls, args: {} }\n" +
			says("key-of-the-owner is mine") + "- text: \"\"\n")
	p.opts.Secrets = []string{"key-of-the-owner"}
	p.send("Hi")
	p.send("key-of-the-owner")
	_, doc, cassette := p.draft()
	wantIn(t, cassette,
		`args: "{\"variables\": {\"a\": 1}, \"variables\": {\"b\": 2}}"`, "args: \"no JSON\"\n", "reasoning: thinking\n", "finish: length\n", "[redacted] is mine")
	if n := strings.Count(cassette, "text: \"\"\n"); n != 2 {
		t.Errorf("silence, which is asked for twice, is there %d times:\n%s", n, cassette)
	}
	notIn(t, doc+cassette, "key-of-the-owner")
}

// A fault that was resumed after is recorded where it came, and retried there.
func TestAFaultThatWasResumedAfterIsInTheCassette(t *testing.T) {
	p := newWorld(t, nil).play("- error: { status: 503, message: down, final: true }\n" + says("Hello."))
	p.send("Hi")
	p.came(p.api.Resume(context.Background(), "s1", ""))
	_, doc, cassette := p.draft()
	wantIn(t, cassette, "  - state: start\n    error: {message: ", "  - state: start\n    model: m\n    text: Hello.\n")
	if n := strings.Count(doc, "- send:"); n != 1 {
		t.Errorf("%d actions:\n%s", n, doc)
	}
}

func TestACaseEndsBeforeAnArrivalThatNoCaseCanHold(t *testing.T) {
	for _, tt := range []struct {
		name string
		then func(*played)
		note string
	}{
		{"another trigger", func(p *played) {
			p.send("More", func(m *runtime.Message) { m.Trigger = "web-form" }, seeds("order_id", `"ORD-2"`))
		}, `it came under the trigger "web-form"`},
		{"another variable", func(p *played) { p.send("More", seeds("order_id", `"ORD-2"`)) }, `it brought another "order_id" than the first turn`},
		{"a file", func(p *played) {
			p.send("More", func(m *runtime.Message) { m.Files = []runtime.File{{Name: "f", Base: "f.txt", Content: []byte("x")}} })
		}, "it brought files"},
		{"a model that failed", func(p *played) { p.send("More"); p.send("Yet more") }, `its model failed in state "start"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newWorld(t, nil).play(says("One.") + "- text: Two.\n")
			p.send("Hi", seeds("customer", `"Ada"`))
			tt.then(p)
			d, doc, _ := p.draft()
			if len(d.Notes) != 1 || !strings.Contains(d.Notes[0], tt.note) {
				t.Errorf("notes: %v", d.Notes)
			}
			notIn(t, doc, "Yet more")
		})
	}
}

func TestEndingsBecomeAssertions(t *testing.T) {
	for _, tt := range []struct{ name, calls, says string }{
		{"raised", calls(tool("archmax_raise", "{ code: /stuck/, reason: no way on }")), `- raised: "/^/stuck/$/"`},
		{"waiting", calls(tool("archmax_wait", "{ reason: a reply }")) + says("Well?"), "- parked: {channel: input, state: start}\n"},
		{"budget spent, on error", calls(tool("ls", "{}")) + calls(tool("ls", "{}")) + calls(tool("ls", "{}")) + calls(tool("ls", "{}")) + calls(tool("ls", "{}")) +
			calls(tool("ls", "{}")) + says("A person comes."), "- trail: {to: help, kind: on_error, count: 1}\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newWorld(t, nil).play(tt.calls)
			p.send("Hi")
			_, doc, _ := p.draft()
			wantIn(t, doc, tt.says)
		})
	}
}

func TestAReplyAndAReturnToAStateComeOutAgain(t *testing.T) {
	p := newWorld(t, nil).play(advances("review") + says("Wait, please.") + says("Still waiting.") + advances("review") + says("Again.") + says("Bye."))
	p.send("Hi")
	p.send("How long?")
	p.decide("start", "look again")
	p.decide("done", "")
	_, doc, _ := p.draft()
	wantIn(t, doc,
		"- reachedState: review\n", "- send: \"How long?\"\n", "- trail: {to: start, kind: human, count: 1}\n",
		"- trail: {to: review, kind: agent, count: 2}\n", "- decide:\n      to: done\n", "- trail: {to: done, kind: human, count: 1}\n")
}

func TestNoCaseIsWrittenWhere(t *testing.T) {
	t.Run("the name is no path below tests", func(t *testing.T) {
		p := newWorld(t, nil).play(says("Hello."))
		p.send("Hi")
		for _, name := range []string{"../x", "/x", "a//b", "a b", ".hidden", "x/.y", `a\b`} {
			p.opts.Name = name
			_, err := casetest.FromSession(context.Background(), p.opts)
			var misuse *casetest.OptionError
			if !errors.As(err, &misuse) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("the session is not there", func(t *testing.T) {
		p := newWorld(t, nil).play(says("Hello."))
		var missing session.NotFoundError
		if _, err := casetest.FromSession(context.Background(), p.opts); !errors.As(err, &missing) {
			t.Error(err)
		}
	})
	t.Run("the first turn was cancelled", func(t *testing.T) {
		p := newWorld(t, nil).play(says("Hello."))
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		p.came(p.api.Send(ctx, runtime.Message{Workflow: "flow", Session: "s1", Text: "Hi", HasText: true}))
		wantIn(t, p.refused(), `no case can be written from session s1: it failed with "turn-cancelled"`)
	})
	t.Run("a file would be taken for a case", func(t *testing.T) {
		p := newWorld(t, nil).play(says("Hello."))
		p.send("Hi", func(m *runtime.Message) {
			m.Files = []runtime.File{{Name: "f", Base: "a.test.yaml", Content: []byte("x")}}
		})
		wantIn(t, p.refused(), `"a.test.yaml", which would be taken for a case`)
	})
	t.Run("the workflow has changed", func(t *testing.T) {
		p := newWorld(t, nil).play(advances("done") + says("Bye."))
		p.send("Hi")
		p.write(map[string]string{"workflows/flow/workflow.yaml": strings.Replace(flow, "- { to: done, description: All is clear. }", "", 1)})
		p.opts.Machine = p.machine()
		wantIn(t, p.refused(), "what session s1 did does not come out again on the workflow as it is now, so no case was written: ")
	})
	t.Run("a file is there already", func(t *testing.T) {
		p := newWorld(t, map[string]string{testsDir + "s1.cassette.yaml": "mine"}).play(says("Hello."))
		p.send("Hi")
		d, err := casetest.FromSession(context.Background(), p.opts)
		if err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(p.root)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		if err := d.Write(root); err == nil || !strings.Contains(err.Error(), "s1.cassette.yaml is there already") {
			t.Error(err)
		}
		if _, err := root.Stat(testsDir + "s1.test.yaml"); err == nil || p.read(testsDir+"s1.cassette.yaml") != "mine" {
			t.Error("something was written")
		}
	})
}
