package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/archmax-ai/archmax/internal/casetest"
	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/render"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/spec"
)

// runAll runs the suites of the workflows, one after the other: the cases of
// each run side by side.
func (o *testOptions) runAll(ctx context.Context, ws *Workspace, slugs []string, filter string) ([]*casetest.Suite, error) {
	template, err := runtimeTemplate(ws)
	if err != nil {
		return nil, err
	}
	defer template.Shared.Close()
	template.ModelOverride = o.Model
	o.notes(ws)
	report := o.report(ws)
	defer report.Close()
	var suites []*casetest.Suite
	for _, slug := range slugs {
		if len(slugs) > 1 {
			report.Workflow(slug)
		}
		m, err := loadMachine(ws, slug)
		if err == nil {
			err = o.runnable(ws, m)
		}
		if err != nil {
			if len(slugs) == 1 {
				return nil, err
			}
			broken := brokenSuite(slug, err)
			if len(broken.Problems) > 0 {
				_ = render.DiagnosticsText(o.deps.io.Err, o.deps.errStyle(), broken.Problems, sourceIn(ws.Root)) // standard error is best effort
			}
			suites = append(suites, broken)
			continue
		}
		if o.Live || o.Record == casetest.RecordAll { // else a case that needs it says so
			if err := o.endpointSet(ws, m); err != nil {
				return nil, err
			}
		}
		suite, err := casetest.Run(ctx, o.suiteOptions(ws, m, template, filter, report))
		var misuse *casetest.OptionError
		switch {
		case errors.As(err, &misuse):
			return nil, &UsageError{Message: misuse.Message, Err: err}
		case err != nil:
			return nil, err
		}
		if len(slugs) > 1 && suite.Skipped != "" {
			report.Skipped(suite.Skipped)
		}
		suites = append(suites, suite)
	}
	return suites, nil
}

func (o *testOptions) suiteOptions(ws *Workspace, m *spec.Machine, template runtime.Options, filter string, report *render.SuiteReport) casetest.Options {
	opts := casetest.Options{
		Machine: m, Runtime: template, Dir: ws.Root, Secrets: o.deps.secrets.list(),
		NewClient: func(j casetest.Judge) (model.Client, error) { return o.endpoint(ws, m, j) },
		Live:      o.Live, Record: o.Record, RealTools: o.RealTools,
		Filter: filter, Jobs: o.Jobs, Repeat: o.Repeat, MinPass: o.MinPass, FailFast: o.FailFast,
		SessionPrefix: o.Prefix, Coverage: o.Coverage != "", CoverageMin: o.CoverageMin,
		Progress: report.Progress, Result: report.Result,
	}
	if o.Keep {
		opts.Keep = ws.Sessions
	}
	return opts
}

// runnable refuses a workflow whose cases would not show what it does: as for a
// turn, but for host tools, which mocks stand in for.
func (o *testOptions) runnable(ws *Workspace, m *spec.Machine) error {
	config := *ws.Config
	if !o.RealTools && !casetest.SettingsOf(m).RealTools {
		config.Tools, config.Servers = nil, nil
	}
	return runnable(&config, m)
}

func (o *testOptions) endpointSet(ws *Workspace, m *spec.Machine) error {
	err := endpointSet(ws, m, o.Model)
	var missing *failure
	if errors.As(err, &missing) {
		own := *missing
		own.hint = strings.Replace(missing.hint, "run offline with `--cassette FILE`", "give every case a cassette", 1)
		return &own
	}
	return err
}

// endpoint is the live model. What `tests.judge` says of the judge outranks
// archmax.yaml.
func (o *testOptions) endpoint(ws *Workspace, m *spec.Machine, judge casetest.Judge) (model.Client, error) {
	if err := o.endpointSet(ws, m); err != nil {
		return nil, err
	}
	return openEndpoint(ws, func(opts *model.Options) {
		role := opts.Roles[model.RoleJudge]
		if judge.Temperature != nil {
			role.Temperature = judge.Temperature
		}
		if judge.MaxTokens > 0 {
			role.MaxTokens = judge.MaxTokens
		}
		opts.Roles[model.RoleJudge] = role
	})
}

