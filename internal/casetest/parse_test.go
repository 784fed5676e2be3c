package casetest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/archmax-ai/archmax/internal/casetest"
	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/spec"
)

// Every mistake has a code, a line and a hint where one helps. ⟦ marks the place.
func TestMistakesInACase(t *testing.T) {
	const send = "steps: [{ send: Hi }, { succeeded: true }]\n"
	after := func(step string) string {
		return "title: A\ndescription: What it is about.\nsteps:\n- send: Hi\n- " + step + "\n"
	}
	for _, tt := range []struct{ name, doc, code, says string }{
		{"no yaml", "title: [⟦\n", "yaml-syntax", ""},
		{"an unknown key lists the known ones", "title: A\ndescription: What it is about.\n⟦mock: []\n" + send, "unknown-key", "did you mean `mocks`? known keys: title, description, skip, trigger, variables, workspace, files, mocks, clock, model, steps"},
		{"no title", "⟦" + send, "missing-key", "`title` is missing"},
		{"a long title", "title: ⟦" + strings.Repeat("x ", 31) + "\n" + send, "bad-value", "`title` has 61 characters, and at most 60 are allowed"},
		{"a long description", "title: A\ndescription: ⟦" + strings.Repeat("x", 201) + "\n" + send, "bad-value", "at most 200"},
		{"no steps", "⟦title: A\ndescription: What it is about.\n", "missing-key", "`steps` is missing"},
		{"empty steps", "title: A\ndescription: What it is about.\nsteps: ⟦[]\n", "empty-value", "shows nothing"},
		{"nothing asserted", "title: A\ndescription: What it is about.\n⟦steps: [{ send: Hi }]\n", "empty-assertion", "cannot fail"},
		{"an assertion above every action", "title: A\ndescription: What it is about.\nsteps: [{ ⟦succeeded: true }, { send: Hi }]\n", "step-order", "no action above it"},
		{"a decision before anything is sent", "title: A\ndescription: What it is about.\nsteps: [{ ⟦decide: { to: done } }, { succeeded: true }]\n", "step-order", "no session waits for it"},
		{"an unknown step", after("⟦succeded: true"), "unknown-key", "did you mean `succeeded`?"},
		{"two keys in a step", after("⟦succeeded: true\n  usedNoTools: true"), "bad-value", "exactly one key, and this one has 2"},
		{"a false assertion", after("succeeded: ⟦false"), "bad-value", "takes `true` alone"},
		{"a quoted true", after("noTraversal: ⟦\"true\""), "wrong-type", "true or false"},
		{"a bad channel", after("parked: ⟦decided"), "bad-value", "one of: decision, input"},
		{"an unknown state", after("reachedState: ⟦dome"), "unknown-state", "did you mean `done`?"},
		{"an unknown state to be parked in", after("parked: { state: ⟦dome }"), "unknown-state", "no state `dome`"},
		{"an unknown state in the trail", after("trail: { to: ⟦dome, count: 1 }"), "unknown-state", "no state `dome`"},
		{"a decision nobody can take", after("decide: { to: ⟦help }\n- succeeded: true"), "unknown-state", "nobody can decide for it"},
		{"an expression that no state matches", after("trail: { to: ⟦/^dome/, count: 1 }"), "unknown-state", "no state `/^dome/`"},
		{"a first message without words", "title: A\ndescription: What it is about.\nsteps: [{ ⟦send: \" \" }, { succeeded: true }]\n", "empty-value", "the trigger `manual` has no `message`"},
		{"an unknown kind of step", after("trail: { kind: ⟦user, count: 1 }"), "bad-value", "one of: trigger"},
		{"a trail without a count", after("trail: ⟦{ to: done }"), "missing-key", "`count` is missing in `steps.1.trail`"},
		{"a negative count", after("trail: { count: ⟦-1 }"), "bad-value", "at least 0"},
		{"an unknown state in the cassette", "title: A\ndescription: What it is about.\nmodel: { calls: [⟦{ state: nowhere, text: x }] }\n" + send, "unknown-state", "no state `nowhere`"},
		{"an unknown trigger", "title: A\ndescription: What it is about.\ntrigger: { id: ⟦web-from }\n" + send, "unknown-trigger", "declares no trigger `web-from`"},
		{"an unknown trigger arrival", after("triggerArrival: ⟦mail"), "unknown-trigger", "no trigger `mail`"},
		{"a bad variable", "title: A\ndescription: What it is about.\nvariables: { ⟦orderId: 1 }\n" + send, "bad-variable", "no variable name"},
		{"the runtime's own variable", "title: A\ndescription: What it is about.\nvariables: { ⟦trigger: x }\n" + send, "bad-variable", "runtime's own"},
		{"a value without a JSON form", "title: A\ndescription: What it is about.\nvariables: { a: ⟦.nan }\n" + send, "wrong-type", "no JSON form"},
		{"a file that is a variable too", "title: A\ndescription: What it is about.\nvariables: { a: 1 }\nfiles: { ⟦a: there.txt }\n" + send, "bad-variable", "as a variable and as a file"},
		{"a fixture outside tests", "title: A\ndescription: What it is about.\nfiles: { a: ⟦../workflow.yaml }\n" + send, "bad-path", "below the workflow's tests/"},
		{"a fixture that is missing", "title: A\ndescription: What it is about.\nfiles: { a: ⟦none.txt }\n" + send, "fixture-missing", "workflows/flow/tests/none.txt cannot be read"},
		{"a missing fixture of the workspace", "title: A\ndescription: What it is about.\nworkspace: { x.md: { from: ⟦none.txt } }\n" + send, "fixture-missing", "none.txt"},
		{"a fixture that is a directory", "title: A\ndescription: What it is about.\nfiles: { a: ⟦dir }\n" + send, "fixture-missing", "is a directory"},
		{"a session path that climbs", "title: A\ndescription: What it is about.\nworkspace: { ⟦../x.md: y }\n" + send, "bad-path", "no path of a file in a session"},
		{"a session path of the runtime", "title: A\ndescription: What it is about.\nworkspace: { artifacts/x.md: ⟦y }\n" + send, "bad-path", "belongs to the runtime"},
		{"a cassette that is missing", "title: A\ndescription: What it is about.\nmodel: ⟦none.yaml\n" + send, "fixture-missing", "cassette workflows/flow/tests/none.yaml"},
		{"a cassette outside the workspace", "title: A\ndescription: What it is about.\nmodel: ⟦../../../../x.yaml\n" + send, "bad-path", "in the workspace"},
		{"a broken cassette in the case", "title: A\ndescription: What it is about.\nmodel: { calls: [⟦{ txt: x }] }\n" + send, "", "known keys: role"},
		{"a bad clock", "title: A\ndescription: What it is about.\nclock: ⟦yesterday\n" + send, "bad-value", "write 2026-06-01"},
		{"a mock that answers nothing", "title: A\ndescription: What it is about.\nmocks: [⟦{ tool: crm__lookup }]\n" + send, "missing-key", "has 0 of them"},
		{"a mock that answers twice", "title: A\ndescription: What it is about.\nmocks: [⟦{ tool: crm__lookup, result: a, error: b }]\n" + send, "missing-key", "has 2 of them"},
		{"a mock with no results", "title: A\ndescription: What it is about.\nmocks: [{ tool: crm__lookup, results: ⟦[] }]\n" + send, "empty-value", "answers nothing"},
		{"a mock of a control tool", "title: A\ndescription: What it is about.\nmocks: [{ tool: ⟦archmax_advance, result: a }]\n" + send, "mock-tool", "is a control tool"},
		{"a mock of an unknown workflow", "title: A\ndescription: What it is about.\nmocks: [{ tool: ⟦archmax_workflow_flew, result: a }]\n" + send, "unknown-workflow", "no workflow `flew`"},
		{"a malformed expression in a mock", "title: A\ndescription: What it is about.\nmocks: [{ tool: crm__lookup, whenInput: { q: ⟦/a(/ }, result: a }]\n" + send, "bad-pattern", "missing closing )"},
		{"a malformed expression", after("raised: ⟦/a(/"), "bad-pattern", "/a(/ is no regular expression"},
		{"a malformed expression deep down", after("variables: { expect: { a: { b: [⟦\"/[/\"] } } }"), "bad-pattern", "missing closing ]"},
		{"a malformed expression in a list", after("reply: { includes: [ok, ⟦/a(/] }"), "bad-pattern", "missing closing )"},
		{"flags of another language", after("reply: { excludes: ⟦/refund/gi }"), "bad-pattern", "the flags are i, m, s and U"},
		{"a reply that asserts nothing", after("reply: ⟦{}"), "empty-assertion", "give at least one of: includes, excludes"},
		{"no variable expected", after("variables: { expect: ⟦{} }"), "empty-assertion", "names no variable"},
		{"a path that is none", after("variables: { path: ⟦a..b, expect: 1 }"), "dotted-path", "no dotted path"},
		{"a tool without a name", after("calledTool: ⟦{ input: {} }"), "missing-key", "`name` is missing in `steps.1.calledTool`"},
		{"a rule of a call that passed", after("calledTool: { name: ls, ⟦rule: x }"), "unknown-key", "known keys: name, input"},
		{"an unknown workflow ran", after("ranWorkflow: { workflow: ⟦flew }"), "unknown-workflow", "no workflow `flew`"},
		{"a usage that bounds nothing", after("usage: ⟦{}"), "empty-assertion", "maxInputTokens"},
		{"a grade without a threshold", after("grade: ⟦{ closedQA: 'Kind?' }"), "missing-key", "atLeast"},
		{"a grade that cannot fail", after("grade: { closedQA: 'Kind?', atLeast: ⟦0 }"), "bad-value", "could not fail"},
		{"a grade above 1", after("grade: { closedQA: 'Kind?', atLeast: ⟦8 }"), "bad-value", "from 0 to 1"},
		{"a delivery without a trigger", after("deliver: ⟦{ message: x }\n- succeeded: true"), "missing-key", "`trigger` is missing in `steps.1.deliver`"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before, rest, marked := strings.Cut(tt.doc, "⟦")
			if !marked {
				t.Fatal("no place is marked")
			}
			line := 1 + strings.Count(before, "\n")
			w := newWorld(t, map[string]string{testsDir + "one.test.yaml": before + rest, testsDir + "there.txt": "x", testsDir + "dir/x.txt": "x"})
			list := casetest.Static(os.DirFS(w.root), w.machine())
			i := slices.IndexFunc(list, func(d diag.Diagnostic) bool {
				return (tt.code == "" || d.Code == tt.code) && strings.Contains(d.Message+"; "+d.Hint, tt.says)
			})
			if i < 0 {
				t.Fatalf("got %+v", list)
			}
			d := list[i]
			if d.File != testsDir+"one.test.yaml" || d.Range.Start.Line != line || d.Severity != diag.Error {
				t.Errorf("%s at %s, want line %d", d.Severity, d.Place(), line)
			}
			if column := len([]rune(before[strings.LastIndex(before, "\n")+1:])) + 1; tt.code != "yaml-syntax" && tt.code != "" && d.Range.Start.Column != column {
				t.Errorf("column %d, want %d", d.Range.Start.Column, column)
			}
			if _, ok := diag.Lookup(d.Code); !ok {
				t.Errorf("the code %s has no entry", d.Code)
			}
			// What is wrong statically is a failed case, and the others still run.
			w.write(map[string]string{testsDir + "two.test.yaml": passing})
			s := w.run()
			if s.Summary() != "1 passed, 1 failed, 0 skipped" || s.ExitCode != 1 || len(s.Results[0].Diagnostics) == 0 {
				t.Errorf("%s, exit %d", s.Summary(), s.ExitCode)
			}
			agrees(t, s)
		})
	}
}

