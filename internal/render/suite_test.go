package render

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/archmax-ai/archmax/internal/casetest"
	"github.com/archmax-ai/archmax/internal/diag"
)

// A suite with a case of every fate.
var suite = &casetest.Suite{
	Version: 1, Workflow: "order-lookup", Discovered: 6, ExitCode: 1,
	Error: "the cases take 50% of the edges (1 of 2), and --coverage-min wants 90%",
	Results: []*casetest.Result{
		{
			ID: "answer", File: "workflows/order-lookup/tests/answer.test.yaml", Status: casetest.Passed, DurationMs: 12, Warnings: []string{"call 3 of the cassette was not used"},
			Records: []casetest.StepRecord{{Kind: "send", Status: casetest.RecordPassed}, {Kind: "grade", Status: casetest.RecordPassed, Step: 1, Score: ptr(0.9), Threshold: ptr(0.75)}},
		},
		{ID: "flaky", File: "workflows/order-lookup/tests/flaky.test.yaml", Status: casetest.Passed, DurationMs: 2340, Repeat: &casetest.Repeat{Runs: 10, Passed: 9, Low: 0.5958, High: 0.9822}},
		{
			ID: "refund/approved", File: "workflows/order-lookup/tests/refund/approved.test.yaml", Status: casetest.Failed, DurationMs: 31,
			Failures: []string{`step 1, reply: expected what the agent said to include "100%"; it is "a\x1b[31m"`},
			Records: []casetest.StepRecord{
				{Kind: "send", Status: casetest.RecordPassed},
				{Kind: "reply", Status: casetest.RecordFailed, Step: 1, Detail: "expected what the agent said to include \"100%\"; it is \"a\x1b[31m\""},
				{Kind: "reachedState", Status: casetest.RecordFailed, Step: 2, Detail: `expected the trail to reach "done"; the trail is triage (trigger)`},
				{Kind: "succeeded", Status: casetest.NotExecuted, Step: 3},
			},
		},
		{
			ID: "refund/drifted", File: "workflows/order-lookup/tests/refund/drifted.test.yaml", Status: casetest.Failed, DurationMs: 4, Error: "cassette drift at call 2 of cassette refund.yaml:7: expected state \"lookup\", asked in state \"triage\"; record it again",
			Records: []casetest.StepRecord{
				{Kind: "send", Status: casetest.RecordFailed, Detail: "cassette drift at call 2 of cassette refund.yaml:7: expected state \"lookup\", asked in state \"triage\"; record it again"},
				{Kind: "succeeded", Status: casetest.NotExecuted, Step: 1},
			},
			Drift: &casetest.Drift{Call: 2, File: "refund.yaml", Line: 7, Checks: []casetest.DriftCheck{
				{What: "role", Expected: "agent", Asked: "agent"}, {What: "state", Expected: "lookup", Asked: "triage"}, {What: "last", Asked: "Where is my order?"},
			}},
		},
		{
			ID: "typo", File: "workflows/order-lookup/tests/typo.test.yaml", Status: casetest.Failed, Error: "the case cannot be run as it is written",
			Diagnostics: diag.List{{
				Severity: diag.Error, Code: "unknown-key", Message: "`colour` is no key here", Hint: "known keys: title, steps",
				File: "workflows/order-lookup/tests/typo.test.yaml", Range: diag.Range{Start: diag.Position{Line: 3, Column: 1}},
			}},
		},
		{ID: "waits", File: "workflows/order-lookup/tests/waits.test.yaml", Status: casetest.Skipped, SkipReason: "not yet", Records: []casetest.StepRecord{{Kind: "send", Status: casetest.NotExecuted}}},
	},
	Coverage: &casetest.Coverage{
		Workflow: "order-lookup", States: casetest.Share{Covered: 2, Total: 3}, Edges: casetest.Share{Covered: 1, Total: 2}, HumanEdges: casetest.Share{}, Percent: 50,
		ErrorRoutes: casetest.Share{Covered: 1, Total: 1},
		Items: []casetest.CoveredItem{
			{Kind: casetest.CoverState, State: "triage", Hits: 3, File: "workflows/order-lookup/workflow.yaml", Line: 4, Column: 3},
			{Kind: casetest.CoverEdge, State: "triage", To: "escalate", File: "workflows/order-lookup/workflow.yaml", Line: 12, Column: 9},
			{Kind: casetest.CoverState, State: "escalate", File: "workflows/order-lookup/workflow.yaml", Line: 20, Column: 3},
		},
	},
}

