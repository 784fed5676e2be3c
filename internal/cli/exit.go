package cli

import (
	"context"
	"errors"
	"os"
	"syscall"

	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
)

// ExitCode is what the process tells its caller (spec: cli.md, Conventions).
type ExitCode int

// The exit codes; `archmax help exit-codes` explains them to a person.
// ExitParked, ExitRejected and ExitFailed are used with --exit-status only.
const (
	ExitOK          ExitCode = 0   // did its job; a park counts
	ExitFailure     ExitCode = 1   // a failure established after parsing
	ExitUsage       ExitCode = 2   // a usage error
	ExitParked      ExitCode = 3   // --exit-status: the arrival parked
	ExitRejected    ExitCode = 4   // --exit-status: rejected or refused
	ExitFailed      ExitCode = 5   // --exit-status: failed
	ExitInterrupted ExitCode = 130 // SIGINT
	ExitQuit        ExitCode = 131 // SIGQUIT
	ExitTerminated  ExitCode = 143 // SIGTERM
)

const exitCodesHelp = `Exit codes of archmax:

    0  it did its job; a session that parked counts
    1  a failure established after the arguments were read: an invalid workflow,
       a broken archmax.yaml, a refused turn, a rejected or failed session
    2  a usage error: the message names the flag or argument
  130  interrupted (Ctrl-C)
  131  quit (Ctrl-\)
  143  terminated (SIGTERM)

With --exit-status, run, send, decide and deliver tell the outcome apart:

    0  completed
    3  parked: the session awaits a decision or an input
    4  rejected by governance, or refused at the door
    5  failed
`

// statusError carries an exit code whose reason the command has already told
// (a verdict line, a diagnostic), so that nothing more is printed.
type statusError struct{ code ExitCode }

func (e statusError) Error() string { return "exit status" }

// codedError is an error with an exit code of its own.
type codedError struct {
	error
	code ExitCode
}

// Unwrap returns the error itself.
func (e codedError) Unwrap() error { return e.error }

// signalError is the cause of a context that a signal cancelled.
type signalError struct{ sig os.Signal }

func (e signalError) Error() string {
	switch e.sig {
	case syscall.SIGTERM:
		return "terminated"
	case quit:
		return "quit"
	}
	return "interrupted"
}

func (e signalError) exitCode() ExitCode {
	switch e.sig {
	case syscall.SIGTERM:
		return ExitTerminated
	case quit:
		return ExitQuit
	}
	return ExitInterrupted
}

// exitCodeOf maps a command's error to its exit code. A signal that ended the
// command outranks what the command made of it.
func exitCodeOf(ctx context.Context, err error) ExitCode {
	if err == nil {
		return ExitOK
	}
	var sig signalError
	if errors.As(context.Cause(ctx), &sig) {
		return sig.exitCode()
	}
	var usage *UsageError
	var status statusError
	var coded codedError
	switch {
	case errors.As(err, &usage):
		return ExitUsage
	case errors.As(err, &status):
		return status.code
	case errors.As(err, &coded):
		return coded.code
	}
	return ExitFailure
}

// outcomeCode is the exit code of an arrival that came to o.
func outcomeCode(o *runtime.Outcome, exitStatus bool) ExitCode {
	if !exitStatus {
		if o.Kind == runtime.KindFailed || o.Kind == runtime.KindRejected {
			return ExitFailure
		}
		return ExitOK
	}
	switch o.Kind {
	case runtime.KindParked:
		return ExitParked
	case runtime.KindRejected:
		return ExitRejected
	case runtime.KindFailed:
		return ExitFailed
	}
	return ExitOK
}

// refused reports whether err says that an arrival was turned away and changed
// nothing.
func refused(err error) bool {
	var (
		notParked runtime.NotParkedError
		badTarget runtime.BadTargetError
		notFound  session.NotFoundError
		busy      session.BusyError
		refusal   *runtime.Error
	)
	return errors.As(err, &notParked) || errors.As(err, &badTarget) ||
		errors.As(err, &notFound) || errors.As(err, &busy) ||
		errors.As(err, &refusal) && refusal.ErrCode != "invalid-workflow"
}