func TestSoundCasesHaveNoProblems(t *testing.T) {
	w := newWorld(t, map[string]string{
		testsDir + "a.test.yaml":           passing,
		testsDir + "deep/er/b.test.yml":    passing,
		testsDir + "skipped.test.yaml":     "title: Old\ndescription: What it is about.\nskip: the state is gone\nsteps: [{ send: Hi }, { reachedState: gone }]\n",
		testsDir + "readme.yaml":           "not: a case",
		testsDir + "a.cassette.yaml":       "calls:\n  - text: x\n",
		testsDir + "notes/.test.yaml":      "no: case",
		testsDir + "delivered.test.yaml":   document(says("x"), "- send: Hi\n- deliver: { trigger: mail }\n- triggerArrival: mail"),
		testsDir + "expressions.test.yaml": document(says("x"), "- send: Hi\n- reply: { includes: /tmp/reports, excludes: /a/i }"),
	})
	if list := casetest.Static(os.DirFS(w.root), w.machine()); len(list) > 0 {
		t.Errorf("%+v", list)
	}
	found, err := casetest.Discover(os.DirFS(w.root), "flow")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, f := range found {
		ids = append(ids, f.ID)
	}
	if want := []string{"a", "deep/er/b", "delivered", "expressions", "skipped"}; !slices.Equal(ids, want) {
		t.Errorf("found %v, want %v", ids, want)
	}
}

