package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/archmax-ai/archmax/internal/event"
	"github.com/archmax-ai/archmax/internal/render"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
)

// arrivalOptions are the model and output flags that run, send, decide and
// deliver share.
type arrivalOptions struct {
	deps   *deps
	locate func() (*Workspace, error) // without archmax.yaml
	open   func() (*Workspace, error)

	Record         string
	Clock          *time.Time
	Model          string
	Timeout        time.Duration
	RecursionLimit int
	Ephemeral      bool // run only
	JSON           bool
	Returns        bool
	Events         string // "": no; "-": standard error; else a file
	Key            string
	ExitStatus     bool
	cassette       string // as given; ws.Settings.Cassette is what holds
}

// addArrivalFlags adds them to cmd.
func addArrivalFlags(cmd *cobra.Command, d *deps) *arrivalOptions {
	o := &arrivalOptions{deps: d}
	fs := cmd.Flags()
	o.locate = func() (*Workspace, error) { return d.locate(fs) }
	o.open = func() (*Workspace, error) { return d.open(fs) }

	flagVar(fs, &o.cassette, "cassette", "file", "answer from a cassette `FILE` instead of a model", parseText)
	flagVar(fs, &o.Record, "record", "file", "write the model's answers to a cassette `FILE`", parseText)
	flagVar(fs, &o.Clock, "clock", "time", "the time that prompts, signatures and scripts see, a date or date-time `T`", parseClock)
	flagVar(fs, &o.Model, "model", "id", "the model `ID`, above every one that the workflow names", parseText)
	flagVar(fs, &o.Timeout, "timeout", "duration", "end the arrival after a duration `D` (90s, 5m)", parseDuration)
	flagVar(fs, &o.RecursionLimit, "recursion-limit", "number", "steps `N` that the arrival may take (default 400)", parsePositive)
	fs.BoolVar(&o.JSON, "json", false, "print the outcome as one JSON document")
	fs.BoolVar(&o.Returns, "returns", false, "print the declared returns as JSON")
	events := flagVar(fs, &o.Events, "events", "file", "write events as JSON lines to standard error in place of the narration, or to a file: --events=`FILE`", parseText)
	events.NoOptDefVal = "-"
	flagVar(fs, &o.Key, "idempotency-key", "key", "do nothing but tell the outcome again when an arrival with this `KEY` came before", parseText)
	fs.BoolVar(&o.ExitStatus, "exit-status", false, "exit 3 when parked, 4 when rejected, 5 when failed")
	return o
}

// check refuses flags that do not go together.
func (o *arrivalOptions) check() error {
	switch {
	case o.JSON && o.Returns:
		return usageErr("--json and --returns each print a document of their own; give one")
	case o.cassette != "" && o.Record != "":
		return usageErr("--cassette and --record cannot go together: a cassette's answers are recorded already")
	}
	return nil
}

// clock is the pinned time that rules prompts, signatures and scripts; nil is
// real time, which the runtime takes from the journal where it must be told
// again.
func (o *arrivalOptions) clock() func() time.Time {
	if o.Clock == nil {
		return nil
	}
	at := *o.Clock
	return func() time.Time { return at }
}

// today is the time that an answer typed at a terminal is checked against.
func (o *arrivalOptions) today() time.Time {
	if o.Clock != nil {
		return *o.Clock
	}
	return o.deps.now()
}

// arrive sends one arrival to a runtime of m's workspace, narrates it and
// prints what it came to.
func (o *arrivalOptions) arrive(ctx context.Context, ws *Workspace, m *spec.Machine, store session.Store,
	call func(context.Context, runtime.API) (*runtime.Outcome, error),
) error {
	n, err := o.narrate(m)
	if err != nil {
		return err
	}
	defer n.close()
	api, err := openRuntime(ws, m, wiring{store: store, sink: n.event, options: o})
	if err != nil {
		return err
	}
	n.header(ws, m)
	began := time.Now()
	ctx, cancel := o.bound(ctx)
	defer cancel()
	out, err := call(ctx, api)
	if closeErr := n.close(); err == nil {
		err = closeErr
	}
	if out == nil {
		return o.refusal(o.unfinished(store, n.session, began, err))
	}
	return o.tell(out, n, err)
}

// tell prints an outcome and gives it its exit code; err is what went wrong
// beside it.
func (o *arrivalOptions) tell(out *runtime.Outcome, n *narrator, err error) error {
	if printErr := o.print(out, n); err == nil {
		err = printErr
	}
	if err != nil {
		return err
	}
	if code := outcomeCode(out, o.ExitStatus); code != ExitOK {
		return statusError{code}
	}
	return nil
}

