package casetest_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/archmax-ai/archmax/internal/casetest"
	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
)

func passes(t *testing.T, r *casetest.Result) {
	t.Helper()
	if r.Status != casetest.Passed {
		t.Errorf("%s, error %q, failures %q", told(r), r.Error, r.Failures)
	}
}

func TestAConversationOfEveryAction(t *testing.T) {
	talk := "- text: Which order?\n  tool_calls:\n    - { name: archmax_wait, args: { reason: asked } }\n" +
		advances("review") + says("A person decides.") + says("Still waiting.") + advances("review") + says("Again.") + says("Bye.") + says("Hello again.")
	passes(t, runOne(t, document(talk, `
- send: Hi
- parked: { channel: input, state: start }
- deliver: { trigger: mail, variables: { answer: { n: 1 } }, message: Here it is }
- parked: { channel: decision, state: review }
- triggerArrival: mail
- variables: { expect: { answer: { n: 1 } }, locked: true }
- send: Is it done?
- parked: decision
- reply: { includes: Still waiting }
- decide: { to: start, comment: look again }
- trail: { to: start, kind: human, reason: look again, count: 1 }
- decide: { to: done }
- succeeded: true
- send: Thanks
- succeeded: true
- trail: { kind: trigger, count: 3 }
- reply: { includes: [Which order, Hello again] }
`)))
}

func TestWhatACaseBringsReachesTheSession(t *testing.T) {
	var asked []string
	var mu sync.Mutex
	w := newWorld(t, map[string]string{
		testsDir + "fixtures/photo.bin": "\x00\xff\x01", testsDir + "fixtures/in.txt": "attached",
		testsDir + "sub/one.test.yaml": `title: Brings all
description: What it is about.
trigger: { id: web-form }
clock: 2026-06-15
variables: { order_id: ORD-1, n: 9007199254740993 }
files: { letter: fixtures/in.txt }
workspace:
  notes/plain.md: "verbatim: {x}"
  notes/data.json: { b: [1, 2.50], a: null }
  notes/photo.bin: { from: fixtures/photo.bin }
steps:
- send: Hi
- variables: { expect: { order_id: ORD-1, n: 9007199254740993, letter: scratchpad/attachments/in.txt, trigger: web-form }, locked: true }
- file: { path: notes/plain.md, equals: "verbatim: {x}" }
- file: { path: notes/data.json, json: { a: null, b: [1, 2.5] } }
- file: { path: scratchpad/attachments/in.txt, equals: attached }
- triggerArrival: web-form
- send: Again
- trail: { kind: trigger, reason: web-form, count: 2 }
- file: { path: scratchpad/attachments/in-1.txt }
`,
	})
	keep := filepath.Join(w.root, "sessions")
	s := w.run(live(func(_ context.Context, req *model.Request) (model.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, req.Volatile)
		return model.Response{Text: "ok"}, nil
	}), func(o *casetest.Options) { o.Keep = keep })
	r := s.Results[0]
	if r.ID != "sub/one" || r.File != testsDir+"sub/one.test.yaml" {
		t.Errorf("id %q, file %q", r.ID, r.File)
	}
	// The files come with the first turn alone, so the second copy is missing.
	if n := len(r.Records) - 1; r.Records[n].Status != "failed" || len(r.Failures) != 1 || r.Error != "" {
		t.Errorf("%q %q", r.Failures, r.Error)
	}
	files, err := session.NewFSStore(keep, nil).Files(context.Background(), r.SessionID)
	if err != nil {
		t.Fatal(err)
	}
	if photo, err := fs.ReadFile(files, "notes/photo.bin"); err != nil || string(photo) != "\x00\xff\x01" {
		t.Errorf("photo.bin is %q, %v", photo, err)
	}
	for _, block := range asked {
		wantIn(t, block, "2026-06-15")
	}
}

func TestWithoutAClockItIsTheFirstOfJanuary2026(t *testing.T) {
	w := newWorld(t, map[string]string{testsDir + "one.test.yaml": "title: A\ndescription: What it is about.\nsteps:\n- send: Hi\n- succeeded: true\n"})
	var block string
	w.run(live(func(_ context.Context, req *model.Request) (model.Response, error) {
		block = req.Volatile
		return model.Response{Text: "ok"}, nil
	}))
	wantIn(t, block, "The time is about 2026-01-01 00:00 UTC")
}

