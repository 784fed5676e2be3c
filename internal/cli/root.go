// Package cli is the command line of archmax (spec: cli.md): one file a
// command, each a newXCmd(deps, runF) that turns flags into an xOptions, and an
// xRun that does the work and never sees cobra or viper. wire.go alone knows
// how the runtime, the store and the model client are made.
//
// From main to output: Main builds the deps and the command tree (root.go),
// cobra fills a command's options, xRun opens the workspace (settings.go,
// config*.go), wires a runtime (wire.go) and sends it an arrival (arrival.go);
// what comes back is printed there. Every error travels up to Main, which
// prints it once and maps it to an exit code (errors.go, exit.go).
//
// Goroutines: one, in trapSignals, turns the first signal into a cancelled
// context; it ends with the process. Reads that may block for ever run on one of
// their own (read.go), which a signal leaves behind. Events are printed on the goroutine that
// the runtime calls the sink from.
package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/archmax-ai/archmax/internal/diag"
)

// deps is what the commands work with; Main makes it once.
type deps struct {
	ctx     context.Context // ends with the first signal; what opens the workspace reads until then
	io      *IOStreams
	env     map[string]string // the process environment
	dir     string            // the working directory
	now     func() time.Time
	secrets *secrets
	global  *globalOptions
}

// globalOptions are the flags that every command takes.
type globalOptions struct {
	Sessions string
	Root     string
	NoColor  bool
	Quiet    bool
	Verbose  bool
}

// Main runs archmax with the process's arguments and returns the exit code.
func Main() int {
	hidden := &secrets{}
	ctx := trapSignals(context.Background())
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintf(os.Stderr, "archmax: cannot tell the current directory: %s; change to one that exists\n", cause(err))
		return int(ExitFailure)
	}
	d := &deps{
		io:      systemStreams(hidden),
		env:     environment(os.Environ()),
		dir:     dir,
		now:     time.Now,
		secrets: hidden,
		global:  &globalOptions{},
	}
	return int(execute(ctx, d, os.Args[1:]))
}

// execute runs one command line.
func execute(ctx context.Context, d *deps, args []string) ExitCode {
	d.ctx = ctx
	d.hideEnvironment()
	root := newRootCmd(d)
	args = commandFirst(root, args)
	root.SetArgs(args)
	cmd, err := root, strayFile(root, args)
	if err == nil {
		cmd, err = root.ExecuteContextC(ctx)
	}
	if broken := d.io.resultErr(); broken != nil && (err == nil || errors.Is(err, errors.Unwrap(broken))) {
		err = broken
	}
	var usage *UsageError
	if errors.As(err, &usage) && usage.Command == "" {
		usage.Command = cmd.CommandPath()
	}
	if err != nil {
		printError(ctx, d, err, wantsJSON(args))
	}
	d.io.Flush()
	return exitCodeOf(ctx, err)
}

// wantsJSON reports whether the command line asks for JSON, also when it could
// not be parsed.
func wantsJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

// trapSignals returns a context that the first SIGINT, SIGTERM or SIGQUIT
// cancels. The second one ends the process at once. A closed pipe is an error of
// the write, not a signal that kills mid-turn.
func trapSignals(parent context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(parent)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // ignoring it would be inherited by children
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, ending...)
	go func() {
		first := <-caught
		cancel(signalError{first})
		os.Exit(int(signalError{<-caught}.exitCode()))
	}()
	return ctx
}

// environment reads "NAME=value" pairs.
func environment(pairs []string) map[string]string {
	env := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		if name, value, ok := strings.Cut(pair, "="); ok {
			env[name] = value
		}
	}
	return env
}

func newRootCmd(d *deps) *cobra.Command {
	root := &cobra.Command{
		Use:   "archmax",
		Short: "Author and run governed agent workflows",
		Long: `archmax runs agent workflows that are written as a state machine in one YAML
file. A language model does the work inside each state; the machine decides what
the model may see, what it may do and where it may go.`,
		Example: `  archmax workflows
  archmax validate
  archmax run order-lookup "Where is ORD-1003?" --cassette testdata/cassettes/answer.yaml`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return unknownCommand(cmd, args[0])
		},
		PersistentPreRunE: func(*cobra.Command, []string) error {
			if d.global.Quiet && d.global.Verbose {
				return usageErr("-q hides what -v shows; give one")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(d.io.In)
	root.SetOut(d.io.Out)
	root.SetErr(d.io.Err)
	root.SetVersionTemplate("archmax {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.DisableDefaultCmd = true

	fs := root.PersistentFlags()
	fs.StringVar(&d.global.Root, "root", "", "the workspace `DIR` (default: the nearest parent holding workflows/, else the current directory)")
	fs.StringVar(&d.global.Sessions, "sessions", "", "where sessions are kept, a `DIR` (default: sessions/ in the workspace)")
	fs.BoolVar(&d.global.NoColor, "no-color", false, "no colours")
	fs.BoolVarP(&d.global.Quiet, "quiet", "q", false, "no narration on standard error")
	fs.BoolVarP(&d.global.Verbose, "verbose", "v", false, "one raw line per event, and the causes of an error")
	fs.BoolP("help", "h", false, "help for the command")
	root.Flags().Bool("version", false, "print the version")

	root.AddGroup(
		&cobra.Group{ID: "sessions", Title: "Run and resume sessions:"},
		&cobra.Group{ID: "author", Title: "Author workflows:"},
	)
	root.AddCommand(
		newRunCmd(d, nil), newSendCmd(d, nil), newDecideCmd(d, nil), newDeliverCmd(d, nil), newSessionsCmd(d),
		newValidateCmd(d, nil), newWorkflowsCmd(d, nil), newGraphCmd(d, nil), newSchemaCmd(d, nil), newExplainCmd(d, nil),
		newInitCmd(d, nil), newSkillCmd(d, nil), newTestCmd(d, nil),
		newVersionCmd(d), newCompletionCmd(d),
		newExitCodesTopic(), newEnvironmentTopic(),
	)
	root.SetHelpCommand(newHelpCmd(root))
	root.InitDefaultHelpCmd()
	return root
}

// unknownCommand is the usage error for a word that names no command.
func unknownCommand(cmd *cobra.Command, word string) error {
	var names []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	message := fmt.Sprintf("unknown command %q", word)
	if near := diag.Nearest(word, names); near != "" {
		message += fmt.Sprintf(" (did you mean %s?)", near)
	}
	return &UsageError{Command: cmd.CommandPath(), Message: message}
}
