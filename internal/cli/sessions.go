package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/render"
	"github.com/archmax-ai/archmax/internal/session"
)

type sessionsOptions struct {
	deps  *deps
	store func() (session.Store, error)

	ID       string // "": the listing
	Status   string
	Workflow string
	Due      bool
	JSON     bool
}

// statuses are what --status takes.
var statuses = []string{
	string(session.StatusRunning), string(session.StatusCompleted), string(session.StatusFailed), string(session.StatusRejected),
	string(session.StatusAwaitingDecision), string(session.StatusAwaitingInput), string(session.StatusInterrupted),
}

func newSessionsCmd(d *deps, runF ...func(context.Context, *sessionsOptions) error) *cobra.Command {
	opts := &sessionsOptions{deps: d}
	cmd := &cobra.Command{
		Use:     "sessions [session]",
		Short:   "List sessions, or show one",
		GroupID: "sessions",
		Example: `  archmax sessions
  archmax sessions --status awaiting_decision
  archmax sessions --due --json`,
		ValidArgsFunction: d.completeSessions,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			if err := sessionFirst(cmd, args); err != nil {
				return err
			}
			if len(args) == 1 {
				return nil
			}
			if near := diag.Nearest(args[0], sessionVerbs); near != "" {
				return usageErr("unknown command \"sessions %s\" (did you mean %s?)", args[0], near)
			}
			return noArgs(cmd, args[1:])
		},
	}
	opts.store = d.storeOf(cmd)
	fs := cmd.Flags()
	flagVar(fs, &opts.Status, "status", "status", "only sessions with this `STATUS`", oneOf(statuses...))
	flagVar(fs, &opts.Workflow, "workflow", "slug", "only sessions of this workflow `SLUG`", parseText)
	fs.BoolVar(&opts.Due, "due", false, "only sessions that wait for a time that has come")
	fs.BoolVar(&opts.JSON, "json", false, "print one JSON document")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			opts.ID = args[0]
			for _, name := range []string{"status", "workflow", "due"} {
				if cmd.Flags().Changed(name) {
					return usageErr("--%s narrows the listing and does not go with a session", name)
				}
			}
		}
		for _, f := range runF {
			return f(cmd.Context(), opts)
		}
		return sessionsRun(cmd.Context(), opts)
	}
	cmd.AddCommand(
		newSessionsRmCmd(d), newSessionsCancelCmd(d), newSessionsUsageCmd(d, nil),
		newSessionsLogCmd(d, nil), newSessionsCatCmd(d), newSessionsSpecCmd(d, nil),
	)
	return cmd
}

// storeOf opens the session store for a command that needs nothing else.
func (d *deps) storeOf(cmd *cobra.Command) func() (session.Store, error) {
	return func() (session.Store, error) {
		ws, err := d.locate(cmd.Flags())
		if err != nil {
			return nil, err
		}
		return openStore(ws)
	}
}

func sessionsRun(ctx context.Context, o *sessionsOptions) error {
	store, err := o.store()
	if err != nil {
		return err
	}
	d := o.deps
	if o.ID != "" {
		return showSession(ctx, o, store)
	}
	entries, err := store.List(ctx)
	if err != nil {
		return err
	}
	now := d.now()
	var list []render.Summary
	for _, e := range entries {
		s := render.SummarizeEntry(e)
		filtered := o.Status != "" || o.Workflow != "" || o.Due
		switch {
		case e.Err != nil && filtered: // nothing is known of a damaged session
		case o.Status != "" && string(s.Status) != o.Status:
		case o.Workflow != "" && s.Workflow != o.Workflow:
		case o.Due && !s.Due(now):
		default:
			list = append(list, s)
		}
	}
	doc := render.NewSessions(list)
	if o.JSON {
		return render.JSON(d.io.Out, doc)
	}
	return render.SessionsTable(d.io.Out, d.outStyle(), doc, now)
}

// sessionVerbs are the commands below `sessions`, for a near miss of one, which
// reads as a session's id.
var sessionVerbs = []string{"cancel", "cat", "log", "rm", "spec", "usage"}

