package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/archmax-ai/archmax/internal/event"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
)

// Send brings words, variables and files to a session: a next turn when it is
// new or finished, a reply when a person decides it, a delivery when it waits
// (spec: runtime.md, "Human states and parks").
func (r *Runtime) Send(ctx context.Context, m Message) (*Outcome, error) {
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
	t, err := r.open(ctx, where.id, m.Workflow, !m.MustExist)
	if err != nil {
		return nil, err
	}
	defer t.close()
	if out, err := t.settleFirst(m.Key); out != nil || err != nil {
		return out, err
	}
	if where.warning != "" {
		t.warn("session", where.warning)
	}
	t.disposition = dispositionOf(t.s().Status, t.s().Seq)
	if m.As != "" && asWord(t.disposition) != m.As {
		return nil, &Error{ErrCode: "wrong-disposition", Message: fmt.Sprintf("session %s takes a %s now (it is %s), not a %s", where.id, asWord(t.disposition), t.s().Status, m.As), Hint: "nothing was changed"}
	}
	switch t.disposition {
	case DispositionReply:
		return t.reply(m)
	case DispositionDeliver:
		return t.deliver(Delivery{Session: where.id, Trigger: m.Trigger, Variables: m.Variables, Text: m.Text, HasText: m.HasText, Key: m.Key}, m.Files)
	}
	return t.freshTurn(where.id, m)
}

// Decide takes an edge of the parked human state.
func (r *Runtime) Decide(ctx context.Context, d Decision) (*Outcome, error) {
	t, err := r.open(ctx, d.Session, "", false)
	if err != nil {
		return nil, err
	}
	defer t.close()
	if out, err := t.settleFirst(d.Key); out != nil || err != nil {
		return out, err
	}
	t.disposition = DispositionDecide
	return t.decideOn(d)
}

// Deliver resumes a session that waits for input.
func (r *Runtime) Deliver(ctx context.Context, d Delivery) (*Outcome, error) {
	if strings.TrimSpace(d.Trigger) == "" {
		return nil, &Error{ErrCode: "no-trigger", Message: "a delivery needs a trigger id", Hint: "name one with --trigger"}
	}
	if err := checkSeeds(d.Variables, nil); err != nil {
		return nil, err
	}
	if d.Session == "" {
		where, err := r.resolve(ctx, Message{Workflow: d.Workflow, SessionPath: d.SessionPath, Variables: d.Variables, Trigger: d.Trigger})
		if err != nil {
			return nil, err
		}
		if where.minted {
			return nil, &Error{ErrCode: "no-session", Message: fmt.Sprintf("no session was named, and --session-path %q finds none in the variables", d.SessionPath), Hint: "name the session to deliver to"}
		}
		d.Session = where.id
	}
	t, err := r.open(ctx, d.Session, d.Workflow, false)
	if err != nil {
		return nil, err
	}
	defer t.close()
	if out, err := t.settleFirst(d.Key); out != nil || err != nil {
		return out, err
	}
	t.disposition = DispositionDeliver
	return t.deliver(d, nil)
}

// Resume continues a turn that was interrupted, cancelled or broken, without a
// message.
func (r *Runtime) Resume(ctx context.Context, id, key string) (*Outcome, error) {
	t, err := r.open(ctx, id, "", false)
	if err != nil {
		return nil, err
	}
	defer t.close()
	if out := t.stored(key); out != nil {
		return out, nil
	}
	t.disposition = DispositionTurn
	s := t.s()
	switch {
	case s.TurnOpen || s.Say != "":
		return t.finish()
	case s.Status == session.StatusFailed && slices.Contains([]string{"turn-cancelled", "turn-error", "recursion-limit"}, s.SettledCode):
		t.begin(session.ArriveResume, "", key)
		return t.finish()
	}
	return nil, &Error{ErrCode: "nothing-to-resume", Message: fmt.Sprintf("session %s has no turn to continue (it is %s)", id, s.Status), Hint: nextStep(s.Status)}
}

// nextStep says what a session takes next.
func nextStep(s session.Status) string {
	switch s {
	case session.StatusAwaitingDecision:
		return "it takes a decision: `archmax decide`"
	case session.StatusAwaitingInput:
		return "it takes a delivery: `archmax send` or `archmax deliver`"
	}
	return "`archmax send` with a message opens a next turn"
}

