package runtime

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/spec"
	"github.com/archmax-ai/archmax/internal/workspace"
)

// The control tools.
const (
	toolAdvance = "archmax_advance"
	toolReset   = "archmax_reset"
	toolWait    = "archmax_wait"
	toolRaise   = "archmax_raise"
	toolGet     = "archmax_get_variables"
	toolSet     = "archmax_set_variables"
)

// lands reports whether a successful call of the tool ends its message.
func lands(tool string) bool {
	switch tool {
	case toolAdvance, toolReset, toolWait, toolRaise:
		return true
	}
	return false
}

func (t *turn) isControl(tool string) bool {
	return lands(tool) || tool == toolGet || tool == toolSet
}

// maxEvidence is how many paths an advance may attach for a person.
const maxEvidence = 20

// control runs one control call. ended says that it landed, which ends the
// message: whatever the message still holds is refused in the same frame.
func (t *turn) control(state *spec.State, c session.NewCall, calls int) (ended bool, fatal string) {
	a, fatal := t.check(state, c)
	if a == nil {
		return false, fatal
	}
	args := controlArgs{a.given}
	if bad := controlNamed(a.name).problem(args); bad != "" {
		t.add(failure(c.ID, bad))
		return false, ""
	}
	switch a.name {
	case toolAdvance:
		return t.advance(state, c, args)
	case toolWait:
		return t.wait(state, c, args)
	case toolReset:
		return t.reset(c, args), ""
	case toolRaise:
		return t.raise(c, args, calls), ""
	case toolGet:
		t.getVariables(c, args)
	case toolSet:
		t.setVariables(c, args)
	}
	return false, ""
}

// land settles a control call that landed and refuses what the message still
// holds, so that the bodies that follow are the last of the frame.
func (t *turn) land(c session.NewCall, text, what string) {
	t.add(&session.Result{Call: c.ID, Status: "ok", Text: text})
	t.refuseOpenCalls(what + ", which ended this message; this call was not run")
}

func (t *turn) advance(state *spec.State, c session.NewCall, args controlArgs) (ended bool, fatal string) {
	to, reason := args.text("to"), args.text("reason")
	v := t.decide(governance.Transition{From: state.Slug, To: to, Reason: reason})
	if !v.Allow {
		t.add(blocked(c.ID, v))
		if v.Fatal {
			return false, v.Reason
		}
		return false, ""
	}
	target := t.m.State(to)
	evidence, bad := t.evidence(state, target, args.list("evidence"))
	if bad != "" {
		t.add(failure(c.ID, bad))
		return false, ""
	}
	text := fmt.Sprintf("Moved to `%s`.", to)
	if target.Kind == spec.Human {
		text = fmt.Sprintf("Moved to `%s`, where a person decides. The run is parked until then.", to)
	}
	t.land(c, text, "the run moved to `"+to+"`")
	t.add(&session.Moved{To: to, Step: session.StepAgent, As: string(target.Kind), Reason: reason, Call: c.ID})
	t.enter(target, session.SayEntered, c.ID, evidence)
	return true, ""
}

// evidence checks the paths that an advance attaches for a person.
func (t *turn) evidence(state, target *spec.State, paths []string) (clean []string, bad string) {
	switch {
	case len(paths) == 0:
		return nil, ""
	case target.Kind != spec.Human:
		return nil, fmt.Sprintf("evidence is for a person, and %q is no human decision node; advance without it", target.Slug)
	case len(paths) > maxEvidence:
		return nil, fmt.Sprintf("evidence names %d paths, and at most %d are allowed", len(paths), maxEvidence)
	}
	for _, p := range paths {
		v := t.decide(governance.Hit{State: state.Slug, Tool: "read_file", Path: p, Origin: governance.FromAgent})
		if !v.Allow {
			return nil, fmt.Sprintf("evidence %q cannot be attached: %s", p, v.Reason)
		}
		name, err := governance.Canonical(p)
		if err != nil {
			return nil, fmt.Sprintf("evidence %q: %s", p, err)
		}
		if info, err := t.ws.Stat(name); err != nil || info.Dir {
			return nil, fmt.Sprintf("evidence %q is no readable file; attach paths that exist", p)
		}
		clean = append(clean, name)
	}
	return clean, ""
}

