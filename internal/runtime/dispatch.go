package runtime

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
	"github.com/archmax-ai/archmax/internal/workspace"
)

// batch goes on with an assistant message whose calls are not all settled: the
// rest of a recovered or resumed turn.
func (t *turn) batch(state *spec.State, m *session.Message) error {
	var calls []session.NewCall
	landed := ""
	for _, c := range m.Calls {
		calls = append(calls, session.NewCall{ID: c.ID, Name: c.Name, Args: c.Args})
		if c.Result != nil && c.Result.Status == "ok" && lands(c.Name) {
			landed = c.Name
		}
	}
	if landed != "" {
		t.refuseOpenCalls("`" + landed + "` landed earlier in this message, which ends it; this call was not run")
		return nil
	}
	ctx, cancel := t.within(state)
	defer cancel()
	return t.dispatch(ctx, state, calls, m.CutShort)
}

// dispatch answers the calls of one assistant message, in the order of
// runtime.md: everything up to the first control call runs concurrently, the
// control call waits for it, and a landed one ends the message. The model's
// answer may still be pending in the frame: it is committed with the first
// intents.
func (t *turn) dispatch(ctx context.Context, state *spec.State, calls []session.NewCall, cutShort bool) error {
	total := len(calls)
	calls = slices.DeleteFunc(slices.Clone(calls), func(c session.NewCall) bool {
		old := t.s().Call(c.ID)
		return old != nil && old.Result != nil
	})
	if cutShort && len(calls) > 0 {
		last := len(calls) - 1
		t.add(failure(calls[last].ID, "the answer was cut off at the length limit, so this call was not run; make it again, shorter"))
		calls = calls[:last]
	}
	for len(calls) > 0 {
		if len(t.pending) > 1 { // more than the answer: the call sees what came before it
			if err := t.commit(); err != nil {
				return err
			}
		}
		if t.isControl(calls[0].Name) {
			ended, fatal := t.control(state, calls[0], total)
			if fatal != "" {
				t.fatal(state, fatal)
			}
			if ended || fatal != "" {
				return nil
			}
			calls = calls[1:]
			continue
		}
		n := slices.IndexFunc(calls, func(c session.NewCall) bool { return t.isControl(c.Name) })
		if n < 0 {
			n = len(calls)
		}
		done, err := t.group(ctx, state, calls[:n])
		if done || err != nil {
			return err
		}
		calls = calls[n:]
	}
	return nil
}

// running is a call that has been allowed and is about to start.
type running struct {
	id   string
	name string
	args map[string]any
	tool tool
	// offload is the number of the file that a large result would go to: by the
	// call's place in its batch, so that it does not hang on what ends first.
	offload int
}

// group decides, starts and settles calls that may run side by side. It reports
// done when the state or the turn ended on the way.
func (t *turn) group(ctx context.Context, state *spec.State, calls []session.NewCall) (done bool, err error) {
	var run []running
	for _, c := range calls {
		if old := t.s().Call(c.ID); old != nil && old.Intent != nil && !old.Intent.Rerun {
			t.add(&session.Result{Call: c.ID, Status: "error", Text: unknownEffect})
			continue
		}
		r, fatal := t.admit(state, c)
		if fatal != "" {
			t.fatal(state, fatal)
			return true, nil
		}
		if r != nil {
			run = append(run, *r)
		}
	}
	if len(run) == 0 {
		return false, nil
	}
	if err := t.commit(); err != nil {
		return false, err
	}
	return t.execute(ctx, state, run)
}

// allowed is a call that passed everything that can refuse it.
type allowed struct {
	name         string
	asked, given map[string]any // arguments as the message holds them, and substituted
}