func TestTwoCasesCannotHaveOneID(t *testing.T) {
	w := newWorld(t, map[string]string{testsDir + "a.test.yaml": passing, testsDir + "a.test.yml": passing})
	list := casetest.Static(os.DirFS(w.root), w.machine())
	if len(list) != 1 || list[0].Code != "duplicate-case" || list[0].File != testsDir+"a.test.yml" {
		t.Errorf("%+v", list)
	}
}

func TestABrokenCassetteIsReportedInItsOwnFile(t *testing.T) {
	w := newWorld(t, map[string]string{testsDir + "a.test.yaml": "title: A\ndescription: What it is about.\nsteps: [{ send: Hi }, { succeeded: true }]\n", testsDir + "a.cassette.yaml": "calls:\n  - txt: x\n"})
	list := casetest.Static(os.DirFS(w.root), w.machine())
	if len(list) == 0 || list[0].File != testsDir+"a.cassette.yaml" || list[0].Range.Start.Line != 2 {
		t.Errorf("%+v", list)
	}
}

func TestTitlesAreTakenTogether(t *testing.T) {
	c, list := casetest.Parse("workflows/flow/tests/a.test.yaml", "a", []byte("title: |\n  A   case\n  of   two\ndescription: D\n"+"steps: [{ send: Hi }, { succeeded: true }]\n"))
	if len(list) > 0 || c.Title != "A case of two" || c.ID != "a" {
		t.Errorf("%q %v", c.Title, list)
	}
}

