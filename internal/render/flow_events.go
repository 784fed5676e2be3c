package render

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/archmax-ai/archmax/internal/event"
)

// ownEvent are the control tools whose success is told by an event of its own
// (advance, parked, raised, workflow-reset, variables-set, title-set): the call
// itself is drawn only when it was refused.
var ownEvent = map[string]bool{
	"archmax_advance":       true,
	"archmax_wait":          true,
	"archmax_raise":         true,
	"archmax_reset":         true,
	"archmax_set_variables": true,
}

// maxError is how much of a failed call's answer is shown, in columns.
const maxError = 200

// refusedScope is the scope of the warning that an arrival was turned away. Of
// such an arrival a person sees the verdict alone, which gives the reason.
const refusedScope = "refused"

// draw prints one event. State changes print a header; the rest prints inside
// the state it names.
func (f *Flow) draw(e event.Event) {
	h, st := e.Header, f.style
	switch p := e.Payload.(type) {
	case event.StateEnter:
		if f.stream != nil && f.stream.session == h.SessionID {
			f.endStream() // words that broke off without their agent-text
		}
		kind := p.Kind
		if kind == "" {
			kind = f.opts.KindOf(p.State)
		}
		note := f.entry[h.SessionID]
		delete(f.entry, h.SessionID)
		f.header(h, p.State, kind, note)
	case event.Advance:
		if p.From == "" { // from the session's origin: the state's header tells it
			if p.Reason != "" {
				f.entry[h.SessionID] = "trigger " + p.Reason
			}
			return
		}
		f.ensure(h, p.From)
		f.inside(h, st.mark(markGo)+" "+st.paint(bold, OneLine(p.To))+because(p.Reason))
	case event.WorkflowReset:
		f.inside(h, st.mark(markReset)+" back to "+st.paint(bold, OneLine(p.State)))
	case event.StateErrorRouted:
		f.ensure(h, p.State)
		f.inside(h, st.mark(markRouted)+" on_error "+st.paint(bold, OneLine(p.To))+because(p.Reason))
	case event.ToolCalled:
		f.calls = append(f.calls, pendingCall{id: p.CallID, tool: p.Tool, origin: p.Origin, args: p.Args, at: h, state: p.State})
	case event.ToolResult:
		f.toolResult(h, p)
	case event.ToolBlocked:
		f.take(p.CallID)
		f.ensure(h, p.State)
		f.inside(h, st.mark(markBlocked)+" "+OneLine(p.Tool)+from(p.Origin)+" "+st.paint(red, OneLine(p.Rule))+because(p.Reason))
	case event.AgentTextDelta:
		f.delta(h, p)
	case event.AgentText:
		f.text(h, p)
	case event.Warning:
		if p.Scope == refusedScope {
			return
		}
		scope := OneLine(p.Scope)
		if scope != "" {
			scope += ": "
		}
		f.inside(h, st.mark(markWarning)+" "+scope+OneLine(p.Message))
	case event.Parked:
		line := st.mark(markStop) + " parked, awaiting " + OneLine(p.Awaiting) + because(p.Reason)
		if p.ResumeAt != "" {
			line += " (until " + OneLine(p.ResumeAt) + ")"
		}
		f.ensure(h, p.State)
		f.inside(h, line)
	case event.Decided:
		line := st.mark(markOK) + " decided " + st.paint(bold, OneLine(p.To))
		if p.By != "" {
			line += " by " + OneLine(p.By)
		}
		f.ensure(h, p.State)
		f.inside(h, line+because(p.Comment))
	case event.Delivered:
		f.ensure(h, p.State)
		f.inside(h, st.mark(markIn)+" delivered "+st.paint(bold, OneLine(p.Trigger)))
	case event.ParkMessage:
		if p.Direction == "inbound" { // the outbound words are an agent-text too
			f.ensure(h, p.State)
			f.quoted(h, markPerson, p.Text)
		}
	case event.Raised:
		f.ensure(h, p.State)
		f.inside(h, st.mark(markError)+" raised "+st.paint(red, OneLine(p.Code))+because(p.Reason))
	case event.VariablesSet:
		line := st.mark(markFact) + " set " + OneLine(strings.Join(p.Names, ", "))
		if p.Locked {
			line += " (locked)"
		}
		f.fact(h, line)
	case event.TitleSet:
		f.fact(h, st.mark(markFact)+" title "+st.paint(bold, OneLine(p.Title)))
	case event.StateLeave, event.ModelUsage, event.SkillsLoaded, event.PromptShaping, event.GraphTopology:
		// Told by what follows, by the verdict, or only by -v and --events.
	default:
		f.other(h, p)
	}
}