// check parses, resolves, substitutes and decides one call. A refusal is added
// to the frame and nil returned; fatal is set when the block ends the state.
func (t *turn) check(state *spec.State, c session.NewCall) (a *allowed, fatal string) {
	asked, bad := parseArgs(c.Args)
	if bad != "" {
		t.add(failure(c.ID, bad))
		return nil, ""
	}
	name := c.Name
	if info, ok := t.rt.tools.set.Resolve(c.Name); ok {
		name = info.Name
	}
	given, err := governance.Substitute(asked, t.values(), strings.HasPrefix(name, spec.DelegationPrefix))
	if err != nil {
		t.add(failure(c.ID, err.Error()))
		return nil, ""
	}
	v := t.decide(governance.Call{State: state.Slug, Tool: name, Args: given, Origin: governance.FromAgent})
	switch {
	case v.Allow:
		return &allowed{name: name, asked: asked, given: given}, ""
	case v.NotATool():
		t.add(failure(c.ID, v.Reason))
	default:
		if shape := t.rt.tools.byName[name].shape; v.Rule == governance.RuleNotAllowed && shape != nil {
			if err := shape(given); err != nil { // a guard may have missed for a misspelt argument
				v.Reason += "; also, " + err.Error()
			}
		}
		t.add(blocked(c.ID, v))
		if v.Fatal {
			fatal = v.Reason
		}
	}
	return nil, fatal
}

// admit checks a call that may run side by side with others, and adds its
// intent to the frame.
func (t *turn) admit(state *spec.State, c session.NewCall) (r *running, fatal string) {
	a, fatal := t.check(state, c)
	if a == nil {
		return nil, fatal
	}
	tool, ok := t.rt.tools.byName[a.name]
	if !ok {
		t.add(failure(c.ID, fmt.Sprintf("%s cannot be run by this version of archmax", a.name)))
		return nil, ""
	}
	if old := t.s().Call(c.ID); old == nil || old.Intent == nil {
		t.add(&session.Intent{Call: c.ID, Args: changedArgs(c.Args, a.asked, a.given), Rerun: tool.rerun})
	}
	return &running{id: c.ID, name: a.name, args: a.given, tool: tool}, ""
}

// changedArgs is the substituted arguments, nil when they are what the message
// holds.
func changedArgs(raw string, before, after map[string]any) json.RawMessage {
	if !strings.Contains(raw, "${{") {
		return nil
	}
	was, _ := session.Encode(before)
	now, _ := session.Encode(after)
	if bytes.Equal(was, now) {
		return nil
	}
	return now
}

// finished is what a tool came to.
type finished struct {
	running
	result workspace.Result
	err    error
	took   time.Duration
}

// maxRunning is how many calls of one batch run at the same time.
const maxRunning = 64

// execute runs the calls concurrently and settles each when it arrives; those
// that arrived together share a frame.
func (t *turn) execute(ctx context.Context, state *spec.State, run []running) (done bool, err error) {
	visible := t.visibility(state)
	results := make(chan finished, len(run)) // buffered: no tool outlives its channel
	slots := make(chan struct{}, maxRunning)
	for i, r := range run {
		r.offload = t.s().Offloads + i + 1
		go func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			start := time.Now()
			result, err := t.call(ctx, state.Slug, r, visible(r.name))
			results <- finished{running: r, result: result, err: err, took: time.Since(start)}
		}()
	}
	for left := len(run); left > 0; {
		t.add(t.settled(<-results)...)
		for left--; len(results) > 0; left-- { // only this goroutine receives
			t.add(t.settled(<-results)...)
		}
		if err := t.commit(); err != nil {
			return true, err
		}
	}
	if errors.Is(context.Cause(ctx), errStateTimeout) && t.ctx.Err() == nil {
		t.fatal(state, timedOut(state))
		return true, nil
	}
	return t.ctx.Err() != nil, nil
}

// call makes one allowed call: by its mock when it has one, else for real. It
// runs on the call's own goroutine and reads nothing that the loop changes.
func (t *turn) call(ctx context.Context, state string, r running, visible func(string) bool) (workspace.Result, error) {
	c := ToolCall{Session: t.id, Workflow: t.m.Slug, State: state, ID: r.id, Tool: r.name, Args: r.args, Origin: governance.FromAgent}
	if mock := t.rt.opts.Mock; mock != nil {
		if text, err, answered := mock(ctx, c); answered {
			return workspace.Result{Text: text}, err
		}
	}
	if r.tool.host != nil {
		text, err := r.tool.host(ctx, c)
		return workspace.Result{Text: text}, err
	}
	return r.tool.run(ctx, t.ws, workspace.Call{Args: r.args, Visible: visible, ImageBytes: t.rt.opts.ImageBytes})
}

