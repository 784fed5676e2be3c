package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/archmax-ai/archmax/internal/casetest"
	"github.com/archmax-ai/archmax/internal/diag"
)

type testOptions struct {
	deps *deps
	open func() (*Workspace, error)

	Args        []string // [workflow] [filter]; with From [name]
	From        string   // a session: write a case from it, run none
	Filter      string
	Jobs        int
	Repeat      int
	MinPass     float64
	FailFast    bool
	Prefix      string
	Keep        bool
	JSON        bool
	JUnit       string
	Format      string // text, github
	Coverage    string // "": no; "-": the table alone; else a file too
	CoverageMin float64
	Record      casetest.Record
	Live        bool
	RealTools   bool
	Model       string
}

func newTestCmd(d *deps, runF func(context.Context, *testOptions) error) *cobra.Command {
	opts := &testOptions{deps: d, Format: "text"}
	cmd := &cobra.Command{
		Use:     "test [workflow] [filter]",
		Short:   "Run the cases of workflows, offline; or write one from a session",
		GroupID: "author",
		Long: `Runs the cases in workflows/<slug>/tests/, of every workflow or of the one that is
named; a filter keeps the cases whose id contains it. Each case is a conversation
with the real runtime, on model answers from a cassette. Cases are told on
standard error as they end, the verdict goes to standard output.

The exit code is 1 when a case failed, when a workflow cannot be run or has no
case, when a filter matched none, or when --coverage-min is missed.

--from writes a case and its cassette from a session, so that what happened once
can be held to happen again. It never overwrites a file.`,
		Example: `  archmax run order-lookup "Where is ORD-1003?" --session s3 --cassette testdata/cassettes/answer.yaml
  archmax test --from s3 desk-lamp
  archmax test
  archmax test order-lookup desk-lamp --coverage
  archmax test order-lookup --jobs 8 --junit junit.xml --format github`,
		ValidArgsFunction: d.completeWorkflows,
	}
	opts.open = func() (*Workspace, error) { return d.open(cmd.Flags()) }
	fs := cmd.Flags()
	flagVar(fs, &opts.Filter, "filter", "text", "run the cases whose id contains `TEXT`", parseText)
	flagVar(fs, &opts.Jobs, "jobs", "number", "run `N` cases at a time (default: tests.maxConcurrency, else the CPUs; 1 with a live model)", parsePositive)
	flagVar(fs, &opts.Repeat, "repeat", "number", "run each case `N` times and report its pass rate", parsePositive)
	flagVar(fs, &opts.MinPass, "min-pass", "rate", "with --repeat, a case passes when at least this `RATE` of its runs do (default 1)", parseRate)
	fs.BoolVar(&opts.FailFast, "fail-fast", false, "do not run the cases after the first that fails")
	flagVar(fs, &opts.Prefix, "session-prefix", "text", "begin the ids of the cases' sessions with `TEXT` (default "+casetest.DefaultSessionPrefix+")", parseText)
	fs.BoolVar(&opts.Keep, "keep", false, "keep the cases' sessions where sessions are")
	fs.BoolVar(&opts.JSON, "json", false, "print one JSON document")
	flagVar(fs, &opts.JUnit, "junit", "file", "write a JUnit report to `FILE`", parseText)
	flagVar(fs, &opts.Format, "format", "format", "`FORMAT`: text (default), or github for annotations", oneOf("text", "github"))
	flagVar(fs, &opts.Coverage, "coverage", "file", "tell what of the workflow no case went through; as JSON in `FILE` too", parseText).NoOptDefVal = "-"
	flagVar(fs, &opts.CoverageMin, "coverage-min", "percent", "fail when the cases take less than `N` percent of the edges", parsePercent)
	flagVar(fs, &opts.Record, "record", "what", "record the cassettes that are missing from the endpoint; with =all every one", parseRecord).NoOptDefVal = string(casetest.RecordMissing)
	fs.BoolVar(&opts.Live, "live", false, "ask the endpoint in every case")
	fs.BoolVar(&opts.RealTools, "real-tools", false, "run host tools that no mock answers")
	flagVar(fs, &opts.Model, "model", "id", "the model `ID`, above every one that the workflow names", parseText)
	flagVar(fs, &opts.From, "from", "session", "write a case and its cassette from a `SESSION`, named by the argument", parseID)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		opts.Args = args
		if err := opts.check(cmd.Flags()); err != nil {
			return err
		}
		if runF != nil {
			return runF(cmd.Context(), opts)
		}
		if opts.From != "" {
			return testFrom(cmd.Context(), opts)
		}
		return testRun(cmd.Context(), opts)
	}
	return cmd
}

