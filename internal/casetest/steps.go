package casetest

import (
	"fmt"
	"io/fs"
	"path"

	"github.com/archmax-ai/archmax/internal/diag"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
)

// send writes to the session: a turn, a reply or a delivery, as it takes it.
type send struct{ text string }

// decide takes an edge of the human state that the session is parked in.
type decide struct {
	to, comment string
	toRange     diag.Range
	field       string
}

// deliver resumes a session that waits for input.
type deliver struct {
	trigger   string
	variables []runtime.Seed
	message   string
}

func (d *decide) refer(s *statics) { s.decision(d.to, d.toRange, d.field) }

func (a *send) perform(r *run) error {
	m := runtime.Message{Workflow: r.machine().Slug, Session: r.id, Trigger: r.c.Trigger, Text: a.text, HasText: a.text != ""}
	if r.state.Status != session.StatusAwaitingDecision { // a reply brings words alone
		m.Variables = r.c.Variables
		if !r.attached {
			files, err := r.attachments()
			if err != nil {
				return err
			}
			m.Files, r.attached = files, true
		}
	}
	return r.arrived(r.rt.Send(r.ctx, m))
}

func (a *decide) perform(r *run) error {
	return r.arrived(r.rt.Decide(r.ctx, runtime.Decision{Session: r.id, To: a.to, Comment: a.comment}))
}

func (a *deliver) perform(r *run) error {
	return r.arrived(r.rt.Deliver(r.ctx, runtime.Delivery{
		Session: r.id, Workflow: r.machine().Slug, Trigger: a.trigger, Variables: a.variables, Text: a.message, HasText: a.message != "",
	}))
}

// attachments reads the files of the first turn.
func (r *run) attachments() ([]runtime.File, error) {
	var files []runtime.File
	for _, f := range r.c.Files {
		content, err := r.fixture(f.From)
		if err != nil {
			return nil, err
		}
		files = append(files, runtime.File{Name: f.Path, Base: path.Base(f.From), Content: content})
	}
	return files, nil
}

func (r *run) fixture(from string) ([]byte, error) {
	name := path.Join(testsDir(r.machine().Slug), from)
	content, err := fs.ReadFile(r.s.o.Runtime.Root, name)
	if err != nil {
		return nil, fmt.Errorf("the fixture %s cannot be read: %s", name, cause(err))
	}
	return content, nil
}

// place puts the files of `workspace` into the session before its first turn.
func (r *run) place() error {
	if len(r.c.Workspace) == 0 {
		return nil
	}
	w, err := r.store.Open(r.ctx, r.id, true)
	if err != nil {
		return err
	}
	defer w.Close()
	if _, err := w.Append(&session.Created{Session: r.id, Workflow: r.machine().Slug}); err != nil {
		return err
	}
	ws := r.s.o.Runtime.Shared.Session(w.Files())
	for _, f := range r.c.Workspace {
		content := f.Content
		if f.From != "" {
			if content, err = r.fixture(f.From); err != nil {
				return err
			}
		}
		if err := ws.WriteFile(f.Path, content, true); err != nil {
			return fmt.Errorf("the file of `workspace` cannot be placed: %w", err)
		}
	}
	return nil
}