func (t *turn) wait(state *spec.State, c session.NewCall, args controlArgs) (ended bool, fatal string) {
	resumeAt, bad := parseUntil(args.text("until"), time.Now())
	if bad != "" {
		t.add(failure(c.ID, bad))
		return false, ""
	}
	if limit := state.Budget.MaxParks; limit > 0 && t.s().Parks[state.Slug] >= limit {
		return false, fmt.Sprintf("budget.maxParks: it has waited %d times, and %d are allowed", t.s().Parks[state.Slug], limit)
	}
	var say session.SayDue
	if !t.spoke() {
		say = session.SayWait
	}
	t.land(c, "The run waits. It goes on in this state when something is delivered.", "the run was parked by `archmax_wait`")
	t.park(&session.Parked{Channel: session.Input, Title: state.Title, Reason: args.text("reason"), ResumeAt: resumeAt, Call: c.ID, Say: say})
	return true, ""
}

// spoke reports whether the agent has said anything since the turn's last
// opener, the answer in the frame included.
func (t *turn) spoke() bool {
	for _, b := range t.pending {
		if m, ok := b.(*session.ModelSettled); ok && strings.TrimSpace(m.Text) != "" {
			return true
		}
	}
	s := t.s()
	return slices.ContainsFunc(s.Messages[s.OpenerAt:], func(m *session.Message) bool {
		return m.Role == "assistant" && strings.TrimSpace(m.Text) != ""
	})
}

var duration = regexp.MustCompile(`^([0-9]+)\s*(ms|s|m|h|d)$`)

// parseUntil reads archmax_wait's until: an integer with ms, s, m, h or d, or
// an ISO instant. "" is no time.
func parseUntil(text string, now time.Time) (*time.Time, string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, ""
	}
	if m := duration.FindStringSubmatch(text); m != nil {
		n, err := strconv.ParseInt(m[1], 10, 64)
		unit := map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}[m[2]]
		if err == nil && n <= int64(1<<62)/int64(unit) {
			at := now.Add(time.Duration(n) * unit).UTC().Truncate(time.Millisecond)
			return &at, ""
		}
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		at = at.UTC()
		return &at, ""
	}
	return nil, fmt.Sprintf("until %q is no time: give an integer with ms, s, m, h or d (`45m`), or an ISO instant with an offset (`2026-03-01T09:00:00Z`); the run was not parked", bound(text, 60))
}

func (t *turn) reset(c session.NewCall, args controlArgs) bool {
	entry := t.m.State(t.s().EntryState)
	if entry == nil {
		if _, entry = t.m.Trigger(t.s().Contract); entry == nil {
			t.add(failure(c.ID, "the state this run began in is gone from the workflow; it cannot be reset"))
			return false
		}
	}
	t.land(c, fmt.Sprintf("Reset to `%s`. What was said and stored is kept.", entry.Slug), "the run was reset to `"+entry.Slug+"`")
	t.add(&session.Moved{To: entry.Slug, Step: session.StepReset, As: string(entry.Kind), Reason: args.text("reason"), Call: c.ID})
	return true
}

func (t *turn) raise(c session.NewCall, args controlArgs, calls int) bool {
	code, reason := args.text("code"), args.text("reason")
	switch {
	case calls > 1:
		t.add(failure(c.ID, "archmax_raise must be the only call in its message; the run was not ended"))
		return false
	case utf8.RuneCountInString(code) < 1 || utf8.RuneCountInString(code) > 64 || strings.ContainsFunc(code, func(r rune) bool { return r < ' ' || r == 0x7f }):
		t.add(failure(c.ID, "code must be 1 to 64 characters on one line; the run was not ended"))
		return false
	}
	t.land(c, "The run has ended as failed.", "the run was ended by `archmax_raise`")
	t.add(&session.Raised{Code: code, Reason: reason, Call: c.ID})
	t.settle(session.Failed, code, reason)
	return true
}

