package casetest_test

import (
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/archmax-ai/archmax/internal/casetest"
	"github.com/archmax-ai/archmax/internal/diag"
)

// flow declares 4 states, 4 edges (2 of them a person's) and 1 error route.
func TestCoverageIsHeldAgainstWhatTheSpecDeclares(t *testing.T) {
	w := newWorld(t, map[string]string{
		testsDir + "a.test.yaml": document(advances("review")+says("wait")+advances("review")+says("wait"), "- send: Hi\n- decide: { to: start }\n- parked: true"),
		testsDir + "b.test.yaml": document(conversation["errs"], "- send: Hi\n- reachedState: done"), // a failed case covers too
		testsDir + "c.test.yaml": failing + "skip: later\n",
	})
	c := w.run(func(o *casetest.Options) { o.Coverage = true }).Coverage
	want := &casetest.Coverage{
		Workflow: "flow", States: casetest.Share{Covered: 3, Total: 4}, Edges: casetest.Share{Covered: 2, Total: 4},
		HumanEdges: casetest.Share{Covered: 1, Total: 2}, ErrorRoutes: casetest.Share{Covered: 1, Total: 1}, Percent: 50,
	}
	items := c.Items
	c.Items = nil
	if d := cmp.Diff(want, c); d != "" {
		t.Error(d)
	}
	c.Items = items
	var lines []string
	for _, i := range c.Uncovered() {
		lines = append(lines, i.String())
	}
	if d := cmp.Diff([]string{
		"workflows/flow/workflow.yaml:17:15: edge start -> done was not taken",
		"workflows/flow/workflow.yaml:22:15: human edge review -> done was not decided",
		"workflows/flow/workflow.yaml:24:3: state done was not entered",
	}, lines); d != "" {
		t.Error(d)
	}
	for _, i := range items {
		if want := map[string]int{"start": 3, "review": 2, "help": 1}[i.State]; i.Kind == casetest.CoverState && i.Hits != want {
			t.Errorf("state %s: %d, want %d", i.State, i.Hits, want)
		}
	}
}

func TestCoverageAtTheMinimumPasses(t *testing.T) {
	w := newWorld(t, map[string]string{testsDir + "a.test.yaml": document(advances("done")+says("Bye."), "- send: Hi\n- succeeded: true")})
	for minimum, exit := range map[float64]int{25: 0, 25.1: 1} {
		s := w.run(func(o *casetest.Options) { o.CoverageMin = minimum })
		if s.ExitCode != exit {
			t.Errorf("%g%%: exit %d", minimum, s.ExitCode)
		}
		if exit == 1 && s.Error != "the cases take 25% of the edges (1 of 4), and --coverage-min wants 25.1%" {
			t.Error(s.Error)
		}
	}
}

// The shape of formats.md, "Suite": names, order, and what may be absent.
func TestTheDocumentHasThePublishedShape(t *testing.T) {
	w := newWorld(t, map[string]string{
		testsDir + "a.test.yaml": document("- text: Hello.\n  usage: { input: 10, output: 2 }\n- role: judge\n  text: '{\"score\": 0.5}'\n  usage: { input: 1, output: 1 }\n", "- send: Hi\n- succeeded: true\n- grade: { closedQA: 'Kind?', atLeast: 0.75 }"),
		testsDir + "b.test.yaml": passing + "skip: not yet\n",
	})
	s := w.run(func(o *casetest.Options) { o.Runtime.Prices = nil })
	for _, r := range s.Results {
		r.DurationMs = 12
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		t.Fatal(err)
	}
	want := `{"version":1,"workflow":"flow","results":[` +
		`{"id":"a","file":"workflows/flow/tests/a.test.yaml","title":"A case","status":"failed","sessionId":"test-flow_a","durationMs":12,` +
		`"usage":{"inputTokens":11,"outputTokens":3,"cacheReadTokens":0,"cacheCreationTokens":0,"modelCalls":2,"unknownCalls":0},` +
		`"failures":["step 2, grade: scored 0.5, needs 0.75: the judge gave no reason"],` +
		`"records":[{"kind":"send","status":"passed","step":0},{"kind":"succeeded","status":"passed","step":1},` +
		`{"kind":"grade","status":"failed","step":2,"detail":"scored 0.5, needs 0.75: the judge gave no reason","score":0.5,"threshold":0.75}],"warnings":[]},` +
		`{"id":"b","file":"workflows/flow/tests/b.test.yaml","title":"A case","status":"skipped","skipReason":"not yet","sessionId":"test-flow_b","durationMs":12,` +
		`"usage":{"inputTokens":0,"outputTokens":0,"cacheReadTokens":0,"cacheCreationTokens":0,"modelCalls":0,"unknownCalls":0},` +
		`"failures":[],"records":[{"kind":"send","status":"not-executed","step":0},{"kind":"succeeded","status":"not-executed","step":1}],"warnings":[]}],` +
		`"exitCode":1,"discovered":2}` + "\n"
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}

