package runtime

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/archmax-ai/archmax/internal/event"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
)

// present parks the session on a human state: the record a person decides on,
// built without a model. call is the advance that led here, "" for a decision,
// an on_error route or an opening; say is which of these it was.
func (t *turn) present(state *spec.State, say session.SayDue, call string, evidence []string) {
	p := &session.Pending{
		State:        state.Slug,
		Title:        state.Title,
		Instructions: strings.TrimSpace(state.Instructions),
		Approvers:    state.Approvers,
		Evidence:     []string{},
		Transitions:  make([]session.PendingTransition, len(state.Transitions)),
		Seq:          t.s().PendingSeq + 1,
		CreatedAt:    time.Now().UTC().Format(event.TimeFormat),
	}
	paths := make([]string, 0, len(state.Evidence)+len(evidence))
	for _, e := range state.Evidence {
		paths = append(paths, e.Value)
	}
	for _, path := range append(paths, evidence...) { // declared, then attached
		if !slices.Contains(p.Evidence, path) {
			p.Evidence = append(p.Evidence, path)
		}
	}
	for _, path := range p.Evidence {
		if info, err := t.ws.Stat(path); err != nil || info.Dir {
			t.add(&session.Warned{Scope: "evidence", Message: fmt.Sprintf("evidence `%s` of state %q is not there to be read", path, state.Slug)})
		}
	}
	for i, e := range state.Transitions {
		p.Transitions[i] = session.PendingTransition{To: e.To, Description: e.Description, Type: string(e.Type)}
	}
	t.park(&session.Parked{Channel: session.Decision, Pending: p, Call: call, Say: say})
}

// park stops the session durably; an ephemeral one cannot, and fails.
func (t *turn) park(p *session.Parked) {
	if t.rt.opts.Ephemeral {
		t.settle(session.Failed, "ephemeral-park", fmt.Sprintf("the session would wait for %s, and an --ephemeral run keeps nothing to resume", awaited(p.Channel)))
		return
	}
	t.add(p)
}

func awaited(c session.Channel) string {
	if c == session.Decision {
		return "a decision"
	}
	return "input"
}
