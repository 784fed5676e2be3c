package casetest

import (
	"context"
	"fmt"
	stdruntime "runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
)

// Options is what a suite runs with. All of it is chosen once, at the edge.
type Options struct {
	Machine *spec.Machine
	// Runtime is the template of every case's runtime. Its Root is the workspace,
	// where cases and fixtures are read; Shared its mounts; HostTools the
	// workspace's, which run only with real tools. Store, Client, Events, Clock
	// and Mock are the case's own, and are not looked at.
	Runtime runtime.Options
	// NewClient makes the client of the live endpoint, for all roles; the judge's
	// options are those of `tests.judge`. It is called once, when the first case
	// asks, and nil where there is no endpoint.
	NewClient func(Judge) (model.Client, error)
	Dir       string   // the root's path on disk: where recorded cassettes are written
	Secrets   []string // what no recording may hold

	Live      bool    // --live
	Record    Record  // --record, --record=all; "" records nothing
	RealTools bool    // --real-tools
	Filter    string  // keeps the cases whose id contains it
	Jobs      int     // cases at a time; 0: tests.maxConcurrency, else the number of CPUs, 1 with a live model
	Repeat    int     // runs of each case; 0 and 1 are one
	MinPass   float64 // rate of runs that must pass, 0 < r <= 1; 0: all
	FailFast  bool    // cases after the first that fails do not run
	Keep      string  // the sessions folder that sessions are kept in; "": nowhere

	SessionPrefix string // "" : DefaultSessionPrefix
	Coverage      bool
	CoverageMin   float64 // percent of edges, else the suite fails; 0: none

	Progress func(Progress) // nil: nobody watches
	Result   func(*Result)  // called with each result, in the order of the cases
}

// Progress is one run of a case that has started or ended. Done counts runs; the
// other counts and Total too.
type Progress struct {
	Case                    string
	Run                     int           // of the case, from 1
	Started                 bool          // else it has ended
	Status                  string        // of a run that has ended
	Took                    time.Duration // of a run that has ended
	Done, Total             int
	Passed, Failed, Skipped int
	Running                 []string // ids of the cases at work, in order
}

// OptionError is a misuse of Options, worded for a person: a usage error.
type OptionError struct{ Message string }

func (e *OptionError) Error() string { return e.Message }

// suite is one Run at work. Its fields do not change while cases run.
type suite struct {
	o        Options
	settings Settings

	liveOnce   sync.Once
	liveClient model.Client
	liveErr    error
}

// Run runs the cases of a workflow. The error is an *OptionError, or that the
// cases cannot be listed: whatever goes wrong with a case is in its result. When
// ctx ends, cases at work are cancelled and the rest is not run; the suite comes
// all the same, with ExitInterrupted.
func Run(ctx context.Context, o Options) (*Suite, error) {
	s := &suite{o: o, settings: SettingsOf(o.Machine)}
	if err := s.check(); err != nil {
		return nil, err
	}
	out := &Suite{Version: 1, Workflow: o.Machine.Slug, Results: []*Result{}}
	var mounts []governance.Mount
	if o.Runtime.Shared != nil {
		mounts = o.Runtime.Shared.Table()
	}
	cases, err := readAll(o.Runtime.Root, o.Machine, mounts)
	if err != nil {
		return nil, err
	}
	out.Discovered = len(cases)
	if o.Machine.Disabled {
		out.Skipped = "the workflow is disabled"
		return out, nil
	}
	chosen := slices.DeleteFunc(cases, func(c readCase) bool { return !strings.Contains(c.ID, o.Filter) })
	switch {
	case out.Discovered == 0:
		out.Error, out.ExitCode = "no cases", ExitFailed
		return out, nil
	case len(chosen) == 0:
		out.Error = fmt.Sprintf("no cases matched '%s' (%d discovered)", o.Filter, out.Discovered)
		out.ExitCode, out.noneMatched = ExitFailed, true
		return out, nil
	}
	s.runAll(ctx, chosen, out)
	s.judgeSuite(ctx, out)
	return out, nil
}

func (s *suite) check() error {
	o := &s.o
	bad := func(format string, args ...any) error { return &OptionError{fmt.Sprintf(format, args...)} }
	switch {
	case o.Repeat > 1 && o.Record != "":
		return bad("--record records one run of a case; leave --repeat out")
	case o.Live && o.Record == RecordMissing:
		return bad("--live asks the endpoint in every case and --record where a cassette is missing; give one of the two, or --record=all")
	case o.Record != "" && o.Dir == "":
		return bad("--record needs a workspace on disk")
	case o.MinPass < 0 || o.MinPass > 1:
		return bad("--min-pass is a rate above 0 and up to 1, not %g", o.MinPass)
	case o.CoverageMin < 0 || o.CoverageMin > 100:
		return bad("--coverage-min is a percentage from 0 to 100, not %g", o.CoverageMin)
	}
	o.Repeat = max(o.Repeat, 1)
	if o.MinPass == 0 {
		o.MinPass = 1
	}
	if o.SessionPrefix == "" {
		o.SessionPrefix = DefaultSessionPrefix
	}
	if err := session.CheckID(s.sessionID("case", 1)); err != nil {
		return bad("--session-prefix %q makes no session ids: %s", o.SessionPrefix, err)
	}
	return nil
}