// Stored tells the outcome of a settled arrival with the idempotency key again;
// nil when the session has none, or does not exist.
func (r *Runtime) Stored(ctx context.Context, id, key string) (*Outcome, error) {
	s, err := r.opts.Store.Load(ctx, id)
	var missing session.NotFoundError
	switch {
	case errors.As(err, &missing):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return r.retell(ctx, s, key), nil
}

// settleFirst answers an arrival that was seen before, and finishes a turn that
// a crash interrupted, so that the arrival applies itself to what it finds.
func (t *turn) settleFirst(key string) (*Outcome, error) {
	if out := t.stored(key); out != nil {
		return out, nil
	}
	s := t.s()
	if !s.TurnOpen && s.Say == "" {
		return nil, nil
	}
	same := key != "" && s.Key == key
	t.disposition = arrivalDisposition(s.Arrival)
	if same {
		return t.finish()
	}
	t.joined = true
	if err := t.work(); err != nil {
		return nil, err
	}
	t.wrapUp()
	return nil, nil
}

// stored tells the outcome of a finished arrival again, nil when there is none.
func (t *turn) stored(key string) *Outcome { return t.rt.retell(t.ctx, t.s(), key) }

// retell folds the session up to the end of the arrival that carried the key.
func (r *Runtime) retell(ctx context.Context, s *session.State, key string) *Outcome {
	k, ok := s.Keys[key]
	if key == "" || !ok || k.Done == 0 {
		return nil
	}
	past := session.NewState()
	for rec, err := range r.opts.Store.Records(ctx, s.Session, 1) {
		if err != nil {
			return nil
		}
		if _, err := past.Apply(rec); err != nil || rec.Seq == k.Done {
			break
		}
	}
	return outcomeOf(past, arrivalDisposition(past.Arrival))
}

// begin opens the work of an arrival.
func (t *turn) begin(a session.Arrival, trigger, key string) {
	rec := &session.Turn{Arrival: a, Trigger: trigger, Spec: t.m.Hash, Scripts: t.scriptHashes(), Key: key, Joined: t.joined}
	if decl, _ := t.m.Trigger(trigger); decl != nil && a == session.ArriveTurn {
		for _, e := range decl.Returns {
			rec.Returns = append(rec.Returns, e.Name)
		}
	}
	if err := t.rt.opts.Store.PutSpec(t.m.Hash, t.m.Canonical); err != nil {
		t.warn("spec", "the governing spec could not be stored: "+err.Error())
	}
	t.add(rec)
	t.add(t.warnings...)
	t.warnings = nil
	t.topology()
}

// topology announces the machine's shape, for whoever draws it.
func (t *turn) topology() {
	shape := event.GraphTopology{States: []string{}, Edges: [][2]string{}}
	for _, s := range t.m.States {
		shape.States = append(shape.States, s.Slug)
		for _, e := range s.Transitions {
			shape.Edges = append(shape.Edges, [2]string{s.Slug, e.To})
		}
	}
	t.rt.opts.Events(event.Event{Header: event.Header{Type: shape.EventType(), Level: "debug", TS: time.Now(), SessionID: t.id}, Payload: shape})
}

// freshTurn opens a turn (spec: runtime.md, "A turn").
func (t *turn) freshTurn(id string, m Message) (*Outcome, error) {
	s := t.s()
	trigger, entry := t.m.Trigger(m.Trigger)
	if trigger == nil {
		return nil, unknownTrigger(t.m, m.Trigger)
	}
	if t.m.Disabled {
		return t.refuse(id, fmt.Sprintf("workflow %q is disabled: it takes no new turns", t.m.Slug), nil), nil
	}
	files, err := plan(m.Files)
	if err != nil {
		return nil, err
	}
	if issues := t.signature(m.Variables, files).check(trigger.Requires); len(issues) > 0 {
		return t.refuse(id, requiresReason(m.Trigger, issues), issues), nil
	}
	text, err := t.wordsOf(trigger, m)
	if err != nil {
		return nil, err
	}
	if s.Seq == 0 {
		t.add(&session.Created{Session: id, Workflow: t.m.Slug})
	}
	if len(files) > 0 {
		if err := t.commit(); err != nil { // the folder exists before a file goes into it
			return nil, err
		}
		if err := t.place(files); err != nil {
			return nil, err
		}
	}
	t.refuseOpenCalls("the turn it was made in ended before this call; it was not run")
	t.begin(session.ArriveTurn, m.Trigger, m.Key)
	if set := t.seedRecord(m.Variables, files); set != nil {
		t.add(set)
	}
	at := t.m.State(s.Position)
	if at == nil {
		at = entry
	}
	t.add(&session.Moved{To: at.Slug, Step: session.StepTrigger, As: string(at.Kind), Reason: m.Trigger})
	if text == "" {
		t.add(&session.NewMessage{Role: "note", Note: "opening", Text: openingText(m.Trigger, m.Variables)})
	} else {
		t.add(&session.NewMessage{Role: "user", Text: text})
	}
	return t.finish()
}

func requiresReason(trigger string, issues []spec.Issue) string {
	var parts []string
	for _, i := range issues {
		parts = append(parts, i.Message)
	}
	return fmt.Sprintf("trigger %q requires what this arrival does not bring: %s", trigger, strings.Join(parts, "; "))
}

func openingText(trigger string, seeds []Seed) string {
	text := fmt.Sprintf("[opening] The trigger `%s` fired.", trigger)
	if len(seeds) > 0 {
		names := make([]string, len(seeds))
		for i, s := range seeds {
			names[i] = s.Name
		}
		text += " It brought the variables " + strings.Join(names, ", ") + "."
	}
	return text
}

// wordsOf is the message of a turn: the arrival's, else what the trigger's
// message path finds. "" opens the turn with a note (message: false).
func (t *turn) wordsOf(trigger *spec.Trigger, m Message) (string, error) {
	if strings.TrimSpace(m.Text) != "" {
		return m.Text, nil
	}
	if trigger.NoMessage {
		return "", nil
	}
	if trigger.Message != "" {
		if text, ok := lookupSeed(trigger.Message, m.Variables).(string); ok && strings.TrimSpace(text) != "" {
			return text, nil
		}
		return "", &Error{ErrCode: "no-message", Message: fmt.Sprintf("trigger %q finds no message at %q in the variables", trigger.ID, trigger.Message), Hint: "give the message, or the variable it comes from"}
	}
	return "", &Error{ErrCode: "no-message", Message: "a turn needs a message", Hint: "give it as an argument, `@file`, or `-` for standard input"}
}

// refuse turns an arrival away at the door: nothing is written.
func (t *turn) refuse(id, why string, issues []spec.Issue) *Outcome {
	out := outcomeOf(t.s(), DispositionTurn)
	out.SessionID, out.Workflow = id, t.m.Slug
	out.Kind, out.Rejected, out.Refused, out.Issues = KindRejected, why, true, issues
	out.Exit, out.Pending, out.ParkedChannel, out.Reply, out.Returns = nil, nil, "", "", nil
	out.TurnUsage, out.Warnings = ReportUsage(session.Usage{}), []string{}
	for _, b := range t.warnings {
		w := b.(*session.Warned)
		out.Warnings = append(out.Warnings, w.Message)
		t.transient(event.Warning{Scope: w.Scope, Message: w.Message}, "warn")
	}
	t.rt.opts.Events(event.Event{Header: event.Header{Type: "warning", Level: "warn", TS: time.Now(), SessionID: id}, Payload: event.Warning{Scope: "refused", Message: why}})
	return out
}

// reply answers a person who writes to a session that a person decides.
func (t *turn) reply(m Message) (*Outcome, error) {
	switch {
	case len(m.Files) > 0 || len(m.Variables) > 0:
		return nil, &Error{ErrCode: "awaits-decision", Message: fmt.Sprintf("session %s awaits a decision and takes no files or variables", t.s().Session), Hint: fmt.Sprintf("decide first: `archmax decide %s`", t.s().Session)}
	case strings.TrimSpace(m.Text) == "":
		return nil, &Error{ErrCode: "no-message", Message: fmt.Sprintf("session %s awaits a decision; a reply needs a message", t.s().Session), Hint: fmt.Sprintf("or decide: `archmax decide %s --to STATE`", t.s().Session)}
	}
	t.begin(session.ArriveReply, "", m.Key)
	t.add(&session.NewMessage{Role: "user", Text: m.Text})
	return t.finish()
}

func (t *turn) decideOn(d Decision) (*Outcome, error) {
	s := t.s()
	if s.Park == nil || s.Park.Channel != session.Decision {
		return nil, NotParkedError{ID: s.Session, Wanted: "decision", Status: string(s.Status)}
	}
	p := s.Park.Pending
	if d.Seq != 0 && d.Seq != p.Seq {
		return nil, &Error{ErrCode: "stale-decision", Message: fmt.Sprintf("session %s awaits decision number %d, not %d", s.Session, p.Seq, d.Seq), Hint: "nothing was changed"}
	}
	if err := t.checkTarget(d.To, p); err != nil {
		return nil, err
	}
	state, target := t.m.State(s.Position), t.m.State(d.To)
	t.begin(session.ArriveDecide, "", d.Key)
	t.add(
		&session.Decided{To: d.To, Comment: d.Comment, By: d.By},
		&session.NewMessage{Role: "note", Note: "decision", Text: decisionText(state.Edge(d.To), d.Comment)},
		&session.Moved{To: d.To, Step: session.StepHuman, As: string(target.Kind), Reason: d.Comment},
	)
	t.enter(target, session.SayDecided, "", nil)
	return t.finish()
}

// checkTarget holds a decision against the parked record and against the
// workflow as it is now, and says what changed when they differ.
func (t *turn) checkTarget(to string, p *session.Pending) error {
	bad := BadTargetError{ID: t.s().Session, State: p.State, To: to}
	state := t.m.State(p.State)
	recorded := slices.ContainsFunc(p.Transitions, func(e session.PendingTransition) bool { return e.To == to })
	switch {
	case state == nil:
		bad.Changed = fmt.Sprintf("the workflow changed since the session parked and no longer declares state %q; restore it, or `archmax sessions rm %s`", p.State, bad.ID)
		return bad
	case state.Kind != spec.Human:
		bad.Changed = fmt.Sprintf("the workflow changed since the session parked: state %q is now of type %s, not human", p.State, state.Kind)
		return bad
	}
	for _, e := range p.Transitions {
		if state.Edge(e.To) != nil {
			bad.Targets = append(bad.Targets, e.To)
		}
	}
	switch {
	case recorded && state.Edge(to) != nil:
		return nil
	case recorded:
		bad.Changed = fmt.Sprintf("the workflow changed since the session parked: state %q no longer has an edge to it", p.State)
	case state.Edge(to) != nil:
		bad.Changed = "the edge was added to the workflow after the session parked, and the person was not shown it"
	}
	return bad
}

func decisionText(e *spec.Edge, comment string) string {
	text := fmt.Sprintf("[decision] A person decided: `%s`", e.To)
	if e.Type != spec.None {
		text += fmt.Sprintf(" (%s)", e.Type)
	}
	text += "."
	if strings.TrimSpace(comment) != "" {
		text += " Their comment: " + strings.TrimSpace(comment)
	}
	return text + fmt.Sprintf("\nThe run is now in `%s`.", e.To)
}

func (t *turn) deliver(d Delivery, files []File) (*Outcome, error) {
	s := t.s()
	if s.Park == nil || s.Park.Channel != session.Input {
		return nil, NotParkedError{ID: s.Session, Wanted: "input", Status: string(s.Status)}
	}
	if d.DueAt != nil && (s.Park.ResumeAt == nil || s.Park.ResumeAt.After(*d.DueAt)) {
		return nil, &Error{ErrCode: "not-due", Message: fmt.Sprintf("session %s is not due", s.Session)}
	}
	placed, err := plan(files)
	if err != nil {
		return nil, err
	}
	if err := t.place(placed); err != nil {
		return nil, err
	}
	t.begin(session.ArriveDeliver, "", d.Key)
	t.add(&session.Delivered{Trigger: d.Trigger})
	set := t.seedRecord(d.Variables, placed)
	if set != nil {
		t.add(set)
	}
	t.add(&session.NewMessage{Role: "note", Note: "event", Text: deliveryText(d.Trigger, set)})
	if text := t.deliveredWords(d); text != "" {
		t.add(&session.NewMessage{Role: "user", Text: text})
	}
	return t.finish()
}

// deliveredWords is the message of a delivery: its own, else what the message
// path of the trigger, where the workflow declares it, finds in the variables.
func (t *turn) deliveredWords(d Delivery) string {
	if strings.TrimSpace(d.Text) != "" {
		return d.Text
	}
	if trigger, _ := t.m.Trigger(d.Trigger); trigger != nil && trigger.Message != "" {
		if text, ok := lookupSeed(trigger.Message, d.Variables).(string); ok && strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

func deliveryText(trigger string, set *session.VariablesSet) string {
	text := fmt.Sprintf("[event] The run goes on: `%s` was delivered", trigger)
	if set != nil {
		names := make([]string, len(set.Set))
		for i, v := range set.Set {
			names[i] = "`" + v.Name + "`"
		}
		text += " with the variables " + strings.Join(names, ", ")
	}
	return text + "."
}

// warn keeps a warning for the Outcome of the arrival that is about to begin.
func (t *turn) warn(scope, message string) {
	t.warnings = append(t.warnings, &session.Warned{Scope: scope, Message: message})
}

func dispositionOf(s session.Status, seq uint64) string {
	switch {
	case seq == 0:
		return DispositionTurn
	case s == session.StatusAwaitingDecision:
		return DispositionReply
	case s == session.StatusAwaitingInput:
		return DispositionDeliver
	}
	return DispositionTurn
}

func arrivalDisposition(a session.Arrival) string {
	switch a {
	case session.ArriveReply:
		return DispositionReply
	case session.ArriveDecide:
		return DispositionDecide
	case session.ArriveDeliver:
		return DispositionDeliver
	}
	return DispositionTurn
}

// asWord is the disposition as --as spells it.
func asWord(disposition string) string {
	if disposition == DispositionDeliver {
		return "delivery"
	}
	return disposition
}
