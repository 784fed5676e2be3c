package runtime

import (
	"fmt"
	"time"

	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
)

// fatal ends the work of a state that cannot go on: along its on_error route,
// or by rejecting the session. Calls still open are answered first, so that the
// transcript stays whole.
func (t *turn) fatal(state *spec.State, reason string) {
	t.refuseOpenCalls("the state failed before this call was made; it was not run")
	if state.OnError == "" {
		t.settle(session.Rejected, "", fmt.Sprintf("state %q: %s", state.Slug, reason))
		return
	}
	target := t.m.State(state.OnError)
	t.add(
		&session.NewMessage{Role: "note", Note: "error", Text: fmt.Sprintf("[error] State `%s` could not go on: %s. The run was moved to `%s`.", state.Slug, reason, target.Slug)},
		&session.Moved{To: target.Slug, Step: session.StepOnError, As: string(target.Kind), Reason: reason},
	)
	t.enter(target, session.SayFailed, "", nil)
}

// enter does what entering a state takes beside the move itself. say is why a
// human state would be spoken of, call the advance that led there, if one did.
func (t *turn) enter(target *spec.State, say session.SayDue, call string, evidence []string) {
	if target.Kind == spec.Human {
		t.present(target, say, call, evidence)
	}
}

// refuseOpenCalls settles the calls that the frame being put together leaves
// open: those started are of unknown effect, the others were not run.
func (t *turn) refuseOpenCalls(why string) {
	settled := map[string]bool{}
	started := map[string]bool{}
	var calls []session.NewCall
	if batch := t.s().Batch(); batch != nil {
		for _, c := range batch.Calls {
			calls = append(calls, session.NewCall{ID: c.ID})
			settled[c.ID] = c.Result != nil
			started[c.ID] = c.Intent != nil
		}
	}
	for _, b := range t.pending {
		switch b := b.(type) {
		case *session.ModelSettled:
			calls = append(calls, b.Calls...)
		case *session.Result:
			settled[b.Call] = true
		case *session.Intent:
			started[b.Call] = true
		}
	}
	for _, c := range calls {
		switch {
		case settled[c.ID]:
		case started[c.ID]:
			t.add(&session.Result{Call: c.ID, Status: "error", Text: unknownEffect})
		default:
			t.add(&session.Result{Call: c.ID, Status: "error", Text: "Error: " + why + "."})
		}
	}
}

// unknownEffect answers a call that started and whose end nobody saw.
const unknownEffect = "Error: interrupted: it is unknown whether this call took effect."

// exhausted says which budget of the state, if any, forbids another model call.
func (t *turn) exhausted(state *spec.State) string {
	s, b := t.s(), state.Budget
	switch {
	case b.MaxVisits > 0 && s.Visits[state.Slug] > b.MaxVisits:
		return fmt.Sprintf("budget.maxVisits: it was entered %d times in this turn, and %d are allowed", s.Visits[state.Slug], b.MaxVisits)
	case b.MaxTurns > 0 && s.StateCalls >= b.MaxTurns:
		return fmt.Sprintf("budget.maxTurns: its %d model calls are spent", b.MaxTurns)
	case b.TimeoutMs > 0 && t.timeLeft(state) <= 0:
		return timedOut(state)
	}
	return ""
}

func timedOut(state *spec.State) string {
	return fmt.Sprintf("budget.timeoutMs: it took longer than %s", time.Duration(state.Budget.TimeoutMs)*time.Millisecond)
}

// timeLeft is what remains of the state's time, parked time excluded.
func (t *turn) timeLeft(state *spec.State) time.Duration {
	s := t.s()
	spent := time.Since(s.EnteredAt) - s.ParkedFor
	return time.Duration(state.Budget.TimeoutMs)*time.Millisecond - spent
}