// The matcher of cases.md: through the assertion that compares variables.
func TestTheMatcher(t *testing.T) {
	for _, tt := range []struct {
		want, got string // YAML, JSON
		matches   bool
	}{
		{"{}", `{"a":1}`, true},
		{"{}", `[]`, false},
		{"{ a: 1 }", `{"a":1,"b":2}`, true},
		{"{ a: { b: {} } }", `{"a":{"b":{"c":1}}}`, true},
		{"[]", `[]`, true},
		{"[]", `[1]`, false},
		{"[1, 2]", `[2, 1]`, false},
		{"[{ a: 1 }]", `[{"a":1,"b":2}]`, true},
		{"[1]", `{"0":1}`, false},
		{"1", `1.0`, true},
		{"1", `1e0`, true},
		{"100", `1E+2`, true},
		{"0.10", `1e-1`, true},
		{"1", `"1"`, false},
		{`"1"`, `1`, false},
		{"-0", `0`, true},
		{"9007199254740993", `9007199254740992`, false},
		{"9007199254740993", `9007199254740993.0`, true},
		{"1", `1e999999999999999999`, false},
		{"0.1", `0.10000000000000001`, false},
		{"10", `1`, false},
		{"-1", `1`, false},
		{"0", `0e5`, true},
		{"true", `true`, true},
		{"true", `"true"`, false},
		{"false", `null`, false},
		{"null", `null`, true},
		{"null", `0`, false},
		{"null", `""`, false},
		{"2026-01-01", `"2026-01-01"`, true},
		{"abc", `"abc"`, true},
		{"abc", `"abcd"`, false},
		{"/abc/", `"xabcx"`, true},
		{"/^ABC$/i", `"abc"`, true},
		{"/^abc$/", `"xabc"`, false},
		{"/1/", `1`, false},
		{"/a.b/s", `"a\nb"`, true},
		{"/a.b/", `"a\nb"`, false},
		{"/^b$/m", `"a\nb"`, true},
		{"/tmp/x", `"/tmp/x"`, true},
		{"/tmp/x", `"/tmp/xy"`, false},
	} {
		raw, err := json.Marshal("{\"v\":" + tt.got + "}")
		if err != nil {
			t.Fatal(err)
		}
		talk := "- tool_calls:\n    - { name: write_file, args: { file_path: v.json, content: " + string(raw) + " } }\n" + says("ok")
		r := runOne(t, document(talk, "- send: Hi\n- file: { path: v.json, json: { v: "+tt.want+" } }"))
		if r.Error != "" || (r.Status == casetest.Passed) != tt.matches {
			t.Errorf("%s against %s: %s %q %q", tt.want, tt.got, r.Status, r.Error, r.Failures)
		}
	}
}

