package runtime

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
)

// place of an arrival: the session it belongs to.
type resolved struct {
	id      string
	minted  bool
	warning string
}

// resolve finds the session of an arrival, most specific first: the id given,
// the path given, the trigger's path, minted (spec: sessions.md, "Resolution").
func (r *Runtime) resolve(ctx context.Context, m Message) (resolved, error) {
	if m.Session != "" {
		if err := r.checkID(m.Session); err != nil {
			return resolved{}, err
		}
		return resolved{id: m.Session}, nil
	}
	path := m.SessionPath
	machine, err := r.load(m.Workflow)
	if err != nil {
		return resolved{}, err
	}
	trigger, _ := machine.Trigger(m.Trigger)
	if path == "" && trigger != nil {
		path = trigger.Session
	}
	where := resolved{minted: true}
	if path != "" {
		if !spec.ValidDottedPath(path) {
			return resolved{}, &Error{ErrCode: "bad-session-path", Message: fmt.Sprintf("session path %q is no dotted path", path), Hint: "write it as `triggers.-1.conversationId`"}
		}
		switch v := lookupSeed(path, m.Variables).(type) {
		case string:
			if v != "" {
				return r.found(path, v)
			}
		case fmt.Stringer: // json.Number
			return r.found(path, v.String())
		}
		where.warning = fmt.Sprintf("the session path %q finds nothing in the variables; a new session was opened", path)
	}
	if m.Key != "" {
		where.id = session.ForKey(m.Workflow, m.Key)
	} else {
		where.id = session.Mint(time.Now(), rand.Reader)
	}
	return where, nil
}

// found is the session that a path led to.
func (r *Runtime) found(path, id string) (resolved, error) {
	if err := r.checkID(id); err != nil {
		return resolved{}, &Error{ErrCode: "bad-session-id", Message: fmt.Sprintf("the session path %q leads to no session id: %s", path, err), Err: err}
	}
	return resolved{id: id}, nil
}

func (r *Runtime) checkID(id string) error {
	var mounts []string
	if r.opts.Shared != nil {
		for _, m := range r.opts.Shared.Table() {
			mounts = append(mounts, m.Name)
		}
	}
	return session.CheckID(id, mounts...)
}

// lookupSeed follows a dotted path over the firing's variables; nil when it
// leads nowhere.
func lookupSeed(path string, seeds []Seed) any {
	values := map[string]any{}
	for _, s := range seeds {
		values[s.Name] = session.Decode(s.Value)
	}
	v, _ := spec.LookupDotted(values, path)
	return v
}

// Plan says what an arrival would be, without a model and without writing
// (--dry-run).
func (r *Runtime) Plan(ctx context.Context, m Message) (*Plan, error) {
	if m.Trigger == "" {
		m.Trigger = spec.Manual
	}
	if err := checkSeeds(m.Variables, m.Files); err != nil {
		return nil, err
	}
	where, err := r.resolve(ctx, m)
	if err != nil {
		return nil, err
	}
	s, err := r.opts.Store.Load(ctx, where.id)
	var missing session.NotFoundError
	switch {
	case errors.As(err, &missing) && !m.MustExist:
		s = session.NewState()
	case err != nil:
		return nil, err
	}
	slug := m.Workflow
	if s.Workflow != "" {
		if slug != "" && slug != s.Workflow {
			return nil, wrongWorkflow(where.id, s.Workflow, slug)
		}
		slug = s.Workflow
	}
	machine, err := r.load(slug)
	if err != nil {
		return nil, err
	}
	status := s.Status
	if s.TurnOpen { // an interrupted turn is finished first
		status = session.StatusCompleted
	}
	p := &Plan{Version: 1, SessionID: where.id, Minted: where.minted, Disposition: dispositionOf(status, s.Seq), State: s.Position, Issues: []spec.Issue{}}
	if p.Disposition != DispositionTurn {
		return p, nil
	}
	trigger, entry := machine.Trigger(m.Trigger)
	if trigger == nil {
		return nil, unknownTrigger(machine, m.Trigger)
	}
	if machine.State(p.State) == nil {
		p.State = entry.Slug
	}
	sig := signature{values: s.Values(), seeds: m.Variables, now: r.now()}
	if sig.files, err = plan(m.Files); err != nil {
		return nil, err
	}
	if fs, err := r.opts.Store.Files(ctx, where.id); err == nil {
		sig.ws = r.opts.Shared.Session(fs)
	}
	p.Issues = append(p.Issues, sig.check(trigger.Requires)...)
	return p, nil
}

func (r *Runtime) now() time.Time {
	if r.opts.Clock != nil {
		return r.opts.Clock()
	}
	return time.Now()
}

func wrongWorkflow(id, own, asked string) error {
	return &Error{ErrCode: "wrong-workflow", Message: fmt.Sprintf("session %s belongs to workflow %q, not %q", id, own, asked), Hint: fmt.Sprintf("use `archmax send %s` or another --session", id)}
}

func unknownTrigger(m *spec.Machine, id string) error {
	var declared []string
	for _, tr := range m.Triggers() {
		declared = append(declared, tr.ID)
	}
	return &Error{ErrCode: "unknown-trigger", Message: fmt.Sprintf("workflow %q declares no trigger %q", m.Slug, id), Hint: "it declares: " + strings.Join(declared, ", ")}
}
