package casetest

import (
	"fmt"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
)

// The statuses of a case.
const (
	Passed  = "passed"
	Failed  = "failed"
	Skipped = "skipped"
)

// The statuses of a step.
const (
	RecordPassed = "passed"
	RecordFailed = "failed"
	NotExecuted  = "not-executed"
)

// The exit codes of a suite.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitInterrupted = 130
)

// Suite is what the cases of one workflow came to (spec: formats.md, "Suite").
type Suite struct {
	Version    int       `json:"version"`
	Workflow   string    `json:"workflow"`
	Results    []*Result `json:"results"` // in the order of the cases
	ExitCode   int       `json:"exitCode"`
	Discovered int       `json:"discovered"`        // case files, filtered out ones included
	Skipped    string    `json:"skipped,omitempty"` // why no case was to run: a disabled workflow
	Error      string    `json:"error,omitempty"`   // what is wrong beside the results: no cases, none matched, too little coverage
	Coverage   *Coverage `json:"coverage,omitempty"`

	Broken   bool      `json:"-"` // the workflow cannot be run, as Error says: no case was read
	Problems diag.List `json:"-"` // what is wrong with a broken one, where it is known

	noneMatched bool
}

// Suites is the document of several workflows.
type Suites struct {
	Version  int      `json:"version"`
	Suites   []*Suite `json:"suites"`
	ExitCode int      `json:"exitCode"`
}

// Result is what one case came to, its runs taken together.
type Result struct {
	ID         string              `json:"id"`
	File       string              `json:"file"`
	Title      string              `json:"title"`
	Status     string              `json:"status"` // passed, failed, skipped
	SkipReason string              `json:"skipReason,omitempty"`
	SessionID  string              `json:"sessionId"`
	DurationMs int64               `json:"durationMs"`
	Usage      runtime.UsageReport `json:"usage"` // of the session and the judge, over all runs
	Failures   []string            `json:"failures"`
	Records    []StepRecord        `json:"records"`
	Error      string              `json:"error,omitempty"` // why the case could not be carried through
	Drift      *Drift              `json:"drift,omitempty"`
	Warnings   []string            `json:"warnings"`
	Repeat     *Repeat             `json:"repeat,omitempty"`

	Diagnostics diag.List `json:"-"` // of a case that cannot be run as it is written

	halted bool
	total  session.Usage
	taken  tally
}

// StepRecord is what one step came to.
type StepRecord struct {
	Kind      string   `json:"kind"`   // the step's key
	Status    string   `json:"status"` // passed, failed, not-executed
	Step      int      `json:"step"`   // index in `steps`, from 0
	Detail    string   `json:"detail,omitempty"`
	Score     *float64 `json:"score,omitempty"` // of grade
	Threshold *float64 `json:"threshold,omitempty"`
}

// Counts is how many cases passed, failed and were skipped. A workflow that
// cannot be run counts as one that failed.
func (s *Suite) Counts() (passed, failed, skipped int) {
	if s.Broken {
		failed++
	}
	for _, r := range s.Results {
		switch r.Status {
		case Passed:
			passed++
		case Failed:
			failed++
		default:
			skipped++
		}
	}
	return passed, failed, skipped
}

// Summary is the line of standard output: "N passed, N failed, N skipped" and
// what is wrong beside the cases, or why there is nothing to count.
func (s *Suite) Summary() string {
	if len(s.Results) == 0 {
		switch {
		case s.Skipped != "":
			return "skipped: " + s.Skipped
		case s.Error != "":
			return s.Error
		}
	}
	passed, failed, skipped := s.Counts()
	line := fmt.Sprintf("%d passed, %d failed, %d skipped", passed, failed, skipped)
	if s.Error != "" {
		line += "; " + s.Error
	}
	return line
}

// Combine puts the suites of several workflows together. A filter that matched
// cases in one of them is no mistake in the others.
func Combine(suites []*Suite) *Suites {
	all := &Suites{Version: 1, Suites: suites}
	matched := false
	for _, s := range suites {
		matched = matched || len(s.Results) > 0
	}
	for _, s := range suites {
		if s.noneMatched && matched {
			s.Error, s.ExitCode = "", ExitOK
		}
		all.ExitCode = max(all.ExitCode, s.ExitCode)
	}
	return all
}