func TestSettingsOfTheTestsBlock(t *testing.T) {
	m, list := spec.Parse("flow", "workflows/flow/workflow.yaml", []byte(flow+"tests: { maxConcurrency: 3, caseTimeoutMs: 5, hostTools: real, judge: { model: j, modelOptions: { temperature: 0.5, maxTokens: 7 } } }\n"))
	if list.HasErrors() {
		t.Fatal(list)
	}
	s := casetest.SettingsOf(m)
	if s.MaxConcurrency != 3 || s.CaseTimeout.Milliseconds() != 5 || !s.RealTools || s.Judge.Model != "j" || *s.Judge.Temperature != 0.5 || s.Judge.MaxTokens != 7 {
		t.Errorf("%+v", s)
	}
	m, _ = spec.Parse("flow", "workflows/flow/workflow.yaml", []byte(flow))
	if s := casetest.SettingsOf(m); s.CaseTimeout.Milliseconds() != 120000 || s.RealTools || s.MaxConcurrency != 0 || s.Judge != (casetest.Judge{}) {
		t.Errorf("%+v", s)
	}
}

// Junk is an ordinary problem of a case, never a crash.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		passing, failing, document(conversation["errs"], "- send: Hi\n- trail: { to: help, count: 1 }", "clock: 2026-01-01\nmocks: [{ tool: a, results: [1] }]"),
		"steps: [{ grade: { closedQA: a, atLeast: 1e-5 } }, {}, [], null, { variables: { expect: &a [*a] } }]", "title: !x y", "a: &a { <<: *a }", "steps:\n- reply: { includes: [/(/, [], {}] }",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		c, list := casetest.Parse("workflows/flow/tests/x.test.yaml", "x", []byte(doc))
		if c == nil {
			t.Fatal("no case")
		}
		for _, d := range list {
			if d.Message == "" || d.File == "" {
				t.Errorf("%+v", d)
			}
			if _, ok := diag.Lookup(d.Code); !ok {
				t.Errorf("the code %s has no entry", d.Code)
			}
		}
		if !list.HasErrors() && (c.Title == "" || len(c.Steps) == 0) {
			t.Errorf("a sound case without a title or steps: %q", doc)
		}
	})
}

// What stops no case but is hardly meant is a warning.
func TestWhatIsHardlyMeantInACaseIsWarnedOf(t *testing.T) {
	mocking := func(tool string) string {
		return document(says("Hi."), "- send: Hi\n- succeeded: true", "mocks: [ { tool: "+tool+", result: ok } ]")
	}
	for _, tt := range []struct{ name, tool, config, says string }{
		{"a mock of a tool that nobody names", "crm__lokup", "", "`crm__lokup` is no built-in tool"},
		{"the bare name of a granted tool", "lookup", "", "`lookup` is no built-in tool"},
		{"a granted tool", "crm__lookup", "", ""},
		{"a built-in", "read_file", "", ""},
		{"a tool of archmax.yaml", "search", "tools: { search: { command: [./search] } }\n", ""},
		{"a tool of a server", "docs__find", "mcp_servers: { docs: { command: [./docs] } }\n", ""},
		{"an essential tool", "clock", "essential_tools: [clock]\n", ""},
		{"a tool that archmax.yaml does not declare", "find", "mcp_servers: { docs: { command: [./docs] } }\n", "`find` is no built-in tool"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{testsDir + "one.test.yaml": mocking(tt.tool), "archmax.yaml": tt.config})
			list := casetest.Static(os.DirFS(w.root), w.machine())
			if tt.says == "" {
				if len(list) > 0 {
					t.Errorf("got %+v", list)
				}
				return
			}
			if len(list) != 1 || list[0].Severity != diag.Warning || list[0].Code != "mock-tool" {
				t.Fatalf("got %+v", list)
			}
			wantIn(t, list[0].Message, tt.says)
		})
	}
}