func parseRate(text string) (float64, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f > 0 && f <= 1) { // NaN fails both
		return 0, fmt.Errorf("give a rate above 0 and up to 1, such as 0.9")
	}
	return f, nil
}

func parsePercent(text string) (float64, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f >= 0 && f <= 100) {
		return 0, fmt.Errorf("give a percentage from 0 to 100")
	}
	return f, nil
}

func parseRecord(text string) (casetest.Record, error) {
	switch r := casetest.Record(text); r {
	case casetest.RecordMissing, casetest.RecordAll:
		return r, nil
	}
	return "", fmt.Errorf("give --record alone for the cassettes that are missing, or --record=all")
}

// check refuses flags and arguments that do not go together.
func (o *testOptions) check(flags *pflag.FlagSet) error {
	if o.From != "" {
		var other string
		flags.Visit(func(f *pflag.Flag) {
			if !slices.Contains([]string{"from", "json", "root", "sessions", "no-color", "quiet", "verbose"}, f.Name) {
				other = f.Name
			}
		})
		switch {
		case other != "":
			return usageErr("--from writes a case and runs none; leave --%s out", other)
		case len(o.Args) > 1:
			return usageErr("--from takes one name for the case, and the workflow is the session's; %q is one too many", o.Args[1])
		}
		return nil
	}
	switch {
	case len(o.Args) > 2:
		return usageErr("unexpected argument %q", o.Args[2])
	case o.JSON && o.Format == "github":
		return usageErr("--json and --format github ask for two formats; give one")
	case o.Live && o.Record == casetest.RecordMissing:
		return usageErr("--live asks the endpoint in every case and --record where a cassette is missing; give one of the two, or --record=all")
	case o.Record != "" && o.Repeat > 1:
		return usageErr("--record records one run of a case; leave --repeat out")
	case o.MinPass > 0 && o.Repeat < 2:
		return usageErr("--min-pass is a rate of several runs; give --repeat too")
	}
	return nil
}

// pick tells the workflows from the filter: a first argument that is a
// workflow's slug is it, and a near miss of one is a mistake.
func (o *testOptions) pick(slugs []string) (chosen []string, filter string, err error) {
	args := o.Args
	chosen = slugs
	if len(args) > 0 && slices.Contains(slugs, args[0]) {
		chosen, args = args[:1], args[1:]
	} else if len(args) > 0 {
		if near := diag.Nearest(args[0], slugs); near != "" || len(args) > 1 {
			return nil, "", knownWorkflow(slugs, args[0])
		}
	}
	switch {
	case len(args) > 1:
		return nil, "", usageErr("unexpected argument %q", args[1])
	case len(args) == 1 && o.Filter != "":
		return nil, "", usageErr("the filter is given twice, as %q and as --filter %q; give one", args[0], o.Filter)
	case len(args) == 1:
		return chosen, args[0], nil
	}
	return chosen, o.Filter, nil
}

func testRun(ctx context.Context, o *testOptions) error {
	ws, err := o.open()
	if err != nil {
		return err
	}
	slugs, err := ws.slugs()
	if err != nil {
		return err
	}
	if len(slugs) == 0 {
		return noWorkflows(ws)
	}
	chosen, filter, err := o.pick(slugs)
	if err != nil {
		return err
	}
	files, err := o.reports()
	if err != nil {
		return err
	}
	defer files.close()
	suites, err := o.runAll(ctx, ws, chosen, filter)
	if err != nil {
		if untold := o.unrun(files, chosen, err); untold != nil {
			return errors.Join(err, untold)
		}
		return err
	}
	all := o.settle(ctx, suites)
	written := files.write(all) // whether or not anybody reads standard output
	if err := o.print(ws, all, filter); err != nil {
		return err
	}
	if written != nil {
		return written
	}
	if all.ExitCode != casetest.ExitOK {
		return statusError{ExitCode(all.ExitCode)}
	}
	return nil
}

// settle puts the suites together and gives an interrupt its exit code.
func (o *testOptions) settle(ctx context.Context, suites []*casetest.Suite) *casetest.Suites {
	var sig signalError
	if errors.As(context.Cause(ctx), &sig) {
		for _, s := range suites {
			if s.ExitCode == casetest.ExitInterrupted {
				s.Error, s.ExitCode = sig.Error(), int(sig.exitCode())
			}
		}
	}
	return casetest.Combine(suites)
}