func (t *turn) getVariables(c session.NewCall, args controlArgs) {
	s := t.s()
	name := strings.TrimSpace(args.text("name"))
	if name == "" {
		if strings.TrimSpace(args.text("path")) != "" {
			t.add(failure(c.ID, "path needs a name; name the variable it leads into"))
			return
		}
		all := make(map[string]json.RawMessage, len(s.Variables))
		for n, v := range s.Variables {
			all[n] = v.Value
		}
		t.ok(c, all)
		return
	}
	v, set := s.Variables[name]
	if !set {
		t.add(failure(c.ID, fmt.Sprintf("variable %q is not set; set are: %s", bound(name, 80), listed(slices.Sorted(maps.Keys(s.Variables))))))
		return
	}
	p := strings.TrimSpace(args.text("path"))
	if p == "" {
		t.ok(c, v.Value)
		return
	}
	value, found := spec.Lookup(session.Decode(v.Value), strings.Split(p, "."))
	if !found {
		t.add(failure(c.ID, fmt.Sprintf("variable %q has nothing at path %q", name, bound(p, 80))))
		return
	}
	t.ok(c, value)
}

// ok settles a call with a value's JSON text; one over maxResultChars goes to
// a file like any tool's.
func (t *turn) ok(c session.NewCall, value any) {
	text, err := session.Encode(value)
	if err != nil {
		t.add(failure(c.ID, "the value cannot be written as JSON"))
		return
	}
	t.add(t.settled(finished{running: running{id: c.ID, name: c.Name, offload: t.s().Offloads + 1}, result: workspace.Result{Text: string(text)}})...)
}

// setVariables is atomic: it is refused whole, or it sets everything.
func (t *turn) setVariables(c session.NewCall, args controlArgs) {
	s := t.s()
	values, _ := args.m["variables"].(map[string]any)
	lock, _ := args.m["lock"].(bool)
	names := slices.Sorted(maps.Keys(values))
	if len(names) == 0 {
		t.add(failure(c.ID, "variables names none; give at least one name with its value"))
		return
	}
	set := &session.VariablesSet{Call: c.ID}
	for _, n := range names {
		if why := t.unsettable(n, values[n], lock); why != "" {
			t.add(failure(c.ID, why+"; nothing was set"))
			return
		}
		value := values[n]
		if n == "title" {
			value = strings.TrimSpace(value.(string)) // unsettable saw that it is a string
		}
		raw, err := session.Encode(value)
		if err != nil {
			t.add(failure(c.ID, fmt.Sprintf("variable %q holds no JSON value; nothing was set", n)))
			return
		}
		set.Set = append(set.Set, session.NewVariable{Name: n, Value: raw, Locked: lock})
	}
	if trigger, _ := t.m.Trigger(s.Contract); trigger != nil {
		typed := slices.DeleteFunc(slices.Clone(trigger.Returns), func(e *spec.Entry) bool {
			_, named := values[e.Name]
			return !named || e.Type == ""
		})
		if issues := spec.Check(typed, values, t.signature(nil, nil).env()); len(issues) > 0 {
			t.add(failure(c.ID, issues[0].Message+"; nothing was set"))
			return
		}
	}
	t.add(&session.Result{Call: c.ID, Status: "ok", Text: "Set: " + strings.Join(names, ", ") + "."}, set)
}

// unsettable says why the agent may not set the variable, "" when it may.
func (t *turn) unsettable(name string, value any, lock bool) string {
	if !spec.ValidVariableName(name) {
		return fmt.Sprintf("%q is no variable name (a lower-case letter, then lower-case letters, digits and _)", bound(name, 80))
	}
	if t.s().Variables[name].Locked || name == "trigger" {
		return fmt.Sprintf("variable %q is locked and cannot be changed", name)
	}
	if name != "title" {
		return ""
	}
	if lock {
		return "title cannot be locked; set it without lock"
	}
	return badTitle(value)
}

// badTitle says why value is no title, "" when it is one: a line of 1 to 200
// characters, trimmed.
func badTitle(value any) string {
	title, ok := value.(string)
	title = strings.TrimSpace(title)
	if !ok || title == "" || utf8.RuneCountInString(title) > 200 || strings.ContainsAny(title, "\n\r") {
		return "title must be one line of 1 to 200 characters"
	}
	return ""
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