// visibility builds, on the owning goroutine, the filter through which a
// searching tool sees paths; it is pure and may be called from tools'
// goroutines.
func (t *turn) visibility(state *spec.State) func(tool string) func(path string) bool {
	env := t.env
	env.Variables = t.values()
	return func(tool string) func(string) bool {
		return func(path string) bool {
			return governance.Decide(t.m, governance.Hit{State: state.Slug, Tool: tool, Path: path, Origin: governance.FromAgent}, &env).Allow
		}
	}
}

// settled is the record of a finished call; a result over maxResultChars goes
// to a file, and the model gets its ends.
func (t *turn) settled(f finished) []session.Body {
	if f.name == toolTodos && f.err == nil {
		return t.todos(f)
	}
	res := &session.Result{Call: f.id, Status: "ok", Text: f.result.Text, Image: f.result.Image, Millis: f.took.Milliseconds()}
	if f.err != nil {
		res.Status, res.Text = "error", errorText(f.err.Error())
	}
	if res.Text == "" {
		res.Text = "(no output)"
	}
	if limit := t.m.Settings.MaxResultChars; limit > 0 && utf8.RuneCountInString(res.Text) > limit {
		n := f.offload
		shown, err := workspace.Offload(t.w.Files(), n, res.Text, limit)
		if err != nil {
			res.Status, res.Text = "error", errorText("the result was too large and could not be stored: "+err.Error())
		} else {
			res.Text, res.Truncated, res.Offload = shown, true, n
		}
	}
	return []session.Body{res}
}

func (t *turn) todos(f finished) []session.Body {
	items, err := workspace.ParseTodos(f.args)
	if err != nil {
		return []session.Body{failure(f.id, err.Error())}
	}
	todos := &session.Todos{Items: make([]session.Todo, len(items))}
	for i, it := range items {
		todos.Items[i] = session.Todo(it)
	}
	return []session.Body{&session.Result{Call: f.id, Status: "ok", Text: f.result.Text, Millis: f.took.Milliseconds()}, todos}
}

// failure answers a call with an error that no rule made.
func failure(call, why string) *session.Result {
	return &session.Result{Call: call, Status: "error", Text: errorText(why)}
}

// blocked answers a call that a rule refused.
func blocked(call string, v governance.Verdict) *session.Result {
	return &session.Result{Call: call, Status: "error", Text: fmt.Sprintf("Error: blocked by %s: %s", v.Rule, v.Reason), Rule: v.Rule, Reason: v.Reason}
}

func errorText(why string) string {
	if strings.HasPrefix(why, "Error: ") {
		return why
	}
	return "Error: " + why
}

// parseArgs reads a call's arguments: "" and null mean {}, anything else must
// be a JSON object. Numbers stay exact.
func parseArgs(raw string) (args map[string]any, bad string) {
	text := strings.TrimSpace(raw)
	if text == "" || text == "null" {
		return map[string]any{}, ""
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil || dec.More() {
		return nil, fmt.Sprintf("the arguments are not valid JSON, so the call was not run; send one JSON object (got %s)", bound(text, 120))
	}
	args, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Sprintf("the arguments must be one JSON object, so the call was not run (got %s)", bound(text, 120))
	}
	return args, ""
}

// bound quotes s, cut to n runes.
func bound(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

// disclosed is the names of the tools that the state offers.
func (t *turn) disclosed(state *spec.State) []string {
	t.env.Variables = t.values()
	names := governance.Disclose(t.m, state.Slug, &t.env)
	return slices.DeleteFunc(names, func(n string) bool { return t.rt.tools.definition(n) == nil })
}