// retold reports whether an arrival with this --idempotency-key is settled
// already, and tells its outcome again: no model is looked for.
func (o *arrivalOptions) retold(ctx context.Context, m *spec.Machine, store session.Store, id string) (bool, error) {
	if o.Key == "" || id == "" {
		return false, nil
	}
	out, err := storedOutcome(ctx, store, id, o.Key)
	if err != nil {
		return true, o.refusal(err)
	}
	if out == nil {
		return false, nil
	}
	n, err := o.narrate(m)
	if err != nil {
		return true, err
	}
	if n.verdicts {
		fmt.Fprintf(o.deps.io.Err, "an arrival with --idempotency-key %s came before; nothing was done, and this is its outcome\n", render.OneLine(o.Key))
	}
	return true, o.tell(out, n, n.close())
}

// unfinished words a store's failure in the middle of an arrival. What to do
// next depends on whether the arrival is in the journal: sent again, it would
// then be there twice.
func (o *arrivalOptions) unfinished(store session.Store, id string, began time.Time, err error) error {
	var failed *session.StoreError
	poisoned := errors.Is(err, session.ErrPoisoned)
	if id == "" || !errors.As(err, &failed) && !poisoned {
		return err
	}
	ctx := context.WithoutCancel(o.deps.ctx)
	opened := false
	for rec, err := range store.Records(ctx, id, 1) {
		if err != nil {
			break
		}
		if _, is := rec.Body.(*session.Turn); is {
			opened = !rec.TS.Before(began.Truncate(time.Millisecond)) // the last one counts
		}
	}
	if !opened {
		return err
	}
	message := "the session's journal cannot be written any more"
	if failed != nil {
		reason := strings.TrimPrefix(failed.Error(), fmt.Sprintf("cannot %s %s: ", failed.Do, failed.Path))
		reason, _, _ = strings.Cut(reason, "; ")
		message = fmt.Sprintf("cannot %s %s: %s", failed.Do, failed.Path, reason)
	}
	resume := append([]string{"archmax", "send", id, "--resume"}, o.verdictOptions().Flags...)
	return &failure{
		code: "store-error", message: message, err: err,
		hint: fmt.Sprintf("the arrival itself is kept: do not send it again, but put that right and go on with `%s`", render.Command(resume...)),
	}
}

// bound applies --timeout.
func (o *arrivalOptions) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.Timeout == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, o.Timeout, fmt.Errorf("the time limit of %s (--timeout) ran out", o.Timeout))
}

// refusal gives an arrival that was turned away its exit code.
func (o *arrivalOptions) refusal(err error) error {
	if o.ExitStatus && refused(err) {
		return codedError{err, ExitRejected}
	}
	return err
}

// print writes the result to standard output and the verdict to standard error.
func (o *arrivalOptions) print(out *runtime.Outcome, n *narrator) error {
	d := o.deps
	var err error
	switch {
	case o.JSON:
		err = render.JSON(d.io.Out, out)
	case o.Returns && out.Returns != nil:
		err = render.JSON(d.io.Out, out.Returns)
	case o.Returns && out.Kind == runtime.KindCompleted:
		err = render.JSON(d.io.Out, struct{}{})
	case o.Returns:
	case !n.spoke || !d.io.SameTerminal:
		err = render.Reply(d.io.Out, d.outStyle(), out.Reply)
	}
	if n.verdicts {
		d.io.out.Flush()
		_ = render.Verdict(d.io.Err, d.errStyle(), out, o.verdictOptions())
	}
	if why := ended(out); d.global.Quiet && !o.JSON && why != "" {
		fmt.Fprintf(d.io.Err, "archmax: session %s %s\n", render.OneLine(out.SessionID), render.OneLine(why)) // --quiet hides narration, not failures
	}
	return err
}

// ended says why a session failed or was rejected, "" when it did not.
func ended(out *runtime.Outcome) string {
	switch {
	case out.Kind == runtime.KindFailed:
		return fmt.Sprintf("failed, %s: %s", out.Exit.Code, out.Exit.Reason)
	case out.Refused:
		return "was not opened: " + out.Rejected
	case out.Kind == runtime.KindRejected:
		return "was rejected: " + out.Rejected
	}
	return ""
}

// verdictOptions make the commands that a verdict shows work when pasted: the
// flags that name the workspace and the model are repeated.
func (o *arrivalOptions) verdictOptions() render.VerdictOptions {
	v := o.deps.verdictOptions()
	if o.cassette != "" {
		v.Flags = append(v.Flags, "--cassette", o.cassette)
	}
	if o.Record != "" {
		v.Flags = append(v.Flags, "--record", o.Record)
	}
	v.Gone = o.Ephemeral
	return v
}