func stepAt(_ string, step int) diag.Position { return diag.Position{Line: 10 + step, Column: 5} }

func reported(st Style, opts SuiteOptions) func(io.Writer) error {
	return func(w io.Writer) error {
		opts.Place = stepAt
		r := NewSuiteReport(w, st, opts)
		r.Workflow(suite.Workflow)
		for _, res := range suite.Results {
			r.Result(res)
		}
		r.Close()
		return nil
	}
}

func TestASuiteIsToldCaseByCase(t *testing.T) {
	piped := golden(t, "suite.txt", reported(pipe, SuiteOptions{}))
	golden(t, "suite_console.txt", reported(console, SuiteOptions{Steps: true}))
	quiet := golden(t, "suite_quiet.txt", reported(pipe, SuiteOptions{Quiet: true}))
	for _, want := range []string{
		"[ok] answer  12 ms\n", "[ok] flaky  9 of 10 runs passed, 95% interval 0.5958 to 0.9822, 2.3 s\n", "[failed] refund/approved", "[skipped] waits  skipped: not yet\n",
		"workflows/order-lookup/tests/refund/approved.test.yaml:11:5: step 1, reply: expected", "1 step not executed\n",
	} {
		if !strings.Contains(piped, want) {
			t.Errorf("%q is not in:\n%s", want, piped)
		}
	}
	if strings.Contains(piped, "\x1b") {
		t.Error("an escape sequence of an answer reached the stream")
	}
	if strings.Contains(quiet, "answer") || strings.Contains(quiet, "waits") || strings.Count(quiet, "[failed]") != 3 {
		t.Errorf("quiet tells failed cases alone, got:\n%s", quiet)
	}
}

