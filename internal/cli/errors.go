package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/render"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
)

// UsageError says that the command line itself is wrong. Command is the path
// whose --help tells how it is right.
type UsageError struct {
	Command string // "archmax run"
	Message string
	Err     error
}

// Error is one line that ends in the way out.
func (e *UsageError) Error() string {
	return fmt.Sprintf("%s; try '%s --help'", e.Message, e.Command)
}

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

// usageErr makes a usage error; Command is filled in by the root when the
// command that returned it is known.
func usageErr(format string, args ...any) error {
	return &UsageError{Message: fmt.Sprintf(format, args...)}
}

// failure is an error established after the arguments were read.
type failure struct {
	code    string // for --json; "" is "error"
	message string
	hint    string
	err     error // for -v
}

func (e *failure) Error() string {
	if e.hint == "" {
		return e.message
	}
	return strings.TrimSuffix(e.message, ".") + "; " + e.hint
}

func (e *failure) Unwrap() error { return e.err }

// cause is the last word of a system error: "no such file or directory"
// without the operation and path that the message around it already names.
func cause(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err.Error()
	}
	return err.Error()
}

// reportOf describes err for --json.
func reportOf(ctx context.Context, err error) render.ErrorDoc {
	r := render.NewErrorDoc("", "", "")
	r.Error.Code, r.Error.Message = "error", oneLine(err.Error())
	var (
		usage    *UsageError
		fail     *failure
		coded    runtime.Coded
		refusal  *runtime.Error
		notFound session.NotFoundError
		busy     session.BusyError
		idle     session.IdleError
		sig      signalError
		broken   *diagnosticsError
		damaged  session.DamagedError
		newer    session.VersionError
		store    *session.StoreError
		asked    *model.Error
	)
	switch {
	case errors.As(context.Cause(ctx), &sig):
		r.Error.Code = sig.Error()
	case errors.As(err, &usage):
		r.Error.Code, r.Error.Message = "usage", oneLine(usage.Message)
		r.Error.Hint = fmt.Sprintf("try '%s --help'", usage.Command)
	case errors.As(err, &fail):
		if fail.code != "" {
			r.Error.Code = fail.code
		}
		r.Error.Message, r.Error.Hint = oneLine(fail.message), oneLine(fail.hint)
	case errors.As(err, &refusal):
		r.Error.Code, r.Error.Message, r.Error.Hint = refusal.ErrCode, oneLine(refusal.Message), oneLine(refusal.Hint)
	case errors.As(err, &broken):
		r.Error.Code = broken.code()
	case errors.As(err, &coded):
		r.Error.Code = coded.Code()
	case errors.As(err, &busy):
		r.Error.Code = "session-busy"
	case errors.As(err, &notFound):
		r.Error.Code = "session-not-found"
	case errors.As(err, &idle):
		r.Error.Code = "session-idle"
	case errors.As(err, &damaged):
		r.Error.Code = "session-damaged"
	case errors.As(err, &newer):
		r.Error.Code = "session-version"
	case errors.As(err, &store), errors.Is(err, session.ErrPoisoned):
		r.Error.Code = "store-error"
	case errors.As(err, &asked):
		r.Error.Code, r.Error.Message, r.Error.Hint = "model-failed", oneLine(asked.Message), oneLine(asked.Hint)
	}
	return r
}

// printError tells err once: as JSON on standard output when the command was
// asked for JSON, and as a line on standard error unless the two are the same
// terminal. With verbose, the chain of causes follows.
func printError(ctx context.Context, d *deps, err error, asJSON bool) {
	s, verbose := d.io, d.global.Verbose
	var status statusError
	if errors.As(err, &status) {
		return
	}
	if asJSON {
		_ = render.JSON(s.Out, reportOf(ctx, err)) // a broken stdout has nobody to tell
		if s.SameTerminal {
			return
		}
	}
	var broken *diagnosticsError
	if errors.As(err, &broken) {
		_ = render.DiagnosticsText(s.Err, d.errStyle(), broken.list, sourceIn(broken.root)) // standard error is best effort
	} else {
		fmt.Fprintf(s.Err, "archmax: %s\n", oneLine(err.Error()))
	}
	if !verbose {
		return
	}
	last := err.Error()
	for e := errors.Unwrap(err); e != nil; e = errors.Unwrap(e) {
		if text := e.Error(); text != last {
			fmt.Fprintf(s.Err, "  caused by: %s\n", oneLine(text))
			last = text
		}
	}
}

// oneLine folds line breaks away, so that an error stays one line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// flagError words pflag's parse errors in our own way.
func flagError(cmd *cobra.Command, err error) error {
	usage := &UsageError{Command: cmd.CommandPath(), Err: err, Message: err.Error()}
	var (
		unknown *pflag.NotExistError
		missing *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
		syntax  *pflag.InvalidSyntaxError
	)
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		usage.Message = fmt.Sprintf("unknown flag -%s%s", unknown.GetSpecifiedShortnames(), dashHint(cmd))
	case errors.As(err, &unknown):
		usage.Message = fmt.Sprintf("unknown flag --%s", unknown.GetSpecifiedName())
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		if near := diag.Nearest(unknown.GetSpecifiedName(), names); near != "" {
			usage.Message += fmt.Sprintf(" (did you mean --%s?)", near)
		} else {
			usage.Message += dashHint(cmd)
		}
	case errors.As(err, &missing):
		usage.Message = fmt.Sprintf("--%s needs a value", missing.GetFlag().Name)
	case errors.As(err, &invalid):
		usage.Message = fmt.Sprintf("--%s %q: %s", invalid.GetFlag().Name, invalid.GetValue(), flagCause(invalid))
	case errors.As(err, &syntax):
		usage.Message = fmt.Sprintf("%q is no flag", syntax.GetSpecifiedFlag())
	}
	return usage
}

// dashHint says how an argument that begins with a dash is given, where there
// are arguments.
func dashHint(cmd *cobra.Command) string {
	if cmd.Runnable() && strings.ContainsAny(cmd.Use, "[<") {
		return "; an argument that begins with a dash goes after --"
	}
	return ""
}

// flagCause is what was wrong with a flag's value. Our own values word it; the
// only values of pflag's own are booleans.
func flagCause(err *pflag.InvalidValueError) string {
	if err.GetFlag().Value.Type() == "bool" {
		return "give true or false, or the flag alone"
	}
	return errors.Unwrap(err).Error()
}
