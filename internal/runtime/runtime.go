// Package runtime is the machine at work: it opens turns, calls the model,
// dispatches tools through the kernel, parks, routes failures, and settles
// (spec: runtime.md). It prints nothing: what happens goes out as events, and
// what an arrival came to is its Outcome.
//
// An arrival is served by one goroutine, which owns the session's writer and is
// the only one that reads its state or appends to it. Tools of one batch run in
// goroutines of their own and hand their results back over a channel. Events
// reach the sink from the owning goroutine, in order; text deltas too.
package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/event"
	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
	"github.com/archmax-ai/archmax/internal/workspace"
)

// DefaultRecursionLimit is how many steps one arrival may take.
const DefaultRecursionLimit = 400

// Runtime drives the sessions of one workspace. It is safe for concurrent use:
// arrivals on different sessions share nothing but the store and the client.
type Runtime struct {
	opts  Options
	tools toolbox
}

var _ API = (*Runtime)(nil)

// New returns a runtime over opts.
func New(opts Options) *Runtime {
	if opts.RecursionLimit == 0 {
		opts.RecursionLimit = DefaultRecursionLimit
	}
	if opts.Events == nil {
		opts.Events = func(event.Event) {}
	}
	return &Runtime{opts: opts, tools: newToolbox(opts)}
}

// load reads the workflow in force.
func (r *Runtime) load(slug string) (*spec.Machine, error) {
	m, diags := spec.Load(r.opts.Root, slug)
	if m != nil {
		diags = append(diags, r.missingSkills(m)...)
	}
	if err := diags.Err(); err != nil {
		return nil, &Error{ErrCode: "invalid-workflow", Message: fmt.Sprintf("workflow %q cannot run: %s", slug, err), Err: err}
	}
	return m, nil
}

// missingSkills reports the skills that the machine grants and no bundle
// provides: a run needs them, so it does not begin without.
func (r *Runtime) missingSkills(m *spec.Machine) (missing diag.List) {
	have := map[string]bool{}
	if r.opts.Shared != nil {
		for _, s := range r.opts.Shared.Skills() {
			have[s.Slug] = true
		}
	}
	granted := slices.Clone(m.Skills.AllowAlways)
	for _, s := range m.States {
		granted = append(granted, s.Skills.Allow...)
	}
	for _, n := range granted {
		if !have[n.Value] {
			missing = append(missing, diag.Diagnostic{
				Severity: diag.Error, Code: string(diag.UnknownSkill), File: m.File, Range: n.Range,
				Message: fmt.Sprintf("there is no skill `%s`: the workspace has no such skill bundle", n.Value),
			})
		}
	}
	missing.Sort()
	return missing
}

// turn is one arrival at work on one open session.
type turn struct {
	rt          *Runtime
	ctx         context.Context
	cancel      context.CancelCauseFunc
	id          string // the session's
	m           *spec.Machine
	w           session.Writer
	ws          *workspace.Workspace
	env         governance.Env
	disposition string
	joined      bool           // an interrupted turn was finished first
	pending     []session.Body // of the frame being put together
	warnings    []session.Body // for the arrival that is about to begin
	plain       map[string]any // see values
	plainAt     uint64
	wire        transcript
	noCompact   bool // a summary failed; the arrival goes on without
	prompts     promptCache
	minted      int // call ids minted for the frame being put together
}

// open takes the session's lock and prepares the work of one arrival. The
// caller closes it. slug is "" for the session's own workflow.
func (r *Runtime) open(ctx context.Context, id, slug string, create bool) (*turn, error) {
	w, err := r.opts.Store.Open(ctx, id, create)
	if err != nil {
		return nil, err
	}
	t := &turn{rt: r, w: w, id: id}
	if err := t.prepare(ctx, slug); err != nil {
		w.Close()
		return nil, err
	}
	return t, nil
}

func (t *turn) prepare(ctx context.Context, slug string) error {
	if own := t.s().Workflow; own != "" {
		if slug != "" && slug != own {
			return wrongWorkflow(t.s().Session, own, slug)
		}
		slug = own
	}
	m, err := t.rt.load(slug)
	if err != nil {
		return err
	}
	t.m = m
	t.ws = t.rt.opts.Shared.Session(t.w.Files())
	t.env = t.rt.environment()
	t.ctx, t.cancel = context.WithCancelCause(ctx)
	go func() { // ends with close, which cancels t.ctx
		select {
		case <-t.w.Cancelled():
			t.cancel(errCancelledElsewhere)
		case <-t.ctx.Done():
		}
	}()
	return nil
}

var errCancelledElsewhere = errors.New("cancelled by `archmax sessions cancel`")

func (t *turn) close() error {
	t.cancel(nil)
	return t.w.Close()
}

func (t *turn) s() *session.State { return t.w.State() }