func TestMocks(t *testing.T) {
	lookups := func(ids ...string) string {
		var list []string
		for _, id := range ids {
			list = append(list, tool("crm__lookup", "{ id: "+id+" }"))
		}
		return calls(list...) + says("done")
	}
	for _, tt := range []struct{ name, talk, mocks, answers, fails string }{
		{"a text is answered as it is", lookups("1"), `[{ tool: crm__lookup, result: "found: 1" }]`, "found: 1", ""},
		{"any other value as JSON, numbers exact", lookups("1"), `[{ tool: crm__lookup, result: { b: 9007199254740993, a: [1.50] } }]`, `{"a":[1.50],"b":9007199254740993}`, ""},
		{"the first that matches wins", lookups("2", "1"), `[{ tool: crm__lookup, whenInput: { id: 1 }, result: one }, { tool: crm__lookup, result: any }, { tool: crm__lookup, result: never }]`, "any|one", ""},
		{"an error is the tool's error", lookups("1"), `[{ tool: crm__lookup, error: is down }]`, "Error: is down", ""},
		{"results are given in turn, in the order of the calls", lookups("1", "2", "3"), `[{ tool: crm__lookup, results: [a, { b: 1 }, c] }]`, `a|{"b":1}|c`, ""},
		{"results that are used up give way to the next mock", lookups("1", "2"), `[{ tool: crm__lookup, results: [a] }, { tool: crm__lookup, result: z }]`, "a|z", ""},
		{"a built-in tool can be mocked", calls(tool("read_file", "{ file_path: x.md }")) + says("done"), `[{ tool: read_file, result: made up }]`, "made up", ""},
		{"a call that no mock answers ends the case", lookups("1"), `[{ tool: crm__lookup, whenInput: { id: 2 }, result: x }]`, "", `crm__lookup was called in state "start" with {"id":1}, and no mock answers it; add one to ` + "`mocks`"},
		{"so does one when the results are used up", lookups("1", "2"), `[{ tool: crm__lookup, results: [a] }]`, "", "and the `results` of its mock are used up"},
		{"so does one of a built-in tool", calls(tool("ls", "{}"), tool("ls", "{}")) + says("done"), `[{ tool: ls, results: [a] }]`, "", "ls was called"},
		{"a tool that is granted is known without a mock", lookups("1"), `[]`, "", "crm__lookup was called"},
		{"what the kernel refuses reaches no mock", calls(tool("remove_file", "{ file_path: x }")) + says("done"), `[{ tool: remove_file, result: gone }]`, "Error: blocked by tool.", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{testsDir + "one.test.yaml": document(tt.talk, "- send: Hi\n- succeeded: true", "mocks: "+tt.mocks)})
			keep := filepath.Join(w.root, "sessions")
			r := w.run(func(o *casetest.Options) { o.Keep = keep }).Results[0]
			if tt.fails != "" {
				if told(r) != "send failed, succeeded not-executed" {
					t.Error(told(r))
				}
				wantIn(t, r.Error, tt.fails)
				return
			}
			passes(t, r)
			state, err := session.NewFSStore(keep, nil).Load(context.Background(), r.SessionID)
			if err != nil {
				t.Fatal(err)
			}
			var results []string
			for _, m := range state.Messages {
				for _, c := range m.Calls {
					results = append(results, c.Result.Text)
				}
			}
			if got := strings.Join(results, "|"); got != tt.answers && !(strings.HasSuffix(tt.answers, ".") && strings.HasPrefix(got, tt.answers)) {
				t.Errorf("answered %q, want %q", got, tt.answers)
			}
		})
	}
}

func TestHostToolsRunOnlyWhereTheyAreMeantTo(t *testing.T) {
	doc := document(calls(tool("crm__lookup", "{ id: 1 }"))+says("done"), "- send: Hi\n- calledTool: { name: crm__lookup, input: { id: 1 } }")
	for _, tt := range []struct {
		name, tests string
		flag        bool
		ran         bool
	}{
		{"mocked by default", "", false, false},
		{"real by the workflow", "tests: { hostTools: real }\n", false, true},
		{"real by the flag", "tests: { hostTools: mock }\n", true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ran := false
			w := newWorld(t, map[string]string{"workflows/flow/workflow.yaml": flow + tt.tests, testsDir + "one.test.yaml": doc})
			r := w.run(func(o *casetest.Options) {
				o.RealTools = tt.flag
				o.Runtime.HostTools = []runtime.HostTool{{
					ToolInfo: governance.ToolInfo{Name: "crm__lookup"}, Schema: []byte(`{"type":"object"}`),
					Run: func(context.Context, runtime.ToolCall) (string, error) { ran = true; return "real", nil },
				}}
			}).Results[0]
			if ran != tt.ran || (r.Error == "") != tt.ran {
				t.Errorf("ran %t, error %q", ran, r.Error)
			}
		})
	}
}

func TestDelegationIsReportedAsNotRunYet(t *testing.T) {
	for doc, want := range map[string]string{
		document(says("x"), "- send: Hi\n- ranWorkflow: { workflow: flow }"):                                                        "asserts `ranWorkflow`",
		document(says("x"), "- send: Hi\n- succeeded: true", "mocks: [{ tool: archmax_workflow_flow, result: { message: done } }]"): "mocks `archmax_workflow_flow`",
	} {
		r := runOne(t, doc)
		wantIn(t, r.Error, want, "does not run workflows that call workflows yet")
		if r.Status != "failed" || strings.Contains(told(r), "passed") {
			t.Error(told(r))
		}
	}
}