// brokenSuite is the suite of a workflow that cannot run.
func brokenSuite(slug string, err error) *casetest.Suite {
	s := &casetest.Suite{Version: 1, Workflow: slug, Results: []*casetest.Result{}, ExitCode: casetest.ExitFailed, Error: oneLine(err.Error()), Broken: true}
	var list *diagnosticsError
	if errors.As(err, &list) {
		s.Problems = list.list
	}
	return s
}

// unrun reports in the files, and to GitHub, that no case was run: whoever reads
// only these must not take silence for success. The error is told by the caller.
func (o *testOptions) unrun(files *reportFiles, slugs []string, err error) error {
	name := "archmax"
	if len(slugs) == 1 {
		name = slugs[0]
	}
	suite := brokenSuite(name, err)
	if o.Format == "github" {
		if err := render.SuiteGitHub(o.deps.io.Out, suite, nil); err != nil {
			return err
		}
	}
	return files.write(casetest.Combine([]*casetest.Suite{suite}))
}

// notes says, once, where the live model comes from.
func (o *testOptions) notes(ws *Workspace) {
	d := o.deps
	if d.global.Quiet || !o.Live && o.Record == "" {
		return
	}
	notes := ws.Settings.Notes
	if o.Model != "" {
		notes = append(notes, "--model outranks every id that the workflow names")
	}
	for _, n := range notes {
		fmt.Fprintln(d.io.Err, n)
	}
}

// report tells the cases on standard error: with a progress line where a person
// watches, in plain lines where a CI job does.
func (o *testOptions) report(ws *Workspace) *render.SuiteReport {
	d := o.deps
	return render.NewSuiteReport(d.io.Err, d.errStyle(), render.SuiteOptions{
		Live: d.env["CI"] == "", Quiet: d.global.Quiet, Steps: d.global.Verbose, Brief: o.Format == "github",
		Place: stepPlaces(ws.FS()),
	})
}

// stepPlaces finds the place of a step by reading its case again, once.
func stepPlaces(root fs.FS) render.StepPlace {
	read := map[string]*casetest.Case{}
	return func(file string, step int) diag.Position {
		c := read[file]
		if c == nil {
			src, err := fs.ReadFile(root, file)
			if err != nil {
				return diag.Position{} // it was there when the case ran
			}
			c, _ = casetest.Parse(file, "", src)
			read[file] = c
		}
		for _, s := range c.Steps {
			if s.Index == step {
				return s.Range.Start
			}
		}
		return diag.Position{}
	}
}

// print writes the result to standard output; coverage and what is wrong with a
// suite as a whole go to standard error.
func (o *testOptions) print(ws *Workspace, all *casetest.Suites, filter string) error {
	d := o.deps
	for _, s := range all.Suites {
		if s.Coverage != nil && !d.global.Quiet {
			_ = render.SuiteCoverage(d.io.Err, d.errStyle(), s.Coverage) // standard error is best effort
		}
	}
	summary := render.SuiteSummary(all.Suites, filter)
	for _, s := range all.Suites {
		if s.Error != "" && (o.JSON || s.Error != summary) {
			fmt.Fprintf(d.io.Err, "archmax: %s: %s\n", s.Workflow, oneLine(s.Error))
		}
	}
	switch {
	case o.JSON && len(all.Suites) == 1:
		return render.JSON(d.io.Out, all.Suites[0])
	case o.JSON:
		return render.JSON(d.io.Out, all)
	case o.Format == "github":
		place := stepPlaces(ws.FS())
		for _, s := range all.Suites {
			if err := render.SuiteGitHub(d.io.Out, s, place); err != nil {
				return err
			}
		}
	}
	_, err := fmt.Fprintln(d.io.Out, strings.TrimSpace(summary))
	return err
}