func TestALinkedFolderOfCasesIsWarnedOf(t *testing.T) {
	w := newWorld(t, map[string]string{testsDir + "one.test.yaml": passing, "elsewhere/two.test.yaml": passing})
	if err := os.Symlink("../../../elsewhere", filepath.Join(w.root, testsDir, "linked")); err != nil {
		t.Fatal(err)
	}
	list := casetest.Static(os.DirFS(w.root), w.machine())
	if len(list) != 1 || list[0].Severity != diag.Warning || list[0].File != testsDir+"linked" || !strings.Contains(list[0].Message, "not followed") {
		t.Errorf("got %+v", list)
	}
}

func TestWordsMayComeFromTheVariablesOrNotAtAll(t *testing.T) {
	for _, trigger := range []string{"{ message: text }", "{ message: false }"} {
		w := newWorld(t, map[string]string{
			"workflows/flow/workflow.yaml": "title: F\ninstructions: Be kind.\nstates: { start: { instructions: Work., triggers: { manual: " + trigger + " } } }\n",
			testsDir + "one.test.yaml":     document(says("Hi."), "- send: ''\n- succeeded: true", "variables: { text: Hello }"),
		})
		if r := w.run().Results[0]; r.Status != casetest.Passed {
			t.Errorf("%s: %q %q", trigger, r.Error, r.Failures)
		}
	}
}

func TestAMockThatNeverAnsweredIsToldOf(t *testing.T) {
	mocks := "mocks:\n  - { tool: crm__lookup, whenInput: { id: 1 }, result: one }\n  - { tool: crm__lookup, result: any }\n  - { tool: ls, result: nothing }"
	r := runOne(t, document(calls(tool("crm__lookup", "{ id: 1 }"))+says("ok"), "- send: Hi\n- succeeded: true", mocks))
	if r.Status != casetest.Passed || len(r.Warnings) != 1 || r.Warnings[0] != "2 mocks were not used: 1 (crm__lookup), 2 (ls)" {
		t.Errorf("%s %q %q", r.Status, r.Error, r.Warnings)
	}
}

func TestAFileForAReadOnlyMountIsAMistake(t *testing.T) {
	w := newWorld(t, map[string]string{
		testsDir + "one.test.yaml": document(says("Hi."), "- send: Hi\n- succeeded: true", "workspace: { catalog/x.md: y }"),
	})
	for _, tt := range []struct {
		name   string
		mounts []governance.Mount
		wrong  bool
	}{
		{"a read-only mount", []governance.Mount{{Name: "catalog", ReadOnly: true}}, true},
		{"a writable mount, which sessions share", []governance.Mount{{Name: "catalog"}}, true},
		{"another mount", []governance.Mount{{Name: "skills", ReadOnly: true}}, false},
		{"mounts that are not known", nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list := casetest.Static(os.DirFS(w.root), w.machine(), tt.mounts...)
			if !tt.wrong {
				if len(list) > 0 {
					t.Errorf("got %+v", list)
				}
				return
			}
			if len(list) != 1 || list[0].Severity != diag.Error || list[0].Code != "bad-path" {
				t.Fatalf("got %+v", list)
			}
			wantIn(t, list[0].Message, "`catalog/x.md` is in the mount `catalog`")
		})
	}
}

// A suite knows the mounts of its workspace, so the case fails before it runs.
func TestACaseThatPlacesAFileInASkillIsNotRun(t *testing.T) {
	w := newWorld(t, map[string]string{
		"skills/refunds/SKILL.md":  "---\nname: refunds\ndescription: How to refund.\n---\n",
		testsDir + "one.test.yaml": document(says("Hi."), "- send: Hi\n- succeeded: true", "workspace: { skills/x.md: y }"),
	})
	r := w.run().Results[0]
	if r.Status != casetest.Failed || told(r) != "send not-executed, succeeded not-executed" || len(r.Failures) != 1 {
		t.Fatalf("%s %s %q", r.Status, told(r), r.Failures)
	}
	wantIn(t, r.Failures[0], "in the mount `skills`")
}
