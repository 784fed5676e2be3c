package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/archmax-ai/archmax/internal/event"
	"github.com/archmax-ai/archmax/internal/render"
	"github.com/archmax-ai/archmax/internal/session"
)

type logOptions struct {
	deps  *deps
	store func() (session.Store, error)
	open  func() (*Workspace, error) // for --requests: how requests are written is configured

	ID       string
	Follow   bool
	JSON     bool
	Events   bool
	Requests bool
}

func newSessionsLogCmd(d *deps, runF func(context.Context, *logOptions) error) *cobra.Command {
	opts := &logOptions{deps: d}
	cmd := &cobra.Command{
		Use:   "log <session>",
		Short: "Replay a session's transcript and events",
		Long: `Replays a session from its journal: its transcript, with --events its events as
JSON lines, with --requests the model requests as they were sent. --follow goes on
while another process runs the session, and ends with its turn.`,
		Example: `  archmax run "Where is ORD-1003?" --session lamp-1 --cassette testdata/cassettes/answer.yaml
  archmax sessions log lamp-1
  archmax sessions log lamp-1 --events`,
		ValidArgsFunction: d.completeSessions,
		Args:              sessionOnly,
	}
	opts.store = d.storeOf(cmd)
	opts.open = func() (*Workspace, error) { return d.open(cmd.Flags()) }
	fs := cmd.Flags()
	fs.BoolVar(&opts.Follow, "follow", false, "go on while another process runs the session")
	fs.BoolVar(&opts.JSON, "json", false, "print the transcript as one JSON document")
	// The same kind of flag as run's --events, so that a name means one thing;
	// here the events are the result and go to standard output.
	var events string
	f := flagVar(fs, &events, "events", "file", "print the events as JSON lines", func(text string) (string, error) {
		if text != "-" {
			return "", errors.New("the events go to standard output; redirect it to a file")
		}
		return text, nil
	})
	f.NoOptDefVal = "-"
	fs.BoolVar(&opts.Requests, "requests", false, "print the model requests as they were sent")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		opts.ID, opts.Events = args[0], events != ""
		ways := 0
		for _, given := range []bool{opts.JSON, opts.Events, opts.Requests} {
			if given {
				ways++
			}
		}
		switch {
		case ways > 1:
			return usageErr("--json, --events and --requests each print something else; give one")
		case opts.Follow && (opts.JSON || opts.Requests):
			return usageErr("--follow goes with the narration or with --events")
		}
		if runF != nil {
			return runF(cmd.Context(), opts)
		}
		return logRun(cmd.Context(), opts)
	}
	return cmd
}

func logRun(ctx context.Context, o *logOptions) error {
	store, err := o.store()
	if err != nil {
		return err
	}
	d := o.deps
	switch {
	case o.Follow:
		return o.follow(ctx, store)
	case o.Requests:
		return o.requests(ctx)
	case o.Events:
		for e, err := range session.Replay(ctx, store, o.ID) {
			if err != nil {
				return err
			}
			if err := render.EventLine(d.io.Out, e); err != nil {
				return err
			}
		}
		return nil
	}
	log, err := render.NewSessionLog(o.ID, store.Records(ctx, o.ID, 1))
	if err != nil {
		return err
	}
	if o.JSON {
		return render.JSON(d.io.Out, log)
	}
	return render.Transcript(d.io.Out, d.outStyle(), log)
}

// requests prints the model requests, one JSON document each.
func (o *logOptions) requests(ctx context.Context) error {
	ws, err := o.open()
	if err != nil {
		return err
	}
	list, err := requestsOf(ctx, ws, o.ID)
	if err != nil {
		return err
	}
	for sent, err := range list {
		if err != nil {
			return err
		}
		if err := render.JSON(o.deps.io.Out, sent); err != nil {
			return err
		}
	}
	return nil
}

// followCheck is how often --follow looks whether the process that runs the
// session is still there.
const followCheck = time.Second

// follow prints the events from the first on and goes on while the session's
// turn is at work; then it tells how that ended.
func (o *logOptions) follow(ctx context.Context, store session.Store) error {
	start, err := store.Load(ctx, o.ID)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	d := o.deps
	show := func(e event.Event) error { return render.EventLine(d.io.Out, e) }
	tell := func(*session.State) error { return nil } // the last events are the verdict
	if !o.Events {
		flow := render.NewFlow(d.io.Out, d.outStyle(), render.FlowOptions{})
		defer flow.Close()
		show = func(e event.Event) error { flow.Event(e); return nil }
		tell = func(s *session.State) error {
			return errors.Join(flow.Close(), render.Verdict(d.io.Out, d.outStyle(), render.Ended(s), d.verdictOptions()))
		}
	}
	go watch(ctx, cancel, store, o.ID)
	state := session.NewState()
	for rec, err := range session.Follow(ctx, store, o.ID, 1) {
		var events []event.Event
		if err == nil {
			events, err = state.Apply(rec)
		}
		for _, e := range events {
			if err == nil {
				err = show(e)
			}
		}
		if err != nil {
			return err
		}
		d.io.Flush()
		if state.Seq >= start.Seq && !state.TurnOpen && state.Say == "" && state.Status != session.StatusRunning {
			return tell(state)
		}
	}
	left := &failure{code: "session-interrupted", message: fmt.Sprintf("session %s: the process that ran it is gone", o.ID), hint: fmt.Sprintf("`%s` finishes its turn", d.verdictOptions().Resume(o.ID))}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errLeft):
		return left
	case !errors.Is(cause, errUnsaid):
		return cause
	}
	if err := tell(state); err != nil {
		return err
	}
	due := "the agent's message about its park"
	if state.Say == session.SayReply {
		due = "the agent's reply to the last message"
	}
	left.message += ", and " + due + " is still due"
	left.hint = fmt.Sprintf("`%s` has it said", d.verdictOptions().Resume(o.ID))
	return left
}

