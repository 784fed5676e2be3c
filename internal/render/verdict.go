package render

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/archmax-ai/archmax/internal/runtime"
	"github.com/archmax-ai/archmax/internal/session"
)

// VerdictOptions says how the commands that a verdict shows are spelled.
type VerdictOptions struct {
	Program string   // "" is archmax
	Flags   []string // words to repeat in every command, unquoted: "--root", "/my files"
	Gone    bool     // the session is not kept (--ephemeral): no command can go on with it
}

func (o VerdictOptions) program() string {
	if o.Program == "" {
		return "archmax"
	}
	return o.Program
}

// resumable are the codes of a failed session that `send --resume` continues
// where it stood (spec: runtime.md, "A turn").
var resumable = []string{"turn-cancelled", "turn-error", "recursion-limit"}

// Verdict prints what an arrival came to: the verdict line with the session id;
// for a park the record and the commands that resume it; for a refusal its
// issues; then the arrival's usage.
func Verdict(w io.Writer, st Style, out *runtime.Outcome, opts VerdictOptions) error {
	p := &page{style: st}
	switch out.Kind {
	case runtime.KindCompleted:
		p.verdict(markOK, "completed", out.SessionID)
		for _, name := range slices.Sorted(maps.Keys(out.Returns)) {
			p.wrap(1, st.paint(dim, "returns ")+OneLine(name)+" = "+valueSummary(out.Returns[name]))
		}
		p.follow("go on: ", opts.words("send", out.SessionID), opts)
	case runtime.KindParked:
		p.park(out.SessionID, session.Channel(out.ParkedChannel), out.Pending, opts)
	case runtime.KindFailed:
		p.failed(out, opts)
	default:
		p.rejected(out, opts)
	}
	if usage := UsageLine(out.TurnUsage); usage != "" {
		p.line(0, st.paint(dim, usage))
	}
	return p.to(w)
}

// Park prints a park as Verdict does: the verdict line, the record, the
// commands. pending is *session.Pending or *runtime.Waiting.
func Park(w io.Writer, st Style, id string, channel session.Channel, pending any, opts VerdictOptions) error {
	p := &page{style: st}
	p.park(id, channel, pending, opts)
	return p.to(w)
}

func (p *page) verdict(m mark, words, id string) {
	line := p.style.mark(m) + " " + p.style.paint(m.ink, words)
	if id != "" {
		line += "  " + p.style.paint(bold, Clean(id))
	}
	p.line(0, line) // whole: the id is copied
}

func (p *page) park(id string, channel session.Channel, pending any, opts VerdictOptions) {
	p.verdict(markParked, "awaiting "+OneLine(string(channel)), id)
	switch record := pending.(type) {
	case *session.Pending:
		p.pending(record)
		p.blank()
		for _, t := range record.Transitions {
			p.edge(t)
			p.line(2, opts.sessionCommand("decide", id, "--to", t.To))
		}
		p.blank()
	case *runtime.Waiting:
		p.field("state", titled(record.State, record.Title))
		p.field("waits for", OneLine(record.Reason))
		p.field("until", OneLine(record.ResumeAt))
		p.blank()
		p.way("to answer it in words:", opts.words("send", id))
		p.way("to deliver an event that says something:", opts.words("deliver", id, "--trigger", "manual", "--message"))
		if record.ResumeAt == "" {
			p.way("to go on without a word:", opts.sessionCommand("deliver", id, "--trigger", "manual"))
		} else {
			p.way("to go on without a word, once the time has come:", opts.sessionCommand("deliver", id, "--trigger", "timer"))
		}
		p.blank()
	}
}

// way adds a command, whole, below what it is for.
func (p *page) way(when, command string) {
	p.wrap(1, p.style.paint(dim, when))
	p.line(2, command)
}

// pending prints the record a person decides on, without its edges.
func (p *page) pending(r *session.Pending) {
	p.field("state", titled(r.State, r.Title))
	if strings.TrimSpace(r.Instructions) != "" {
		p.text(1, r.Instructions)
	}
	p.field("approvers", OneLine(r.Approvers))
	for _, path := range r.Evidence {
		p.field("evidence", OneLine(path))
	}
}

// edge prints one edge with its type.
func (p *page) edge(t session.PendingTransition) {
	line := p.style.mark(markGo) + " " + p.style.paint(bold, OneLine(t.To))
	if t.Type != "" && t.Type != "none" {
		line += " (" + p.style.paint(edgeInk(t.Type), OneLine(t.Type)) + ")"
	}
	p.wrap(1, line+because(t.Description))
}

func edgeInk(kind string) accent {
	switch kind {
	case "approve":
		return green
	case "reject":
		return red
	}
	return yellow
}

func (p *page) failed(out *runtime.Outcome, opts VerdictOptions) {
	code, reason := "", ""
	if out.Exit != nil {
		code, reason = OneLine(out.Exit.Code), out.Exit.Reason
	}
	p.verdict(markFailed, strings.TrimSpace("failed "+code), out.SessionID)
	p.field("state", OneLine(out.State))
	p.field("reason", OneLine(reason))
	switch {
	case opts.Gone:
	case slices.Contains(resumable, code):
		p.resume(out.SessionID, opts)
	default:
		p.follow("see why: ", opts.sessionCommand("sessions log", out.SessionID), opts)
	}
}

// resume shows how a turn that broke off is continued.
func (p *page) resume(id string, opts VerdictOptions) {
	p.blank()
	p.way("go on where it stood:", opts.Resume(id))
	p.blank()
}

// Resume is the command that continues a session's turn where it stood.
func (o VerdictOptions) Resume(id string) string { return o.sessionCommand("send", id, "--resume") }

func (p *page) rejected(out *runtime.Outcome, opts VerdictOptions) {
	p.verdict(markReject, "rejected", out.SessionID)
	p.field("state", OneLine(out.State))
	if len(out.Issues) == 0 { // the issues are the reason, one a line
		p.field("reason", OneLine(out.Rejected))
	}
	for _, issue := range out.Issues {
		p.wrap(1, p.style.mark(markError)+" "+OneLine(issue.Message))
	}
	if out.Refused {
		p.wrap(1, p.style.paint(dim, "the arrival was turned away; nothing was written"))
		return
	}
	p.follow("see why: ", opts.sessionCommand("sessions log", out.SessionID), opts)
}

// follow adds the command that a finished session leads to, on one dim line.
func (p *page) follow(what, command string, opts VerdictOptions) {
	if !opts.Gone {
		p.line(1, p.style.paint(dim, what+command))
	}
}

func titled(state, title string) string {
	if title == "" {
		return OneLine(state)
	}
	return OneLine(state) + " — " + OneLine(title)
}

// Reply prints the agent's words as the result of a command: on a terminal
// neutralised, elsewhere byte for byte, and a line break behind either when
// they lack one. Nothing for no words.
func Reply(w io.Writer, st Style, reply string) error {
	if reply == "" {
		return nil
	}
	if st.Console {
		reply = Clean(reply)
	}
	if !strings.HasSuffix(reply, "\n") {
		reply += "\n"
	}
	_, err := io.WriteString(w, reply)
	return err
}

// value is a JSON value on one line, whole.
func value(raw json.RawMessage) string { return OneLine(string(raw)) }