// narrator tells what an arrival does while it does it: on standard error the
// state flow, raw lines (-v) or JSON lines (--events), or nothing (-q).
type narrator struct {
	o        *arrivalOptions
	flow     *render.Flow
	raw      bool
	verdicts bool
	spoke    bool      // the flow has shown words of the agent
	session  string    // the first event's
	lines    io.Writer // JSON lines; nil: none
	file     *os.File
	err      error // the first failed write of lines to a file
	closed   bool
}

// narrate begins a narration. Without a machine there is no state flow.
func (o *arrivalOptions) narrate(m *spec.Machine) (*narrator, error) {
	d := o.deps
	n := &narrator{o: o, verdicts: !d.global.Quiet}
	switch o.Events {
	case "":
	case "-":
		n.lines, n.verdicts = d.io.Err, false
		return n, nil
	default:
		file, err := await(d.ctx, func() (*os.File, error) { // a FIFO waits for its reader
			return os.OpenFile(d.absolute(o.Events), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
		})
		switch {
		case d.ctx.Err() != nil:
			return nil, context.Cause(d.ctx)
		case err != nil:
			return nil, &failure{message: fmt.Sprintf("--events: cannot write %s: %s", o.Events, cause(err)), hint: "name a file that can be written", err: err}
		}
		n.file, n.lines = file, &redactor{secrets: d.secrets, w: file}
	}
	switch {
	case d.global.Quiet:
	case d.global.Verbose:
		n.raw = true
	case m == nil:
	default:
		n.flow = render.NewFlow(d.io.Err, d.errStyle(), render.FlowOptions{KindOf: func(state string) string {
			if s := m.State(state); s != nil {
				return string(s.Kind)
			}
			return ""
		}})
	}
	return n, nil
}

// header says what runs, where and on which model.
func (n *narrator) header(ws *Workspace, m *spec.Machine) {
	if n.flow == nil {
		return
	}
	o, id, notes := n.o, ws.Settings.Model.Name, ws.Settings.Notes
	if m.Settings.Model != "" {
		id = m.Settings.Model
	}
	if o.Model != "" {
		id = o.Model
		if declaresModel(m) {
			notes = append(notes, "--model outranks every id that the workflow names")
		}
	}
	if ws.Settings.Cassette != "" {
		id, notes = "cassette "+o.deps.short(ws.Settings.Cassette), nil
	}
	n.flow.Header(m.Slug, o.deps.short(ws.Root), id, notes...)
}

// event is the runtime's sink.
func (n *narrator) event(e event.Event) {
	if n.session == "" {
		n.session = e.SessionID
	}
	if n.lines != nil {
		if err := render.EventLine(n.lines, e); err != nil && n.err == nil {
			n.err = err
		}
	}
	switch {
	case n.flow != nil:
		if _, words := e.Payload.(event.AgentText); words {
			n.spoke = true
		}
		n.flow.Event(e)
	case n.raw:
		_ = render.Raw(n.o.deps.io.Err, e) // standard error is best effort
	}
}

// close ends the narration. The error is of a file of events that could not be
// written whole.
func (n *narrator) close() error {
	if n.closed {
		return nil
	}
	n.closed = true
	if n.flow != nil {
		_ = n.flow.Close() // standard error is best effort
	}
	if n.file == nil {
		return nil
	}
	err := errors.Join(n.lines.(*redactor).Flush(), n.file.Close())
	if n.err != nil {
		err = n.err
	}
	if err != nil {
		return &failure{message: fmt.Sprintf("--events: cannot write %s: %s", n.o.Events, cause(err)), hint: "the session itself is kept; `archmax sessions log ID --events` prints its events", err: err}
	}
	return nil
}

// styles of the two streams.
func (d *deps) outStyle() render.Style { return d.style(d.io.OutTTY) }
func (d *deps) errStyle() render.Style { return d.style(d.io.ErrTTY) }

func (d *deps) style(tty bool) render.Style {
	s := render.NewStyle(tty, d.io.Width, func(name string) (string, bool) {
		v, ok := d.env[name]
		return v, ok
	})
	if d.global.NoColor {
		s = s.Plain()
	}
	return s
}

// verdictOptions repeat the global flags that a shown command needs.
func (d *deps) verdictOptions() render.VerdictOptions {
	var v render.VerdictOptions
	if d.global.Root != "" {
		v.Flags = append(v.Flags, "--root", d.global.Root)
	}
	if d.global.Sessions != "" {
		v.Flags = append(v.Flags, "--sessions", d.global.Sessions)
	}
	return v
}