func showSession(ctx context.Context, o *sessionsOptions, store session.Store) error {
	state, err := store.Load(ctx, o.ID)
	var missing session.NotFoundError
	if near := diag.Nearest(o.ID, sessionVerbs); errors.As(err, &missing) && near != "" {
		return &failure{code: "session-not-found", message: fmt.Sprintf("no session %q (did you mean `archmax sessions %s`?)", o.ID, near), hint: "`archmax sessions` lists them", err: err}
	}
	if err != nil {
		return err
	}
	files, err := filesOf(ctx, store, o.ID)
	if err != nil {
		return err
	}
	summary := render.SummarizeState(state, files)
	if o.JSON {
		return render.JSON(o.deps.io.Out, summary)
	}
	return render.OneSession(o.deps.io.Out, o.deps.outStyle(), summary, o.deps.verdictOptions())
}

func newSessionsRmCmd(d *deps) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "rm <session>…",
		Short:             "Delete sessions, with their children",
		Example:           "  archmax sessions rm refund-1 refund-2",
		ValidArgsFunction: d.completeSessions,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := sessionFirst(cmd, args); err != nil {
				return err
			}
			for _, id := range args[1:] {
				if err := sessionFirst(cmd, []string{id}); err != nil {
					return err
				}
			}
			return nil
		},
	}
	store := d.storeOf(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s, err := store()
		if err != nil {
			return err
		}
		return removeSessions(cmd.Context(), d, s, args)
	}
	return cmd
}

// removeSessions deletes every session it can; the first failure is returned,
// the others are told before it.
func removeSessions(ctx context.Context, d *deps, store session.Store, ids []string) error {
	var failed []error
	for _, id := range slices.Compact(ids) {
		if err := store.Delete(ctx, id); err != nil {
			failed = append(failed, err)
			continue
		}
		fmt.Fprintf(d.io.Out, "deleted %s\n", render.OneLine(id))
	}
	if len(failed) == 0 {
		return nil
	}
	last := len(failed) - 1
	for _, err := range failed[:last] {
		fmt.Fprintf(d.io.Err, "archmax: %s\n", oneLine(err.Error()))
	}
	return failed[last]
}

func newSessionsCancelCmd(d *deps) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "cancel <session>",
		Short:             "End a turn that another process runs",
		Example:           "  archmax sessions cancel refund-1",
		ValidArgsFunction: d.completeSessions,
		Args:              sessionOnly,
	}
	store := d.storeOf(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s, err := store()
		if err != nil {
			return err
		}
		if err := s.Cancel(cmd.Context(), args[0]); err != nil {
			return err
		}
		fmt.Fprintf(d.io.Out, "asked the process that runs %s to end the turn\n", render.OneLine(args[0]))
		return nil
	}
	return cmd
}

type usageOptions struct {
	deps  *deps
	store func() (session.Store, error)

	By   string
	JSON bool
}

func newSessionsUsageCmd(d *deps, runF func(context.Context, *usageOptions) error) *cobra.Command {
	opts := &usageOptions{deps: d}
	cmd := &cobra.Command{
		Use:   "usage",
		Short: "What the sessions used and cost",
		Example: `  archmax sessions usage
  archmax sessions usage --by model --json`,
		Args: noArgs,
	}
	opts.store = d.storeOf(cmd)
	opts.By = "workflow"
	fs := cmd.Flags()
	flagVar(fs, &opts.By, "by", "key", "group by `KEY`: workflow (default), model, state or day", oneOf(render.UsageBy...))
	fs.BoolVar(&opts.JSON, "json", false, "print one JSON document")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if runF != nil {
			return runF(cmd.Context(), opts)
		}
		return usageRun(cmd.Context(), opts)
	}
	return cmd
}

func usageRun(ctx context.Context, o *usageOptions) error {
	store, err := o.store()
	if err != nil {
		return err
	}
	counter, err := render.NewUsageCounter(o.By)
	if err != nil {
		return err
	}
	entries, err := store.List(ctx)
	if err != nil {
		return err
	}
	for _, e := range entries {
		err := e.Err
		if err == nil {
			err = counter.Add(e.ID, store.Records(ctx, e.ID, 1))
		}
		var gone session.NotFoundError
		switch {
		case err == nil, errors.As(err, &gone): // deleted while we counted
		case ctx.Err() != nil:
			return context.Cause(ctx)
		default:
			fmt.Fprintf(o.deps.io.Err, "archmax: session %s does not count: %s\n", render.OneLine(e.ID), oneLine(err.Error()))
		}
	}
	if o.JSON {
		return render.JSON(o.deps.io.Out, counter.Table())
	}
	return render.UsageText(o.deps.io.Out, o.deps.outStyle(), counter.Table())
}
