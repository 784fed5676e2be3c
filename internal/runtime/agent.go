package runtime

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/archmax-ai/archmax/internal/event"
	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/model"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
)

// agent makes one model call of an agent state and commits what came back.
func (t *turn) agent(state *spec.State) error {
	if why := t.exhausted(state); why != "" {
		t.fatal(state, why)
		return nil
	}
	ctx, cancel := t.within(state)
	defer cancel()
	if err := t.compact(ctx, state); err != nil {
		return err
	}
	resp, settled, err := t.ask(ctx, state, "")
	if err != nil {
		return t.askFailed(ctx, state, settled, err)
	}
	t.add(settled)
	if len(resp.Calls) == 0 {
		t.complete(state)
		return nil
	}
	return t.dispatch(ctx, state, settled.Calls, resp.CutShort())
}

// within bounds ctx by the state's timeoutMs.
func (t *turn) within(state *spec.State) (context.Context, context.CancelFunc) {
	if state.Budget.TimeoutMs == 0 {
		return t.ctx, func() {}
	}
	return context.WithTimeoutCause(t.ctx, t.timeLeft(state), errStateTimeout)
}

var errStateTimeout = errors.New("the state ran out of its time")

// askFailed handles a model call that failed for good.
func (t *turn) askFailed(ctx context.Context, state *spec.State, settled *session.ModelSettled, err error) error {
	switch {
	case errors.Is(context.Cause(ctx), errStateTimeout) && t.ctx.Err() == nil:
		t.add(settled)
		t.fatal(state, timedOut(state))
	case t.ctx.Err() != nil:
		settled.Consumed = 0 // asked again when the turn goes on
		t.add(settled)
		t.settle(session.Failed, "turn-cancelled", cancelReason(t.ctx))
	default:
		t.add(settled)
		t.settle(session.Failed, "turn-error", err.Error())
	}
	return nil
}

// complete ends the turn with the model's words. In a terminal state the
// declared returns must be there (spec: runtime.md, "Failure").
func (t *turn) complete(state *spec.State) {
	if state.Terminal() {
		if why := t.missingReturns(state); why != "" {
			t.settle(session.Rejected, "", why)
			return
		}
	}
	t.settle(session.Completed, "", "")
}

// say is the reply-only call of a parked session: one model call, no action, no
// second call. Its failure is a warning; the park stands.
func (t *turn) say() error {
	s := t.s()
	state := t.m.State(s.Position)
	if state == nil {
		state = &spec.State{Slug: s.Position, Kind: spec.Kind(s.PositionAs)}
	}
	_, settled, err := t.ask(t.ctx, state, s.Say)
	if err != nil {
		settled.Error = err.Error()
		t.add(settled, &session.Warned{Scope: "reply", Message: "the message that goes with the park could not be written: " + err.Error()})
		return nil
	}
	t.add(settled)
	for _, c := range settled.Calls {
		v := t.decide(governance.Call{State: state.Slug, Tool: c.Name, Origin: governance.FromAgent, ReplyOnly: true})
		t.add(blocked(c.ID, v))
	}
	return nil
}

// ask makes one model call, retries included, and returns the answer with the
// record that settles it. On an error the record holds what is known.
func (t *turn) ask(ctx context.Context, state *spec.State, say session.SayDue) (model.Response, *session.ModelSettled, error) {
	s := t.s()
	req, key := t.request(state, say)
	sink := &deltas{t: t, state: state.Slug, message: "m" + strconv.Itoa(len(s.Messages)+1)}
	resp, err := t.rt.opts.Client.Complete(ctx, req, sink)
	settled := t.settledCall(req, resp, key)
	if err != nil {
		sink.Broken()
		settled.Error = err.Error()
		return resp, settled, err
	}
	settled.Text, settled.Reasoning, settled.CutShort = resp.Text, resp.Reasoning, resp.CutShort()
	if strings.TrimSpace(settled.Text) == "" { // blank words are none
		settled.Text = ""
	}
	used := map[string]bool{}
	for _, c := range resp.Calls {
		id := t.callID(c.ID, used)
		used[id] = true
		settled.Calls = append(settled.Calls, session.NewCall{ID: id, Name: c.Name, Args: c.Args})
	}
	return resp, settled, nil
}

// settledCall is the record of a model call: which model, what it used, and what
// that cost.
func (t *turn) settledCall(req *model.Request, resp model.Response, key string) *session.ModelSettled {
	settled := &session.ModelSettled{
		Role: string(req.Role), State: req.State, Model: resp.Model, Consumed: resp.Consumed, Prompt: key,
	}
	if settled.Model == "" {
		settled.Model = req.Model
	}
	if resp.Usage.Known {
		settled.Usage = &session.Tokens{
			Input: resp.Usage.InputTokens, Output: resp.Usage.OutputTokens,
			CacheRead: resp.Usage.CacheReadTokens, CacheWrite: resp.Usage.CacheWriteTokens,
		}
		if usd, ok := t.rt.opts.Prices.Cost(resp.Model, req.Model, resp.Usage); ok {
			settled.CostUSD = &usd
		}
	}
	return settled
}

// ourIDs is the shape of the ids that the runtime mints, for calls (c) and
// notes (n). Nine letters and digits is the narrowest rule that a known
// provider puts on a call id.
var (
	ourIDs  = regexp.MustCompile(`^[cn][0-9]{8}$`)
	sameIDs = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
)

// callID keeps a provider's id when it is sound and new in the session, and
// mints one otherwise.
func (t *turn) callID(id string, used map[string]bool) string {
	if sameIDs.MatchString(id) && !ourIDs.MatchString(id) && !used[id] && t.s().Call(id) == nil {
		return id
	}
	t.minted++
	return mintedID('c', len(t.s().Messages)*1000+t.minted)
}

func mintedID(prefix byte, n int) string {
	digits := strconv.Itoa(n)
	for len(digits) < 8 {
		digits = "0" + digits
	}
	return string(prefix) + digits
}

// deltas turns a stream into events.
type deltas struct {
	t       *turn
	state   string
	message string
	text    []byte
}

func (d *deltas) Delta(text string) {
	d.text = append(d.text, text...)
	d.t.transient(event.AgentTextDelta{State: d.state, Text: text, MessageID: d.message}, "debug")
}

// Broken closes the deltas of a failed attempt.
func (d *deltas) Broken() {
	if len(d.text) == 0 {
		return
	}
	d.t.transient(event.AgentText{State: d.state, Text: string(d.text), MessageID: d.message, Partial: true}, "warn")
	d.text = nil
}

// now is the clock of prompts and signatures: the pinned one, else at.
func (t *turn) now(at time.Time) time.Time {
	if t.rt.opts.Clock != nil {
		return t.rt.opts.Clock()
	}
	return at
}