func TestJUnitTellsFailuresFromErrorsAndEscapesWhatItHolds(t *testing.T) {
	s := &casetest.Suite{Workflow: "flow", Error: "a & b", Results: []*casetest.Result{
		{ID: "ok", File: "f", Status: casetest.Passed, DurationMs: 1234, Warnings: []string{"mind <this>"}},
		{ID: "bad", Status: casetest.Failed, Failures: []string{"step 1: ]]> \x00\x1b[31m & \"quoted\"", "step 2: more"}},
		{ID: "broken", Status: casetest.Failed, Error: "the model failed", Failures: []string{"step 0: x"}},
		{ID: "later", Status: casetest.Skipped, SkipReason: "not yet"},
	}}
	raw, err := casetest.JUnit(s)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	if strings.ContainsAny(text, "\x00\x1b") || strings.Contains(text, "]]>") {
		t.Errorf("unsafe: %q", text)
	}
	var doc struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Skipped  int `xml:"skipped,attr"`
		Suites   []struct {
			Name  string `xml:"name,attr"`
			Time  string `xml:"time,attr"`
			Err   string `xml:"system-err"`
			Cases []struct {
				Name    string `xml:"name,attr"`
				Time    string `xml:"time,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
					Text    string `xml:",chardata"`
				} `xml:"failure"`
				Error *struct {
					Message string `xml:"message,attr"`
				} `xml:"error"`
				Skipped *struct {
					Message string `xml:"message,attr"`
				} `xml:"skipped"`
				Out string `xml:"system-out"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Tests != 5 || doc.Failures != 1 || doc.Errors != 2 || doc.Skipped != 1 || doc.Suites[0].Time != "1.234" || doc.Suites[0].Err != "a & b" {
		t.Errorf("%+v", doc)
	}
	cases := doc.Suites[0].Cases
	if cases[0].Out != "mind <this>" || cases[0].Time != "1.234" || cases[0].Failure != nil || cases[0].Error != nil {
		t.Errorf("%+v", cases[0])
	}
	if f := cases[1].Failure; f == nil || cases[1].Error != nil || !strings.Contains(f.Text, "step 2: more") || !strings.HasPrefix(f.Message, "step 1: ]]> \ufffd\ufffd[31m & \"quoted\"") {
		t.Errorf("%+v", f)
	}
	if e := cases[2].Error; e == nil || cases[2].Failure != nil || e.Message != "the model failed" {
		t.Errorf("%+v", e)
	}
	if k := cases[3].Skipped; k == nil || k.Message != "not yet" {
		t.Errorf("%+v", k)
	}
	if e := cases[4].Error; e == nil || cases[4].Name != "(suite)" || e.Message != "a & b" {
		t.Errorf("%+v", cases[4])
	}
}

// What makes a suite exit 1 beside its cases is an error in its report.
func TestAReportIsNotGreenWhenTheSuiteIsNot(t *testing.T) {
	place := diag.Diagnostic{Severity: diag.Error, Code: "bad-value", File: "workflows/flow/workflow.yaml", Message: "`x` is wrong", Range: diag.Range{Start: diag.Position{Line: 3, Column: 5}}}
	w := newWorld(t, map[string]string{testsDir + "a.test.yaml": passing})
	for _, tt := range []struct {
		name  string
		suite *casetest.Suite
		want  []string
		tests int
	}{
		{"a workflow that does not load", &casetest.Suite{Workflow: "flow", Broken: true, Error: "broken", Problems: diag.List{place}}, []string{`file="workflows/flow/workflow.yaml"`, `message="broken"`, "workflow.yaml:3:5"}, 1},
		{"a filter that matched none", w.run(func(o *casetest.Options) { o.Filter = "zzz" }), []string{"no cases matched &#39;zzz&#39; (1 discovered)"}, 1},
		{"too little coverage", w.run(func(o *casetest.Options) { o.CoverageMin = 100 }), []string{"--coverage-min wants 100%"}, 2},
		{"no cases", newWorld(t, nil).run(), []string{`message="no cases"`}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			raw, err := casetest.JUnit(tt.suite)
			if err != nil {
				t.Fatal(err)
			}
			var doc struct {
				Tests    int `xml:"tests,attr"`
				Errors   int `xml:"errors,attr"`
				Failures int `xml:"failures,attr"`
			}
			if err := xml.Unmarshal(raw, &doc); err != nil {
				t.Fatal(err)
			}
			if doc.Tests != tt.tests || doc.Errors != 1 || doc.Failures != 0 {
				t.Errorf("%+v", doc)
			}
			wantIn(t, string(raw), append(tt.want, "<error ", `classname="flow"`)...)
		})
	}
}