// Why watch ends a follow.
var (
	errLeft   = errors.New("the process is gone")
	errUnsaid = errors.New("the process is gone, the session is parked and the agent was to say something")
)

// watch ends ctx when nobody works on the session any more. It ends with ctx.
func watch(ctx context.Context, end context.CancelCauseFunc, store session.Store, id string) {
	tick := time.NewTicker(followCheck)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s, err := store.Load(ctx, id)
			switch {
			case err != nil:
			case s.Status == session.StatusInterrupted:
				end(errLeft)
				return
			case s.Say != "" && unsaid(ctx, store, id):
				end(errUnsaid)
				return
			}
		}
	}
}

// unsaid reports whether the agent is to say something on a parked session and
// nobody is there to let it. A park's status does not tell; who can take the
// lock knows.
func unsaid(ctx context.Context, store session.Store, id string) bool {
	w, err := store.Open(ctx, id, false)
	if err != nil {
		return false
	}
	defer w.Close()
	return w.State().Say != ""
}

func newSessionsCatCmd(d *deps) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cat <session> <path>",
		Short: "Print a file of a session: evidence, a file that it returns",
		Example: `  archmax run "I want my money back for ORD-1002." --session refund-3 --cassette testdata/cassettes/refund.yaml
  archmax sessions cat refund-3 refunds/ORD-1002.md`,
		ValidArgsFunction: d.completeSessions,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := sessionFirst(cmd, args); err != nil {
				return err
			}
			if len(args) == 1 {
				return usageErr("name the file; `archmax sessions %s` lists the session's files", args[0])
			}
			if name := sessionPath(args[1]); !fs.ValidPath(name) || name == "." {
				return usageErr("%q is no path of a session file: use /, and no ..", args[1])
			}
			return noArgs(cmd, args[2:])
		},
	}
	store := d.storeOf(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s, err := store()
		if err != nil {
			return err
		}
		return catRun(cmd.Context(), d, s, func() (*Workspace, error) { return d.open(cmd.Flags()) }, args[0], sessionPath(args[1]))
	}
	return cmd
}

// sessionPath is a path as the store takes it: the session itself writes
// /scratchpad/x and scratchpad/x alike.
func sessionPath(text string) string { return strings.TrimLeft(path.Clean(text), "/") }

// catRun prints a file as the session sees it: its own, else one of a mount,
// since evidence may be either.
func catRun(ctx context.Context, d *deps, store session.Store, open func() (*Workspace, error), id, name string) error {
	files, err := store.Files(ctx, id)
	if err != nil {
		return err
	}
	content, err := fs.ReadFile(files, name)
	if errors.Is(err, fs.ErrNotExist) {
		if mounted, mountErr := mountedFile(open, name); mountErr == nil {
			content, err = mounted, nil
		}
	}
	if err != nil {
		return &failure{code: "file-not-found", message: fmt.Sprintf("session %s: cannot read %s: %s", id, name, cause(err)), hint: fmt.Sprintf("`%s` lists its files", render.Command("archmax", "sessions", id)), err: err}
	}
	if d.io.OutTTY { // an approver reads evidence that others wrote
		content = []byte(render.Clean(string(content)))
	}
	_, err = d.io.Out.Write(content)
	return err
}

type specOptions struct {
	deps  *deps
	store func() (session.Store, error)

	ID   string
	Turn int
}

func newSessionsSpecCmd(d *deps, runF func(context.Context, *specOptions) error) *cobra.Command {
	opts := &specOptions{deps: d}
	cmd := &cobra.Command{
		Use:   "spec <session>",
		Short: "Print the workflow, as JSON, that a session's turn ran under",
		Example: `  archmax run "Where is ORD-1003?" --session lamp-2 --cassette testdata/cassettes/answer.yaml
  archmax sessions spec lamp-2`,
		ValidArgsFunction: d.completeSessions,
		Args:              sessionOnly,
	}
	opts.store = d.storeOf(cmd)
	flagVar(cmd.Flags(), &opts.Turn, "turn", "number", "the turn `N`, counted from 1 (default: the last)", parsePositive)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		opts.ID = args[0]
		if runF != nil {
			return runF(cmd.Context(), opts)
		}
		return specRun(cmd.Context(), opts)
	}
	return cmd
}

func specRun(ctx context.Context, o *specOptions) error {
	store, err := o.store()
	if err != nil {
		return err
	}
	var hash string
	turns := 0
	for rec, err := range store.Records(ctx, o.ID, 1) {
		if err != nil {
			return err
		}
		if t, ok := rec.Body.(*session.Turn); ok {
			turns++
			hash = t.Spec
			if turns == o.Turn {
				break
			}
		}
	}
	if o.Turn > turns {
		return &failure{code: "no-turn", message: fmt.Sprintf("session %s has %d turns, no turn %d", o.ID, turns, o.Turn), hint: "leave --turn out for the last"}
	}
	canonical, err := store.Spec(hash)
	if err != nil {
		return err
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, canonical, "", "  "); err != nil {
		return &failure{message: fmt.Sprintf("the stored spec %s is damaged", hash), hint: "restore sessions/_specs from a backup", err: err}
	}
	_, err = io.WriteString(o.deps.io.Out, strings.TrimRight(pretty.String(), "\n")+"\n")
	return err
}