func TestArgumentsAreComparedAsTheTranscriptRecordsThem(t *testing.T) {
	talk := calls(tool("archmax_set_variables", "{ variables: { dir: out } }")) + calls(tool("write_file", `{ file_path: "${{dir}}/a.md", content: x }`)) + says("ok")
	passes(t, runOne(t, document(talk, `
- send: Hi
- calledTool: { name: write_file, input: { file_path: "${{dir}}/a.md" } }
- notCalledTool: { name: write_file, input: { file_path: out/a.md } }
- file: { path: out/a.md, equals: x }
`)))
}

func TestArgumentsThatAreLeftOutAreNone(t *testing.T) {
	talk := calls("- { name: glob }") + says("ok")
	passes(t, runOne(t, document(talk, `
- send: Hi
- calledTool: { name: glob, input: {} }
- notCalledTool: { name: glob, input: { pattern: a } }
`)))
}

func TestSessionIDsComeFromTheCaseAndTheRun(t *testing.T) {
	w := newWorld(t, map[string]string{
		testsDir + "plain-1.test.yaml": passing, testsDir + "a/b.test.yaml": passing, testsDir + "a-b.test.yaml": passing, testsDir + "É.test.yaml": passing,
	})
	seen := map[string]bool{}
	for _, r := range w.run(func(o *casetest.Options) { o.SessionPrefix = "ci-" }).Results {
		if seen[r.SessionID] || !strings.HasPrefix(r.SessionID, "ci-flow_") || session.Folder(r.SessionID) != r.SessionID {
			t.Errorf("session %q of case %q", r.SessionID, r.ID)
		}
		seen[r.SessionID] = true
	}
	if !seen["ci-flow_plain-1"] || !seen["ci-flow_a-b"] {
		t.Error(seen)
	}
}

func TestKeptSessionsAreThereAndAreReplacedByTheNextRun(t *testing.T) {
	w := newWorld(t, map[string]string{testsDir + "one.test.yaml": passing})
	keep := filepath.Join(w.root, "sessions")
	store := session.NewFSStore(keep, nil)
	for range 2 {
		r := w.run(func(o *casetest.Options) { o.Keep, o.Repeat = keep, 2 }).Results[0]
		passes(t, r)
		for _, id := range []string{"test-flow_one", "test-flow_one_2"} {
			s, err := store.Load(context.Background(), id)
			if err != nil || s.Turns != 1 {
				t.Errorf("session %s: %v", id, err)
			}
		}
	}
	w.run()
	if entries, _ := os.ReadDir(keep); len(entries) > 4 { // two sessions, _specs, perhaps _trash
		t.Error("a suite that keeps nothing left sessions", entries)
	}
}

func TestAForeignSessionIsNotReplaced(t *testing.T) {
	w := newWorld(t, map[string]string{testsDir + "one.test.yaml": passing})
	keep := filepath.Join(w.root, "sessions")
	store := session.NewFSStore(keep, nil)
	wr, err := store.Open(context.Background(), "test-flow_one", true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := wr.Append(&session.Created{Session: "test-flow_one", Workflow: "other"}); err != nil {
		t.Fatal(err)
	}
	wr.Close()
	r := w.run(func(o *casetest.Options) { o.Keep = keep }).Results[0]
	wantIn(t, r.Error, `of workflow "other"`, "--session-prefix")
}

func TestUnusedCallsAreAWarningAndJobsHaveABound(t *testing.T) {
	r := runOne(t, document(says("a")+says("b")+says("c"), "- send: Hi\n- succeeded: true"))
	passes(t, r)
	if !slices.Equal(r.Warnings, []string{"2 calls of the cassette were not used: 2, 3"}) {
		t.Errorf("%q", r.Warnings)
	}
	for _, tt := range []struct {
		tests string
		jobs  int
		most  int
	}{{"", 0, 1}, {"tests: { maxConcurrency: 3 }\n", 0, 3}, {"tests: { maxConcurrency: 3 }\n", 2, 2}} {
		files := map[string]string{"workflows/flow/workflow.yaml": flow + tt.tests}
		for i := range 6 {
			files[fmt.Sprintf("%s%d.test.yaml", testsDir, i)] = passing
		}
		var mu sync.Mutex
		at, most := 0, 0
		newWorld(t, files).run(live(func(context.Context, *model.Request) (model.Response, error) {
			mu.Lock()
			at++
			most = max(most, at)
			mu.Unlock()
			time.Sleep(5 * time.Millisecond)
			mu.Lock()
			at--
			mu.Unlock()
			return model.Response{Text: "Hello."}, nil
		}), func(o *casetest.Options) { o.Jobs = tt.jobs })
		if most > tt.most {
			t.Errorf("%+v: %d at once", tt, most)
		}
	}
}
