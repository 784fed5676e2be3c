package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/archmax-ai/archmax/internal/render"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
)

type decideOptions struct {
	*arrivalOptions

	ID      string
	To      string
	Comment string
	By      string
	Seq     int
}

func newDecideCmd(d *deps, runF func(context.Context, *decideOptions) error) *cobra.Command {
	opts := &decideOptions{}
	cmd := &cobra.Command{
		Use:     "decide <session> --to <state>",
		Short:   "Take an edge of the human state that a session is parked in",
		GroupID: "sessions",
		Long: `Takes an edge of the human state that a session is parked in. Without --to on a
terminal, shows the record and lets you choose.`,
		Example: `  archmax run "I want my money back for ORD-1002." --session refund-2 --cassette testdata/cassettes/refund.yaml
  archmax decide refund-2 --to refund-issued --by Kim --cassette testdata/cassettes/refund.yaml`,
		ValidArgsFunction: d.completeSessions,
		Args:              sessionOnly,
	}
	opts.arrivalOptions = addArrivalFlags(cmd, d)
	fs := cmd.Flags()
	flagVar(fs, &opts.To, "to", "state", "the `STATE` that the edge leads to", parseText)
	fs.StringVar(&opts.Comment, "comment", "", "a `TEXT` for the agent, on record")
	flagVar(fs, &opts.By, "by", "name", "who decides, a `NAME` on record", parseText)
	flagVar(fs, &opts.Seq, "seq", "number", "refuse unless the pending record is number `N`", parsePositive)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		opts.ID = args[0]
		if err := opts.check(); err != nil {
			return err
		}
		if runF != nil {
			return runF(cmd.Context(), opts)
		}
		return decideRun(cmd.Context(), opts)
	}
	return cmd
}

func decideRun(ctx context.Context, o *decideOptions) error {
	s, err := o.session(ctx, o.ID)
	if err != nil {
		return o.refusal(err)
	}
	d := runtime.Decision{Session: o.ID, To: o.To, Comment: o.Comment, By: o.By, Seq: o.Seq, Key: o.Key}
	if done, err := o.retold(ctx, s.machine, s.store, o.ID); done {
		return err
	}
	if d.To == "" {
		if err := o.choose(ctx, s.store, s.machine, &d); err != nil {
			return o.refusal(err)
		}
	}
	if err := o.precheck(ctx, s.store, s.machine, d); err != nil {
		return o.refusal(err)
	}
	return o.arrive(ctx, s.ws, s.machine, s.store, func(ctx context.Context, api runtime.API) (*runtime.Outcome, error) {
		return api.Decide(ctx, d)
	})
}

// precheck refuses what the record as it stands refuses, before a model is
// looked for: the fault of a decision is not a missing key. The runtime checks
// again under the lock.
func (o *decideOptions) precheck(ctx context.Context, store session.Store, m *spec.Machine, d runtime.Decision) error {
	state, err := store.Load(ctx, d.Session)
	if err != nil {
		return err
	}
	if state.TurnOpen { // finished first
		return nil
	}
	if state.Park == nil || state.Park.Channel != session.Decision {
		return runtime.NotParkedError{ID: d.Session, Wanted: "decision", Status: string(state.Status)}
	}
	if now := m.State(state.Park.State); now == nil || now.Edge(d.To) != nil {
		return nil // the runtime says what changed since the session parked
	}
	bad := runtime.BadTargetError{ID: d.Session, State: state.Park.State, To: d.To}
	for _, t := range state.Park.Pending.Transitions {
		if t.To == d.To {
			return nil
		}
		bad.Targets = append(bad.Targets, t.To)
	}
	return bad
}

// stillOpen is a parked record with the edges that may be decided now, those
// that the workflow still has, and what changed since, "" when nothing did.
func stillOpen(m *spec.Machine, p *session.Pending) (*session.Pending, string) {
	state := m.State(p.State)
	if state == nil || state.Kind != spec.Human {
		none := *p
		none.Transitions = nil
		return &none, "the workflow changed since the session parked and has no such human state any more"
	}
	open := *p
	open.Transitions = nil
	var gone []session.PendingTransition
	for _, t := range p.Transitions {
		if state.Edge(t.To) == nil {
			gone = append(gone, t)
			continue
		}
		open.Transitions = append(open.Transitions, t)
	}
	if len(gone) == 0 {
		return &open, ""
	}
	return &open, "the workflow changed since the session parked and no longer goes to " + targets(gone)
}

func targets(list []session.PendingTransition) string {
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = t.To
	}
	return strings.Join(names, ", ")
}

// choose shows the record and lets a person choose; where nobody is there to
// ask, it is a usage error that lists the targets.
func (o *decideOptions) choose(ctx context.Context, store session.Store, m *spec.Machine, d *runtime.Decision) error {
	state, err := store.Load(ctx, o.ID)
	if err != nil {
		return err
	}
	if state.Park == nil || state.Park.Channel != session.Decision {
		return runtime.NotParkedError{ID: o.ID, Wanted: "decision", Status: string(state.Status)}
	}
	pending, changed := stillOpen(m, state.Park.Pending)
	if len(pending.Transitions) == 0 {
		return &failure{
			code: "bad-target", message: fmt.Sprintf("session %s (state %s) can go nowhere: %s", o.ID, pending.State, changed),
			hint: "restore the workflow",
		}
	}
	if !o.deps.io.CanAsk() {
		message := fmt.Sprintf("--to is missing; session %s (state %s) can go to: %s", o.ID, pending.State, targets(pending.Transitions))
		if changed != "" {
			message += "; " + changed
		}
		return &UsageError{Message: message}
	}
	if changed != "" {
		fmt.Fprintf(o.deps.io.Err, "%s\n", changed)
	}
	err = render.Park(o.deps.io.Err, o.deps.errStyle(), o.ID, session.Decision, pending, o.verdictOptions())
	if err != nil {
		return fmt.Errorf("the record cannot be shown: %w", err)
	}
	a := newAsker(ctx, o.deps)
	if d.To, err = a.choose(pending); err != nil {
		return err
	}
	if d.Comment == "" {
		if d.Comment, err = a.line("comment (empty for none): "); err != nil {
			return err
		}
	}
	d.Seq = pending.Seq // what was shown is what is decided
	return nil
}