// other draws an event that has no drawing of its own: its type and payload on
// one line.
func (f *Flow) other(h event.Header, p event.Payload) {
	raw, err := json.Marshal(p)
	if err != nil {
		return
	}
	f.inside(h, f.style.mark(markFact)+" "+OneLine(h.Type)+" "+f.style.paint(dim, ArgSummary(raw)))
}

func (f *Flow) toolResult(h event.Header, p event.ToolResult) {
	c, ok := f.take(p.CallID)
	if !ok {
		c = pendingCall{id: p.CallID, tool: p.Tool}
	}
	failed := p.Status == "error"
	if ownEvent[p.Tool] && !failed {
		return
	}
	f.ensure(h, p.State)
	if !failed {
		f.inside(h, f.toolLine(markTool, c, millis(p.DurationMs)))
		return
	}
	why := cut(OneLine(strings.TrimPrefix(p.Output, "Error: ")), maxError)
	f.inside(h, f.toolLine(markError, c, millis(p.DurationMs))+because(why))
}

// toolLine is a call on one line: tool, arguments, and how long it took. On a
// terminal the arguments give way so that the line fits.
func (f *Flow) toolLine(m mark, c pendingCall, tail string) string {
	head := f.style.mark(m) + " " + OneLine(c.tool) + from(c.origin)
	args := ArgSummary(c.args)
	if f.style.Width > 0 && args != "" {
		args = cut(args, max(8, f.style.Width-width(margin(c.at))-width(head)-width(tail)-5))
	}
	if args != "" {
		head += " " + f.style.paint(dim, args)
	}
	return head + "  " + f.style.paint(dim, tail)
}

// take removes the call from those at work.
func (f *Flow) take(id string) (pendingCall, bool) {
	for i, c := range f.calls {
		if c.id == id {
			if i == 0 { // most calls come back in order
				f.calls = f.calls[1:]
			} else {
				f.calls = slices.Delete(f.calls, i, i+1)
			}
			return c, true
		}
	}
	return pendingCall{}, false
}

// delta draws a piece of the agent's words on a terminal. Elsewhere the whole
// message is printed when it is there.
func (f *Flow) delta(h event.Header, p event.AgentTextDelta) {
	if !f.style.TTY || p.Text == "" {
		return
	}
	if f.stream == nil {
		f.stream = &stream{session: h.SessionID, message: p.MessageID, quote: f.quoterFor(h, markQuote)}
	}
	if s := f.stream; s.session == h.SessionID && s.message == p.MessageID {
		if !s.quote.open {
			f.ensure(h, p.State)
		}
		s.text.WriteString(p.Text)
		s.quote.add(p.Text)
	}
}

// text draws a whole message, or what its deltas left out.
func (f *Flow) text(h event.Header, p event.AgentText) {
	streamed := ""
	if s := f.stream; s != nil && s.session == h.SessionID {
		if s.message == p.MessageID {
			streamed = s.text.String()
		}
		if rest, ok := strings.CutPrefix(p.Text, streamed); ok && streamed != "" {
			s.quote.add(rest)
		} else {
			streamed = "" // a message that was begun anew
		}
		f.endStream()
	}
	if streamed == "" {
		f.ensure(h, p.State)
		f.quoted(h, markQuote, p.Text)
	}
	if p.Partial {
		f.inside(h, f.style.paint(dim, "(the stream broke off here)"))
	}
}

// because is " — reason", or nothing.
func because(reason string) string {
	if reason = OneLine(reason); reason == "" {
		return ""
	}
	return " — " + reason
}

// from names who made a call that the agent did not make itself.
func from(origin string) string {
	if origin == "" || origin == "agent" {
		return ""
	}
	return " (" + OneLine(origin) + ")"
}

func millis(ms int64) string { return Duration(time.Duration(ms) * time.Millisecond) }