func TestASuiteIsAnnotatedForGitHub(t *testing.T) {
	got := golden(t, "suite_github.txt", func(w io.Writer) error { return SuiteGitHub(w, suite, stepAt) })
	for _, want := range []string{
		"::error file=workflows/order-lookup/tests/refund/approved.test.yaml,line=11,col=5,title=order-lookup/refund/approved::step 1, reply: expected what the agent said to include \"100%25\"",
		"::error file=workflows/order-lookup/tests/typo.test.yaml,line=3,col=1,", "%0Astate: expected lookup, asked triage",
		"::notice file=workflows/order-lookup/workflow.yaml,line=12,col=9,title=order-lookup%3A not covered::edge triage -> escalate was not taken\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
	for line := range strings.Lines(got) {
		if !strings.HasPrefix(line, "::") {
			t.Errorf("a line that is no annotation: %q", line)
		}
	}
}

// A suite that is wrong beside its cases is annotated where the fault is.
func TestWhatIsWrongBesideTheCasesIsAnnotated(t *testing.T) {
	file := "workflows/d/workflow.yaml"
	for _, tt := range []struct {
		name, want string
		suite      casetest.Suite
	}{
		{"a workflow that does not load", "::error file=workflows/d/workflow.yaml,line=3,col=5,title=d%3A bad-value::`x` is wrong%0Amend it\n", casetest.Suite{
			Workflow: "d", Error: "invalid", Broken: true, Problems: diag.List{
				{Severity: diag.Warning, Code: "w", File: file, Message: "mind"},
				{Severity: diag.Error, Code: "bad-value", File: file, Message: "`x` is wrong", Hint: "mend it", Range: diag.Range{Start: diag.Position{Line: 3, Column: 5}}},
			},
		}},
		{"one that cannot be run", "::error title=d::a policy\n", casetest.Suite{Workflow: "d", Error: "a policy", Broken: true}},
		{"no cases", "::error title=d::no cases\n", casetest.Suite{Workflow: "d", Error: "no cases"}},
		{"too little coverage", "::error file=workflows/d/workflow.yaml,title=d::too little\n", casetest.Suite{
			Workflow: "d", Error: "too little", Coverage: &casetest.Coverage{Items: []casetest.CoveredItem{{Kind: casetest.CoverState, State: "s", Hits: 1, File: file, Line: 1, Column: 1}}},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := SuiteGitHub(&b, &tt.suite, stepAt); err != nil || b.String() != tt.want {
				t.Errorf("got %q, want %q (%v)", b.String(), tt.want, err)
			}
		})
	}
}

func TestADisabledWorkflowSaysWhyNothingRan(t *testing.T) {
	for quiet, want := range map[bool]string{false: "off\n[skipped] skipped: the workflow is disabled\n", true: ""} {
		var b bytes.Buffer
		r := NewSuiteReport(&b, pipe, SuiteOptions{Quiet: quiet})
		r.Workflow("off")
		r.Skipped("the workflow is disabled")
		r.Close()
		if b.String() != want {
			t.Errorf("quiet %t: got %q, want %q", quiet, b.String(), want)
		}
	}
}

func TestCoverageIsATableAndALineForEachGap(t *testing.T) {
	golden(t, "coverage.txt", func(w io.Writer) error { return SuiteCoverage(w, pipe, suite.Coverage) })
	golden(t, "coverage_console.txt", func(w io.Writer) error { return SuiteCoverage(w, console, suite.Coverage) })
}

func TestTheProgressLineIsForTerminalsAlone(t *testing.T) {
	at := casetest.Progress{Case: "refund", Started: true, Done: 3, Total: 12, Passed: 2, Failed: 1, Running: []string{"answer", "refund"}}
	now := start
	tell := func(st Style, opts SuiteOptions) string {
		now = start
		var b bytes.Buffer
		opts.Now = func() time.Time { return now }
		r := NewSuiteReport(&b, st, opts)
		now = start.Add(4 * time.Second)
		r.Progress(at)
		r.Result(suite.Results[0])
		r.Close()
		r.Close() // closing twice is harmless
		return b.String()
	}
	got := tell(console, SuiteOptions{Live: true})
	if !strings.Contains(got, "3/12 · 2 passed · 1 failed · 4s · answer, refund") {
		t.Errorf("no progress in %q", got)
	}
	if !strings.HasSuffix(got, eraseLine) {
		t.Errorf("the line stays on the screen: %q", got)
	}
	for name, plain := range map[string]string{
		"a pipe": tell(pipe, SuiteOptions{Live: true}), "CI": tell(console, SuiteOptions{}),
	} {
		if strings.Contains(plain, eraseLine) || strings.Contains(plain, "3/12") {
			t.Errorf("%s gets a progress line: %q", name, plain)
		}
	}
}

func TestTheLineOfSeveralSuitesIsTheirSum(t *testing.T) {
	passed := &casetest.Suite{Workflow: "a", Discovered: 2, Results: []*casetest.Result{{Status: casetest.Passed}, {Status: casetest.Skipped}}}
	failed := &casetest.Suite{Workflow: "b", Discovered: 1, Results: []*casetest.Result{{Status: casetest.Failed}}}
	empty := &casetest.Suite{Workflow: "c", Error: "no cases"}
	broken := &casetest.Suite{Workflow: "d", Error: "invalid", Broken: true}
	uncovered := &casetest.Suite{Workflow: "e", Error: "too little", Discovered: 1, Results: []*casetest.Result{{Status: casetest.Passed}}}
	off := &casetest.Suite{Discovered: 3, Skipped: "the workflow is disabled"}
	none := func(n int) *casetest.Suite {
		return &casetest.Suite{Discovered: n, Error: "no cases matched 'x'"}
	}
	for _, tt := range []struct {
		name, filter, want string
		suites             []*casetest.Suite
	}{
		{"cases of two", "", "1 passed, 1 failed, 1 skipped", []*casetest.Suite{passed, failed}},
		{"one of them is empty", "", "1 passed, 0 failed, 1 skipped; c: no cases", []*casetest.Suite{passed, empty}},
		{"all are empty", "", "no cases", []*casetest.Suite{empty, empty}},
		{"one alone is disabled", "", "skipped: the workflow is disabled", []*casetest.Suite{off}},
		{"a filter matched none", "x", "no cases matched 'x' (9 discovered)", []*casetest.Suite{none(4), none(5)}},
		{"a broken one counts as failed", "", "1 passed, 1 failed, 1 skipped; d: cannot be run", []*casetest.Suite{passed, broken}},
		{"a broken one and an empty one", "", "0 passed, 1 failed, 0 skipped; d: cannot be run; c: no cases", []*casetest.Suite{broken, empty}},
		{"two broken ones", "", "0 passed, 2 failed, 0 skipped; d: cannot be run; d: cannot be run", []*casetest.Suite{broken, broken}},
		{"a broken one, and a filter that matched none", "x", "0 passed, 1 failed, 0 skipped; : no cases matched 'x'; d: cannot be run", []*casetest.Suite{none(4), broken}},
		{"one alone that covers too little", "", "1 passed, 0 failed, 0 skipped; too little", []*casetest.Suite{uncovered}},
		{"one of several that covers too little", "", "2 passed, 0 failed, 1 skipped; e: too little", []*casetest.Suite{passed, uncovered}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := SuiteSummary(tt.suites, tt.filter); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
