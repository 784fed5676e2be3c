package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/archmax-ai/archmax/internal/render"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
)

type sendOptions struct {
	*arrivalOptions

	ID      string
	Message []string
	Resume  bool
	As      string
	DryRun  bool
	turnFlags
}

func newSendCmd(d *deps, runF func(context.Context, *sendOptions) error) *cobra.Command {
	opts := &sendOptions{}
	cmd := &cobra.Command{
		Use:     "send <session> [message…]",
		Short:   "Send a session whatever it needs: a next turn, a reply or a delivery",
		GroupID: "sessions",
		Long: `Sends a message to a session: a next turn when it is finished, a reply when a
person is deciding it, a delivery when it waits. --resume instead continues an
interrupted, cancelled or broken turn where it stood.

The message may be - for standard input, or @file; words are joined by a space.`,
		Example: `  archmax run "Has my rain jacket been sent?" --session jacket-1 --cassette testdata/cassettes/wait.yaml
  archmax send jacket-1 "It is ORD-1004." --cassette testdata/cassettes/wait.yaml`,
		ValidArgsFunction: d.completeSessions,
		Args:              sessionFirst,
	}
	opts.arrivalOptions = addArrivalFlags(cmd, d)
	opts.turnFlags.add(cmd)
	fs := cmd.Flags()
	fs.BoolVar(&opts.Resume, "resume", false, "continue an interrupted, cancelled or broken turn, without a message")
	flagVar(fs, &opts.As, "as", "disposition", "insist on what the message is: `turn`, reply or delivery", oneOf("turn", "reply", "delivery"))
	fs.BoolVar(&opts.DryRun, "dry-run", false, "tell which disposition and signature issues; no model, nothing written")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		opts.ID, opts.Message = args[0], args[1:]
		if err := opts.check(); err != nil {
			return err
		}
		if opts.Resume {
			for _, name := range []string{"trigger", "variables", "var", "file", "as", "dry-run"} {
				if cmd.Flags().Changed(name) {
					return usageErr("--resume continues a turn as it is; --%s does not go with it", name)
				}
			}
			if len(opts.Message) > 0 {
				return usageErr("--resume continues a turn as it is and takes no message")
			}
		}
		if runF != nil {
			return runF(cmd.Context(), opts)
		}
		return sendRun(cmd.Context(), opts)
	}
	return cmd
}

// sessionFirst checks that the first argument is a session id.
func sessionFirst(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usageErr("name the session; `archmax sessions` lists them")
	}
	if _, err := parseID(args[0]); err != nil {
		return &UsageError{Message: err.Error(), Err: err}
	}
	return nil
}

// sessionOnly is sessionFirst for commands that take nothing else.
func sessionOnly(cmd *cobra.Command, args []string) error {
	if err := sessionFirst(cmd, args); err != nil {
		return err
	}
	return noArgs(cmd, args[1:])
}

func sendRun(ctx context.Context, o *sendOptions) error {
	msg, err := o.words(ctx, o.deps, o.Message)
	if err != nil {
		return err
	}
	msg.Session, msg.MustExist, msg.Key, msg.As = o.ID, true, o.Key, o.As
	s, err := o.session(ctx, o.ID)
	var missing session.NotFoundError
	switch {
	case errors.As(err, &missing):
		if root := session.Root(o.ID); root != o.ID {
			return o.refusal(noChild(ctx, s, o.ID, root))
		}
		return o.refusal(&runtime.Error{
			ErrCode: "session-not-found",
			Message: fmt.Sprintf("no session %q", o.ID),
			Hint:    fmt.Sprintf("`%s \"…\"` opens one, and `archmax sessions` lists those that are", render.Command(append([]string{"archmax", "run", "--session", o.ID}, o.verdictOptions().Flags...)...)),
			Err:     err,
		})
	case err != nil:
		return err
	case o.DryRun:
		return o.plan(ctx, s.ws, s.machine, s.store, msg)
	}
	if o.Resume {
		if done, err := o.retold(ctx, s.machine, s.store, o.ID); done {
			return err
		}
	} else if done, err := o.prepare(ctx, s.ws, s.machine, s.store, &msg, false); done || err != nil {
		return err
	}
	return o.arrive(ctx, s.ws, s.machine, s.store, func(ctx context.Context, api runtime.API) (*runtime.Outcome, error) {
		if o.Resume {
			return api.Resume(ctx, o.ID, o.Key)
		}
		return api.Send(ctx, msg)
	})
}

// noChild is the refusal of an id that has the shape of a child session's and
// names none: a child is opened by its parent's turn, not by an arrival.
func noChild(ctx context.Context, s *sessionAt, id, root string) error {
	e := &runtime.Error{
		ErrCode: "session-not-found",
		Message: fmt.Sprintf("no session %q, and no session %q that could have opened it", id, root),
		Hint:    "`archmax sessions` lists those that are",
		Err:     session.NotFoundError{ID: id},
	}
	if _, err := workflowOf(ctx, s.store, root); err == nil {
		e.Message = fmt.Sprintf("session %q has opened no child %q", root, id)
		e.Hint = fmt.Sprintf("`%s` shows it", render.Command("archmax", "sessions", root))
	}
	return e
}

// sessionAt is a session that is there, with its workspace and workflow.
type sessionAt struct {
	ws      *Workspace
	store   session.Store
	machine *spec.Machine
}

// session finds the session and loads the workflow that its journal names.
func (o *arrivalOptions) session(ctx context.Context, id string) (*sessionAt, error) {
	ws, err := o.open()
	if err != nil {
		return nil, err
	}
	s := &sessionAt{ws: ws}
	if s.store, err = openStore(ws); err != nil {
		return nil, err
	}
	slug, err := workflowOf(ctx, s.store, id)
	if err != nil {
		return s, err
	}
	s.machine, err = loadMachine(ws, slug)
	return s, err
}
