package casetest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/archmax-ai/archmax/internal/event"
	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
	"github.com/archmax-ai/archmax/internal/workspace"
)

// view is what assertions read: the session after the nearest action above.
type view struct {
	outcome *runtime.Outcome
	state   *session.State
	files   *workspace.Workspace // nil: the session does not exist
	calls   []*call              // of the whole session, in order
	raised  *event.Raised        // by this arrival
}

// call is a tool call that passed, or was blocked.
type call struct {
	name, id string
	origin   string
	args     any // as the transcript records them
	rule     string
	status   string
}

// observe follows the events of the session.
func (v *view) observe(e event.Event) {
	switch p := e.Payload.(type) {
	case event.ToolCalled:
		v.calls = append(v.calls, &call{name: p.Tool, id: p.CallID, origin: p.Origin, args: session.Decode(p.Args)})
	case event.ToolBlocked:
		v.calls = append(v.calls, &call{name: p.Tool, id: p.CallID, origin: p.Origin, rule: p.Rule, status: "blocked"})
	case event.ToolResult:
		for _, c := range slices.Backward(v.calls) {
			if c.id == p.CallID {
				c.status = p.Status
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
	}
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