// jobs is how many runs are at work at once.
func (s *suite) jobs() int {
	switch {
	case s.o.Jobs > 0:
		return s.o.Jobs
	case s.settings.MaxConcurrency > 0:
		return s.settings.MaxConcurrency
	case s.o.Live || s.o.Record != "":
		return 1
	}
	return stdruntime.NumCPU()
}

// unit is one run of one case.
type unit struct {
	at, n  int // index of the case; number of the run, from 0
	cancel context.CancelFunc
	result *Result
}

// runAll runs the cases and puts their results into out, in order.
func (s *suite) runAll(ctx context.Context, cases []readCase, out *Suite) {
	runs := make([][]*Result, len(cases))
	left := make([]int, len(cases))
	var units []*unit
	for i := range cases {
		runs[i], left[i] = make([]*Result, s.o.Repeat), s.o.Repeat
		for n := range s.o.Repeat {
			units = append(units, &unit{at: i, n: n})
		}
	}
	p := &progress{report: s.o.Progress, total: len(units), cases: cases}
	done := make(chan *unit, len(units)) // buffered: no run outlives its reader
	var running []*unit
	next, emitted, failedAt := 0, 0, len(cases) // failedAt: with --fail-fast, the first case that failed
	emit := func() {
		for emitted < len(cases) && left[emitted] == 0 && emitted <= failedAt {
			s.emit(out, together(runs[emitted], s.o.MinPass))
			emitted++
		}
	}
	for {
		for len(running) < s.jobs() && next < len(units) && ctx.Err() == nil && units[next].at <= failedAt {
			u := units[next]
			next++
			var own context.Context
			own, u.cancel = context.WithCancel(ctx)
			running = append(running, u)
			p.started(u, running)
			go func() {
				u.result = s.runCase(own, cases[u.at], u.n+1)
				done <- u
			}()
		}
		if len(running) == 0 {
			break
		}
		u := <-done
		u.cancel()
		running = slices.DeleteFunc(running, func(r *unit) bool { return r == u })
		runs[u.at][u.n] = u.result
		left[u.at]--
		p.ended(u, running)
		if s.o.FailFast && left[u.at] == 0 && u.at < failedAt && together(runs[u.at], s.o.MinPass).Status == Failed {
			failedAt = u.at
			for _, r := range running {
				if r.at > failedAt {
					r.cancel()
				}
			}
		}
		emit()
	}
	// What is left did not run, or was cancelled on the way: after a failure with
	// --fail-fast, and after an interrupt.
	for ; emitted < len(cases); emitted++ {
		why := "not run: an earlier case failed (--fail-fast)"
		if emitted <= failedAt {
			why = "not run: the suite was interrupted"
			if ran := slices.DeleteFunc(runs[emitted], func(r *Result) bool { return r == nil }); len(ran) > 0 {
				s.emit(out, together(ran, s.o.MinPass))
				continue
			}
		}
		c := cases[emitted]
		s.emit(out, &Result{
			ID: c.ID, File: c.File, Title: c.Title, Status: Skipped, SkipReason: why, SessionID: s.sessionID(c.ID, 1),
			Usage: runtime.ReportUsage(session.Usage{}), Failures: []string{}, Records: c.notExecuted(), Warnings: []string{},
		})
	}
}

func (s *suite) emit(out *Suite, r *Result) {
	out.Results = append(out.Results, r)
	if s.o.Result != nil {
		s.o.Result(r)
	}
}

// judgeSuite settles the exit code and the coverage.
func (s *suite) judgeSuite(ctx context.Context, out *Suite) {
	_, failed, _ := out.Counts()
	if failed > 0 {
		out.ExitCode = ExitFailed
	}
	if s.o.Coverage || s.o.CoverageMin > 0 {
		var t tally
		for _, r := range out.Results {
			t.add(r.taken)
		}
		out.Coverage = coverage(s.o.Machine, t)
		if out.Coverage.Percent < s.o.CoverageMin {
			out.Error = fmt.Sprintf("the cases take %g%% of the edges (%d of %d), and --coverage-min wants %g%%",
				out.Coverage.Percent, out.Coverage.Edges.Covered, out.Coverage.Edges.Total, s.o.CoverageMin)
			out.ExitCode = ExitFailed
		}
	}
	if ctx.Err() != nil {
		out.Error, out.ExitCode = "interrupted", ExitInterrupted
	}
}

// progress tells how far a suite is.
type progress struct {
	report func(Progress)
	cases  []readCase
	total  int
	at     Progress
}

func (p *progress) started(u *unit, running []*unit) {
	p.at.Started, p.at.Status, p.at.Took = true, "", 0
	p.tell(u, running)
}

func (p *progress) ended(u *unit, running []*unit) {
	p.at.Started, p.at.Status, p.at.Took = false, u.result.Status, time.Duration(u.result.DurationMs)*time.Millisecond
	p.at.Done++
	switch u.result.Status {
	case Passed:
		p.at.Passed++
	case Failed:
		p.at.Failed++
	default:
		p.at.Skipped++
	}
	p.tell(u, running)
}

func (p *progress) tell(u *unit, running []*unit) {
	if p.report == nil {
		return
	}
	at := p.at
	at.Case, at.Run, at.Total = p.cases[u.at].ID, u.n+1, p.total
	for _, r := range running {
		at.Running = append(at.Running, p.cases[r.at].ID)
	}
	p.report(at)
}
