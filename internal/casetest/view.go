package casetest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/archmax-ai/archmax/internal/event"
	"github.com/archmax-ai/archmax/internal/governance"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/workspace"
)

// view is what assertions read: the session after the nearest action above.
type view struct {
	outcome *runtime.Outcome
	state   *session.State
	files   *workspace.Workspace // nil: the session does not exist
	tools   *governance.ToolSet  // what names mean, as the runtime has it
	calls   []*call              // of the whole session, in order
	raised  *event.Raised        // by this arrival
}

// call is a tool call that was attempted: it ran, a rule blocked it, or it came
// to nothing for another reason, such as arguments that are no JSON.
type call struct {
	name, tool string // as it was called, and the tool that this means
	id         string
	origin     string
	args       any // as the transcript records them
	rule       string
	status     string
	output     string // what the caller was told
	ran        bool   // it was allowed and started; known once the action is over
}

func (c *call) called() bool  { return c.ran }
func (c *call) blocked() bool { return c.rule != "" }

func (v *view) attempted(name, id, origin string) *call {
	c := &call{name: name, tool: name, id: id, origin: origin}
	if info, ok := v.tools.Resolve(name); ok {
		c.tool = info.Name
	}
	v.calls = append(v.calls, c)
	return c
}

// observe follows the events of the session.
func (v *view) observe(e event.Event) {
	switch p := e.Payload.(type) {
	case event.ToolCalled:
		v.attempted(p.Tool, p.CallID, p.Origin).args = session.Decode(p.Args)
	case event.ToolBlocked:
		c := v.attempted(p.Tool, p.CallID, p.Origin)
		c.rule, c.status = p.Rule, "blocked"
	case event.ToolResult:
		for _, c := range slices.Backward(v.calls) {
			if c.id == p.CallID {
				c.status, c.output = p.Status, p.Output
				break
			}
		}
	case event.Raised:
		v.raised = &p
	}
}

// settle takes in the session as an action left it. The agent's calls get the
// arguments that their messages hold, references and all.
func (v *view) settle(out *runtime.Outcome, state *session.State, files *workspace.Workspace) {
	v.outcome, v.state, v.files = out, state, files
	recorded := map[string]string{}
	for _, m := range state.Messages {
		for _, c := range m.Calls {
			recorded[c.ID] = c.Args
		}
	}
	for _, c := range v.calls {
		if args, ok := recorded[c.id]; ok {
			c.args = argsAsRecorded(args)
		}
		c.ran = c.ran || v.started(c)
	}
}

// started reports whether a call was allowed and began. Then its intent is in
// the journal; a control call is settled at once, so its result tells. The
// calls of scripts and hooks are told of when they begin.
func (v *view) started(c *call) bool {
	switch {
	case c.blocked():
		return false
	case c.origin != "" && governance.Origin(c.origin) != governance.FromAgent:
		return true
	}
	if rec := v.state.Call(c.id); rec != nil && rec.Intent != nil {
		return true
	}
	info, known := v.tools.Resolve(c.tool)
	return known && info.Control && c.status == "ok"
}

func argsAsRecorded(text string) any {
	switch {
	case strings.TrimSpace(text) == "" || strings.TrimSpace(text) == "null":
		return map[string]any{}
	case !json.Valid([]byte(text)):
		return text
	}
	return session.Decode(json.RawMessage(text))
}

// said is everything the agent has said in the session.
func (v *view) said() string {
	var texts []string
	for _, m := range v.state.Messages {
		if text := strings.TrimSpace(m.Text); m.Role == "assistant" && text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// standing words what the last arrival came to, for details.
func (v *view) standing() string {
	o := v.outcome
	switch o.Kind {
	case runtime.KindCompleted:
		return "it completed in state " + quoted(o.State)
	case runtime.KindParked:
		return "it is parked on " + o.ParkedChannel + " in state " + quoted(o.State)
	case runtime.KindRejected:
		if o.Refused {
			return "the arrival was refused: " + short(o.Rejected)
		}
		return "it was rejected in state " + quoted(o.State) + ": " + short(o.Rejected)
	}
	return "it failed in state " + quoted(o.State) + " with " + quoted(o.Exit.Code) + ": " + short(o.Exit.Reason)
}

func quoted(s string) string { return `"` + short(s) + `"` }