// environment is the part of a decision's inputs that an arrival does not
// change.
func (r *Runtime) environment() governance.Env {
	env := governance.Env{Tools: r.tools.set}
	if r.opts.Shared != nil {
		env.Mounts = r.opts.Shared.Table()
		for _, s := range r.opts.Shared.Skills() {
			env.Skills = append(env.Skills, s.Slug)
		}
	}
	return env
}

// decide asks the kernel, with the variables as they stand.
func (t *turn) decide(a governance.Action) governance.Verdict {
	t.env.Variables = t.values()
	return governance.Decide(t.m, a, &t.env)
}

// values is the variables as plain values, decoded once for each state of the
// journal. Nobody changes the map.
func (t *turn) values() map[string]any {
	if s := t.s(); t.plain == nil || t.plainAt != s.Seq {
		t.plain, t.plainAt = s.Values(), s.Seq
	}
	return t.plain
}

// add puts bodies into the frame being put together.
func (t *turn) add(bodies ...session.Body) { t.pending = append(t.pending, bodies...) }

// commit makes the frame durable, folds it and announces its events.
func (t *turn) commit() error {
	if len(t.pending) == 0 {
		return nil
	}
	events, err := t.w.Append(t.pending...)
	t.pending, t.minted = t.pending[:0], 0
	if err != nil {
		return err
	}
	for _, e := range events {
		t.rt.opts.Events(e)
	}
	return nil
}

// transient announces an event that the journal does not hold.
func (t *turn) transient(p event.Payload, level string) {
	t.rt.opts.Events(event.Event{Header: event.Header{
		Type: p.EventType(), Level: level, TS: time.Now(), SessionID: t.id,
	}, Payload: p})
}

// finish does the work the session owes, then writes what is derived from it,
// and tells the outcome.
func (t *turn) finish() (*Outcome, error) {
	if err := t.work(); err != nil {
		return nil, err
	}
	t.wrapUp()
	return outcomeOf(t.s(), t.disposition), nil
}

// wrapUp writes what is derived from a session that has come to a stop. A
// failure here fails no turn.
func (t *turn) wrapUp() {
	if err := t.w.Snapshot(); err != nil {
		t.transient(event.Warning{Scope: "snapshot", Message: err.Error()}, "warn")
	}
	for _, err := range t.writeArtifacts() {
		t.transient(event.Warning{Scope: "artifacts", Message: err.Error()}, "warn")
	}
}

// work runs the machine until the session is settled or parked.
func (t *turn) work() error {
	for {
		if err := t.commit(); err != nil {
			return err
		}
		s := t.s()
		var err error
		switch {
		case s.Say != "":
			err = t.say()
		case !s.TurnOpen:
			return nil
		case t.ctx.Err() != nil:
			t.settle(session.Failed, "turn-cancelled", cancelReason(t.ctx))
		case s.Steps >= t.rt.opts.RecursionLimit:
			t.settle(session.Failed, "recursion-limit", fmt.Sprintf("the turn took %d steps, the most it may take", s.Steps))
		default:
			err = t.step()
		}
		if err != nil {
			return err
		}
	}
}

// step does one step of the state that the session is in.
func (t *turn) step() error {
	s := t.s()
	state := t.m.State(s.Position)
	if state == nil {
		return t.reopen()
	}
	if batch := s.Batch(); batch != nil {
		return t.batch(state, batch)
	}
	switch state.Kind {
	case spec.Human:
		t.present(state, session.SayEntered, "", nil)
		return nil
	case spec.Code, spec.Grader:
		t.settle(session.Failed, "unsupported-state", fmt.Sprintf("state %q is of type %s; this version of archmax loads and validates such states but does not run them yet", state.Slug, state.Kind))
		return nil
	}
	if len(state.Before)+len(state.After) > 0 {
		t.settle(session.Failed, "unsupported-hooks", fmt.Sprintf("state %q has lifecycle hooks; this version of archmax loads and validates them but does not run them yet", state.Slug))
		return nil
	}
	return t.agent(state)
}

// reopen moves a session whose position the workflow no longer declares to its
// trigger's entry.
func (t *turn) reopen() error {
	s := t.s()
	_, entry := t.m.Trigger(s.Contract)
	if entry == nil {
		t.settle(session.Failed, "turn-error", fmt.Sprintf("the workflow no longer declares state %q nor trigger %q", s.Position, s.Contract))
		return nil
	}
	t.refuseOpenCalls("the workflow changed and the state this call was made in is gone; it was not run")
	t.add(&session.Moved{To: entry.Slug, Step: session.StepTrigger, As: string(entry.Kind), Reason: fmt.Sprintf("state %q is gone from the workflow", s.Position)})
	return nil
}

// settle ends the turn.
func (t *turn) settle(as, code, reason string) {
	t.add(&session.Settled{As: as, Code: code, Reason: reason})
}

// cancelReason words why ctx ended.
func cancelReason(ctx context.Context) string {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, context.DeadlineExceeded):
		return "the turn ran out of its time limit"
	case cause == nil, errors.Is(cause, context.Canceled):
		return "the turn was interrupted"
	}
	return strings.TrimSpace(cause.Error())
}
